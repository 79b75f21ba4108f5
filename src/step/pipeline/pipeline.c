/* Passes of a pipeline's stage in its order, and the messages between stages. */
#include "step/pipeline/pipeline.h"

#include "scenario/libraries.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/measure.h"
#include "step/model_group.h"
#include "step/pass/offload.h"
#include "step/pass/pass.h"
#include "step/pass/pass_memory.h"
#include "step/pass/tensor_ends.h"
#include "step/pipeline/deferred.h"
#include "step/pipeline/schedule.h"
#include "step/update/buckets.h"
#include "step/update/param_gather.h"
#include "step/update/shard.h"

#include <string.h>

/* The place of the current pass in the pipeline. */
struct position {
    int64_t stage, last;  /* of all virtual stages */
    int32_t base, n_each; /* messages of the accumulation step; of a direction */
    int64_t microbatches;
    bool ahead;         /* of forwards before the first backward, but the last two */
    bool leads;         /* the host does not wait for the GPU after the pass */
    int32_t (*sent)[2]; /* [parts] comm of what a part sends on and gets back; -1: not
                           planned yet */
};

static int32_t message_of(const struct position *at, bool backward, int64_t stage,
                          int64_t microbatch)
{
    return at->base + (backward ? at->n_each : 0) +
           (int32_t)(stage * at->microbatches + microbatch);
}

/* Megatron waits for its messages to be sent, until 2023. */
static bool sends_exposed(const struct stage *stage)
{
    return library_of(&stage->s->parallel)->waits_for_sends &&
           !stage->fw->tensor.send_overlap;
}

/* What a part sends to the one after it, or before it: the same for each microbatch. */
static int32_t plan_message(struct builder *b, int64_t from, int64_t to, bool back,
                            const struct position *at, struct err *err)
{
    int64_t part = from < to ? from : to;
    int32_t *sent = &at->sent[part][from > to];
    if (*sent < 0)
        *sent = comms_add(b, back ? CHANNEL_BACK : CHANNEL_NEXT, COLL_SENDRECV,
                          tensor_ends_message_B(b->stage, part), err);
    return *sent;
}

/* From a part to the one after it, or before it. */
static int send_layers(struct builder *b, int64_t from, int64_t to, int32_t message,
                       const struct position *at, struct err *err)
{
    const struct partition *parts = b->stage->request->parts;
    bool back = to < from;
    if (parts->folds)
        back = partition_stage(parts->n_stages, true, to) <
               partition_stage(parts->n_stages, true, from);
    int32_t comm = plan_message(b, from, to, back, at, err);
    if (comm < 0)
        return -1;
    struct program *p = &b->step->program;
    int32_t task =
        program_collective_on(p, back ? STREAM_BACK : STREAM_NEXT,
                              CATEGORY_PIPELINE_COMM, 0, comm, b->last_kernel);
    p->tasks.v[task].sends = message;
    if (sends_exposed(b->stage))
        issue_wait(b, task);
    issue_host_pause(b, b->stage->fw->host.stage_message_s);
    return 0;
}

/* The next kernel waits for a message; a host that looks for it now and then finds it
 * later than it comes. */
static void receive(struct builder *b, int32_t message)
{
    b->next.receives = message;
    issue_host_pause(b, b->stage->fw->host.stage_message_s);
}

/* One task for the whole pass. */
static int write_measured(struct builder *b, struct pass_ref ref, struct err *err)
{
    const struct measured *m;
    struct program *p = &b->step->program;
    int32_t pass;
    if (measure_pass(b, ref.kind, ref.chunk, b->pass.first, &m, &pass, err) < 0)
        return -1;
    b->pass.kind = ref.kind;
    b->pass.chunk = ref.chunk;
    issue_mark_memory(b);
    b->last_kernel = program_pass(p, pass);
    p->tasks.v[b->last_kernel].receives = b->next.receives;
    program_follow(p, b->last_kernel, b->next.waits[0]);
    program_follow(p, b->last_kernel, b->next.waits[1]);
    b->next = issue_after_nothing;
    ledger_apply(&b->step->ledger, &m->memory);
    b->tensors.ahead = m->ahead;
    b->step->flops += m->flops;
    return 0;
}

