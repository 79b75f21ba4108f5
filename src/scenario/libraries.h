/* The libraries that train, a row each: what they are called, here and in text, and how
 * they read a batch. */
#ifndef SCENARIO_LIBRARIES_H
#define SCENARIO_LIBRARIES_H

#include "scenario/scenario.h"

/* Words of /parallelism/library beside library_names: what plans, --for and estimators
 * call the same. "smddp" is ddp whose backend is smddp. */
extern const struct name_value library_words[];
enum { LIBRARY_WORD_SMDDP = LIBRARY_PARAMETER_SERVER + 1 };

const char *library_title(enum library library); /* "Megatron" */

/* Whether accumulation steps of a pipeline are the microbatches of one fill. Else each
 * step fills and drains the pipeline. */
bool library_fills_once(enum library library);

#endif
