#include "replay/step.h"

#include "base/units.h"
#include "replay/builder.h"
#include "replay/smddp.h"

#include <math.h>
#include <string.h>

enum { REPLAYED_MICROBATCHES = 4 }; /* first, two alike, last */

/* What writers share ----------------------------------------------------------------- */

void build_wait(struct builder *b, int32_t task)
{
    if (task < 0)
        return;
    if (b->waits[0] >= 0 && b->waits[1] >= 0) /* a kernel has two places: one more */
        build_kernel(b, b->part, 0, 0, 0);
    b->waits[b->waits[0] >= 0] = task;
}

/* What memory the kernel written last holds: all that was booked since the one before. */
static void mark_memory(struct builder *b)
{
    struct program *p = &b->step->program;
    if (!b->step->ledger.marks || b->last_kernel < 0 ||
        p->tasks.v[b->last_kernel].mark >= 0)
        return;
    p->tasks.v[b->last_kernel].mark = (int32_t)p->marks.n;
    VEC_PUSH(&p->marks, ledger_mark(&b->step->ledger));
}

void build_tag(struct builder *b, enum work work, int64_t number)
{
    b->step->program.tag = (struct tag) { .work = work, .number = (int32_t)number };
}

void build_label(struct builder *b, const char *label)
{
    b->step->program.tasks.v[b->last_kernel].tag.label = label;
}

int32_t build_kernel(struct builder *b, enum part part, double host_s, double alone_s,
                     double shared_s)
{
    struct program *p = &b->step->program;
    mark_memory(b);
    int32_t task = program_kernel(p, STREAM_COMPUTE, part, host_s, alone_s, shared_s);
    program_follow(p, task, b->waits[0]);
    program_follow(p, task, b->waits[1]);
    p->tasks.v[task].receives = b->receives;
    b->waits[0] = b->waits[1] = b->receives = -1;
    b->last_kernel = task;
    return task;
}

void build_beside(struct builder *b, const struct coll_plan *plan)
{
    b->shared = kernel_beside(b->gpu, b->shared, plan->sm_frac, plan->memory_Bps);
}

int32_t build_stream(struct builder *b, enum part part, double host_s, double bytes)
{
    return build_kernel(b, part, host_s, kernel_stream_s(b->gpu, bytes, kernel_alone),
                        kernel_stream_s(b->gpu, bytes, b->shared));
}

void build_host_pause(struct builder *b, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || p->tasks.n == 0)
        return;
    p->tasks.v[p->tasks.n - 1].sync = true;
    build_kernel(b, PART_OTHER, seconds, 0, 0);
    build_label(b, "host pause");
}

void build_close(struct builder *b)
{
    build_wait(b, b->overlapped);
    build_wait(b, b->gathered);
    b->overlapped = b->gathered = -1;
    int32_t task = build_kernel(b, PART_COMPUTE, 0, 0, 0);
    b->step->program.tasks.v[task].sync = true;
    ledger_free(&b->step->ledger, LEDGER_WORKSPACE, b->transient_B);
    b->transient_B = 0;
}

/* Gathers of sharded parameters: SMDDP's where it can; MiCS gathers between nodes first,
 * where its groups have several GPUs in each. */
static enum coll_algorithm algorithm_of(const struct builder *b, enum channel channel,
                                        enum coll_op op, double size_B)
{
    struct ranks r = groups_of(b->request->groups, channel, b->plans_rank);
    struct coll_group g;
    struct err ignored = { 0 };
    if (op != COLL_ALL_GATHER || channel != CHANNEL_SHARD ||
        groups_spans(b->request->groups, &r, &g, &ignored) < 0 || g.n_spans != 1 ||
        g.spans[0].n_instances < 2)
        return COLL_AUTO;
    if (!smddp_gather_refuses(b->s, size_B / (double)ranks_count(&r)))
        return COLL_SMDDP;
    return b->s->parallel.shard_hierarchical && g.spans[0].n_gpus > 1 ? COLL_MICS
                                                                      : COLL_AUTO;
}

/* Share of the NICs that a collective over replicas or shards uses, by whose they are in
 * the group's nodes (MODEL.md, "Data parallelism"). */
