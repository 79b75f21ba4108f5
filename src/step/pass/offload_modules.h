/* What modules of layers have saved goes to host memory after their forward and comes
 * back before their backward (MODEL.md, R9.2). */
#ifndef STEP_PASS_OFFLOAD_MODULES_H
#define STEP_PASS_OFFLOAD_MODULES_H

#include "step/builder.h"

/* Whether the last layer of a chunk keeps what it has saved, because its backward
 * follows its forward. */
bool offload_modules_stay(const struct stage *stage, int32_t chunk);

/* A pass of the chunk begins: what the layer last in forward has, where it leaves. */
void offload_modules_begin(struct builder *b, bool backward, int32_t chunk);

/* Layer `k` of a slice is entered by a pass. */
void offload_modules_enter(struct builder *b, bool backward, int32_t chunk,
                           int32_t slice, int64_t k);

/* Around the operators of the layer at hand: copies to the host after a forward one,
 * the wait before a backward one, and copies of the next layer's after it. */
void offload_modules_store(struct builder *b, int32_t block, int32_t at);
void offload_modules_await(struct builder *b, int32_t block, int32_t at);
void offload_modules_load(struct builder *b, int32_t block, int32_t at);

#endif
