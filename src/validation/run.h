/* Runs a mapping: every row of its table that takes part, in every variant, against
 * what was measured.
 *
 *   rows --resolve--> outcomes, each with the jobs it needs --run, on all cores-->
 *   results of the distinct jobs --collect--> predicted and measured
 *
 * Jobs of equal text are run once. Results do not depend on the number of threads.
 *
 * Files of this folder:
 *     mapping, value*, map_key, expr  a mapping and its values
 *     column, cell, filter, rows      a table's columns, cells and rows
 *     groups                          rows against those of their group
 *     job, run, stats, summary        predictions; errors and rankings
 *     rivals                          what other simulators predict (validate/arena)
 *     measured, compare               steps that were run, operator by operator
 *     applicability                   errors by applicability domain */
#ifndef VALIDATION_RUN_H
#define VALIDATION_RUN_H

#include "simulate/interval.h"
#include "simulate/resources.h"
#include "validation/mapping.h"

struct mapping_quantity {
    const char *key;
    double measured, predicted;
};

/* One row in one variant. */
struct mapping_outcome {
    const char *name;
    const char *error; /* why it could not be run; NULL when it was */
    int64_t row;
    bool fitted; /* of a held-out table, but a constant was fitted to it */
    int32_t n_quantities;
    struct mapping_quantity *quantities;
    bool has_fits; /* something says whether the job ran */
    bool fits_measured, fits_predicted;
    int32_t band;           /* 0: below the first edge, ... n_edges: above the last */
    const char *table;      /* NULL when the mapping names none */
    const char *equal;      /* what rows share that should be equal; NULL: not said */
    const char *system;     /* whose it was; NULL: the mapping's, as all its rows */
    const char *rank_group; /* the cells it is alike in; NULL: none */
    bool refused;           /* it failed, and a rule refuses it: `error` says which */
    bool outlier; /* too slow for its group to count in errors (mapping's "healthy") */
    bool outdone; /* it failed where one as large or larger ran (mapping's "outdone") */
    bool has_rate; /* tokens/s per GPU, for ranking; 0: does not run */
    double rate_measured, rate_predicted;
    double step_s, rate; /* predicted, whether or not it fits; 0: of no scenario */
    struct risk_state states[RISK_STATES]; /* states that its run may have been in */
    bool by_regret; /* chosen by expected regret; else by the predicted rate */
    int64_t job;    /* outcomes of one job are runs of the same; -1: none was run */
    struct resources by; /* likewise: what that step rests on, and its memory */
    double peak_B, capacity_B;
    bool has_place; /* of a scenario: its place among the measured */
    struct interval_place place;
};

struct mapping_run {
    const struct mapping *mapping;
    int64_t n_rows;       /* of the table */
    int64_t n_dropped;    /* by the filters */
    int64_t n_unmeasured; /* rows whose measured cells are all empty */
    int64_t n_failed, n_wrong_fits;
    int64_t n_outliers; /* rows that are not healthy */
    int64_t n_outcomes;
    struct mapping_outcome *outcomes;
};

/* Called as jobs end, by one thread at a time. */
typedef void mapping_progress_fn(void *arg, int64_t done, int64_t total);

/* Memory lives in the arena. The mapping's filters count what they drop. */
void mapping_run(struct mapping_run *run, struct arena *arena, struct mapping *m,
                 mapping_progress_fn *progress, void *arg);

#endif