/* The chunk in which the stage runs a microbatch's last forward. */
static int64_t last_chunk(const struct stage *stage)
{
    bool first = stage->number == 0;
    return stage->s->parallel.stages.virtual_stages - 1 +
           (first && stage->request->parts->head_returns);
}

/* Whether neighbouring parts are on one stage: at the turn of a V. */
static bool stays(const struct stage *stage, int64_t from, int64_t to)
{
    const struct partition *parts = stage->request->parts;
    return parts->folds && partition_stage(parts->n_stages, true, from) ==
                               partition_stage(parts->n_stages, true, to);
}

/* Whether a message comes from one part to another on this stage. */
static bool comes_from(const struct stage *stage, int64_t from, int64_t part)
{
    const struct partition *parts = stage->request->parts;
    return from >= 0 && from < parts->n_stages * parts->n_chunks &&
           !stays(stage, from, part);
}

int64_t pipeline_buffers_B(const struct stage *stage)
{
    const struct parallelism *p = &stage->s->parallel;
    int64_t each_B = 0;
    if (p->pipeline <= 1 || !library_of(p)->message_buffers)
        return 0;
    for (int64_t chunk = 0; chunk < p->stages.virtual_stages; chunk++) {
        int64_t part = stage_part(stage, chunk);
        if (comes_from(stage, part - 1, part))
            each_B += ledger_round((int64_t)tensor_ends_message_B(stage, part - 1));
        if (comes_from(stage, part + 1, part))
            each_B += ledger_round((int64_t)tensor_ends_message_B(stage, part));
    }
    return each_B * stage->s->training.microbatches;
}

/* To the stage that the microbatch goes to next, and to all ranks what it ends as. */
static int hand_on(struct builder *b, struct pass_ref ref, const struct position *at,
                   struct err *err)
{
    bool backward = ref.kind != PASS_FORWARD;
    int64_t to = backward ? at->stage - 1 : at->stage + 1;
    if (to >= 0 && to <= at->last && !stays(b->stage, at->stage, to) &&
        send_layers(b, at->stage, to, message_of(at, backward, to, ref.microbatch), at,
                    err) < 0)
        return -1;
    return backward || ref.chunk != last_chunk(b->stage)
               ? 0
               : group_broadcast_output(b, err);
}

static const enum work work_of[PASS_N] = { WORK_FORWARD, WORK_BACKWARD, WORK_WEIGHT,
                                           WORK_BACKWARD };

static int write_pass(struct builder *b, struct pass_ref ref, bool detail,
                      const struct position *at, struct err *err)
{
    bool backward = ref.kind != PASS_FORWARD;
    issue_tag(b, work_of[ref.kind], ref.microbatch);
    b->step->program.chunk = last_chunk(b->stage) > 0 ? ref.chunk : -1;
    int64_t comes_from = backward ? at->stage + 1 : at->stage - 1;
    bool comes = ref.kind != PASS_WEIGHT && comes_from >= 0 && comes_from <= at->last;
    if (comes && !stays(b->stage, comes_from, at->stage)) {
        receive(b, message_of(at, backward, at->stage, ref.microbatch));
    } else if (ref.kind == PASS_FORWARD && !comes)
        issue_wait(b, issue_load_batch(b));
    if (backward) {
        pass_free_blocks(b, &b->filling);
        pass_free_blocks(b, &b->unpassed);
    }
    if (detail) {
        int32_t begin = issue_kernel(b, CATEGORY_COMPUTE, 0, 0, 0);
        b->step->program.tasks.v[begin].sync = true;
        if (pass_write(b, ref.kind, ref.chunk, err) < 0)
            return -1;
        pass_close(b);
    } else if (write_measured(b, ref, err) < 0) {
        return -1;
    }
    if (!backward)
        b->forward = b->tensors.ahead.spent;
    if (at->ahead) {
        const struct late_blocks led = pass_led(b, &b->filling);
        pass_hold_blocks(b, &b->filling, &led, LEDGER_SPARE);
    }
    if (at->leads) {
        const struct late_blocks left = pass_left_late(b);
        pass_hold_blocks(b, &b->unpassed, &left, LEDGER_LATE);
    }
    return ref.kind == PASS_WEIGHT ? 0 : hand_on(b, ref, at, err);
}

