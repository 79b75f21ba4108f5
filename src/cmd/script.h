/* Launch scripts in place of scenarios, for the commands that take either. */
#ifndef CMD_SCRIPT_H
#define CMD_SCRIPT_H

#include "cmd/options.h"
#include "parallel/launch.h"
#include "parallel/scenario.h"

#include <stdio.h>

/* The scenario in the script with what was set, complete; absent after reporting. What
 * was taken is said on standard error when it is not enough. */
struct cfg script_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const char *estimator, const struct option_list *sets);

/* Reads a scenario, from whichever of the two; -1 after reporting to the loader. */
int script_scenario(struct scenario *s, struct cfg_loader *loader, const char *name,
                    const struct option_list *sets);

/* What was taken, a line a field, and what else there is to say. */
void script_print(FILE *out, const struct launch *l);

#endif
