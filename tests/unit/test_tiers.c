/* Leaf and spine switches between nodes: routes, PXN over rails, what is narrow, and the
 * fidelities against each other. */
#include "net_bench.h"
#include "step_bench.h"

void test_tiers_register(void);

static void open(struct bench *b, const char *cluster)
{
    memset(b, 0, sizeof(*b));
    cfg_loader_init(&b->loader);
    arena_init(&b->arena);
    struct cfg root = cfg_parse(&b->loader, "cluster", cluster, strlen(cluster));
    CU_ASSERT_EQUAL_FATAL(cluster_read(&b->cluster, &b->loader, root), 0);
    b->net = net_new(&b->cluster, true, &b->err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->net);
    b->world = coll_group_world(&b->cluster);
    b->library = coll_library_defaults;
}

#define H100(tiers) "{'instance':'dgx-h100','count':16," tiers "}"
#define LEAF2 "'tiers':[{'hosts':4,'oversubscription':2}]"
#define SPINE "'tiers':[{'hosts':2,'oversubscription':2},{'hosts':8}]"

static int count(const struct net *net, int64_t a, int gpu_a, int64_t b, int gpu_b,
                 enum net_kind kind)
{
    int32_t links[NET_ROUTE_MAX];
    int n = net_route(net, a, gpu_a, b, gpu_b, links), of = 0;
    for (int i = 0; i < n; i++)
        of += net_links(net)[links[i]].kind == kind;
    return of;
}

static void test_routes(void)
{
    struct bench b;
    open(&b, H100(LEAF2));
    CU_ASSERT_FALSE(net_is_folded(b.net));
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 3, 5, NET_TIER), 0);
    CU_ASSERT_EQUAL(count(b.net, 3, 0, 4, 0, NET_TIER), 2);
    bench_release(&b);
    open(&b, H100(SPINE));
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 1, 0, NET_TIER), 0);
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 7, 0, NET_TIER), 2);
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 8, 0, NET_TIER), 4);
    bench_release(&b);
    open(&b, H100("'rails':true," LEAF2));
    CU_ASSERT_EQUAL(count(b.net, 0, 2, 3, 2, NET_TIER), 0);
    CU_ASSERT_EQUAL(count(b.net, 0, 2, 3, 5, NET_TIER), 0); /* by PXN */
    CU_ASSERT_EQUAL(count(b.net, 0, 2, 3, 5, NET_NVLINK), 2);
    CU_ASSERT_EQUAL(count(b.net, 0, 2, 4, 5, NET_TIER), 2);
    bench_release(&b);
    open(&b, H100("'tiers':[{'hosts':4}]"));
    CU_ASSERT_TRUE(net_is_folded(b.net));
    bench_release(&b);
    /* hosts of one NVLink domain have leaves of their own */
    open(&b, "{'instance':'dgx-gb200','count':36,'tiers':[{'hosts':9,"
             "'oversubscription':2}]}");
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 1, 0, NET_TIER), 2);
    CU_ASSERT_EQUAL(count(b.net, 0, 0, 0, 71, NET_NIC), 0);
    bench_release(&b);
}

static double closed_s(const char *cluster, enum coll_op op, double size_B)
{
    struct bench b;
    struct coll_plan plan;
    open(&b, cluster);
    struct coll_request q = bench_request(&b, op, size_B);
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    double s = coll_plan_time_s(&plan, b.net);
    bench_release(&b);
    return s;
}

/* An all-to-all sends 12 of 15 parts of what leaves a node out of its leaf: from 2 to 1
 * on these are slower than the NICs. A ring crosses a leaf once, whatever its size. */
static void test_narrow(void)
{
    static const char *const leaf[] = {
        H100("'oversubscription':1"),
        H100("'tiers':[{'hosts':4,'oversubscription':1.2}]"),
        H100(LEAF2),
        H100("'tiers':[{'hosts':4,'oversubscription':8}]"),
    };
    const double bytes = 16e9;
    double whole = closed_s(leaf[0], COLL_ALLTOALL, bytes);
    CU_ASSERT_DOUBLE_EQUAL(closed_s(leaf[1], COLL_ALLTOALL, bytes), whole,
                           1e-3 * whole);
    const double two = closed_s(leaf[2], COLL_ALLTOALL, bytes);
    const double eight = closed_s(leaf[3], COLL_ALLTOALL, bytes);
    CU_ASSERT(two > 1.4 * whole && two < 1.7 * whole);
    CU_ASSERT_DOUBLE_EQUAL(eight, 4 * two, 0.1 * eight);
    whole = closed_s(leaf[0], COLL_ALL_GATHER, bytes);
    CU_ASSERT_DOUBLE_EQUAL(closed_s(leaf[2], COLL_ALL_GATHER, bytes), whole,
                           1e-3 * whole);
    CU_ASSERT(closed_s(leaf[3], COLL_ALL_GATHER, bytes) > 1.5 * whole);
}

static double job_s(const char *cluster, enum fidelity fidelity)
{
    char text[1024];
    struct job j;
    struct err err = { 0 };
    struct simulate_result r = { 0 };
    snprintf(text, sizeof(text),
             "{'model':'llama3-8b','cluster':%s,'training':{'sequence_length':2048,"
             "'micro_batch_size':1,'precision':'bf16'},'parallelism':{'library':'fsdp',"
             "'sharding':{'strategy':'full'}}}",
             cluster);
    cfg_loader_init(&j.loader);
    struct cfg root = cfg_parse(&j.loader, "job", text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&j.s, &j.loader, root), 0);
    const struct simulate_options how = { .network = fidelity };
    CU_ASSERT_EQUAL(simulate(&r, &j.loader.arena, &j.s, &how, &err), 0);
    job_unload(&j);
    return r.step_time_s;
}

/* Jobs of 32 GPUs over leaves of two nodes. */
static void test_jobs(void)
{
#define FOUR(tiers) "{'instance':'dgx-h100','count':4" tiers "}"
    static const char *const clusters[] = {
        FOUR(""),
        FOUR(",'tiers':[{'hosts':2,'oversubscription':16}]"),
    };
    double s[2];
    for (int i = 0; i < 2; i++) {
        s[i] = job_s(clusters[i], FIDELITY_FLOW);
        CU_ASSERT_DOUBLE_EQUAL(job_s(clusters[i], FIDELITY_ANALYTIC), s[i],
                               0.05 * s[i]);
        CU_ASSERT_DOUBLE_EQUAL(job_s(clusters[i], FIDELITY_CHUNK), s[i], 0.05 * s[i]);
    }
    CU_ASSERT(s[1] > 1.2 * s[0]);
}

void test_tiers_register(void)
{
    CU_pSuite s = CU_add_suite("tiers", NULL, NULL);
    CU_add_test(s, "routes over switches", test_routes);
    CU_add_test(s, "narrow ways up", test_narrow);
    CU_add_test(s, "jobs over leaves", test_jobs);
}
