/* Flat buffers of DeepSpeed's ZeRO 1 and 2. */
#ifndef STEP_UPDATE_ZERO_H
#define STEP_UPDATE_ZERO_H

#include "step/builder.h"

/* Whether DeepSpeed keeps parameters and optimizer states in flat buffers; these,
 * before the first step; what an update holds in addition to them. */
bool zero_flattens(const struct stage *stage);
void zero_allocate_states(struct builder *b);
void zero_update(struct builder *b);

#endif
