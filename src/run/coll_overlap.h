/* How far closed forms leave out that collectives share links: what those under way at
 * once ask of a link, against what it carries. A collective asks for its bytes on the
 * link over its duration; beyond the link's rate, it would take longer than its closed
 * form by about the share that is asked for in excess. */
#ifndef RUN_COLL_OVERLAP_H
#define RUN_COLL_OVERLAP_H

#include "cost/collective.h"

struct coll_overlap {
    double *load; /* [links] share of the rate that is asked for now; NULL: unused */
    double
        *excess_s; /* [links] beyond 1, over the durations of those that began then */
};

void coll_overlap_init(struct coll_overlap *o, const struct net *net);
void coll_overlap_release(struct coll_overlap *o);

/* A plan begins, and ends `duration_s` (> 0) later. O(uses). */
void coll_overlap_begin(struct coll_overlap *o, const struct net *net,
                        const struct coll_plan *plan, double duration_s);
void coll_overlap_end(struct coll_overlap *o, const struct net *net,
                      const struct coll_plan *plan, double duration_s);

/* The longest of all links; 0 where nothing began. O(links). */
double coll_overlap_most_s(const struct coll_overlap *o, const struct net *net);

#endif
