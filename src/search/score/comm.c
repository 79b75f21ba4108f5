/* Collectives of scores: times by closed form at a few sizes, made once for each shape
 * of group, and read between them. */
#include "base/hash.h"
#include "base/vec.h"
#include "hardware/domain.h"
#include "search/score/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE_FIRST = 10, /* 1 KiB, then factors of four */
    SIZES = 15,
};

struct curve {
    uint64_t key;          /* of instance, operation and shape of the group */
    double times_s[SIZES]; /* below 0: not asked for yet */
    UT_hash_handle hh;
};

/* A cluster of one instance, of so many GPUs, so many of which NVLink joins. */
struct comm_net {
    int64_t instance, gpus, joined;
    struct cluster cluster;
    struct net *net; /* NULL: it cannot be made */
};

struct score_comm {
    const struct plan_job *job;
    struct arena arena;
    VEC(struct comm_net *) nets;
    int64_t most_nodes;
    struct curve *curves;                        /* by key */
    struct coll_group groups[INSTANCE_GPUS_MAX]; /* of the plan being made */
};

struct score_comm *score_comm_new(const struct plan_job *job)
{
    struct score_comm *c = xcalloc(1, sizeof(*c));
    const struct space *s = &job->space;
    c->job = job;
    arena_init(&c->arena);
    for (int32_t i = 0; i < s->n[SPACE_COUNT]; i++)
        if (s->values[SPACE_COUNT][i] > c->most_nodes)
            c->most_nodes = s->values[SPACE_COUNT][i];
    return c;
}

void score_comm_free(struct score_comm *c)
{
    for (int64_t i = 0; i < c->nets.n; i++)
        net_free(c->nets.v[i]->net);
    VEC_RELEASE(&c->nets);
    arena_release(&c->arena);
    struct curve *curve, *next;
    HASH_ITER(hh, c->curves, curve, next)
    {
        HASH_DELETE(hh, c->curves, curve);
        free(curve);
    }
    free(c);
}

struct score_group score_group_of(int64_t n, int64_t stride, int64_t gpus)
{
    if (n * stride <= gpus)
        return (struct score_group) { (int32_t)n, (int32_t)stride, 1 };
    if (stride >= gpus)
        return (struct score_group) { 1, 1, n };
    int64_t per = gpus / stride;
    return (struct score_group) { (int32_t)per, (int32_t)stride, (n + per - 1) / per };
}

int64_t score_node_gpus(const struct space_point *p)
{
    return p->v[SPACE_GPUS] * p->joined;
}

static struct comm_net *make_net(struct score_comm *c, const struct space_point *p)
{
    struct err err = { 0 };
    struct comm_net *n = ARENA_NEW(&c->arena, struct comm_net);
    const struct instance *host =
        c->job->space.instances[p->v[SPACE_INSTANCE]].instance;
    const int64_t nodes = host->n_nics > 0 ? c->most_nodes : 1;
    const int64_t gpus = score_node_gpus(p);
    const struct instance *inst =
        p->joined > 1
            ? domain_make(&c->arena, host, p->joined, (int32_t)p->v[SPACE_GPUS])
            : host;
    n->instance = p->v[SPACE_INSTANCE];
    n->gpus = p->v[SPACE_GPUS];
    n->joined = p->joined;
    n->cluster = (struct cluster) {
        .n_groups = 1,
        .groups = { { inst, nodes, (int32_t)gpus } },
        .fabric = c->job->fabric ? c->job->fabric : inst->outside,
        .n_instances = nodes,
        .n_gpus = nodes * gpus,
        .n_hosts = nodes * p->joined,
    };
    n->net = net_new(&n->cluster, true, &err);
    return n;
}

static const struct comm_net *net_of(struct score_comm *c, const struct space_point *p)
{
    for (int64_t i = 0; i < c->nets.n; i++) {
        const struct comm_net *n = c->nets.v[i];
        if (n->instance == p->v[SPACE_INSTANCE] && n->gpus == p->v[SPACE_GPUS] &&
            n->joined == p->joined)
            return n;
    }
    VEC_PUSH(&c->nets, make_net(c, p));
    return c->nets.v[c->nets.n - 1];
}

/* The groups of that shape which fill the nodes of the first. */
static int32_t all_groups(struct coll_group *all, struct score_group g, int64_t gpus)
{
    int32_t n = 0;
    for (int64_t base = 0; base + (g.per - 1) * g.stride < gpus;
         base += (int64_t)g.per * g.stride)
        for (int64_t o = 0; o < g.stride; o++) {
            if (base + o + (g.per - 1) * g.stride >= gpus || n == INSTANCE_GPUS_MAX)
                continue;
            struct coll_span *span = &all[n].spans[0];
            all[n++].n_spans = 1;
            *span = (struct coll_span) { .n_instances = g.nodes, .stride = 1 };
            span->n_gpus = g.per;
            for (int32_t i = 0; i < g.per; i++)
                span->gpus[i] = (uint8_t)(base + o + (int64_t)i * g.stride);
        }
    return n;
}

