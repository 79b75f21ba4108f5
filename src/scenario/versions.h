/* Versions of software: dotted numbers, compared number by number, so that 1.10 is
 * newer than 1.9 and 1.15 the same as 1.15.0. Which releases there are: releases.h. */
#ifndef SCENARIO_VERSIONS_H
#define SCENARIO_VERSIONS_H

#include <stdbool.h>

bool version_valid(const char *v); /* "2", "1.13.1", "2.5.1+cu124" */

/* Below 0, 0 or above 0 as a is older than, the same as or newer than b. */
int version_compare(const char *a, const char *b);

/* Whether a begins as b is written: 2.7.1 is within "2" and "2.7". */
bool version_within(const char *a, const char *b);

/* The newest of the list (oldest first, NULL ends it) that is not newer than v; NULL
 * when all are. */
const char *version_nearest(const char *const *list, const char *v);

#endif
