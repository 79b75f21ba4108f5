/* A search under way: what was chosen, what simulating it gave, and what that says of
 * the scores. Private to plan*.c. */
#ifndef SEARCH_PLAN_RUN_H
#define SEARCH_PLAN_RUN_H

#include "base/vec.h"
#include "search/plan_score.h"

/* Candidates chosen, and what simulating them gave, in the order of choice. */
struct run {
    const struct plan_job *job;
    const struct plan_options *o;
    VEC(struct plan_entry) all;
    int64_t first_new;             /* those before are simulated */
    double ratios[KINDS][TENSORS]; /* simulated over score; 0: unknown */
    double memory_ratio;           /* the same of memory, over all */
};

/* Adds a candidate to what is chosen; false when it is there already. */
bool run_choose(struct run *run, const struct candidate *c);

/* Simulates what was chosen since the last time, on all cores; `total` is for the
 * progress that is shown. */
void run_simulate(struct run *run, int64_t total);

/* Compares scores with what was simulated; run_correction then yields by how much the
 * scores of such candidates are to be multiplied, 0 where nothing like it is known. */
void run_learn(struct run *run);
double run_correction(const struct run *run, int kind, const uint16_t *at);

/* How far corrected scores are off, in nine cases of ten, where the simulated time is
 * at most `most_s`; 0 when there are none. */
double run_score_error(const struct run *run, double most_s);

/* Order of entries by the objective, for qsort. */
int plan_by_value(const void *a, const void *b);

/* Chooses the best K of the scored, by kinds first, then by corrected scores, and
 * climbs from the best; all simulated at the end. */
void run_best(struct run *run, struct scored *s);

#endif
