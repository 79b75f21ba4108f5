/* Two deviations at once. Where each changes the job, they are first added as parts of
 * the step; the best are then simulated together. */
#include "base/xmalloc.h"
#include "doctor/evidence.h"
#include "doctor/tried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 24, SIMULATED = 6 };

/* Of the best fit of a pair, these are simulated. */
static const double worth_simulating = 0.1;

static const double same_effect = 0.005;

struct pair {
    const struct tried *of[2];
    double posterior, best; /* best: the greatest likelihood */
    int32_t at[2];          /* the strengths there */
    double step_s, allocated_B;
};

static bool both_change_the_job(const struct pair *p)
{
    return hypothesis_is_simulated(p->of[0]->h) && hypothesis_is_simulated(p->of[1]->h);
}

static double times(double a, double b, double of)
{
    return of > 0 ? a * b / of : a;
}

/* The job with what two changes do to its parts, each alone. */
static struct doctor_prediction added(const struct doctor_prediction *job,
                                      const struct doctor_prediction *a,
                                      const struct doctor_prediction *b)
{
    struct doctor_prediction p = a->step_s > b->step_s ? *a : *b;
    double own_s = p.step_s;
    p.step_s = fmax(a->step_s + b->step_s - job->step_s, 0.1 * job->step_s);
    for (int i = 0; i < CATEGORY_N; i++)
        p.parts_s[i] = fmax(a->parts_s[i] + b->parts_s[i] - job->parts_s[i], 0);
    for (int i = 0; i < 2; i++)
        p.tenth_s[i] *= p.step_s / own_s;
    p.allocated_B = times(a->allocated_B, b->allocated_B, job->allocated_B);
    p.reserved_B = times(a->reserved_B, b->reserved_B, job->reserved_B);
    return p;
}

/* The simulation of both; false: it cannot be. */
static bool simulate(struct explaining *w, const struct pair *pair, const int32_t *at,
                     struct doctor_prediction *p)
{
    const struct doctor_facts *f = &w->view->healthy->facts;
    const struct tried *a = pair->of[0], *b = pair->of[1];
    json_t *one = hypothesis_apply(a->h, w->job, f, a->strength[at[0]]);
    json_t *two = hypothesis_apply(b->h, one, f, b->strength[at[1]]);
    json_decref(one);
    return explain_predict(w, p, two);
}

/* The job as it is simulated with what of the pair changes it. */
static struct doctor_prediction base_of(const struct explaining *w,
                                        const struct pair *pair, const int32_t *at)
{
    const struct doctor_prediction *job = w->view->healthy, *p[2];
    for (int s = 0; s < 2; s++) {
        const struct tried *t = pair->of[s];
        p[s] = hypothesis_is_simulated(t->h) ? &t->p[at[s]] : job;
    }
    return p[0] == job ? *p[1] : p[1] == job ? *p[0] : added(job, p[0], p[1]);
}

/* Likelihood of a pair at two strengths, over the job p that both changed. */
static double fit(const struct explaining *w, const struct pair *pair,
                  const int32_t *at, const struct doctor_prediction *p, double *step_s)
{
    struct doctor_shares own = doctor_shares_of(p), sum = own;
    *step_s = p->step_s;
    sum.compute *= p->step_s;
    sum.waiting *= p->step_s;
    for (int s = 0; s < 2; s++) {
        const struct hypothesis *h = pair->of[s]->h;
        double strength = pair->of[s]->strength[at[s]],
               with_s = hypothesis_step_s(h, p, strength);
        struct doctor_shares with = hypothesis_shares(h, p, strength);
        *step_s += with_s - p->step_s;
        sum.compute += with.compute * with_s - own.compute * p->step_s;
        sum.waiting += with.waiting * with_s - own.waiting * p->step_s;
    }
    sum.compute /= *step_s;
    sum.waiting /= *step_s;
    struct doctor_signature g = doctor_signature_of(w->view, p, *step_s, sum);
    return doctor_density(&w->measured, &g);
}

