/* Trainings in branches of a script, of which a variable that nobody gives chooses one. */
#ifndef DIALECT_LAUNCH_LAUNCH_BRANCHES_H
#define DIALECT_LAUNCH_LAUNCH_BRANCHES_H

#include "dialect/launch/launch_shell.h"

/* Whether one command trains other than another by what is known of both: its program,
 * the document that it names, or an option that is more than a file's name or a log's. */
bool launch_trains_otherwise(const struct launch_command *a,
                             const struct launch_command *b);

/* Asks for the variable that decides which of so many commands runs; false: none does. */
bool launch_ask_branch(struct launch_context *t, const struct launch_command *c,
                       int found);

#endif
