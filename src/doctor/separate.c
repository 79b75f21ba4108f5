/* Which hypotheses these logs cannot separate. Asked of the kinds of logs and of the
 * simulated signatures, not of what was measured: a class is known before the run is. */
#include "base/xmalloc.h"
#include "doctor/evidence.h"
#include "doctor/tried.h"

#include <math.h>
#include <stdlib.h>

/* A run has to be taken for its own class in so many cases. */
static const double recognised = 0.6;

/* taken[i * n + k]: the share of runs of hypothesis i that are taken for k. */
struct separating {
    struct explaining *w;
    int32_t n;
    double *taken;
};

/* Words of the logs say it, or say that it is not so. */
static bool is_spoken_of(const struct tried *t)
{
    return fabs(t->evidence) >= evidence_decides;
}

/* Strengths are equally probable. */
static double density_of(const struct tried *t, const struct doctor_point *x)
{
    double sum = 0;
    for (int32_t i = 0; i < t->n; i++)
        sum += doctor_density(x, &t->signature[i]);
    return sum / t->n;
}

/* Adds to the row what a run at a point is taken for, by posterior; words apart. */
static void add_point(const struct separating *s, double *row,
                      const struct doctor_point *x, double weight)
{
    double *of = xmalloc((size_t)s->n * sizeof(*of)), sum = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const struct tried *t = &s->w->tried[k];
        of[k] = is_spoken_of(t) ? 0 : t->odds * density_of(t, x);
        sum += of[k];
    }
    for (int32_t k = 0; k < s->n && sum > 0; k++)
        row[k] += weight * of[k] / sum;
    free(of);
}

/* A normal density is stood for by the points one deviation off on all axes. */
static void add_row(const struct separating *s, int32_t i)
{
    const struct tried *t = &s->w->tried[i];
    unsigned axes = doctor_axes(&t->signature[0]), n = 0;
    for (unsigned k = 0; k < 1u << DOCTOR_AXES; k++)
        n += (k & ~axes) == 0;
    for (int32_t a = 0; a < t->n; a++)
        for (unsigned k = 0; k < 1u << DOCTOR_AXES; k++) {
            if (k & ~axes)
                continue;
            struct doctor_point x = doctor_corner(&t->signature[a], k);
            add_point(s, &s->taken[i * s->n], &x, 1.0 / (t->n * (double)n));
        }
}

/* The share of runs of hypothesis i that are taken for a class. */
static double taken_for(const struct separating *s, int32_t i, int32_t class)
{
    double sum = 0;
    for (int32_t k = 0; k < s->n; k++)
        sum += s->w->tried[k].class == class ? s->taken[i * s->n + k] : 0;
    return sum;
}

/* The hypothesis that is taken for its own class least often; -1: all are often enough. */
static int32_t least_recognised(const struct separating *s)
{
    int32_t least = -1;
    double share = recognised;
    for (int32_t i = 0; i < s->n; i++) {
        double own = taken_for(s, i, s->w->tried[i].class);
        if (is_spoken_of(&s->w->tried[i]) || own >= share)
            continue;
        share = own;
        least = i;
    }
    return least;
}

static void join(const struct separating *s, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->w->tried[i].class == from)
            s->w->tried[i].class = to;
}

/* Joins a hypothesis' class with the one that takes most of its runs. */
static void join_with_most(const struct separating *s, int32_t i)
{
    int32_t own = s->w->tried[i].class, to = own;
    double most = 0;
    for (int32_t class = 0; class < s->n; class ++) {
        double share = class == own ? 0 : taken_for(s, i, class);
        if (share <= most)
            continue;
        most = share;
        to = class;
    }
    join(s, own, to);
}

void separate_hypotheses(struct explaining *w)
{
    struct separating s = { w, w->n_tried, NULL };
    s.taken = xcalloc((size_t)s.n * (size_t)s.n + 1, sizeof(*s.taken));
    for (int32_t i = 0; i < s.n; i++) {
        w->tried[i].class = i;
        if (!is_spoken_of(&w->tried[i]))
            add_row(&s, i);
    }
    for (int32_t i; (i = least_recognised(&s)) >= 0;) {
        int32_t own = w->tried[i].class;
        join_with_most(&s, i);
        if (w->tried[i].class == own)
            break;
    }
    free(s.taken);
}
