/* Versions of software: dotted numbers, compared number by number, so that 1.10 is
 * newer than 1.9 and 1.15 the same as 1.15.0. */
#ifndef SCENARIO_VERSIONS_H
#define SCENARIO_VERSIONS_H

#include "base/arena.h"

#include <stdbool.h>

bool version_valid(const char *v); /* "2", "1.13.1", "2.5.1+cu124" */

/* Below 0, 0 or above 0 as a is older than, the same as or newer than b. */
int version_compare(const char *a, const char *b);

/* Why a version is not known: no release that the model knows is like it ("NCCL 9.9 is
 * not known (2.4 to 2.30 are): taken for the newest of these"). `key` is its name in
 * the section "software". NULL: it is known, or the key is not. */
const char *version_unsure(struct arena *arena, const char *key, const char *v);

/* The newest of the list (oldest first, NULL ends it) that is not newer than v; NULL
 * when all are. */
const char *version_nearest(const char *const *list, const char *v);

/* Releases of SageMaker's model parallel library that data names. */
extern const char *const smp_v1_versions[], *const smp_v2_versions[];

/* The SMP v2 release in SageMaker's container for that PyTorch; of a PyTorch between
 * two, the older's. *exact says whether it is named. NULL before the first. */
const char *version_smp_v2_of(const char *pytorch, bool *exact);

#endif
