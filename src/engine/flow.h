/* A fluid network: activities use directed links and share them max-min fairly.
 *
 * An activity makes progress of `size` units (bytes, usually) at a rate in units per
 * second; while it runs at rate r it takes weight * r of every link it uses (a phase of
 * a collective uses many links, each with its own weight: bytes on the link per byte of
 * progress). Rates are the max-min fair ones: raised together until a link is full or an
 * activity reaches its own cap; those that can go no further stay, the rest go on.
 *
 * Rates change only when an activity starts or ends or a capacity changes. Changes of
 * one instant are gathered and solved once. Only the connected component (links shared,
 * directly or through others) of what changed is solved again:
 * O(activities x uses x bottlenecks) of that component.
 *
 * An activity with latency starts to use its links after the latency has passed.
 * Completions are events of the sim given at init. */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "engine/sim.h"

#include <stdint.h>

struct flow_use {
    int32_t link;
    double weight; /* > 0: units on the link per unit of progress */
};

struct flow; /* one activity in the network; owned by it */

struct flow_net {
    struct sim *sim;
    /* the rest is private to flow.c; see there */
    struct flow_state *state;
};

/* Called once, at the instant the activity ends; it may start others. */
typedef void flow_done_fn(struct sim *sim, void *arg);

/* n_links links with capacity in units per second, copied; capacity 0 is a dead link
 * on which nothing moves, INFINITY never limits. */
void flow_net_init(struct flow_net *net, struct sim *sim, int32_t n_links,
                   const double *capacity);
void flow_net_release(struct flow_net *net);

/* Starts an activity of `size` >= 0 units: after latency_ps it uses its links (uses is
 * copied; a link may appear once) at no more than cap units per second (INFINITY: no
 * cap). An activity without uses and cap ends after its latency. Calls done(arg). */
struct flow *flow_start(struct flow_net *net, double size, int64_t latency_ps,
                        double cap, int32_t n_uses, const struct flow_use *uses,
                        flow_done_fn *done, void *arg);

/* Removes an activity before its end; done is not called. */
void flow_cancel(struct flow_net *net, struct flow *f);

void flow_set_capacity(struct flow_net *net, int32_t link, double capacity);

double flow_rate(const struct flow *f); /* units/s now */

/* Units that passed over a link so far, and the integral of its use over time divided
 * by capacity (busy seconds); both include running activities up to now. */
double flow_link_units(struct flow_net *net, int32_t link);
double flow_link_busy_s(struct flow_net *net, int32_t link);

/* The max-min fair rates of n activities over links, without events: the solver itself,
 * also used by closed forms and tests. starts[i]..starts[i+1] are activity i's uses;
 * rates are written to rate[]. */
void flow_solve(int32_t n_links, const double *capacity, int32_t n,
                const int32_t *starts, const struct flow_use *uses, const double *cap,
                double *rate);

#endif
