#include "memory/reserved.h"

#include "base/hash.h"
#include "base/mix.h"
#include "memory/allocator.h"

#include <stdbool.h>
#include <string.h>

enum { STEPS = 3 };

struct shelf_key {
    int64_t size_B;
    int32_t kind; /* enum ledger_kind */
    int32_t microbatch;
};

enum act { ACT_WORKSPACE, ACT_MADE, ACT_SHELVED };

/* Blocks in use of one kind, microbatch and size; the last allocated is the first
 * freed. */
struct shelf {
    struct shelf_key key;
    enum act act;
    struct allocator_ask ask;
    int64_t kept;                         /* blocks from before the step */
    int64_t gone;                         /* that were free before their release came */
    VEC(struct allocator_block *) blocks; /* but for those of workspace */
    int32_t number;                       /* from 1 */
    UT_hash_handle hh;
};

struct known_shelf {
    struct shelf_key key; /* size 0: none */
    int32_t number;
};

struct piece {
    int64_t size_B;
    struct allocator_block *block;
};

enum { RECENT_LOG2 = 7 };

struct replay {
    struct allocator *allocator;
    struct reserved_how how;
    int64_t to_keep_B; /* of the gradients that it makes: they become the sums */
    int64_t kept_B;    /* those that did */
    int64_t n_to_come; /* their releases */
    const struct ledger_event *events;
    int32_t *acts; /* [events] the shelf's number; below 0: a release; 0: none */
    struct shelf *shelves;                       /* by key */
    VEC(struct shelf *) by_number;               /* from 0 */
    struct known_shelf recent[1 << RECENT_LOG2]; /* found last, by a hash of the key */
    VEC(struct piece) workspace; /* in order of allocation, from `oldest` on in use */
    int64_t oldest;
};

/* Shelves -------------------------------------------------------------------------- */

static int64_t size_of(const struct ledger_event *e)
{
    return e->size_B > 0 ? e->size_B : -e->size_B;
}

static bool same_key(struct shelf_key x, struct shelf_key y)
{
    return x.size_B == y.size_B && x.kind == y.kind && x.microbatch == y.microbatch;
}

static enum act act_of(enum ledger_kind kind)
{
    return kind == LEDGER_WORKSPACE ? ACT_WORKSPACE
           : kind == LEDGER_MADE    ? ACT_MADE
                                    : ACT_SHELVED;
}

static struct shelf *new_shelf(struct replay *r, struct shelf_key key)
{
    struct shelf *s = xcalloc(1, sizeof(*s));
    bool gathered = key.kind == LEDGER_BUFFERS; /* FSDP's, and what it scatters */
    enum allocator_stream stream =
        r->how.streams && gathered ? ALLOCATOR_OVERLAPPED : ALLOCATOR_COMPUTE;
    s->key = key;
    s->act = act_of((enum ledger_kind)key.kind);
    s->ask = allocator_ask(r->allocator, key.size_B, stream);
    VEC_PUSH(&r->by_number, s);
    s->number = (int32_t)r->by_number.n;
    HASH_ADD(hh, r->shelves, key, sizeof(key), s);
    return s;
}

static struct shelf *find_shelf(struct replay *r, struct shelf_key key)
{
    struct shelf *s;
    HASH_FIND(hh, r->shelves, &key, sizeof(key), s);
    return s ? s : new_shelf(r, key);
}

/* Layers ask for the same shelves again and again. */
static int32_t number_of(struct replay *r, const struct ledger_event *e)
{
    const struct shelf_key key = { size_of(e), (int32_t)e->kind, e->microbatch };
    uint64_t word = (uint64_t)key.size_B + ((uint64_t)key.microbatch << 5) +
                    ((uint64_t)key.kind << 2);
    struct known_shelf *recent =
        &r->recent[word * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RECENT_LOG2)];
    if (!same_key(recent->key, key))
        *recent = (struct known_shelf) { key, find_shelf(r, key)->number };
    return recent->number;
}