static double nics_frac(const struct builder *b, enum channel channel)
{
    bool over_data = channel == CHANNEL_DATA || channel == CHANNEL_WORLD ||
                     channel == CHANNEL_SHARD || channel == CHANNEL_REPLICA ||
                     channel == CHANNEL_EXPERT_DATA;
    const struct fabric *f = b->s->fabric;
    struct coll_group g;
    struct err ignored = { 0 };
    if (!over_data || !f)
        return 1;
    struct ranks r = groups_of(b->request->groups, channel, b->plans_rank);
    if (groups_spans(b->request->groups, &r, &g, &ignored) < 0)
        return 1;
    const struct coll_span *span = &g.spans[0];
    const struct instance *inst = b->s->cluster.groups[0].instance;
    if (span->n_instances < 2 || span->n_gpus < 2)
        return 1;
    for (int32_t i = 1; i < span->n_gpus; i++)
        for (int32_t k = 0; k < i; k++)
            if (instance_nic_of_gpu(inst, span->gpus[i]) ==
                instance_nic_of_gpu(inst, span->gpus[k]))
                return f->shared_frac;
    return f->split_frac;
}

int32_t build_comm(struct builder *b, enum channel channel, enum coll_op op,
                   double size_B, struct err *err)
{
    struct program *p = &b->step->program;
    for (int64_t i = p->comms.n - 1; i >= 0; i--) {
        const struct comm *c = &p->comms.v[i];
        if (c->has_request && c->channel == channel && c->request.op == op &&
            c->request.size_B == size_B)
            return (int32_t)i;
    }
    bool gradients =
        channel == CHANNEL_DATA || channel == CHANNEL_WORLD || channel == CHANNEL_SHARD;
    struct comm c = {
        .channel = channel,
        .has_request = true,
        .network_frac = (gradients ? b->fw->network_frac : 1) * nics_frac(b, channel),
        .request = { .op = op,
                     .algorithm = algorithm_of(b, channel, op, size_B),
                     .protocol = b->s->software.protocol,
                     .size_B = size_B,
                     .nccl = b->s->software.nccl,
                     .graph_launch = true },
    };
    if (plans_make(&b->plans, &c, b->plans_rank, &c.plan, err) < 0)
        return -1;
    VEC_PUSH(&p->comms, c);
    return (int32_t)(p->comms.n - 1);
}

int64_t block_parameters(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        n += block->params[i].elements;
    return n;
}

bool build_is_shared(const struct builder *b, const struct op_param *p)
{
    return p->expert && b->s->parallel.expert > 1;
}

int64_t build_experts(const struct builder *b)
{
    int64_t n = 0;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            if (build_is_shared(b, &block->params[k]))
                n += block->repeat * block->params[k].elements;
    }
    return n;
}

int64_t build_expert_ranks(const struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    return p->data * p->context / p->expert;
}

const struct states *build_states(const struct builder *b, const struct op_param *p)
{
    return build_is_shared(b, p) ? &b->experts : &b->states;
}

static struct states states_of_experts(const struct builder *b)
{
    struct scenario s = *b->s;
    if (s.parallel.shard_degree > 1)
        s.parallel.shard_degree = build_expert_ranks(b);
    return states_of(&s);
}

/* Set-up ------------------------------------------------------------------------------- */

/* Replicas of a parameter, over which its gradients are summed. */
static int64_t replicas(const struct builder *b)
{
    return b->s->parallel.data * b->s->parallel.context;
}

/* Whether gradients are held a second time in buckets, as DDP's are. What is sharded
 * goes out bucket by bucket. */
static bool has_buckets(const struct builder *b)
{
    enum library l = b->s->parallel.library;
    return replicas(b) > 1 && b->s->parallel.sharding == SHARDING_NONE &&
           !b->s->parallel.gradient_as_bucket_view && l != LIBRARY_MEGATRON &&
           l != LIBRARY_DEEPSPEED && l != LIBRARY_FSDP;
}

/* DeepSpeed's ZeRO 1 and 2 reduce through a buffer; without a pipeline gradients are
 * flattened once more (fitted to BigScience's V100 rows). */
static int64_t flat_buffers_B(const struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    double elements = (double)op_list_parameters(&b->list),
           wire_B = states_wire_B(b->s);
    bool reduces = p->library == LIBRARY_DEEPSPEED && p->sharding != SHARDING_NONE;
    if (!reduces || replicas(b) == 1 || shard_is_full(b))
        return 0;
    double buffer = elements;
    if (p->shard_bucket_elements > 0)
        buffer = fmin(buffer, (double)p->shard_bucket_elements);
    return (int64_t)(wire_B * (buffer + (p->pipeline == 1 ? elements : 0)));
}

/* What is there before the step begins: parameters, optimizer states, buckets, and
 * gradients that are zeroed rather than freed. */
