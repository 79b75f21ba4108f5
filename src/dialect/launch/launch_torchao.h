/* torchao's recipes of products in 8 bits, as torchtitan and OLMo-core name them. */
#ifndef DIALECT_LAUNCH_LAUNCH_TORCHAO_H
#define DIALECT_LAUNCH_LAUNCH_TORCHAO_H

#include "dialect/launch/launch_context.h"

/* What a recipe's name (Float8LinearRecipeName of torchao/float8/config.py, v0.7 to
 * v0.14; MXFP8's kernels of torchao/prototype/mx_formats) says of the precision; `it`
 * NULL or none: scales of whole tensors at hand. NULL: it is not simulated. What differs
 * from the name is noted. */
const char *launch_torchao_precision(struct launch_context *t,
                                     const struct value_item *it);

#endif
