#include "step/step.h"

#include "base/units.h"
#include "model/graphs.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/measure.h"
#include "step/model_group.h"
#include "step/pass/block_times.h"
#include "step/pass/offload.h"
#include "step/pass/pass.h"
#include "step/pass/pass_block.h"
#include "step/pass/pass_memory.h"
#include "step/pass/recompute.h"
#include "step/pass/stretch.h"
#include "step/pass/tensor.h"
#include "step/pass/tensor_ends.h"
#include "step/pipeline/deferred.h"
#include "step/pipeline/pipeline.h"
#include "step/reference.h"
#include "step/replicas.h"
#include "step/stage.h"
#include "step/update/buckets.h"
#include "step/update/muon.h"
#include "step/update/param_gather.h"
#include "step/update/shard.h"
#include "step/update/update.h"
#include "step/update/zero.h"

enum { REPLAYED_MICROBATCHES = 4 }; /* first, two alike, last */

/* Set-up --------------------------------------------------------------------------- */

/* Sharded over all that hold the same. */
static struct states states_held_by(const struct stage *stage, enum replica_group h)
{
    struct scenario s = *stage->s;
    if (s.parallel.shard.degree > 1)
        s.parallel.shard.degree = replicas_ranks(stage, h);
    return offload_states(stage, states_of(&s));
}

/* Replicas of a parameter, over which its gradients are summed. */
static int64_t replicas(const struct stage *stage)
{
    return replicas_ranks(stage, REPLICAS_DATA);
}

static bool sums_gradients(const struct stage *stage)
{
    return replicas(stage) > 1 || replicas_held(stage, REPLICAS_ALL) > 0;
}

/* CUDA graphs share one pool of their own. */
static int64_t graphs_pool_B(const struct stage *stage)
{
    int64_t most_B = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        int64_t pool_B =
            op_graph_pool_B(&stage->list.blocks[i], stage->s->training.graphs);
        most_B = pool_B > most_B ? pool_B : most_B;
    }
    return most_B;
}

/* A tensor for each of what the optimizer keeps: master weights, moments. */
static void allocate_optimizer(const struct stage *stage, const struct states *states,
                               double n, struct ledger *l)
{
    double moments_B = states->optimizer_B - states->master_B;
    int32_t pieces = states_moments(stage->s);
    if (!stage->sums_flat)
        ledger_alloc(l, LEDGER_MASTER, (int64_t)(n * states->master_B));
    for (int32_t i = 0; i < pieces; i++)
        ledger_alloc(l, LEDGER_OPTIMIZER, (int64_t)(n * moments_B / pieces));
}

/* Sums of gradients, and master weights, of all that the stage trains. */
static void allocate_flat(const struct stage *stage, struct ledger *l)
{
    double sums_B = 0, masters_B = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++) {
            const struct op_param *p = &block->params[k];
            const struct states states = replicas_states_of(stage, p);
            double n = (double)(p->elements * block->repeat);
            sums_B += p->frozen ? 0 : n * states.gradient_B;
            masters_B += p->frozen ? 0 : n * states.master_B;
        }
    }
    ledger_alloc(l, LEDGER_GRADIENTS, (int64_t)sums_B);
    ledger_alloc(l, LEDGER_MASTER, (int64_t)masters_B);
}

/* States of one of the block's layers. */
static void allocate_block(const struct stage *stage, const struct op_block *block,
                           double bucket_B, struct ledger *l)
{
    for (int32_t i = 0; i < block->n_params; i++) {
        const struct op_param *p = &block->params[i];
        const struct states states = replicas_states_of(stage, p);
        double n = (double)p->elements;
        if (stage->s->parallel.shard.offload != OFFLOAD_PARAMETERS)
            ledger_alloc(l, LEDGER_PARAMETERS, (int64_t)(n * states.parameter_B));
        if (p->frozen)
            continue;
        allocate_optimizer(stage, &states, n, l);
        if (states_keep_gradients(stage->s) && !stage->sums_flat)
            ledger_alloc(l, LEDGER_GRADIENTS, (int64_t)(n * states.gradient_B));
        ledger_alloc(l, LEDGER_BUFFERS, (int64_t)(n * bucket_B));
    }
}

/* What is there before the step begins: parameters, optimizer states, buckets, and
 * gradients that are zeroed rather than freed. */
