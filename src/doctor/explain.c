#include "doctor/explain.h"

#include "doctor/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 4, TRIED_MAX = 40, CLASS_MAX = 16 };

/* The normal quantile of 90 %: the range holds 80 % of runs. */
static const double quantile_90 = 1.2816;
static const double least_sd = 0.04, same = 0.005;
static const double share_sd = 0.08;
static const double prior_unknown = 0.04, unknown_least = 1.0 / 3, unknown_most = 30;

/* A hypothesis, simulated at each strength. */
struct tried {
    const struct hypothesis *h;
    int32_t n;
    double strength[HYPOTHESIS_STRENGTHS];
    double likelihood[HYPOTHESIS_STRENGTHS];
    struct doctor_prediction p[HYPOTHESIS_STRENGTHS];
    double step_s[HYPOTHESIS_STRENGTHS];
    double evidence, posterior;
    const char *why;
};

struct explaining {
    struct doctor_predictor *by;
    const json_t *job;
    const struct doctor_view *view;
    struct doctor_causes *causes;
    struct tried *tried;
    int32_t n_tried;
};

/* Likelihoods ---------------------------------------------------------------------- */

static double normal_density(double x, double sd)
{
    return exp(-0.5 * x * x / (sd * sd)) / (sd * sqrt(2 * acos(-1.0)));
}

/* Of a time, by the prediction p of which it is step_s. */
static double time_likelihood(const struct explaining *w,
                              const struct doctor_prediction *p, double step_s)
{
    double t = w->view->steady->median_s;
    double end = t > step_s ? p->range_s[1] / p->step_s : p->step_s / p->range_s[0];
    return normal_density(log(t / step_s), fmax(least_sd, log(end) / quantile_90));
}

/* What the logs say of memory, and what a prediction does; false: nothing. */
static bool memory_of(const struct logs *l, const struct doctor_prediction *p,
                      double *measured, double *predicted)
{
    *measured = l->allocated_B > 0 ? l->allocated_B : l->reserved_B;
    *predicted = l->allocated_B > 0 ? p->allocated_B : p->reserved_B;
    return *measured > 0 && *predicted > 0;
}

static double memory_likelihood(const struct explaining *w,
                                const struct doctor_prediction *p)
{
    double measured, predicted;
    if (!memory_of(w->view->logs, p, &measured, &predicted))
        return 1;
    double sd = log(p->peak_range_B[1] / p->peak_B) / quantile_90;
    return normal_density(log(measured / predicted), fmax(2 * least_sd, sd));
}

/* Of the shares of a trace; 1: there is none. */
static double share_likelihood(const struct explaining *w, struct doctor_shares s)
{
    const struct doctor_shares *t = w->view->traced;
    if (!t)
        return 1;
    return normal_density(t->compute - s.compute, share_sd) *
           normal_density(t->waiting - s.waiting, share_sd);
}

/* Of anything: a density over the logarithm of the ratio. */
static double unknown_likelihood(const struct explaining *w)
{
    static const double any_shares = 2; /* of the half of a square */
    double measured, predicted;
    const struct doctor_prediction *p = w->view->healthy;
    double ratio = w->view->steady->median_s / p->step_s;
    double time = ratio > unknown_least && ratio < unknown_most
                      ? 1 / log(unknown_most / unknown_least)
                      : 0;
    if (w->view->traced)
        time *= any_shares;
    if (!memory_of(w->view->logs, p, &measured, &predicted))
        return time;
    return time * (0.5 * memory_likelihood(w, p) + 0.5 / log(100));
}

/* Single hypotheses ---------------------------------------------------------------- */

static bool predict(struct explaining *w, struct doctor_prediction *p, json_t *tree)
{
    struct err unused = { 0 };
    w->causes->n_simulated++;
    int rc = doctor_predict(p, w->by, tree, &unused);
    json_decref(tree);
    return rc == 0;
}

static bool is_same(const struct doctor_prediction *a, double step_s,
                    const struct doctor_prediction *healthy)
{
    return fabs(step_s / healthy->step_s - 1) < same &&
           fabs(a->allocated_B / healthy->allocated_B - 1) < same;
}

static void try_strength(struct explaining *w, struct tried *t, double strength)
{
    const struct doctor_prediction *healthy = w->view->healthy;
    struct doctor_prediction *p = &t->p[t->n];
    *p = *healthy;
    if (t->h->how == DOCTOR_BY_SCENARIO &&
        !predict(w, p, hypothesis_apply(t->h, w->job, &healthy->facts, strength)))
        return;
    double step_s = hypothesis_step_s(t->h, p, strength);
    if (is_same(p, step_s, healthy))
        return;
    t->strength[t->n] = strength;
    t->step_s[t->n] = step_s;
    t->likelihood[t->n++] = time_likelihood(w, p, step_s) * memory_likelihood(w, p) *
                            share_likelihood(w, hypothesis_shares(t->h, p, strength));
}

