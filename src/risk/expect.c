#include "risk/expect.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

/* A plan in a state of its run: what it is worth there, and the chance of it. */
struct prospect {
    double value, chance;
    int32_t plan;
};

/* Sums over prospects of plans that are tried, in the order of values: the chance that
 * each is the best of these, as it is, over its value, and times what others are then. */
struct sums {
    double chance, per_value, beaten;
};

/* Of a plan, while prospects are gone through from the best to the worst. */
struct passed {
    double unfit; /* the chance that it does not fit */
    double rest;  /* of its states, those to come */
    double left;  /* the probability that it is not among those gone through */
    double least,
        seen; /* without it: `least` of its group, up to where that was `seen` */
    struct sums then; /* where it was last gone through */
    double lost;      /* the regret of trying it, too */
};

/* Plans that are tried, or all others: */
struct group {
    double none;  /* the probability that none gone through fits */
    double least; /* the value of the best that fits, times its probability */
};

struct sweep {
    struct prospect *all;
    int32_t n_all, n;
    struct passed *plans;
    const bool *tried; /* NULL: none */
    struct group others, own;
    struct sums sums;
};

static int by_value(const void *a, const void *b)
{
    const struct prospect *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->plan > y->plan) - (x->plan < y->plan);
}

static bool is_tried(const struct sweep *s, int32_t plan)
{
    return s->tried && s->tried[plan];
}

/* The probability that no other plan fits, of those that are not tried. */
static double none_but(const struct sweep *s, int32_t own)
{
    double none = 1;
    for (int32_t i = 0; i < s->n && none > 0; i++)
        none *= i == own || is_tried(s, i) ? 1 : s->plans[i].unfit;
    return none;
}

static void add_states(struct sweep *s, const struct risk_plan *p, int32_t plan,
                       double worth, bool of_memory)
{
    double usual = 1;
    for (int k = 0; k < RISK_STATES && !of_memory; k++) {
        const struct risk_state *d = &p->states[k];
        if (d->chance > 0)
            s->all[s->n_all++] =
                (struct prospect) { worth * d->times, d->chance, plan };
        usual -= d->chance;
    }
    if (usual > 0)
        s->all[s->n_all++] = (struct prospect) { worth, usual, plan };
}

/* What of the tried ones' regret is left where the plan is tried, too: where it is not
 * among those gone through, from when it was last. Their values are weighed against the
 * best of the others without it, which are worth `left * least` up to then. */
static void lose_tried(struct passed *p, const struct sums *now)
{
    p->lost += p->left * (now->chance - p->then.chance) -
               (now->beaten - p->then.beaten) -
               (p->left * p->least - p->seen) * (now->per_value - p->then.per_value);
    p->then = *now;
}

/* Past a prospect of the group; the probability that no other of the group is before. */
static double pass(struct group *g, struct passed *p, const struct prospect *e)
{
    const double nothing = 1e-12;
    double before = p->left > 0 ? g->none / p->left : 0, fits = 1 - p->unfit;
    if (p->left > 0)
        p->least += (g->least - p->seen) / p->left;
    g->least += before * fits * e->chance * e->value;
    p->seen = g->least;
    p->rest = p->rest - e->chance < nothing ? 0 : p->rest - e->chance;
    p->left = p->unfit + fits * p->rest;
    g->none = before * p->left;
    return before;
}

static void go_through(struct sweep *s)
{
    for (int32_t i = 0; i < s->n_all; i++) {
        const struct prospect *e = &s->all[i];
        struct passed *p = &s->plans[e->plan];
        double chance = (1 - p->unfit) * e->chance;
        if (is_tried(s, e->plan)) {
            double best = pass(&s->own, p, e) * chance;
            s->sums.chance += best;
            s->sums.per_value += best / e->value;
            s->sums.beaten += best * (s->others.none + s->others.least / e->value);
        } else {
            lose_tried(p, &s->sums);
            double before = pass(&s->others, p, e);
            p->lost += s->own.none * chance * (1 - before - p->least / e->value);
        }
    }
}

void risk_expect(double *lost, const bool *tried, const struct risk_plan *plans,
                 int32_t n, const struct risk_widths *w, bool of_memory,
                 const struct risk_draw *draw, double share)
{
    const size_t most = (size_t)n * (RISK_STATES + 1);
    struct sweep s = { .all = xcalloc(most, sizeof(*s.all)),
                       .n = n,
                       .plans = xcalloc((size_t)n, sizeof(*s.plans)),
                       .tried = tried,
                       .others = { .none = 1 },
                       .own = { .none = 1 } };
    for (int32_t i = 0; i < n; i++) {
        double worth = risk_draw_worth(draw, w, &plans[i], of_memory);
        s.plans[i] = (struct passed) { .unfit = risk_draw_unfit(draw, w, &plans[i]),
                                       .rest = 1,
                                       .left = 1 };
        add_states(&s, &plans[i], i, worth, of_memory);
    }
    qsort(s.all, (size_t)s.n_all, sizeof(*s.all), by_value);
    go_through(&s);
    for (int32_t i = 0; i < n; i++) {
        struct passed *p = &s.plans[i];
        if (is_tried(&s, i))
            continue;
        lose_tried(p, &s.sums);
        lost[i] += share * (p->lost + s.own.none * p->unfit * (1 - none_but(&s, i)));
    }
    free(s.all);
    free(s.plans);
}
