/* Thin matrices of adapters that are units of sharded parameters by themselves, inside the
 * unit of their layer: FSDP under PEFT's wrap policy (MODEL.md, R8.3.1). */
#ifndef STEP_UPDATE_SHARD_ADAPTERS_H
#define STEP_UPDATE_SHARD_ADAPTERS_H

#include "step/builder.h"

/* Around an operator of the block: the matrix that it is the first to read is gathered,
 * after the last that reads it is dropped and its gradient scattered. -1 after an
 * error. */
int shard_adapters_enter(struct builder *b, const struct op_block *block,
                         const struct op *op, struct err *err);
int shard_adapters_leave(struct builder *b, const struct op_block *block,
                         const struct op *op, struct err *err);

#endif