static double mean(const double *v, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / n : 0;
}

static int32_t best_of(const double *v, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (v[i] > v[best])
            best = i;
    return best;
}

static void try_hypothesis(struct explaining *w, const struct hypothesis *h)
{
    const struct doctor_facts *f = &w->view->healthy->facts;
    struct tried *t = &w->tried[w->n_tried];
    if ((h->applies && !h->applies(f)) || w->n_tried == TRIED_MAX)
        return;
    *t = (struct tried) { .h = h };
    for (int32_t i = 0; i < hypothesis_n_strengths(h); i++)
        try_strength(w, t, hypothesis_strength(h, i));
    if (t->n == 0)
        return;
    if (h->evidence)
        t->evidence = h->evidence(w->view, &t->why);
    t->posterior = h->prior * exp(t->evidence) * mean(t->likelihood, t->n);
    w->n_tried++;
}

static struct doctor_cause *add_cause(struct explaining *w, double posterior)
{
    struct doctor_causes *c = w->causes;
    struct doctor_cause *to = &c->of[c->n];
    if (c->n == DOCTOR_CAUSES_MAX)
        return NULL;
    c->n++;
    *to = (struct doctor_cause) { .posterior = posterior,
                                  .kind = DOCTOR_KNOWN,
                                  .step_s = (double)NAN,
                                  .allocated_B = (double)NAN,
                                  .usd_per_day = (double)NAN };
    return to;
}

static void add_singles(struct explaining *w)
{
    for (int32_t i = 0; i < w->n_tried; i++) {
        const struct tried *t = &w->tried[i];
        struct doctor_cause *c = add_cause(w, t->posterior);
        int32_t best = best_of(t->likelihood, t->n);
        if (!c)
            return;
        c->of[0] = t->h;
        c->strength[0] = t->strength[best];
        c->step_s = t->step_s[best];
        c->allocated_B = t->p[best].allocated_B;
        c->evidence = t->evidence;
        c->why = t->why;
    }
}

/* Pairs ---------------------------------------------------------------------------- */

static int by_posterior(const void *a, const void *b)
{
    double x = ((const struct tried *)a)->posterior,
           y = ((const struct tried *)b)->posterior;
    return (x < y) - (x > y);
}

/* The simulation of one applies to the tree that the other changed. */
static bool predict_pair(struct explaining *w, const struct tried *a,
                         const struct tried *b, int32_t i, int32_t k,
                         struct doctor_prediction *p, double *step_s,
                         struct doctor_shares *shares)
{
    const struct doctor_facts *f = &w->view->healthy->facts;
    const struct tried *of[] = { a, b };
    const int32_t at[] = { i, k };
    int simulated = 0;
    *p = *w->view->healthy;
    for (int s = 0; s < 2; s++)
        if (of[s]->h->how == DOCTOR_BY_SCENARIO) {
            *p = of[s]->p[at[s]];
            simulated++;
        }
    if (simulated == 2) {
        json_t *one = hypothesis_apply(a->h, w->job, f, a->strength[i]);
        json_t *two = hypothesis_apply(b->h, one, f, b->strength[k]);
        json_decref(one);
        if (!predict(w, p, two))
            return false;
    }
    struct doctor_shares one = doctor_shares_of(p);
    struct doctor_shares sum_s = { one.compute * p->step_s,
                                   one.communication * p->step_s,
                                   one.waiting * p->step_s };
    *step_s = p->step_s;
    for (int s = 0; s < 2; s++) {
        double with_s = hypothesis_step_s(of[s]->h, p, of[s]->strength[at[s]]);
        struct doctor_shares with =
            hypothesis_shares(of[s]->h, p, of[s]->strength[at[s]]);
        *step_s += with_s - p->step_s;
        sum_s.compute += with.compute * with_s - one.compute * p->step_s;
        sum_s.waiting += with.waiting * with_s - one.waiting * p->step_s;
    }
    shares->compute = sum_s.compute / *step_s;
    shares->waiting = sum_s.waiting / *step_s;
    shares->communication = 1 - shares->compute - shares->waiting;
    return true;
}

static void try_pair(struct explaining *w, const struct tried *a, const struct tried *b)
{
    double sum = 0, best = -1, n = 0;
    struct doctor_cause found = { .kind = DOCTOR_KNOWN };
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t k = 0; k < b->n; k++) {
            struct doctor_prediction p;
            struct doctor_shares shares;
            double step_s;
            if (!predict_pair(w, a, b, i, k, &p, &step_s, &shares))
                continue;
            double l = time_likelihood(w, &p, step_s) * memory_likelihood(w, &p) *
                       share_likelihood(w, shares);
            sum += l;
            n++;
            if (l > best) {
                best = l;
                found.strength[0] = a->strength[i];
                found.strength[1] = b->strength[k];
                found.step_s = step_s;
                found.allocated_B = p.allocated_B;
            }
        }
    double prior = a->h->prior * b->h->prior * exp(a->evidence + b->evidence);
    struct doctor_cause *c = n > 0 ? add_cause(w, prior * sum / n) : NULL;
    if (!c)
        return;
    found.posterior = c->posterior;
    found.of[0] = a->h;
    found.of[1] = b->h;
    found.evidence = a->evidence + b->evidence;
    found.why = a->evidence > b->evidence ? a->why : b->why;
    found.usd_per_day = (double)NAN;
    *c = found;
}