static void allocate_states(struct builder *b)
{
    struct ledger *l = &b->step->ledger;
    double bucket_B = states_bucket_B(b->stage->s, replicas(b->stage));
    double elements = (double)op_list_trained(&b->stage->list);
    ledger_alloc(
        l, LEDGER_BUFFERS,
        (int64_t)states_flat_buffers_B(b->stage->s, elements, replicas(b->stage)));
    ledger_hold(l, LEDGER_BUFFERS,
                2 * pass_product_workspace_B(b->stage) +
                    pass_gather_buffers_B(b->stage));
    ledger_alloc(l, LEDGER_BUFFERS, pass_dummies_B(b->stage));
    ledger_alloc(l, LEDGER_BUFFERS, graphs_pool_B(b->stage));
    ledger_alloc(l, LEDGER_BUFFERS, pipeline_buffers_B(b->stage));
    ledger_alloc(l, LEDGER_PARAMETERS, shard_persistent_B(b->stage));
    ledger_alloc(l, LEDGER_PARAMETERS, reference_weights_B(b->stage));
    shard_hold_reference(b);
    if (zero_flattens(b->stage)) {
        zero_allocate_states(b);
        return;
    }
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        const struct op_block *block = &b->stage->list.blocks[i];
        struct ledger one = ledger_branch(l);
        allocate_block(b->stage, block, bucket_B, &one);
        const struct ledger_change change = ledger_since(&one, l);
        for (int64_t k = 0; k < block->repeat; k++)
            ledger_repeat(l, &change);
        ledger_release(&one);
    }
    if (b->stage->sums_flat)
        allocate_flat(b->stage, l);
}

/* What a stage knows of itself before anything is planned. */
static struct stage stage_of(const struct step_request *q, int64_t rank,
                             const struct gpu *gpu)
{
    const struct parallelism *p = &q->s->parallel;
    struct stage stage = {
        .request = q,
        .arena = q->arena,
        .s = q->s,
        .fw = q->s->training.framework,
        .gpu = gpu,
        .net = q->net,
        .rank = rank,
        .number = groups_stage(q->groups, rank),
        .plans = { q->arena, q->net, q->groups, NULL, q->rings },
        .settings = scenario_op_settings(q->s),
        .half = dtype_bytes(op_compute_dtype(q->s->training.precision)) <= 2,
        .sums_flat = states_sum_flat(q->s),
        .detail = q->detail || p->pipeline == 1,
    };
    stage.states = offload_states(&stage, states_of(q->s));
    for (int h = REPLICAS_EXPERTS; h < REPLICA_GROUPS; h++)
        stage.others[h] = states_held_by(&stage, (enum replica_group)h);
    return stage;
}

static struct builder builder_of(const struct stage *stage, struct step *step)
{
    int64_t chunks = partition_chunks(stage->request->parts);
    program_init(&step->program);
    step->program.check = scenario_checks(stage->s, stage->fw);
    return (struct builder) {
        .stage = stage,
        .step = step,
        .shared = kernel_alone,
        .last_kernel = -1,
        .next = issue_after_nothing,
        .buckets = { .plans = { .size_B = -1 }, .last_comm = -1 },
        .offload = { .last_store = -1, .begin = -1 },
        .outputs = { .task = -1 },
        .seen = { ARENA_ARRAY(stage->arena, chunks, bool),
                  ARENA_ARRAY(stage->arena, chunks, bool) },
    };
}

/* The stage, with its collectives in the program that is begun. */
static int plan(struct stage *stage, struct builder *b, struct err *err)
{
    stage_cut(stage, stage->request->model);
    if (tensor_plan(stage, b, err) < 0 || deferred_plan(stage, b, err) < 0 ||
        shard_plan(stage, b, err) < 0)
        return -1;
    if (sums_gradients(stage) && !states_shard_parameters(stage->s) &&
        buckets_plan(stage, b, (double)stage->s->parallel.reduce.bucket_B, err) < 0)
        return -1;
    if (param_gather_plan(stage, b, err) < 0)
        return -1;
    block_times_make(stage, b->shared);
    b->stretches = stretches_new(stage);
    return 0;
}

static int begin(struct stage *stage, struct builder *b, struct err *err)
{
    struct step *step = b->step;
    if (plan(stage, b, err) < 0)
        return -1;
    measure_begin(b);
    if (measure_layer(b, err) < 0)
        return -1;
    step->ledger.records = true;
    allocate_states(b);
    step->ledger.n_before = step->ledger.events.n;
    step->ledger.marks = stage->request->marks;
    if (stage->request->marks)
        VEC_PUSH(&step->program.marks, ledger_mark(&step->ledger));
    return 0;
}

/* A lone stage --------------------------------------------------------------------- */

