/* Stretches of a layer's operators: written once, and copied wherever the layer comes
 * again and nothing that they read is another. Layers are alike, so that one of dozens
 * is written. */
#ifndef STEP_PASS_STRETCH_H
#define STEP_PASS_STRETCH_H

#include "step/builder.h"

/* Operators of a block one after the other, without what goes on the wire between. */
struct stretch {
    int32_t block;
    bool backward;
    int32_t from, to; /* in the order of issue; `to` is excluded */
};

/* Writes the operators, and adds what the host and the GPU spend on them. It may read
 * the stage, and of the builder what is at hand: the last kernel, what the next waits
 * for, the tensors, and the pass but for its number, its chunk, and what becomes of its
 * gradients. The rest of the builder is not there. */
typedef int stretch_write_fn(struct builder *b, const struct stretch *s,
                             struct host_spent *spent, struct err *err);

/* What has been written of a stage; in the arena, for as long as the stage is. */
struct stretches *stretches_new(const struct stage *stage);

/* Writes the stretch, or copies what `write` made of it before, which is the same. */
int stretch_write(struct builder *b, const struct stretch *s, struct host_spent *spent,
                  stretch_write_fn *write, struct err *err);

#endif
