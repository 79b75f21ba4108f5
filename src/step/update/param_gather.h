/* Gathers of parameters that were updated in shards. */
#ifndef STEP_UPDATE_PARAM_GATHER_H
#define STEP_UPDATE_PARAM_GATHER_H

#include "step/builder.h"

/* Set-up; before the first pass of a step. */
int param_gather_plan(struct stage *stage, struct builder *b, struct err *err);
void param_gather_begin(struct builder *b);

/* Whether the next pass of the chunk waits for gathers, and its wait before block
 * `at`. */
bool param_gather_awaited(const struct builder *b, enum pass_kind kind, int32_t chunk);
void param_gather_enter(struct builder *b, int32_t chunk, int32_t at);

/* After the update. */
int param_gather_end(struct builder *b, struct err *err);

#endif
