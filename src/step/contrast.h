/* What replicas of two towers exchange: the vectors of their pairs (MODEL.md, 2.9). */
#ifndef STEP_CONTRAST_H
#define STEP_CONTRAST_H

#include "step/builder.h"

/* Adds the gather of vectors to the head's forward, and the sum of their gradients to its
 * backward, where the model is trained against those of other replicas. */
int contrast_plan(struct builder *b, struct err *err);

#endif
