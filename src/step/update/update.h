/* One update of the optimizer. */
#ifndef STEP_UPDATE_UPDATE_H
#define STEP_UPDATE_UPDATE_H

#include "step/builder.h"

void update_parameters(struct builder *b);

#endif
