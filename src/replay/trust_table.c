/* validate/regimes.json: {"regimes": [{"source", what its cells share, "cells": [[nodes,
 * tensor, pipeline, log2 of tokens, log2 of parameters, rows, mean, low, high, "row"],
 * ...]}, ...]}. */
#include "config/cache.h"
#include "config/datadir.h"
#include "replay/trust.h"

#include <math.h>

const char *const trust_axis_names[TRUST_AXES] = { "nodes", "tensor", "pipeline",
                                                   "tokens", "parameters" };

enum { CELLS_MAX = 1 << 14 };

struct regime {
    struct trust_place at;
    const char *source;
    struct cfg cells;
};

static const struct cfg_field fields[] = {
    CFG_ROW("source", CFG_T_STRING, struct regime, source, .required = true),
    CFG_ROW("gpu", CFG_T_STRING, struct regime, at.gpu, .required = true),
    CFG_ENUM("inside", struct regime, at.inside, fabric_kind_names),
    CFG_ENUM("outside", struct regime, at.outside, fabric_kind_names),
    CFG_STRING("framework", struct regime, at.framework),
    CFG_ENUM("sharding", struct regime, at.sharding, sharding_names),
    CFG_ENUM("precision", struct regime, at.precision, op_precision_names),
    CFG_ENUM("checkpointing", struct regime, at.checkpointing, checkpointing_names),
    CFG_CHILD("cells", struct regime, cells),
    CFG_END,
};

/* Thousands of numbers: read without a path for each. */
static int read_number(json_t *cell, size_t i, double min, double max, double *v)
{
    json_t *json = json_array_get(cell, i);
    *v = json_number_value(json);
    return json_is_number(json) && *v >= min && *v <= max ? 0 : -1;
}

static int read_cell(struct trust_cell *cell, struct arena *arena, json_t *json)
{
    enum { ROWS = TRUST_AXES, ERRORS, NAME = ERRORS + 3 };
    double *const errors[] = { &cell->mean, &cell->low, &cell->high }, n;
    for (int i = 0; i < TRUST_AXES; i++) {
        bool is_log2 = i >= TRUST_TOKENS;
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
static int read_regime(struct trust_cell *cells, int32_t *n, struct arena *arena,
                       struct cfg c)
{
    struct regime r = { .at = { .framework = "", .inside = -1, .outside = -1 } };
    if (cfg_read(c, fields, &r) || (r.cells.json && !cfg_is_array(r.cells)))
        return -1;
    r.at.gpu = arena_strdup(arena, r.at.gpu);
    r.at.framework = arena_strdup(arena, r.at.framework);
    r.source = arena_strdup(arena, r.source);
    for (int64_t i = 0; i < cfg_len(r.cells); i++) {
        struct trust_cell *cell = &cells[(*n)++];
        *cell = (struct trust_cell) { .at = r.at, .source = r.source };
        if (read_cell(cell, arena, json_array_get(r.cells.json, (size_t)i)))
            return -1;
    }
    return 0;
}

int trust_table_read(struct trust_table *table, struct arena *arena, const char *file)
{
    struct cfg_loader own; /* what is wrong is nobody's fault who simulates */
    *table = (struct trust_table) { 0 };
    cfg_loader_init(&own);
    struct cfg regimes = cfg_get(cfg_load(&own, file), "regimes");
    int64_t n = 0;
    for (int64_t i = 0; i < cfg_len(regimes) && cfg_is_array(regimes); i++)
        n += cfg_len(cfg_get(cfg_at(regimes, i), "cells"));
    int rc = n > 0 && n <= CELLS_MAX ? 0 : -1;
    if (rc == 0)
        table->cells = ARENA_ARRAY(arena, n, struct trust_cell);
    for (int64_t i = 0; i < cfg_len(regimes) && rc == 0; i++)
        rc = read_regime(table->cells, &table->n, arena, cfg_at(regimes, i));
    if (rc)
        table->n = 0;
    cfg_loader_release(&own);
    return rc;
}

const struct trust_table *trust_table_get(struct cfg_loader *loader)
{
    const void *known;
    if (cache_find(loader, "trust", "regimes", &known))
        return known;
    struct arena *arena = &loader->arena;
    struct trust_table *table = ARENA_NEW(arena, struct trust_table);
    const char *file =
        arena_printf(arena, "%s/validate/regimes.json", datadir_root(arena));
    trust_table_read(table, arena, file);
    cache_add(loader, "trust", "regimes", table);
    return table;
}