static void compile(struct replay *r, int64_t n)
{
    const int unplayed = r->how.late ? LEDGER_LATE + 1 : LEDGER_LATE;
    r->acts = xmalloc(((size_t)n + 1) * sizeof(*r->acts));
    for (int64_t i = 0; i < n; i++) {
        const struct ledger_event *e = &r->events[i];
        bool none = e->size_B == 0 || (int)e->kind == unplayed;
        int32_t number = none ? 0 : number_of(r, e);
        r->acts[i] = e->size_B > 0 ? number : -number;
    }
}

/* Acts ----------------------------------------------------------------------------- */

/* Workspace dies in the order in which it was made; a release may be of several. */
static void release_workspace(struct replay *r, int64_t size_B)
{
    while (size_B > 0 && r->oldest < r->workspace.n) {
        struct piece *p = &r->workspace.v[r->oldest++];
        allocator_free(r->allocator, p->block);
        size_B -= p->size_B;
    }
}

static void clear_workspace(struct replay *r)
{
    release_workspace(r, INT64_MAX);
    r->workspace.n = r->oldest = 0;
}

/* Whether a gradient that the first step makes stays. */
static bool keeps_made(struct replay *r, const struct shelf *s)
{
    if (r->kept_B + s->key.size_B > r->to_keep_B)
        return false;
    allocator_take(r->allocator, &s->ask);
    r->kept_B += s->key.size_B;
    r->n_to_come++;
    return true;
}

static inline void take(struct replay *r, struct shelf *s)
{
    if (s->act == ACT_MADE && keeps_made(r, s))
        return;
    struct allocator_block *made = allocator_take(r->allocator, &s->ask);
    if (s->act == ACT_WORKSPACE)
        VEC_PUSH(&r->workspace, ((struct piece) { s->key.size_B, made }));
    else
        VEC_PUSH(&s->blocks,
                 made); /* now: a full GPU changes the shelves (await_gpu) */
}

static inline void release(struct replay *r, struct shelf *s)
{
    if (s->act == ACT_WORKSPACE)
        release_workspace(r, s->key.size_B);
    else if (s->act == ACT_MADE && r->n_to_come > 0)
        r->n_to_come--;
    else if (s->gone > 0)
        s->gone--;
    else if (s->blocks.n > 0)
        allocator_free(r->allocator, s->blocks.v[--s->blocks.n]);
}

static void play(struct replay *r, const int32_t *acts, int64_t n)
{
    struct shelf *const *by_number = n > 0 ? r->by_number.v - 1 : NULL;
    for (int64_t i = 0; i < n; i++)
        if (acts[i] > 0)
            take(r, by_number[acts[i]]);
        else if (acts[i] < 0)
            release(r, by_number[-acts[i]]);
}

/* The GPU is full: what it had not passed is free. */
static void await_gpu(void *replay)
{
    struct replay *r = replay;
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        for (; s->key.kind == LEDGER_LATE && s->blocks.n > 0; s->gone++)
            allocator_free(r->allocator, s->blocks.v[--s->blocks.n]);
}

/* Steps ---------------------------------------------------------------------------- */

static bool is_made_in_step(const struct replay *r, enum ledger_kind kind)
{
    return r->how.grows && (kind == LEDGER_GRADIENTS || kind == LEDGER_OPTIMIZER);
}

/* The first n events, which are those before the step; gradients that the first step
 * has kept are there. */
static void play_state(struct replay *r, int64_t n, bool made_in_step)
{
    int64_t there_B = r->kept_B;
    for (int64_t i = 0; i < n; i++) {
        const struct ledger_event *e = &r->events[i];
        bool made = e->kind == LEDGER_GRADIENTS && there_B >= e->size_B;
        if (is_made_in_step(r, e->kind) != made_in_step)
            continue;
        if (made)
            there_B -= e->size_B;
        else
            play(r, &r->acts[i], 1);
    }
}

