/* Parameter servers in a step: one on each instance, keys spread by consistent hashing.
 * Parameter tensors are cut into slices of at most 4 MiB (MXNet's bound for large
 * arrays: a million elements), each a key. */
#ifndef STEP_UPDATE_SERVERS_H
#define STEP_UPDATE_SERVERS_H

#include "cost/collective.h"
#include "model/ops.h"
#include "scenario/scenario.h"

/* The parts that servers own and hold copies of. Parts are of all gradients: buckets
 * follow each other closely enough that a server's load evens out over them. */
const struct coll_library *servers_library(struct arena *arena,
                                           const struct scenario *s,
                                           const struct op_list *list);

/* What asynchronous training does to gradients, as a warning; NULL for other jobs. */
const char *servers_note(struct arena *arena, const struct scenario *s);

#endif
