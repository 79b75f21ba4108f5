/* The algorithms, in the order in which `auto` tries them. */
#include "cost/coll_plan.h"

static bool is_ring_op(enum coll_op op)
{
    return op <= COLL_REDUCE;
}

static const char *ring_refuses(struct planner *p)
{
    return is_ring_op(p->request->op) ? NULL : "rings do not do this operation";
}

/* NCCL leaves NVLink only where not even a path is there. */
static const char *chain_refuses_auto(struct planner *p)
{
    const struct coll_span *span = &p->request->groups[0].spans[0];
    const char *why = coll_chain_refuses(p);
    if (why)
        return why;
    if (coll_rings(p, span, false)->kind != RINGS_PCIE)
        return "the GPUs form a ring";
    return NULL;
}

static const char *hierarchical_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    if (!is_ring_op(p->request->op))
        return "it does not do this operation";
    if (p->plan->n_nodes < 2)
        return "it needs several nodes";
    for (int32_t s = 1; s < g->n_spans; s++)
        if (g->spans[s].n_gpus != g->spans[0].n_gpus)
            return "it needs as many GPUs in every node";
    return NULL;
}

static const char *not_yet(struct planner *p)
{
    (void)p;
    return "it is not simulated yet";
}

/* Next: double binary trees, NVLS and NVLS trees, all-to-all. */
const struct coll_algo coll_algos[] = {
    { COLL_CHAIN, chain_refuses_auto, true, coll_plan_chain },
    { COLL_RING, ring_refuses, true, coll_plan_ring },
    { COLL_HIERARCHICAL, hierarchical_refuses, false, coll_plan_hierarchical },
    { COLL_CHAIN, coll_chain_refuses, false, coll_plan_chain },
    { COLL_TREE, coll_chain_refuses, false, coll_plan_chain },
    { COLL_NVLS, not_yet, false, NULL },
    { COLL_NVLS_TREE, not_yet, false, NULL },
    { COLL_SMDDP, coll_smddp_refuses, false, coll_plan_smddp },
    { COLL_MICS, coll_mics_refuses, false, coll_plan_mics },
    { COLL_SERVERS, coll_servers_refuses, false, coll_plan_servers },
    { COLL_AUTO, NULL, false, NULL },
};
