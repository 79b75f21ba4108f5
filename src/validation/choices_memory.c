/* How far predicted memory is off, by the rows of all sources: by what was measured, and by
 * which runs ran and failed, as censored observations. */
#include "base/xmalloc.h"
#include "validation/choices.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

/* Of the logarithm of needed over predicted memory: its value; or that it is at most, or
 * more than, what the GPU has over what was predicted. */
enum said { SAID_VALUE, SAID_AT_MOST, SAID_MORE };

struct observation {
    enum said said;
    double x;
};

/* Of one source, one after the other. */
struct observations {
    int64_t n;
    double weight;
    struct observation *v;
};

struct fit {
    int32_t n_sources;
    struct observations *sources; /* [n_sources] */
};

enum { MEAN, SHARED, OWN, UNKNOWNS };

/* Rows that show nothing of memory: runs that fail for other reasons (of the playbook's that
 * need less than half of their GPU, one in twenty), and mappings that leave something out. */
static const double odd_share = 0.05, odd_width = 0.25;

/* A source that reports failures says of its other runs that they ran; one that reports what
 * ran alone chose it so. */
static bool reports_failures(const struct choices_rows *rows, int32_t source)
{
    for (int64_t i = 0; i < rows->list.n; i++)
        if (rows->list.v[i].source == source && rows->list.v[i].ran == CHOICES_FAILED)
            return true;
    return false;
}

/* Predicted to take half of the GPU and more. */
static bool is_large(const struct risk_plan *p)
{
    const double half = 0.5;
    return p->peak_B >= half * p->capacity_B && p->peak_B > 0;
}

static bool observe(const struct choices_row *r, bool censored, struct observation *o)
{
    if (!is_large(&r->plan))
        return false;
    double room = log(r->plan.capacity_B / r->plan.peak_B);
    if (r->has_memory)
        *o = (struct observation) { SAID_VALUE, r->memory_error };
    else if (censored && r->ran != CHOICES_NOT_SAID)
        *o = (struct observation) { r->ran == CHOICES_RAN ? SAID_AT_MOST : SAID_MORE,
                                    room };
    else
        return false;
    return true;
}

/* The logarithm of the density, or of the probability, of what a row says. */
static double log_chance(const struct observation *o, double mean, double own)
{
    double z = (o->x - mean) / own, sure = 1 - odd_share;
    switch (o->said) {
    case SAID_VALUE:
        return log(sure * gsl_ran_ugaussian_pdf(z) / own +
                   odd_share * gsl_ran_gaussian_pdf(o->x - mean, odd_width));
    case SAID_AT_MOST:
        return log(odd_share + sure * gsl_cdf_ugaussian_P(z));
    default:
        return log(odd_share + sure * gsl_cdf_ugaussian_Q(z));
    }
}

/* Of all that a source says, over what its rows share. */
static double log_likelihood_of(const struct observations *s, const double u[UNKNOWNS])
{
    enum { NODES = 7 };
    double logs[NODES], most = -INFINITY, sum = 0;
    for (int k = 0; k < NODES; k++) {
        double z = gsl_cdf_ugaussian_Pinv((k + 0.5) / NODES);
        logs[k] = 0;
        for (int64_t i = 0; i < s->n; i++)
            logs[k] +=
                s->weight * log_chance(&s->v[i], u[MEAN] + z * u[SHARED], u[OWN]);
        most = fmax(most, logs[k]);
    }
    for (int k = 0; k < NODES; k++)
        sum += exp(logs[k] - most);
    return most + log(sum / NODES);
}

static double log_likelihood(const struct fit *f, const double u[UNKNOWNS])
{
    static const double least[UNKNOWNS] = { -0.2, 0.005, 0.005 },
                        most[UNKNOWNS] = { 0.2, 0.2, 0.2 };
    double sum = 0;
    for (int k = 0; k < UNKNOWNS; k++)
        if (u[k] < least[k] || u[k] > most[k])
            return -INFINITY;
    for (int32_t s = 0; s < f->n_sources; s++)
        sum += log_likelihood_of(&f->sources[s], u);
    return sum;
}

/* One unknown after the other, by steps that are halved where none helps. */
static void maximize(const struct fit *f, double u[UNKNOWNS])
{
    const double first = 0.02, last = 0.001;
    double best = log_likelihood(f, u);
    for (double step = first; step >= last;) {
        bool better = false;
        for (int k = 0; k < 2 * UNKNOWNS; k++) {
            double was = u[k / 2];
            u[k / 2] += k % 2 ? -step : step;
            double now = log_likelihood(f, u);
            better |= now > best;
            if (now > best)
                best = now;
            else
                u[k / 2] = was;
        }
        step /= better ? 1 : 2;
    }
}

/* Rows beyond so many of a source weigh as so many. */
static void collect(struct fit *f, const struct choices_rows *rows, int32_t without)
{
    const double full = 50;
    f->sources = xcalloc((size_t)rows->sources.n + 1, sizeof(*f->sources));
    for (int32_t s = 0; s < (int32_t)rows->sources.n; s++) {
        struct observations *of = &f->sources[f->n_sources];
        bool censored = reports_failures(rows, s);
        of->v = xcalloc((size_t)rows->list.n + 1, sizeof(*of->v));
        of->n = 0;
        for (int64_t i = 0; i < rows->list.n && s != without; i++)
            of->n += rows->list.v[i].source == s &&
                     observe(&rows->list.v[i], censored, &of->v[of->n]);
        of->weight = of->n > full ? full / (double)of->n : 1;
        if (of->n > 0)
            f->n_sources++;
        else
            free(of->v);
    }
}

void choices_fit_memory(const struct choices_rows *rows, int32_t without,
                        struct risk_widths *w)
{
    struct fit f = { 0 };
    double u[UNKNOWNS] = { 0, 0.03, 0.05 };
    collect(&f, rows, without);
    if (f.n_sources >= 2) {
        maximize(&f, u);
        w->memory_mean = u[MEAN];
        w->memory_shared = u[SHARED];
        w->memory_own = u[OWN];
    }
    for (int32_t s = 0; s < f.n_sources; s++)
        free(f.sources[s].v);
    free(f.sources);
}

void choices_judge_memory(struct choices_bin bins[CHOICES_BINS],
                          const struct choices_rows *rows, int32_t source,
                          const struct risk_widths *w)
{
    if (!reports_failures(rows, source))
        return;
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct choices_row *r = &rows->list.v[i];
        if (r->source != source || r->ran == CHOICES_NOT_SAID || !is_large(&r->plan))
            continue;
        double unfit = 1 - risk_fits(w, r->plan.peak_B / r->plan.capacity_B);
        choices_bins_put(bins, unfit, r->ran == CHOICES_FAILED);
    }
}
