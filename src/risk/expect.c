#include "risk/expect.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

/* A plan in a state of its run: what it is worth there, and the chance of it. */
struct prospect {
    double value, chance;
    int32_t plan;
};

/* Of a plan, while prospects are gone through from the best to the worst. */
struct passed {
    double unfit; /* the chance that it does not fit */
    double rest;  /* of its states, those to come */
    double left;  /* the probability that it is not among those gone through */
    double least,
        seen;    /* without it: `least` of the sweep, up to where that was `seen` */
    double lost; /* its regret where it fits */
};

struct sweep {
    struct prospect *all;
    int32_t n;
    struct passed *plans;
};

static int by_value(const void *a, const void *b)
{
    const struct prospect *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->plan > y->plan) - (x->plan < y->plan);
}

/* The probability that no other plan fits. */
static double none_but(const struct sweep *s, int32_t n, int32_t own)
{
    double none = 1;
    for (int32_t i = 0; i < n && none > 0; i++)
        none *= i == own ? 1 : s->plans[i].unfit;
    return none;
}

static void add_states(struct sweep *s, const struct risk_plan *p, int32_t plan,
                       double worth, bool of_memory)
{
    double usual = 1;
    for (int k = 0; k < RISK_STATES && !of_memory; k++) {
        const struct risk_state *d = &p->states[k];
        if (d->chance > 0)
            s->all[s->n++] = (struct prospect) { worth * d->times, d->chance, plan };
        usual -= d->chance;
    }
    if (usual > 0)
        s->all[s->n++] = (struct prospect) { worth, usual, plan };
}

static void go_through(struct sweep *s)
{
    const double nothing = 1e-12;
    double none = 1;  /* the probability that none gone through fits */
    double least = 0; /* the value of the best that fits, times its probability */
    for (int32_t i = 0; i < s->n; i++) {
        const struct prospect *e = &s->all[i];
        struct passed *p = &s->plans[e->plan];
        double others = p->left > 0 ? none / p->left : 0, fits = 1 - p->unfit;
        if (p->left > 0)
            p->least += (least - p->seen) / p->left;
        p->lost += e->chance * (1 - others - p->least / e->value);
        least += others * fits * e->chance * e->value;
        p->seen = least;
        p->rest = p->rest - e->chance < nothing ? 0 : p->rest - e->chance;
        p->left = p->unfit + fits * p->rest;
        none = others * p->left;
    }
}

void risk_expect(struct risk_verdict *out, const struct risk_plan *plans, int32_t n,
                 const struct risk_widths *w, const struct risk_options *o,
                 const struct risk_draw *draw)
{
    const size_t most = (size_t)n * (RISK_STATES + 1);
    struct sweep s = { .all = xcalloc(most, sizeof(*s.all)),
                       .plans = xcalloc((size_t)n, sizeof(*s.plans)) };
    double share = 1.0 / o->draws;
    for (int32_t i = 0; i < n; i++) {
        double worth = risk_draw_worth(draw, w, &plans[i], o->of_memory);
        s.plans[i] = (struct passed) { .unfit = risk_draw_unfit(draw, w, &plans[i]),
                                       .rest = 1,
                                       .left = 1 };
        add_states(&s, &plans[i], i, worth, o->of_memory);
    }
    qsort(s.all, (size_t)s.n, sizeof(*s.all), by_value);
    go_through(&s);
    for (int32_t i = 0; i < n; i++) {
        const struct passed *p = &s.plans[i];
        out[i].unfit += share * p->unfit;
        out[i].mean +=
            share * ((1 - p->unfit) * p->lost + p->unfit * (1 - none_but(&s, n, i)));
    }
    free(s.all);
    free(s.plans);
}
