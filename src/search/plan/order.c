#include "search/plan/order.h"

#include "base/xmalloc.h"
#include "search/plan/variants.h"
#include "search/space/users.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static double excess_of(double hours, double usd)
{
    return isfinite(usd) ? usd : hours;
}

/* The objective of what fits with that probability; plans of nothing else are ordered by
 * it. */
static double worth(double value, double need)
{
    return value / fmax(risk_fits(&risk_widths, need), DBL_MIN);
}

void plan_order_judge(struct plan_entry *e, const struct plan_job *job,
                      const struct plan_options *o)
{
    const struct plan_result *r = &e->result;
    bool user = space_users_can(&job->space, &e->point),
         risky = o->risk.rule != RISK_NONE;
    e->key = e->value;
    if (!r->known) {
        e->standing = PLAN_UNKNOWN;
        e->key = 0;
    } else if (!r->fits) {
        e->standing = PLAN_TOO_LARGE;
        e->key = (double)r->needed_B / (double)r->capacity_B;
    } else if (!isfinite(e->value)) {
        e->standing = PLAN_UNPRICED;
        e->key = r->step_time_s;
    } else if (!e->in_budget) {
        e->standing = PLAN_OVER;
        e->key = excess_of(e->hours, e->usd);
    } else if (r->near_limit && !risky) {
        e->standing = user ? PLAN_TIGHT : PLAN_FOREIGN_TIGHT;
    } else {
        e->standing = user ? PLAN_PASSES : PLAN_FOREIGN;
        if (risky)
            e->key = worth(e->value, (double)r->needed_B / (double)r->capacity_B);
    }
}

int plan_order_compare(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    if (x->standing != y->standing)
        return x->standing < y->standing ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return space_compare(&x->point, &y->point);
}

static int by_order(const void *a, const void *b)
{
    return plan_order_compare(*(const struct plan_entry *const *)a,
                              *(const struct plan_entry *const *)b);
}

/* The key of the listed-th kind of a standing, variants counting once; INFINITY where it has
 * fewer. */
static double last_key(const struct plan_entry *entries, int64_t n,
                       enum plan_standing standing, int32_t listed)
{
    const struct plan_entry **order =
        xcalloc((size_t)n + 1, sizeof(struct plan_entry *));
    double last = INFINITY;
    int64_t found = 0, kinds = 0;
    for (int64_t i = 0; i < n; i++)
        if (!entries[i].skipped && entries[i].standing == standing)
            order[found++] = &entries[i];
    qsort(order, (size_t)found, sizeof(struct plan_entry *), by_order);
    for (int64_t i = 0; i < found && kinds < listed; i++) {
        int64_t k = 0;
        while (k < kinds && !plan_variants(&order[k]->point, &order[i]->point))
            k++;
        if (k < kinds)
            continue;
        last = order[i]->key;
        order[kinds++] = order[i];
    }
    free(order);
    return kinds < listed ? (double)INFINITY : last;
}

void plan_order_limits(struct plan_limits *l, const struct plan_entry *entries,
                       int64_t n, int32_t listed)
{
    const double none = -INFINITY;
    double best[PLAN_STANDINGS];
    l->listed = PLAN_STANDINGS;
    for (int i = 0; i < PLAN_STANDINGS; i++)
        l->v[i] = best[i] = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const struct plan_entry *e = &entries[i];
        if (e->skipped)
            continue;
        best[e->standing] = fmin(best[e->standing], e->key);
        if (e->standing <= PLAN_LISTED_MAX && e->standing < l->listed)
            l->listed = e->standing;
    }
    if (l->listed == PLAN_STANDINGS) {
        l->v[PLAN_OVER] = best[PLAN_OVER];
        l->v[PLAN_TOO_LARGE] = isfinite(best[PLAN_OVER]) ? none : best[PLAN_TOO_LARGE];
        return;
    }
    l->v[l->listed] = last_key(entries, n, l->listed, listed > 0 ? listed : 1);
    for (int i = (int)l->listed + 1; i < PLAN_STANDINGS; i++)
        l->v[i] = i <= PLAN_FOREIGN ? fmin(best[l->listed], best[i]) : none;
}

static bool may_be_tight(double need)
{
    static const int64_t whole_B = (int64_t)1 << 40;
    return interval_memory_is_near((int64_t)(need * (double)whole_B), whole_B);
}

double plan_order_key(const struct plan_reach *r)
{
    return r->risky ? worth(r->value, r->need) : r->value;
}

enum plan_standing plan_order_expect(const struct plan_reach *r, double *key)
{
    bool tight = !r->risky && may_be_tight(r->need);
    *key = r->need > 1 ? r->need : r->in_budget ? plan_order_key(r) : r->excess;
    if (r->need > 1)
        return PLAN_TOO_LARGE;
    if (!r->in_budget)
        return PLAN_OVER;
    if (r->user)
        return tight ? PLAN_TIGHT : PLAN_PASSES;
    return tight ? PLAN_FOREIGN_TIGHT : PLAN_FOREIGN;
}

bool plan_order_matters(const struct plan_limits *l, const struct plan_reach *r)
{
    double key;
    enum plan_standing least = plan_order_expect(r, &key);
    for (int i = (int)least; i <= PLAN_LISTED_MAX; i++) {
        bool users = i == PLAN_PASSES || i == PLAN_TIGHT;
        if (users == r->user && plan_order_key(r) <= l->v[i])
            return true;
    }
    return (r->need <= 1 && r->excess <= l->v[PLAN_OVER]) ||
           r->need <= l->v[PLAN_TOO_LARGE];
}