static void allocate_states(struct builder *b)
{
    struct ledger *l = &b->step->ledger;
    bool buckets = has_buckets(b);
    ledger_alloc(l, LEDGER_BUFFERS, flat_buffers_B(b));
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            const struct op_param *p = &block->params[k % block->n_params];
            const struct states *states = build_states(b, p);
            double n = (double)p->elements;
            ledger_alloc(l, LEDGER_PARAMETERS, (int64_t)(n * states->parameter_B));
            ledger_alloc(l, LEDGER_OPTIMIZER, (int64_t)(n * states->optimizer_B));
            if (b->fw->keeps_gradients)
                ledger_alloc(l, LEDGER_GRADIENTS, (int64_t)(n * states->gradient_B));
            if (buckets)
                ledger_alloc(l, LEDGER_BUFFERS, (int64_t)(n * states_wire_B(b->s)));
        }
    }
}

static void set_up(struct builder *b)
{
    const struct step_request *q = b->request;
    b->arena = q->arena;
    b->s = q->s;
    b->fw = q->s->training.framework;
    b->net = q->net;
    b->plans = (struct plans) { q->arena, q->net, q->groups };
    b->settings = scenario_op_settings(q->s);
    b->states = states_of(q->s);
    b->experts = states_of_experts(b);
    b->half = dtype_bytes(op_compute_dtype(q->s->training.precision)) <= 2;
    b->shared = kernel_alone;
    b->plan_B = -1;
    b->last_comm = b->last_kernel = b->overlapped = b->gathered = b->receives = -1;
    b->waits[0] = b->waits[1] = b->backward_begin = -1;
    b->detail = q->detail || q->s->parallel.pipeline == 1;
    int64_t chunks = q->s->parallel.virtual_stages;
    b->measured = ARENA_ARRAY(q->arena, chunks * PASS_N * 2, struct measured);
    b->seen = ARENA_ARRAY(q->arena, chunks, bool);
    b->splits =
        q->s->parallel.pipeline > 1 && q->s->parallel.schedule == SCHEDULE_ZB_H1;
    program_init(&b->step->program);
}

static int builder_init(struct builder *b, struct err *err)
{
    struct op_list model;
    set_up(b);
    if (op_list_make(&model, b->arena, &b->s->model, &b->settings, err) < 0 ||
        stage_cut(b, &model, err) < 0 || tensor_plan(b, err) < 0 ||
        shard_plan(b, err) < 0)
        return -1;
    if (replicas(b) > 1 && !shard_is_full(b) &&
        buckets_plan(b, (double)b->s->parallel.bucket_B, err) < 0)
        return -1;
    pass_time_blocks(b);
    if (measure_layer(b, err) < 0)
        return -1;
    b->step->ledger.records = b->s->parallel.pipeline == 1;
    allocate_states(b);
    b->step->ledger.n_before = b->step->ledger.events.n;
    b->step->ledger.marks = b->request->marks;
    if (b->request->marks)
        VEC_PUSH(&b->step->program.marks, ledger_mark(&b->step->ledger));
    b->step->states_B = b->step->ledger.live_B[LEDGER_BUFFERS];
    return 0;
}

/* A lone stage ------------------------------------------------------------------------- */

