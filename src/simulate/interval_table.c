/* validate/applicability.json: {"applicability": [{"source", what its cells share, "cells":
 * [[nodes, tensor, pipeline, log2 of tokens, log2 of parameters, rows, mean, low, high,
 * "row"], ...]}, ...]}. */
#include "base/file.h"
#include "base/vec.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "config/lenient.h"
#include "config/scan.h"
#include "simulate/interval.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const interval_axis_names[INTERVAL_AXES] = { "nodes", "tensor", "pipeline",
                                                         "tokens", "parameters" };

enum { CELLS_MAX = 1 << 14, FILE_MAX = 1 << 22 };

/* A name of what is compared of a job, or -1 where the table has none such. */
struct interval_name {
    const char *key;
    const struct name_value *names;
    size_t at; /* in struct interval_place */
};

#define NAME(member, names)                                     \
    {                                                           \
#member, names, offsetof(struct interval_place, member) \
    }
static const struct interval_name place_names[] = {
    NAME(inside, fabric_kind_names),
    NAME(outside, fabric_kind_names),
    NAME(sharding, parallelism_sharding_names),
    NAME(precision, op_precision_names),
    NAME(checkpointing, checkpointing_names),
};
enum { PLACE_NAMES = sizeof(place_names) / sizeof(place_names[0]) };

/* NULL: it has none. */
static int set_name(struct interval_place *at, const struct interval_name *n,
                    const char *name)
{
    int *v = (int *)(void *)((char *)at + n->at);
    *v = -1;
    return name ? names_find(n->names, name, v) : 0;
}

static int read_name(struct interval_place *at, const struct interval_name *n,
                     json_t *object)
{
    json_t *name = json_object_get(object, n->key);
    if (name && !json_is_null(name) && !json_is_string(name))
        return -1;
    return set_name(at, n, json_string_value(name));
}

int interval_names_read(struct interval_place *at, struct arena *arena, json_t *object)
{
    const char *gpu = json_string_value(json_object_get(object, "gpu"));
    const char *framework = json_string_value(json_object_get(object, "framework"));
    if (!gpu)
        return -1;
    for (int i = 0; i < PLACE_NAMES; i++)
        if (read_name(at, &place_names[i], object))
            return -1;
    at->gpu = arena_strdup(arena, gpu);
    at->framework = framework ? arena_strdup(arena, framework) : "";
    return 0;
}

/* The file ------------------------------------------------------------------------- */

static double number(struct scan *s, double min, double max)
{
    double v = scan_number(s);
    s->bad = s->bad || !(v >= min && v <= max);
    scan_need(s, ',');
    return v;
}

static void read_cell(struct scan *s, struct interval_cell *cell)
{
    double *const errors[] = { &cell->mean, &cell->low, &cell->high };
    scan_need(s, '[');
    for (int i = 0; i < INTERVAL_AXES; i++) {
        bool is_log2 = i >= INTERVAL_TOKENS;
        double v = number(s, is_log2 ? 0 : 1, is_log2 ? 64 : 1 << 20);
        cell->at.log2_of[i] = is_log2 ? v : log2(v);
    }
    cell->n = (int64_t)number(s, 1, 1 << 30);
    for (size_t i = 0; i < 3; i++)
        *errors[i] = number(s, -0.9, 10);
    cell->row = scan_string(s);
    scan_need(s, ']');
    s->bad = s->bad || cell->low > cell->high;
}

typedef VEC(struct interval_cell) cell_list;

/* Cells, whose place is not known yet. */
static void read_cells(struct scan *s, cell_list *cells)
{
    scan_need(s, '[');
    if (scan_take(s, ']'))
        return;
    do {
        struct interval_cell cell = { .n = 0 };
        read_cell(s, &cell);
        VEC_PUSH(cells, cell);
    } while (scan_take(s, ',') && cells->n < CELLS_MAX);
    scan_need(s, ']');
}

