/* Collectives between modules that the tensor group shares in unlike ways, and what a
 * stage does with the stream that comes in parts. */
#ifndef STEP_PASS_TENSOR_ENDS_H
#define STEP_PASS_TENSOR_ENDS_H

#include "step/builder.h"

enum { TENSOR_ENDS_MAX = 6 }; /* of a block and direction */

/* Adds them, before and after the others of a block. */
int tensor_ends_before(struct builder *b, int32_t block, struct err *err);
int tensor_ends_after(struct builder *b, int32_t block, struct err *err);

/* Puts the stream together that came in parts. */
int tensor_ends_gather(struct builder *b, const struct chunk_slices *chunk,
                       bool backward, struct err *err);

/* Bytes of the stream of a rank between layers, and of its message from a part of the
 * pipeline to the next: the stream, or the logits where the loss is on the next. */
double tensor_ends_stream_B(const struct stage *stage);

/* The same of a block, whose tokens or columns may be others: a tower's, a decoder's. */
double tensor_ends_block_B(const struct stage *stage, const struct op_block *block);
double tensor_ends_message_B(const struct stage *stage, int64_t part);

#endif
