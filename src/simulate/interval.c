#include "simulate/interval.h"

#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

/* The octaves within which rows were measured nearby. */
static const double nearby = 0.75;

/* What a measured peak is less and more than the predicted one, four times in five. */
static const double memory_less = 0.015, memory_more = 0.095;

const struct name_value interval_grade_names[] = {
    { "extrapolated", INTERVAL_EXTRAPOLATED },
    { "measured", INTERVAL_MEASURED },
    { "interpolated", INTERVAL_INTERPOLATED },
    { "inferred", INTERVAL_INFERRED },
    { NULL, 0 }
};

/* The place of a job. */
static struct interval_place place_of(const struct scenario *s)
{
    const struct training *t = &s->training;
    const struct cluster *c = &s->cluster;
    const struct instance *first = c->groups[0].instance;
    struct interval_place p = {
        .gpu = first->gpu->name,
        .framework = t->framework ? t->framework->name : "",
        .inside = first->inside ? (int)first->inside->kind : -1,
        .outside = c->n_instances > 1 && s->fabric ? (int)s->fabric->kind : -1,
        .sharding = (int)s->parallel.shard.strategy,
        .precision = (int)t->precision,
        .checkpointing = (int)t->checkpointing,
        .experts = s->model.mlp.experts > 0,
        .experts_fitted = t->framework && t->framework->experts.host > 0,
        .gpu_guessed = provenance_is_guessed(first->gpu->provenance_kind),
    };
    p.log2_of[INTERVAL_NODES] = log2((double)c->n_instances);
    p.log2_of[INTERVAL_TENSOR] = log2((double)s->parallel.tensor);
    p.log2_of[INTERVAL_PIPELINE] = log2((double)s->parallel.pipeline);
    p.log2_of[INTERVAL_TOKENS] =
        log2((double)training_sequences(t) * (double)t->sequence_length);
    p.log2_of[INTERVAL_PARAMETERS] = log2((double)s->model.parameters);
    return p;
}

/* Distance */

/* "A100-SXM4-40GB" and "A100-SXM4-80GB" are one chip. */
static bool same_chip(const char *a, const char *b)
{
    size_t n = strcspn(a, "-");
    return n == strcspn(b, "-") && strncmp(a, b, n) == 0;
}

static bool same_outside(int a, int b)
{
    return a == b || a < 0 || b < 0; /* one node has none */
}

static double of_networks(const struct interval_place *a,
                          const struct interval_place *b)
{
    double inside = a->inside == b->inside ? 0 : 1;
    if (a->outside == b->outside)
        return inside;
    return inside + (same_outside(a->outside, b->outside) ? 1 : 2);
}

/* What cells of one domain have in common: all but numbers. */
static double of_kinds(const struct interval_place *a, const struct interval_place *b)
{
    double d = of_networks(a, b);
    if (strcmp(a->gpu, b->gpu) != 0)
        d += same_chip(a->gpu, b->gpu) ? 0.5 : 4;
    d += strcmp(a->framework, b->framework) != 0 ? 3 : 0;
    d += a->sharding != b->sharding ? 1 : 0;
    d += a->precision != b->precision ? 2 : 0;
    return d + (a->checkpointing != b->checkpointing ? 0.5 : 0);
}

static double with_numbers(double d, const struct interval_place *a,
                           const struct interval_place *b)
{
    static const double octave[INTERVAL_AXES] = { 1, 1, 1, 0.5, 0.5 };
    for (int i = 0; i < INTERVAL_AXES; i++)
        d += octave[i] * fabs(a->log2_of[i] - b->log2_of[i]);
    return d;
}

double interval_distance(const struct interval_place *a, const struct interval_place *b)
{
    return with_numbers(of_kinds(a, b), a, b);
}

/* Grade */

/* The same in all but numbers, memory size and checkpointing. */
static bool same_kind(const struct interval_place *a, const struct interval_place *b)
{
    return same_chip(a->gpu, b->gpu) && strcmp(a->framework, b->framework) == 0 &&
           a->inside == b->inside && same_outside(a->outside, b->outside) &&
           a->sharding == b->sharding && a->precision == b->precision;
}

