/* The software costs of a phase, and what NCCL believes of it. */
#include "cost/coll_plan.h"

#include <math.h>
#include <string.h>

/* NCCL opens 2 threads x 8 sockets a channel on AWS (src/transport/net_socket.cc). */
enum { SOCKETS_PER_CHANNEL = 16 };

/* Of a fabric with a hop all other steps are those inside. Else a fabric's step between
 * nodes is the mean over a ring through all GPUs of a node,
 * where the path's latency is hidden by the other hops' steps. With fewer it shows: a
 * turn through one node takes a network hop (its latency and step) and n_gpus - 1 steps
 * inside. */
static double step_between(const struct planner *p, const struct coll_group *g,
                           const struct fabric *f, int protocol)
{
    const struct coll_span *s = &g->spans[0];
    const struct fabric *inside = coll_instance(p, s->first)->inside;
    double step = f->proto[protocol].step_s, hop = f->proto[protocol].hop_s;
    if (hop > 0 && s->n_gpus > 1)
        return (hop + (s->n_gpus - 1) * inside->proto[protocol].step_s) / s->n_gpus;
    if (hop > 0)
        return f->latency_s + hop;
    if (s->n_gpus == coll_instance(p, s->first)->n_gpus)
        return step;
    double turn = f->latency_s + step;
    turn += (s->n_gpus - 1) * inside->proto[protocol].step_s;
    return fmax(step, turn / s->n_gpus);
}

void coll_terms_get(struct planner *p, const struct coll_group *g, int protocol,
                    struct coll_terms *t)
{
    t->fabric = coll_fabric(p, g);
    t->proto = &t->fabric->proto[protocol];
    t->ramp = t->proto;
    if (coll_nodes(g) > 1 && t->proto->hop_s > 0 && g->spans[0].n_gpus > 1)
        t->ramp = &coll_instance(p, g->spans[0].first)->inside->proto[protocol];
    t->base_s = t->proto->base_s - coll_launch_hidden_s(p, t->proto->base_s);
    t->step_s =
        coll_nodes(g) > 1 ? step_between(p, g, t->fabric, protocol) : t->proto->step_s;
    t->cap_Bps = fmin(t->proto->max_Bps, t->fabric->per_flow_Bps * SOCKETS_PER_CHANNEL *
                                             (double)t->fabric->channels);
}

double coll_quanta_s(const struct coll_terms *t, double bytes)
{
    double quanta;
    if (t->proto->quantum_B <= 0)
        return 0;
    quanta = bytes / (double)t->fabric->channels / t->proto->quantum_B;
    return t->proto->quantum_s * ceil(quanta * (1 - 1e-12));
}

/* One step of a channel's buffer of 8: 4 MiB (Simple); 8 lines a thread of 512 threads,
 * half of it data (LL); 120 words a thread of 640 threads (LL128). NCCL device.h. */
int64_t coll_chunks(int protocol, double bytes, double channels)
{
    static const double chunk_B[] = { [FABRIC_PROTO_SIMPLE] = 524288,
                                      [FABRIC_PROTO_LL] = 32768,
                                      [FABRIC_PROTO_LL128] = 576000 };
    double chunks = ceil(bytes / (channels * chunk_B[protocol]) * (1 - 1e-12));
    return chunks < 1 ? 1 : (int64_t)chunks;
}

struct coll_rings_memo *coll_rings_memo_new(struct arena *arena)
{
    return ARENA_NEW(arena, struct coll_rings_memo);
}

const struct rings *coll_rings(struct planner *p, const struct coll_span *span,
                               bool through)
{
    const struct instance *inst = coll_instance(p, span->first);
    struct coll_rings_memo *memo = p->request->rings ? p->request->rings : &p->rings;
    struct laid_rings *last = &memo->last[through];
    if (last->instance != inst || last->span.n_gpus != span->n_gpus ||
        memcmp(last->span.gpus, span->gpus, (size_t)span->n_gpus) != 0) {
        (through ? rings_lay_through : rings_lay_inside)(inst, span->gpus, span->n_gpus,
                                                         &last->rings);
        last->instance = inst;
        last->span = *span;
    }
    return &last->rings;
}

/* What NCCL's search believes of the rings inside a node: NVLinks by the version's
 * table, PCIe gen 3 x16 at 12 GB/s. */
