/* A cluster with its net: what tests of collectives stand on. */
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

#endif
