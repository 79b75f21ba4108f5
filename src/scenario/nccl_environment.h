/* The variables that steer NCCL and its network plugin: what each does here, and why
 * the others do nothing. */
#ifndef SCENARIO_NCCL_ENVIRONMENT_H
#define SCENARIO_NCCL_ENVIRONMENT_H

#include "scenario/parse.h"

/* Takes a variable of the environment: it acts, is noted with the reason why it does
 * not, or is refused at `c` (-1) for a value that it cannot have. */
int environment_take(struct parse_context *r, struct cfg c, const char *name,
                     const char *value);

/* Whether launch scripts' variables of that name are for the simulation to judge. */
bool environment_knows(const char *name);

#endif
