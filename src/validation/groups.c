#include "validation/groups.h"

#include "base/xmalloc.h"
#include "validation/cell.h"
#include "validation/value.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The mapping's words -------------------------------------------------------------- */

/* A column's name, or a value that is made of columns. */
static int read_column(struct mapping_column *column, struct cfg item,
                       const struct csv *csv)
{
    const char *name;
    *column = (struct mapping_column) { -1, item.json };
    if (cfg_is_object(item))
        return mapping_check(item, csv);
    if (cfg_string(item, &name))
        return -1;
    column->column = csv_column(csv, name);
    return column->column >= 0
               ? 0
               : cfg_error(item, DIAG_UNKNOWN_NAME, "the table has no such column");
}

int groups_read_columns(struct mapping_columns *columns, struct cfg list,
                        const struct csv *csv, struct arena *arena)
{
    int rc = 0;
    if (!cfg_is_array(list) || cfg_len(list) == 0)
        return cfg_error(list, DIAG_WRONG_TYPE, "should be an array of columns");
    columns->v = ARENA_ARRAY(arena, cfg_len(list), struct mapping_column);
    for (int64_t i = 0; i < cfg_len(list); i++)
        rc |= read_column(&columns->v[columns->n++], cfg_at(list, i), csv);
    return rc;
}

static const struct name_value of_names[] = { { "best", false },
                                              { "median", true },
                                              { NULL, 0 } };

struct healthy_file {
    double within;
    int of_median;
    struct cfg by;
    const char *why;
};

static const struct cfg_field healthy_fields[] = {
    CFG_ROW("within", CFG_T_REAL, struct healthy_file, within, .required = true,
            .min = 0, .max = 1),
    CFG_ENUM("of", struct healthy_file, of_median, of_names),
    CFG_CHILD("by", struct healthy_file, by),
    CFG_ROW("why", CFG_T_STRING, struct healthy_file, why, .required = true),
    CFG_END,
};

int groups_read_healthy(struct mapping_healthy *h, struct cfg value,
                        const struct csv *csv, struct arena *arena)
{
    struct healthy_file f = { 0 };
    if (!cfg_present(value))
        return 0;
    if (cfg_read(value, healthy_fields, &f))
        return -1;
    *h = (struct mapping_healthy) { .within = f.within,
                                    .of_median = f.of_median,
                                    .why = f.why };
    return groups_read_columns(&h->by, f.by, csv, arena);
}

struct outdone_file {
    const char *larger, *why;
    struct cfg by;
};

static const struct cfg_field outdone_fields[] = {
    CFG_ROW("larger", CFG_T_STRING, struct outdone_file, larger, .required = true),
    CFG_CHILD("by", struct outdone_file, by),
    CFG_ROW("why", CFG_T_STRING, struct outdone_file, why, .required = true),
    CFG_END,
};

int groups_read_outdone(struct mapping_outdone *o, struct cfg value,
                        const struct csv *csv, struct arena *arena)
{
    struct outdone_file f = { 0 };
    if (!cfg_present(value))
        return 0;
    if (cfg_read(value, outdone_fields, &f))
        return -1;
    o->why = f.why;
    o->larger = csv_column(csv, f.larger);
    if (o->larger < 0)
        return cfg_error(cfg_get(value, "larger"), DIAG_UNKNOWN_NAME,
                         "the table has no such column");
    return groups_read_columns(&o->by, f.by, csv, arena);
}

/* Groups --------------------------------------------------------------------------- */

/* What cannot be made of the row's cells is alike in all rows. */
static void add_value(struct strbuf *b, json_t *value, struct value_row row)
{
    struct err err = { 0 };
    json_t *made = mapping_resolve(value, row, &err);
    char *text =
        made ? json_dumps(made, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
    strbuf_addstr(b, text ? text : "-");
    free(text);
    json_decref(made);
}

const char *groups_key(struct arena *arena, const struct csv *csv, int64_t row,
                       const struct mapping_columns *columns)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int32_t i = 0; i < columns->n; i++) {
        strbuf_addstr(&b, i ? ", " : "");
        if (columns->v[i].column >= 0)
            strbuf_addstr(&b, csv_cell(csv, row, columns->v[i].column));
        else
            add_value(&b, columns->v[i].value, (struct value_row) { csv, row });
    }
    const char *text = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

