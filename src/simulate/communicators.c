#include "simulate/communicators.h"

#include "cost/nccl.h"
#include "layout/layout.h"
#include "scenario/libraries.h"

/* The communicator of a group of rank 0's. */
static struct communicator_size of_group(const struct scenario *s,
                                         const struct layout *l, enum layout_group g)
{
    int64_t gpus = s->cluster.groups[0].gpus_per_instance;
    struct communicator_size c = { layout_group_size(l, g), 0 };
    for (int64_t i = 0; i < c.ranks; i++)
        c.of_node += layout_group_member(l, g, 0, i) < gpus;
    return c;
}

/* Context and expert groups are neighbours among the replicas. */
static struct communicator_size of_neighbours(const struct scenario *s,
                                              const struct layout *l, int64_t ranks)
{
    struct communicator_size all = of_group(s, l, LAYOUT_RDP);
    return (struct communicator_size) { ranks,
                                        all.of_node < ranks ? all.of_node : ranks };
}

/* That of the GPUs of a node. */
static struct communicator_size of_node(int64_t world, int64_t gpus)
{
    int64_t ranks = world < gpus ? world : gpus;
    return (struct communicator_size) { ranks, ranks };
}

/* Groups: megatron/core/parallel_state.py, deepspeed/runtime/pipe/topology.py, nanotron's
 * parallel/context.py. Where neighbours in a pipeline have a communicator for each pair,
 * the group of all stages is that of a replica's norms. */
int32_t communicators_list(struct communicator_size v[COMMUNICATORS_MAX],
                           const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const struct library_row *library = library_of(p);
    const struct communicator_size pair = { 2, 1 };
    struct layout l;
    int32_t n = 0;
    int64_t world = scenario_world(s), gpus = s->cluster.groups[0].gpus_per_instance;
    bool both = p->tensor > 1 && p->pipeline > 1;
    layout_init(&l, p->placement, p->data * p->context, p->pipeline, p->tensor);
    if (p->tensor > 1)
        v[n++] = of_group(s, &l, LAYOUT_TP);
    if (p->pipeline > 1 && !(library->pairs && both))
        v[n++] = of_group(s, &l, LAYOUT_PP);
    if (p->data * p->context > 1)
        v[n++] = of_group(s, &l, LAYOUT_RDP);
    if (p->context > 1)
        v[n++] = of_neighbours(s, &l, p->context);
    if (p->expert > 1)
        v[n++] = of_neighbours(s, &l, p->expert);
    if (parallelism_folds_experts(p))
        v[n++] = of_neighbours(s, &l, p->expert);
    int32_t kinds = n;
    if (both)
        v[n++] = of_group(s, &l, LAYOUT_MP);
    for (int i = 0; library->pairs && i < (p->pipeline > 2) + (p->pipeline > 1); i++)
        v[n++] = pair;
    int32_t worlds = kinds > 1 && library->worlds == 0 ? 1 : library->worlds;
    for (int32_t i = 0; i < worlds && world > 1; i++)
        v[n++] = (struct communicator_size) { world, world < gpus ? world : gpus };
    if (library->node_group && s->software.node_group && world > 1)
        v[n++] = of_node(world, gpus);
    return n;
}

/* Buffers in which the switch of a node adds up. */
static int64_t switch_B(const struct scenario *s, const struct communicator_size *c)
{
    const struct instance *instance = s->cluster.groups[0].instance;
    if (instance->inside->kind != FABRIC_NVSWITCH || s->software.no_nvls)
        return 0;
    int64_t bytes = nccl_nvls_buffers_B(nccl_version_get(s->software.nccl),
                                        instance->gpu->sm_arch, c->of_node);
    int64_t nodes = (c->ranks + c->of_node - 1) / c->of_node;
    return bytes ? bytes + nccl_nvls_trees_B(nodes) : 0;
}

/* Of one communicator 342 MB for 2 GPUs and 392 MB for 4 to 8 (aiconfigurator's measured
 * table); each of several is counted as the smaller. */
int64_t communicators_B(const struct scenario *s)
{
    const int64_t large = 392000000;
    const struct parallelism *p = &s->parallel;
    bool replicas = p->tensor == 1 && p->pipeline == 1;
    struct communicator_size v[COMMUNICATORS_MAX];
    int32_t n = communicators_list(v, s);
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++)
        bytes += (n == 1 && replicas && v[i].ranks > 2 ? large : NCCL_COMMUNICATOR_B) +
                 switch_B(s, &v[i]);
    return bytes;
}
