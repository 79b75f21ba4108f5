/* Time of fused attention, forward and causal, as software that was measured runs it.
 * MODEL.md (3.22). Pure functions. */
#ifndef COST_ATTENTION_H
#define COST_ATTENTION_H

#include "hardware/attention.h"

struct attention_shape {
    int64_t batch, sequence, heads, kv_heads, head_dim;
};

/* Seconds of one call in bf16. */
double attention_s(const struct gpu *gpu, const struct attention *a,
                   const struct attention_shape *shape);

#endif
