#include "search/plan/risk.h"

#include "base/fnv.h"
#include "base/xmalloc.h"
#include "search/plan/order.h"

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

/* Entries are sorted together with what they are sorted by: regrets in billionths, so that
 * equal plans are in the order of their fields. */
struct ranked {
    struct plan_entry entry;
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

static void sort(struct plan_outcome *out, enum risk_rule rule)
{
    size_t n = (size_t)out->n_entries;
    struct ranked *all = xcalloc(n, sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] =
            (struct ranked) { out->entries[i],
                              round(fine * risk_regret(&out->entries[i].risk, rule)) };
    qsort(all, n, sizeof(*all), by_regret);
    for (size_t i = 0; i < n; i++)
        out->entries[i] = all[i].entry;
    free(all);
}

static void move(struct plan_entry *entries, int32_t from, int32_t to)
{
    struct plan_entry e = entries[from];
    memmove(&entries[to + 1], &entries[to], (size_t)(from - to) * sizeof(*entries));
    entries[to] = e;
}

/* After the first come those to try next, where the mean of regrets decides. */
static void bring_tries(struct plan_outcome *out, struct risk_plan *plans,
                        const struct risk_options *how)
{
    for (int32_t i = 0; i < out->n_entries; i++)
        plans[i] = plan_risk_plan(&out->entries[i]);
    if (how->rule != RISK_MEAN)
        return;
    out->tries = risk_tries_make(plans, out->n_entries, 0, &risk_widths, how);
    for (int32_t k = 1; k < out->tries.n; k++) {
        int32_t from = out->tries.plan[k];
        for (int32_t l = 1; l < k; l++) /* earlier ones were moved to the front of it */
            from += out->tries.plan[l] > out->tries.plan[k];
        move(out->entries, from, k);
    }
    for (int32_t k = 0; k < out->tries.n; k++)
        out->tries.plan[k] = k;
    for (int32_t i = 0; i < out->n_entries; i++)
        plans[i] = plan_risk_plan(&out->entries[i]);
}

void plan_risk_judge(struct plan_outcome *out, const struct plan_options *o)
{
    size_t n = (size_t)out->n_entries;
    struct risk_options how = o->risk;
    if (o->risk.rule == RISK_NONE || n == 0)
        return;
    struct risk_plan *plans = xcalloc(n, sizeof(*plans));
    struct risk_verdict *verdicts = xcalloc(n, sizeof(*verdicts));
    for (size_t i = 0; i < n; i++)
        plans[i] = plan_risk_plan(&out->entries[i]);
    how.of_memory = o->objective == PLAN_MEMORY;
    risk_judge(verdicts, plans, out->n_entries, &risk_widths, &how);
    for (size_t i = 0; i < n; i++)
        out->entries[i].risk = verdicts[i];
    sort(out, o->risk.rule);
    bring_tries(out, plans, &how);
    out->decides = risk_decide(plans, out->n_entries, 0, &risk_widths, &how);
    free(plans);
    free(verdicts);
}
