#include "doctor/explain.h"

#include "base/xmalloc.h"
#include "doctor/evidence.h"
#include "doctor/tried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED_MAX = 40 };

static const double same = 0.005;
static const double odds_described = 0.5, prior_unknown = 0.04, unknown_least = 1.0 / 3,
                    unknown_most = 30;

/* Single hypotheses ---------------------------------------------------------------- */

bool explain_predict(struct explaining *w, struct doctor_prediction *p, json_t *tree)
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
    if (hypothesis_is_simulated(t->h) &&
        !explain_predict(w, p,
                         hypothesis_apply(t->h, w->job, &healthy->facts, strength)))
        return;
    double step_s = hypothesis_step_s(t->h, p, strength);
    if (is_same(p, step_s, healthy))
        return;
    t->strength[t->n] = strength;
    t->step_s[t->n] = step_s;
    t->signature[t->n] =
        doctor_signature_of(w->view, p, step_s, hypothesis_shares(t->h, p, strength));
    t->likelihood[t->n] = doctor_density(&w->measured, &t->signature[t->n]);
    t->n++;
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
    t->odds = h->prior / (1 - h->prior) * exp(t->evidence);
    t->posterior = t->odds * mean(t->likelihood, t->n);
    w->n_tried++;
}

struct doctor_cause *explain_add(struct explaining *w, double posterior)
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
        struct doctor_cause *c = explain_add(w, t->posterior);
        int32_t best = best_of(t->likelihood, t->n);
        if (!c)
            return;
        c->of[0] = t->h;
        c->class[0] = c->class[1] = t->class;
        c->strength[0] = t->strength[best];
        c->step_s = t->step_s[best];
        c->allocated_B = t->p[best].allocated_B;
        c->evidence = t->evidence;
        c->why = t->why;
    }
}

/* All together --------------------------------------------------------------------- */

/* Of a ratio: even over its logarithm within the limits, and less by as much as it is
 * beyond them. */
static double unknown_density(double ratio)
{
    double even = 1 / log(unknown_most / unknown_least);
    return even * fmin(fmin(unknown_most / ratio, ratio / unknown_least), 1);
}

/* Of anything: a density over the logarithm of the ratio; of memory, half of what is
 * predicted of the job, and half of anything within a factor of ten. */
static double unknown_likelihood(const struct explaining *w,
                                 const struct doctor_signature *job)
{
    static const double any_shares = 2; /* of the half of a square */
    double density =
        unknown_density(w->view->steady->median_s / w->view->healthy->step_s);
    if (w->view->traced)
        density *= any_shares * doctor_traced_density(w->view);
    if (!isnan(w->measured.at[AXIS_MEMORY]))
        density *=
            0.5 * doctor_axis_density(&w->measured, job, AXIS_MEMORY) + 0.5 / log(100);
    return density;
}

static void add_others(struct explaining *w)
{
    const struct doctor_prediction *p = w->view->healthy;
    const struct doctor_signature g =
        doctor_signature_of(w->view, p, p->step_s, doctor_shares_of(p));
    struct doctor_cause *c =
        explain_add(w, odds_described * doctor_density(&w->measured, &g));
    if (c) {
        c->kind = DOCTOR_HEALTHY;
        c->step_s = p->step_s;
        c->allocated_B = p->allocated_B;
    }
    c = explain_add(w, prior_unknown / (1 - prior_unknown) * unknown_likelihood(w, &g));
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

/* Classes -------------------------------------------------------------------------- */

/* A pair is of the class of both; the run as described and the unknown are their own. */
static struct doctor_class *class_of(struct doctor_causes *c,
                                     const struct doctor_cause *x)
{
    int32_t of[2] = { x->class[0] < x -> class[1] ? x -> class[0] : x -> class[1],
                      x -> class[0] < x -> class[1] ? x -> class[1] : x -> class[0] };
    for (int32_t i = 0; i < c->n_classes; i++) {
        struct doctor_class *k = &c->classes[i];
        if (x->kind == DOCTOR_KNOWN && k->of[0] == of[0] && k->of[1] == of[1])
            return k;
    }
    struct doctor_class *to = &c->classes[c->n_classes++];
    *to = (struct doctor_class) {
        .family = x->of[0] ? x->of[0]->family : DOCTOR_JOB,
        .of = { x->kind == DOCTOR_KNOWN ? of[0] : -1, of[1] },
    };
    return to;
}

static int class_more_probable(const void *a, const void *b)
{
    double x = ((const struct doctor_class *)a)->posterior,
           y = ((const struct doctor_class *)b)->posterior;
    return (x < y) - (x > y);
}

static void classify(struct doctor_causes *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        struct doctor_class *to = class_of(c, &c->of[i]);
        to->posterior += c->of[i].posterior;
        to->causes[to->n++] = i;
    }
    for (int32_t i = 0; i < c->n_classes; i++)
        c->classes[i].apart = c->classes[i].n == 1;
    qsort(c->classes, (size_t)c->n_classes, sizeof(c->classes[0]), class_more_probable);
}

void doctor_explain(struct doctor_causes *c, struct doctor_predictor *by,
                    const json_t *job, const struct doctor_view *v)
{
    struct explaining w = { by, job, v, doctor_measured(v), c, NULL, 0 };
    w.tried = xmalloc((TRIED_MAX + 1) * sizeof(*w.tried));
    *c = (struct doctor_causes) { .n = 0 };
    for (int32_t i = 0; i < n_hypotheses; i++)
        try_hypothesis(&w, &hypotheses[i]);
    separate_hypotheses(&w);
    add_others(&w);
    add_singles(&w);
    explain_pairs(&w);
    finish(c, v);
    classify(c);
    free(w.tried);
}
