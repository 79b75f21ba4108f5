#include "replay/step.h"

#include "cost/kernel.h"

#include <math.h>
#include <string.h>

enum { REPLAYED_MICROBATCHES = 4 }; /* first, two alike, last */

/* Kernel times of one block, with the GPU alone [0] and beside a collective [1]. */
struct block_times {
    double *forward_s[2], *backward_s[2];
};

struct builder {
    struct step *step;
    struct arena *arena;
    const struct scenario *s;
    const struct framework *fw;
    const struct gpu *gpu;
    const struct net *net;
    struct states states;
    struct op_list list;
    struct block_times *times;  /* [blocks] */
    struct kernel_share shared; /* what collectives leave of the GPU */
    int64_t transient_B;        /* workspace that dies when the next operator has run */
    /* of the microbatch at hand */
    bool half; /* products read 16-bit numbers */
    bool first, reduces;
    /* the bucket being filled */
    double bucket_B, bucket_limit_B;
    int32_t n_buckets, last_comm; /* buckets sent; last collective's task or -1 */
    double plan_B;                /* size of the plan made last, and its index */
    int32_t plan;
};

static double dispatch_s(const struct builder *b, const struct op *op)
{
    double each = op->backward ? b->fw->dispatch_backward_s : b->fw->dispatch_forward_s;
    return each * op->dispatches;
}

/* A memory-bound kernel that is not of the operator list. */
static int32_t stream_kernel(struct builder *b, enum part part, double host_s,
                             double bytes)
{
    return program_kernel(&b->step->program, STREAM_COMPUTE, part, host_s,
                          kernel_stream_s(b->gpu, bytes, kernel_alone),
                          kernel_stream_s(b->gpu, bytes, b->shared));
}

/* Time that the host spends while the GPU waits for it: the host first waits for all it
 * has issued. Nothing when there is no such time. */
static void host_pause(struct builder *b, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || p->tasks.n == 0)
        return;
    p->tasks.v[p->tasks.n - 1].sync = true;
    program_kernel(p, STREAM_COMPUTE, PART_OTHER, seconds, 0, 0);
}

/* Buckets */

/* A communicator that uses only some of a node's NICs: what it sends loads each of them
 * the more. */
static void share_nics(const struct builder *b, struct coll_plan *plan)
{
    const struct net_link *links = net_links(b->net);
    for (int32_t i = 0; i < plan->n_phases; i++)
        for (int32_t j = 0; j < plan->phases[i].n_uses; j++)
            if (links[plan->phases[i].uses[j].link].kind == NET_NIC)
                plan->phases[i].uses[j].weight /= b->fw->network_frac;
}

static int plan_bucket(struct builder *b, double size_B, struct err *err)
{
    if (size_B == b->plan_B)
        return 0;
    struct coll_plan *plan = ARENA_NEW(b->arena, struct coll_plan);
    struct coll_group *world = ARENA_NEW(b->arena, struct coll_group);
    *world = coll_group_world(&b->s->cluster);
    struct coll_request request = {
        .op = COLL_ALL_REDUCE,
        .algorithm = COLL_AUTO,
        .protocol = b->s->software.protocol,
        .size_B = size_B,
        .groups = world,
        .n_groups = 1,
        .nccl = b->s->software.nccl,
        .graph_launch = true,
    };
    if (coll_plan_make(plan, b->arena, b->net, &request, err) < 0)
        return -1;
    share_nics(b, plan);
    b->plan_B = size_B;
    b->plan = program_comm(&b->step->program, plan);
    b->shared.sms = fmin(b->shared.sms, 1 - plan->sm_frac);
    return 0;
}

/* Sends the bucket: gradients are copied in, reduced, and copied out. */
static int send_bucket(struct builder *b, struct err *err)
{
    if (b->bucket_B <= 0)
        return 0;
    if (plan_bucket(b, b->bucket_B, err) < 0)
        return -1;
    double host_s = b->fw->dispatch_backward_s;
    int32_t ready =
        stream_kernel(b, PART_COMPUTE, host_s, b->bucket_B * b->fw->bucket_copy_B);
    b->last_comm = program_collective(&b->step->program, PART_DATA_COMM_EXPOSED, host_s,
                                      b->plan, ready);
    b->n_buckets++;
    b->bucket_B = 0;
    b->bucket_limit_B = (double)b->s->parallel.bucket_B;
    return 0;
}

static int add_to_bucket(struct builder *b, int64_t elements, struct err *err)
{
    b->bucket_B += (double)elements * states_wire_B(b->s);
    if (b->bucket_limit_B <= 0 || b->bucket_B < b->bucket_limit_B)
        return 0;
    return send_bucket(b, err);
}

/* Operators */