/* Of one family, two do not add: the slower of both is what is seen. */
static void add_pairs(struct explaining *w)
{
    int32_t n = w->n_tried < BEST ? w->n_tried : BEST;
    qsort(w->tried, (size_t)w->n_tried, sizeof(*w->tried), by_posterior);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n; k++) {
            const struct tried *a = &w->tried[i], *b = &w->tried[k];
            if (a->h->family != b->h->family || a->h->family == DOCTOR_JOB)
                try_pair(w, a, b);
        }
}

/* All together --------------------------------------------------------------------- */

static void add_others(struct explaining *w)
{
    const struct doctor_prediction *p = w->view->healthy;
    double rest = 1 - prior_unknown;
    for (int32_t i = 0; i < n_hypotheses; i++)
        rest -= hypotheses[i].prior;
    struct doctor_cause *c =
        add_cause(w, rest * time_likelihood(w, p, p->step_s) * memory_likelihood(w, p) *
                         share_likelihood(w, doctor_shares_of(p)));
    if (c) {
        c->kind = DOCTOR_HEALTHY;
        c->step_s = p->step_s;
        c->allocated_B = p->allocated_B;
    }
    c = add_cause(w, prior_unknown * unknown_likelihood(w));
    if (c)
        c->kind = DOCTOR_UNKNOWN;
}

static int more_probable(const void *a, const void *b)
{
    double x = ((const struct doctor_cause *)a)->posterior,
           y = ((const struct doctor_cause *)b)->posterior;
    return (x < y) - (x > y);
}

/* A mend takes the step to what is predicted of the job as it is described. */
static void finish(struct doctor_causes *c, const struct doctor_view *v)
{
    double sum = 0, day_usd = v->healthy->usd_per_h * 24;
    for (int32_t i = 0; i < c->n; i++)
        sum += c->of[i].posterior;
    for (int32_t i = 0; i < c->n; i++) {
        struct doctor_cause *x = &c->of[i];
        x->posterior = sum > 0 ? x->posterior / sum : 0;
        if (x->kind != DOCTOR_KNOWN)
            continue;
        double share = 1 - v->healthy->step_s / x->step_s;
        x->saves_s = share * v->steady->median_s;
        x->usd_per_day = share * day_usd;
    }
    qsort(c->of, (size_t)c->n, sizeof(c->of[0]), more_probable);
}

static struct doctor_class *class_of(struct doctor_causes *c,
                                     const struct doctor_view *v,
                                     const struct doctor_cause *x)
{
    bool apart =
        x->kind != DOCTOR_KNOWN || x->of[1] || evidence_separates(v, x->of[0]->family);
    for (int32_t i = 0; i < c->n_classes && !apart; i++)
        if (!c->classes[i].apart && c->classes[i].family == x->of[0]->family)
            return &c->classes[i];
    struct doctor_class *to = &c->classes[c->n_classes++];
    *to = (struct doctor_class) {
        .family = x->of[0] ? x->of[0]->family : DOCTOR_JOB,
        .apart = apart,
    };
    return to;
}

static int class_more_probable(const void *a, const void *b)
{
    double x = ((const struct doctor_class *)a)->posterior,
           y = ((const struct doctor_class *)b)->posterior;
    return (x < y) - (x > y);
}

static void classify(struct doctor_causes *c, const struct doctor_view *v)
{
    for (int32_t i = 0; i < c->n; i++) {
        struct doctor_class *to = class_of(c, v, &c->of[i]);
        to->posterior += c->of[i].posterior;
        if (to->n < CLASS_MAX)
            to->causes[to->n++] = i;
    }
    qsort(c->classes, (size_t)c->n_classes, sizeof(c->classes[0]), class_more_probable);
}

void doctor_explain(struct doctor_causes *c, struct doctor_predictor *by,
                    const json_t *job, const struct doctor_view *v)
{
    struct explaining w = { by, job, v, c, NULL, 0 };
    w.tried = xmalloc((TRIED_MAX + 1) * sizeof(*w.tried));
    *c = (struct doctor_causes) { .n = 0 };
    for (int32_t i = 0; i < n_hypotheses; i++)
        try_hypothesis(&w, &hypotheses[i]);
    add_others(&w);
    add_singles(&w);
    add_pairs(&w);
    finish(c, v);
    classify(c, v);
    free(w.tried);
}
