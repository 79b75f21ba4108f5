/* Collectives of the program: planned once for each request, over the groups of the
 * rank, and what they leave of the GPU to kernels that overlap with them. */
#ifndef STEP_COMMS_H
#define STEP_COMMS_H

#include "step/builder.h"

/* Index of the collective of a channel, of that size; -1 after an error. */
int32_t comms_add(struct builder *b, enum channel channel, enum coll_op op,
                  double size_B, struct err *err);

/* The same of tokens that go to experts or come back, one copy of which is `size_B`;
 * `tokens` lives as long as the stage. NULL: another collective. */
int32_t comms_add_tokens(struct builder *b, enum channel channel, enum coll_op op,
                         double size_B, const struct coll_tokens *tokens,
                         struct err *err);

/* Kernels will overlap with that collective: they have at most the SMs and the memory
 * bandwidth that it leaves. Before block_times_make, which reads it. */
void comms_overlapped(struct builder *b, const struct coll_plan *plan);

/* What the collective takes alone: on the folded net, which counts all groups. */
int comms_alone_s(struct builder *b, int32_t comm, double *time_s, struct err *err);

#endif
