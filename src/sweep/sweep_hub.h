/* Which points the ranks of a sweep are given, whatever carries the messages.
 *
 *     todo   0 1 2 3 4 5 6 7 8 9
 *            |a a a|b b b|a a|c|     fresh points, in batches that get smaller
 *                  |c c|a  |         what b has not sent, when nothing fresh is left
 *
 * A rank that is free when all points are given out gets those that nobody has sent,
 * which another still works on or was lost with: whose record comes first counts. At most
 * HUB_COPIES ranks get a point, so that one that ends its rank does not end all. Records do
 * not depend on who makes them. */
#ifndef SWEEP_SWEEP_HUB_H
#define SWEEP_SWEEP_HUB_H

#include "sweep/sweep_run.h"

enum { HUB_COPIES = 3 };

struct hub_batch { /* what a rank was given last: places in the todo list */
    int64_t n, room;
    int64_t *at;
};

struct sweep_hub {
    struct sweep_todo todo;
    uint8_t *copies;           /* [todo.n] ranks that were given the point */
    bool *done;                /* [todo.n] its record has come */
    struct hub_batch *batches; /* [n_ranks] */
    int n_ranks;
    int64_t next, n_done;
    int64_t first; /* all before are done */
};

/* Takes over the list. n_ranks: with the one that gives out. */
void sweep_hub_init(struct sweep_hub *h, struct sweep_todo todo, int n_ranks);
void sweep_hub_release(struct sweep_hub *h);

/* The rank's next batch, at most `wanted` points; its size, 0 where it is not needed any
 * more. O(batch), and O(points) where no fresh ones are left. */
int64_t sweep_hub_give(struct sweep_hub *h, int rank, int64_t wanted);

/* The point of a rank's batch; and that its record has come: whether it is the first. */
int64_t sweep_hub_point(const struct sweep_hub *h, int rank, int64_t i);
bool sweep_hub_take(struct sweep_hub *h, int rank, int64_t i);

#endif
