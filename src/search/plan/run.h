/* A search under way: what was chosen, what simulating it gave, and what that says of
 * the scores. Private to plan*.c. */
#ifndef SEARCH_PLAN_RUN_H
#define SEARCH_PLAN_RUN_H

#include "base/vec.h"
#include "search/plan/score.h"

/* Candidates chosen, and what simulating them gave, in the order of choice. */
struct plan_run {
    const struct plan_job *job;
    const struct plan_options *o;
    VEC(struct plan_entry) all;
    int64_t first_new;             /* those before are simulated */
    int64_t done;                  /* simulated in all: for the progress shown */
    int64_t apart;                 /* of them far too large: without a time */
    int64_t passes;                /* to replay, of all chosen: their work */
    double ratios[KINDS][TENSORS]; /* simulated over score; 0: unknown */
    double memory_ratio;           /* the same of memory, over all */
    double time_band, memory_band; /* how far corrected scores may be off */
};

/* Adds a candidate to what is chosen; false when it is there already. */
bool plan_run_choose(struct plan_run *run, const struct candidate *c);

/* Simulates what was chosen since the last time, on all cores; `total` is for the
 * progress that is shown. */
void plan_run_simulate(struct plan_run *run, int64_t total);

/* Compares scores with what was simulated. */
void plan_run_learn(struct plan_run *run);

/* A point's score as what was simulated corrects it; `run` NULL: as it is. */
void plan_run_correct(const struct plan_run *run, const struct space_point *p,
                      const struct candidate *c, double *time_s, double *memory_B);

/* How often a simulated plan came to less than `ratio` of its corrected score: (k + 1) /
 * (n + 1) of k times in n, Laplace's rule; and the largest error of the n. */
struct plan_run_odds {
    int64_t n;
    double chance, largest_error;
};
struct plan_run_odds plan_run_odds(const struct plan_run *run, double ratio);

/* How far corrected scores are off, in nine cases of ten, where the simulated time is
 * at most `most_s`; 0 when there are none. */
double plan_run_score_error(const struct plan_run *run, double most_s);

/* The first in order of what was simulated and could be listed; NULL: nothing. */
const struct plan_entry *plan_run_best_entry(const struct plan_run *run);

/* Simulates of the scored what may be among the plans to list; how many are left that
 * may be, and below which value of the objective they do not come. */
struct plan_run_left {
    int64_t n;
    double least;
    double nearest; /* the least value that scores, as corrected, give of any left */
};
struct plan_run_left plan_run_best(struct plan_run *run, struct scored *s);

#endif
