/* What a scenario says of how its states are sharded beyond what a plan chooses
 * ("no_sync", "reshard_after_forward", ...): plans that shard alike keep it. */
#ifndef SEARCH_SPACE_OWN_H
#define SEARCH_SPACE_OWN_H

#include "layout/parallelism.h"
#include "search/space/space.h"

/* Reads it from a scenario's "parallelism" (NULL: there is none); `read` is the same as it
 * was read, for what it leaves open. Values live in the tree. */
void space_own_read(struct space_own *o, const json_t *parallelism,
                    const struct parallelism *read);

/* The n-th of its keys that no plan chooses, with its value; NULL: there are fewer. */
const char *space_own_key(const struct space_own *o, int32_t n, const json_t **value);

/* Puts them into a plan's "sharding", where it is of the same library and strategy, with
 * stages if the scenario has some and without if not. */
void space_own_put(const struct space *s, const struct space_point *p,
                   json_t *sharding);

#endif
