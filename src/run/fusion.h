/* Tensor fusion as Horovod does it: at every tick of its cycle the coordinator takes
 * the gradients that all ranks have ready, in their order, fuses them up to the
 * threshold, and sends one all-reduce after the other; what becomes ready meanwhile
 * waits for the next tick. How many operations there are, and how large, is thus known
 * only as the step is replayed.
 *
 *   ready      g1 g2   g3      g4 g5 g6
 *   tick    |       |       |       |       |
 *   sent            [g1 g2] [g3]    [g4 g5][g6]        (threshold: two tensors)
 *
 * A `fusion` is what the program says of one backward pass; a `coordinator` runs it. */
#ifndef RUN_FUSION_H
#define RUN_FUSION_H

#include "base/vec.h"
#include "cost/collective.h"
#include "engine/sim.h"

struct fusion_tensor {
    int32_t ready; /* the task that completes it; none is before the one ahead of it */
    double bytes;
};

struct fusion {
    VEC(struct fusion_tensor) tensors;
    double threshold_B; /* a larger tensor goes alone; 0: everything that is ready */
    double cycle_s;     /* 0: at once */
    int32_t task;       /* ends when all of it is reduced */
    /* The plan that moves `bytes`; it lives as long as the program. */
    const struct coll_plan *(*plan)(void *arg, double bytes);
    void *arg;
};

/* How many tensors from `first` on go into one buffer, when `n` are ready; *bytes is
 * what they hold. At least one, when any is. */
int32_t fusion_take(const struct fusion *f, int32_t first, int32_t n, double *bytes);

/* The first tick at or after a time. */
int64_t fusion_tick_ps(int64_t cycle_ps, int64_t now_ps);

struct fusion_coordinator; /* the run of one fusion over all ranks */

/* `send` starts a plan, and has fusion_coordinator_sent called at its end; `done` is called once,
 * when all tensors are reduced. */
struct fusion_coordinator *
fusion_coordinator_new(const struct fusion *f, struct sim *sim, int64_t n_ranks,
                       void (*send)(void *arg, const struct coll_plan *plan),
                       void (*done)(void *arg), void *arg);
void fusion_coordinator_free(struct fusion_coordinator *f);

/* Rank `rank` has ended a task of its compute stream. O(1) amortised. */
void fusion_coordinator_task_ended(struct fusion_coordinator *f, int64_t rank,
                                   int32_t task);
void fusion_coordinator_sent(struct fusion_coordinator *f);
bool fusion_coordinator_is_done(const struct fusion_coordinator *f);

#endif
