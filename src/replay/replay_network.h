/* Inside replay: what collectives and messages of a trace take on a cluster. */
#ifndef REPLAY_REPLAY_NETWORK_H
#define REPLAY_REPLAY_NETWORK_H

#include "base/hash.h"
#include "cost/collective.h"
#include "hardware/net/net.h"
#include "replay/chakra_trace.h"

struct replay_time; /* of a request, once */

struct replay_network {
    const struct chakra_trace *t;
    const struct cluster *c;
    const char *nccl;
    struct net *net;
    struct arena arena;
    struct replay_time *known;
};

int replay_network_init(struct replay_network *w, const struct chakra_trace *t,
                        const struct cluster *c, const char *nccl, struct err *err);
void replay_network_release(struct replay_network *w);

/* Of a collective's or a message's node. -1 with err set. */
int replay_time_s(double *time_s, struct replay_network *w, const struct chakra_node *n,
                  struct err *err);

#endif
