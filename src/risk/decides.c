#include "risk/decides.h"

#include "base/xmalloc.h"
#include "risk/draw.h"

#include <math.h>
#include <stdlib.h>

const struct name_value risk_unknown_names[] = {
    { "products", RESOURCE_PRODUCTS },
    { "attention", RESOURCE_ATTENTION },
    { "memory_bandwidth", RESOURCE_MEMORY },
    { "host", RESOURCE_HOST },
    { "links", RESOURCE_LINKS },
    { "network", RESOURCE_NETWORK },
    { "memory", RISK_UNKNOWN_MEMORY },
    { NULL, 0 },
};

struct decider {
    const struct risk_plan *plans;
    int32_t n, first, draws;
    bool of_memory;
    struct risk_widths w; /* of what is shared alone */
    struct risk_draw *all;
    bool *lost; /* [draws] in which the other is better */
};

static double value(const struct decider *x, int32_t plan, int32_t draw)
{
    return risk_draw_value(&x->all[draw], &x->w, &x->plans[plan], x->of_memory);
}

/* What the other plan saves in a draw in which it is better, as a share of the first's. */
static double saved(double other, double first)
{
    return other < first ? isfinite(first) ? 1 - other / first : 1 : 0;
}

/* The plan that saves the most over all draws in which it is better: one like the
 * first, always better by a hair, decides nothing. Fills `lost` with when it is. */
static int32_t find_other(struct decider *x, int32_t *n_lost)
{
    double *firsts = xcalloc((size_t)x->draws, sizeof(*firsts)), most = 0;
    int32_t other = -1;
    *n_lost = 0;
    for (int32_t d = 0; d < x->draws; d++)
        firsts[d] = value(x, x->first, d);
    for (int32_t i = 0; i < x->n; i++) {
        double sum = 0;
        for (int32_t d = 0; d < x->draws && i != x->first; d++)
            sum += saved(value(x, i, d), firsts[d]);
        if (sum > most) {
            most = sum;
            other = i;
        }
    }
    for (int32_t d = 0; d < x->draws && other >= 0; d++) {
        x->lost[d] = value(x, other, d) < firsts[d];
        *n_lost += x->lost[d];
    }
    free(firsts);
    return other;
}

/* --- the unknown ------------------------------------------------------------------- */

struct at_draw {
    double z;
    bool lost;
};

static int by_z(const void *a, const void *b)
{
    const struct at_draw *x = a, *y = b;
    return (x->z > y->z) - (x->z < y->z);
}

/* A threshold of an unknown, and how many draws it separates rightly. */
struct split {
    int32_t right;
    bool above;
    double z;
};

/* The best threshold of an unknown: between two draws, the other plan on one side. */
static struct split split_by(const struct decider *x, int unknown, int32_t n_lost)
{
    struct at_draw *v = xcalloc((size_t)x->draws, sizeof(*v));
    struct split best = { 0 };
    int32_t lost_below = 0;
    for (int32_t d = 0; d < x->draws; d++)
        v[d] = (struct at_draw) { x->all[d].z[unknown], x->lost[d] };
    qsort(v, (size_t)x->draws, sizeof(*v), by_z);
    for (int32_t d = 0; d + 1 < x->draws; d++) {
        lost_below += v[d].lost;
        /* above: those beyond are lost, those up to here not */
        int32_t above = n_lost - lost_below + (d + 1 - lost_below);
        int32_t right = above > x->draws - above ? above : x->draws - above;
        if (right > best.right)
            best = (struct split) { right, above == right, (v[d].z + v[d + 1].z) / 2 };
    }
    free(v);
    return best;
}

static double factor_of(const struct decider *x, int unknown, double z)
{
    struct risk_draw d = { .z = { 0 } };
    d.z[unknown] = z;
    if (unknown == RISK_UNKNOWN_MEMORY)
        return exp(x->w.memory_mean + x->w.memory_shared * z);
    return risk_draw_factor(&d, &x->w, (enum resource)unknown,
                            x->plans[x->first].octaves);
}

/* A threshold is known where it mends a third of what guessing the commoner case gets
 * wrong. */
static void find_unknown(struct risk_decision *r, const struct decider *x,
                         int32_t n_lost)
{
    const int32_t part = 3;
    int32_t rarer = n_lost < x->draws - n_lost ? n_lost : x->draws - n_lost, most = 0;
    for (int k = 0; k < RISK_UNKNOWNS; k++) {
        struct split s = split_by(x, k, n_lost);
        int32_t mended = s.right - (x->draws - rarer);
        if (mended <= most || mended * part < rarer)
            continue;
        most = mended;
        r->known = true;
        r->unknown = k;
        r->above = s.above;
        r->factor = factor_of(x, k, s.z);
        r->right = (double)s.right / x->draws;
    }
}

struct risk_decision risk_decide(const struct risk_plan *plans, int32_t n,
                                 int32_t first, const struct risk_widths *w,
                                 const struct risk_options *o)
{
    struct risk_decision r = { .other = -1 };
    struct decider x = { .plans = plans,
                         .n = n,
                         .first = first,
                         .draws = o->draws,
                         .of_memory = o->of_memory,
                         .w = risk_shared_alone(w),
                         .all = xcalloc((size_t)o->draws, sizeof(*x.all)),
                         .lost = xcalloc((size_t)o->draws, sizeof(*x.lost)) };
    int32_t n_lost;
    for (int32_t d = 0; d < o->draws; d++)
        x.all[d] = risk_draw_make(o->seed, d);
    x.w.memory_own = 0;
    r.other = find_other(&x, &n_lost);
    r.changes = n_lost > 0;
    r.share = (double)n_lost / x.draws;
    if (r.changes)
        find_unknown(&r, &x, n_lost);
    free(x.all);
    free(x.lost);
    return r;
}