struct member {
    const char *key;
    struct mapping_outcome *outcome;
};

static int by_key(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

/* The outcomes, alike ones together; the caller frees them. */
static struct member *sorted(struct mapping_run *run, struct arena *arena,
                             const struct mapping_columns *by)
{
    struct member *all = xcalloc((size_t)run->n_outcomes + 1, sizeof(*all));
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        struct mapping_outcome *o = &run->outcomes[i];
        all[i] =
            (struct member) { groups_key(arena, &run->mapping->csv, o->row, by), o };
    }
    qsort(all, (size_t)run->n_outcomes, sizeof(*all), by_key);
    return all;
}

static int64_t end_of_group(const struct member *all, int64_t first, int64_t n)
{
    int64_t end = first;
    while (end < n && strcmp(all[end].key, all[first].key) == 0)
        end++;
    return end;
}

/* Healthy -------------------------------------------------------------------------- */

static double standard_rate(const struct mapping_healthy *h, const struct member *all,
                            int64_t n)
{
    double *rates = xcalloc((size_t)n + 1, sizeof(*rates));
    size_t some = 0;
    for (int64_t i = 0; i < n; i++)
        if (all[i].outcome->has_rate && all[i].outcome->rate_measured > 0)
            rates[some++] = all[i].outcome->rate_measured;
    gsl_sort(rates, 1, some);
    double rate = some == 0      ? 0
                  : h->of_median ? gsl_stats_median_from_sorted_data(rates, 1, some)
                                 : rates[some - 1];
    free(rates);
    return rate;
}

static void judge_health(struct mapping_run *run, struct arena *arena)
{
    const struct mapping_healthy *h = &run->mapping->healthy;
    struct member *all = sorted(run, arena, &h->by);
    for (int64_t first = 0, end; first < run->n_outcomes; first = end) {
        end = end_of_group(all, first, run->n_outcomes);
        double least = h->within * standard_rate(h, all + first, end - first);
        for (int64_t i = first; i < end; i++) {
            struct mapping_outcome *o = all[i].outcome;
            o->outlier =
                o->has_rate && o->rate_measured > 0 && o->rate_measured < least;
            run->n_outliers += o->outlier;
        }
    }
    free(all);
}

/* Outdone -------------------------------------------------------------------------- */

static double size_of(const struct mapping_run *run, const struct mapping_outcome *o)
{
    double v;
    const struct mapping *m = run->mapping;
    const char *cell = csv_cell(&m->csv, o->row, m->outdone.larger);
    return cell_read(cell, &v) == CELL_NUMBER ? v : (double)NAN;
}

static void judge_failures(struct mapping_run *run, struct arena *arena)
{
    struct member *all = sorted(run, arena, &run->mapping->outdone.by);
    for (int64_t first = 0, end; first < run->n_outcomes; first = end) {
        double largest = -INFINITY;
        end = end_of_group(all, first, run->n_outcomes);
        for (int64_t i = first; i < end; i++)
            if (all[i].outcome->has_fits && all[i].outcome->fits_measured)
                largest = fmax(largest, size_of(run, all[i].outcome));
        for (int64_t i = first; i < end; i++) {
            struct mapping_outcome *o = all[i].outcome;
            o->outdone = o->has_fits && !o->fits_measured && size_of(run, o) <= largest;
        }
    }
    free(all);
}

void groups_judge(struct mapping_run *run, struct arena *arena)
{
    if (run->mapping->healthy.by.n)
        judge_health(run, arena);
    if (run->mapping->outdone.by.n)
        judge_failures(run, arena);
}