static bool is_measured(const struct interval_place *at,
                        const struct interval_place *cell)
{
    const double same = 1e-6;
    for (int i = INTERVAL_NODES; i <= INTERVAL_PIPELINE; i++)
        if (fabs(at->log2_of[i] - cell->log2_of[i]) > same)
            return false;
    return same_kind(at, cell) && at->outside == cell->outside &&
           at->checkpointing == cell->checkpointing &&
           strcmp(at->gpu, cell->gpu) == 0 && interval_distance(at, cell) <= nearby;
}

static bool begins_domain(const struct interval_table *table, int32_t c)
{
    int32_t domain = table->cells[c].domain;
    return c == 0 || domain == 0 || domain != table->cells[c - 1].domain;
}

static bool counts(const struct interval_cell *c, const char *without)
{
    return !without || strcmp(c->source, without) != 0;
}

static enum interval_grade grade_of(const struct interval_table *table,
                                    const struct interval_place *at,
                                    const char *without)
{
    double low[INTERVAL_AXES], high[INTERVAL_AXES];
    bool same_outside_seen = false;
    for (int i = 0; i < INTERVAL_AXES; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    bool is_same = false;
    for (int32_t c = 0; c < table->n; c++) {
        const struct interval_place *cell = &table->cells[c].at;
        if (begins_domain(table, c))
            is_same = counts(&table->cells[c], without) && same_kind(at, cell);
        if (!is_same)
            continue;
        if (is_measured(at, cell))
            return INTERVAL_MEASURED;
        same_outside_seen |= at->outside == cell->outside;
        for (int i = 0; i < INTERVAL_AXES; i++) {
            low[i] = fmin(low[i], cell->log2_of[i] - 0.5);
            high[i] = fmax(high[i], cell->log2_of[i] + 0.5);
        }
    }
    for (int i = 0; i < INTERVAL_AXES; i++)
        if (!(at->log2_of[i] >= low[i] && at->log2_of[i] <= high[i]))
            return INTERVAL_EXTRAPOLATED;
    return same_outside_seen ? INTERVAL_INTERPOLATED : INTERVAL_EXTRAPOLATED;
}

/* Range */

struct near {
    double distance;
    const struct interval_cell *cell;
};

enum { NEAR_MAX = 8 };

/* The nearest, in order; of equals, the first of the table. */
static int32_t find_near(struct near near[NEAR_MAX], const struct interval_table *table,
                         const struct interval_place *at, const char *without)
{
    int32_t n = 0;
    double kinds = 0;
    bool is_in = false;
    for (int32_t c = 0; c < table->n; c++) {
        if (begins_domain(table, c)) {
            is_in = counts(&table->cells[c], without);
            kinds = of_kinds(at, &table->cells[c].at);
        }
        if (!is_in)
            continue;
        double d = with_numbers(kinds, at, &table->cells[c].at);
        int32_t i = n < NEAR_MAX ? n++ : NEAR_MAX;
        while (i > 0 && near[i - 1].distance > d) {
            if (i < NEAR_MAX)
                near[i] = near[i - 1];
            i--;
        }
        if (i < NEAR_MAX)
            near[i] = (struct near) { d, &table->cells[c] };
    }
    while (n > 1 && near[n - 1].distance > near[0].distance + 1)
        n--;
    return n;
}

/* Means of the percentiles that were measured nearby; false where nothing was. */
static bool near_errors(const struct near *near, int32_t n, double *low, double *high)
{
    const double most = 10;
    double weights = 0;
    *low = *high = 0;
    for (int32_t i = 0; i < n && near[i].distance <= nearby; i++) {
        const struct interval_cell *c = near[i].cell;
        double w = fmin((double)c->n, most) / (1 + near[i].distance);
        weights += w;
        *low += w * c->low;
        *high += w * c->high;
    }
    *low /= fmax(weights, 1);
    *high /= fmax(weights, 1);
    return weights > 0;
}

static void set_range(struct interval *t, const struct near *near, int32_t n)
{
    double measured[2], own[2], low, high;
    interval_law_range(&interval_law, &t->at, true, measured);
    interval_law_range(&interval_law, &t->at, t->grade == INTERVAL_MEASURED, own);
    t->low = expm1(-own[1]);
    t->high = expm1(-own[0]);
    t->tie = expm1(measured[1]);
    if (!near_errors(near, n, &low, &high))
        return;
    t->low = fmin(t->low, low);
    t->high = fmax(t->high, high);
    t->tie = fmax(t->tie, 1 / (1 + low) - 1);
}

struct interval interval_assess(const struct interval_table *table,
                                const struct interval_place *at, const char *without)
{
    struct near near[NEAR_MAX];
    int32_t n = find_near(near, table, at, without);
    struct interval t = { .judged = true, .at = *at };
    t.distance = n ? near[0].distance : (double)INFINITY;
    t.grade = at->inferred ? INTERVAL_INFERRED : grade_of(table, at, without);
    set_range(&t, near, n);
    for (; t.n_nearest < n && t.n_nearest < INTERVAL_NEAREST; t.n_nearest++)
        t.nearest[t.n_nearest] = near[t.n_nearest].cell;
    return t;
}

/* Whole jobs */

static bool is_guessed(const struct interval_table *table, const struct gpu *gpu)
{
    for (int32_t c = 0; c < table->n; c++)
        if (same_chip(table->cells[c].at.gpu, gpu->name))
            return false;
    return provenance_is_guessed(gpu->provenance_kind);
}

static bool has_inferred(const struct simulate_result *r, const struct diags *d)
{
    for (int32_t i = 0; i < r->n_warnings; i++)
        if (r->warnings[i].code == DIAG_INFERRED)
            return true;
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].code == DIAG_INFERRED)
            return true;
    return false;
}

