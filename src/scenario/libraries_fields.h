/* What the rows of libraries say of a scenario's fields, for the pages that explain them:
 * which libraries have what a field sets, and their defaults. */
#ifndef SCENARIO_LIBRARIES_FIELDS_H
#define SCENARIO_LIBRARIES_FIELDS_H

#include "base/arena.h"

/* The libraries that have what the field at a pointer sets ("megatron, deepspeed"), as
 * /parallelism/library names them; NULL: all have it, or no row says. */
const char *library_field_owners(struct arena *arena, const char *pointer);

/* Their defaults ("25MiB (ddp, smp-v1); 32MiB (smddp)"), the libraries without one left
 * out; NULL: no row has any. */
const char *library_field_defaults(struct arena *arena, const char *pointer);

#endif
