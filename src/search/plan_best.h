/* The best so many candidates of a stream, and how all of the stream's values are
 * spread. Order is by value, then by digits, so that what is kept does not depend on
 * the order in which candidates come, nor on how threads share them. */
#ifndef SEARCH_PLAN_BEST_H
#define SEARCH_PLAN_BEST_H

#include "search/space.h"

struct candidate {
    double value; /* less is better */
    double time_s, memory_B;
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

/* Counts of values in steps of one percent. */
enum { SPREAD_BINS = 8192 };
struct spread {
    int64_t counts[SPREAD_BINS];
};

/* Counts a value; adds counts; how many values are at most that, to a percent. */
void spread_add(struct spread *s, double value);
void spread_merge(struct spread *s, const struct spread *other);
int64_t spread_below(const struct spread *s, double value);

#endif
