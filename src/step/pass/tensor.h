/* Collectives within a tensor group. */
#ifndef STEP_PASS_TENSOR_H
#define STEP_PASS_TENSOR_H

#include "step/builder.h"

/* Plans the collectives of all blocks: of tensor, context and expert groups. */
int tensor_plan(struct stage *stage, struct builder *b, struct err *err);

#endif
