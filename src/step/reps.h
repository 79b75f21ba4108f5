/* Who is simulated: folded, one rank for each stage of the pipeline (and each group of
 * equal instances, where a cluster has several); unfolded, all. Ranks that do the same
 * share one step. */
#ifndef STEP_REPS_H
#define STEP_REPS_H

#include "step/step.h"

struct reps_options {
    bool unfold, detail;
    bool whole; /* steps hold all microbatches that are accumulated */
    bool marks; /* of memory, for observers */
    struct step_unread unread;
    struct plans_kept *kept; /* plans of jobs on these instances; NULL: none */
    int64_t microbatches; /* of the pipeline's that steps hold (reps_shorter); 0: all */
};

struct reps {
    struct groups groups;
    struct net *net;    /* that is run on */
    struct net *folded; /* for measuring passes; the same where the run is folded */
    int32_t n_steps;
    struct step *steps;      /* [n_steps] */
    const struct gpu **gpus; /* [n_steps] of each step */
    int64_t *stages;         /* [n_steps] of the pipeline */
    int64_t n_ranks;
    const struct program **programs; /* [n_ranks] */
    int64_t *ranks;                  /* [n_ranks] their numbers */
};

/* How many microbatches of a pipeline are enough to hold, if the run is steady by then
 * (run/program.h: struct repeat); more at the second attempt (1). 0: all of them, as
 * where no period is known or tensors of all microbatches are kept. */
int64_t reps_shorter(const struct scenario *s, int attempt);

/* Builds the nets and the steps, in the arena. */
int reps_build(struct reps *reps, struct arena *arena, const struct scenario *s,
               const struct reps_options *options, struct err *err);
void reps_release(struct reps *reps);

#endif
