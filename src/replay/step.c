#include "replay/step.h"

#include "replay/builder.h"

#include <string.h>

enum { REPLAYED_MICROBATCHES = 4 }; /* first, two alike, last */

int32_t build_stream(struct builder *b, enum part part, double host_s, double bytes)
{
    return program_kernel(&b->step->program, STREAM_COMPUTE, part, host_s,
                          kernel_stream_s(b->gpu, bytes, kernel_alone),
                          kernel_stream_s(b->gpu, bytes, b->shared));
}

void build_host_pause(struct builder *b, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || p->tasks.n == 0)
        return;
    p->tasks.v[p->tasks.n - 1].sync = true;
    program_kernel(p, STREAM_COMPUTE, PART_OTHER, seconds, 0, 0);
}

int64_t block_parameters(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        n += block->params[i].elements;
    return n;
}

/* What a middle layer takes, for reports and for comparison with layer benchmarks. */
static void measure_layer(struct builder *b)
{
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        if (strcmp(block->name, "layer") != 0)
            continue;
        for (int32_t j = 0; j < block->n_forward; j++)
            b->step->kernels_s[0] += b->times[i].forward_s[0][j];
        for (int32_t j = 0; j < block->n_backward; j++)
            b->step->kernels_s[1] += b->times[i].backward_s[0][j];
        b->step->layer_parameters_B =
            (int64_t)((double)block_parameters(block) * b->states.parameter_B);
        b->step->layer_activations_B = op_block_kept_B(block);
        return;
    }
}

/* What is there before the step begins: parameters, optimizer states, buckets, and
 * gradients that are zeroed rather than freed. */
static void allocate_states(struct builder *b)
{
    struct ledger *l = &b->step->ledger;
    bool replicas = scenario_world(b->s) > 1;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            double n = (double)block->params[k % block->n_params].elements;
            ledger_alloc(l, LEDGER_PARAMETERS, (int64_t)(n * b->states.parameter_B));
            ledger_alloc(l, LEDGER_OPTIMIZER, (int64_t)(n * b->states.optimizer_B));
            if (b->fw->keeps_gradients)
                ledger_alloc(l, LEDGER_GRADIENTS, (int64_t)(n * b->states.gradient_B));
            if (replicas) /* DDP's buckets hold the gradients a second time */
                ledger_alloc(l, LEDGER_BUFFERS, (int64_t)(n * states_wire_B(b->s)));
        }
    }
}

static int builder_init(struct builder *b, struct err *err)
{
    struct op_settings settings = scenario_op_settings(b->s);
    if (op_list_make(&b->list, b->arena, &b->s->model, &settings, err) < 0)
        return -1;
    b->states = states_of(b->s);
    b->half = dtype_bytes(op_compute_dtype(b->s->training.precision)) <= 2;
    b->shared = kernel_alone;
    b->plan_B = -1;
    b->last_comm = -1;
    program_init(&b->step->program);
    if (scenario_world(b->s) > 1 &&
        buckets_plan(b, (double)b->s->parallel.bucket_B, err) < 0)
        return -1;
    pass_time_blocks(b);
    measure_layer(b);
    b->step->ledger.records = true;
    allocate_states(b);
    b->step->ledger.n_before = b->step->ledger.events.n;
    return 0;
}

/* The batch comes from pinned host memory; forward waits for it. */
static int32_t load_batch(struct builder *b)
{
    enum { BYTES_PER_TOKEN = 3 * 8 }; /* ids, mask, types or labels as int64 */
    const struct training *t = &b->s->training;
    double bytes = (double)(t->micro_batch_size * t->sequence_length) * BYTES_PER_TOKEN;
    double time_s = bytes / b->s->cluster.groups[0].instance->host_pinned_Bps;
    return program_kernel(&b->step->program, STREAM_COPY, PART_OTHER,
                          b->fw->dispatch_forward_s, time_s, time_s);
}

static int microbatch(struct builder *b, struct err *err)
{
    struct program *p = &b->step->program;
    int32_t batch = load_batch(b);
    if (buckets_broadcast(b, err) < 0)
        return -1;
    int64_t begin = p->tasks.n;
    pass_forward(b);
    p->tasks.v[begin].after[0] = batch;
    buckets_begin(b);
    if (pass_backward(b, err) < 0)
        return -1;
    if (b->reduces && buckets_end(b, err) < 0)
        return -1;
    int32_t end = program_kernel(p, STREAM_COMPUTE, PART_COMPUTE,
                                 b->fw->dispatch_forward_s, 0, 0);
    if (b->reduces)
        p->tasks.v[end].after[0] = b->last_comm;
    build_host_pause(b, b->fw->microbatch_s);
    return 0;
}

static int accumulation_steps(struct builder *b, struct err *err)
{
    int64_t n = b->s->training.accumulation, replayed = n;
    if (replayed > REPLAYED_MICROBATCHES)
        replayed = REPLAYED_MICROBATCHES;
    struct program *p = &b->step->program;
    for (int64_t i = 0; i < replayed; i++) {
        b->first = i == 0;
        b->reduces = scenario_world(b->s) > 1 &&
                     (i == replayed - 1 || b->fw->reduce_every_microbatch);
        if (microbatch(b, err) < 0)
            return -1;
        if (n > replayed && i == 1)
            p->repeat.from = (int32_t)p->tasks.n - 1;
        if (n > replayed && i == 2)
            p->repeat.to = (int32_t)p->tasks.n - 1;
        if (i == 2)
            p->repeat.extra = n - replayed;
    }
    b->step->flops *= (double)n / (double)replayed;
    return 0;
}

int step_build(struct step *step, struct arena *arena, const struct scenario *s,
               const struct gpu *gpu, const struct net *net, struct err *err)
{
    *step = (struct step) { 0 };
    struct builder b = {
        .step = step,
        .arena = arena,
        .s = s,
        .fw = s->training.framework,
        .gpu = gpu,
        .net = net,
    };
    if (builder_init(&b, err) < 0 || accumulation_steps(&b, err) < 0)
        return -1;
    update_parameters(&b);
    return 0;
}

void step_release(struct step *step)
{
    program_release(&step->program);
    ledger_release(&step->ledger);
}
