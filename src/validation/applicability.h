/* Errors of predicted step times by applicability domain: where in the space of jobs
 * (simulate/interval.h) the rows of all tables are, and how far off predictions are
 * there.
 *
 * Rows of every training table are gathered into one list. From it come the table that
 * `smsim validate` prints (by GPU, framework, nodes and tensor degree) and the cells
 * that validate/applicability.json ships. Errors are those of times, predicted / measured -
 * 1; of a row that measures rates only, what they make of the time. */
#ifndef VALIDATION_APPLICABILITY_H
#define VALIDATION_APPLICABILITY_H

#include "base/vec.h"
#include "validation/run.h"
#include "validation/stats.h"

#include <jansson.h>

struct applicability_row {
    struct interval_place at;
    const char *source; /* the table */
    const char *system; /* whose it was: the source, where its rows are of one */
    const char *name;
    double error;
};

struct applicability_rows {
    struct arena *arena; /* of the rows' strings */
    VEC(struct applicability_row) list;
};

/* One line of the printed table. */
struct applicability_line {
    const char *gpu, *framework;
    int64_t nodes, tensor;
    struct stats stats;
};

/* How many rows lie within the range that is stated of them. */
struct applicability_coverage {
    int64_t n;
    int64_t within;         /* by the whole table */
    int64_t within_without; /* by the table without the row's own source */
};

/* Reads the place from the "applicability" of simulate's JSON; -1 when it has none. */
int applicability_place(struct interval_place *at, struct arena *arena, json_t *result);

void applicability_rows_init(struct applicability_rows *rows, struct arena *arena);
void applicability_rows_release(struct applicability_rows *rows);

/* Adds the rows of a run whose times were both measured and predicted. */
void applicability_rows_add(struct applicability_rows *rows,
                            const struct mapping_run *run);

/* The lines, by GPU, framework, nodes, tensor degree; *n of them, in the arena.
 * O(rows log rows), as the next. */
struct applicability_line *applicability_lines(struct applicability_rows *rows,
                                               int32_t *n);

/* What validate/applicability.json holds, as a new tree. Rows that differ by less than two
 * octaves of tokens or parameters may share a cell. */
json_t *applicability_cells(struct applicability_rows *rows);

struct applicability_coverage
applicability_coverage(const struct applicability_rows *rows,
                       const struct interval_table *table);

#endif