static void allocate_outs(struct builder *b, const struct op *op)
{
    struct ledger *l = &b->step->ledger;
    int64_t transient_B = 0;
    for (int32_t i = 0; i < op->n_outs; i++) {
        int64_t size = ledger_round(op->outs[i].size_B);
        bool kept = op->outs[i].kept_until >= 0;
        ledger_alloc(l, kept ? LEDGER_ACTIVATIONS : LEDGER_WORKSPACE, size);
        if (!kept)
            transient_B += size;
    }
    ledger_free(l, LEDGER_WORKSPACE, b->transient_B);
    b->transient_B = transient_B;
}

static void emit_op(struct builder *b, const struct op *op, double alone_s,
                    double shared_s)
{
    program_kernel(&b->step->program, STREAM_COMPUTE, PART_COMPUTE, dispatch_s(b, op),
                   alone_s, shared_s);
    b->step->flops += op->flops;
    allocate_outs(b, op);
}

/* Frees what the forward operators kept for this backward operator. */
static void free_kept(struct builder *b, const struct op_block *block, int32_t backward)
{
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until == backward)
                ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS,
                            block->forward[i].outs[j].size_B);
}

/* The host falls behind and catches up at random; over a block its lead is lost in part
 * where host and GPU are about equally fast (MODEL.md, "Host"). */
static void soften(struct builder *b, double host_s, double gpu_s)
{
    double width = b->fw->host_spread * host_s;
    if (width <= 0)
        return;
    double lost = width * log1p(exp(-fabs(gpu_s - host_s) / width));
    program_kernel(&b->step->program, STREAM_COMPUTE, PART_OTHER, 0, lost, lost);
}

/* Autocast's 16-bit copies of a block's weights: made in forward, dropped in backward. */
static int64_t autocast_B(const struct builder *b, const struct op_block *block)
{
    double bytes = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        if (block->params[i].matrix)
            bytes += b->states.autocast_B * (double)block->params[i].elements;
    return (int64_t)bytes;
}

static void forward_block(struct builder *b, const struct op_block *block,
                          const struct block_times *t)
{
    double host_s = 0, gpu_s = 0;
    ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS, autocast_B(b, block));
    for (int32_t i = 0; i < block->n_forward; i++) {
        emit_op(b, &block->forward[i], t->forward_s[0][i], t->forward_s[1][i]);
        host_s += dispatch_s(b, &block->forward[i]);
        gpu_s += t->forward_s[0][i];
    }
    soften(b, host_s, gpu_s);
}

/* Gradients that an operator completes: allocated by the first microbatch, added to by
 * the others, reduced by those that reduce. */
static int complete_gradients(struct builder *b, const struct op_block *block,
                              const struct op *op, struct err *err)
{
    for (int32_t i = 0; i < op->grad_n; i++) {
        const struct op_param *p = &block->params[op->grad_first + i];
        double bytes = (double)p->elements * b->states.gradient_B;
        if (b->first && !b->fw->keeps_gradients)
            ledger_alloc(&b->step->ledger, LEDGER_GRADIENTS, (int64_t)bytes);
        if (b->reduces && b->s->parallel.overlap &&
            add_to_bucket(b, p->elements, err) < 0)
            return -1;
    }
    return 0;
}

static int backward_block(struct builder *b, const struct op_block *block,
                          const struct block_times *t, struct err *err)
{
    double host_s = 0, gpu_s = 0;
    for (int32_t i = 0; i < block->n_backward; i++) {
        const struct op *op = &block->backward[i];
        emit_op(b, op, t->backward_s[0][i], t->backward_s[1][i]);
        free_kept(b, block, i);
        if (complete_gradients(b, block, op, err) < 0)
            return -1;
        host_s += dispatch_s(b, op);
        gpu_s += t->backward_s[0][i];
    }
    ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS, autocast_B(b, block));
    soften(b, host_s, gpu_s);
    return 0;
}

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
static void accumulate(struct builder *b, const struct op_block *block)
{
    double elements = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        elements += (double)block->params[i].elements;
    double each_B = b->half ? b->fw->accumulate_16bit_B : b->fw->accumulate_B;
    double bytes = each_B * elements * (b->first ? 0.5 : 1);
    if (bytes > 0)
        stream_kernel(b, PART_COMPUTE, b->fw->dispatch_backward_s, bytes);
}

static int backward(struct builder *b, struct err *err)
{
    for (int32_t i = b->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++) {
            if (backward_block(b, block, &b->times[i], err) < 0)
                return -1;
            accumulate(b, block);
        }
    }
    return 0;
}

/* All gradients at once, after backward, when reduction does not overlap with it. */
static int reduce_at_end(struct builder *b, struct err *err)
{
    for (int32_t i = b->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++)
            for (int32_t j = block->n_params - 1; j >= 0; j--)
                if (add_to_bucket(b, block->params[j].elements, err) < 0)
                    return -1;
    }
    return 0;
}

