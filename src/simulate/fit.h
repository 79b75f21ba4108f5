/* What would make a job fit that does not: switches of the scenario, each simulated. */
#ifndef SIMULATE_FIT_H
#define SIMULATE_FIT_H

#include "simulate/simulate.h"

/* Tries the switches that the scenario's library has (kernel of attention, recomputation,
 * sharding, the largest micro-batch that fits; then what helped most together with the
 * others) and fills r->memory.remedies with those that fit, the fastest first. A smaller
 * micro-batch is searched by halves among its divisors; all else is one folded step each,
 * fourteen at most. Nothing is where r fits already. Changes that a rule refuses are left
 * out. `root` is the tree that s was read from; texts live in the arena. */
void simulate_remedies(struct simulate_result *r, struct arena *arena,
                       const struct scenario *s, const json_t *root);

#endif
