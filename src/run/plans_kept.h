/* Plans of collectives on folded nets, kept from one simulation of a thread to the next.
 * Instances are compared by address: they live as long, and do not change. Plans are
 * those that plans_make makes, and good until the next job begins. */
#ifndef RUN_PLANS_KEPT_H
#define RUN_PLANS_KEPT_H

#include "run/plans.h"

struct plans_kept;

struct plans_kept *plans_kept_new(void);
void plans_kept_free(void *kept);

/* Plans are for that job from now on, on its folded net. */
void plans_kept_begin(struct plans_kept *k, const struct groups *g);

/* plans_make, or what it has made before; k NULL: nothing is kept. */
int plans_make_kept(struct plans_kept *k, const struct plans *p,
                    const struct comm *comm, int64_t rank, const struct coll_plan **out,
                    struct err *err);

#endif
