/* From the rows of a table to what has to be run for them: private to run.c. */
#ifndef VALIDATION_ROWS_H
#define VALIDATION_ROWS_H

#include "validation/run.h"

/* A distinct thing to be predicted. */
struct rows_job {
    json_t *tree, *result; /* owned; result NULL until it is run, or when that failed */
    const char *error;     /* in the arena */
};

/* Jobs of which the best is taken; more than one where the mapping chooses. */
struct rows_candidates {
    int64_t first, n; /* in the list of candidates */
};

/* What an outcome's predictions come from. */
struct rows_plan {
    struct rows_candidates own;
    struct rows_candidates *ratios;     /* [n_quantities], n 0 where there is none */
    const struct mapping_measured **of; /* [n_quantities] */
    int64_t states[RISK_STATES]; /* jobs; where the outcome's chance is above 0 */
};

struct rows {
    struct arena *arena;
    struct mapping *m;
    json_t *ids; /* text of a job -> its index */
    VEC(struct rows_job) jobs;
    VEC(int64_t) candidates; /* indices of jobs */
    VEC(struct mapping_outcome) outcomes;
    VEC(struct rows_plan) plans; /* one an outcome */
    int64_t n_dropped, n_unmeasured;
};

/* What a row lacks becomes the error of its outcome. */
void rows_resolve(struct rows *r, struct arena *arena, struct mapping *m);
void rows_release(struct rows *r);

#endif
