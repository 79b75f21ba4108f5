#include "memory/reserved.h"

#include "base/mix.h"
#include "memory/allocator_inline.h"
#include "memory/replay.h"

#include <stdbool.h>
#include <string.h>

enum { STEPS = 3 };

/* Acts ----------------------------------------------------------------------------- */

/* Workspace dies in the order in which it was made; a release may be of several. */
ALLOCATOR_INLINE void release_workspace(struct allocator *a, struct queue *q,
                                        int64_t size_B)
{
    while (size_B > 0 && q->oldest < q->end) {
        const struct piece *p = q->oldest++;
        size_B -= p->size_B;
        allocator_free_inline(a, p->block);
    }
}

static void clear_workspace(struct replay *r)
{
    release_workspace(r->allocator, &r->in_use, INT64_MAX);
}

/* Whether a gradient that the first step makes stays. */
static bool keeps_made(struct replay *r, struct shelf *s)
{
    if (r->kept_B + s->key.size_B > r->to_keep_B)
        return false;
    allocator_take(r->allocator, &s->ask);
    r->kept_B += s->key.size_B;
    r->n_to_come++;
    return true;
}

/* A segment was made. Had it been there from the step's begin on, takes before it that
 * cut a larger block would have cut it instead. */
static void note_segment(void *replay, const struct allocator_pool *pool,
                         int64_t size_B)
{
    struct replay *r = replay;
    r->would_differ |= r->how.expandable; /* the last block is longer then */
    for (const struct shelf *s = r->shelves; s && !r->would_differ; s = s->hh.next)
        r->would_differ =
            s->ask.pool == pool && s->ask.size_B <= size_B && size_B < s->ask.most_B;
}

/* Whether a take is none: of a gradient that stays, of what is there once. */
static bool is_there(struct replay *r, struct shelf *s)
{
    return s->act == ACT_MADE ? keeps_made(r, s)
                              : s->act == ACT_ONCE && s->blocks.n > 0;
}

static inline void take(struct replay *r, struct allocator *a, struct queue *q,
                        struct shelf *s)
{
    if (s->act > ACT_SHELVED && is_there(r, s))
        return;
    struct allocator_block *made = allocator_take_inline(a, &s->ask);
    if (s->act == ACT_WORKSPACE)
        *q->end++ = (struct piece) { s->key.size_B, made };
    else
        VEC_PUSH(&s->blocks,
                 made); /* now: a full GPU changes the shelves (await_gpu) */
}

static inline void release(struct replay *r, struct allocator *a, struct queue *q,
                           struct shelf *s)
{
    if (s->act == ACT_WORKSPACE)
        release_workspace(a, q, s->key.size_B);
    else if (s->act == ACT_MADE && r->n_to_come > 0)
        r->n_to_come--;
    else if (s->gone > 0)
        s->gone--;
    else if (s->blocks.n > 0)
        allocator_free_inline(a, s->blocks.v[--s->blocks.n]);
}

static void play(struct replay *r, const struct acts *acts)
{
    struct shelf *const *shelves = acts->shelves;
    struct allocator *a = r->allocator;
    replay_room(r, acts->n);
    struct queue q = r->in_use; /* no other act changes it */
    for (const int32_t *act = acts->v, *end = act + acts->n; act < end; act++)
        if (*act > 0)
            take(r, a, &q, shelves[*act]);
        else
            release(r, a, &q, shelves[-*act]);
    r->in_use = q;
}

/* The GPU is full: what it had not passed is free. */
static void await_gpu(void *replay)
{
    struct replay *r = replay;
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        for (; (s->key.kind == LEDGER_LATE || s->key.kind == LEDGER_SPARE) &&
               s->blocks.n > 0;
             s->gone++)
            allocator_free(r->allocator, s->blocks.v[--s->blocks.n]);
}

/* Steps ---------------------------------------------------------------------------- */

static bool is_made_in_step(const struct replay *r, enum ledger_kind kind)
{
    return r->how.grows &&
           ((kind == LEDGER_GRADIENTS && !r->how.flat) || kind == LEDGER_OPTIMIZER);
}

/* The events before the step; gradients that the first step has kept are there. */
static void play_state(struct replay *r, bool made_in_step)
{
    static const int32_t taken = 1, released = -1; /* of the first shelf */
    int64_t there_B = r->kept_B;
    for (int64_t i = 0; i < r->ledger->n_before; i++) {
        const struct ledger_event *e = &r->ledger->events.v[i];
        bool made = e->kind == LEDGER_GRADIENTS && there_B >= e->size_B;
        if (!r->states[i] || is_made_in_step(r, e->kind) != made_in_step)
            continue;
        if (made)
            there_B -= e->size_B;
        else
            play(r, &(struct acts) { e->size_B > 0 ? &taken : &released, 1,
                                     (struct shelf *[]) { NULL, r->states[i] } });
    }
}

/* Gradients before the step: what its first microbatch makes of them is kept. */
static int64_t gradients_B(const struct ledger *l)
{
    int64_t sum_B = 0;
    for (int64_t i = 0; i < l->n_before; i++) {
        const struct ledger_event *e = &l->events.v[i];
        sum_B += e->kind == LEDGER_GRADIENTS ? e->size_B : 0;
    }
    return sum_B;
}