/* The batch comes from pinned host memory; forward waits for it. */
static int32_t load_batch(struct builder *b)
{
    enum { BYTES_PER_TOKEN = 3 * 8 }; /* ids, mask, types or labels as int64 */
    double bytes = (double)op_tokens(&b->settings) * BYTES_PER_TOKEN;
    double time_s = bytes / b->s->cluster.groups[0].instance->host_pinned_Bps;
    int32_t task = program_kernel(&b->step->program, STREAM_COPY, PART_OTHER,
                                  b->fw->dispatch_forward_s, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = "load batch";
    return task;
}

static int microbatch(struct builder *b, int64_t number, struct err *err)
{
    build_tag(b, WORK_FORWARD, number);
    build_wait(b, load_batch(b));
    if (buckets_broadcast(b, err) < 0)
        return -1;
    if (pass_write(b, PASS_FORWARD, 0, err) < 0)
        return -1;
    buckets_begin(b);
    build_tag(b, WORK_BACKWARD, number);
    if (pass_write(b, PASS_BACKWARD, 0, err) < 0)
        return -1;
    build_wait(b, b->overlapped);
    build_wait(b, b->gathered);
    b->overlapped = b->gathered = -1;
    if (b->reduces && !shard_is_full(b) && buckets_end(b, err) < 0)
        return -1;
    if (b->reduces)
        build_wait(b, b->last_comm);
    build_kernel(b, PART_COMPUTE, b->fw->dispatch_forward_s, 0, 0);
    build_host_pause(b, b->fw->microbatch_s);
    return 0;
}

/* Stages of a pipeline -------------------------------------------------------------------- */

/* Where the pass at hand stands in the pipeline. */
struct position {
    int64_t stage, last;  /* of all virtual stages */
    int32_t base, n_each; /* messages of the accumulation step; of a direction */
    int64_t microbatches;
};

static int32_t message_of(const struct position *at, bool backward, int64_t stage,
                          int64_t microbatch)
{
    return at->base + (backward ? at->n_each : 0) +
           (int32_t)(stage * at->microbatches + microbatch);
}

/* The activation that goes from stage to stage; ranks of a tensor group each send their
 * part of it. */
static double message_B(const struct builder *b)
{
    double tokens = (double)op_tokens(&b->settings);
    double bytes = tokens * (double)b->s->model.hidden * (b->half ? 2 : 4);
    return bytes / (double)b->settings.tensor;
}

/* Megatron waits for its messages to be sent, until 2023. */
static bool sends_exposed(const struct builder *b)
{
    return b->s->parallel.library == LIBRARY_MEGATRON && !b->fw->send_overlap;
}

static int send(struct builder *b, bool back, int32_t message, struct err *err)
{
    int32_t comm = build_comm(b, back ? CHANNEL_BACK : CHANNEL_NEXT, COLL_SENDRECV,
                              message_B(b), err);
    if (comm < 0)
        return -1;
    struct program *p = &b->step->program;
    int32_t task = program_collective_on(p, back ? STREAM_BACK : STREAM_NEXT,
                                         PART_PIPELINE_COMM, 0, comm, b->last_kernel);
    p->tasks.v[task].sends = message;
    if (sends_exposed(b))
        build_wait(b, task);
    return 0;
}

/* One task for the whole pass. */
static int write_measured(struct builder *b, struct pass_ref ref, struct err *err)
{
    const struct measured *m;
    int32_t waits[2] = { b->waits[0], b->waits[1] }, receives = b->receives;
    b->waits[0] = b->waits[1] = b->receives = -1;
    if (measure_pass(b, ref.kind, ref.chunk, b->first, &m, err) < 0)
        return -1;
    struct program *p = &b->step->program;
    mark_memory(b);
    b->last_kernel = program_pass(p, m->pass);
    p->tasks.v[b->last_kernel].receives = receives;
    program_follow(p, b->last_kernel, waits[0]);
    program_follow(p, b->last_kernel, waits[1]);
    ledger_apply(&b->step->ledger, &m->memory);
    b->step->flops += m->flops;
    return 0;
}

static const enum work work_of[PASS_N] = { WORK_FORWARD, WORK_BACKWARD, WORK_WEIGHT };

static int write_pass(struct builder *b, struct pass_ref ref, bool detail,
                      const struct position *at, struct err *err)
{
    bool backward = ref.kind != PASS_FORWARD;
    build_tag(b, work_of[ref.kind], ref.microbatch);
    int64_t comes_from = backward ? at->stage + 1 : at->stage - 1;
    int64_t goes_to = backward ? at->stage - 1 : at->stage + 1;
    if (ref.kind != PASS_WEIGHT && comes_from >= 0 && comes_from <= at->last)
        b->receives = message_of(at, backward, at->stage, ref.microbatch);
    else if (ref.kind == PASS_FORWARD)
        build_wait(b, load_batch(b));
    if (detail) {
        int32_t begin = build_kernel(b, PART_COMPUTE, 0, 0, 0);
        b->step->program.tasks.v[begin].sync = true;
        if (pass_write(b, ref.kind, ref.chunk, err) < 0)
            return -1;
        build_close(b);
    } else if (write_measured(b, ref, err) < 0) {
        return -1;
    }
    if (ref.kind == PASS_WEIGHT || goes_to < 0 || goes_to > at->last)
        return 0;
    return send(b, backward, message_of(at, backward, goes_to, ref.microbatch), err);
}

/* Whether no later pass of the order completes gradients of the chunk. */
static bool is_last_backward(const struct pass_list *order, int64_t i)
{
    for (int64_t k = i + 1; k < order->n; k++)
        if (order->v[k].kind == order->v[i].kind &&
            order->v[k].chunk == order->v[i].chunk)
            return false;
    return true;
}

/* The passes of one accumulation step; its last backwards may reduce beside compute. */
static int pipeline_passes(struct builder *b, const struct pass_list *order,
                           int64_t accumulated, bool reduces, struct err *err)
{
    const struct parallelism *p = &b->s->parallel;
    int64_t m = b->s->training.microbatches, all = p->pipeline * p->virtual_stages;
    int64_t stage = groups_stage(b->request->groups, b->plans_rank);
    enum pass_kind completes = b->splits ? PASS_WEIGHT : PASS_BACKWARD;
    struct position at = { .last = all - 1,
                           .n_each = (int32_t)(all * m),
                           .microbatches = m };
    at.base = (int32_t)accumulated * 2 * at.n_each;
    b->step->program.n_messages = at.base + 2 * at.n_each;
    b->reduces = reduces;
    buckets_begin(b);
    for (int64_t i = 0; i < order->n; i++) {
        struct pass_ref ref = order->v[i];
        at.stage = ref.chunk * p->pipeline + stage;
        b->first = !b->seen[ref.chunk];
        b->reduces = reduces && ref.kind == completes && is_last_backward(order, i);
        bool watched =
            (b->reduces && p->overlap) || shard_changes(b, ref.kind, ref.chunk);
        if (write_pass(b, ref, b->detail || watched, &at, err) < 0)
            return -1;
        if (ref.kind == completes)
            b->seen[ref.chunk] = true;
    }
    build_tag(b, WORK_OTHER, -1); /* of no pass any more */
    if (group_broadcast_outputs(b, err) < 0)
        return -1;
    b->reduces = reduces;
    if (reduces && !shard_is_full(b) && buckets_end(b, err) < 0)
        return -1;
    if (reduces)
        build_wait(b, b->last_comm);
    build_kernel(b, PART_COMPUTE, b->fw->dispatch_forward_s, 0, 0);
    build_host_pause(b, b->fw->microbatch_s);
    return 0;
}

/* The step --------------------------------------------------------------------------------- */

static int accumulation_steps(struct builder *b, const struct pass_list *order,
                              struct err *err)
{
    const struct training *t = &b->s->training;
    int64_t n = order ? t->accumulation : t->accumulation * t->microbatches;
    int64_t replayed = n > REPLAYED_MICROBATCHES ? REPLAYED_MICROBATCHES : n;
    struct program *p = &b->step->program;
    for (int64_t i = 0; i < replayed; i++) {
        b->first = i == 0;
        b->reduces =
            replicas(b) > 1 && (i == replayed - 1 || b->fw->reduce_every_microbatch ||
                                (order && shard_is_full(b)));
        if (order ? pipeline_passes(b, order, i, b->reduces, err) < 0
                  : microbatch(b, i, err) < 0)
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

int step_build(struct step *step, const struct step_request *request, int64_t rank,
               const struct gpu *gpu, const struct pass_list *order, struct err *err)
{
    *step = (struct step) { 0 };
    struct builder b = {
        .step = step, .request = request, .gpu = gpu, .plans_rank = rank
    };
    if (builder_init(&b, err) < 0 || accumulation_steps(&b, order, err) < 0 ||
        group_sum_embeddings(&b, err) < 0 || group_sum_norms(&b, err) < 0)
        return -1;
    build_tag(&b, WORK_UPDATE, -1);
    update_parameters(&b);
    mark_memory(&b);
    return shard_gather_updated(&b, err);
}

int step_measure(const struct step_request *request, int64_t rank,
                 const struct gpu *gpu, int64_t time_ps[PASS_N], int64_t *message_ps,
                 struct err *err)
{
    struct step step = { 0 };
    struct builder b = {
        .step = &step, .request = request, .gpu = gpu, .plans_rank = rank
    };
    const struct measured *m;
    int rc = builder_init(&b, err);
    for (int kind = PASS_FORWARD; kind <= PASS_BACKWARD && rc == 0; kind++) {
        rc = measure_pass(&b, (enum pass_kind)kind, 0, false, &m, err);
        if (rc == 0) {
            ledger_apply(&step.ledger, &m->memory);
            time_ps[kind] = step.program.passes.v[m->pass].time_ps;
        }
    }
    int32_t comm =
        rc == 0 ? build_comm(&b, CHANNEL_NEXT, COLL_SENDRECV, message_B(&b), err) : -1;
    if (comm >= 0)
        *message_ps =
            units_ps(coll_plan_time_s(step.program.comms.v[comm].plan, request->net));
    step_release(&step);
    return comm >= 0 ? 0 : -1;
}

void step_release(struct step *step)
{
    program_release(&step->program);
    ledger_release(&step->ledger);
}
