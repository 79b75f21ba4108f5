#include "step/wire.h"

#include "step/comms.h"
#include "step/issue.h"
#include "step/replicas.h"

#include <assert.h>
#include <math.h>

/* Bytes on the wire and moved by kernels, of elements that have `g` bytes each. fp16:
 * one pass each way. int8: a pass for the largest of each block, one that rounds, one
 * back; every block has an fp32 scale. */
enum { INT8_BLOCK = 256 };

static void set_compression(struct wire *w, enum compression c, double g)
{
    double wire = c == COMPRESSION_FP16   ? fmin(g, 2)
                  : c == COMPRESSION_INT8 ? 1 + 4.0 / INT8_BLOCK
                                          : g;
    double passes = c == COMPRESSION_INT8 ? 1 : 0;
    w->gradient_B = g;
    w->frac = wire / g;
    w->compress_B = wire < g ? (2 * (g + wire) + passes * g) / g : 0;
}

void wire_init(struct stage *stage)
{
    struct scenario plain = *stage->s;
    plain.parallel.reduce.compression = COMPRESSION_NONE;
    set_compression(&stage->wire, stage->s->parallel.reduce.compression,
                    states_wire_B(&plain));
}

static struct coll_plan *make_plan(struct arena *arena, const struct scenario *s,
                                   const struct net *net, struct coll_request request,
                                   struct err *err)
{
    struct coll_plan *plan = ARENA_NEW(arena, struct coll_plan);
    struct coll_group *world = ARENA_NEW(arena, struct coll_group);
    *world = coll_group_world(&s->cluster);
    request.protocol = s->software.protocol;
    request.limits = s->software.limits;
    request.groups = world;
    request.n_groups = 1;
    request.nccl = s->software.nccl;
    request.graph_launch = true;
    bool nccl = request.algorithm == COLL_AUTO;
    if (coll_plan_make(plan, arena, net, &request, err) < 0)
        return NULL;
    if (nccl)
        plans_share_nics(net, plan, s->training.framework->reduction.network_frac);
    return plan;
}

int wire_broadcast(const struct stage *stage, double bytes, struct coll_plan *plan,
                   struct err *err)
{
    struct coll_request request = { .op = COLL_BROADCAST, .size_B = bytes };
    const struct coll_plan *made =
        make_plan(stage->arena, stage->s, stage->net, request, err);
    if (!made)
        return -1;
    *plan = *made;
    return 0;
}

/* Stages --------------------------------------------------------------------------- */

static const enum stream streams[] = {
    [COLL_AT_GPU] = STREAM_COMM,        [COLL_AT_COPY_OUT] = STREAM_TO_HOST,
    [COLL_AT_NETWORK] = STREAM_NETWORK, [COLL_AT_PULL] = STREAM_PULL,
    [COLL_AT_COPY_IN] = STREAM_TO_GPU,  [COLL_AT_GATHER] = STREAM_GATHER,
};

/* A plan of some phases of another. Only GPUs' own phases take SMs. */
static const struct coll_plan *part_of(const struct stage *stage,
                                       const struct coll_plan *whole, int32_t first,
                                       int32_t n)
{
    struct coll_plan *part = ARENA_NEW(stage->arena, struct coll_plan);
    enum coll_place place = whole->phases[first].place;
    *part = *whole;
    part->phases = whole->phases + first;
    part->n_phases = n;
    if (place != COLL_AT_GPU && place != COLL_AT_GATHER)
        part->sm_frac = part->memory_Bps = 0;
    return part;
}

/* Phases in a row at one place are one stage. */
static void cut_stages(struct builder *b, const struct coll_plan *plan)
{
    struct bucket_plans *w = &b->buckets.plans;
    w->n_stages = 0;
    for (int32_t i = 0, n; i < plan->n_phases; i += n) {
        n = 1;
        while (i + n < plan->n_phases &&
               plan->phases[i + n].place == plan->phases[i].place)
            n++;
        w->streams[w->n_stages] = streams[plan->phases[i].place];
        w->stages[w->n_stages++] =
            program_comm(&b->step->program, part_of(b->stage, plan, i, n));
    }
}

/* NCCL's collectives of the ranks that hold the same parameters: a sum, or what sharded
 * states need of it, and then a sum over the replicas of each shard. */
static int plan_groups(struct builder *b, double size, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    struct bucket_plans *w = &b->buckets.plans;
    bool sharded = states_are_sharded(b->stage->s);
    int32_t comm = comms_add(b, sharded ? CHANNEL_SHARD : CHANNEL_DATA,
                             replicas_reduction(b->stage), size, err);
    if (comm < 0)
        return -1;
    comms_overlapped(b, b->step->program.comms.v[comm].plan);
    w->n_stages = 1;
    w->streams[0] = STREAM_COMM;
    w->stages[0] = comm;
    if (!sharded || p->shard.degree >= p->data * p->context)
        return 0;
    comm = comms_add(b, CHANNEL_REPLICA, COLL_ALL_REDUCE,
                     size / (double)p->shard.degree, err);
    w->n_stages = 2;
    w->streams[1] = STREAM_COMM;
    w->stages[1] = comm;
    return comm < 0 ? -1 : 0;
}

