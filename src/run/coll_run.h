/* Runs plans of collectives at one of three fidelities: closed form, fluid phases, or
 * every message. Collectives that run at once share the links at `flow` and `chunk`;
 * `analytic` knows no contention, and counts what that leaves out (coll_overlap.h). */
#ifndef RUN_COLL_RUN_H
#define RUN_COLL_RUN_H

#include "base/vec.h"
#include "cost/collective.h"
#include "engine/flow.h"
#include "run/coll_overlap.h"

enum fidelity { FIDELITY_ANALYTIC, FIDELITY_FLOW, FIDELITY_CHUNK };

extern const struct name_value fidelity_names[];

/* What a phase is as an activity of the fluid network. */
struct coll_activity {
    const struct coll_phase *phase; /* NULL: of none */
    int32_t shift;                  /* of its links */
    double size, cap;               /* in units of the activity */
    int64_t latency_ps;
    VEC(struct flow_use) uses;
};

enum { COLL_ACTIVITIES_LOG2 = 8 }; /* at most; they begin with 2^3 */

/* Where collectives run: the links of a net as a fluid network and as servers of
 * messages. One fidelity per world; both borrow sim and net. */
struct coll_world {
    struct sim *sim;
    const struct net *net;
    enum fidelity fidelity;
    struct flow_net *flow; /* its own, or that of several worlds */
    struct flow_net own;
    const int32_t *link_of;      /* [links] number in the flow net; NULL: the same */
    struct chunk_net *chunk;     /* NULL unless the fidelity is chunk */
    struct coll_overlap overlap; /* at the analytic fidelity */
    struct coll_activity
        *known; /* [1 << known_log2] by hash of the phase; NULL: none */
    int known_log2;
    struct arena runs;      /* collectives: under way, ... */
    struct coll_run *spare; /* ... and those that have ended */
    int32_t *like; /* [links] one that acts for it throughout; NULL: each itself */
};

/* A duration at another pace, rounded up; at most as long as the clock. No call: every
 * task of a draw asks. */
static inline int64_t run_times_ps(double factor, int64_t ps)
{
    double x = factor * (double)ps;
    if (!(x < (double)SIM_LONGEST_PS))
        return SIM_LONGEST_PS;
    int64_t whole = (int64_t)x;
    return whole + ((double)whole < x);
}

void run_world_init(struct coll_world *w, struct sim *sim, const struct net *net,
                    enum fidelity fidelity);

/* The same at flow fidelity, in a fluid network that other worlds use, too: link_of
 * says which of its links each of the net's is. Both are borrowed. */
void run_world_join(struct coll_world *w, struct sim *sim, const struct net *net,
                    struct flow_net *flow, const int32_t *link_of);

/* A part of a world that is going to be in parts alone (run_world_share), with a clock of
 * its own, for plans on n links that no other part uses (flow_net_split); and that its
 * plans go on in the world, after sim_join. Not for the chunk fidelity. The parts are
 * released after the world. */
void run_world_share(struct coll_world *w);
void run_world_split(struct coll_world *part, struct sim *sim,
                     const struct coll_world *of, const int32_t *links, int32_t n);
void run_world_meet(struct coll_world *part, struct coll_world *of);

/* Everything started must have ended, or the sim must not fire any more. */
void run_world_release(struct coll_world *w);

/* Announces all plans that are going to run: links that all phases use alike become one
 * link of the fluid network each, which changes no result. At flow fidelity, before the
 * first plan starts; nothing where the phases have more than most_uses uses (it would
 * take longer than it saves). O(links log links + uses). */
void run_world_announce(struct coll_world *w, const struct coll_plan *const *plans,
                        int64_t n, int64_t most_uses);

/* After that, where nobody asks for bytes and busy times of links: those that are never
 * the first to be full, whatever runs at once, leave the fluid network, which changes no
 * time. A link is left out where each phase that uses it takes a larger share of one and
 * the same other link. O(uses). */
void run_world_drop_slack(struct coll_world *w, const struct coll_plan *const *plans,
                          int64_t n);

/* Starts a plan now; calls done(sim, arg) at its end, never from within. The plan must
 * live until then. O(uses) at flow, O(messages) over the run at chunk. */
void run_coll_start(struct coll_world *w, const struct coll_plan *plan,
                    flow_done_fn *done, void *arg);

/* The same at another pace: latencies and bytes count `factor` (> 0) times. Not for the
 * chunk fidelity, whose messages have their own. At flow fidelity on other links, too, of
 * the same capacities: their numbers are `shift` more than the plan's. */
void run_coll_start_paced(struct coll_world *w, const struct coll_plan *plan,
                          int32_t shift, double factor, flow_done_fn *done, void *arg);

/* Bytes charged to a link so far: those moved over the protocol's efficiency. At flow
 * fidelity; 0 at the others. */
double run_world_link_B(struct coll_world *w, int32_t link);

/* Busy time of a link so far: bytes over capacity. 0 at the analytic fidelity. */
double run_world_link_busy_s(struct coll_world *w, int32_t link);

/* Time that links would need beyond what closed forms give, as collectives share them:
 * of the link where it is most. 0 at the other fidelities. */
double run_world_excess_s(const struct coll_world *w);

/* Whether some transfer has not ended. */
bool run_world_is_busy(const struct coll_world *w);

#endif
