/* One training step of one GPU of a data-parallel job, written out: its program of
 * tasks, and the memory it takes while it runs.
 *
 *   for each accumulation step: forward of all blocks, backward of all blocks
 *       (behind the last one: gradients go into buckets, each bucket an all-reduce
 *        as soon as it is full)
 *   update of the optimizer
 *
 * Accumulation steps beyond the fourth are alike; they become the program's repeat. */
#ifndef REPLAY_STEP_H
#define REPLAY_STEP_H

#include "parallel/scenario.h"
#include "parallel/states.h"
#include "replay/ledger.h"
#include "replay/program.h"

struct step {
    struct program program;
    struct ledger ledger;
    double kernels_s[2]; /* of one middle layer: forward, backward */
    int64_t layer_parameters_B, layer_activations_B;
    double flops;            /* executed by this GPU, over the whole step */
    int64_t comm_channels_B; /* NCCL's buffers on this GPU */
};

/* Builds the step for a GPU type of the scenario's cluster. The plans of the collectives
 * are made on `net` in the arena. */
int step_build(struct step *step, struct arena *arena, const struct scenario *s,
               const struct gpu *gpu, const struct net *net, struct err *err);
void step_release(struct step *step);

#endif
