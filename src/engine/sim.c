#include "engine/sim.h"

#include "base/xmalloc.h"

#include <assert.h>
#include <stdlib.h>

/* The heap is an array: the children of place i are 4i+1 .. 4i+4. Keys are in it, so
 * that comparing never leaves it; an event is touched only to note its new slot. */
struct sim_heap_entry {
    int64_t t_ps;
    uint64_t seq;
    struct sim_event *event;
};

enum { ARITY = 4, FIRST_CAP = 64 };

void sim_init(struct sim *sim, void *context)
{
    *sim = (struct sim) { .context = context };
}

void sim_release(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->n_pending; i++)
        sim->heap[i].event->slot = 0;
    for (int64_t i = 0; i < sim->last.n; i++)
        sim->last.v[i]->slot = 0;
    VEC_RELEASE(&sim->last);
    free(sim->heap);
    *sim = (struct sim) { 0 };
}

void sim_event_init(struct sim_event *ev, const struct sim_event_type *type)
{
    ev->type = type;
    ev->slot = 0;
}

/* (time, sequence) as one number: which of two entries is earlier cannot be predicted,
 * and this way it is compared without a branch. Times below 0 come first. */
static inline unsigned __int128 key_of(const struct sim_heap_entry *e)
{
    return (unsigned __int128)((uint64_t)e->t_ps ^ (UINT64_C(1) << 63)) << 64 | e->seq;
}

static inline bool earlier(const struct sim_heap_entry *a,
                           const struct sim_heap_entry *b)
{
    return key_of(a) < key_of(b);
}

static inline void put(struct sim_heap_entry *heap, uint32_t place,
                       const struct sim_heap_entry *entry)
{
    heap[place] = *entry;
    entry->event->slot = place + 1;
}

/* Moves the gap at `place` up to where the entry belongs, and puts it there. */
static inline void sift_up(struct sim_heap_entry *heap, uint32_t place,
                           struct sim_heap_entry entry)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / ARITY;
        if (!earlier(&entry, &heap[parent]))
            break;
        put(heap, place, &heap[parent]);
        place = parent;
    }
    put(heap, place, &entry);
}

/* The earliest of the children first .. first+3, all of which are there. */
static inline uint32_t earliest_of_four(const struct sim_heap_entry *heap,
                                        uint32_t first)
{
    uint32_t a = first + earlier(&heap[first + 1], &heap[first]);
    uint32_t b = first + 2 + earlier(&heap[first + 3], &heap[first + 2]);
    return earlier(&heap[b], &heap[a]) ? b : a;
}

/* Moves the gap at `place` down to where the entry belongs, and puts it there. */
static inline void sift_down(struct sim_heap_entry *heap, uint32_t n, uint32_t place,
                             struct sim_heap_entry entry)
{
    for (;;) {
        uint32_t first = place * ARITY + 1;
        if (first >= n)
            break;
        uint32_t best = first;
        if (first + ARITY <= n)
            best = earliest_of_four(heap, first);
        else
            for (uint32_t i = first + 1; i < n; i++)
                best = earlier(&heap[i], &heap[best]) ? i : best;
        if (!earlier(&heap[best], &entry))
            break;
        put(heap, place, &heap[best]);
        place = best;
    }
    put(heap, place, &entry);
}

/* Puts an entry where another was taken out or had an older key. */
static inline void sift(struct sim *sim, uint32_t place, struct sim_heap_entry entry)
{
    if (place > 0 && earlier(&entry, &sim->heap[(place - 1) / ARITY]))
        sift_up(sim->heap, place, entry);
    else
        sift_down(sim->heap, sim->n_pending, place, entry);
}

/* The place of the event that fires goes to the last entry. */
static void close_gap(struct sim *sim)
{
    if (!sim->has_gap)
        return;
    sim->has_gap = false;
    if (--sim->n_pending > 0)
        sift_down(sim->heap, sim->n_pending, 0, sim->heap[sim->n_pending]);
}

static void grow(struct sim *sim)
{
    assert(sim->cap < UINT32_MAX / (2 * ARITY));
    sim->cap = sim->cap ? 2 * sim->cap : FIRST_CAP;
    sim->heap = xrealloc(sim->heap, sim->cap, sizeof(*sim->heap));
}

