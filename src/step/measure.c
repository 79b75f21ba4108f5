/* Passes replayed in isolation: a pass of a pipeline's stage begins when its message
 * has come and the host with it, so that it takes the same time wherever it stands, and
 * one replay in detail serves for all of its kind, and for those of all stages that
 * hold the same blocks and lie alike. */
#include "step/measure.h"

#include "base/units.h"
#include "run/run.h"
#include "step/pass.h"
#include "step/recompute.h"
#include "step/stage.h"
#include "step/syncs.h"

#include <string.h>

/* Stages that are alike ------------------------------------------------------------ */

struct measured_stage {
    struct measured_stage *next;
    int64_t rank; /* that it was measured for */
    const struct gpu *gpu;
    const struct op_block *blocks;     /* of its list ... */
    const struct chunk_slices *chunks; /* ... and which of them its chunks hold */
    struct measured *passes;           /* [chunks][PASS_N][2] */
    bool has_layer;
    double kernels_s[2]; /* of a layer: forward, backward */
};

static bool same_slice(const struct builder *b, const struct measured_stage *m,
                       struct slice x, struct slice y)
{
    const struct op_block *p = &b->list.blocks[x.block], *q = &m->blocks[y.block];
    return x.repeat == y.repeat && p->forward == q->forward &&
           p->backward == q->backward && p->params == q->params;
}

static bool same_blocks(const struct builder *b, const struct measured_stage *m)
{
    for (int64_t i = 0; i < partition_chunks(b->request->parts); i++) {
        const struct chunk_slices *x = &b->chunks[i], *y = &m->chunks[i];
        if (x->n != y->n)
            return false;
        for (int32_t k = 0; k < x->n; k++)
            if (!same_slice(b, m, x->v[k], y->v[k]))
                return false;
    }
    return true;
}

/* Whether all passes of the builder's stage take what those of the other do. */
static bool is_like(const struct builder *b, const struct measured_stage *m)
{
    return b->gpu == m->gpu && (b->plans_rank == m->rank || b->request->stages_alike) &&
           stage_is_last(b, b->plans_rank) == stage_is_last(b, m->rank) &&
           same_blocks(b, m);
}

