/* Plans that differ in placement or buckets alone. They have the same kernels and hold the
 * same states, and differ by a few percent of communication at most: one of them is enough in
 * a list of choices. */
#ifndef SEARCH_PLAN_VARIANTS_H
#define SEARCH_PLAN_VARIANTS_H

#include "search/plan.h"

bool plan_variants(const struct space_point *a, const struct space_point *b);

/* How many of the first n entries are variants of none before them. O(n^2). */
int32_t plan_variants_kinds(const struct plan_entry *entries, int32_t n);

/* Keeps the first of each kind, in their order, and counts the others. O(n^2). */
void plan_variants_drop(struct plan_outcome *out);

#endif
