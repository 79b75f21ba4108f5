/* validate/applicability.json: {"applicability": [{"source", what its cells share, "cells":
 * [[nodes, tensor, pipeline, log2 of tokens, log2 of parameters, rows, mean, low, high,
 * "row"], ...]}, ...]}. */
#include "base/file.h"
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

/* What is read of the file, in place of its text. */
struct reader {
    struct scan s;
    struct arena *arena;
    struct interval_cell *cells;
    int32_t n, n_max;
};

static const char *kept(struct reader *r, const char *text)
{
    return text ? arena_strdup(r->arena, text) : NULL;
}

/* Cells, whose place is not known yet. */
static void read_cells(struct reader *r)
{
    struct scan *s = &r->s;
    scan_need(s, '[');
    if (scan_take(s, ']'))
        return;
    do {
        if (r->n == r->n_max) {
            s->bad = true;
            return;
        }
        struct interval_cell *cell = &r->cells[r->n++];
        read_cell(s, cell);
        cell->row = arena_strdup(r->arena, cell->row);
    } while (scan_take(s, ','));
    scan_need(s, ']');
}

static void read_place(struct scan *s, const char *key, struct interval_place *at,
                       const char *name)
{
    for (int i = 0; i < PLACE_NAMES; i++)
        if (strcmp(key, place_names[i].key) == 0) {
            s->bad |= set_name(at, &place_names[i], name) != 0;
            return;
        }
}

static void read_member(struct reader *r, const char *key, struct interval_place *at,
                        const char **source)
{
    struct scan *s = &r->s;
    if (strcmp(key, "cells") == 0) {
        read_cells(r);
        return;
    }
    const char *v = scan_string_or_null(s);
    if (strcmp(key, "source") == 0)
        *source = kept(r, v);
    else if (strcmp(key, "gpu") == 0)
        at->gpu = kept(r, v);
    else if (strcmp(key, "framework") == 0)
        at->framework = v ? kept(r, v) : "";
    else
        read_place(s, key, at, v);
}

/* The cells of one domain, added to those there are. */
static void read_domain(struct reader *r, int32_t domain)
{
    struct scan *s = &r->s;
    struct interval_place at = { .framework = "", -1, -1, -1, -1, -1 };
    const char *source = NULL;
    int32_t first = r->n;
    scan_need(s, '{');
    do {
        const char *key = scan_string(s);
        scan_need(s, ':');
        read_member(r, key, &at, &source);
    } while (scan_take(s, ','));
    scan_need(s, '}');
    s->bad = s->bad || !source || !at.gpu;
    for (int32_t i = first; i < r->n; i++) {
        struct interval_cell *cell = &r->cells[i];
        memcpy(at.log2_of, cell->at.log2_of, sizeof(at.log2_of));
        cell->at = at;
        cell->source = source;
        cell->domain = domain;
    }
}

/* The root: what is neither a string nor the list is not there. */
static void read_root(struct reader *r)
{
    struct scan *s = &r->s;
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
            read_domain(r, domain++);
        while (scan_take(s, ','));
        scan_need(s, ']');
    } while (scan_take(s, ','));
    scan_need(s, '}');
}

/* No fewer than there are cells. */
static int32_t count_brackets(const char *text)
{
    int32_t n = 0;
    for (; n < CELLS_MAX && (text = strchr(text, '[')); text++)
        n++;
    return n;
}

/* Changes the text; NULL, or where it stopped. */
static const char *parse(struct interval_table *table, struct arena *arena, char *text,
                         size_t len)
{
    bool is_text = lenient_bad_byte(text, len) == len;
    struct reader r = { .s = { text, false }, .arena = arena };
    r.n_max = count_brackets(text);
    r.cells = ARENA_RAW(arena, r.n_max, struct interval_cell);
    read_root(&r);
    if (!scan_is_done(&r.s) || r.n == 0 || r.n == CELLS_MAX || !is_text)
        return r.s.at;
    *table = (struct interval_table) { r.n, r.cells };
    return NULL;
}

/* Of a file's first bytes, as many as there are of it. */
static int64_t line_of(const char *file, size_t bytes)
{
    struct err err = { 0 };
    size_t len = 0;
    int64_t line = 1;
    char *text = file_read(file, FILE_MAX, &len, &err);
    for (size_t i = 0; text && i < len && i < bytes; i++)
        line += text[i] == '\n';
    free(text);
    return line;
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
    const char *wrong = text ? parse(table, arena, text, len) : NULL;
    if (wrong)
        err_set(err,
                "%s:%" PRId64 ": holds something else than errors of measured rows",
                file, line_of(file, (size_t)(wrong - text)));
    int rc = text && !wrong ? 0 : -1;
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