static void believed_inside(const struct planner *p, const struct instance *inst,
                            const struct rings *rings, struct nccl_case *c)
{
    int64_t sm = inst->gpu->sm_arch;
    double link = nccl_link_Bps(p->nccl, sm);
    c->is_pcie = rings->kind == RINGS_PCIE;
    if (rings->kind == RINGS_PCIE) {
        c->n_channels = 1;
        c->bus_Bps = inst->pcie_Bps * 12 / 15.75;
    } else if (rings->kind == RINGS_PORT) {
        c->n_channels = sm >= 100 ? 16 : sm >= 80 ? 12 : 6;
        c->bus_Bps = (double)inst->gpu->nvlink_links * link;
    } else {
        c->n_channels = rings->n;
        c->bus_Bps = rings->n * link;
    }
}

/* The search doubles its channels but for slow ones, and from Hopper on for fast ones of
 * more than four ways (ncclTopoDupChannels of search.cc). */
static int32_t doubled(int32_t n_ways, double way_Bps, int64_t sm_arch)
{
    bool enough = sm_arch > 80 && n_ways > 4 && way_Bps < 50e9;
    return enough || way_Bps < 25e9 ? n_ways : 2 * n_ways;
}

/* 12 GB/s for each 100 Gb/s of the NICs that the rings use. */
static double believed_line(const struct instance *inst, const struct rings *rings)
{
    double line = 0;
    for (int32_t r = 0; r < rings->n; r++) {
        int32_t nic = instance_nic_of_gpu(inst, rings->order[r][0]);
        line += inst->nics[nic].line_Bps * 12 / 12.5;
    }
    return line;
}

double coll_channels_a_way(const struct nccl_version *v, const struct instance *inst,
                           const struct rings *rings)
{
    int64_t sm = inst->gpu->sm_arch;
    double way_Bps = believed_line(inst, rings) / rings->n;
    int32_t found = rings->n > 1 ? doubled(rings->n, way_Bps, sm) : 2;
    bool fast = sm >= 90 && way_Bps * rings->n / found > 45e9;
    bool fills = fast && nccl_fills_channels(v, 2 * found);
    return (fills ? 4.0 : 2.0) * found / rings->n;
}

static void believed_between(const struct planner *p, const struct instance *inst,
                             const struct rings *rings, struct nccl_case *c)
{
    double line = believed_line(inst, rings);
    c->bus_Bps = fmin(c->bus_Bps, line);
    c->n_channels =
        rings->n > 1 ? doubled(rings->n, line / rings->n, inst->gpu->sm_arch) : 2;
    if (p->cluster->fabric->kind == FABRIC_EFA)
        c->net_latency_s = nccl_ofi_s(p->nccl, p->cluster->fabric->gpudirect);
}

void coll_believed(struct planner *p, const struct ring_job *job, struct nccl_case *c)
{
    const struct coll_group *g = &job->groups[0];
    const struct instance *inst = coll_instance(p, g->spans[0].first);
    const struct rings *rings = coll_rings(p, &g->spans[0], coll_nodes(g) > 1);
    *c = (struct nccl_case) { .op = job->op, .n_nodes = coll_nodes(g) };
    c->n_ranks = coll_group_ranks(g);
    c->size_B = job->size_B * job->share;
    c->sm_arch = inst->gpu->sm_arch;
    if (c->n_nodes == 1) {
        believed_inside(p, inst, rings, c);
        c->inside_bus_Bps = c->bus_Bps;
        return;
    }
    const struct rings *inside = coll_rings(p, &g->spans[0], false);
    if (inside->n > 0)
        believed_inside(p, inst, inside, c);
    else
        c->bus_Bps = INFINITY;
    c->inside_bus_Bps = c->bus_Bps;
    believed_between(p, inst, rings, c);
}

/* NCCL has LL128 between nodes only where a NIC is under the PCIe switch of its GPU
 * (typeInter <= PATH_PXB): lines of 128 bytes must arrive whole. */
static bool has_whole_lines(const struct planner *p, const struct coll_group *g)
{
    const struct instance *inst = coll_instance(p, g->spans[0].first);
    for (int32_t k = 0; k < g->spans[0].n_gpus; k++) {
        int32_t gpu = g->spans[0].gpus[k], nic = instance_nic_of_gpu(inst, gpu);
        if (nic >= 0 && inst->nics[nic].pcie >= 0 &&
            inst->nics[nic].pcie == inst->gpu_pcie[gpu])
            return true;
    }
    return false;
}

