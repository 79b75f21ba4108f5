#include "search/plan/risk.h"

#include "base/fnv.h"
#include "base/xmalloc.h"
#include "search/plan/order.h"
#include "search/plan/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a plan's draws depend on: its digits, but for those that leave its kernels and what
 * its passes hold as they are. Such plans share a residual: trying one after the other shows
 * little. Overlap counts where it is asked for, so that plans without it draw what they did
 * before it was a field. */
static uint64_t key_of(const struct space_point *p)
{
    enum { AFTER = SPACE_OVERLAP + 1 };
    uint16_t at[SPACE_N];
    memcpy(at, p->at, sizeof(at));
    at[SPACE_PLACEMENT] = at[SPACE_BUCKET] = 0;
    uint64_t key = fnv_add(fnv_start, at, SPACE_OVERLAP * sizeof(*at));
    key = fnv_add(key, at + AFTER, (SPACE_N - AFTER) * sizeof(*at));
    return at[SPACE_OVERLAP] ? fnv_add(key, at + SPACE_OVERLAP, sizeof(*at)) : key;
}

struct risk_plan plan_risk_plan(const struct plan_entry *e)
{
    const struct plan_result *r = &e->result;
    return (struct risk_plan) {
        .key = key_of(&e->point),
        .value = e->value,
        .usual = r->step_time_s,
        .by = r->by,
        .octaves = log2((double)e->point.v[SPACE_COUNT]),
        .peak_B = (double)r->needed_B,
        .capacity_B = (double)r->capacity_B,
    };
}

/* Entries, and what draws know of each. They are moved together. */
struct listed {
    struct plan_entry *entries;
    struct risk_plan *plans;
    int32_t n;
};

/* They are sorted together with what they are sorted by: regrets in billionths, so that
 * equal plans are in the order of their fields. */
struct ranked {
    struct plan_entry entry;
    struct risk_plan plan;
    double regret;
};
static const double fine = 1e9;

static int by_regret(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->regret != y->regret)
        return x->regret < y->regret ? -1 : 1;
    return plan_order_compare(&x->entry, &y->entry);
}

static void sort(const struct listed *l, enum risk_rule rule)
{
    struct ranked *all = xcalloc((size_t)l->n, sizeof(*all));
    for (int32_t i = 0; i < l->n; i++)
        all[i] =
            (struct ranked) { l->entries[i], l->plans[i],
                              round(fine * risk_regret(&l->entries[i].risk, rule)) };
    qsort(all, (size_t)l->n, sizeof(*all), by_regret);
    for (int32_t i = 0; i < l->n; i++) {
        l->entries[i] = all[i].entry;
        l->plans[i] = all[i].plan;
    }
    free(all);
}

static void move(const struct listed *l, int32_t from, int32_t to)
{
    struct plan_entry e = l->entries[from];
    struct risk_plan p = l->plans[from];
    size_t n = (size_t)(from - to);
    memmove(&l->entries[to + 1], &l->entries[to], n * sizeof(e));
    memmove(&l->plans[to + 1], &l->plans[to], n * sizeof(p));
    l->entries[to] = e;
    l->plans[to] = p;
}

/* After the first come those to try next, where the mean of regrets decides. */
static struct risk_tries bring_tries(const struct listed *l,
                                     const struct risk_options *how)
{
    struct risk_tries t = risk_tries_make(l->plans, l->n, 0, &risk_widths, how);
    for (int32_t k = 1; k < t.n; k++) {
        int32_t from = t.plan[k];
        for (int32_t e = 1; e < k; e++) /* earlier ones were moved to the front of it */
            from += t.plan[e] > t.plan[k];
        move(l, from, k);
    }
    for (int32_t k = 0; k < t.n; k++)
        t.plan[k] = k;
    return t;
}

/* Verdicts of the entries on each other, and their order. */
static void judge(struct listed *l, const struct risk_options *how)
{
    struct risk_verdict *verdicts = xcalloc((size_t)l->n, sizeof(*verdicts));
    for (int32_t i = 0; i < l->n; i++)
        l->plans[i] = plan_risk_plan(&l->entries[i]);
    risk_judge(verdicts, l->plans, l->n, &risk_widths, how);
    for (int32_t i = 0; i < l->n; i++)
        l->entries[i].risk = verdicts[i];
    sort(l, how->rule);
    free(verdicts);
}

/* Of variants the draws say which is the best: that one is judged again among the others. */
void plan_risk_judge(struct plan_outcome *out, const struct plan_options *o)
{
    struct risk_options how = o->risk;
    if (o->risk.rule == RISK_NONE || out->n_entries == 0)
        return;
    struct listed l = { .entries = out->entries,
                        .plans = xcalloc((size_t)out->n_entries, sizeof(*l.plans)),
                        .n = out->n_entries };
    how.of_memory = o->objective == PLAN_MEMORY;
    judge(&l, &how);
    plan_variants_drop(out);
    if (out->n_variants) {
        l.n = out->n_entries;
        judge(&l, &how);
    }
    if (how.rule == RISK_MEAN)
        out->tries = bring_tries(&l, &how);
    out->decides = risk_decide(l.plans, l.n, 0, &risk_widths, &how);
    free(l.plans);
}
