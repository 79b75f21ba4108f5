/* What the first layers have saved goes to host memory as a whole, and comes back before
 * their backward (MODEL.md, R9.3). */
#ifndef STEP_PASS_OFFLOAD_LAYERS_H
#define STEP_PASS_OFFLOAD_LAYERS_H

#include "step/builder.h"

/* A pass of the stage enters layer `k` of a slice of the chunk: the layer before leaves,
 * or a layer comes back; the pass waits for what has to be gone, or there. */
void offload_layers_enter(struct builder *b, bool backward, int32_t chunk,
                          int32_t slice, int64_t k);

#endif
