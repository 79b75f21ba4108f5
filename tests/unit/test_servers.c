/* Parameter servers: consistent hashing, bytes of push, pull and replication, and the
 * busiest server's pace. */
#include "cost/collective.h"
#include "cost/hashring.h"
#include "net_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_servers_register(void);

enum { KEYS = 20000 };

/* With 128 virtual nodes parts stay within 35 % of even, and every key has a server. */
static void test_balance(void)
{
    for (int32_t n = 1; n <= 64; n *= 2) {
        struct arena arena;
        struct hashring r;
        double own[64] = { 0 }, copies[64] = { 0 }, sum = 0, most = 0, least = HUGE_VAL;
        arena_init(&arena);
        hashring_init(&r, &arena, n, HASHRING_VIRTUAL);
        for (uint64_t key = 0; key < KEYS; key++)
            hashring_spread(&r, key, 1, 0, 0, own, copies);
        for (int32_t s = 0; s < n; s++) {
            sum += own[s];
            most = fmax(most, own[s]);
            least = fmin(least, own[s]);
            CU_ASSERT_EQUAL(copies[s], 0);
        }
        CU_ASSERT_EQUAL(sum, KEYS);
        CU_ASSERT(most <= 1.35 * KEYS / n && least >= 0.65 * KEYS / n);
        arena_release(&arena);
    }
}

/* Fewer virtual nodes balance worse. */
static void test_virtual_nodes(void)
{
    double worst[2];
    for (int i = 0; i < 2; i++) {
        struct arena arena;
        struct hashring r;
        double own[16] = { 0 }, copies[16];
        arena_init(&arena);
        hashring_init(&r, &arena, 16, i == 0 ? 1 : HASHRING_VIRTUAL);
        for (uint64_t key = 0; key < KEYS; key++)
            hashring_spread(&r, key, 1, 0, 0, own, copies);
        worst[i] = 0;
        for (int s = 0; s < 16; s++)
            worst[i] = fmax(worst[i], own[s] * 16 / KEYS);
        arena_release(&arena);
    }
    CU_ASSERT(worst[0] > 1.5 && worst[1] < 1.35);
}

/* A server that joins takes keys, and nobody else gains any. */
static void test_join(void)
{
    struct arena arena;
    struct hashring before, after;
    int moved = 0;
    arena_init(&arena);
    hashring_init(&before, &arena, 8, HASHRING_VIRTUAL);
    hashring_init(&after, &arena, 9, HASHRING_VIRTUAL);
    for (uint64_t key = 0; key < KEYS; key++) {
        int32_t a, b;
        hashring_servers(&before, key, 1, &a);
        hashring_servers(&after, key, 1, &b);
        CU_ASSERT(a == b || b == 8);
        moved += a != b;
    }
    CU_ASSERT(moved > KEYS / 18 && moved < KEYS / 5);
    arena_release(&arena);
}

/* Replicas are other servers, each once, and at most all others. */
static void test_replicas(void)
{
    struct arena arena;
    struct hashring r;
    int32_t servers[8];
    double own[5] = { 0 }, copies[5] = { 0 }, sum = 0;
    arena_init(&arena);
    hashring_init(&r, &arena, 5, HASHRING_VIRTUAL);
    for (uint64_t key = 0; key < 100; key++) {
        CU_ASSERT_EQUAL(hashring_servers(&r, key, 8, servers), 5);
        uint32_t seen = 0;
        for (int i = 0; i < 5; i++)
            seen |= 1u << servers[i];
        CU_ASSERT_EQUAL(seen, 31);
    }
    hashring_spread(&r, 7, 100e6, 4e6, 2, own, copies);
    for (int s = 0; s < 5; s++)
        sum += own[s];
    CU_ASSERT_DOUBLE_EQUAL(sum, 100e6, 1e-3);
    for (int s = 0; s < 5; s++)
        sum += copies[s];
    CU_ASSERT_DOUBLE_EQUAL(sum, 300e6, 1e-3);
    arena_release(&arena);
}

