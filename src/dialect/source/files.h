/* Files that a source names: those that it writes itself (a here-document, a notebook's
 * %%writefile), and those next to it. */
#ifndef DIALECT_SOURCE_FILES_H
#define DIALECT_SOURCE_FILES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOURCE_FILES_UP = 4 }; /* directories above the source that are looked into */

struct source_file {
    const char *name, *text;
    int64_t line; /* of the text's first, where it is a part of the source */
};

/* The last of them with that name, or with its last part; NULL: none. */
const struct source_file *source_files_find(const struct source_file *files, int64_t n,
                                            const char *name);

/* The path of a regular file by its name: next to `source`, or in one of the
 * directories above, as scripts name files from the root of their repository. Of an
 * absolute name, which is a container's, and of one below a variable ("$ROOT/a/b") the
 * longest end of two parts or more is taken; of "/workspace/train.py" the file next to the
 * source, or in its src/, code/, scripts/ or app/.
 * NULL when there is none. */
const char *source_files_next_to(struct arena *arena, const char *source,
                                 const char *name);

#endif
