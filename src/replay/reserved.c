#include "replay/reserved.h"

#include "replay/allocator.h"

#include <stdbool.h>
#include <string.h>

enum { STEPS = 3 };

/* Blocks in use of one kind, microbatch and size; the last allocated is the first freed. */
struct shelf {
    int64_t size_B;
    enum ledger_kind kind;
    int32_t microbatch;
    VEC(struct allocator_block *) blocks;
};

struct piece {
    int64_t size_B;
    struct allocator_block *block;
};

struct replay {
    struct allocator allocator;
    bool grows; /* states are made in the first step */
    VEC(struct shelf) shelves;
    VEC(struct piece) workspace; /* in order of allocation, from `oldest` on in use */
    int64_t oldest;
};

static struct shelf *shelf_of(struct replay *r, struct ledger_event e)
{
    int64_t size_B = e.size_B > 0 ? e.size_B : -e.size_B;
    for (int64_t i = 0; i < r->shelves.n; i++) {
        struct shelf *s = &r->shelves.v[i];
        if (s->size_B == size_B && s->kind == e.kind && s->microbatch == e.microbatch)
            return s;
    }
    VEC_PUSH(&r->shelves,
             ((struct shelf) {
                 .size_B = size_B, .kind = e.kind, .microbatch = e.microbatch }));
    return &r->shelves.v[r->shelves.n - 1];
}

/* Workspace dies in the order in which it was made; a release may be of several. */
static void play_workspace(struct replay *r, int64_t size_B)
{
    if (size_B > 0)
        VEC_PUSH(&r->workspace,
                 ((struct piece) { size_B, allocator_alloc(&r->allocator, size_B) }));
    while (size_B < 0 && r->oldest < r->workspace.n) {
        struct piece *p = &r->workspace.v[r->oldest++];
        allocator_free(&r->allocator, p->block);
        size_B += p->size_B;
    }
}

static void clear_workspace(struct replay *r)
{
    play_workspace(r, INT64_MIN);
    r->workspace.n = r->oldest = 0;
}

static void play(struct replay *r, struct ledger_event e)
{
    if (e.size_B == 0)
        return;
    if (e.kind == LEDGER_WORKSPACE) {
        play_workspace(r, e.size_B);
        return;
    }
    struct shelf *s = shelf_of(r, e);
    if (e.size_B > 0)
        VEC_PUSH(&s->blocks, allocator_alloc(&r->allocator, e.size_B));
    else if (s->blocks.n > 0)
        allocator_free(&r->allocator, s->blocks.v[--s->blocks.n]);
}

static bool is_made_in_step(const struct replay *r, enum ledger_kind kind)
{
    return r->grows && (kind == LEDGER_GRADIENTS || kind == LEDGER_OPTIMIZER);
}

/* Frees blocks of the kind until `keep` of each shelf are left: those from before. */
static void clear(struct replay *r, const int64_t *keep, int64_t n_keep)
{
    for (int64_t i = 0; i < r->shelves.n; i++) {
        struct shelf *s = &r->shelves.v[i];
        int64_t kept = i < n_keep ? keep[i] : 0;
        while (s->blocks.n > kept)
            allocator_free(&r->allocator, s->blocks.v[--s->blocks.n]);
    }
}

static void play_state(struct replay *r, const struct ledger_event *events, int64_t n,
                       bool made_in_step)
{
    for (int64_t i = 0; i < n; i++)
        if (is_made_in_step(r, events[i].kind) == made_in_step)
            play(r, events[i]);
}

static void play_step(struct replay *r, const struct ledger_event *events, int64_t n)
{
    int64_t n_keep = r->shelves.n;
    int64_t *keep = xcalloc((size_t)n_keep + 1, sizeof(*keep));
    for (int64_t i = 0; i < n_keep; i++)
        keep[i] = r->shelves.v[i].blocks.n;
    for (int64_t i = 0; i < n; i++)
        play(r, events[i]);
    clear(r, keep, n_keep);
    clear_workspace(r);
    free(keep);
}

static int64_t replay_peak_B(const struct ledger_event *events, int64_t n,
                             int64_t begin, bool grows, int64_t capacity_B,
                             bool *was_full)
{
    struct replay r = { .grows = grows };
    allocator_init(&r.allocator, capacity_B);
    play_state(&r, events, begin, false);
    int64_t before_B = -1;
    for (int i = 0; i < STEPS && r.allocator.peak_B > before_B; i++) {
        before_B = i > 0 ? r.allocator.peak_B : -1;
        play_step(&r, events + begin, n - begin);
        if (i == 0)
            play_state(&r, events, begin, true);
    }
    int64_t peak_B = r.allocator.peak_B;
    *was_full = r.allocator.was_full;
    clear(&r, NULL, 0);
    for (int64_t i = 0; i < r.shelves.n; i++)
        VEC_RELEASE(&r.shelves.v[i].blocks);
    VEC_RELEASE(&r.shelves);
    VEC_RELEASE(&r.workspace);
    allocator_release(&r.allocator);
    return peak_B;
}

int64_t reserved_peak_B(const struct ledger_event *events, int64_t n, int64_t begin,
                        bool grows, int64_t capacity_B)
{
    bool was_full;
    return replay_peak_B(events, n, begin, grows, capacity_B, &was_full);
}

/* Activations of microbatches in flight whose events were not recorded. */
static int64_t unseen_B(const struct ledger *l)
{
    int64_t live_B = 0, most_B = 0;
    for (int64_t i = 0; i < l->events.n; i++) {
        live_B += l->events.v[i].kind == LEDGER_ACTIVATIONS ? l->events.v[i].size_B : 0;
        most_B = live_B > most_B ? live_B : most_B;
    }
    return l->peak_activations_B > most_B ? l->peak_activations_B - most_B : 0;
}

static bool same_events(const struct ledger *a, const struct ledger *b)
{
    return a->n_before == b->n_before && a->events.n == b->events.n &&
           (a->events.n == 0 ||
            memcmp(a->events.v, b->events.v,
                   (size_t)a->events.n * sizeof(*a->events.v)) == 0);
}

int64_t reserved_by_stage_B(struct reserved_last *last, const struct ledger *l,
                            bool grows, int64_t capacity_B)
{
    int64_t more_B = unseen_B(l), room_B = capacity_B - more_B;
    bool again = last->ledger && !last->was_full && last->peak_B <= room_B &&
                 same_events(last->ledger, l);
    if (!again)
        last->peak_B = replay_peak_B(l->events.v, l->events.n, l->n_before, grows,
                                     room_B, &last->was_full);
    last->ledger = l;
    int64_t held_B = last->peak_B + more_B;
    return held_B > l->peak_B ? held_B : l->peak_B;
}
