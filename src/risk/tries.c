#include "risk/tries.h"

#include "base/xmalloc.h"
#include "risk/expect.h"

#include <stdlib.h>

/* Residuals of plans' own are drawn, too: more draws than of what they share. */
enum { TIMES = 2 };

/* What is lost where each plan is tried next to those that are already. */
static void expect(double *lost, const bool *tried, const struct risk_plan *plans,
                   int32_t n, const struct risk_widths *w, const struct risk_options *o)
{
    const int32_t draws = TIMES * o->draws;
    for (int32_t i = 0; i < n; i++)
        lost[i] = 0;
    for (int32_t d = 0; d < draws; d++) {
        struct risk_draw draw = risk_draw_make(o->seed, d);
        risk_expect(lost, tried, plans, n, w, o->of_memory, &draw, 1.0 / draws);
    }
}

/* Whether it shares its residuals with one that is tried: it would show little. */
static bool is_alike(const struct risk_plan *plans, const struct risk_tries *t,
                     int32_t n_tried, int32_t plan)
{
    for (int32_t k = 0; k < n_tried; k++)
        if (plans[t->plan[k]].key == plans[plan].key)
            return true;
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
    for (int32_t k = 0; k < t.n; k++) {
        expect(lost, tried, plans, n, w, o);
        int32_t next = k ? find_next(plans, n, &t, k, tried, lost, false) : first;
        if (next < 0)
            next = find_next(plans, n, &t, k, tried, lost, true);
        t.plan[k] = next;
        t.lost[k] = lost[next];
        tried[next] = true;
    }
    free(lost);
    free(tried);
    return t;
}
