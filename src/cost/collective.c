#include "cost/collective.h"

#include "cost/coll_plan.h"

#include <inttypes.h>
#include <math.h>

static int check_span(const struct planner *p, const struct coll_span *s)
{
    bool seen[INSTANCE_GPUS_MAX] = { false };
    int64_t last = s->first + (s->n_instances - 1) * s->stride;
    if (s->n_instances < 1 || s->stride < 1 || s->first < 0 ||
        last >= p->cluster->n_instances)
        return err_set(
            p->err,
            "instances %" PRId64 "..%" PRId64 " are not all in the cluster of %" PRId64,
            (int64_t)s->first, (int64_t)last, (int64_t)p->cluster->n_instances);
    const struct instance *inst = coll_instance(p, s->first);
    if (s->n_gpus < 1 || s->n_gpus > inst->n_gpus)
        return err_set(p->err, "%s has %d GPUs, %d take part", inst->name, inst->n_gpus,
                       s->n_gpus);
    for (int32_t i = 0; i < s->n_gpus; i++) {
        if (s->gpus[i] >= inst->n_gpus)
            return err_set(p->err, "%s has no GPU %d (its GPUs are 0 to %d)",
                           inst->name, s->gpus[i], inst->n_gpus - 1);
        if (seen[s->gpus[i]])
            return err_set(p->err, "GPU %d takes part twice", s->gpus[i]);
        seen[s->gpus[i]] = true;
    }
    return 0;
}

static int check_request(const struct planner *p)
{
    const struct coll_request *q = p->request;
    if (!(q->size_B >= 0) || isinf(q->size_B))
        return err_set(p->err, "the size must be a number of bytes");
    for (int32_t i = 0; i < q->n_groups; i++)
        for (int32_t s = 0; s < q->groups[i].n_spans; s++)
            if (check_span(p, &q->groups[i].spans[s]))
                return -1;
    int32_t n_gpus = q->groups[0].spans[0].n_gpus;
    if (q->gpus_per_thread > n_gpus)
        return err_set(p->err,
                       "a thread cannot launch on %" PRId64 " GPUs where %d of a node "
                       "take part",
                       q->gpus_per_thread, n_gpus);
    if (p->plan->n_nodes > 1 && !p->cluster->fabric)
        return err_set(p->err, "no network joins the instances");
    return 0;
}

static const struct nccl_version *version_of(const struct planner *p)
{
    const struct coll_request *q = p->request;
    const struct fabric *f = coll_fabric(p, &q->groups[0]);
    return nccl_version_get(q->nccl ? q->nccl : f->nccl);
}

/* Accesses of a GPU's memory for each byte on its bus (nccl-tests' measure): a byte
 * that passes through is written into the buffer by the neighbour and read from it, and
 * in addition to it an operand is read (sums) or the result written (gathers). Sums in
 * the switch read and write each byte once, for two on the bus. MODEL.md (3.11). */
static double accesses(enum coll_algorithm algorithm)
{
    enum { PASSED_ON = 3, SWITCHED = 1, SENT = 2 };
    switch (algorithm) {
    case COLL_NVLS:
    case COLL_NVLS_TREE:
        return SWITCHED;
    case COLL_P2P:
    case COLL_TOKENS:
        return SENT;
    default:
        return PASSED_ON;
    }
}

/* What the collective takes of the GPU in addition to the links: SMs and memory
 * traffic. */
static void take_gpu(struct planner *p)
{
    struct coll_plan *plan = p->plan;
    const struct coll_request *q = p->request;
    const struct instance *inst = coll_instance(p, q->groups[0].spans[0].first);
    double time_s = coll_plan_time_s(plan, p->net);
    plan->sm_frac = fmin(1, plan->n_channels / (double)inst->gpu->n_sms);
    if (plan->sm_frac > 0 && time_s > 0)
        plan->memory_Bps =
            accesses(plan->algorithm) * q->size_B *
            (q->tokens ? q->tokens->copies : coll_bus_factor(q->op, plan->n_ranks)) /
            time_s;
}

int coll_plan_make(struct coll_plan *plan, struct arena *arena, const struct net *net,
                   const struct coll_request *request, struct err *err)
{
    struct planner p = { .plan = plan,
                         .arena = arena,
                         .net = net,
                         .cluster = net_cluster(net),
                         .request = request,
                         .err = err,
                         .picked = -1 };
    *plan = (struct coll_plan) { .op = request->op,
                                 .algorithm = request->algorithm,
                                 .size_B = request->size_B };
    if (request->n_groups < 1)
        return err_set(err, "no ranks take part");
    plan->n_ranks = coll_group_ranks(&request->groups[0]);
    for (int32_t s = 0; s < request->groups[0].n_spans; s++)
        plan->n_nodes += request->groups[0].spans[s].n_instances;
    if (check_request(&p))
        return -1;
    plan->why = "one rank has nothing to do";
    if (plan->n_ranks == 1)
        return 0;
    p.nccl = version_of(&p);
    if (!p.nccl)
        return err_set(err, "\"%s\" is no version of NCCL (write for example 2.12.12)",
                       request->nccl ? request->nccl : "");
    const struct coll_algo *algo = coll_choose(&p);
    if (!algo)
        return -1;
    plan->algorithm = algo->id;
    if (algo->plan(&p))
        return -1;
    plan->protocol = plan->phases[0].protocol;
    take_gpu(&p);
    coll_wait_for_host(&p);
    return 0;
}