static bool same_choice(const struct software *a, const struct software *b)
{
    return a->protocol == b->protocol && a->simple_on_efa == b->simple_on_efa &&
           memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0 &&
           (a->nccl == b->nccl ||
            (a->nccl && b->nccl && strcmp(a->nccl, b->nccl) == 0));
}

/* The first stack whose NCCL chooses as that of the point's. */
static int64_t choosing_stack(const struct score_comm *c, const struct space_point *p)
{
    const struct plan_stack *stacks = c->job->stacks;
    int64_t own = p->v[SPACE_LIBRARY], first = 0;
    while (first < own &&
           !(stacks[first].usable &&
             same_choice(&stacks[first].probe.software, &stacks[own].probe.software)))
        first++;
    return first;
}

/* What the scenario's software leaves NCCL to choose from; SageMaker's launchers hold
 * it to Simple on EFA. */
static void limit(const struct software *w, const struct cluster *cluster,
                  struct coll_request *q)
{
    bool efa = q->groups[0].spans[0].n_instances > 1 && cluster->fabric &&
               cluster->fabric->kind == FABRIC_EFA;
    q->nccl = w->nccl;
    q->limits = w->limits;
    q->protocol = efa && w->simple_on_efa ? FABRIC_PROTO_SIMPLE : w->protocol;
}

/* The time of one size of the curve. */
static double make_time(struct score_comm *c, const struct space_point *p,
                        struct score_group g, enum coll_op op, int size)
{
    const struct comm_net *on = net_of(c, p);
    const struct net *net = on->net;
    int32_t n = net ? all_groups(c->groups, g, score_node_gpus(p)) : 0;
    struct arena arena;
    struct coll_plan plan;
    struct err err = { 0 };
    struct coll_request request = {
        .op = op,
        .algorithm = COLL_AUTO,
        .protocol = -1,
        .size_B = ldexp(1, SIZE_FIRST + 2 * size),
        .groups = c->groups,
        .n_groups = n,
        .graph_launch = true,
    };
    if (n > 0)
        limit(&c->job->stacks[choosing_stack(c, p)].probe.software, &on->cluster,
              &request);
    arena_init(&arena);
    bool made = n > 0 && coll_plan_make(&plan, &arena, net, &request, &err) == 0;
    double time_s = made ? coll_plan_time_s(&plan, net) : 0;
    arena_release(&arena);
    return time_s;
}

static struct curve *curve_of(struct score_comm *c, const struct space_point *p,
                              struct score_group g, enum coll_op op)
{
    uint64_t key = (uint64_t)p->v[SPACE_INSTANCE] + 1;
    key = key << 5 | (uint64_t)choosing_stack(c, p);
    key = key << 5 | (uint64_t)p->v[SPACE_GPUS];
    key = key << 7 | (uint64_t)p->joined;
    key = key << 3 | (uint64_t)op;
    key = key << 7 | (uint64_t)g.per;
    key = key << 7 | (uint64_t)g.stride;
    key = key << 21 | (uint64_t)g.nodes;
    struct curve *curve;
    HASH_FIND(hh, c->curves, &key, sizeof(key), curve);
    if (!curve) {
        curve = xcalloc(1, sizeof(*curve));
        curve->key = key;
        for (int i = 0; i < SIZES; i++)
            curve->times_s[i] = -1;
        HASH_ADD(hh, c->curves, key, sizeof(key), curve);
    }
    return curve;
}

double score_comm_s(struct score_comm *c, const struct space_point *p,
                    struct score_group group, enum coll_op op, double size_B)
{
    if (group.per * group.nodes <= 1 || size_B <= 0)
        return 0;
    struct curve *curve = curve_of(c, p, group, op);
    int exponent;
    frexp(size_B, &exponent); /* size in [2^(exponent-1), 2^exponent) */
    int i = (exponent - 1 - SIZE_FIRST) / 2;
    if (exponent - 1 < SIZE_FIRST)
        i = 0;
    if (i >= SIZES - 1)
        i = SIZES - 1;
    for (int k = i; k < SIZES && k <= i + 1; k++)
        if (curve->times_s[k] < 0)
            curve->times_s[k] = make_time(c, p, group, op, k);
    if (exponent - 1 < SIZE_FIRST)
        return curve->times_s[0];
    double low_B = (double)(INT64_C(1) << (SIZE_FIRST + 2 * i));
    if (i == SIZES - 1)
        return curve->times_s[i] * size_B / low_B;
    double part = (size_B - low_B) / (3 * low_B);
    return curve->times_s[i] + part * (curve->times_s[i + 1] - curve->times_s[i]);
}
