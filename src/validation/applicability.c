#include "validation/applicability.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Places */

int applicability_place(struct interval_place *at, struct arena *arena, json_t *result)
{
    json_t *range = json_object_get(result, "range"),
           *o = json_object_get(range, "applicability"),
           *grade = json_object_get(range, "grade");
    if (interval_names_read(at, arena, o))
        return -1;
    at->inferred =
        grade && strcmp(json_string_value(grade),
                        names_of(interval_grade_names, INTERVAL_INFERRED)) == 0;
    at->experts = json_is_true(json_object_get(o, "experts"));
    at->experts_fitted = json_is_true(json_object_get(o, "experts_fitted"));
    at->gpu_guessed = json_is_true(json_object_get(o, "gpu_guessed"));
    at->mfu = json_number_value(json_object_get(result, "mfu"));
    for (int i = 0; i < INTERVAL_AXES; i++) {
        double v = json_number_value(json_object_get(o, interval_axis_names[i]));
        at->log2_of[i] = log2(fmax(v, 1));
    }
    return 0;
}

/* Gathering */

/* The error of the time; NAN when nothing measured says it. */
static double time_error(const struct mapping_outcome *o)
{
    static const char *const rates[] = { "samples_per_s", "tokens_per_s",
                                         "model_flops_per_gpu_s", "mfu", "hfu" };
    for (int32_t i = 0; i < o->n_quantities; i++)
        if (strcmp(o->quantities[i].key, "step_time_s") == 0)
            return o->quantities[i].predicted / o->quantities[i].measured - 1;
    for (size_t k = 0; k < sizeof(rates) / sizeof(rates[0]); k++)
        for (int32_t i = 0; i < o->n_quantities; i++)
            if (strcmp(o->quantities[i].key, rates[k]) == 0)
                return o->quantities[i].measured / o->quantities[i].predicted - 1;
    return NAN;
}

void applicability_rows_init(struct applicability_rows *rows, struct arena *arena)
{
    *rows = (struct applicability_rows) { .arena = arena };
}

void applicability_rows_release(struct applicability_rows *rows)
{
    VEC_RELEASE(&rows->list);
}

void applicability_rows_add(struct applicability_rows *rows,
                            const struct mapping_run *run)
{
    struct arena *arena = rows->arena;
    const char *source = arena_strdup(arena, run->mapping->name);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        const struct mapping_outcome *o = &run->outcomes[i];
        double error = o->error || !o->has_place || o->fitted || o->outlier
                           ? (double)NAN
                           : time_error(o);
        if (!isfinite(error))
            continue;
        struct applicability_row row = { o->place, source, source,
                                         arena_strdup(arena, o->name), error };
        if (o->system)
            row.system = arena_strdup(arena, o->system);
        row.at.gpu = arena_strdup(arena, row.at.gpu);
        row.at.framework = arena_strdup(arena, row.at.framework);
        VEC_PUSH(&rows->list, row);
    }
}

/* Order */

static int by_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int64_t degree(const struct applicability_row *r, enum interval_axis axis)
{
    return llround(exp2(r->at.log2_of[axis]));
}

static int by_line(const void *a, const void *b)
{
    const struct applicability_row *x = a, *y = b;
    int c = strcmp(x->at.gpu, y->at.gpu);
    c = c ? c : strcmp(x->at.framework, y->at.framework);
    c = c ? c : by_int(degree(x, INTERVAL_NODES), degree(y, INTERVAL_NODES));
    return c ? c : by_int(degree(x, INTERVAL_TENSOR), degree(y, INTERVAL_TENSOR));
}

/* What the cells of one "applicability" share. */
static int by_kind(const void *a, const void *b)
{
    const struct applicability_row *x = a, *y = b;
    int c = strcmp(x->source, y->source);
    c = c ? c : strcmp(x->at.gpu, y->at.gpu);
    c = c ? c : by_int(x->at.inside, y->at.inside);
    c = c ? c : by_int(x->at.outside, y->at.outside);
    c = c ? c : strcmp(x->at.framework, y->at.framework);
    c = c ? c : by_int(x->at.sharding, y->at.sharding);
    c = c ? c : by_int(x->at.precision, y->at.precision);
    return c ? c : by_int(x->at.checkpointing, y->at.checkpointing);
}

static int by_cell(const void *a, const void *b)
{
    const struct applicability_row *x = a, *y = b;
    const double octaves = 2; /* a cell is so wide in tokens and parameters */
    int c = by_kind(a, b);
    for (int i = INTERVAL_NODES; i <= INTERVAL_PIPELINE && !c; i++)
        c = by_int(degree(x, (enum interval_axis)i), degree(y, (enum interval_axis)i));
    for (int i = INTERVAL_TOKENS; i <= INTERVAL_PARAMETERS && !c; i++)
        c = by_int(llround(x->at.log2_of[i] / octaves),
                   llround(y->at.log2_of[i] / octaves));
    return c;
}

/* Equal rows in the order in which they came: by error and name, so that any sort will
 * do. */
static int by_cell_and_name(const void *a, const void *b)
{
    const struct applicability_row *x = a, *y = b;
    int c = by_cell(a, b);
    c = c ? c : strcmp(x->name, y->name);
    return c ? c : (x->error > y->error) - (x->error < y->error);
}

static int by_line_and_cell(const void *a, const void *b)
{
    int c = by_line(a, b);
    return c ? c : by_cell_and_name(a, b);
}

