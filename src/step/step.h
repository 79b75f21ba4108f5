/* One training step of one rank, written out: its program of tasks, and the memory it
 * takes while it runs.
 *
 *   for each accumulation step: the passes of the stage in the schedule's order
 *       (a lone stage: forward, backward; after the last backward gradients go into
 *        buckets, each bucket a reduction as soon as it is full)
 *   update of the optimizer
 *
 * Accumulation steps beyond the fourth are alike; they become the program's repeat. So
 * do microbatches of a long pipeline, if the run finds that they are alike.
 * With several stages a pass is one task, measured in isolation, except where
 * something observes its operators: the last backwards, which overlap with the
 * reduction.
 *
 * Files of this folder:
 *     reps, step, stage, replicas: representative ranks; one rank's step; its blocks
 *     measure, reference: passes measured once and replayed; forwards without gradients
 *     issue, syncs: kernels of the host's streams; which of them make ranks equal
 *     comms, wire, model_group, contrast: collectives, as they are planned
 *     pass/: forwards and backwards, what is recomputed, kept on the host and freed, and
 *         the collectives of tensor, expert and context groups within them
 *     pipeline/: the order of passes, and what a stage does of them
 *     update/: gradients into buckets or shards and how they are reduced, gathers of
 *         parameters, DeepSpeed's flat buffers, servers, the optimizer */
#ifndef STEP_STEP_H
#define STEP_STEP_H

#include "memory/ledger.h"
#include "run/plans_kept.h"
#include "scenario/scenario.h"
#include "step/pipeline/schedule.h"
#include "step/unread.h"

struct step {
    struct program program;
    struct ledger ledger;
    bool has_layer;                /* of which these are: */
    double kernels_s[2];           /* of one middle layer: forward, backward */
    double kinds_s[OP_STREAM + 1]; /* of its kernels, alone, by enum op_kind */
    int64_t layer_parameters_B, layer_activations_B;
    double flops; /* executed by this GPU, over the whole step */
};

struct partition;
struct measured_stage; /* passes of a stage, measured: private to measure.c */
struct timed_block;    /* a block's kernels, timed: private to block_times.c */

/* What steps of one scenario have in common. */
struct step_request {
    struct arena *arena;
    const struct scenario *s;
    const struct net *net; /* that is run on; the plans' links are its */
    const struct net
        *folded; /* for measuring passes; the same when the run is folded */
    const struct groups *groups;
    const struct op_list *model;
    const struct partition *parts; /* of the model, by stage and chunk */
    bool stages_alike; /* the groups of all stages lie alike in the folded net */
    struct measured_stage **measured; /* the list so far, in the arena */
    struct timed_block **timed;       /* likewise */
    struct coll_rings_memo *rings;    /* of the collectives planned so far */
    struct plans_kept *kept;          /* of jobs before; NULL: none */
    bool detail;                      /* no pass is one task */
    bool whole;                       /* all accumulated microbatches are written */
    bool marks;                       /* the program says what memory its tasks hold */
    struct step_unread unread;
    int64_t microbatches; /* of a pipeline's step that its stages' lists hold */
    int64_t left_out;     /* periods of them that the step has beyond these */
};

/* Builds the step of a rank of the job on a GPU type of the cluster; `order` is its
 * stage's list of passes, NULL with one stage. */
int step_build(struct step *step, const struct step_request *request, int64_t rank,
               const struct gpu *gpu, const struct pass_list *order, struct err *err);
void step_release(struct step *step);

/* Durations of the passes of a stage's chunk, for the dynamic schedule, and of a
 * message. */
int step_measure(const struct step_request *request, int64_t rank, int32_t chunk,
                 const struct gpu *gpu, int64_t time_ps[PASS_N], int64_t *message_ps,
                 struct err *err);

#endif