static void keep_best(struct pair *p, double likelihood, const int32_t *at,
                      const struct doctor_prediction *job, double step_s)
{
    if (likelihood <= p->best)
        return;
    p->best = likelihood;
    p->at[0] = at[0];
    p->at[1] = at[1];
    p->step_s = step_s;
    p->allocated_B = job->allocated_B;
}

/* The mean likelihood over all strengths. Above 0, `above` is a likelihood beyond which
 * both are simulated where both change the job. */
static double mean_fit(struct explaining *w, struct pair *pair, double above)
{
    double sum = 0;
    int32_t at[2];
    pair->best = -1;
    for (at[0] = 0; at[0] < pair->of[0]->n; at[0]++)
        for (at[1] = 0; at[1] < pair->of[1]->n; at[1]++) {
            double step_s;
            struct doctor_prediction p = base_of(w, pair, at), exact;
            double l = fit(w, pair, at, &p, &step_s);
            if (above > 0 && l > above) {
                bool runs = simulate(w, pair, at, &exact);
                l = runs ? fit(w, pair, at, &exact, &step_s) : 0;
                p = runs ? exact : p;
            }
            sum += l;
            keep_best(pair, l, at, &p, step_s);
        }
    return sum / (pair->of[0]->n * pair->of[1]->n);
}

/* The one is as probable with the other as without. */
static double odds_of(const struct pair *p)
{
    return p->of[0]->odds * p->of[1]->odds;
}

static int by_posterior(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->posterior,
           y = ((const struct pair *)b)->posterior;
    return (x < y) - (x > y);
}

/* Of one family, two do not add: the slower of both is what is seen. */
static bool can_be_both(const struct hypothesis *a, const struct hypothesis *b)
{
    return a->family != b->family || a->family == DOCTOR_JOB;
}

static int32_t list(struct explaining *w, struct pair *pairs)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n_tried; i++)
        for (int32_t k = i + 1; k < w->n_tried; k++) {
            struct pair p = { .of = { &w->tried[i], &w->tried[k] } };
            if (!can_be_both(p.of[0]->h, p.of[1]->h))
                continue;
            p.posterior = odds_of(&p) * mean_fit(w, &p, 0);
            pairs[n++] = p;
        }
    qsort(pairs, (size_t)n, sizeof(*pairs), by_posterior);
    return n;
}

/* Whether the second of a pair changes what the first does, or is seen in words. */
static bool both_matter(const struct pair *p)
{
    for (int s = 0; s < 2; s++) {
        const struct tried *t = p->of[s];
        int32_t at = p->at[s];
        bool shows = fabs(p->step_s / t->step_s[at] - 1) > same_effect ||
                     fabs(p->allocated_B / t->p[at].allocated_B - 1) > same_effect;
        if (!shows && p->of[1 - s]->evidence < evidence_decides)
            return false;
    }
    return true;
}

static void add(struct explaining *w, const struct pair *p)
{
    const struct tried *a = p->of[0], *b = p->of[1];
    struct doctor_cause *c = explain_add(w, p->posterior);
    if (!c)
        return;
    for (int s = 0; s < 2; s++) {
        c->of[s] = p->of[s]->h;
        c->strength[s] = p->of[s]->strength[p->at[s]];
        c->class[s] = p->of[s]->class;
    }
    c->step_s = p->step_s;
    c->allocated_B = p->allocated_B;
    c->evidence = a->evidence + b->evidence;
    c->why = a->evidence > b->evidence ? a->why : b->why;
}

void explain_pairs(struct explaining *w)
{
    size_t n_tried = (size_t)w->n_tried, all = n_tried * n_tried / 2 + 1;
    struct pair *pairs = xmalloc(all * sizeof(*pairs));
    int32_t n = list(w, pairs), exact = 0;
    for (int32_t i = 0; i < n && i < KEPT; i++) {
        struct pair *p = &pairs[i];
        if (both_change_the_job(p) && exact++ < SIMULATED)
            p->posterior = odds_of(p) * mean_fit(w, p, worth_simulating * p->best);
        if (p->posterior > 0 && p->best > 0 && both_matter(p))
            add(w, p);
    }
    free(pairs);
}
