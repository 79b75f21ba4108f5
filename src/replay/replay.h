/* Traces of all ranks on another cluster: nodes that compute take the time that the trace
 * says, collectives and messages what the cluster's network gives them.
 *
 *   start(node)       = the latest end of what it follows
 *   end(compute)      = start + its time
 *   end(collective)   = the latest start of its group's ranks + plan's time
 *   end(send, recv)   = the later start of both + the message's time
 *
 * Rank r is on instance r / GPUs of an instance. Groups of as many ranks that are apart as
 * far run their collectives at the same time, as parallel degrees do: they share NICs.
 * Otherwise a collective has the network to itself (closed forms, no contention with
 * others). */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "hardware/cluster.h"
#include "replay/chakra_trace.h"

struct replay_result {
    double step_s;
    int64_t rank; /* the last to end, the lowest such; the rest is of it */
    double compute_s, communication_s, exposed_s, waiting_s;
    int64_t n_collectives, n_messages; /* of all ranks together; a collective once */
    double collective_s;               /* sum of their times */
};

/* -1 with err set: other numbers of ranks, a group that is not spread evenly over
 * instances, ranks that wait for each other for ever. O(nodes + dependencies). */
int replay_run(struct replay_result *r, const struct chakra_trace *t,
               const struct cluster *c, const char *nccl, struct err *err);

#endif
