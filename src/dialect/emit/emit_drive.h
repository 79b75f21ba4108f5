/* Shared by the drive of the writers and its parts: sets, comparison, header. */
#ifndef DIALECT_EMIT_EMIT_DRIVE_H
#define DIALECT_EMIT_EMIT_DRIVE_H

#include "dialect/emit/emit_parts.h"
#include "dialect/launch/launch.h"

struct emit_drive {
    const struct dialect_emit *w;
    const struct scenario *s;
    struct cfg root; /* as it was read */
    struct arena *arena;
    struct cfg_loader *files; /* lends what it makes of files to each reading back */
    struct emitted *out;
};

/* The text, read back with the sets. */
struct emit_back {
    struct cfg_loader loader;
    struct launch launch;
    struct cfg root;
    struct scenario s;
};

/* Adds or replaces a set; the value is borrowed. Null takes a value out. */
void emit_set(struct emit_drive *d, const char *pointer, const json_t *value);
void emit_set_null(struct emit_drive *d, const char *pointer);
/* The set of that pointer; NULL: there is none. */
struct emit_set *emit_find(const struct emit_drive *d, const char *pointer);
/* A value of the scenario's own: as it was written, or as it was decided; false: it has
 * none. */
bool emit_set_own(struct emit_drive *d, const char *pointer);
/* What lies around the step and `got`, the text as it was read, lacks: cluster,
 * software, storage, job. */
void emit_set_sections(struct emit_drive *d, json_t *got);

/* Whether no field differs. */
bool emit_agrees(const struct emit_drive *d, const struct emit_back *b);
/* Fields that differ are given by sets, and counted; -1: one cannot be. `try` counts
 * from 0: first as it was written, then as it was decided. */
int emit_compare(struct emit_drive *d, const struct emit_back *b, int try, int *differ,
                 struct err *err);

/* Puts what reading needs in addition to the text before it, after its first line. */
void emit_header(struct emitted *e, const struct dialect_emit *how);

#endif
