/* Names of operations and algorithms, and the sizes of groups. */
#include "cost/collective.h"

const struct name_value coll_op_names[] = {
    { "all_reduce", COLL_ALL_REDUCE },
    { "all_gather", COLL_ALL_GATHER },
    { "reduce_scatter", COLL_REDUCE_SCATTER },
    { "broadcast", COLL_BROADCAST },
    { "reduce", COLL_REDUCE },
    { "alltoall", COLL_ALLTOALL },
    { "scatter", COLL_SCATTER },
    { "sendrecv", COLL_SENDRECV },
    { NULL, 0 },
};

const struct name_value coll_algorithm_names[] = {
    { "auto", COLL_AUTO },
    { "ring", COLL_RING },
    { "hierarchical", COLL_HIERARCHICAL },
    { "chain", COLL_CHAIN },
    { "tree", COLL_TREE },
    { "nvls", COLL_NVLS },
    { "nvls_tree", COLL_NVLS_TREE },
    { "smddp", COLL_SMDDP },
    { "mics", COLL_MICS },
    { "servers", COLL_SERVERS },
    { "tokens", COLL_TOKENS },
    { "p2p", COLL_P2P },
    { NULL, 0 },
};

double coll_bus_factor(enum coll_op op, int64_t n_ranks)
{
    double n = (double)n_ranks;
    switch (op) {
    case COLL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
    case COLL_ALLTOALL:
    case COLL_SCATTER:
        return (n - 1) / n;
    default:
        return 1;
    }
}

int64_t coll_group_ranks(const struct coll_group *g)
{
    int64_t n = 0;
    for (int32_t s = 0; s < g->n_spans; s++)
        n += g->spans[s].n_instances * g->spans[s].n_gpus;
    return n;
}

struct coll_group coll_group_world(const struct cluster *c)
{
    struct coll_group g = { .n_spans = c->n_groups };
    int64_t first = 0;
    for (int32_t i = 0; i < c->n_groups; i++) {
        struct coll_span *s = &g.spans[i];
        *s = (struct coll_span) { .first = first,
                                  .n_instances = c->groups[i].count,
                                  .stride = 1,
                                  .n_gpus = c->groups[i].gpus_per_instance };
        for (int32_t k = 0; k < s->n_gpus; k++)
            s->gpus[k] = (uint8_t)k;
        first += s->n_instances;
    }
    return g;
}

bool coll_is_ring_op(enum coll_op op)
{
    return op <= COLL_REDUCE;
}
