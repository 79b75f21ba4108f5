/* The variables that steer NCCL, its network plugin, Horovod and PyTorch's allocator: what
 * each does here, and why the others do nothing. */
#ifndef SCENARIO_NCCL_ENVIRONMENT_H
#define SCENARIO_NCCL_ENVIRONMENT_H

#include "scenario/parse.h"

/* Takes a variable of the environment: it acts, is noted with the reason why it does
 * not, or is refused at `c` (-1) for a value that it cannot have. */
int environment_take(struct parse_context *r, struct cfg c, const char *name,
                     const char *value);

/* A whole number; -1 after reporting another value at `c`. */
int environment_number(struct cfg c, const char *value, long *n);

/* Whether launch scripts' variables of that name are for the simulation to judge. */
bool environment_knows(const char *name);

#endif
