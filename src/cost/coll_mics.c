/* MiCS, as SageMaker's sharded data parallelism runs it (DeepSpeed, mics.py).
 *
 * All-gather of a sharding group over several nodes: first across nodes, among the GPUs
 * of one place (each moves 1/g of the bytes over the NICs, g times fewer than when the
 * nodes gathered first), then every GPU puts the parts into order, then inside.
 *
 * Gradients take two hops: a reduce-scatter inside every sharding group of `shard`
 * consecutive ranks, and an all-reduce of 1/shard of them across replication groups. */
#include "cost/coll_host.h"
#include "cost/kernel.h"

#include <math.h>
#include <string.h>

const char *coll_mics_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    int64_t shard = coll_library_of(p)->shard, per_node = g->spans[0].n_gpus;
    if (p->request->op != COLL_ALL_GATHER && p->request->op != COLL_ALL_REDUCE)
        return "MiCS gathers parameters and reduces gradients";
    for (int32_t s = 1; s < g->n_spans; s++)
        if (g->spans[s].n_gpus != per_node)
            return "it needs as many GPUs in every node";
    if (p->request->op == COLL_ALL_GATHER)
        return p->plan->n_nodes < 2 ? "it needs several nodes" : NULL;
    if (p->request->n_groups > 1 || g->n_spans > 1)
        return "its two hops are of one group of equal nodes";
    if (shard < 2 || p->plan->n_ranks % shard != 0)
        return "the ranks are no multiple of the sharding degree";
    if (shard % per_node != 0 && per_node % shard != 0)
        return "sharding groups have to fill nodes, or nodes sharding groups";
    return NULL;
}

/* All-gather ----------------------------------------------------------------------- */

/* Every GPU reads and writes what it has gathered so far, S/g. */
static void plan_rearrangement(struct planner *p, double bytes)
{
    const struct instance *inst =
        coll_instance(p, p->request->groups[0].spans[0].first);
    struct coll_phase *phase = &p->plan->phases[p->plan->n_phases++];
    *phase = (struct coll_phase) { .name = "rearrangement", .cap_Bps = INFINITY };
    phase->latency_s = kernel_stream_s(inst->gpu, 2 * bytes, kernel_alone);
    phase->steps.before_s = phase->latency_s;
}

static int plan_gather(struct planner *p)
{
    const struct coll_request *q = p->request;
    int32_t local = q->groups[0].spans[0].n_gpus;
    struct ring_job across = { "all-gather across", q->op, q->size_B, 1, NULL, 0 };
    struct ring_job inside = { "all-gather inside", q->op, q->size_B, 1, NULL, 0 };
    p->plan->phases = ARENA_ARRAY(p->arena, 3, struct coll_phase);
    coll_list_across(p, &across);
    if (coll_ring_phase(p, &across, &p->plan->phases[p->plan->n_phases++]))
        return -1;
    if (local == 1)
        return 0;
    plan_rearrangement(p, q->size_B / local);
    coll_list_inside(p, &inside);
    return coll_ring_phase(p, &inside, &p->plan->phases[p->plan->n_phases++]);
}

/* Two hops ------------------------------------------------------------------------- */

/* Sharding groups: blocks of `shard` ranks. Whole nodes, or parts of one. */
static int32_t list_shards(struct planner *p, int64_t shard, struct coll_group *groups)
{
    const struct coll_span *all = &p->request->groups[0].spans[0];
    int64_t nodes = shard > all->n_gpus ? shard / all->n_gpus : 1;
    int64_t parts = shard < all->n_gpus ? all->n_gpus / shard : 1;
    int32_t n = 0;
    for (int64_t first = 0; first < all->n_instances; first += nodes) {
        for (int64_t part = 0; part < parts; part++) {
            struct coll_group *g = &groups[n++];
            *g = (struct coll_group) { .n_spans = 1, .spans = { *all } };
            g->spans[0].first = all->first + first * all->stride;
            g->spans[0].n_instances = nodes;
            g->spans[0].n_gpus = (int32_t)(all->n_gpus / parts);
            memcpy(g->spans[0].gpus, all->gpus + part * g->spans[0].n_gpus,
                   (size_t)g->spans[0].n_gpus);
        }
    }
    return n;
}

/* Replication groups: the ranks of one place in all sharding groups. */
static int32_t list_replicas(struct planner *p, int64_t shard,
                             struct coll_group *groups)
{
    const struct coll_span *all = &p->request->groups[0].spans[0];
    int64_t nodes = shard > all->n_gpus ? shard / all->n_gpus : 1;
    int64_t parts = shard < all->n_gpus ? all->n_gpus / shard : 1;
    int32_t n = 0;
    for (int64_t node = 0; node < nodes; node++) {
        for (int64_t place = 0; place < all->n_gpus / parts; place++) {
            struct coll_group *g = &groups[n++];
            *g = (struct coll_group) { .n_spans = 1, .spans = { *all } };
            g->spans[0].first = all->first + node * all->stride;
            g->spans[0].stride = nodes * all->stride;
            g->spans[0].n_instances = all->n_instances / nodes;
            g->spans[0].n_gpus = (int32_t)parts;
            for (int64_t k = 0; k < parts; k++)
                g->spans[0].gpus[k] = all->gpus[k * (all->n_gpus / parts) + place];
        }
    }
    return n;
}

static int plan_two_hops(struct planner *p)
{
    const struct coll_request *q = p->request;
    int64_t ranks = p->plan->n_ranks, shard = coll_library_of(p)->shard;
    struct coll_group *groups = ARENA_ARRAY(p->arena, ranks / shard, struct coll_group);
    struct coll_group *replicas = ARENA_ARRAY(p->arena, shard, struct coll_group);
    struct ring_job jobs[] = {
        { "reduce-scatter in sharding groups", COLL_REDUCE_SCATTER, q->size_B, 1,
          groups, list_shards(p, shard, groups) },
        { "all-reduce across replication groups", COLL_ALL_REDUCE, q->size_B,
          1 / (double)shard, replicas, list_replicas(p, shard, replicas) },
    };
    p->plan->phases = ARENA_ARRAY(p->arena, 2, struct coll_phase);
    for (int i = 0; i < (shard < ranks ? 2 : 1); i++)
        if (coll_ring_phase(p, &jobs[i], &p->plan->phases[p->plan->n_phases++]))
            return -1;
    return 0;
}

int coll_plan_mics(struct planner *p)
{
    return p->request->op == COLL_ALL_GATHER ? plan_gather(p) : plan_two_hops(p);
}
