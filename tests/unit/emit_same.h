/* Whether two scenarios are the same job to the simulator, by everything that it reads. */
#ifndef TESTS_EMIT_SAME_H
#define TESTS_EMIT_SAME_H

#include "scenario/scenario.h"

/* True only where each field of both, strings by their text, has the same bytes: time and
 * memory are then equal. False says nothing. */
bool emit_same(const struct scenario *a, const struct scenario *b);

#endif
