/* The algorithms, in the order in which a choice goes through them. */
#include "cost/coll_plan.h"

static const char *ring_refuses(struct planner *p)
{
    return coll_is_ring_op(p->request->op) ? NULL : "rings do not do this operation";
}

static const char *hierarchical_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    if (!coll_is_ring_op(p->request->op))
        return "it does not do this operation";
    if (p->plan->n_nodes < 2)
        return "it needs several nodes";
    for (int32_t s = 1; s < g->n_spans; s++)
        if (g->spans[s].n_gpus != g->spans[0].n_gpus)
            return "it needs as many GPUs in every node";
    return NULL;
}

static const char *tree_refuses(struct planner *p)
{
    if (p->request->op != COLL_ALL_REDUCE)
        return "trees are for all_reduce";
    if (p->plan->n_nodes < 2)
        return "inside one node it is a chain";
    return NULL;
}

/* Switches that add up came with Hopper's boards; NCCL leaves pairs without them
 * (ncclNvlsInit). */
static const char *nvls_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    if (p->request->op != COLL_ALL_REDUCE)
        return "the switch is used for all_reduce";
    if (p->request->int8)
        return "the switch does not add up elements of one byte";
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct instance *inst = coll_instance(p, g->spans[s].first);
        if (inst->inside->kind != FABRIC_NVSWITCH || inst->gpu->sm_arch < 90)
            return "it needs an NVSwitch of Hopper's generation or later";
        if (g->spans[s].n_gpus <= 2)
            return "NCCL uses it for three GPUs of a node and more";
    }
    return NULL;
}

static const char *one_node_nvls_refuses(struct planner *p)
{
    return p->plan->n_nodes > 1 ? "between nodes it is nvls_tree" : nvls_refuses(p);
}

static const char *nvls_tree_refuses(struct planner *p)
{
    return p->plan->n_nodes < 2 ? "in one node it is nvls" : nvls_refuses(p);
}

static const char *p2p_refuses(struct planner *p)
{
    return coll_is_ring_op(p->request->op) ? "it is no point-to-point operation" : NULL;
}

const struct coll_algo coll_algos[] = {
    { COLL_RING, ring_refuses, coll_plan_ring, coll_ring_expects, "ring" },
    { COLL_TREE, tree_refuses, coll_plan_tree, coll_tree_expects, "tree" },
    { COLL_NVLS, one_node_nvls_refuses, coll_plan_nvls, coll_nvls_expects, "NVLS" },
    { COLL_NVLS_TREE, nvls_tree_refuses, coll_plan_nvls, coll_nvls_expects, "NVLS" },
    { COLL_P2P, p2p_refuses, coll_plan_p2p, NULL, NULL },
    { COLL_HIERARCHICAL, hierarchical_refuses, coll_plan_hierarchical, NULL, NULL },
    { COLL_CHAIN, coll_chain_refuses, coll_plan_chain, NULL, NULL },
    { COLL_TREE, coll_chain_refuses, coll_plan_chain, NULL, NULL },
    { COLL_SMDDP, coll_smddp_refuses, coll_plan_smddp, NULL, NULL },
    { COLL_MICS, coll_mics_refuses, coll_plan_mics, NULL, NULL },
    { COLL_TOKENS, coll_tokens_refuses, coll_plan_tokens, NULL, NULL },
    { COLL_SERVERS, coll_servers_refuses, coll_plan_servers, NULL, NULL },
    { COLL_AUTO, NULL, NULL, NULL, NULL },
};
