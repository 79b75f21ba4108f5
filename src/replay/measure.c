/* Passes replayed in isolation: a pass of a pipeline's stage begins when its message has
 * come and the host with it, so that it takes the same time wherever it stands, and one
 * replay in detail serves for all of its kind. */
#include "base/units.h"
#include "replay/builder.h"
#include "replay/run.h"
#include "replay/syncs.h"

#include <string.h>

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
    int32_t last_kernel = b->last_kernel;
    b->last_kernel = -1;
    int rc = pass_write(b, kind, chunk, err);
    if (rc == 0)
        build_close(b);
    alone = b->step->program;
    b->step->program = whole;
    b->last_kernel = last_kernel;
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
        for (int i = 0; i < PART_N; i++) {
            cost->parts_ps[i] = units_ps(r.parts_s[i]);
            sum += i == PART_DATA_COMM_HIDDEN ? 0 : cost->parts_ps[i];
        }
        cost->parts_ps[PART_OTHER] += cost->time_ps - sum; /* rounding */
        read_kernels(cost, &alone, b->request->folded);
    }
    program_release(&alone);
    return rc;
}

/* What the pass has allocated and freed, which the ledger has recorded since it began. */
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
    struct pass_cost cost;
    struct ledger from = b->step->ledger;
    struct ledger *l = &b->step->ledger;
    double flops = b->step->flops;
    bool reduces = b->reduces;
    ledger_begin(l);
    l->events.v = NULL; /* a list of its own, until the end */
    l->events.n = l->events.cap = 0;
    b->first = first;
    b->reduces = false;
    int rc = replay(b, kind, chunk, &cost, err);
    b->reduces = reduces;
    m->flops = b->step->flops - flops;
    b->step->flops = flops;
    take_events(b, &m->memory);
    ledger_end(l, &from, &m->memory);
    if (rc < 0)
        return -1;
    VEC_PUSH(&b->step->program.passes, cost);
    m->pass = (int32_t)(b->step->program.passes.n - 1);
    m->known = true;
    return 0;
}

/* A chunk of that layer alone, with a host that never binds and whole parameters. */
static int measure_block(struct builder *b, int32_t block, struct err *err)
{
    struct framework fw = *b->fw;
    struct slice slice = { block, 1 };
    struct chunk_slices chunk = { 1, &slice };
    struct builder layer = *b;
    struct measured m[2] = { 0 };
    int rc = 0;
    fw.dispatch_forward_s = fw.dispatch_backward_s = 0;
    fw.dispatch_collective_s = fw.dispatch_wide_s = 0;
    fw.host_spread = fw.host_spread_tensor = fw.collective_skew_s = 0;
    fw.accumulate_B = fw.accumulate_16bit_B = 0;
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
    for (int i = 0; i < 2 && rc == 0; i++)
        b->step->kernels_s[i] = units_s(b->step->program.passes.v[m[i].pass].time_ps);
    return rc;
}

int measure_layer(struct builder *b, struct err *err)
{
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        if (strcmp(block->name, "layer") != 0)
            continue;
        b->step->layer_parameters_B =
            (int64_t)((double)block_parameters(block) * b->states.parameter_B);
        b->step->layer_activations_B = pass_kept_B(b, i);
        return measure_block(b, i, err);
    }
    return 0;
}

int measure_pass(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                 const struct measured **out, struct err *err)
{
    bool both = kind == PASS_FORWARD; /* forwards are alike */
    struct measured *m =
        &b->measured[(chunk * PASS_N + (int32_t)kind) * 2 + (first && !both)];
    *out = m;
    return m->known ? 0 : measure(b, kind, chunk, first, m, err);
}
