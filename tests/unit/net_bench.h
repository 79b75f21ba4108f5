/* A cluster with its net: the base of tests of collectives. */
#ifndef TESTS_NET_BENCH_H
#define TESTS_NET_BENCH_H

#include "cost/collective.h"

#include <CUnit/CUnit.h>
#include <string.h>

struct bench {
    struct cfg_loader loader;
    struct arena arena;
    struct cluster cluster;
    struct net *net;
    struct coll_group world;
    struct coll_library library; /* the defaults, to be changed */
    struct err err;
};

static inline void bench_init(struct bench *b, const char *spec, bool folded)
{
    memset(b, 0, sizeof(*b));
    cfg_loader_init(&b->loader);
    arena_init(&b->arena);
    CU_ASSERT_FATAL(cluster_parse(&b->cluster, &b->loader, spec) == 0);
    b->net = net_new(&b->cluster, folded, &b->err);
    CU_ASSERT_FATAL(b->net != NULL);
    b->world = coll_group_world(&b->cluster);
    b->library = coll_library_defaults;
}

static inline void bench_release(struct bench *b)
{
    net_free(b->net);
    arena_release(&b->arena);
    cfg_loader_release(&b->loader);
}

/* All of the cluster, with whatever protocol the library chooses. */
static inline struct coll_request bench_request(const struct bench *b, enum coll_op op,
                                                double size)
{
    return (struct coll_request) { .op = op,
                                   .protocol = -1,
                                   .size_B = size,
                                   .groups = &b->world,
                                   .n_groups = 1,
                                   .explains = true };
}

/* Of every instance, the GPUs in the mask alone. */
static inline void bench_use_gpus(struct bench *b, uint32_t mask)
{
    struct coll_span *s = &b->world.spans[0];
    s->n_gpus = 0;
    for (int g = 0; g < INSTANCE_HOST_GPUS_MAX; g++)
        if (mask >> g & 1)
            s->gpus[s->n_gpus++] = (uint8_t)g;
}

#endif