/* Frees what the step has made and not freed. */
static void clear(struct replay *r)
{
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        while (s->act != ACT_ONCE && s->blocks.n > s->kept)
            allocator_free(r->allocator, s->blocks.v[--s->blocks.n]);
    for (struct shelf *s = r->shelves; s; s = s->hh.next)
        s->gone = 0;
    clear_workspace(r);
}

/* Where the blocks of the shelves lie. */
static uint64_t layout_of(const struct replay *r)
{
    uint64_t key = 0;
    for (const struct shelf *s = r->shelves; s; s = s->hh.next)
        for (int64_t i = 0; i < s->blocks.n; i++) {
            struct allocator_place at = allocator_place(s->blocks.v[i]);
            key = mix64(key ^ (uint64_t)at.address) + (uint64_t)at.size_B;
            key = mix64(key + (uint64_t)s->number);
        }
    return key;
}

/* Whether one more step would take no segment. It begins as this one did, but for the
 * segments that this one has made, which lie free as a whole. Where no earlier take
 * prefers one of them (note_segment; of equal blocks the lower address is taken, and
 * theirs are the highest), it takes what this one has taken up to the first, then finds
 * that in place of making it, and so on to the end. False where nobody asks. */
static bool play_step(struct replay *r, bool asks)
{
    uint64_t before = asks ? layout_of(r) : 0;
    bool settled = asks && r->n_to_come == 0 && r->to_keep_B == 0;
    for (struct shelf *s = r->shelves; s; s = s->hh.next) {
        s->kept = s->blocks.n;
        s->ask.most_B = 0;
    }
    r->would_differ = !asks;
    for (int64_t i = 0; i < r->step.n; i++)
        play(r, &r->step.v[i]);
    clear(r);
    return settled && !r->would_differ && !r->allocator->was_full &&
           layout_of(r) == before;
}

static struct reserved replay_peak(const struct ledger *l, struct reserved_how how,
                                   int64_t capacity_B, bool *was_full)
{
    struct allocator allocator;
    struct replay r = { .would_differ = true }; /* nobody asks before a step */
    allocator_init(&allocator, capacity_B, how.expandable);
    allocator.wait = how.late == RESERVED_LATE ? NULL : await_gpu;
    allocator.made = note_segment;
    allocator.owner = &r;
    replay_compile(&r, &allocator, l, how);
    play_state(&r, false);
    int64_t before_B = -1;
    bool settled = false;
    for (int i = 0; i < STEPS && !settled && allocator.peak_B > before_B; i++) {
        before_B = i > 0 ? allocator.peak_B : -1;
        r.to_keep_B = how.grows && !how.flat && i == 0 ? gradients_B(l) : 0;
        settled = play_step(&r, i + 1 < STEPS && (i > 0 || !how.grows));
        if (i == 0)
            play_state(&r, true);
    }
    struct reserved held = { allocator.peak_B, allocator.used_B };
    *was_full = allocator.was_full;
    replay_release(&r);
    allocator_release(&allocator);
    return held;
}

struct reserved_memo *reserved_memo_new(struct arena *arena, int32_t log2)
{
    struct reserved_memo *memo = ARENA_NEW(arena, struct reserved_memo);
    *memo = (struct reserved_memo) {
        ARENA_ARRAY(arena, (int64_t)1 << log2, struct reserved_replay), log2
    };
    return memo;
}

struct replay_key {
    uint64_t v[2];
};

static struct replay_key key_of(const struct ledger *l, struct reserved_how how)
{
    uint64_t before = mix64((uint64_t)l->n_before), all = mix64((uint64_t)l->n_events);
    return (struct replay_key) { { mix64(l->key[0] ^ before ^
                                         (how.grows + 2u * how.streams +
                                          4u * how.expandable + 8u * how.flat +
                                          16u * how.late)) |
                                       1,
                                   mix64(l->key[1] + all) } };
}

static struct reserved held_of(struct reserved_memo *memo, const struct ledger *l,
                               struct reserved_how how, int64_t room_B)
{
    struct replay_key key = key_of(l, how);
    size_t at = memo->log2 ? key.v[1] >> (64 - memo->log2) : 0;
    bool is_known = memcmp(memo->known[at].key, key.v, sizeof(key.v)) == 0;
    const struct reserved_replay *known = &memo->known[at];
    if (is_known &&
        (known->full_B ? known->full_B == room_B : known->held.peak_B <= room_B))
        return known->held;
    bool was_full;
    struct reserved made = replay_peak(l, how, room_B, &was_full);
    memo->known[at] = (struct reserved_replay) { { key.v[0], key.v[1] },
                                                 made,
                                                 was_full ? room_B : 0 };
    return made;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct reserved reserved_by_stage(struct reserved_memo *memo, const struct ledger *l,
                                  struct reserved_how how, int64_t capacity_B)
{
    int64_t unseen_B = l->peak_activations_B - l->most_recorded_B; /* in flight */
    int64_t more_B = unseen_B > 0 ? unseen_B : 0;
    struct reserved held = held_of(memo, l, how, capacity_B - more_B);
    held.peak_B = larger(held.peak_B + more_B, l->peak_B);
    held.needed_B = larger(held.needed_B + more_B, l->peak_B);
    return held;
}
