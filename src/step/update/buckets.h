/* Gradients into buckets, as each library does it. */
#ifndef STEP_UPDATE_BUCKETS_H
#define STEP_UPDATE_BUCKETS_H

#include "step/builder.h"

/* Makes the plan of a bucket of that size (of the usual one, before times are taken,
 * since it decides what is left of the GPU). */
int buckets_plan(struct stage *stage, struct builder *b, double size_B,
                 struct err *err);

/* Most bytes of a bucket of the chunk; 0: no limit. */
double buckets_limit_B(const struct stage *stage, int32_t chunk);

/* Before a microbatch's backward; as a parameter tensor's gradient becomes ready;
 * after the last of a chunk, and of all. */
void buckets_begin(struct builder *b);
int buckets_add(struct builder *b, const struct op_param *p, struct err *err);
int buckets_leave_chunk(struct builder *b, struct err *err);
int buckets_end(struct builder *b, struct err *err);

/* Broadcasts the model's buffers to all ranks, where DDP does so before forward. */
int buckets_broadcast(struct builder *b, struct err *err);

#endif
