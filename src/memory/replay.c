#include "memory/replay.h"

#include <string.h>

/* Shelves -------------------------------------------------------------------------- */

static bool same_key(struct shelf_key x, struct shelf_key y)
{
    return x.size_B == y.size_B && x.kind == y.kind && x.microbatch == y.microbatch;
}

static enum act act_of(enum ledger_kind kind)
{
    return kind == LEDGER_WORKSPACE                                      ? ACT_WORKSPACE
           : kind == LEDGER_MADE                                         ? ACT_MADE
           : kind == LEDGER_FORWARD_ONCE || kind == LEDGER_BACKWARD_ONCE ? ACT_ONCE
                                                                         : ACT_SHELVED;
}

static struct shelf *new_shelf(struct replay *r, struct shelf_key key)
{
    struct shelf *s = ARENA_NEW(&r->arena, struct shelf);
    bool gathered = key.kind == LEDGER_BUFFERS; /* FSDP's, and what it scatters */
    enum allocator_stream stream =
        r->how.streams && gathered ? ALLOCATOR_OVERLAPPED : ALLOCATOR_COMPUTE;
    s->key = key;
    s->act = act_of((enum ledger_kind)key.kind);
    s->ask = allocator_ask(r->allocator, key.size_B, stream);
    HASH_ADD(hh, r->shelves, key, sizeof(key), s);
    s->number = (int32_t)HASH_COUNT(r->shelves);
    return s;
}

static struct shelf *find_shelf(struct replay *r, struct shelf_key key)
{
    struct shelf *s;
    HASH_FIND(hh, r->shelves, &key, sizeof(key), s);
    return s ? s : new_shelf(r, key);
}

static uint64_t place_of(struct shelf_key key)
{
    uint64_t word = (uint64_t)key.size_B + ((uint64_t)key.microbatch << 5) +
                    ((uint64_t)key.kind << 2);
    return word * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RECENT_LOG2);
}

/* Layers ask for the same shelves again and again. */
static struct shelf *shelf_of(struct replay *r, struct shelf_key key)
{
    struct known_shelf *recent = &r->recent[place_of(key)];
    if (!same_key(recent->key, key))
        *recent = (struct known_shelf) { key, find_shelf(r, key) };
    return recent->shelf;
}

static struct shelf_key key_of(const struct ledger_event *e, int32_t microbatch)
{
    int64_t size_B = e->size_B > 0 ? e->size_B : -e->size_B;
    return (struct shelf_key) { size_B, (int32_t)e->kind, microbatch };
}

/* Acts ----------------------------------------------------------------------------- */

/* Acts of a pass, whatever its microbatch, and the keys of its shelves. */
struct pass_acts {
    const struct ledger_change *change;
    int32_t *v;
    int64_t n;
    VEC(struct shelf_key) keys;
    struct pass_acts *next;
};

struct known_number {
    struct shelf_key key;
    int32_t number;
};

static int32_t number_in(struct pass_acts *p, struct shelf_key key)
{
    for (int64_t i = 0; i < p->keys.n; i++)
        if (same_key(p->keys.v[i], key))
            return (int32_t)i + 1;
    VEC_PUSH(&p->keys, key);
    return (int32_t)p->keys.n;
}

static bool is_played(const struct replay *r, const struct ledger_event *e)
{
    return e->size_B != 0 &&
           (e->kind != LEDGER_LATE || r->how.late > RESERVED_NO_LATE) &&
           (e->kind != LEDGER_SPARE || r->how.late > RESERVED_LATE);
}

static void compile_events(struct replay *r, struct pass_acts *p,
                           const struct ledger_event *events, int64_t n)
{
    struct known_number recent[1 << RECENT_LOG2] = { 0 };
    p->v = ARENA_RAW(&r->arena, n + 1, int32_t);
    for (int64_t i = 0; i < n; i++) {
        if (!is_played(r, &events[i]))
            continue;
        struct shelf_key key = key_of(&events[i], events[i].microbatch);
        struct known_number *known = &recent[place_of(key)];
        if (!same_key(known->key, key))
            *known = (struct known_number) { key, number_in(p, key) };
        p->v[p->n++] = events[i].size_B > 0 ? known->number : -known->number;
    }
}

/* Activations of a change are the microbatch's; of own events the events say whose. */
static void add_acts(struct replay *r, const struct pass_acts *p, int32_t microbatch)
{
    struct shelf **shelves = ARENA_RAW(&r->arena, p->keys.n + 1, struct shelf *);
    for (int64_t i = 0; i < p->keys.n; i++) {
        struct shelf_key key = p->keys.v[i];
        if (p->change)
            key.microbatch = key.kind == LEDGER_ACTIVATIONS ? microbatch : 0;
        shelves[i + 1] = shelf_of(r, key);
    }
    VEC_PUSH(&r->step, ((struct acts) { p->v, p->n, shelves }));
}

static struct pass_acts *pass_of(struct replay *r, struct pass_acts **passes,
                                 const struct ledger_change *change)
{
    for (struct pass_acts *p = *passes; p; p = p->next)
        if (p->change == change)
            return p;
    struct pass_acts *p = ARENA_NEW(&r->arena, struct pass_acts);
    *p = (struct pass_acts) { .change = change, .next = *passes };
    compile_events(r, p, change->events, change->n_events);
    return *passes = p;
}

static void compile_own(struct replay *r, const struct ledger_event *events, int64_t n)
{
    struct pass_acts own = { 0 };
    compile_events(r, &own, events, n);
    add_acts(r, &own, 0);
    VEC_RELEASE(&own.keys);
}

static void compile_states(struct replay *r, const struct ledger *l)
{
    r->states = ARENA_RAW(&r->arena, l->n_before + 1, struct shelf *);
    for (int64_t i = 0; i < l->n_before; i++) {
        const struct ledger_event *e = &l->events.v[i];
        r->states[i] = is_played(r, e) ? shelf_of(r, key_of(e, e->microbatch)) : NULL;
    }
}

void replay_compile(struct replay *r, struct allocator *a, const struct ledger *l,
                    struct reserved_how how)
{
    struct pass_acts *passes = NULL;
    int64_t own = 0;
    r->allocator = a;
    r->ledger = l;
    r->how = how;
    arena_init(&r->arena);
    compile_states(r, l);
    for (int64_t i = 0; i < l->runs.n; i++) {
        const struct ledger_run *run = &l->runs.v[i];
        int64_t skipped = own < l->n_before ? l->n_before - own : 0;
        if (run->change)
            add_acts(r, pass_of(r, &passes, run->change), run->microbatch);
        else if (run->n > skipped)
            compile_own(r, &l->events.v[own + skipped], run->n - skipped);
        own += run->change ? 0 : run->n;
    }
    for (struct pass_acts *p = passes; p; p = p->next)
        VEC_RELEASE(&p->keys);
}

void replay_room(struct replay *r, int64_t n_more)
{
    int64_t n = r->in_use.end - r->in_use.oldest;
    struct piece *to = r->workspace;
    if (r->n_workspace < n + n_more) {
        r->n_workspace = 2 * (n + n_more);
        to = ARENA_RAW(&r->arena, r->n_workspace, struct piece);
    }
    if (n > 0)
        memmove(to, r->in_use.oldest, (size_t)n * sizeof(*to));
    r->workspace = to;
    r->in_use = (struct queue) { to, to + n };
}

void replay_release(struct replay *r)
{
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        VEC_RELEASE(&s->blocks);
    HASH_CLEAR(hh, r->shelves);
    VEC_RELEASE(&r->step);
    arena_release(&r->arena);
}
