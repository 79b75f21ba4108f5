/* What the operators of a backward complete: gradients of parameters, made, handed to
 * their buckets, added to the sum of the step. */
#ifndef STEP_UPDATE_GRADIENTS_H
#define STEP_UPDATE_GRADIENTS_H

#include "step/builder.h"

/* Gradients that an operator completes: allocated by the first microbatch, added to by
 * the others, reduced by those that reduce. */
int gradients_complete(struct builder *b, const struct op_block *block,
                       const struct op *op, struct err *err);

/* Those that another pass has completed are reduced alone. */
int gradients_send(struct builder *b, const struct op_block *block, const struct op *op,
                   struct err *err);

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
void gradients_accumulate(struct builder *b, const struct op_block *block);

/* The same of so many elements. */
void gradients_accumulate_elements(struct builder *b, double elements);

#endif
