/* SageMaker's data parallel library in a step: its fusion buffers, and the conditions
 * under which its AllGather runs (MODEL.md, section 7). */
#ifndef STEP_UPDATE_SMDDP_H
#define STEP_UPDATE_SMDDP_H

#include "cost/collective.h"
#include "scenario/scenario.h"

/* Buffers are balanced: as few as `most_B` allows, all of one size. 0: one buffer. */
double smddp_buffer_B(double all_B, double most_B);

/* What cost/coll_smddp.c is given: one buffer a request. */
const struct coll_library *smddp_library(struct arena *arena, const struct scenario *s);

/* NULL when SMDDP's AllGather moves the sharded parameters, input_B a rank; else the
 * reason why NCCL's does. */
const char *smddp_gather_refuses(const struct scenario *s, double input_B);

/* SMDDP's buffers reduce the gradients: of whole replicas on several nodes, without SMP,
 * which takes its AllGather alone. */
bool smddp_reduces(const struct scenario *s);

/* That nothing was published of that on these instances; NULL otherwise. */
const char *smddp_reduce_note(struct arena *arena, const struct scenario *s);

/* That reason, of a job that asks for SMDDP and shards its parameters, for a layer of
 * which each rank holds layer_B; NULL otherwise. */
const char *smddp_note(struct arena *arena, const struct scenario *s, double layer_B);

#endif
