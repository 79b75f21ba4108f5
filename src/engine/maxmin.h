/* The max-min fair solver with its memory, which grows to the largest problem and is
 * used again: a fluid network solves many small problems. flow_solve() of flow.h is the
 * same with memory of its own.
 *
 * Progressive filling. All activities rise together; each takes weight * level of its
 * links. Link l is full at
 *
 *     level[l] = (capacity[l] - sum over settled of weight * rate)
 *                / (sum over rising of weight)
 *
 * The lowest link settles those that rise on it, the lowest cap settles its activity,
 * until none rises. Settling never lowers the level of another link, so the heap of
 * links needs no decrease: an outdated level is found when it comes to the top. Cost:
 * O(uses x log links + activities x log activities).
 *
 * Levels within MAXMIN_TIE of each other are one level, so that activities that are
 * equal by symmetry get equal rates to the last bit, whatever the order of the sums. */
#ifndef ENGINE_MAXMIN_H
#define ENGINE_MAXMIN_H

#include "engine/flow.h"

#include <stdbool.h>
#include <stdint.h>

#define MAXMIN_TIE 1e-12 /* relative; rounding is below it up to thousands of terms */

struct maxmin {
    struct maxmin_link *link;     /* [n_links] */
    struct maxmin_member *member; /* [n_uses] by link: who uses it, with what weight */
    struct maxmin_level *heap;    /* [n_heap] links that can still fill, lowest first */
    struct maxmin_level *caps;    /* [n_caps] finite caps, lowest first */
    bool *rising;                 /* [n] not settled yet */
    int32_t n_heap, n_caps;
    int32_t max_links, max_members, max_activities; /* allocated */
};

/* Zero-initialised is ready for use. */
void maxmin_release(struct maxmin *mm);

/* The max-min fair rates of n activities over links, without events. starts[i] ..
 * starts[i+1]-1 are activity i's uses (starts has n+1 entries, the first is 0); rates are
 * written to rate[]. Infinite capacities and caps are allowed; an activity that nothing
 * limits gets INFINITY. */
void maxmin_solve(struct maxmin *mm, int32_t n_links, const double *capacity, int32_t n,
                  const int32_t *starts, const struct flow_use *uses, const double *cap,
                  double *rate);

#endif
