/* What a shell script says of its own arguments. */
#ifndef DIALECT_LAUNCH_LAUNCH_USAGE_H
#define DIALECT_LAUNCH_LAUNCH_USAGE_H

#include "dialect/launch/launch.h"

/* Takes the values that the script compares variables with that nobody gives, and the
 * first comment that calls a script with arguments, for questions (launch_ask.h). */
void launch_take_usage(struct launch *l, const struct shell *s, const char *text);

#endif
