#include "risk/expect.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

/* A plan in a draw: what it is worth where it fits, and the chance that it does not. */
struct prospect {
    double value, unfit;
    int32_t plan;
};

static int by_value(const void *a, const void *b)
{
    const struct prospect *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->plan > y->plan) - (x->plan < y->plan);
}

/* The probability that no other plan fits. */
static double none_but(const struct prospect *all, int32_t n, int32_t own)
{
    double none = 1;
    for (int32_t i = 0; i < n && none > 0; i++)
        none *= i == own ? 1 : all[i].unfit;
    return none;
}

void risk_expect(struct risk_verdict *out, const struct risk_plan *plans, int32_t n,
                 const struct risk_widths *w, const struct risk_options *o,
                 const struct risk_draw *draw)
{
    struct prospect *all = xcalloc((size_t)n, sizeof(*all));
    for (int32_t i = 0; i < n; i++)
        all[i] = (struct prospect) {
            .value = risk_draw_worth(draw, w, &plans[i], o->of_memory),
            .unfit = risk_draw_unfit(draw, w, &plans[i]),
            .plan = i,
        };
    qsort(all, (size_t)n, sizeof(*all), by_value);
    double none = 1, share = 1.0 / o->draws; /* that none of those before fits */
    double least = 0; /* the value of the fastest that fits, times its probability */
    for (int32_t i = 0; i < n; i++) {
        const struct prospect *p = &all[i];
        struct risk_verdict *v = &out[p->plan];
        double lost = 1 - none - least / p->value;
        v->unfit += share * p->unfit;
        v->mean +=
            share * ((1 - p->unfit) * lost + p->unfit * (1 - none_but(all, n, i)));
        least += none * (1 - p->unfit) * p->value;
        none *= p->unfit;
    }
    free(all);
}
