/* Which blocks of the model a stage of the pipeline holds. */
#ifndef STEP_STAGE_H
#define STEP_STAGE_H

#include "step/builder.h"

/* How the model is cut, for all stages. */
int stage_parts(struct partition *parts, struct arena *arena, const struct scenario *s,
                const struct op_list *model, struct err *err);

/* The blocks of the stage at hand and its chunks, out of those of the model. */
void stage_cut(struct builder *b, const struct op_list *model);

/* Whether the rank (of the world) is of the pipeline's last stage. */
bool stage_is_last(const struct builder *b, int64_t rank);

#endif
