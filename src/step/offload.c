/* What is kept on the host: checkpoints of activations (the inputs of layers that are
 * computed again) until backward nears them, and states with their update. */
#include "step/builder.h"

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

/* --- states ----------------------------------------------------------------------- */

struct states offload_states(const struct builder *b, struct states states)
{
    if (b->s->parallel.offload == OFFLOAD_NONE)
        return states;
    states.optimizer_B = states.step_B = 0;
    if (b->s->parallel.offload == OFFLOAD_PARAMETERS)
        states.gradient_B = 0;
    return states;
}

/* A task of the host, or of the copies from and to it. */
static int32_t host_task(struct builder *b, enum stream stream, double time_s,
                         int32_t after, const char *label)
{
    int32_t task = program_kernel(&b->step->program, stream, PART_OFFLOAD_EXPOSED, 0,
                                  time_s, time_s);
    program_follow(&b->step->program, task, after);
    b->step->program.tasks.v[task].tag.label = label;
    return task;
}

int32_t offload_load_shard(struct builder *b, double size_B, int32_t after)
{
    if (b->s->parallel.offload != OFFLOAD_PARAMETERS)
        return after;
    return host_task(b, STREAM_COPY, copy_s(b, (int64_t)size_B), after,
                     "shard from the host");
}

void offload_store_shard(struct builder *b, double size_B, int32_t after)
{
    if (b->s->parallel.offload == OFFLOAD_PARAMETERS)
        b->last_comm = host_task(b, STREAM_STORE, copy_s(b, (int64_t)size_B), after,
                                 "shard of gradients to the host");
}

bool offload_update(struct builder *b, double elements)
{
    enum offload off = b->s->parallel.offload;
    if (off == OFFLOAD_NONE)
        return false;
    double copy_of_all_s = copy_s(b, (int64_t)(elements * b->states.made_B));
    const struct cluster_group *g = &b->s->cluster.groups[0];
    double host_s =
        states_host_update_s(b->s, g->instance, g->gpus_per_instance, elements);
    int32_t task = b->last_kernel;
    if (off == OFFLOAD_OPTIMIZER)
        task = host_task(b, STREAM_STORE, copy_of_all_s, task, "gradients to the host");
    else if (b->last_comm >= 0)
        task = b->last_comm;
    task = host_task(b, STREAM_STORE, host_s, task, "update on the host");
    if (off == OFFLOAD_OPTIMIZER)
        task =
            host_task(b, STREAM_COPY, copy_of_all_s, task, "parameters from the host");
    build_wait(b, task);
    build_kernel(b, PART_OFFLOAD_EXPOSED, 0, 0, 0);
    return true;
}
