/* What results rest on: the files that a loader read, by name and content.
 *
 * A file of the program's own data goes by its name below that folder, so that the same
 * content in another folder is the same; any other by the path that was given. A file
 * that may be missing is noted as such. A file that could not be read is counted: what
 * was made without it may come out otherwise at another time. */
#ifndef CONFIG_INPUTS_H
#define CONFIG_INPUTS_H

#include "base/fnv.h"
#include "base/vec.h"

#include <stdbool.h>

struct arena;

enum input_kind { INPUT_FILE, INPUT_DATA, INPUT_PROGRAM };

enum { INPUT_MISSING = 0 }; /* the hash of a file that is not there */

struct input_ref {
    enum input_kind kind;
    const char *name;
    uint64_t hash;
};

struct inputs {
    VEC(struct input_ref)
    list; /* in the order of reading; once for each name and hash */
    int64_t n_unread;
};

void inputs_release(struct inputs *in);

/* Notes a file that was read; text NULL: it is missing. The name is kept in the arena. */
void inputs_note(struct inputs *in, struct arena *arena, const char *file,
                 const char *text, size_t len);

/* The hash that an input has now; INPUT_MISSING where it cannot be read. O(size). */
uint64_t inputs_hash_now(enum input_kind kind, const char *name);

#endif
