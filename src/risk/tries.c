#include "risk/tries.h"

#include "base/xmalloc.h"
#include "risk/expect.h"

#include <math.h>
#include <stdlib.h>

/* What is lost where each plan is tried next to those that are already. */
static void expect(double *lost, const bool *tried, const struct risk_plan *plans,
                   int32_t n, const struct risk_widths *w, const struct risk_options *o,
                   const struct risk_draw *draws)
{
    for (int32_t i = 0; i < n; i++)
        lost[i] = 0;
    for (int32_t d = 0; d < o->draws; d++)
        risk_expect(lost, tried, plans, n, w, o->of_memory, &draws[d], 1.0 / o->draws);
}

/* Plans that are not tried have one residual: which of them a draw favours, no choice can
 * know. */
static void join(struct risk_plan *joined, const struct risk_plan *plans, int32_t n,
                 const bool *tried)
{
    const uint64_t one = 1;
    for (int32_t i = 0; i < n; i++) {
        joined[i] = plans[i];
        joined[i].key = tried[i] ? plans[i].key : one;
    }
}

/* Whether it shares its residuals with one that is tried, or needs just as much memory, so
 * that it fails where that does: it would show little. */
static bool is_alike(const struct risk_plan *plans, const struct risk_tries *t,
                     int32_t n_tried, int32_t plan)
{
    const struct risk_plan *p = &plans[plan];
    for (int32_t k = 0; k < n_tried; k++) {
        const struct risk_plan *x = &plans[t->plan[k]];
        if (x->key == p->key || x->peak_B == p->peak_B)
            return true;
    }
    return false;
}

/* The plan that leaves least to lose; -1: none is left, or none that is not alike. */
static int32_t find_next(const struct risk_plan *plans, int32_t n,
                         const struct risk_tries *t, int32_t n_tried, const bool *tried,
                         const double *lost, bool alike)
{
    int32_t next = -1;
    for (int32_t i = 0; i < n; i++)
        if (!tried[i] && (alike || !is_alike(plans, t, n_tried, i)) &&
            (next < 0 || lost[i] < lost[next]))
            next = i;
    return next;
}

struct risk_tries risk_tries_make(const struct risk_plan *plans, int32_t n,
                                  int32_t first, const struct risk_widths *w,
                                  const struct risk_options *o)
{
    struct risk_tries t = { .n = n < RISK_TRIES ? n : RISK_TRIES };
    double *lost = xcalloc((size_t)n + 1, sizeof(*lost));
    bool *tried = xcalloc((size_t)n + 1, sizeof(*tried));
    struct risk_plan *joined = xcalloc((size_t)n + 1, sizeof(*joined));
    struct risk_draw *draws = xcalloc((size_t)o->draws + 1, sizeof(*draws));
    for (int32_t d = 0; d < o->draws; d++)
        draws[d] = risk_draw_make(o->seed, d);
    for (int32_t k = 0; k < t.n; k++) {
        int32_t next = first;
        if (k > 0) {
            join(joined, plans, n, tried);
            expect(lost, tried, joined, n, w, o, draws);
            next = find_next(plans, n, &t, k, tried, lost, false);
        }
        if (next < 0)
            next = find_next(plans, n, &t, k, tried, lost, true);
        expect(lost, tried, plans, n, w, o, draws);
        t.plan[k] = next;
        t.lost[k] = fmax(0, lost[next]);
        tried[next] = true;
    }
    free(lost);
    free(tried);
    free(joined);
    free(draws);
    return t;
}