/* The share of the host and of kernels that move memory. */
static double software_share(const struct resources *by)
{
    double all_s = 0;
    for (int k = 0; k < RESOURCE_N; k++)
        all_s += by->s[k];
    return all_s > 0 ? (by->s[RESOURCE_HOST] + by->s[RESOURCE_MEMORY]) / all_s : 0;
}

void interval_judge(struct simulate_result *r, const struct interval_table *table,
                    const struct diags *diags, const struct scenario *s)
{
    struct interval_place at = place_of(s);
    at.software = software_share(&r->by);
    at.mfu = r->mfu;
    at.inferred = has_inferred(r, diags);
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        at.inferred |= is_guessed(table, s->cluster.groups[i].instance->gpu);
    r->interval = interval_assess(table, &at, NULL);
}

void interval_range(const struct interval *t, double time_s, double range_s[2])
{
    const struct interval_ends *other = &interval_law.other;
    range_s[0] = time_s * (t->judged ? 1 / (1 + t->high) : exp(other->fast));
    range_s[1] = time_s * (t->judged ? 1 / (1 + t->low) : exp(other->slow));
}

void interval_range_beyond(const struct interval *t, double time_s,
                           const double range_s[2], double share, double to_s[2])
{
    const struct interval_ends *ends =
        t->grade == INTERVAL_MEASURED ? &interval_law.measured : &interval_law.other;
    const double beyond[2] = { ends->beyond_fast, ends->beyond_slow };
    for (int i = 0; i < 2; i++)
        to_s[i] =
            time_s * pow(range_s[i] / time_s, log(0.5 / share) / log(0.5 / beyond[i]));
}

void interval_memory_range(int64_t peak_B, int64_t range_B[2])
{
    range_B[0] = (int64_t)((double)peak_B * (1 - memory_less));
    range_B[1] = (int64_t)((double)peak_B * (1 + memory_more));
}

bool interval_memory_is_near(int64_t peak_B, int64_t capacity_B)
{
    int64_t range_B[2];
    interval_memory_range(peak_B, range_B);
    return range_B[0] <= capacity_B && capacity_B < range_B[1];
}