/* The last bucket, and what it costs that ranks wait for each other. */
static int finish_reduction(struct builder *b, struct err *err)
{
    if (send_bucket(b, err) < 0)
        return -1;
    double wait_s = b->fw->reduce_s;
    if (wait_s > 0)
        b->last_comm = program_kernel(&b->step->program, STREAM_COMM,
                                      PART_DATA_COMM_EXPOSED, 0, wait_s, wait_s);
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

/* Yields the task with which the microbatch ends on the compute stream. */
static int microbatch(struct builder *b, struct err *err)
{
    struct program *p = &b->step->program;
    int32_t batch = load_batch(b);
    int64_t begin = p->tasks.n;
    for (int32_t i = 0; i < b->list.n_blocks; i++)
        for (int64_t k = 0; k < b->list.blocks[i].repeat; k++)
            forward_block(b, &b->list.blocks[i], &b->times[i]);
    p->tasks.v[begin].after = batch;
    b->bucket_limit_B =
        (double)(b->s->parallel.first_bucket_B ? b->s->parallel.first_bucket_B
                                               : b->s->parallel.bucket_B);
    if (backward(b, err) < 0)
        return -1;
    if (b->reduces && !b->s->parallel.overlap && reduce_at_end(b, err) < 0)
        return -1;
    if (b->reduces && finish_reduction(b, err) < 0)
        return -1;
    int32_t end = program_kernel(p, STREAM_COMPUTE, PART_COMPUTE,
                                 b->fw->dispatch_forward_s, 0, 0);
    if (b->reduces)
        p->tasks.v[end].after = b->last_comm;
    host_pause(b, b->fw->microbatch_s);
    return 0;
}

/* Update */

static bool scales_loss(enum op_precision p)
{
    return p == OP_FP16 || p == OP_AMP_FP16;
}

/* One kernel after the other on each parameter tensor. */
static void update_tensors(struct builder *b, const struct framework_optimizer *o)
{
    double kernels = (double)o->kernels_per_tensor;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            double elements = (double)block->params[k % block->n_params].elements;
            double time_s =
                kernels *
                kernel_stream_s(b->gpu, elements * o->bytes / kernels, kernel_alone);
            program_kernel(&b->step->program, STREAM_COMPUTE, PART_OPTIMIZER,
                           b->fw->dispatch_optimizer_s * kernels, time_s, time_s);
        }
    }
}

static void update(struct builder *b)
{
    const struct framework_optimizer *o = &b->fw->optimizers[b->s->training.optimizer];
    struct program *p = &b->step->program;
    double elements = (double)op_list_parameters(&b->list);
    if (scales_loss(b->s->training.precision)) /* the host reads whether any is inf */
        p->tasks.v[p->tasks.n - 1].sync = true;
    ledger_alloc(&b->step->ledger, LEDGER_WORKSPACE,
                 (int64_t)(b->states.step_B * elements));
    if (o->kernels_per_tensor > 0)
        update_tensors(b, o);
    else
        stream_kernel(b, PART_OPTIMIZER, b->fw->dispatch_optimizer_s,
                      o->bytes * elements);
    host_pause(b, o->fixed_s);
}

/* Set-up */

static double traffic_factor(const struct builder *b, const struct op *op)
{
    if (op->scores && b->fw->score_factor > 0)
        return b->fw->score_factor;
    return b->half ? b->fw->stream_factor_16bit : b->fw->stream_factor;
}

static void time_ops(struct builder *b, const struct op *ops, int32_t n,
                     double *times[2])
{
    for (int side = 0; side < 2; side++) {
        times[side] = ARENA_ARRAY(b->arena, n, double);
        struct kernel_share share = side ? b->shared : kernel_alone;
        for (int32_t i = 0; i < n; i++)
            times[side][i] =
                kernel_op_s(b->gpu, &ops[i], traffic_factor(b, &ops[i]), share);
    }
}

static void time_blocks(struct builder *b)
{
    b->times = ARENA_ARRAY(b->arena, b->list.n_blocks, struct block_times);
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        time_ops(b, block->forward, block->n_forward, b->times[i].forward_s);
        time_ops(b, block->backward, block->n_backward, b->times[i].backward_s);
    }
}

static int64_t block_parameters(const struct op_block *block)
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
        plan_bucket(b, (double)b->s->parallel.bucket_B, err) < 0)
        return -1;
    time_blocks(b);
    measure_layer(b);
    allocate_states(b);
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
    update(&b);
    return 0;
}

void step_release(struct step *step)
{
    program_release(&step->program);
}
