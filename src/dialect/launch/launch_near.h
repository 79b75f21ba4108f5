/* Files near a program that start it. */
#ifndef DIALECT_LAUNCH_LAUNCH_NEAR_H
#define DIALECT_LAUNCH_LAUNCH_NEAR_H

#include "dialect/launch/launch.h"

/* Up to three scripts, notebooks and estimators that name a program of Python as what they
 * start, the nearest first, as words of a shell: "run.sh ../train.ipynb". Looked into are
 * its folder, the two above it, and folders in the first two. NULL: there is none. */
const char *launch_starters_near(const struct launch *l);

#endif
