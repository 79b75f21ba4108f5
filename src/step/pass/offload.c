/* What is kept on the host: checkpoints of activations (the inputs of layers that are
 * computed again) until backward nears them, and states with their update. */
#include "step/pass/offload.h"

#include "step/issue.h"
#include "step/pass/recompute.h"

static double copy_s(const struct stage *stage, int64_t size_B)
{
    return (double)size_B / stage->s->cluster.groups[0].instance->host_pinned_Bps;
}

/* Activations ---------------------------------------------------------------------- */

/* Between pipelines' passes everything is loaded that the next backwards need; in one
 * pass layer by layer. */
static bool loads_passes(const struct stage *stage)
{
    return stage->s->parallel.pipeline > 1;
}

bool offload_stores(const struct builder *b)
{
    return b->stage->s->parallel.offload_activations && !b->offload.keeps;
}

/* Offloaded, the copy to the host follows what made the input, and its memory is free
 * again after the layer that uses it. */
void offload_checkpoint(struct builder *b, int64_t size_B)
{
    struct ledger *l = &b->step->ledger;
    ledger_alloc(l, LEDGER_ACTIVATIONS, size_B);
    if (!offload_stores(b))
        return;
    double time_s = copy_s(b->stage, size_B);
    b->offload.last_store = program_kernel(&b->step->program, STREAM_STORE,
                                           CATEGORY_OFFLOAD_EXPOSED, 0, time_s, time_s);
    program_follow(&b->step->program, b->offload.last_store, b->last_kernel);
    ledger_free(l, LEDGER_ACTIVATIONS, size_B);
}

/* What is loaded lies in GPU memory from the begin of its copy on. */
static int32_t copy_back(struct builder *b, int64_t n, int64_t size_B)
{
    double time_s = (double)n * copy_s(b->stage, size_B);
    int32_t task = program_kernel(&b->step->program, STREAM_LOAD,
                                  CATEGORY_OFFLOAD_EXPOSED, 0, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = "checkpoints from the host";
    program_follow(&b->step->program, task, b->offload.last_store);
    return task;
}

static void hold(struct builder *b, int64_t n, int64_t size_B)
{
    for (int64_t i = 0; i < n; i++)
        ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS, size_B);
}

void offload_begin_backward(struct builder *b, int64_t n)
{
    b->offload.begin = b->last_kernel;
    b->offload.n_loads = 0;
    b->offload.n_inputs = n;
    if (b->stage->s->parallel.offload_activations && !loads_passes(b->stage))
        b->offload.loads = ARENA_ARRAY(b->stage->arena, n, int32_t);
}

/* The copy back may begin when the layer that lies the horizon before it is entered. */
static void load_layer(struct builder *b, int64_t size_B)
{
    int64_t n = b->offload.n_inputs, at = b->offload.n_loads++;
    int64_t horizon = b->stage->s->parallel.activation_loading_horizon;
    int64_t begun = at == 0 ? horizon + 1 : 1; /* copies that may have begun by now */
    int64_t left = at == 0 ? n : n - at - horizon;
    int32_t task = copy_back(b, 1, size_B);
    program_follow(&b->step->program, task,
                   at >= horizon ? b->offload.loads[at - horizon] : b->offload.begin);
    issue_wait(b, task);
    b->offload.loads[at] = b->last_kernel;
    hold(b, begun < left ? begun : left, size_B);
}

void offload_load_checkpoint(struct builder *b, int64_t size_B)
{
    if (b->stage->s->parallel.offload_activations && !loads_passes(b->stage))
        load_layer(b, size_B);
    ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS, size_B);
}

/* Passes of an order that load, by the pass with which their copies may begin. What
 * would be loaded before its forward has run never leaves the GPU. */
struct load_order {
    int32_t *first, *next; /* [passes] a pass that loads, and one more; -1: none */
    int32_t *task;         /* [passes] of the copy */
    bool *keeps;           /* [passes] a forward whose checkpoints stay */
    const struct pass_list *passes;
    int64_t longest; /* from a forward to its backward, in passes */
};

int32_t offload_load_pass(struct builder *b, int64_t n, int64_t size_B)
{
    if (!b->stage->s->parallel.offload_activations || !loads_passes(b->stage) || n == 0)
        return -1;
    hold(b, n, size_B);
    return copy_back(b, n, size_B);
}

/* A pass's forward, or -1 while it has not come: by microbatch and chunk. */
static int32_t *forwards_of(const struct stage *stage, const struct pass_list *order)
{
    int64_t n = stage->request->microbatches * partition_chunks(stage->request->parts);
    int32_t *at = ARENA_ARRAY(stage->arena, n, int32_t);
    for (int64_t i = 0; i < order->n; i++)
        if (order->v[i].kind == PASS_FORWARD)
            at[order->v[i].microbatch * partition_chunks(stage->request->parts) +
               order->v[i].chunk] = (int32_t)i;
    return at;
}

