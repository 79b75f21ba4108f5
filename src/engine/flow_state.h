/* The state of a fluid network, shared by flow.c, which starts and ends activities, and
 * flow_rates.c, which finds their rates. Private to src/engine/. */
#ifndef ENGINE_FLOW_STATE_H
#define ENGINE_FLOW_STATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/flow.h"
#include "engine/maxmin.h"

/* A place of an activity on a link; those of one link are chained. */
struct member {
    struct flow *flow;
    struct member *prev, *next;
    double weight;
    int32_t link; /* its place among the links in use */
};

struct flow {
    struct sim_event event; /* end of the latency, then of the activity */
    struct flow_state *state;
    struct flow *prev, *next; /* all activities of the net */
    uint64_t id;              /* counts starts */
    double size, cap;
    double left;      /* units to go at since_ps */
    double rate;      /* since then */
    int64_t since_ps; /* last change of rate; of a whole one the end of its latency */
    double next_rate; /* found by the solver, not applied yet */
    uint64_t visit;   /* solve that came by last */
    flow_done_fn *done;
    void *arg;
    bool on_links; /* latency is over */
    bool is_whole; /* latency and passage are one event: its links are its own so far */
    bool is_alone; /* entered in this instant on links that nothing else uses; */
    bool is_new;   /* or did, and is in the state's list `alone` yet */
    int32_t n_members;
    struct member member[];
};

struct link {
    double capacity;
    double units_ended;   /* moved by activities that are gone */
    double units_counted; /* all units at the last change of capacity ... */
    double busy_s;        /* ... and the busy time until then */
    struct member *first;
    struct member *whole; /* of an activity that is whole; then there are no others */
    uint64_t visit;       /* solve that came by last */
    int32_t local;        /* its number in the component being solved */
    bool changed;
};

/* A component as the solver wants it. */
struct component {
    VEC(int32_t) links; /* visited; its order gives the local numbers */
    VEC(double) capacity, cap, rate;
    VEC(int32_t) starts;
    VEC(struct flow_use) uses;
};

/* Activities of at most so many members are made once and used again. */
enum { FLOW_POOLED = 64 };

struct flow_state {
    struct sim *sim;
    struct arena flows; /* of the pooled; ... */
    struct flow
        *spare[FLOW_POOLED + 1]; /* ... ended ones, by members, chained by next */
    struct sim_event solve;      /* last of an instant that changed something */
    int32_t n_links;
    double *capacity;       /* [n_links] */
    int32_t *slot;          /* [n_links] 1 + the place in `links`; 0: not used so far */
    VEC(struct link) links; /* those that activities have used: members name these */
    bool borrows_links;     /* and the two before, of the network that it was split
                               from, which has a place for every link then */
    struct flow *first;
    uint64_t n_started, n_solves;
    VEC(int32_t) changed;     /* places of links that something changed at */
    VEC(struct flow *) found; /* activities of the components being solved */
    VEC(struct flow *) alone; /* entered in this instant alone; is_alone: still so */
    struct component component;
    struct maxmin maxmin;
};

/* Units to go now; before its links are in use, all. */
double flow_left(const struct flow *f);

/* The rate of one that shares no link. */
double flow_alone_rate(const struct flow *f);

/* Goes on at that rate from now on; its end moves with it. */
void flow_set_rate(struct flow *f, double rate);

/* Asks for rates at the end of this instant: for all of what is connected with a link (by
 * its place), with the activity's limited links. */
void flow_ask(struct flow_state *st);
void flow_mark_link(struct flow_state *st, int32_t link);
void flow_mark_links(struct flow *f);

/* The event that gathers the changes of an instant. */
extern const struct sim_event_type flow_solve_event;

#endif
