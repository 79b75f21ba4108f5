/* A launch script with what `--set` gives: variables of a shell script before it is read,
 * changes of its scenario after. */
#ifndef DIALECT_LAUNCH_LAUNCH_OPEN_H
#define DIALECT_LAUNCH_LAUNCH_OPEN_H

#include "dialect/launch/launch.h"

struct launch_sets { /* "POINTER=VALUE"; those of "/shell/NAME" are variables */
    int32_t n;
    const char *const *v;
};

/* The document of the file, changed by what is set; absent after reporting. `estimator`
 * names a variable of the script; NULL: the last. What is left: launch_complete,
 * scenario_read, launch_place, launch_release. */
struct cfg launch_open(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_sets *sets, const char *estimator);

#endif
