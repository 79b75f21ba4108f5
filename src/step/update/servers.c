#include "step/update/servers.h"

#include "cost/hashring.h"
#include "scenario/libraries.h"

#include <inttypes.h>

enum { SLICE_ELEMENTS = 1 << 20, POINTS_MAX = 1 << 20 };

/* Virtual nodes of each server: fewer where there are very many servers. */
static int32_t virtual_nodes(int64_t servers)
{
    int64_t most = POINTS_MAX / servers;
    return most >= HASHRING_VIRTUAL ? HASHRING_VIRTUAL : most > 1 ? (int32_t)most : 1;
}

static void spread_tensors(const struct hashring *ring, const struct op_list *list,
                           int32_t replicas, double *own, double *copies)
{
    double each = 1 / (double)op_list_trained(list);
    uint64_t key = 0;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *block = &list->blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            const struct op_param *p = &block->params[k % block->n_params];
            double elements = p->frozen ? 0 : (double)p->elements;
            if (elements <= 0)
                continue;
            hashring_spread(ring, key++, elements * each, SLICE_ELEMENTS * each,
                            replicas, own, copies);
        }
    }
}

const struct coll_library *servers_library(struct arena *arena,
                                           const struct scenario *s,
                                           const struct op_list *list)
{
    int64_t n = s->cluster.n_instances;
    struct coll_library *l = ARENA_NEW(arena, struct coll_library);
    double *own = ARENA_ARRAY(arena, n, double),
           *copies = ARENA_ARRAY(arena, n, double);
    struct hashring ring;
    hashring_init(&ring, arena, (int32_t)n, virtual_nodes(n));
    spread_tensors(&ring, list, (int32_t)s->parallel.reduce.server_replicas, own,
                   copies);
    *l = coll_library_defaults;
    l->shares = own;
    l->replicas = s->parallel.reduce.server_replicas > 0 ? copies : NULL;
    l->asynchronous = s->parallel.reduce.asynchronous;
    return l;
}

const char *servers_note(struct arena *arena, const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    int64_t n = s->cluster.n_instances;
    if (!library_is_asynchronous(p) || n < 2)
        return NULL;
    return arena_printf(arena,
                        "asynchronous: %" PRId64
                        " updates by other workers lie on average "
                        "between the parameters that a gradient was computed on and "
                        "those it is applied to",
                        (int64_t)(n - 1));
}