/* Gradients before the step: what its first microbatch makes of them is kept. */
static int64_t gradients_B(const struct ledger_event *events, int64_t n)
{
    int64_t sum_B = 0;
    for (int64_t i = 0; i < n; i++)
        sum_B += events[i].kind == LEDGER_GRADIENTS ? events[i].size_B : 0;
    return sum_B;
}

/* Frees what the step has made and not freed. */
static void clear(struct replay *r)
{
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        while (s->blocks.n > s->kept)
            allocator_free(r->allocator, s->blocks.v[--s->blocks.n]);
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        s->gone = 0;
    clear_workspace(r);
}

static void play_step(struct replay *r, int64_t begin, int64_t n)
{
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        s->kept = s->blocks.n;
    play(r, &r->acts[begin], n - begin);
    clear(r);
}

static void end(struct replay *r)
{
    struct shelf *s, *next;
    HASH_ITER(hh, r->shelves, s, next)
    {
        HASH_DELETE(hh, r->shelves, s);
        VEC_RELEASE(&s->blocks);
        free(s);
    }
    VEC_RELEASE(&r->by_number);
    VEC_RELEASE(&r->workspace);
    allocator_release(r->allocator);
    free(r->acts);
}

static int64_t replay_peak_B(const struct ledger_event *events, int64_t n,
                             int64_t begin, struct reserved_how how, int64_t capacity_B,
                             bool *was_full)
{
    struct allocator allocator;
    struct replay r = { .allocator = &allocator, .events = events, .how = how };
    allocator_init(&allocator, capacity_B);
    allocator.wait = await_gpu;
    allocator.owner = &r;
    compile(&r, n);
    play_state(&r, begin, false);
    int64_t before_B = -1;
    for (int i = 0; i < STEPS && allocator.peak_B > before_B; i++) {
        before_B = i > 0 ? allocator.peak_B : -1;
        r.to_keep_B = how.grows && i == 0 ? gradients_B(events, begin) : 0;
        play_step(&r, begin, n);
        if (i == 0)
            play_state(&r, begin, true);
    }
    int64_t peak_B = allocator.peak_B;
    *was_full = allocator.was_full;
    end(&r);
    return peak_B;
}

struct replay_key {
    uint64_t v[2];
};

static struct replay_key key_of(const struct ledger *l, struct reserved_how how)
{
    uint64_t before = mix64((uint64_t)l->n_before), all = mix64((uint64_t)l->events.n);
    return (struct replay_key) {
        { mix64(l->key[0] ^ before ^ (how.grows + 2u * how.streams + 4u * how.late)) |
              1,
          mix64(l->key[1] + all) }
    };
}

static int64_t peak_B(struct reserved_memo *memo, const struct ledger *l,
                      struct reserved_how how, int64_t room_B)
{
    struct replay_key key = key_of(l, how);
    size_t at = key.v[1] >> (64 - RESERVED_KNOWN_LOG2);
    bool is_known = memcmp(memo->known[at].key, key.v, sizeof(key.v)) == 0;
    const struct reserved_replay *known = &memo->known[at];
    if (is_known && (known->full_B ? known->full_B == room_B : known->peak_B <= room_B))
        return known->peak_B;
    bool was_full;
    int64_t made_B =
        replay_peak_B(l->events.v, l->events.n, l->n_before, how, room_B, &was_full);
    memo->known[at] = (struct reserved_replay) { { key.v[0], key.v[1] },
                                                 made_B,
                                                 was_full ? room_B : 0 };
    return made_B;
}

int64_t reserved_by_stage_B(struct reserved_memo *memo, const struct ledger *l,
                            struct reserved_how how, int64_t capacity_B)
{
    int64_t unseen_B = l->peak_activations_B - l->most_recorded_B; /* in flight */
    int64_t more_B = unseen_B > 0 ? unseen_B : 0;
    int64_t held_B = peak_B(memo, l, how, capacity_B - more_B) + more_B;
    return held_B > l->peak_B ? held_B : l->peak_B;
}
