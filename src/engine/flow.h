/* A fluid network: activities use directed links and share them max-min fairly.
 *
 * An activity makes progress of `size` units (bytes, usually) at a rate in units per
 * second; while it runs at rate r it takes weight * r of every link it uses (a phase of
 * a collective uses many links, each with its own weight: bytes on the link per byte of
 * progress). Rates are the max-min fair ones: raised together until a link is full or
 * an activity reaches its own cap; those that can go no further stay, the rest go on.
 *
 * Rates change only when an activity starts or ends or a capacity changes. Changes of
 * one instant are gathered and solved once, when nothing else is left to do in it. Only
 * the connected component (links of finite capacity shared, directly or through others)
 * of what changed is solved again: O(uses x log links) of that component, maxmin.h.
 *
 * An activity with latency starts to use its links after the latency has passed. While
 * nobody else comes to its links, latency and passage are one event.
 * Completions are events of the sim given at init, at whole picoseconds rounded up.
 * Activities that are alike (same start, size, cap and share) end in the same
 * picosecond, in the order in which they were started. One that cannot end while the
 * clock counts (dead link, vanishing rate) has no event, and waits for a change. */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "base/flow_use.h"
#include "engine/sim.h"

#include <stdint.h>

struct flow; /* one activity in the network; owned by it */

struct flow_net {
    struct sim *sim;
    struct flow_state *state; /* private: flow_state.h */
};

/* Called once, at the instant the activity ends; it may start others. */
typedef void flow_done_fn(struct sim *sim, void *arg);

/* n_links links with capacity in units per second, copied; capacity 0 is a dead link
 * on which nothing moves, INFINITY never limits. */
void flow_net_init(struct flow_net *net, struct sim *sim, int32_t n_links,
                   const double *capacity);

/* Before anything uses its links: each is going to be in a network of flow_net_split. */
void flow_net_share(struct flow_net *net);

/* A network over n links of another, with a clock of its own: for activities on links
 * that no other network over them uses, until flow_net_join. Released after the other.
 * Several threads may split one. */
void flow_net_split(struct flow_net *net, struct sim *sim, const struct flow_net *of,
                    const int32_t *links, int32_t n);

/* What runs in a network over the links of this one goes on in this one, whose sim its
 * events have been moved to (sim_join); at the end of an instant. */
void flow_net_join(struct flow_net *net, struct flow_net *with);

/* Drops what still runs, without calling done. Comes before sim_release. */
void flow_net_release(struct flow_net *net);

/* Starts an activity of `size` >= 0 units: after latency_ps it uses its links (uses is
 * copied; a link may appear once) at no more than cap units per second (INFINITY: no
 * cap). An activity without size, or without uses and cap, ends after its latency. Then
 * calls done(sim, arg), never from within flow_start; the handle is gone by then. done
 * may be NULL. */
struct flow *flow_start(struct flow_net *net, double size, int64_t latency_ps,
                        double cap, int32_t n_uses, const struct flow_use *uses,
                        flow_done_fn *done, void *arg);

/* Units that passed over a link so far, and the integral of its use over time divided
 * by capacity (busy seconds); both include running activities up to now. Time on a link
 * that is dead or of infinite capacity is not busy. O(activities on the link). */
double flow_link_units(struct flow_net *net, int32_t link);
double flow_link_busy_s(struct flow_net *net, int32_t link);

bool flow_net_is_busy(const struct flow_net *net); /* some activity has not ended */

#endif