static int microbatch(struct builder *b, int64_t number, bool last, struct err *err)
{
    bool pairs = b->stage->s->parallel.dispatch.overlap == EXPERT_OVERLAP_MICROBATCHES;
    b->pass.pairs = pairs && number > 0;
    issue_tag(b, WORK_FORWARD, number);
    issue_wait(b, issue_load_batch(b));
    if (buckets_broadcast(b, err) < 0)
        return -1;
    if (pass_write(b, PASS_FORWARD, 0, err) < 0)
        return -1;
    pass_free_blocks(b, &b->unpassed);
    b->forward = b->tensors.ahead.spent;
    if (reference_forwards(b, err) < 0)
        return -1;
    buckets_begin(b);
    issue_tag(b, WORK_BACKWARD, number);
    b->pass.pairs = pairs && !last;
    if (pass_write(b, PASS_BACKWARD, 0, err) < 0)
        return -1;
    const struct late_blocks left = pass_left_late(b);
    if (!last)
        pass_hold_blocks(b, &b->unpassed, &left, pass_late_kind(b));
    issue_wait(b, b->next.overlapped);
    issue_wait(b, b->next.gathered);
    b->next.overlapped = b->next.gathered = -1;
    if (b->pass.reduces && !states_shard_parameters(b->stage->s) &&
        buckets_end(b, err) < 0)
        return -1;
    if (b->pass.reduces)
        issue_wait(b, b->buckets.last_comm);
    issue_kernel(b, CATEGORY_COMPUTE, b->stage->fw->host.dispatch_forward_s, 0, 0);
    issue_host_pause(b, b->stage->fw->host.microbatch_s);
    return 0;
}

/* The step ------------------------------------------------------------------------- */

static int accumulation_steps(struct builder *b, const struct pass_list *order,
                              struct err *err)
{
    const struct training *t = &b->stage->s->training;
    int64_t n = order ? t->accumulation : t->accumulation * t->microbatches;
    int64_t most = b->stage->request->whole ? n : REPLAYED_MICROBATCHES;
    int64_t replayed = n > most ? most : n;
    struct program *p = &b->step->program;
    for (int64_t i = 0; i < replayed; i++) {
        b->pass.first = i == 0;
        b->pass.reduces = sums_gradients(b->stage) &&
                          (i == replayed - 1 || states_reduce_each(b->stage->s) ||
                           (order && states_shard_parameters(b->stage->s)));
        if (order ? pipeline_passes(b, order, i, b->pass.reduces, err) < 0
                  : microbatch(b, i, i == replayed - 1, err) < 0)
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
    struct stage stage = stage_of(request, rank, gpu);
    struct builder b = builder_of(&stage, step);
    if (begin(&stage, &b, err) < 0)
        return -1;
    param_gather_begin(&b);
    if (accumulation_steps(&b, order, err) < 0 || group_sum_embeddings(&b, err) < 0 ||
        group_sum_norms(&b, err) < 0)
        return -1;
    issue_tag(&b, WORK_UPDATE, -1);
    update_parameters(&b);
    if (muon_update(&b, err) < 0)
        return -1;
    issue_mark_memory(&b);
    return param_gather_end(&b, err) < 0 || shard_end(&b, err) < 0 ? -1 : 0;
}

int step_measure(const struct step_request *request, int64_t rank, int32_t chunk,
                 const struct gpu *gpu, int64_t time_ps[PASS_N], int64_t *message_ps,
                 struct err *err)
{
    struct step step = { 0 };
    struct stage stage = stage_of(request, rank, gpu);
    struct builder b = builder_of(&stage, &step);
    const struct measured *m;
    int32_t pass;
    int rc = begin(&stage, &b, err);
    for (int kind = PASS_FORWARD; kind <= PASS_BACKWARD && rc == 0; kind++) {
        if (kind == PASS_BACKWARD)
            offload_load_pass(&b, recompute_inputs(&stage, chunk),
                              recompute_input_B(&stage));
        rc = measure_pass(&b, (enum pass_kind)kind, chunk, false, &m, &pass, err);
        if (rc == 0) {
            ledger_apply(&step.ledger, &m->memory);
            time_ps[kind] = m->cost.time_ps;
        }
    }
    int32_t comm = rc == 0 ? comms_add(&b, CHANNEL_NEXT, COLL_SENDRECV,
                                       tensor_ends_message_B(&stage, 0), err)
                           : -1;
    rc = comm < 0 ? -1 : 0;
    if (rc == 0) { /* on the folded net in any case, that orders are the same */
        struct comm *c = &step.program.comms.v[comm];
        struct plans plans = { request->arena, request->folded, request->groups, NULL,
                               request->rings };
        rc = plans_make(&plans, c, rank, &c->plan, err);
        if (rc == 0)
            *message_ps = units_ps(coll_plan_time_s(c->plan, request->folded));
    }
    step_release(&step);
    return rc;
}

void step_release(struct step *step)
{
    program_release(&step->program);
    ledger_release(&step->ledger);
}
