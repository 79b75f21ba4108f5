/* Plans of collectives for the group that a rank is in: its own links, with the load
 * and the terms of the groups that run at the same time in lock step.
 *
 * In a folded net the one group that is simulated carries the traffic of all groups at
 * the same time. Unfolded each group carries its own, and they meet on the links; what
 * a plan charges for sharing (store-and-forward) is that of all together, so both give
 * the same times. */
#ifndef RUN_PLANS_H
#define RUN_PLANS_H

#include "run/groups.h"

/* Plans of all groups in lock step together, which each of them asks for. */
struct plans_joint;
struct plans_memo {
    VEC(struct plans_joint *) known; /* in the arena of the plans; the list is owned */
};

/* What plans are made of and for. */
struct plans {
    struct arena *arena;
    const struct net *net;
    const struct groups *groups;
    struct plans_memo *memo;       /* NULL: none */
    struct coll_rings_memo *rings; /* NULL: none */
};

/* Whether two comms of a scenario ask for the same. */
bool plans_same_request(const struct comm *a, const struct comm *b);

/* Plans the request of `comm` (its plan is not looked at) for the group of `rank`. */
int plans_make(const struct plans *p, const struct comm *comm, int64_t rank,
               const struct coll_plan **out, struct err *err);

/* A communicator that uses only that share of a node's NICs: what it sends loads each
 * of them the more. */
void plans_share_nics(const struct net *net, struct coll_plan *plan, double frac);

#endif