struct load_order *offload_order(const struct stage *stage,
                                 const struct pass_list *order)
{
    int64_t horizon = stage->s->parallel.activation_loading_horizon;
    if (!stage->s->parallel.offload_activations)
        return NULL;
    struct load_order *o = ARENA_NEW(stage->arena, struct load_order);
    int32_t *forwards = forwards_of(stage, order);
    o->first = ARENA_ARRAY(stage->arena, order->n, int32_t);
    o->next = ARENA_ARRAY(stage->arena, order->n, int32_t);
    o->task = ARENA_ARRAY(stage->arena, order->n, int32_t);
    o->keeps = ARENA_ARRAY(stage->arena, order->n, bool);
    o->passes = order;
    for (int64_t i = 0; i < order->n; i++)
        o->first[i] = o->next[i] = o->task[i] = -1;
    for (int64_t i = order->n - 1; i >= 0; i--) {
        const struct pass_ref *p = &order->v[i];
        if (!pass_makes_input(p->kind))
            continue;
        int64_t from =
            forwards[p->microbatch * partition_chunks(stage->request->parts) +
                     p->chunk];
        o->longest = i - from > o->longest ? i - from : o->longest;
        o->keeps[from] = i - horizon < from;
        if (o->keeps[from])
            continue;
        int64_t at = i - horizon > from ? i - horizon : from + 1;
        o->next[i] = o->first[at];
        o->first[at] = (int32_t)i;
    }
    return o;
}

int64_t offload_lead(const struct load_order *o)
{
    int64_t period = o ? o->passes->period : 0;
    return period > 0 ? (o->longest + period - 1) / period * period : 0;
}

void offload_begin_loads(struct builder *b, const struct load_order *o, int64_t at,
                         int64_t recorded)
{
    for (int32_t i = o ? o->first[at] : -1; i >= 0; i = o->next[i]) {
        const struct pass_ref *p = &o->passes->v[i];
        b->step->ledger.microbatch = p->microbatch;
        b->step->ledger.records = p->microbatch < recorded;
        o->task[i] = offload_load_pass(b, recompute_inputs(b->stage, p->chunk),
                                       recompute_input_B(b->stage));
    }
}

void offload_await(struct builder *b, const struct load_order *o, int64_t at)
{
    if (!o)
        return;
    b->offload.keeps = o->keeps[at];
    issue_wait(b, o->task[at]);
}

/* States --------------------------------------------------------------------------- */

struct states offload_states(const struct stage *stage, struct states states)
{
    if (stage->s->parallel.shard.offload == OFFLOAD_NONE)
        return states;
    states.optimizer_B = states.hidden_optimizer_B = 0;
    states.master_B = states.step_B = 0;
    if (stage->s->parallel.shard.offload == OFFLOAD_PARAMETERS)
        states.gradient_B = 0;
    return states;
}

/* A task of the host, or of the copies from and to it. */
static int32_t host_task(struct builder *b, enum stream stream, double time_s,
                         int32_t after, const char *label)
{
    int32_t task = program_kernel(&b->step->program, stream, CATEGORY_OFFLOAD_EXPOSED,
                                  0, time_s, time_s);
    program_follow(&b->step->program, task, after);
    b->step->program.tasks.v[task].tag.label = label;
    return task;
}

int32_t offload_load_shard(struct builder *b, double size_B, int32_t after)
{
    if (b->stage->s->parallel.shard.offload != OFFLOAD_PARAMETERS)
        return after;
    return host_task(b, STREAM_COPY, copy_s(b->stage, (int64_t)size_B), after,
                     "shard from the host");
}

void offload_store_shard(struct builder *b, double size_B, int32_t after)
{
    if (b->stage->s->parallel.shard.offload == OFFLOAD_PARAMETERS)
        b->buckets.last_comm =
            host_task(b, STREAM_STORE, copy_s(b->stage, (int64_t)size_B), after,
                      "shard of gradients to the host");
}

bool offload_update(struct builder *b, double elements)
{
    enum offload off = b->stage->s->parallel.shard.offload;
    if (off == OFFLOAD_NONE)
        return false;
    double copy_of_all_s =
        copy_s(b->stage, (int64_t)(elements * b->stage->states.made_B));
    const struct cluster_group *g = &b->stage->s->cluster.groups[0];
    double host_s =
        states_host_update_s(b->stage->s, g->instance, g->gpus_per_instance, elements);
    int32_t task = b->last_kernel;
    if (off == OFFLOAD_OPTIMIZER)
        task = host_task(b, STREAM_STORE, copy_of_all_s, task, "gradients to the host");
    else if (b->buckets.last_comm >= 0)
        task = b->buckets.last_comm;
    task = host_task(b, STREAM_STORE, host_s, task, "update on the host");
    if (off == OFFLOAD_OPTIMIZER)
        task =
            host_task(b, STREAM_COPY, copy_of_all_s, task, "parameters from the host");
    issue_wait(b, task);
    issue_kernel(b, CATEGORY_OFFLOAD_EXPOSED, 0, 0, 0);
    return true;
}
