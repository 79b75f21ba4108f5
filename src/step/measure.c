/* Passes replayed in isolation: a pass of a pipeline's stage begins when its message
 * has come and the host with it, so that it takes the same time wherever it is, and
 * one replay in detail serves for all of its kind, and for those of all stages that
 * hold the same blocks and lie alike. */
#include "step/measure.h"

#include "base/units.h"
#include "run/run.h"
#include "step/issue.h"
#include "step/pass/block_times.h"
#include "step/pass/offload_modules.h"
#include "step/pass/pass.h"
#include "step/pass/pass_block.h"
#include "step/pass/recompute.h"
#include "step/stage.h"
#include "step/step.h"
#include "step/syncs.h"

#include <string.h>

/* Stages that are alike ------------------------------------------------------------ */

enum { PASS_VARIANTS = 8 };

struct measured_stage {
    struct measured_stage *next;
    int64_t rank; /* that it was measured for */
    const struct gpu *gpu;
    const struct op_block *blocks;     /* of its list ... */
    const struct chunk_slices *chunks; /* ... and which of them its chunks hold */
    struct measured *passes;           /* [chunks][PASS_N][PASS_VARIANTS] */
    bool has_layer;
    double kernels_s[2]; /* of a layer: forward, backward */
};

static bool same_slice(const struct stage *stage, const struct measured_stage *m,
                       struct slice x, struct slice y)
{
    const struct op_block *p = &stage->list.blocks[x.block], *q = &m->blocks[y.block];
    return x.repeat == y.repeat && p->forward == q->forward &&
           p->backward == q->backward && p->params == q->params;
}

static bool same_blocks(const struct stage *stage, const struct measured_stage *m)
{
    for (int64_t i = 0; i < partition_chunks(stage->request->parts); i++) {
        const struct chunk_slices *x = &stage->chunks[i], *y = &m->chunks[i];
        if (x->n != y->n)
            return false;
        for (int32_t k = 0; k < x->n; k++)
            if (!same_slice(stage, m, x->v[k], y->v[k]))
                return false;
    }
    return true;
}

/* Whether all passes of the builder's stage take what those of the other do. */
static bool is_like(const struct stage *stage, const struct measured_stage *m)
{
    return stage->gpu == m->gpu &&
           (stage->rank == m->rank || stage->request->stages_alike) &&
           stage_is_last(stage, stage->rank) == stage_is_last(stage, m->rank) &&
           same_blocks(stage, m);
}

/* Chunks that are alike ------------------------------------------------------------ */

/* Which of its layers are recomputed goes by their numbers. */
static bool same_layers(const struct stage *stage, struct slice x, struct slice y)
{
    int64_t every = stage->s->training.checkpoint_every;
    if (stage->s->training.checkpoint_block > 0 && x.in_chunk != y.in_chunk)
        return false;
    return x.block == y.block && x.repeat == y.repeat &&
           (every <= 1 || x.first_layer % every == y.first_layer % every);
}

static bool same_chunk(const struct builder *b, int32_t x, int32_t y)
{
    const struct stage *stage = b->stage;
    const struct chunk_slices *p = &stage->chunks[x], *q = &stage->chunks[y];
    if (b->shard.units || p->n != q->n ||
        pass_keeps_output(stage, x) != pass_keeps_output(stage, y) ||
        offload_modules_stay(stage, x) != offload_modules_stay(stage, y))
        return false;
    for (int32_t i = 0; i < p->n; i++)
        if (!same_layers(stage, p->v[i], q->v[i]))
            return false;
    return true;
}

/* At the latest it is alike itself. */
static void find_alike(struct builder *b)
{
    int32_t n = (int32_t)partition_chunks(b->stage->request->parts);
    b->measured.alike = ARENA_ARRAY(b->stage->arena, n, int32_t);
    for (int32_t i = 0; i < n; i++)
        while (b->measured.alike[i] < i && !same_chunk(b, i, b->measured.alike[i]))
            b->measured.alike[i]++;
}

void measure_begin(struct builder *b)
{
    find_alike(b);
    int64_t n = partition_chunks(b->stage->request->parts) * PASS_N * PASS_VARIANTS;
    b->measured.passes = ARENA_ARRAY(b->stage->arena, n, int32_t);
    for (int64_t i = 0; i < n; i++)
        b->measured.passes[i] = -1;
    for (b->measured.stage = *b->stage->request->measured; b->measured.stage;
         b->measured.stage = b->measured.stage->next)
        if (is_like(b->stage, b->measured.stage))
            return;
    b->measured.stage = ARENA_NEW(b->stage->arena, struct measured_stage);
    *b->measured.stage = (struct measured_stage) {
        .next = *b->stage->request->measured,
        .rank = b->stage->rank,
        .gpu = b->stage->gpu,
        .blocks = b->stage->list.blocks,
        .chunks = b->stage->chunks,
        .passes = ARENA_ARRAY(b->stage->arena, n, struct measured),
    };
    *b->stage->request->measured = b->measured.stage;
}

