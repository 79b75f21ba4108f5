/* A step of one rank, as PyTorch's profiler recorded it, on another cluster: kernels that
 * compute take what they took, collectives what the cluster's network gives them, and
 * what they waited for other ranks. All ranks are taken to do the same.
 *
 *   start = the latest of: the end of the kernel before on the stream, its launch by the
 *           host, the ends of kernels of other streams that it waited for, and for a
 *           collective the end of the kernel that was launched last before it on another
 *           stream; plus what lay between in the trace
 *   end   = start + length
 *
 * A kernel is taken to have waited for one of another stream that ended last of all that
 * it may have waited for. The host launches as long after its launch before as it did, or
 * after the kernel that it waited for: one that ended just before it launched again. A group of as many ranks as the
 * cluster has GPUs is all of them; a smaller one is of neighbours: in one instance, or
 * on whole instances. What does not say its size or group keeps its time. */
#ifndef REPLAY_REPLAY_STEP_H
#define REPLAY_REPLAY_STEP_H

#include "hardware/cluster.h"
#include "kineto/kineto.h"

struct replay_step {
    double measured_s; /* the step in the trace */
    double same_s;     /* replayed with all times of the trace: the replay's error */
    double step_s;     /* replayed on the cluster */
    double compute_s, exposed_s, idle_s; /* of it */
    int64_t n_kernels, n_collectives;
    int64_t n_kept;             /* of these, with the time of the trace */
    double was_s, collective_s; /* of all others: in the trace, and now */
    double waited_s;            /* of was_s: for other ranks */
};

/* -1 with err set: a trace without steps or of another number of ranks than the cluster
 * has GPUs. O(kernels x streams). */
int replay_step(struct replay_step *r, const struct kineto_rank *t,
                const struct cluster *c, const char *nccl, struct err *err);

#endif