static void sort(struct applicability_rows *rows,
                 int (*order)(const void *, const void *))
{
    if (rows->list.n)
        qsort(rows->list.v, (size_t)rows->list.n, sizeof(*rows->list.v), order);
}

/* End of the rows that are alike. */
static int64_t end_of(const struct applicability_rows *rows, int64_t from,
                      int (*order)(const void *, const void *))
{
    int64_t to = from + 1;
    while (to < rows->list.n && order(&rows->list.v[from], &rows->list.v[to]) == 0)
        to++;
    return to;
}

/* The printed table */

struct applicability_line *applicability_lines(struct applicability_rows *rows,
                                               int32_t *n)
{
    int64_t all = rows->list.n;
    struct applicability_line *lines =
        ARENA_ARRAY(rows->arena, all + 1, struct applicability_line);
    double *errors = xcalloc((size_t)all + 1, sizeof(*errors));
    *n = 0;
    sort(rows, by_line_and_cell);
    for (int64_t i = 0; i < all; i++)
        errors[i] = rows->list.v[i].error;
    for (int64_t i = 0, to; i < all; i = to) {
        const struct applicability_row *r = &rows->list.v[i];
        to = end_of(rows, i, by_line);
        lines[(*n)++] = (struct applicability_line) { r->at.gpu, r->at.framework,
                                                      degree(r, INTERVAL_NODES),
                                                      degree(r, INTERVAL_TENSOR),
                                                      stats_of(errors + i, to - i) };
    }
    free(errors);
    return lines;
}

/* The shipped table */

/* Four digits are enough, and shorter in the file. */
static json_t *rounded(double v, double step)
{
    return json_real(round(v / step) * step);
}

/* How much of a row's name is kept: whole parts, between commas, of 80 bytes or so. */
static size_t short_name(const char *name)
{
    const size_t most = 80;
    size_t n = strlen(name), at = n;
    while (at > most && n > 0)
        if (name[--n] == ',')
            at = n;
    return at;
}

static json_t *cell_json(const struct applicability_row *rows, int64_t n)
{
    static const double quantiles[] = { 0.1, 0.9 };
    json_t *cell = json_array();
    double *errors = xcalloc((size_t)n, sizeof(*errors));
    double means[INTERVAL_AXES] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        errors[i] = rows[i].error;
        for (int k = 0; k < INTERVAL_AXES; k++)
            means[k] += rows[i].at.log2_of[k] / (double)n;
    }
    gsl_sort(errors, 1, (size_t)n);
    for (int k = INTERVAL_NODES; k <= INTERVAL_PIPELINE; k++)
        json_array_append_new(cell, json_integer(degree(rows, (enum interval_axis)k)));
    for (int k = INTERVAL_TOKENS; k <= INTERVAL_PARAMETERS; k++)
        json_array_append_new(cell, rounded(means[k], 0.1));
    json_array_append_new(cell, json_integer(n));
    json_array_append_new(cell, rounded(gsl_stats_mean(errors, 1, (size_t)n), 1e-4));
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double v =
            gsl_stats_quantile_from_sorted_data(errors, 1, (size_t)n, quantiles[i]);
        json_array_append_new(cell, rounded(v, 1e-4));
    }
    const char *name = rows[n / 2].name;
    json_array_append_new(cell, json_stringn(name, short_name(name)));
    free(errors);
    return cell;
}

static void put_name(json_t *o, const char *key, const struct name_value *names, int v)
{
    if (v >= 0)
        json_object_set_new(o, key, json_string(names_of(names, v)));
}

static json_t *kind_json(const struct applicability_row *r)
{
    json_t *o = json_pack("{s:s, s:s}", "source", r->source, "gpu", r->at.gpu);
    put_name(o, "inside", fabric_kind_names, r->at.inside);
    put_name(o, "outside", fabric_kind_names, r->at.outside);
    if (r->at.framework[0])
        json_object_set_new(o, "framework", json_string(r->at.framework));
    put_name(o, "sharding", parallelism_sharding_names, r->at.sharding);
    put_name(o, "precision", op_precision_names, r->at.precision);
    put_name(o, "checkpointing", checkpointing_names, r->at.checkpointing);
    return o;
}

json_t *applicability_cells(struct applicability_rows *rows)
{
    json_t *domains = json_array();
    sort(rows, by_cell_and_name);
    for (int64_t i = 0, kind_to; i < rows->list.n; i = kind_to) {
        json_t *domain = kind_json(&rows->list.v[i]), *cells = json_array();
        kind_to = end_of(rows, i, by_kind);
        for (int64_t k = i, to; k < kind_to; k = to) {
            to = end_of(rows, k, by_cell);
            json_array_append_new(cells, cell_json(&rows->list.v[k], to - k));
        }
        json_object_set_new(domain, "cells", cells);
        json_array_append_new(domains, domain);
    }
    return json_pack("{s:o}", "applicability", domains);
}

/* Coverage */

static bool is_within(const struct applicability_row *r,
                      const struct interval_table *table, const char *without)
{
    struct interval t = interval_assess(table, &r->at, without);
    return r->error >= t.low && r->error <= t.high;
}

struct applicability_coverage
applicability_coverage(const struct applicability_rows *rows,
                       const struct interval_table *table)
{
    struct applicability_coverage c = { .n = rows->list.n };
    for (int64_t i = 0; i < c.n; i++) {
        const struct applicability_row *r = &rows->list.v[i];
        c.within += is_within(r, table, NULL);
        c.within_without += is_within(r, table, r->source);
    }
    return c;
}
