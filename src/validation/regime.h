/* Errors of predicted step times by regime: where in the space of jobs
 * (simulate/interval.h) the rows of all tables are, and how far off predictions are
 * there.
 *
 * Rows of every training table are gathered into one list. From it come the table that
 * `smsim validate` prints (by GPU, framework, nodes and tensor degree) and the cells
 * that validate/regimes.json ships. Errors are those of times, predicted / measured -
 * 1; of a row that measures rates only, what they make of the time. */
#ifndef VALIDATION_REGIME_H
#define VALIDATION_REGIME_H

#include "base/vec.h"
#include "validation/run.h"
#include "validation/stats.h"

#include <jansson.h>

struct regime_row {
    struct interval_place at;
    const char *source, *name;
    double error;
};

struct regime_rows {
    struct arena *arena; /* of the rows' strings */
    VEC(struct regime_row) list;
};

/* One line of the printed table. */
struct regime_line {
    const char *gpu, *framework;
    int64_t nodes, tensor;
    struct stats stats;
};

/* How many rows lie within the range that is stated of them. */
struct regime_coverage {
    int64_t n;
    int64_t within;         /* by the whole table */
    int64_t within_without; /* by the table without the row's own source */
};

/* Reads the place from the "regime" of simulate's JSON; -1 when it has none. */
int regime_place(struct interval_place *at, struct arena *arena, json_t *result);

void regime_rows_init(struct regime_rows *rows, struct arena *arena);
void regime_rows_release(struct regime_rows *rows);

/* Adds the rows of a run whose times were both measured and predicted. */
void regime_rows_add(struct regime_rows *rows, const struct mapping_run *run);

/* The lines, by GPU, framework, nodes, tensor degree; *n of them, in the arena.
 * O(rows log rows), as the next. */
struct regime_line *regime_lines(struct regime_rows *rows, int32_t *n);

/* What validate/regimes.json holds, as a new tree. Rows that differ by less than two
 * octaves of tokens or parameters may share a cell. */
json_t *regime_cells(struct regime_rows *rows);

struct regime_coverage regime_coverage(const struct regime_rows *rows,
                                       const struct interval_table *table);

#endif
