/* Passes of a pipeline's stage. */
#ifndef STEP_PIPELINE_PIPELINE_H
#define STEP_PIPELINE_PIPELINE_H

#include "step/builder.h"

/* Those of one accumulation step; its last backwards may reduce gradients during
 * compute. */
int pipeline_passes(struct builder *b, const struct pass_list *order,
                    int64_t accumulated, bool reduces, struct err *err);

/* Buffers for what comes from the neighbouring stages, where each microbatch has its own
 * (MODEL.md, 5.2). */
int64_t pipeline_buffers_B(const struct stage *stage);

#endif
