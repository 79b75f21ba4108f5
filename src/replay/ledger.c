#include "replay/ledger.h"

#include <assert.h>
#include <string.h>

enum { ROUND_B = 512 }; /* PyTorch's caching allocator, kMinBlockSize */

int64_t ledger_round(int64_t size_B)
{
    return (size_B + ROUND_B - 1) / ROUND_B * ROUND_B;
}

static void record(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    if (l->records)
        VEC_PUSH(&l->events, ((struct ledger_event) { kind, size_B }));
}

void ledger_alloc(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    record(l, kind, ledger_round(size_B));
    l->live_B[kind] += ledger_round(size_B);
    l->total_B += ledger_round(size_B);
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

void ledger_free(struct ledger *l, enum ledger_kind kind, int64_t size_B)
{
    assert(l->live_B[kind] >= ledger_round(size_B));
    record(l, kind, -ledger_round(size_B));
    l->live_B[kind] -= ledger_round(size_B);
    l->total_B -= ledger_round(size_B);
}

void ledger_release(struct ledger *l)
{
    VEC_RELEASE(&l->events);
}
