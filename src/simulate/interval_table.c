/* validate/regimes.json: {"regimes": [{"source", what its cells share, "cells":
 * [[nodes, tensor, pipeline, log2 of tokens, log2 of parameters, rows, mean, low, high,
 * "row"], ...]}, ...]}. */
#include "base/file.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "simulate/interval.h"

#include <math.h>
#include <stdlib.h>

const char *const interval_axis_names[INTERVAL_AXES] = { "nodes", "tensor", "pipeline",
                                                         "tokens", "parameters" };

enum { CELLS_MAX = 1 << 14, FILE_MAX = 1 << 22 };

static int read_name(json_t *o, const char *key, const struct name_value *names, int *v)
{
    json_t *name = json_object_get(o, key);
    *v = -1;
    if (!name || json_is_null(name))
        return 0;
    return json_is_string(name) ? names_find(names, json_string_value(name), v) : -1;
}

int interval_names_read(struct interval_place *at, struct arena *arena, json_t *object)
{
    const char *gpu = json_string_value(json_object_get(object, "gpu"));
    const char *framework = json_string_value(json_object_get(object, "framework"));
    if (!gpu || read_name(object, "inside", fabric_kind_names, &at->inside) ||
        read_name(object, "outside", fabric_kind_names, &at->outside) ||
        read_name(object, "sharding", sharding_names, &at->sharding) ||
        read_name(object, "precision", op_precision_names, &at->precision) ||
        read_name(object, "checkpointing", checkpointing_names, &at->checkpointing))
        return -1;
    at->gpu = arena_strdup(arena, gpu);
    at->framework = framework ? arena_strdup(arena, framework) : "";
    return 0;
}

static int read_number(json_t *cell, size_t i, double min, double max, double *v)
{
    json_t *json = json_array_get(cell, i);
    *v = json_number_value(json);
    return json_is_number(json) && *v >= min && *v <= max ? 0 : -1;
}

static int read_cell(struct interval_cell *cell, struct arena *arena, json_t *json)
{
    enum { ROWS = INTERVAL_AXES, ERRORS, NAME = ERRORS + 3 };
    double *const errors[] = { &cell->mean, &cell->low, &cell->high }, n;
    for (int i = 0; i < INTERVAL_AXES; i++) {
        bool is_log2 = i >= INTERVAL_TOKENS;
        double v;
        if (read_number(json, (size_t)i, is_log2 ? 0 : 1, is_log2 ? 64 : 1 << 20, &v))
            return -1;
        cell->at.log2_of[i] = is_log2 ? v : log2(v);
    }
    for (size_t i = 0; i < 3; i++)
        if (read_number(json, ERRORS + i, -0.9, 10, errors[i]))
            return -1;
    const char *row = json_string_value(json_array_get(json, NAME));
    if (!row || read_number(json, ROWS, 1, 1 << 30, &n) || cell->low > cell->high)
        return -1;
    cell->n = (int64_t)n;
    cell->row = arena_strdup(arena, row);
    return 0;
}

/* One regime's cells, added to those there are. */
static int read_regime(struct interval_table *table, struct arena *arena,
                       json_t *regime)
{
    struct interval_place at = { 0 };
    json_t *cells = json_object_get(regime, "cells");
    const char *source = json_string_value(json_object_get(regime, "source"));
    if (!source || interval_names_read(&at, arena, regime))
        return -1;
    source = arena_strdup(arena, source);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        struct interval_cell *cell = &table->cells[table->n++];
        *cell = (struct interval_cell) { .at = at, .source = source };
        if (read_cell(cell, arena, json_array_get(cells, i)))
            return -1;
    }
    return 0;
}

static int read_regimes(struct interval_table *table, struct arena *arena,
                        json_t *regimes)
{
    size_t n = 0;
    int rc = 0;
    for (size_t i = 0; i < json_array_size(regimes); i++)
        n += json_array_size(json_object_get(json_array_get(regimes, i), "cells"));
    if (n == 0 || n > CELLS_MAX)
        return -1;
    table->cells = ARENA_ARRAY(arena, n, struct interval_cell);
    for (size_t i = 0; i < json_array_size(regimes) && rc == 0; i++)
        rc = read_regime(table, arena, json_array_get(regimes, i));
    if (rc)
        table->n = 0;
    return rc;
}

static int parse(struct interval_table *table, struct arena *arena, const char *file,
                 const char *text, size_t len, struct err *err)
{
    json_error_t e;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    int rc = 0;
    if (!root)
        rc = err_set(err, "%s:%d:%d: %s", file, e.line, e.column, e.text);
    else if (read_regimes(table, arena, json_object_get(root, "regimes")))
        rc = err_set(err, "%s: holds something else than regimes of measured rows",
                     file);
    json_decref(root);
    return rc;
}

/* The file is ours, not a user's, and read by every simulation: not through config,
 * which would keep the place of every number. */
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
    if (cache_find(loader, "interval", "regimes", &known))
        return known;
    struct arena *arena = &loader->arena;
    struct interval_table *table = ARENA_NEW(arena, struct interval_table);
    const char *file =
        arena_printf(arena, "%s/validate/regimes.json", datadir_root(arena));
    if (interval_table_read(table, arena, file, &loader->inputs, &err))
        diags_warn(&loader->diags, DIAG_UNMEASURED,
                   "%s; no range rests on measurements: all are 20 %% to both sides, "
                   "and extrapolated (`make regimes` writes the file)",
                   err.text);
    cache_add(loader, "interval", "regimes", table);
    return table;
}
