/* Hierarchical collectives: rings inside every node, and rings across nodes of the GPUs
 * that have the same place in them. Each is one kernel after the other. */
#include "cost/coll_plan.h"

enum scope { INSIDE, ACROSS };

/* One line an operation: its phases in order. The bytes between nodes are spread over
 * the GPUs of a node, except where one root has them all. */
static const struct recipe {
    enum coll_op op;
    int32_t n;
    struct {
        enum scope scope;
        enum coll_op op;
        const char *name;
    } phases[3];
} recipes[] = {
    { COLL_ALL_REDUCE,
      3,
      { { INSIDE, COLL_REDUCE_SCATTER, "reduce-scatter inside" },
        { ACROSS, COLL_ALL_REDUCE, "all-reduce across" },
        { INSIDE, COLL_ALL_GATHER, "all-gather inside" } } },
    { COLL_REDUCE_SCATTER,
      2,
      { { INSIDE, COLL_REDUCE_SCATTER, "reduce-scatter inside" },
        { ACROSS, COLL_REDUCE_SCATTER, "reduce-scatter across" } } },
    { COLL_ALL_GATHER,
      2,
      { { ACROSS, COLL_ALL_GATHER, "all-gather across" },
        { INSIDE, COLL_ALL_GATHER, "all-gather inside" } } },
    { COLL_BROADCAST,
      2,
      { { ACROSS, COLL_BROADCAST, "broadcast across" },
        { INSIDE, COLL_BROADCAST, "broadcast inside" } } },
    { COLL_REDUCE,
      2,
      { { INSIDE, COLL_REDUCE, "reduce inside" },
        { ACROSS, COLL_REDUCE, "reduce across" } } },
};

static bool has_root(enum coll_op op)
{
    return op == COLL_BROADCAST || op == COLL_REDUCE;
}

/* Every node of every group by itself; folded, one of each span. */
void coll_list_inside(struct planner *p, struct ring_job *job)
{
    const struct coll_request *q = p->request;
    VEC(struct coll_group) list = { 0 };
    for (int32_t i = 0; i < q->n_groups; i++) {
        const struct coll_group *g = &q->groups[i];
        for (int32_t s = 0; s < g->n_spans; s++) {
            int64_t n = net_is_folded(p->net) ? 1 : g->spans[s].n_instances;
            for (int64_t k = 0; k < n; k++) {
                struct coll_group one = { .n_spans = 1, .spans = { g->spans[s] } };
                one.spans[0].first += k * one.spans[0].stride;
                one.spans[0].n_instances = 1;
                one.spans[0].stride = 1;
                VEC_PUSH(&list, one);
            }
        }
    }
    struct coll_group *groups = ARENA_ARRAY(p->arena, list.n, struct coll_group);
    for (int64_t i = 0; i < list.n; i++)
        groups[i] = list.v[i];
    job->groups = groups;
    job->n_groups = (int32_t)list.n;
    VEC_RELEASE(&list);
}

/* For each place in a node the GPUs that have it; of operations with a root its
 * alone. */
void coll_list_across(struct planner *p, struct ring_job *job)
{
    const struct coll_request *q = p->request;
    int32_t n_local = has_root(job->op) ? 1 : q->groups[0].spans[0].n_gpus;
    struct coll_group *groups =
        ARENA_ARRAY(p->arena, q->n_groups * n_local, struct coll_group);
    for (int32_t i = 0; i < q->n_groups; i++) {
        for (int32_t k = 0; k < n_local; k++) {
            struct coll_group *g = &groups[i * n_local + k];
            *g = q->groups[i];
            for (int32_t s = 0; s < g->n_spans; s++) {
                g->spans[s].gpus[0] = q->groups[i].spans[s].gpus[k];
                g->spans[s].n_gpus = 1;
            }
        }
    }
    job->groups = groups;
    job->n_groups = q->n_groups * n_local;
    job->share = 1.0 / n_local;
}

int coll_plan_hierarchical(struct planner *p)
{
    const struct recipe *recipe = recipes;
    struct coll_plan *plan = p->plan;
    while (recipe->op != p->request->op)
        recipe++;
    plan->phases = ARENA_ARRAY(p->arena, recipe->n, struct coll_phase);
    for (int32_t i = 0; i < recipe->n; i++) {
        bool inside = recipe->phases[i].scope == INSIDE;
        struct ring_job job = { .name = recipe->phases[i].name,
                                .op = recipe->phases[i].op,
                                .size_B = p->request->size_B,
                                .share = 1 };
        if (inside && p->request->groups[0].spans[0].n_gpus == 1)
            continue;
        (inside ? coll_list_inside : coll_list_across)(p, &job);
        if (coll_ring_phase(p, &job, &plan->phases[plan->n_phases++]))
            return -1;
    }
    return 0;
}
