/* Forward and backward of one block. */
#ifndef STEP_PASS_PASS_BLOCK_H
#define STEP_PASS_PASS_BLOCK_H

#include "step/builder.h"

/* Writes a forward or backward of the block. */
int pass_forward_block(struct builder *b, int32_t block, struct err *err);
int pass_backward_block(struct builder *b, int32_t block, struct err *err);

/* Writes one operator of a block's backward, without what comes before or after it. */
void pass_backward_op(struct builder *b, int32_t block, int32_t op);

#endif
