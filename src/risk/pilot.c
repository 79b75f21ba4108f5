#include "risk/pilot.h"

#include "base/mix.h"
#include "base/xmalloc.h"
#include "risk/draw.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

struct pilot {
    int32_t n, draws;
    int64_t seed;
    struct risk_widths w;
    double *shared; /* [plans][draws] values without residuals of the plans' own, but
                       with those that were measured */
    double *full;   /* [plans][draws] with them */
    double *weight; /* [draws], sum 1 */
    double value[PILOT_PLANS_MAX]; /* as predicted */
};

static size_t at(const struct pilot *p, int32_t plan, int32_t d)
{
    return (size_t)plan * (size_t)p->draws + (size_t)d;
}

struct pilot *pilot_new(const struct risk_plan *plans, int32_t n,
                        const struct risk_widths *w, const struct risk_options *o)
{
    const struct risk_widths shared = risk_shared_alone(w);
    size_t all = (size_t)n * (size_t)o->draws;
    struct pilot *p = xmalloc(sizeof(*p));
    *p = (struct pilot) { .n = n, .draws = o->draws, .seed = o->seed, .w = *w };
    p->shared = xcalloc(all, sizeof(*p->shared));
    p->full = xcalloc(all, sizeof(*p->full));
    p->weight = xcalloc((size_t)o->draws, sizeof(*p->weight));
    for (int32_t i = 0; i < n; i++)
        p->value[i] = plans[i].value;
    for (int32_t d = 0; d < o->draws; d++) {
        struct risk_draw draw = risk_draw_make(o->seed, d);
        p->weight[d] = 1.0 / o->draws;
        for (int32_t i = 0; i < n; i++) {
            p->shared[at(p, i, d)] =
                risk_draw_value(&draw, &shared, &plans[i], o->of_memory);
            p->full[at(p, i, d)] = risk_draw_value(&draw, w, &plans[i], o->of_memory);
        }
    }
    return p;
}

void pilot_free(struct pilot *p)
{
    if (!p)
        return;
    free(p->shared);
    free(p->full);
    free(p->weight);
    free(p);
}

/* Regrets --------------------------------------------------------------------------- */

static double least_of(const struct pilot *p, const double *values, int32_t d)
{
    double least = INFINITY;
    for (int32_t i = 0; i < p->n; i++)
        least = fmin(least, values[at(p, i, d)]);
    return least;
}

/* Of a value in a draw whose least is known. */
static double regret_of(double value, double least)
{
    return isfinite(value) ? 1 - least / value : isfinite(least);
}

double pilot_plan_regret(const struct pilot *p, int32_t plan)
{
    double sum = 0;
    for (int32_t d = 0; d < p->draws; d++)
        sum +=
            p->weight[d] * regret_of(p->full[at(p, plan, d)], least_of(p, p->full, d));
    return sum;
}

double pilot_plan_best(const struct pilot *p, int32_t plan)
{
    double sum = 0;
    for (int32_t d = 0; d < p->draws; d++) {
        double v = p->full[at(p, plan, d)];
        sum += isfinite(v) && v == least_of(p, p->full, d) ? p->weight[d] : 0;
    }
    return sum;
}

/* A plan whose own residual is known in each draw; plan -1: none. */
struct known {
    int32_t plan;
    const double *value; /* [draws] */
};

/* The plan of least regret by these weights, as far as residuals are known. */
static int32_t choose(const struct pilot *p, const double *weight, struct known known)
{
    int32_t best = 0;
    double sums[PILOT_PLANS_MAX] = { 0 };
    for (int32_t d = 0; d < p->draws; d++) {
        double v[PILOT_PLANS_MAX], least = INFINITY;
        if (weight[d] <= 0)
            continue;
        for (int32_t i = 0; i < p->n; i++) {
            v[i] = i == known.plan ? known.value[d] : p->shared[at(p, i, d)];
            least = fmin(least, v[i]);
        }
        for (int32_t i = 0; i < p->n; i++)
            sums[i] += weight[d] * regret_of(v[i], least);
    }
    for (int32_t i = 1; i < p->n; i++)
        if (sums[i] < sums[best])
            best = i;
    return best;
}

double pilot_regret(const struct pilot *p, int32_t *choice)
{
    *choice = choose(p, p->weight, (struct known) { -1, NULL });
    return pilot_plan_regret(p, *choice);
}

/* What is said ---------------------------------------------------------------------- */

/* What a measurement would say in a draw, without its error. */
static double says(const struct pilot *p, const struct pilot_measure *m,
                   const struct risk_widths *w, int32_t d)
{
    struct risk_draw draw = risk_draw_make(p->seed, d);
    return log(m->kind == PILOT_STEP ? risk_draw_time(&draw, w, &m->step)
                                     : risk_draw_factor(&draw, w, m->of, m->octaves));
}