/* Forwards that the first stage runs before its first backward, the last two apart: the
 * host waits for no message and keeps its lead (MODEL.md, 5.7). */
static int64_t passes_ahead(const struct builder *b, const struct pass_list *order,
                            int64_t stage)
{
    enum { CAUGHT_UP = 2 };
    int64_t n = 0;
    if (stage > 0 || b->stage->fw->host.stage_message_s > 0)
        return 0;
    while (n < order->n && order->v[n].kind == PASS_FORWARD && order->v[n].chunk == 0)
        n++;
    return n - CAUGHT_UP;
}

/* Whether the host goes on from a backward pass to a forward without waiting for a
 * message (MODEL.md, 5.7): on the first stage, where it does not look for them now and
 * then. */
static bool leads(const struct builder *b, const struct pass_list *order, int64_t i)
{
    return stage_part(b->stage, 0) == 0 && b->stage->fw->host.stage_message_s <= 0 &&
           i + 1 < order->n && pass_makes_input(order->v[i].kind) &&
           order->v[i + 1].kind == PASS_FORWARD && order->v[i + 1].chunk == 0;
}

/* Whether no later pass of the order completes gradients of the chunk. */
static bool is_last_backward(const struct pass_list *order, int64_t i)
{
    for (int64_t k = i + 1; k < order->n; k++)
        if (pass_makes_weights(order->v[k].kind) &&
            order->v[k].chunk == order->v[i].chunk)
            return false;
    return true;
}

/* Microbatches that are replayed through the allocator: as many as are in flight at
 * once, and a few after them. Those in the middle find what these have left; of more
 * in flight than are replayed, activations count as they are (reserved_by_stage). */
static int64_t recorded_microbatches(const struct pass_list *order)
{
    enum { AFTER = 2 };
    int64_t n = schedule_in_flight(order) + AFTER;
    return n < SCHEDULE_RECORDED ? n : SCHEDULE_RECORDED;
}

/* A stretch of the order whose last period is that which the periods left out of it
 * repeat; its passes do what those of the one before do. */
struct stretch_left {
    struct repeat *repeat;
    int64_t period, end; /* passes of a period; those before its end */
    double flops_before; /* of the step, before the last */
};

/* `done` passes are written. Whether the last has ended. */
static bool repeat_period(struct builder *b, struct stretch_left *s, int64_t done)
{
    struct repeat *r = s->repeat;
    if (b->stage->request->left_out == 0 || s->end == 0)
        return false;
    *r = (struct repeat) { r->from, r->to, b->stage->request->left_out,
                           .if_steady = true };
    if (done == s->end - s->period) {
        r->from = b->last_kernel;
        s->flops_before = b->step->flops;
    }
    if (done != s->end || r->from < 0)
        return false;
    r->to = b->last_kernel;
    b->step->flops += (double)r->extra * (b->step->flops - s->flops_before);
    return true;
}

/* Of an order that runs all forwards first, where each pass left out keeps memory, or
 * frees it. One that is not measured has no period. */
static int book_left_out(struct builder *b, struct repeat *r, struct pass_ref ref,
                         struct err *err)
{
    const struct measured *m;
    int32_t pass;
    if (b->step->program.tasks.v[r->to].pass < 0) {
        r->to = r->from;
        return 0;
    }
    if (measure_pass(b, ref.kind, ref.chunk, b->pass.first, &m, &pass, err) < 0)
        return -1;
    bool records = b->step->ledger.records;
    b->step->ledger.records = false;
    for (int64_t i = 0; i < r->extra; i++)
        ledger_apply(&b->step->ledger, &m->memory);
    b->step->ledger.records = records;
    return 0;
}

/* After the pass of that number. */
static int leave_out(struct builder *b, struct stretch_left stretches[2], int64_t i,
                     struct pass_ref ref, struct err *err)
{
    bool phases = stretches[1].end > 0;
    for (int k = 0; k < 2; k++)
        if (repeat_period(b, &stretches[k], i + 1) && phases &&
            book_left_out(b, stretches[k].repeat, ref, err) < 0)
            return -1;
    return 0;
}

