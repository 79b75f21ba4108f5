/* The gradient of the head's matrix, left out of the backwards of a pipeline's fill and
 * made after its last pass, while other stages still drain (Megatron-LM's
 * --defer-embedding-wgrad-compute; MODEL.md, R6.1). */
#ifndef STEP_PIPELINE_DEFERRED_H
#define STEP_PIPELINE_DEFERRED_H

#include "step/builder.h"

/* Fills in stage->deferred; after the collectives of its blocks. */
int deferred_plan(struct stage *stage, struct builder *b, struct err *err);

/* Whether a pass of the order leaves it out. */
bool deferred_leaves(const struct stage *stage, struct pass_ref ref);

/* Makes those that were left out of a fill of so many microbatches. */
void deferred_run(struct builder *b, int64_t microbatches);

#endif