static bool is_enabled(const struct planner *p, const struct coll_group *g,
                       int protocol)
{
    if (protocol == FABRIC_PROTO_LL128 && coll_nodes(g) > 1 && !has_whole_lines(p, g))
        return false;
    const struct fabric *inside = coll_instance(p, g->spans[0].first)->inside;
    return coll_fabric(p, g)->proto[protocol].enabled &&
           (inside == NULL || g->spans[0].n_gpus == 1 ||
            inside->proto[protocol].enabled);
}

int coll_check_protocol(struct planner *p, const struct coll_group *g, int protocol)
{
    const struct fabric *f = coll_fabric(p, g);
    if (f->proto[protocol].enabled)
        return 0;
    return err_set(p->err, "%s has no protocol %s", f->name,
                   names_of(fabric_protocol_names, protocol));
}

int coll_choose_protocol(struct planner *p, const struct ring_job *job,
                         const char **why)
{
    struct nccl_case c;
    const struct coll_group *g = &job->groups[0];
    double seconds[FABRIC_PROTO_N];
    int best = -1, forced = p->request->protocol;
    if (p->picked >= 0)
        return p->picked;
    if (forced >= 0) {
        *why = "as asked";
        return coll_check_protocol(p, g, forced) ? -1 : forced;
    }
    coll_believed(p, job, &c);
    forced = nccl_fixed_protocol(p->nccl, &c, COLL_RING);
    if (forced >= 0 && is_enabled(p, g, forced) && !coll_protocol_left_out(p, forced)) {
        if (p->request->explains)
            *why = arena_printf(p->arena, "NCCL %s chooses by the bytes of a rank",
                                nccl_version_name(p->nccl));
        return forced;
    }
    for (int i = 0; i < FABRIC_PROTO_N; i++) {
        bool open = is_enabled(p, g, i) && !coll_protocol_left_out(p, i);
        seconds[i] = open ? nccl_expect_s(p->nccl, &c, COLL_RING, i) : (double)INFINITY;
        if (best < 0 || seconds[i] < seconds[best])
            best = i;
    }
    if (isinf(seconds[best]))
        return err_set(p->err, "%s has no protocol enabled", coll_fabric(p, g)->name);
    if (p->request->explains)
        *why = arena_printf(p->arena, "NCCL %s expects %.1f us of a ring",
                            nccl_version_name(p->nccl), seconds[best] * 1e6);
    return best;
}

double coll_ring_expects(struct planner *p, int protocol)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "ring", q->op, q->size_B, 1, q->groups, q->n_groups };
    struct nccl_case c;
    if (!is_enabled(p, &q->groups[0], protocol))
        return INFINITY;
    coll_believed(p, &job, &c);
    return nccl_expect_s(p->nccl, &c, COLL_RING, protocol);
}

/* Trees need a law of their own to be chosen: without one nothing is known of them. */
double coll_tree_expects(struct planner *p, int protocol)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "tree", q->op, q->size_B, 1, q->groups, q->n_groups };
    struct nccl_case c;
    if (p->plan->n_nodes < 2 || q->op != COLL_ALL_REDUCE ||
        !coll_law_given(p->cluster->fabric, FABRIC_TREE, protocol))
        return INFINITY;
    coll_believed(p, &job, &c);
    return nccl_expect_s(p->nccl, &c, COLL_TREE, protocol);
}

double coll_nvls_expects(struct planner *p, int protocol)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "nvls", q->op, q->size_B, 1, q->groups, q->n_groups };
    bool between = p->plan->n_nodes > 1;
    struct nccl_case c;
    if (protocol != FABRIC_PROTO_SIMPLE || q->int8 || p->plan->n_ranks < 3 ||
        !coll_law_given(coll_fabric(p, &q->groups[0]),
                        between ? FABRIC_NVLS_TREE : FABRIC_NVLS, protocol))
        return INFINITY;
    coll_believed(p, &job, &c);
    return nccl_expect_s(p->nccl, &c, between ? COLL_NVLS_TREE : COLL_NVLS, protocol);
}

bool coll_protocol_left_out(const struct planner *p, int protocol)
{
    return coll_is_ring_op(p->request->op) &&
           (p->request->limits.no_protocol[p->request->op] >> protocol & 1);
}
