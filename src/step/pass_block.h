/* Forward and backward of one block. */
#ifndef STEP_PASS_BLOCK_H
#define STEP_PASS_BLOCK_H

#include "step/builder.h"

/* Kernel times of one block, with the GPU alone [0] and overlapped with a collective
 * [1]. */
struct block_times {
    double *forward_s[2], *backward_s[2];
};

/* Kernel times of all blocks, alone and overlapped with collectives that leave so much
 * of the GPU. */
void pass_time_blocks(struct stage *stage, struct kernel_share shared);

/* What the kernels of a block take alone, by enum op_kind. */
void pass_time_kinds(const struct stage *stage, int32_t block,
                     double kinds_s[OP_STREAM + 1]);

/* Writes a forward or backward of the block. */
void pass_forward_block(struct builder *b, int32_t block);
int pass_backward_block(struct builder *b, int32_t block, struct err *err);

/* Writes one operator of a block's backward, without what comes before or after it. */
void pass_backward_op(struct builder *b, int32_t block, int32_t op);

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
void pass_accumulate(struct builder *b, const struct op_block *block);

/* The same of so many elements. */
void pass_accumulate_elements(struct builder *b, double elements);

#endif
