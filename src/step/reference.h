/* Forwards without gradients that a loss needs next to the policy's own: of the model that
 * the policy is compared with, and of the policy (MODEL.md, 2.20). Their kernels are
 * CATEGORY_REFERENCE. A lone stage's alone. */
#ifndef STEP_REFERENCE_H
#define STEP_REFERENCE_H

#include "step/builder.h"

/* Bytes of the weights of a separate reference model, or of this rank's shards of them. */
int64_t reference_weights_B(const struct stage *stage);

/* All of a microbatch; between its forward and its backward. */
int reference_forwards(struct builder *b, struct err *err);

#endif
