/* What NCCL's communicators of a rank hold of the GPU's memory, outside PyTorch's
 * allocator: channels with their buffers, and what the switch adds up in. */
#ifndef SIMULATE_COMMUNICATORS_H
#define SIMULATE_COMMUNICATORS_H

#include "scenario/scenario.h"

/* NCCL's channels and buffers of a communicator of 2 GPUs, as nvidia-smi shows them
 * (aiconfigurator's measured table; MODEL.md, 5.4). */
enum { NCCL_COMMUNICATOR_B = 342000000 };

/* A communicator that rank 0 is in. */
struct communicator_size {
    int64_t ranks, of_node; /* of_node: those that share its node */
};

enum { COMMUNICATORS_MAX = 12 };

/* Fills `v`, and returns how many there are. In addition to those of its degrees a job has one of
 * all ranks and, of tensor groups in a pipeline, one of a replica's; libraries have more
 * (struct library_row: worlds, pairs). */
int32_t communicators_list(struct communicator_size v[COMMUNICATORS_MAX],
                           const struct scenario *s);

/* Bytes of all of them. */
int64_t communicators_B(const struct scenario *s);

#endif