/* A normal number of its own for each draw and measurement. */
static double noise(const struct pilot *p, const struct pilot_measure *m, int32_t d)
{
    uint64_t of = mix64((uint64_t)p->seed ^ mix64(m->step.key + (uint64_t)m->of)),
             bits = mix64(of ^ mix64((uint64_t)d + 1)) >> 11;
    return gsl_cdf_ugaussian_Pinv(((double)bits + 0.5) * 0x1p-53);
}

static double normal(double x, double deviation)
{
    double e = x / deviation;
    return exp(-0.5 * e * e) / deviation;
}

/* How well a draw agrees with what was said: `off` is that less what the draw has. A step
 * has its plan's residual in it, whose width is known by its law alone. */
static double agreement(const struct pilot *p, const struct pilot_measure *m,
                        double off)
{
    static const double z[] = { -1.2247, 0, 1.2247 }, share[] = { 1, 4, 1 };
    const struct risk_widths *w = &p->w;
    double sum = 0;
    if (m->kind != PILOT_STEP)
        return normal(off, m->error);
    for (int i = 0; i < 3; i++)
        sum += share[i] / 6 *
               normal(off, hypot(m->error, w->own * exp(w->own_spread * z[i])));
    double slow = off > 0 && w->slow > 0 ? exp(-off / w->slow) / w->slow : 0;
    return (1 - w->slow_share) * sum + w->slow_share * slow;
}

/* The value of the plan whose step was measured: its residual is what the draw does not
 * explain. */
static void take_known(double *value, const struct pilot *p,
                       const struct pilot_measure *m, double said,
                       const double *shared_says)
{
    for (int32_t d = 0; d < p->draws; d++)
        value[d] = m->whole ? p->value[m->plan] * exp(said)
                            : p->shared[at(p, m->plan, d)] * exp(said - shared_says[d]);
}

struct saying {
    double *full, *shared; /* [draws], with residuals and without */
    double *weight, *value;
};

static struct saying saying_new(const struct pilot *p, const struct pilot_measure *m)
{
    const struct risk_widths shared = risk_shared_alone(&p->w);
    size_t n = (size_t)p->draws;
    struct saying s = { xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)),
                        xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)) };
    for (int32_t d = 0; d < p->draws; d++) {
        s.full[d] = says(p, m, &p->w, d);
        s.shared[d] = says(p, m, &shared, d);
    }
    return s;
}

static void saying_free(struct saying *s)
{
    free(s->full);
    free(s->shared);
    free(s->weight);
    free(s->value);
}

/* The truth itself has no weight, for no draw is the real system. */
double pilot_after(const struct pilot *p, const struct pilot_measure *m)
{
    static const double negligible = 1e-6;
    struct saying s = saying_new(p, m);
    double sum = 0;
    for (int32_t d = 0; d < p->draws; d++) {
        double is = s.full[d] + m->error * noise(p, m, d), total = 0;
        if (p->weight[d] < negligible)
            continue;
        bool step = m->kind == PILOT_STEP;
        if (step && m->whole && !isfinite(p->full[at(p, m->plan, d)]))
            is = INFINITY;
        for (int32_t k = 0; k < p->draws && isfinite(is); k++) {
            s.weight[k] = k == d ? 0 : p->weight[k] * agreement(p, m, is - s.shared[k]);
            total += s.weight[k];
        }
        struct known known = { step ? m->plan : -1, s.value };
        if (known.plan >= 0)
            take_known(s.value, p, m, is, s.shared);
        int32_t choice = choose(p, total > 0 ? s.weight : p->weight, known);
        sum += p->weight[d] *
               regret_of(p->full[at(p, choice, d)], least_of(p, p->full, d));
    }
    saying_free(&s);
    return sum;
}

/* Weights that no draw agrees with are left as they are. */
void pilot_learn(struct pilot *p, const struct pilot_measure *m, double said)
{
    struct saying s = saying_new(p, m);
    double sum = 0;
    for (int32_t d = 0; d < p->draws && isfinite(said); d++)
        sum += s.weight[d] = p->weight[d] * agreement(p, m, said - s.shared[d]);
    for (int32_t d = 0; d < p->draws && sum > 0; d++)
        p->weight[d] = s.weight[d] / sum;
    if (m->kind == PILOT_STEP) {
        take_known(s.value, p, m, said, s.shared);
        for (int32_t d = 0; d < p->draws; d++)
            p->shared[at(p, m->plan, d)] = p->full[at(p, m->plan, d)] = s.value[d];
    }
    saying_free(&s);
}

double pilot_draws(const struct pilot *p)
{
    double squares = 0;
    for (int32_t d = 0; d < p->draws; d++)
        squares += p->weight[d] * p->weight[d];
    return 1 / squares;
}