static void read_member(struct scan *s, const char *key, struct interval_place *at,
                        const char **source, cell_list *cells)
{
    if (strcmp(key, "cells") == 0) {
        read_cells(s, cells);
        return;
    }
    const char *v = scan_string_or_null(s);
    if (strcmp(key, "source") == 0)
        *source = v;
    else if (strcmp(key, "gpu") == 0)
        at->gpu = v;
    else if (strcmp(key, "framework") == 0)
        at->framework = v ? v : "";
    for (int i = 0; i < PLACE_NAMES; i++)
        if (strcmp(key, place_names[i].key) == 0 && set_name(at, &place_names[i], v))
            s->bad = true;
}

/* The cells of one domain, added to those there are. */
static void read_domain(struct scan *s, int32_t domain, cell_list *cells)
{
    struct interval_place at = { .framework = "", -1, -1, -1, -1, -1 };
    const char *source = NULL;
    int64_t first = cells->n;
    scan_need(s, '{');
    do {
        const char *key = scan_string(s);
        scan_need(s, ':');
        read_member(s, key, &at, &source, cells);
    } while (scan_take(s, ','));
    scan_need(s, '}');
    s->bad = s->bad || !source || !at.gpu;
    for (int64_t i = first; i < cells->n; i++) {
        struct interval_cell *cell = &cells->v[i];
        memcpy(at.log2_of, cell->at.log2_of, sizeof(at.log2_of));
        cell->at = at;
        cell->source = source;
        cell->domain = domain;
    }
}

/* The root: what is neither a string nor the list is not there. */
static void read_root(struct scan *s, cell_list *cells)
{
    scan_need(s, '{');
    do {
        bool is_list = strcmp(scan_string(s), "applicability") == 0;
        scan_need(s, ':');
        if (!is_list) {
            scan_string(s);
            continue;
        }
        scan_need(s, '[');
        int32_t domain = 1;
        do
            read_domain(s, domain++, cells);
        while (scan_take(s, ','));
        scan_need(s, ']');
    } while (scan_take(s, ','));
    scan_need(s, '}');
}

static int64_t line_of(const char *text, size_t n)
{
    int64_t line = 1;
    for (size_t i = 0; i < n; i++)
        line += text[i] == '\n';
    return line;
}

static int parse(struct interval_table *table, struct arena *arena, const char *file,
                 const char *text, size_t len, struct err *err)
{
    struct scan s = { arena_strndup(arena, text, len), false };
    const char *begin = s.at;
    cell_list cells = { 0 };
    read_root(&s, &cells);
    bool done = scan_is_done(&s) && cells.n > 0 && cells.n < CELLS_MAX &&
                lenient_bad_byte(text, len) == len;
    if (done) {
        table->cells = ARENA_ARRAY(arena, cells.n, struct interval_cell);
        memcpy(table->cells, cells.v, (size_t)cells.n * sizeof(*cells.v));
        table->n = (int32_t)cells.n;
    } else {
        err_set(err,
                "%s:%" PRId64 ": holds something else than errors of measured rows",
                file, line_of(text, (size_t)(s.at - begin)));
    }
    VEC_RELEASE(&cells);
    return done ? 0 : -1;
}

/* The file is ours, not a user's, and read by every simulation: not as a tree, nor with
 * the place of every number. */
int interval_table_read(struct interval_table *table, struct arena *arena,
                        const char *file, struct inputs *inputs, struct err *err)
{
    size_t len = 0;
    *table = (struct interval_table) { 0 };
    char *text = file_read(file, FILE_MAX, &len, err);
    inputs_note(inputs, arena, file, text, len);
    int rc = text ? parse(table, arena, file, text, len, err) : -1;
    free(text);
    return rc;
}

const struct interval_table *interval_table_get(struct cfg_loader *loader)
{
    const void *known;
    struct err err = { 0 };
    if (cache_find(loader, "interval", "applicability", &known))
        return known;
    struct arena *arena = &loader->arena;
    struct interval_table *table = ARENA_NEW(arena, struct interval_table);
    const char *file =
        arena_printf(arena, "%s/validate/applicability.json", datadir_root(arena));
    if (interval_table_read(table, arena, file, &loader->inputs, &err))
        diags_warn(
            &loader->diags, DIAG_UNMEASURED,
            "%s; no job counts as measured: all ranges are wide, and extrapolated "
            "(`make applicability` writes the file)",
            err.text);
    cache_add(loader, "interval", "applicability", table);
    return table;
}