/* Measuring ------------------------------------------------------------------------ */

/* What jitter of single kernels comes to over the pass. */
static void read_kernels(struct pass_cost *cost, const struct program *p,
                         const struct net *net)
{
    int32_t *syncs = syncs_find(p, net);
    for (int32_t i = 0; i < p->tasks.n; i++) {
        double time_s = units_s(p->tasks.v[i].alone_ps);
        if (p->tasks.v[i].stream == STREAM_COMPUTE)
            cost->squares_s2 += time_s * time_s;
        if (syncs[i] < 0)
            continue;
        cost->n_syncs++;
        cost->over = p->comms.v[syncs[i]].channel;
    }
    free(syncs);
}

/* The pass alone: a step of its own, with the collectives planned so far. Units of
 * parameters are the builder's: a pass that changes them is not measured, but where the
 * builder exists to measure. Released by who calls, after errors, too. */
static int write_alone(const struct builder *b, enum pass_kind kind, int32_t chunk,
                       bool first, struct step *out, struct late_pass *ahead,
                       struct err *err)
{
    struct builder alone = *b;
    program_init(&out->program);
    out->program.check = scenario_checks(b->stage->s, b->stage->fw);
    for (int64_t i = 0; i < b->step->program.comms.n; i++)
        VEC_PUSH(&out->program.comms, b->step->program.comms.v[i]);
    out->ledger = ledger_branch(&b->step->ledger);
    alone.step = out;
    alone.next = issue_after_nothing;
    alone.last_kernel = alone.offload.last_store = -1;
    alone.pass.first = first;
    alone.pass.reduces = false;
    if (pass_write(&alone, kind, chunk, err) < 0)
        return -1;
    pass_close(&alone);
    *ahead = alone.tensors.ahead;
    return 0;
}

/* All groups' collectives count: plans of the folded net. */
static int fold(const struct stage *stage, struct program *p, struct err *err)
{
    const struct step_request *q = stage->request;
    const struct plans plans = { stage->arena, q->folded, q->groups, NULL, q->rings };
    for (int64_t i = 0; i < p->comms.n && q->folded != stage->net; i++) {
        struct comm *c = &p->comms.v[i];
        if (c->has_request && plans_make(&plans, c, stage->rank, &c->plan, err) < 0)
            return -1;
    }
    return 0;
}

static struct pass_cost cost_of(const struct run_result *r)
{
    struct pass_cost cost = { .gpu_busy_ps = units_ps(r->gpu_busy_s),
                              .host_busy_ps = units_ps(r->host_busy_s),
                              .links_busy_ps = { units_ps(r->nic_busy_s),
                                                 units_ps(r->nvlink_busy_s) },
                              .time_ps = units_ps(r->time_s) };
    int64_t sum = 0;
    for (int i = 0; i < CATEGORY_N; i++) {
        cost.parts_ps[i] = units_ps(r->parts_s[i]);
        sum += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : cost.parts_ps[i];
    }
    cost.parts_ps[CATEGORY_OTHER] += cost.time_ps - sum; /* rounding */
    return cost;
}

static int replay(const struct stage *stage, struct program *p, struct pass_cost *cost,
                  struct err *err)
{
    const struct step_request *q = stage->request;
    const struct program *programs[] = { p };
    const struct run_request request = { .plans = { stage->arena, q->folded, q->groups,
                                                    NULL, NULL },
                                         .network = FIDELITY_FLOW,
                                         .n_ranks = 1,
                                         .programs = programs,
                                         .ranks = &stage->rank,
                                         .links_unread = q->unread.links };
    struct run_result r;
    if (fold(stage, p, err) < 0 || run_programs(&request, &r, err) < 0)
        return -1;
    *cost = cost_of(&r);
    read_kernels(cost, p, q->folded);
    return 0;
}

/* What the pass has allocated and freed since the builder's ledger was copied. */
static struct ledger_change memory_of(const struct builder *b, const struct ledger *l)
{
    struct ledger_change change = ledger_since(l, &b->step->ledger);
    struct ledger_event *events =
        ARENA_ARRAY(b->stage->arena, l->events.n + 1, struct ledger_event);
    for (int64_t i = 0; i < l->events.n; i++)
        events[i] = l->events.v[i];
    change.events = events;
    return change;
}

