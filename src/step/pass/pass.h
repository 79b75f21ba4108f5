/* A pass of a chunk: forward or backward of one microbatch through its layers. */
#ifndef STEP_PASS_PASS_H
#define STEP_PASS_PASS_H

#include "step/builder.h"

/* Writes it; a backward completes the gradients that are reduced. */
int pass_write(struct builder *b, enum pass_kind kind, int32_t chunk, struct err *err);

/* Whether the chunk's output is kept for its backward: DeepSpeed's is, Megatron frees
 * it once it is sent. */
bool pass_keeps_output(const struct stage *stage, int32_t chunk);

/* The pass ends: the host waits for all it has issued. */
void pass_close(struct builder *b);

#endif
