/* The blocks of a diffusion transformer. Private to src/model/. */
#ifndef MODEL_BUILD_DIFFUSION_H
#define MODEL_BUILD_DIFFUSION_H

#include "model/build/build.h"

enum { BUILD_DIFFUSION_BLOCKS = 5 };

/* Makes the list of a model with `diffusion.stack`; -1 with err set. */
int build_diffusion(struct op_list *list, struct arena *arena, const struct model *m,
                    const struct op_settings *s, struct err *err);

#endif