/* Where the i-th pass is, and what it makes of the step. */
static void place_pass(struct builder *b, const struct pass_list *order, int64_t i,
                       struct position *at, bool reduces)
{
    struct pass_ref ref = order->v[i];
    at->stage = stage_part(b->stage, ref.chunk);
    b->pass.first = !b->seen[ref.kind == PASS_INPUT][ref.chunk];
    b->pass.reduces =
        reduces && pass_makes_weights(ref.kind) && is_last_backward(order, i);
    b->pass.defers = deferred_leaves(b->stage, ref);
    b->pass.pairs = ref.paired && b->stage->s->parallel.dispatch.overlap ==
                                      EXPERT_OVERLAP_MICROBATCHES;
}

/* Whether each operator of a pass is a task: something waits for one of them. */
static bool is_detailed(const struct builder *b, struct pass_ref ref, bool reduces)
{
    bool overlaps = reduces && b->stage->s->parallel.reduce.overlap &&
                    (b->pass.reduces || b->buckets.last_comm >= 0);
    return b->stage->detail || overlaps || shard_changes(b, ref.kind, ref.chunk) ||
           param_gather_awaited(b, ref.kind, ref.chunk);
}

/* After the last pass: what was left for it, the last buckets, outputs. */
static int end_passes(struct builder *b, bool reduces, struct err *err)
{
    b->pass.defers = b->pass.pairs = false;
    deferred_run(b, b->stage->request->microbatches);
    issue_tag(b, WORK_OTHER, -1); /* of no pass any more */
    b->pass.reduces = reduces;
    if (reduces && !states_shard_parameters(b->stage->s) && buckets_end(b, err) < 0)
        return -1;
    if (reduces)
        issue_wait(b, b->buckets.last_comm);
    group_take_outputs(b);
    issue_kernel(b, CATEGORY_COMPUTE, b->stage->fw->host.dispatch_forward_s, 0, 0);
    issue_host_pause(b, b->stage->fw->host.microbatch_s);
    return 0;
}

int pipeline_passes(struct builder *b, const struct pass_list *order,
                    int64_t accumulated, bool reduces, struct err *err)
{
    enum { TASKS = 3 }; /* about as many a pass: itself, its message, a host's pause */
    const struct parallelism *p = &b->stage->s->parallel;
    int64_t m = b->stage->request->microbatches;
    int64_t all =
        p->pipeline * p->stages.virtual_stages + b->stage->request->parts->head_returns;
    struct position at = { .last = all - 1,
                           .n_each = (int32_t)(all * m),
                           .microbatches = m };
    at.sent = arena_raw(b->stage->arena, (size_t)all, sizeof(*at.sent));
    memset(at.sent, -1, (size_t)all * sizeof(*at.sent));
    at.base = (int32_t)accumulated * 2 * at.n_each;
    b->step->program.n_messages = at.base + 2 * at.n_each;
    b->pass.reduces = reduces;
    int64_t recorded = accumulated == 0 ? recorded_microbatches(order) : 0;
    const int64_t n_ahead = passes_ahead(b, order, stage_part(b->stage, 0));
    struct ledger *l = &b->step->ledger;
    const struct load_order *loads = offload_order(b->stage, order);
    struct repeat *repeat = &b->step->program.repeat,
                  *forwards = &b->step->program.forwards;
    struct stretch_left stretches[2] = {
        { repeat, order->period, order->periods_end - offload_lead(loads), 0 },
        { forwards, 1, order->forwards_end, 0 },
    };
    buckets_begin(b);
    VEC_RESERVE(&b->step->program.tasks, TASKS * order->n);
    for (int64_t i = 0; i < order->n; i++) {
        struct pass_ref ref = order->v[i];
        place_pass(b, order, i, &at, reduces);
        at.ahead = i < n_ahead;
        at.leads = ref.microbatch + 1 < recorded && leads(b, order, i);
        bool detailed = is_detailed(b, ref, reduces);
        offload_begin_loads(b, loads, i, recorded);
        offload_await(b, loads, i);
        l->microbatch = ref.microbatch;
        l->records = ref.microbatch < recorded;
        if (write_pass(b, ref, detailed, &at, err) < 0)
            return -1;
        l->records = true;
        b->seen[false][ref.chunk] |= pass_makes_weights(ref.kind);
        b->seen[true][ref.chunk] |= pass_makes_input(ref.kind);
        if (leave_out(b, stretches, i, ref, err) < 0)
            return -1;
    }
    return end_passes(b, reduces, err);
}
