/* The event core: an integer-picosecond clock and a queue of intrusive, cancellable
 * events. It knows nothing of GPUs or models.
 *
 *     owner (a stream, a flow, ...)            struct sim
 *     +--------------------------+             +-------------------------------+
 *     | struct sim_event event --+--- slot --> | heap[slot] = {t_ps, seq, *ev} |
 *     +--------------------------+             +-------------------------------+
 *
 * The owner embeds `struct sim_event`, whose const type has a name and a `fire`. Events
 * fire in order of (time, sequence number); those of one instant fire in the order in
 * which they were scheduled, so runs are deterministic. Objects that hold events must
 * not move while an event is pending. Schedule, cancel and re-time are O(log n) in the
 * number of pending events (4-ary heap, keys stored in the heap; what the event that
 * fires schedules first takes its place).
 *
 * One sim serves one thread. Parallelism is over simulations, and over parts of one that
 * have a sim each until they meet (sim_join).
 *
 * Files of this folder:
 *     sim, watch                clock and event queue; who is notified how far a run is
 *     flow, flow_rates, maxmin  the fluid network and its max-min fair rates */
#ifndef ENGINE_SIM_H
#define ENGINE_SIM_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the clock ends, after 46 days: nothing may begin after it. A time within it
 * and a duration of at most 2^62 ps (units_ps) add up to less than 2^63 ps. */
#define SIM_LONGEST_PS (INT64_C(4000000) * 1000000000000)

struct sim;
struct sim_event;

struct sim_event_type {
    const char *name; /* for traces and debugging */
    void (*fire)(struct sim *sim, struct sim_event *ev);
};

#define SIM_LAST UINT32_MAX /* an event of sim_at_last */

struct sim_event {
    const struct sim_event_type *type;
    uint32_t slot; /* 1-based place in the heap, or SIM_LAST; 0 when not pending */
};

struct sim_heap_entry; /* {t_ps, seq, event}, private to sim.c */

struct sim {
    int64_t now_ps;   /* from 0 on; its owner may have it begin below */
    uint64_t n_fired; /* events fired so far */
    uint64_t seq;     /* of the next event scheduled */
    struct sim_heap_entry *heap;
    uint32_t n_pending, cap; /* in the heap, allocated */
    bool has_gap; /* the heap's first is the event that fires, and about to go */
    VEC(struct sim_event *) last; /* of the instant, in their order */
    void *context;                /* the owner's, for fire functions */
};

void sim_init(struct sim *sim, void *context);
void sim_release(struct sim *sim);

/* Initialises an event embedded in its owner; it is not pending. */
void sim_event_init(struct sim_event *ev, const struct sim_event_type *type);

/* Schedules a pending or idle event at t_ps >= now (a pending one is moved, and takes
 * its place after the events already scheduled for that instant). An event that fires
 * is idle again: it may schedule itself, and its owner may be freed. */
void sim_at(struct sim *sim, struct sim_event *ev, int64_t t_ps);
void sim_after(struct sim *sim, struct sim_event *ev, int64_t delay_ps);

/* Schedules an event for the instant that is now, after all others of it, also those
 * scheduled after this call: for who gathers the changes of one instant. */
void sim_at_last(struct sim *sim, struct sim_event *ev);

/* Takes a pending event out; harmless when it is not pending. */
void sim_cancel(struct sim *sim, struct sim_event *ev);
bool sim_is_pending(const struct sim_event *ev);

/* Fires events until none is left. */
void sim_run(struct sim *sim);

/* Fires at most n of them; false when none is left. */
bool sim_run_some(struct sim *sim, int64_t n);

/* Fires events until none is left, the instant in which *stop becomes true (or has been
 * before the first) is over, or n have fired: then true. */
bool sim_run_until(struct sim *sim, const bool *stop, int64_t n);

/* Moves what is pending in the sims into this one, whose clock is not later than that. Of
 * one instant those of the first sim come first; none of them may be sim_at_last's. */
void sim_join(struct sim *sim, struct sim *const *from, int32_t n);

#define SIM_OWNER(ev, type, member) ((type *)((char *)(ev)-offsetof(type, member)))

#endif
