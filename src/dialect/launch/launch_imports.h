/* Modules of Python that a text imports, and that are next to it. */
#ifndef DIALECT_LAUNCH_LAUNCH_IMPORTS_H
#define DIALECT_LAUNCH_LAUNCH_IMPORTS_H

#include "dialect/launch/launch.h"
#include "dialect/python/python.h"

struct launch_imports {
    const struct launch *l;
    const char *program; /* its path as it is named, or NULL: the file itself */
    int left;
    struct python_modules modules;
};

/* `m` outlives the reading that it is for. */
const struct python_modules *
launch_imports(struct launch_imports *m, const struct launch *l, const char *program);

/* The text of a program by its name: one that the source writes, or next to it; NULL. */
const char *launch_program_path(const struct launch *l, struct arena *arena,
                                const char *name);
const char *launch_program_text(const struct launch *l, struct arena *arena,
                                const char *name);

/* Whether the text starts recipes of NeMo or Megatron-Bridge. */
bool launch_is_of_recipes(const char *text);
/* Whether a command's program is at hand and does so: options of other programs may be
 * called as its own are. NULL: no. */
struct launch_context;
struct launch_command;
bool launch_starts_recipes(struct launch_context *t, const struct launch_command *c);

/* The names that a text binds, without calls, read for a job of `ranks`; 0: of so many as
 * torchrun starts. NULL: it is no Python. It is read once, and lasts as long as `l`. */
const struct python *launch_read_names(struct launch *l, const char *text,
                                       int64_t ranks);
void launch_release_names(struct launch *l);

#endif
