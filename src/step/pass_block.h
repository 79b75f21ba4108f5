/* Forward and backward of one block. */
#ifndef STEP_PASS_BLOCK_H
#define STEP_PASS_BLOCK_H

#include "step/builder.h"

/* Kernel times of all blocks, alone and beside the collectives planned so far. */
void pass_time_blocks(struct builder *b);

/* Writes a forward or backward of the block. */
void pass_forward_block(struct builder *b, int32_t block);
int pass_backward_block(struct builder *b, int32_t block, struct err *err);

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
void pass_accumulate(struct builder *b, const struct op_block *block);

#endif
