/* What ranks of several stages do together. */
#ifndef STEP_MODEL_GROUP_H
#define STEP_MODEL_GROUP_H

#include "step/builder.h"

/* After the forward of a microbatch, what the last stage's returns goes to all ranks
 * of the model group (kept of all microbatches, where it is); at the end of the
 * accumulation step it has come. */
bool group_keeps_outputs(const struct scenario *s);
int group_broadcast_output(struct builder *b, struct err *err);
void group_take_outputs(struct builder *b);

/* After the reduction of gradients, where stages share an embedding; before the
 * update, when gradients are clipped. */
int group_sum_embeddings(struct builder *b, struct err *err);
int group_sum_norms(struct builder *b, struct err *err);

#endif
