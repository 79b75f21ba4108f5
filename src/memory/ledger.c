#include "memory/ledger.h"

#include <assert.h>
#include <string.h>

enum { ROUND_B = 512 }; /* PyTorch's caching allocator, kMinBlockSize */

const char *const ledger_kind_names[LEDGER_KINDS] = {
    [LEDGER_PARAMETERS] = "parameters", [LEDGER_GRADIENTS] = "gradients",
    [LEDGER_OPTIMIZER] = "optimizer",   [LEDGER_ACTIVATIONS] = "activations",
    [LEDGER_BUFFERS] = "buffers",       [LEDGER_WORKSPACE] = "workspace",
};

int64_t ledger_round(int64_t size_B)
{
    return (size_B + ROUND_B - 1) / ROUND_B * ROUND_B;
}

/* A word goes into both hashes; that two lists have the same ones by chance is one in
 * 2^100 and less. */
static void add_to_key(uint64_t key[2], uint64_t a, uint64_t b)
{
    key[0] = (key[0] ^ a) * UINT64_C(0xBF58476D1CE4E5B9);
    key[0] ^= key[0] >> 32;
    key[1] = (key[1] + b) * UINT64_C(0x94D049BB133111EB);
    key[1] ^= key[1] >> 29;
}

static uint64_t word_of(const struct ledger_event *e, int32_t microbatch)
{
    return (uint64_t)e->size_B * UINT64_C(0x9E3779B97F4A7C15) +
           ((uint64_t)microbatch << 8 | (uint64_t)e->kind);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The run of own events that ends the list. */
static struct ledger_run *own_run(struct ledger *l)
{
    if (l->runs.n == 0 || l->runs.v[l->runs.n - 1].change)
        VEC_PUSH(&l->runs, ((struct ledger_run) { .n = 0 }));
    return &l->runs.v[l->runs.n - 1];
}

void ledger_record(struct ledger *l, struct ledger_event event)
{
    uint64_t word = word_of(&event, event.microbatch);
    VEC_PUSH(&l->events, event);
    own_run(l)->n++;
    l->n_events++;
    add_to_key(l->key, word, word);
    l->recorded_B += event.kind == LEDGER_ACTIVATIONS ? event.size_B : 0;
    l->most_recorded_B = larger(l->most_recorded_B, l->recorded_B);
}

static void record(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    int32_t microbatch = kind == LEDGER_ACTIVATIONS ? l->microbatch : 0;
    if (l->records && size_B != 0)
        ledger_record(l, (struct ledger_event) { kind, microbatch, size_B });
}

static enum ledger_kind booked_as(enum ledger_kind kind)
{
    return kind == LEDGER_MASTER  ? LEDGER_OPTIMIZER
           : kind >= LEDGER_KINDS ? LEDGER_WORKSPACE
                                  : kind;
}

static bool is_counted(enum ledger_kind kind)
{
    return kind != LEDGER_LATE && kind != LEDGER_SPARE && kind != LEDGER_FORWARD_ONCE &&
           kind != LEDGER_BACKWARD_ONCE;
}

/* A moment at which `live_B` is held. */
static void note_high(struct ledger *l, const int64_t *live_B, int64_t total_B)
{
    if (!l->marks || total_B <= l->high_total_B)
        return;
    l->high_total_B = total_B;
    memcpy(l->high_B, live_B, sizeof(l->high_B));
}

struct ledger_mark ledger_mark(struct ledger *l)
{
    struct ledger_mark m;
    note_high(l, l->live_B, l->total_B);
    memcpy(m.high_B, l->high_B, sizeof(m.high_B));
    memcpy(m.live_B, l->live_B, sizeof(m.live_B));
    memcpy(l->high_B, l->live_B, sizeof(l->high_B));
    l->high_total_B = l->total_B;
    return m;
}

void ledger_alloc(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    record(l, kind, ledger_round(size_B));
    if (is_counted(kind))
        ledger_hold(l, booked_as(kind), size_B);
}

void ledger_hold(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    l->live_B[kind] += ledger_round(size_B);
    l->total_B += ledger_round(size_B);
    note_high(l, l->live_B, l->total_B);
    if (l->live_B[LEDGER_ACTIVATIONS] > l->peak_activations_B)
        l->peak_activations_B = l->live_B[LEDGER_ACTIVATIONS];
    if (l->total_B > l->peak_B) {
        l->peak_B = l->total_B;
        memcpy(l->at_peak_B, l->live_B, sizeof(l->at_peak_B));
    }
}

int64_t ledger_workspace(struct ledger *l, int64_t size_B)
{
    ledger_alloc(l, LEDGER_WORKSPACE, size_B);
    return ledger_round(size_B);
}

struct ledger ledger_branch(const struct ledger *from)
{
    struct ledger l = *from;
    l.peak_B = l.total_B;
    l.peak_activations_B = l.live_B[LEDGER_ACTIVATIONS];
    memcpy(l.at_peak_B, l.live_B, sizeof(l.at_peak_B));
    l.events.v = NULL;
    l.events.n = l.events.cap = 0;
    l.runs.v = NULL;
    l.runs.n = l.runs.cap = l.n_events = 0;
    l.recorded_B = l.most_recorded_B = 0;
    return l;
}

struct ledger_change ledger_since(const struct ledger *l, const struct ledger *from)
{
    assert(l->events.n == l->n_events); /* all of them its own */
    struct ledger_change c = { .events = l->events.v,
                               .n_events = l->n_events,
                               .recorded_B = l->recorded_B,
                               .most_recorded_B = l->most_recorded_B };
    for (int i = 0; i < LEDGER_KINDS; i++) {
        c.delta_B[i] = l->live_B[i] - from->live_B[i];
        c.peak_B[i] = l->at_peak_B[i] - from->live_B[i];
    }
    c.peak_activations_B = l->peak_activations_B - from->live_B[LEDGER_ACTIVATIONS];
    for (int64_t i = 0; i < c.n_events; i++) {
        uint64_t word = word_of(&c.events[i], 0);
        add_to_key(c.key, word, word);
    }
    return c;
}

/* Events of the stretch, which are in a run by now, as those of the microbatch at
 * hand. */
static void record_change(struct ledger *l, const struct ledger_change *c)
{
    uint64_t microbatch = (uint64_t)l->microbatch;
    l->n_events += c->n_events;
    add_to_key(l->key, c->key[0] + microbatch, c->key[1] + microbatch);
    l->most_recorded_B = larger(l->most_recorded_B, l->recorded_B + c->most_recorded_B);
    l->recorded_B += c->recorded_B;
}

/* What the stretch has come to, without its events. */
static void book(struct ledger *l, const struct ledger_change *c)
{
    int64_t peak_B = l->total_B, at_peak_B[LEDGER_KINDS];
    for (int i = 0; i < LEDGER_KINDS; i++) {
        at_peak_B[i] = l->live_B[i] + c->peak_B[i];
        peak_B += c->peak_B[i];
    }
    note_high(l, at_peak_B, peak_B);
    int64_t activations_B = l->live_B[LEDGER_ACTIVATIONS] + c->peak_activations_B;
    if (activations_B > l->peak_activations_B)
        l->peak_activations_B = activations_B;
    if (peak_B > l->peak_B) {
        l->peak_B = peak_B;
        memcpy(l->at_peak_B, at_peak_B, sizeof(l->at_peak_B));
    }
    for (int i = 0; i < LEDGER_KINDS; i++) {
        l->live_B[i] += c->delta_B[i];
        l->total_B += c->delta_B[i];
        assert(l->live_B[i] >= 0);
    }
}

void ledger_apply(struct ledger *l, const struct ledger_change *c)
{
    if (l->records && c->n_events > 0) {
        VEC_PUSH(&l->runs, ((struct ledger_run) { c, l->microbatch, c->n_events }));
        record_change(l, c);
    }
    book(l, c);
}

void ledger_repeat(struct ledger *l, const struct ledger_change *c)
{
    if (l->records && c->n_events > 0) {
        VEC_RESERVE(&l->events, c->n_events);
        for (int64_t i = 0; i < c->n_events; i++) {
            struct ledger_event *e = &l->events.v[l->events.n++];
            *e = c->events[i];
            e->microbatch = e->kind == LEDGER_ACTIVATIONS ? l->microbatch : 0;
        }
        own_run(l)->n += c->n_events;
        record_change(l, c);
    }
    book(l, c);
}

void ledger_free(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    record(l, kind, -ledger_round(size_B));
    if (!is_counted(kind))
        return;
    kind = booked_as(kind);
    assert(l->live_B[kind] >= ledger_round(size_B));
    l->live_B[kind] -= ledger_round(size_B);
    l->total_B -= ledger_round(size_B);
}

void ledger_release(struct ledger *l)
{
    VEC_RELEASE(&l->events);
    VEC_RELEASE(&l->runs);
}
