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

static void record(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    int32_t microbatch = kind == LEDGER_ACTIVATIONS ? l->microbatch : 0;
    if (l->records && size_B != 0)
        VEC_PUSH(&l->events, ((struct ledger_event) { kind, microbatch, size_B }));
}

static enum ledger_kind booked_as(enum ledger_kind kind)
{
    return kind >= LEDGER_KINDS ? LEDGER_WORKSPACE : kind;
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
    kind = booked_as(kind);
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
    return l;
}

struct ledger_change ledger_since(const struct ledger *l, const struct ledger *from)
{
    struct ledger_change c = { .events = l->events.v, .n_events = l->events.n };
    for (int i = 0; i < LEDGER_KINDS; i++) {
        c.delta_B[i] = l->live_B[i] - from->live_B[i];
        c.peak_B[i] = l->at_peak_B[i] - from->live_B[i];
    }
    c.peak_activations_B = l->peak_activations_B - from->live_B[LEDGER_ACTIVATIONS];
    return c;
}

void ledger_apply(struct ledger *l, const struct ledger_change *c)
{
    int64_t peak_B = l->total_B, at_peak_B[LEDGER_KINDS];
    for (int64_t i = 0; l->records && i < c->n_events; i++)
        record(l, c->events[i].kind, c->events[i].size_B);
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

void ledger_free(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    record(l, kind, -ledger_round(size_B));
    kind = booked_as(kind);
    assert(l->live_B[kind] >= ledger_round(size_B));
    l->live_B[kind] -= ledger_round(size_B);
    l->total_B -= ledger_round(size_B);
}

void ledger_release(struct ledger *l)
{
    VEC_RELEASE(&l->events);
}