static int measure(const struct builder *b, enum pass_kind kind, int32_t chunk,
                   bool first, struct measured *m, struct err *err)
{
    struct step alone = { 0 };
    int rc = write_alone(b, kind, chunk, first, &alone, &m->ahead, err);
    if (rc == 0)
        rc = replay(b->stage, &alone.program, &m->cost, err);
    if (rc == 0) {
        m->flops = alone.flops;
        m->memory = memory_of(b, &alone.ledger);
        m->known = true;
    }
    program_release(&alone.program);
    ledger_release(&alone.ledger);
    return rc;
}

/* A chunk of that layer alone, with a host that never binds, whole parameters and
 * checkpoints that stay. */
static int measure_block(const struct builder *b, int32_t block, struct err *err)
{
    struct framework fw = *b->stage->fw;
    struct scenario plain = *b->stage->s;
    struct slice slice = { .block = block, .repeat = 1 };
    struct chunk_slices chunk = { 1, &slice };
    struct stage stage = *b->stage;
    struct step step =
        *b->step; /* its ledger and collectives, of which none is added */
    struct builder layer = *b;
    struct measured m[2] = { 0 };
    int rc = 0;
    fw.host.dispatch_forward_s = fw.host.dispatch_backward_s = 0;
    fw.host.dispatch_collective_s = fw.host.dispatch_wide_s = 0;
    fw.host.check = (struct check_times) { 0 };
    fw.host.launch_jitter = fw.host.launch_jitter_tensor = fw.host.collective_skew_s =
        0;
    fw.experts.dispatch_s = fw.experts.router_dispatch_s = fw.experts.read_counts_s = 0;
    fw.shard.unit_spread = 0;
    fw.gradients.accumulate_B = fw.gradients.accumulate_16bit_B = 0;
    plain.parallel.offload_activations = false;
    plain.parallel.offload_modules = 0;
    plain.parallel.offload_layers = 0;
    stage.s = &plain;
    stage.fw = &fw;
    stage.chunks = &chunk;
    stage.times = ARENA_ARRAY(stage.arena, stage.list.n_blocks + 1, struct block_times);
    for (int32_t i = 0; i < stage.list.n_blocks; i++)
        stage.times[i] = b->stage->times[i];
    block_times_host(&stage);
    layer.stage = &stage;
    layer.step = &step;
    layer.stretches = NULL; /* it is another stage's */
    layer.shard.units = NULL;
    step.ledger = ledger_branch(&b->step->ledger);
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = measure(&layer, i ? PASS_BACKWARD : PASS_FORWARD, 0, false, &m[i], err);
        if (rc == 0)
            ledger_apply(&step.ledger, &m[i].memory);
    }
    ledger_release(&step.ledger);
    struct measured_stage *to = b->measured.stage;
    for (int i = 0; i < 2; i++)
        to->kernels_s[i] = units_s(m[i].cost.time_ps);
    to->has_layer = rc == 0;
    return rc;
}

int measure_layer(struct builder *b, struct err *err)
{
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        const struct op_block *block = &b->stage->list.blocks[i];
        bool first = b->stage->s->model.pattern && op_block_is_layer(block);
        if (!first && strcmp(block->name, "layer") != 0)
            continue;
        double kept_B =
            dtype_bytes(op_parameter_dtype(b->stage->s->training.precision));
        b->step->layer_parameters_B =
            (int64_t)(((double)op_block_trained(block) +
                       op_block_frozen_B(block, kept_B) / kept_B) *
                      b->stage->states.parameter_B);
        b->step->layer_activations_B = recompute_kept_B(b->stage, i);
        b->step->has_layer = true;
        block_times_kinds(b->stage, i, b->step->kinds_s);
        if (b->stage->request->unread.layer)
            return 0;
        if (!b->measured.stage->has_layer && measure_block(b, i, err) < 0)
            return -1;
        for (int k = 0; k < 2; k++)
            b->step->kernels_s[k] = b->measured.stage->kernels_s[k];
        return 0;
    }
    return 0;
}

int measure_pass(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                 const struct measured **out, int32_t *index, struct err *err)
{
    bool forward = kind == PASS_FORWARD; /* they differ by whether they offload */
    bool second = forward ? b->offload.keeps : first;
    int32_t variant = second + 2 * (!forward && b->pass.defers) + 4 * b->pass.pairs;
    chunk = b->measured.alike[chunk];
    int32_t at = (chunk * PASS_N + (int32_t)kind) * PASS_VARIANTS + variant;
    struct measured *m = &b->measured.stage->passes[at];
    if (!m->known && measure(b, kind, chunk, first, m, err) < 0)
        return -1;
    if (b->measured.passes[at] < 0) {
        b->measured.passes[at] = (int32_t)b->step->program.passes.n;
        VEC_PUSH(&b->step->program.passes, m->cost);
    }
    *out = m;
    *index = b->measured.passes[at];
    return 0;
}
