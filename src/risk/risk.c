#include "risk/risk.h"

#include "base/xmalloc.h"
#include "risk/draw.h"
#include "risk/expect.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

const struct name_value risk_rule_names[] = {
    { "none", RISK_NONE },       { "mean", RISK_MEAN }, { "p90", RISK_P90 },
    { "minimax", RISK_MINIMAX }, { NULL, 0 },
};

const struct risk_options risk_usual = { .rule = RISK_MEAN, .draws = 200 };

double risk_fits(const struct risk_widths *w, double need)
{
    double spread = hypot(w->memory_shared, w->memory_own);
    return gsl_cdf_ugaussian_P((-log(need) - w->memory_mean) / spread);
}

double risk_regret(const struct risk_verdict *v, enum risk_rule rule)
{
    return rule == RISK_P90 ? v->p90 : rule == RISK_MINIMAX ? v->worst : v->mean;
}

/* Values of a plan in all draws. */
static void draw_plan(double *values, const struct risk_plan *p,
                      const struct risk_widths *w, const struct risk_options *o,
                      const struct risk_draw *draws)
{
    for (int32_t d = 0; d < o->draws; d++)
        values[d] = risk_draw_value(&draws[d], w, p, o->of_memory);
}

static double least_of(const double *values, int32_t n, int32_t draws, int32_t d,
                       int32_t *n_least)
{
    double least = INFINITY;
    *n_least = 0;
    for (int32_t i = 0; i < n; i++) {
        double v = values[(size_t)i * (size_t)draws + (size_t)d];
        *n_least = v < least ? 1 : *n_least + (v == least);
        least = fmin(least, v);
    }
    return least;
}

/* How often each was the best; equals share that. */
static void find_best(struct risk_verdict *out, const double *values, int32_t n,
                      int32_t draws)
{
    for (int32_t d = 0; d < draws; d++) {
        int32_t n_least;
        double least = least_of(values, n, draws, d, &n_least);
        for (int32_t i = 0; i < n && isfinite(least); i++)
            if (values[(size_t)i * (size_t)draws + (size_t)d] == least)
                out[i].best += 1.0 / n_least / draws;
    }
}

/* From values to regrets, in place. */
static void find_regrets(double *values, int32_t n, int32_t draws)
{
    for (int32_t d = 0; d < draws; d++) {
        int32_t n_least;
        double least = least_of(values, n, draws, d, &n_least);
        for (int32_t i = 0; i < n; i++) {
            double *v = &values[(size_t)i * (size_t)draws + (size_t)d];
            *v = isfinite(*v) ? 1 - least / *v : isfinite(least);
        }
    }
}

/* Sorts the regrets. */
static void find_quantiles(struct risk_verdict *v, double *regrets, int32_t draws)
{
    gsl_sort(regrets, 1, (size_t)draws);
    v->p90 = regrets[draws - 1 - draws / 10];
    v->worst = regrets[draws - 1];
}

/* What is computed, not drawn, of memory. */
static void find_means(struct risk_verdict *out, const struct risk_plan *plans,
                       int32_t n, const struct risk_widths *shared,
                       const struct risk_options *o, const struct risk_draw *draws)
{
    double *lost = xcalloc((size_t)n + 1, sizeof(*lost)), share = 1.0 / o->draws;
    for (int32_t d = 0; d < o->draws; d++) {
        risk_expect(lost, NULL, plans, n, shared, o->of_memory, &draws[d], share);
        for (int32_t i = 0; i < n; i++)
            out[i].unfit += share * risk_draw_unfit(&draws[d], shared, &plans[i]);
    }
    for (int32_t i = 0; i < n; i++)
        out[i].mean = lost[i];
    free(lost);
}

void risk_judge(struct risk_verdict *out, const struct risk_plan *plans, int32_t n,
                const struct risk_widths *w, const struct risk_options *o)
{
    size_t draws = (size_t)o->draws;
    double *values = xcalloc((size_t)n * draws + 1, sizeof(*values));
    struct risk_draw *all = xcalloc(draws, sizeof(*all));
    struct risk_widths shared = risk_shared_alone(w);
    for (int32_t d = 0; d < o->draws; d++)
        all[d] = risk_draw_make(o->seed, d);
    for (int32_t i = 0; i < n; i++) {
        out[i] = (struct risk_verdict) { 0 };
        draw_plan(values + (size_t)i * draws, &plans[i], w, o, all);
    }
    find_best(out, values, n, o->draws);
    for (int32_t i = 0; i < n; i++)
        draw_plan(values + (size_t)i * draws, &plans[i], &shared, o, all);
    find_regrets(values, n, o->draws);
    find_means(out, plans, n, &shared, o, all);
    for (int32_t i = 0; i < n; i++)
        find_quantiles(&out[i], values + (size_t)i * draws, o->draws);
    free(values);
    free(all);
}