void measure_begin(struct builder *b)
{
    int64_t n = partition_chunks(b->request->parts) * PASS_N * 2;
    b->passes = ARENA_ARRAY(b->arena, n, int32_t);
    for (int64_t i = 0; i < n; i++)
        b->passes[i] = -1;
    for (b->measured = *b->request->measured; b->measured;
         b->measured = b->measured->next)
        if (is_like(b, b->measured))
            return;
    b->measured = ARENA_NEW(b->arena, struct measured_stage);
    *b->measured = (struct measured_stage) {
        .next = *b->request->measured,
        .rank = b->plans_rank,
        .gpu = b->gpu,
        .blocks = b->list.blocks,
        .chunks = b->chunks,
        .passes = ARENA_ARRAY(b->arena, n, struct measured),
    };
    *b->request->measured = b->measured;
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

/* The pass alone, on a program of its own; its collectives are those of the stage's. */
static int replay(struct builder *b, enum pass_kind kind, int32_t chunk,
                  struct pass_cost *cost, struct err *err)
{
    struct program whole = b->step->program, alone;
    program_init(&alone);
    for (int64_t i = 0; i < whole.comms.n; i++)
        VEC_PUSH(&alone.comms, whole.comms.v[i]);
    b->step->program = alone;
    int32_t last_kernel = b->last_kernel, last_store = b->last_store;
    b->last_kernel = b->last_store = -1;
    int rc = pass_write(b, kind, chunk, err);
    if (rc == 0)
        pass_close(b);
    alone = b->step->program;
    b->step->program = whole;
    b->last_kernel = last_kernel;
    b->last_store = last_store;
    for (int64_t i = 0; i < alone.comms.n && rc == 0; i++) {
        struct comm *c = &alone.comms.v[i];
        struct plans plans = { b->arena, b->request->folded, b->request->groups };
        if (b->request->folded != b->net && c->has_request)
            rc = plans_make(&plans, c, b->plans_rank, &c->plan, err);
    }
    const struct program *programs[] = { &alone };
    struct run_request q = { .plans = { b->arena, b->request->folded,
                                        b->request->groups },
                             .network = FIDELITY_FLOW,
                             .n_ranks = 1,
                             .programs = programs,
                             .ranks = &b->plans_rank };
    struct run_result r;
    if (rc == 0)
        rc = run_programs(&q, &r, err);
    if (rc == 0) {
        int64_t sum = 0;
        *cost = (struct pass_cost) { .gpu_busy_ps = units_ps(r.gpu_busy_s),
                                     .host_busy_ps = units_ps(r.host_busy_s),
                                     .links_busy_ps = { units_ps(r.nic_busy_s),
                                                        units_ps(r.nvlink_busy_s) },
                                     .time_ps = units_ps(r.time_s) };
        for (int i = 0; i < CATEGORY_N; i++) {
            cost->parts_ps[i] = units_ps(r.parts_s[i]);
            sum += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : cost->parts_ps[i];
        }
        cost->parts_ps[CATEGORY_OTHER] += cost->time_ps - sum; /* rounding */
        read_kernels(cost, &alone, b->request->folded);
    }
    program_release(&alone);
    return rc;
}

/* What the pass has allocated and freed, which the ledger has recorded since it
 * began. */
static void take_events(struct builder *b, struct ledger_change *memory)
{
    struct ledger *l = &b->step->ledger;
    struct ledger_event *events =
        ARENA_ARRAY(b->arena, l->events.n + 1, struct ledger_event);
    for (int64_t i = 0; i < l->events.n; i++)
        events[i] = l->events.v[i];
    memory->events = events;
    memory->n_events = l->events.n;
    ledger_release(l);
}

static int measure(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                   struct measured *m, struct err *err)
{
    struct ledger from = b->step->ledger;
    struct ledger *l = &b->step->ledger;
    double flops = b->step->flops;
    bool reduces = b->reduces;
    ledger_begin(l);
    l->events.v = NULL; /* a list of its own, until the end */
    l->events.n = l->events.cap = 0;
    b->first = first;
    b->reduces = false;
    int rc = replay(b, kind, chunk, &m->cost, err);
    b->reduces = reduces;
    m->flops = b->step->flops - flops;
    b->step->flops = flops;
    take_events(b, &m->memory);
    ledger_end(l, &from, &m->memory);
    m->known = rc == 0;
    return rc;
}

/* A chunk of that layer alone, with a host that never binds, whole parameters and
 * checkpoints that stay. */
static int measure_block(struct builder *b, int32_t block, struct err *err)
{
    struct framework fw = *b->fw;
    struct scenario plain = *b->s;
    struct slice slice = { .block = block, .repeat = 1 };
    struct chunk_slices chunk = { 1, &slice };
    struct builder layer = *b;
    struct measured m[2] = { 0 };
    int rc = 0;
    fw.dispatch_forward_s = fw.dispatch_backward_s = 0;
    fw.dispatch_collective_s = fw.dispatch_wide_s = 0;
    fw.launch_jitter = fw.launch_jitter_tensor = fw.collective_skew_s = 0;
    fw.unit_spread = 0;
    fw.accumulate_B = fw.accumulate_16bit_B = 0;
    plain.parallel.offload_activations = false;
    layer.s = &plain;
    layer.fw = &fw;
    layer.chunks = &chunk;
    layer.units = NULL;
    struct ledger before = b->step->ledger;
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = measure(&layer, i ? PASS_BACKWARD : PASS_FORWARD, 0, false, &m[i], err);
        if (rc == 0)
            ledger_apply(&b->step->ledger, &m[i].memory);
    }
    b->step->ledger = before;
    for (int i = 0; i < 2; i++)
        b->measured->kernels_s[i] = units_s(m[i].cost.time_ps);
    b->measured->has_layer = rc == 0;
    return rc;
}

int measure_layer(struct builder *b, struct err *err)
{
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        if (strcmp(block->name, "layer") != 0)
            continue;
        b->step->layer_parameters_B =
            (int64_t)((double)op_block_parameters(block) * b->states.parameter_B);
        b->step->layer_activations_B = recompute_kept_B(b, i);
        if (!b->measured->has_layer && measure_block(b, i, err) < 0)
            return -1;
        for (int k = 0; k < 2; k++)
            b->step->kernels_s[k] = b->measured->kernels_s[k];
        return 0;
    }
    return 0;
}

int measure_pass(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                 const struct measured **out, int32_t *index, struct err *err)
{
    bool forward = kind == PASS_FORWARD; /* they differ by whether they offload */
    bool second = forward ? b->keeps_checkpoints : first;
    int32_t at = (chunk * PASS_N + (int32_t)kind) * 2 + second;
    struct measured *m = &b->measured->passes[at];
    if (!m->known && measure(b, kind, chunk, first, m, err) < 0)
        return -1;
    if (b->passes[at] < 0) {
        b->passes[at] = (int32_t)b->step->program.passes.n;
        VEC_PUSH(&b->step->program.passes, m->cost);
    }
    *out = m;
    *index = b->passes[at];
    return 0;
}