/* Bytes over all NICs, out and in: push and pull S (N-1) each, replicas k S; and the
 * pace of a server that owns w. */
static void test_bytes_and_pace(void)
{
    enum { N = 4 };
    static const double S = 64 << 20, own[N] = { 0.25, 0.4, 0.2, 0.15 },
                        copies[N] = { 0.3, 0.2, 0.3, 0.2 };
    struct cfg_loader loader;
    struct arena arena;
    struct cluster cluster;
    struct coll_plan x[2];
    struct err err = { 0 };
    cfg_loader_init(&loader);
    arena_init(&arena);
    CU_ASSERT_FATAL(cluster_parse(&cluster, &loader, "p3dn.24xlarge:4") == 0);
    struct coll_group world = coll_group_world(&cluster);
    struct coll_library library = { .shares = own, .replicas = copies };
    struct coll_request q = { COLL_ALL_REDUCE,    COLL_SERVERS,     .protocol = -1,
                              .size_B = S,        .groups = &world, .n_groups = 1,
                              .library = &library };
    double times[2];
    for (int folded = 0; folded < 2; folded++) {
        struct net *net = net_new(&cluster, folded, &err);
        CU_ASSERT_FATAL(net != NULL);
        CU_ASSERT_FATAL(coll_plan_make(&x[folded], &arena, net, &q, &err) == 0);
        times[folded] = coll_plan_time_s(&x[folded], net);
        for (int i = 0; i < x[folded].n_phases && !folded; i++) {
            const struct coll_phase *p = &x[0].phases[i];
            double nic = 0, expected = 0;
            for (int32_t u = 0; u < p->n_uses; u++) {
                const struct net_link *l = &net_links(net)[p->uses[u].link];
                if (l->kind == NET_NIC)
                    nic += p->uses[u].weight * S * l->line_Bps *
                           cluster.fabric->efficiency / l->payload_Bps;
            }
            if (!strcmp(p->name, "push and sums") || !strcmp(p->name, "pull"))
                expected = 2 * S * (N - 1);
            if (!strcmp(p->name, "replicate"))
                expected = 2 * S;
            CU_ASSERT_DOUBLE_EQUAL(nic, expected, 1);
            if (!strcmp(p->name, "pull"))
                CU_ASSERT_DOUBLE_EQUAL(
                    coll_phase_time_s(p, net) - p->latency_s,
                    S * 0.4 * 3 / (12.5e9 * cluster.fabric->efficiency), 1e-9);
        }
        net_free(net);
    }
    CU_ASSERT_DOUBLE_EQUAL(times[0], times[1], 1e-9 * times[0]);
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* Servers of which nothing is said own 1/N each and hold no copies. */
static void test_unsaid_shares(void)
{
    static const double even[] = { 0.25, 0.25, 0.25, 0.25 }, none[] = { 0, 0, 0, 0 };
    double times[2];
    for (int i = 0; i < 2; i++) {
        struct bench b;
        struct coll_plan plan;
        bench_init(&b, "p3dn.24xlarge:4", true);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 64 << 20);
        b.library.shares = i == 0 ? NULL : even;
        b.library.replicas = i == 0 ? NULL : none;
        q.library = &b.library;
        q.algorithm = COLL_SERVERS;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        times[i] = coll_plan_time_s(&plan, b.net);
        bench_release(&b);
    }
    CU_ASSERT_EQUAL(times[0], times[1]);
}

void test_servers_register(void)
{
    CU_pSuite s = CU_add_suite("servers", NULL, NULL);
    CU_add_test(s, "keys are balanced", test_balance);
    CU_add_test(s, "virtual nodes balance", test_virtual_nodes);
    CU_add_test(s, "a server that joins", test_join);
    CU_add_test(s, "replicas", test_replicas);
    CU_add_test(s, "bytes, and the busiest server", test_bytes_and_pace);
    CU_add_test(s, "shares that are not said", test_unsaid_shares);
}
