/* What a file leaves open and --set does not answer. */
#ifndef DIALECT_LAUNCH_LAUNCH_ASK_H
#define DIALECT_LAUNCH_LAUNCH_ASK_H

#include "dialect/launch/launch.h"

/* Reports what the scenario lacks and what the file leaves open; where there are several,
 * the options that answer all, to paste. Of variables of a shell script, the values that
 * it compares them with, and the arguments that a comment of it shows, are said. -1 when
 * anything was asked. */
int launch_ask(struct launch *l, struct cfg root);

#endif
