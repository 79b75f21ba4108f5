#include "step/step.h"

#include "base/units.h"
#include "step/buckets.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/measure.h"
#include "step/model_group.h"
#include "step/offload.h"
#include "step/param_gather.h"
#include "step/pass.h"
#include "step/pass_block.h"
#include "step/pass_memory.h"
#include "step/pipeline.h"
#include "step/recompute.h"
#include "step/replicas.h"
#include "step/shard.h"
#include "step/stage.h"
#include "step/tensor.h"
#include "step/tensor_ends.h"
#include "step/update.h"
#include "step/zero.h"

enum { REPLAYED_MICROBATCHES = 4 }; /* first, two alike, last */

/* Set-up --------------------------------------------------------------------------- */

/* Sharded over all that hold the same. */
static struct states states_held_by(const struct builder *b, enum replica_group h)
{
    struct scenario s = *b->s;
    if (s.parallel.shard_degree > 1)
        s.parallel.shard_degree = replicas_ranks(b, h);
    return offload_states(b, states_of(&s));
}

/* Replicas of a parameter, over which its gradients are summed. */
static int64_t replicas(const struct builder *b)
{
    return replicas_ranks(b, REPLICAS_DATA);
}

static bool sums_gradients(const struct builder *b)
{
    return replicas(b) > 1 || replicas_held(b, REPLICAS_ALL) > 0;
}

/* What is there before the step begins: parameters, optimizer states, buckets, and
 * gradients that are zeroed rather than freed. */
static void allocate_states(struct builder *b)
{
    struct ledger *l = &b->step->ledger;
    bool buckets = states_have_buckets(b->s, replicas(b));
    double elements = (double)op_list_parameters(&b->list);
    ledger_alloc(l, LEDGER_BUFFERS,
                 (int64_t)states_flat_buffers_B(b->s, elements, replicas(b)));
    ledger_alloc(l, LEDGER_BUFFERS, pass_dummies_B(b));
    ledger_alloc(l, LEDGER_PARAMETERS, shard_persistent_B(b));
    if (zero_flattens(b)) {
        zero_allocate_states(b);
        return;
    }
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            const struct op_param *p = &block->params[k % block->n_params];
            const struct states *states = replicas_states_of(b, p);
            double n = (double)p->elements;
            if (b->s->parallel.offload != OFFLOAD_PARAMETERS)
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
    b->states = offload_states(b, states_of(q->s));
    for (int h = REPLICAS_EXPERTS; h < REPLICA_GROUPS; h++)
        b->others[h] = states_held_by(b, (enum replica_group)h);
    b->half = dtype_bytes(op_compute_dtype(q->s->training.precision)) <= 2;
    b->shared = kernel_alone;
    b->plan_B = -1;
    b->last_comm = b->last_kernel = b->overlapped = b->gathered = b->receives =
        b->outputs = b->last_store = -1;
    b->waits[0] = b->waits[1] = b->backward_begin = -1;
    b->detail = q->detail || q->s->parallel.pipeline == 1;
    int64_t chunks = partition_chunks(q->parts);
    b->seen = ARENA_ARRAY(q->arena, chunks, bool);
    b->splits =
        q->s->parallel.pipeline > 1 && q->s->parallel.schedule == SCHEDULE_ZB_H1;
    program_init(&b->step->program);
}

static int builder_init(struct builder *b, struct err *err)
{
    set_up(b);
    stage_cut(b, b->request->model);
    if (tensor_plan(b, err) < 0 || shard_plan(b, err) < 0)
        return -1;
    if (sums_gradients(b) && !states_shard_parameters(b->s) &&
        buckets_plan(b, (double)b->s->parallel.bucket_B, err) < 0)
        return -1;
    if (param_gather_plan(b, err) < 0)
        return -1;
    pass_time_blocks(b);
    measure_begin(b);
    if (measure_layer(b, err) < 0)
        return -1;
    b->step->ledger.records = true;
    allocate_states(b);
    b->step->ledger.n_before = b->step->ledger.events.n;
    b->step->ledger.marks = b->request->marks;
    if (b->request->marks)
        VEC_PUSH(&b->step->program.marks, ledger_mark(&b->step->ledger));
    return 0;
}

/* A lone stage --------------------------------------------------------------------- */

static int microbatch(struct builder *b, int64_t number, struct err *err)
{
    issue_tag(b, WORK_FORWARD, number);
    issue_wait(b, issue_load_batch(b));
    if (buckets_broadcast(b, err) < 0)
        return -1;
    if (pass_write(b, PASS_FORWARD, 0, err) < 0)
        return -1;
    buckets_begin(b);
    issue_tag(b, WORK_BACKWARD, number);
    if (pass_write(b, PASS_BACKWARD, 0, err) < 0)
        return -1;
    issue_wait(b, b->overlapped);
    issue_wait(b, b->gathered);
    b->overlapped = b->gathered = -1;
    if (b->reduces && !states_shard_parameters(b->s) && buckets_end(b, err) < 0)
        return -1;
    if (b->reduces)
        issue_wait(b, b->last_comm);
    issue_kernel(b, CATEGORY_COMPUTE, b->fw->dispatch_forward_s, 0, 0);
    issue_host_pause(b, b->fw->microbatch_s);
    return 0;
}

/* The step ------------------------------------------------------------------------- */

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
            sums_gradients(b) && (i == replayed - 1 || b->fw->reduce_every_microbatch ||
                                  (order && states_shard_parameters(b->s)));
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
    if (builder_init(&b, err) < 0)
        return -1;
    param_gather_begin(&b);
    if (accumulation_steps(&b, order, err) < 0 || group_sum_embeddings(&b, err) < 0 ||
        group_sum_norms(&b, err) < 0)
        return -1;
    issue_tag(&b, WORK_UPDATE, -1);
    update_parameters(&b);
    issue_mark_memory(&b);
    return param_gather_end(&b, err) < 0 || shard_end(&b, err) < 0 ? -1 : 0;
}

int step_measure(const struct step_request *request, int64_t rank, int32_t chunk,
                 const struct gpu *gpu, int64_t time_ps[PASS_N], int64_t *message_ps,
                 struct err *err)
{
    struct step step = { 0 };
    struct builder b = {
        .step = &step, .request = request, .gpu = gpu, .plans_rank = rank
    };
    const struct measured *m;
    int32_t pass;
    int rc = builder_init(&b, err);
    for (int kind = PASS_FORWARD; kind <= PASS_BACKWARD && rc == 0; kind++) {
        if (kind == PASS_BACKWARD)
            offload_load_pass(&b, recompute_inputs(&b, chunk), recompute_input_B(&b));
        rc = measure_pass(&b, (enum pass_kind)kind, chunk, false, &m, &pass, err);
        if (rc == 0) {
            ledger_apply(&step.ledger, &m->memory);
            time_ps[kind] = m->cost.time_ps;
        }
    }
    int32_t comm = rc == 0 ? comms_add(&b, CHANNEL_NEXT, COLL_SENDRECV,
                                       tensor_ends_message_B(&b), err)
                           : -1;
    rc = comm < 0 ? -1 : 0;
    if (rc == 0) { /* on the folded net in any case, that orders are the same */
        struct comm *c = &step.program.comms.v[comm];
        struct plans plans = { b.arena, request->folded, request->groups };
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
