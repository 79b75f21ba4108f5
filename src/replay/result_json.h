/* The JSON of `simulate`: the names are a contract, and so is their order;
 * what is unknown is null. Search, sweeps and validation read results by these names. */
#ifndef REPLAY_RESULT_JSON_H
#define REPLAY_RESULT_JSON_H

#include "replay/simulate.h"

#include <jansson.h>

/* How far a step time that nothing measured is near to may be off, as a fraction, until
 * the error of its nearest measurements is known: most rows of the published tables are
 * predicted within it, of which those least like any other (fp32 fine-tuning, multi-node
 * rows of unknown software) are off by 15 to 35 %. */
extern const double result_extrapolated_error;

/* A new tree. */
json_t *result_json(const struct scenario *s, const struct simulate_result *r);

#endif
