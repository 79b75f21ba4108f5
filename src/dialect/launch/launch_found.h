/* Files that texts ask for by name: each is looked for and read once, since a call in a
 * loop asks for its module at each round, and each of many commands of a script for those
 * of its program. */
#ifndef DIALECT_LAUNCH_LAUNCH_FOUND_H
#define DIALECT_LAUNCH_LAUNCH_FOUND_H

#include "dialect/launch/launch.h"

struct launch_found {
    bool known;              /* what follows is: the file need not be looked for */
    const char *path, *text; /* NULL: there is none */
    struct arena *arena;     /* in which both are to be */
};

/* What is kept of `name`, as `program` (NULL: the file itself) asks for it. The caller
 * fills it in where it is not known. Beyond what is kept it is one of `arena`. */
struct launch_found *launch_found(const struct launch *l, struct arena *arena,
                                  const char *program, const char *name);

void launch_init_found(struct launch *l);
void launch_release_found(struct launch *l);

#endif