int wire_plan(struct builder *b, double bytes, struct err *err)
{
    double size = bytes * b->stage->wire.frac;
    if (size == b->buckets.plans.size_B)
        return 0;
    if (b->stage->wire.reduction->algorithm == COLL_AUTO) {
        b->buckets.plans.size_B = size;
        return plan_groups(b, size, err);
    }
    struct coll_request request = { .op = COLL_ALL_REDUCE,
                                    .algorithm = b->stage->wire.reduction->algorithm,
                                    .size_B = size,
                                    .library = b->stage->wire.library };
    const struct coll_plan *plan =
        make_plan(b->stage->arena, b->stage->s, b->stage->net, request, err);
    if (!plan)
        return -1;
    b->buckets.plans.size_B = size;
    cut_stages(b, plan);
    comms_overlapped(b, plan);
    return 0;
}

/* Bytes moved on the GPU per byte of gradient: into the bucket, compressed, back. */
static double moved_B(const struct stage *stage)
{
    bool view = stage->s->parallel.reduce.gradient_as_bucket_view;
    return (view ? 0 : stage->fw->reduction.bucket_copy_B) + stage->wire.compress_B;
}

void wire_send(struct builder *b, double bytes)
{
    const struct bucket_plans *w = &b->buckets.plans;
    struct program *p = &b->step->program;
    double host_s = b->stage->fw->host.dispatch_backward_s;
    struct tag before = p->tag;
    issue_tag(b, WORK_BUCKET, b->buckets.n_sent++);
    int32_t ready =
        issue_stream(b, CATEGORY_COMPUTE, host_s, bytes * moved_B(b->stage));
    issue_label(b, "copy bucket");
    for (int32_t i = 0; i < w->n_stages; i++) {
        ready = program_collective_on(p, w->streams[i], CATEGORY_DATA_COMM_EXPOSED,
                                      i == 0 ? host_s : 0, w->stages[i], ready);
    }
    b->buckets.last_comm = ready;
    p->tag = before;
}

void wire_send_by(struct builder *b, double bytes, int32_t comm)
{
    double host_s = b->stage->fw->host.dispatch_backward_s;
    int32_t ready =
        issue_stream(b, CATEGORY_COMPUTE, host_s, bytes * moved_B(b->stage));
    b->buckets.last_comm =
        program_collective_on(&b->step->program, STREAM_COMM,
                              CATEGORY_DATA_COMM_EXPOSED, host_s, comm, ready);
}

/* Fused buffers -------------------------------------------------------------------- */

struct wire_fused {
    struct arena *arena;
    const struct scenario *s;
    const struct gpu *gpu;
    const struct net *net;
    double frac, moved_B;
};

struct wire_fused *wire_fused_new(const struct stage *stage)
{
    struct wire_fused *f = ARENA_NEW(stage->arena, struct wire_fused);
    *f = (struct wire_fused) { stage->arena, stage->s,         stage->gpu,
                               stage->net,   stage->wire.frac, moved_B(stage) };
    return f;
}

static struct coll_phase copy_phase(const struct wire_fused *f, const char *name,
                                    double bytes)
{
    struct coll_phase phase = { .name = name, .cap_Bps = INFINITY };
    phase.latency_s = kernel_stream_s(f->gpu, bytes * f->moved_B / 2, kernel_alone);
    phase.steps.before_s = phase.latency_s;
    return phase;
}

const struct coll_plan *wire_fused_plan(void *arg, double bytes)
{
    const struct wire_fused *f = arg;
    struct err err = { 0 };
    struct coll_request request = { .op = COLL_ALL_REDUCE, .size_B = bytes * f->frac };
    struct coll_plan *plan = make_plan(f->arena, f->s, f->net, request, &err);
    assert(plan); /* wire_plan has made one of another size */
    struct coll_phase *phases =
        ARENA_ARRAY(f->arena, plan->n_phases + 2, struct coll_phase);
    phases[0] = copy_phase(f, "copy in", bytes);
    if (f->s->fabric) /* all send to the coordinator, and receive from it */
        phases[0].latency_s += 2 * f->s->fabric->latency_s;
    phases[0].steps.before_s = phases[0].latency_s;
    for (int32_t i = 0; i < plan->n_phases; i++)
        phases[i + 1] = plan->phases[i];
    phases[plan->n_phases + 1] = copy_phase(f, "copy out", bytes);
    plan->phases = phases;
    plan->n_phases += 2;
    return plan;
}