void sim_at(struct sim *sim, struct sim_event *ev, int64_t t_ps)
{
    assert(t_ps >= sim->now_ps && ev->slot != SIM_LAST);
    struct sim_heap_entry entry = { t_ps, sim->seq++, ev };
    if (ev->slot) {
        close_gap(sim);
        sift(sim, ev->slot - 1, entry);
    } else if (sim->has_gap) {
        sim->has_gap = false;
        sift_down(sim->heap, sim->n_pending, 0, entry);
    } else {
        if (sim->n_pending == sim->cap)
            grow(sim);
        sift_up(sim->heap, sim->n_pending++, entry);
    }
}

void sim_at_last(struct sim *sim, struct sim_event *ev)
{
    sim_cancel(sim, ev);
    ev->slot = SIM_LAST;
    VEC_PUSH(&sim->last, ev);
}

void sim_after(struct sim *sim, struct sim_event *ev, int64_t delay_ps)
{
    assert(delay_ps >= 0 && (sim->now_ps < 0 || delay_ps <= INT64_MAX - sim->now_ps));
    sim_at(sim, ev, sim->now_ps + delay_ps);
}

static void cancel_last(struct sim *sim, struct sim_event *ev)
{
    int64_t at = 0;
    while (sim->last.v[at] != ev)
        at++;
    ev->slot = 0;
    for (sim->last.n--; at < sim->last.n; at++)
        sim->last.v[at] = sim->last.v[at + 1];
}

void sim_cancel(struct sim *sim, struct sim_event *ev)
{
    if (!ev->slot)
        return;
    if (ev->slot == SIM_LAST) {
        cancel_last(sim, ev);
        return;
    }
    close_gap(sim);
    uint32_t place = ev->slot - 1;
    ev->slot = 0;
    sim->n_pending--;
    if (place < sim->n_pending)
        sift(sim, place, sim->heap[sim->n_pending]);
}

bool sim_is_pending(const struct sim_event *ev)
{
    return ev->slot != 0;
}

/* Fires the next event, if there is any. */
static inline bool fire_next(struct sim *sim)
{
    struct sim_event *ev;
    if (sim->last.n > 0 && (sim->n_pending == 0 || sim->heap[0].t_ps > sim->now_ps)) {
        ev = sim->last.v[0];
        cancel_last(sim, ev);
    } else if (sim->n_pending > 0) {
        ev = sim->heap[0].event;
        sim->now_ps = sim->heap[0].t_ps;
        sim->has_gap = true;
        ev->slot = 0;
    } else {
        return false;
    }
    sim->n_fired++;
    ev->type->fire(sim, ev);
    close_gap(sim);
    return true;
}

static bool is_in_instant(const struct sim *sim)
{
    return sim->last.n > 0 || (sim->n_pending > 0 && sim->heap[0].t_ps == sim->now_ps);
}

void sim_run(struct sim *sim)
{
    while (fire_next(sim)) {
    }
}

bool sim_run_until(struct sim *sim, const bool *stop, int64_t n)
{
    bool any = true;
    for (; n > 0 && any && !*stop; n--)
        any = fire_next(sim);
    if (n == 0)
        return true;
    while (is_in_instant(sim))
        fire_next(sim);
    return false;
}

/* By time, then by sim: `seq` is the place in the list of all. */
static int by_time(const void *a, const void *b)
{
    const struct sim_heap_entry *x = a, *y = b;
    return earlier(x, y) ? -1 : earlier(y, x);
}

static int by_seq(const void *a, const void *b)
{
    const struct sim_heap_entry *x = a, *y = b;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void sim_join(struct sim *sim, struct sim *const *from, int32_t n)
{
    uint64_t count = 0, at = 0;
    for (int32_t i = 0; i < n; i++)
        count += from[i]->n_pending;
    struct sim_heap_entry *all = xcalloc(count, sizeof(*all));
    for (int32_t i = 0; i < n; i++) {
        struct sim *s = from[i];
        assert(s->last.n == 0);
        if (s->n_pending > 0)
            qsort(s->heap, s->n_pending, sizeof(*s->heap), by_seq);
        for (uint32_t k = 0; k < s->n_pending; k++, at++) {
            all[at] = (struct sim_heap_entry) { s->heap[k].t_ps, at, s->heap[k].event };
            all[at].event->slot = 0;
        }
        s->n_pending = 0;
    }
    if (count > 0)
        qsort(all, count, sizeof(*all), by_time);
    for (uint64_t k = 0; k < count; k++)
        sim_at(sim, all[k].event, all[k].t_ps);
    free(all);
}

bool sim_run_some(struct sim *sim, int64_t n)
{
    for (; n > 0 && fire_next(sim); n--) {
    }
    return sim->n_pending > 0 || sim->last.n > 0;
}
