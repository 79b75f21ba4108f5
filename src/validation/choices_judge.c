/* Stated probabilities and choices against measured alternatives. */
#include "base/xmalloc.h"
#include "simulate/interval.h"
#include "validation/choices.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Alternatives for one job. */
struct job {
    int32_t n;
    const struct choices_row **rows;
    struct risk_plan *plans;
    struct risk_verdict *verdicts;
};

static bool is_near(const struct risk_plan *p)
{
    return interval_memory_is_near((int64_t)p->peak_B, (int64_t)p->capacity_B);
}

/* What a planner orders by: the filters first (search/plan/order.h), then the regret by
 * the rule, or the predicted time. The less the better. */
static double key_of(const struct job *j, int32_t i, enum risk_rule rule)
{
    const double tight = 10, large = 20;
    const struct risk_plan *p = &j->plans[i];
    double filter = p->peak_B > p->capacity_B ? large : 0;
    if (rule != RISK_NONE)
        return filter + risk_regret(&j->verdicts[i], rule);
    return fmax(filter, is_near(p) ? tight : 0) + p->value; /* far below 1 s a token */
}

static int32_t choice(const struct job *j, enum risk_rule rule)
{
    int32_t first = 0;
    for (int32_t i = 1; i < j->n; i++)
        if (key_of(j, i, rule) < key_of(j, first, rule))
            first = i;
    return first;
}

void choices_bins_put(struct choices_bin bins[CHOICES_BINS], double p, bool is_true)
{
    int at = (int)(p * CHOICES_BINS);
    struct choices_bin *b = &bins[at < CHOICES_BINS ? at : CHOICES_BINS - 1];
    b->stated = (b->stated * (double)b->n + p) / (double)(b->n + 1);
    b->n++;
    b->n_true += is_true;
}

static void score_job(struct choices_score *s, const struct job *j)
{
    double most = 0;
    int32_t n_best = 0, point = choice(j, RISK_NONE);
    for (int32_t i = 0; i < j->n; i++)
        most = fmax(most, j->rows[i]->rate_measured);
    if (most <= 0)
        return;
    for (int32_t i = 0; i < j->n; i++)
        n_best += j->rows[i]->rate_measured == most;
    s->n_jobs++;
    s->n += j->n;
    for (int32_t i = 0; i < j->n; i++) {
        bool best = j->rows[i]->rate_measured == most;
        double is = best ? 1.0 / n_best : 0, p = j->verdicts[i].best;
        s->brier += (p - is) * (p - is);
        s->brier_uniform += (1.0 / j->n - is) * (1.0 / j->n - is);
        s->brier_point += ((i == point) - is) * ((i == point) - is);
        choices_bins_put(s->bins, p, best);
    }
    s->expected += j->verdicts[choice(j, RISK_MEAN)].mean;
    for (int rule = 0; rule < CHOICES_RULES; rule++)
        s->regret[rule] +=
            1 - j->rows[choice(j, (enum risk_rule)rule)]->rate_measured / most;
}

static void judge_job(struct choices_score *s, const struct choices_rows *rows,
                      int32_t job, const struct risk_widths *w)
{
    size_t most = (size_t)rows->list.n + 1;
    struct job j = { .rows = xcalloc(most, sizeof(struct choices_row *)),
                     .plans = xcalloc(most, sizeof(*j.plans)),
                     .verdicts = xcalloc(most, sizeof(*j.verdicts)) };
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct choices_row *r = &rows->list.v[i];
        if (r->job != job || !r->has_rate)
            continue;
        j.rows[j.n] = r;
        j.plans[j.n++] = r->plan;
    }
    if (j.n >= 2) {
        risk_judge(j.verdicts, j.plans, j.n, w, &risk_usual);
        score_job(s, &j);
    }
    free(j.rows);
    free(j.plans);
    free(j.verdicts);
}

struct choices_score choices_judge(const struct choices_rows *rows, int32_t source,
                                   const struct risk_widths *w)
{
    struct choices_score s = { 0 };
    int32_t last = -1;
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct choices_row *r = &rows->list.v[i];
        if (r->source != source || r->job <= last)
            continue;
        last = r->job;
        judge_job(&s, rows, r->job, w);
    }
    return s;
}

void choices_bins_add(struct choices_bin to[CHOICES_BINS],
                      const struct choices_bin from[CHOICES_BINS])
{
    for (int i = 0; i < CHOICES_BINS; i++) {
        struct choices_bin *a = &to[i];
        const struct choices_bin *b = &from[i];
        if (a->n + b->n)
            a->stated = (a->stated * (double)a->n + b->stated * (double)b->n) /
                        (double)(a->n + b->n);
        a->n += b->n;
        a->n_true += b->n_true;
    }
}

void choices_add(struct choices_score *to, const struct choices_score *s)
{
    to->n_jobs += s->n_jobs;
    to->n += s->n;
    to->brier += s->brier;
    to->brier_uniform += s->brier_uniform;
    to->brier_point += s->brier_point;
    to->expected += s->expected;
    for (int i = 0; i < CHOICES_RULES; i++)
        to->regret[i] += s->regret[i];
    choices_bins_add(to->bins, s->bins);
}

/* Where the beta law of a and b has the share p below it. GSL's own inverse has no answer
 * for some large b (2.7: nan at 0.05, 7, 2081), its law has one everywhere. */
static double beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(gsl_cdf_beta_P(middle, a, b) < p ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

void choices_bounds(const struct choices_bin *b, double *low, double *high)
{
    const double tail = 0.05;
    double n = (double)b->n, k = (double)b->n_true;
    *low = k > 0 ? beta_quantile(tail, k, n - k + 1) : 0;
    *high = k < n ? beta_quantile(1 - tail, k + 1, n - k) : 1;
}
