/* Programs in Python that start others by a shell. */
#ifndef DIALECT_LAUNCH_LAUNCH_COMMANDS_H
#define DIALECT_LAUNCH_LAUNCH_COMMANDS_H

#include "dialect/python/python.h"

/* What a text starts by os.system(...) and subprocess.run(...), a command a line, with what
 * it sets of the environment; NULL: nothing. Of `given` what it is started with is taken:
 * its options, words, environment and GPUs. What is not known is a variable that nobody
 * sets. */
const char *launch_commands_of(struct arena *arena, const char *text,
                               const struct python_wanted *given);

#endif
