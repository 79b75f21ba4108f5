/* Checkpoints of activations: the inputs of layers that are computed again, in GPU memory
 * or, offloaded, on the host until backward nears them. */
#include "replay/builder.h"

static double copy_s(const struct builder *b, int64_t size_B)
{
    return (double)size_B / b->s->cluster.groups[0].instance->host_pinned_Bps;
}

/* Offloaded, the copy to the host follows what made the input, and its memory is free
 * again behind the layer that uses it. */
void offload_checkpoint(struct builder *b, int64_t size_B)
{
    struct ledger *l = &b->step->ledger;
    ledger_alloc(l, LEDGER_ACTIVATIONS, size_B);
    if (!b->s->parallel.offload_activations)
        return;
    double time_s = copy_s(b, size_B);
    int32_t task = program_kernel(&b->step->program, STREAM_STORE, PART_OFFLOAD_EXPOSED,
                                  0, time_s, time_s);
    program_follow(&b->step->program, task, b->last_kernel);
    ledger_free(l, LEDGER_ACTIVATIONS, size_B);
    b->offloaded++;
}

/* The copy back may begin when the layer that lies the horizon before it is left. */
void load_checkpoint(struct builder *b, int64_t size_B)
{
    struct ledger *l = &b->step->ledger;
    enum { REMEMBERED = sizeof(b->loads) / sizeof(b->loads[0]) };
    if (!b->s->parallel.offload_activations) {
        ledger_free(l, LEDGER_ACTIVATIONS, size_B);
        return;
    }
    int64_t horizon = b->s->parallel.activation_loading_horizon;
    if (horizon > REMEMBERED - 1)
        horizon = REMEMBERED - 1;
    int64_t behind = b->n_loads - horizon;
    int32_t after = behind >= 0 ? b->loads[behind % REMEMBERED] : b->backward_begin;
    double time_s = copy_s(b, size_B);
    int32_t task = program_kernel(&b->step->program, STREAM_COPY, PART_OFFLOAD_EXPOSED,
                                  0, time_s, time_s);
    program_follow(&b->step->program, task, after);
    build_wait(b, task);
    b->loads[b->n_loads++ % REMEMBERED] = b->last_kernel;
    /* what is loaded ahead is held: the horizon's worth while backward runs */
    ledger_alloc(l, LEDGER_ACTIVATIONS, horizon * size_B);
    ledger_free(l, LEDGER_ACTIVATIONS, horizon * size_B);
}
