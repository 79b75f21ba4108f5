/* The best so many candidates of a stream. Order is by value, then by digits, so that what is kept does not depend on
 * the order in which candidates come, nor on how threads share them. */
#ifndef SEARCH_PLAN_BEST_H
#define SEARCH_PLAN_BEST_H

#include "search/space/space.h"

struct candidate {
    double value;            /* less is better */
    double time_s, memory_B; /* the score */
    double least_s, least_B; /* its bounds */
    double capacity_B;
    uint16_t at[SPACE_N];
};

/* Order of candidates: by value, then by digits. */
int candidate_compare(const struct candidate *a, const struct candidate *b);

struct best { /* a heap, the worst on top */
    int32_t n, most;
    struct candidate *v; /* made when first offered something */
};

/* Keeps it where it is among the best `most`, and drops the worst then. O(log most). */
void best_offer(struct best *b, const struct candidate *c);
void best_merge(struct best *b, const struct best *other);
void best_sort(struct best *b); /* best first; no offers after it */
void best_release(struct best *b);

#endif
