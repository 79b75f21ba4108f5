/* What NCCL and its plugins choose, by version, size and cluster. */
#include "cost/nccl.h"
#include "net_bench.h"
#include "scenario/releases.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_nccl_register(void);

/* The tuner of aws-ofi-nccl on p5, at its boundaries and between its knots. */
static void test_plugin_choice(void)
{
    static const struct {
        int nodes;
        double size_B;
        enum coll_algorithm algorithm;
        int protocol;
    } rows[] = { { 2, 31457280, COLL_TREE, FABRIC_PROTO_LL128 },
                 { 2, 31457281 * 1.001, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE },
                 { 8, 117440512, COLL_TREE, FABRIC_PROTO_LL128 },
                 { 8, 134217728, COLL_RING, FABRIC_PROTO_LL128 },
                 { 8, 2147483648, COLL_RING, FABRIC_PROTO_LL128 },
                 { 8, 4294967296, COLL_RING, FABRIC_PROTO_SIMPLE },
                 { 6, 80e6, COLL_RING, FABRIC_PROTO_LL128 },
                 { 6, 70e6, COLL_TREE, FABRIC_PROTO_LL128 },
                 { 32, 536870912, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE },
                 { 32, 2147483648, COLL_RING, FABRIC_PROTO_LL128 },
                 { 32, 8589934592, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char spec[32];
        struct bench b;
        struct coll_plan plan;
        snprintf(spec, sizeof(spec), "p5.48xlarge:%d", rows[i].nodes);
        bench_init(&b, spec, true);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, rows[i].size_B);
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.algorithm, rows[i].algorithm);
        CU_ASSERT_EQUAL(plan.protocol, rows[i].protocol);
        q.protocol = FABRIC_PROTO_SIMPLE; /* as SageMaker's launcher sets */
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.protocol, FABRIC_PROTO_SIMPLE);
        bench_release(&b);
    }
}

/* Versions before 2.19.1 have no place for a plugin's tuner. */
static void test_plugin_unasked(void)
{
    static const struct {
        const char *nccl;
        bool asked;
    } rows[] = { { "2.18", false },   { "2.18.1", false }, { "2.18.6", false },
                 { "2.19.1", true },  { "2.19", true },    { "2.20.5", true },
                 { "2.12.12", false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bench b;
        struct coll_plan plan;
        bench_init(&b, "p5.48xlarge:8", true);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 4 << 20);
        q.nccl = rows[i].nccl;
        q.explains = true;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(strstr(plan.why, "the tuner of efa") != NULL, rows[i].asked);
        CU_ASSERT_EQUAL(strstr(plan.why, "expects") != NULL, !rows[i].asked);
        bench_release(&b);
    }
}

/* NCCL's crossovers, as kinks in measured times show them. */
static void test_choice(void)
{
    static const struct {
        const char *spec;
        int n;
        double below, above; /* protocol changes to Simple between these sizes */
    } rows[] = { { "p3.16xlarge", 4, 4 << 20, 5 << 20 },
                 { "p3.16xlarge", 8, 13 << 20, 15 << 20 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bench b;
        struct coll_plan plan;
        bench_init(&b, rows[i].spec, true);
        bench_use_gpus(&b, (1u << rows[i].n) - 1);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, rows[i].below);
        q.nccl = "2.12.12";
        CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.protocol, FABRIC_PROTO_LL128);
        q.size_B = rows[i].above;
        CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.protocol, FABRIC_PROTO_SIMPLE);
        bench_release(&b);
    }
}

/* NCCL 2.4 goes by bytes a rank: 64 KiB of each of 128. */
static void test_choice_of_2_4(void)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, "p3dn.24xlarge:16", true);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, (8 << 20) - 4);
    q.nccl = "2.4";
    q.algorithm = COLL_RING;
    CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    CU_ASSERT_EQUAL(plan.protocol, FABRIC_PROTO_LL);
    q.size_B = 8 << 20;
    CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    CU_ASSERT_EQUAL(plan.protocol, FABRIC_PROTO_SIMPLE);
    bench_release(&b);
}

/* Inside one node of eight GPUs the switch adds up, of four a ring is faster: each GPU
 * pulls at 90 GB/s of what NCCL's search tries, so half the links would rest. LL128 has
 * 73 GB/s a channel of Blackwell's until 2.28, 34.5 in 2.29. */
static void test_choice_on_blackwell(void)
{
    static const struct {
        const char *nccl;
        enum coll_op op;
        int n;
        double size_B;
        enum coll_algorithm algorithm;
        int protocol;
    } rows[] = {
        { "2.29.2", COLL_ALL_REDUCE, 8, 2 << 20, COLL_RING, FABRIC_PROTO_LL },
        { "2.29.2", COLL_ALL_REDUCE, 8, 4 << 20, COLL_NVLS, FABRIC_PROTO_SIMPLE },
        { "2.29.2", COLL_ALL_REDUCE, 4, 4 << 20, COLL_RING, FABRIC_PROTO_LL },
        { "2.29.2", COLL_ALL_REDUCE, 4, 8 << 20, COLL_RING, FABRIC_PROTO_SIMPLE },
        { "2.28.9", COLL_ALL_REDUCE, 4, 8 << 20, COLL_RING, FABRIC_PROTO_LL128 },
        { "2.29.2", COLL_ALL_REDUCE, 4, 1 << 29, COLL_RING, FABRIC_PROTO_SIMPLE },
        { "2.29.2", COLL_ALL_GATHER, 8, 16 << 20, COLL_RING, FABRIC_PROTO_SIMPLE },
        { "2.28.9", COLL_ALL_GATHER, 8, 32 << 20, COLL_RING, FABRIC_PROTO_LL128 },
        { "2.29.2", COLL_ALLTOALL, 8, 8 * 16384, COLL_P2P, FABRIC_PROTO_LL },
        { "2.29.2", COLL_ALLTOALL, 8, 8 * 16386, COLL_P2P, FABRIC_PROTO_SIMPLE },
        { "2.28.9", COLL_ALLTOALL, 8, 8 * 524288, COLL_P2P, FABRIC_PROTO_LL },
        { "2.28.9", COLL_ALLTOALL, 8, 8 * 524290, COLL_P2P, FABRIC_PROTO_SIMPLE },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bench b;
        struct coll_plan plan;
        bench_init(&b, "p6-b200.48xlarge", true);
        bench_use_gpus(&b, (1u << rows[i].n) - 1);
        struct coll_request q = bench_request(&b, rows[i].op, rows[i].size_B);
        q.nccl = rows[i].nccl;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.algorithm, rows[i].algorithm);
        CU_ASSERT_EQUAL(plan.phases[0].protocol, rows[i].protocol);
        bench_release(&b);
    }
}

/* Rounds of NVLS: fewer than 2, 8 and 64 of a chunk halve it. 16 channels, 8 GPUs. */
static void test_chunk_of_nvls(void)
{
    static const struct {
        double size_B, chunk_B;
    } rows[] = { { 1 << 20, 16384 },  { (8 << 20) - 1, 16384 },
                 { 8 << 20, 32768 },  { (64 << 20) - 1, 32768 },
                 { 64 << 20, 65536 }, { 1 << 30, 131072 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CU_ASSERT_EQUAL(fabric_nvls_chunk_B(rows[i].size_B, 128, 1), rows[i].chunk_B);
    struct fabric_law law = { .rounds_channels = 16,
                              .rounds_half_B = 16384,
                              .fill_frac = 2 };
    /* 8 rounds of 32 KiB chunks: (1 + 1/2) (1 + 2/8) of X */
    double s = fabric_law_s(&law, 8, 1, 32 << 20, 32 << 20, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(s, 0.875e-3, 1e-9);
}

/* Rounds of NVLS trees on nodes of 8 GPUs: 128 chunks, of up to 128 KiB below 4 nodes
 * and 64 KiB from there on. A round fills twice, from 8 nodes on for each two levels. */
static void test_rounds_of_nvls_trees(void)
{
    static const struct {
        int64_t n_nodes;
        double size_B, chunk_B, filled; /* of X */
    } rows[] = {
        { 2, 1 << 20, 32768, 2 },     { 2, 8 << 20, 65536, 2 },
        { 2, 16 << 20, 65536, 1 },    { 2, (64 << 20) - 128, 65536, 0.25 },
        { 2, 64 << 20, 131072, 0.5 }, { 2, 1 << 30, 131072, 1.0 / 32 },
        { 4, 64 << 20, 65536, 0.25 }, { 4, 4 << 20, 32768, 2 },
        { 16, 64 << 20, 65536, 0.5 }, { 64, 64 << 20, 65536, 0.75 },
    };
    struct fabric_law law = { .rounds_channels = 16, .fill_frac = 2 };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t n = rows[i].n_nodes;
        double size_B = rows[i].size_B;
        CU_ASSERT_EQUAL(fabric_nvls_chunk_B(size_B, 128, n), rows[i].chunk_B);
        CU_ASSERT_DOUBLE_EQUAL(fabric_law_s(&law, 8 * n, n, size_B, size_B, 1),
                               rows[i].filled, 1e-5);
    }
}

/* What NCCL 2.26 takes on DGX H100 with 8 ports of 400 Gb/s: 8 channels of 45 GB/s. An
 * NVLink chain leaves trees 411 GB/s of a pair of nodes, and LL128 293 of its channels. */
static void test_choice_on_infiniband(void)
{
    static const struct {
        const char *cluster;
        double size_B;
        enum coll_algorithm algorithm;
        int protocol;
    } rows[] = {
        /* eight ways of 24 GB/s are not doubled: their trees lose to rings */
        { "dgx-a100-80gb:2", 4 << 20, COLL_TREE, FABRIC_PROTO_LL128 },
        { "dgx-a100-80gb:2", 1 << 30, COLL_RING, FABRIC_PROTO_SIMPLE },
        { "dgx-h100:2", 65536, COLL_TREE, FABRIC_PROTO_LL },
        { "dgx-h100:2", 524288, COLL_TREE, FABRIC_PROTO_LL128 },
        { "dgx-h100:2", 16 << 20, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE },
        { "dgx-h100:2", 1 << 30, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE },
        { "dgx-h100:4", 1 << 20, COLL_TREE, FABRIC_PROTO_LL128 },
        { "dgx-h100:4", 64 << 20, COLL_NVLS_TREE, FABRIC_PROTO_SIMPLE },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bench b;
        struct coll_plan plan;
        bench_init(&b, rows[i].cluster, true);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, rows[i].size_B);
        q.nccl = "2.26.2";
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_EQUAL(plan.algorithm, rows[i].algorithm);
        CU_ASSERT_EQUAL(plan.phases[0].protocol, rows[i].protocol);
        bench_release(&b);
    }
}

/* Domains of 64 and 72 GPUs keep the switch at all large sizes. */
static void test_choice_in_domain(void)
{
    static const char *const clusters[] = { "dgx-gb300:16", "dgx-gb200:18" };
    static const char *const versions[] = { "2.26.2", "2.28.7", NULL };
    for (size_t i = 0; i < 2; i++)
        for (size_t v = 0; v < 3; v++) {
            struct bench b;
            struct coll_plan plan;
            bench_init(&b, clusters[i], true);
            struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 8e9);
            q.nccl = versions[v];
            CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
            CU_ASSERT_EQUAL(plan.algorithm, COLL_NVLS);
            bench_release(&b);
        }
}

static double ring_ll_s(const char *cluster, int32_t n_gpus, const struct fabric **f,
                        const struct fabric **inside)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, cluster, true);
    bench_use_gpus(&b, (1u << n_gpus) - 1);
    struct coll_request q = bench_request(&b, COLL_ALL_GATHER, 8);
    q.protocol = FABRIC_PROTO_LL;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    double s = plan.phases[0].latency_s;
    static struct fabric kept[2];
    kept[0] = *b.cluster.fabric;
    kept[1] = *b.cluster.groups[0].instance->inside;
    *f = &kept[0];
    *inside = &kept[1];
    bench_release(&b);
    return s;
}

/* Of a ring's steps one a node is the network's hop, the others are those inside. */
static void test_hop(void)
{
    static const char *const clusters[] = { "dgx-a100-80gb:2", "dgx-h100:2",
                                            "dgx-b200:2" };
    for (size_t i = 0; i < 3; i++) {
        const struct fabric *f, *in;
        double all = ring_ll_s(clusters[i], 8, &f, &in);
        const struct fabric_protocol *out = &f->proto[FABRIC_PROTO_LL];
        const struct fabric_protocol *own = &in->proto[FABRIC_PROTO_LL];
        CU_ASSERT(out->hop_s > 0 && out->step_s <= 0);
        double steps = 15 * (out->hop_s + 7 * own->step_s) / 8;
        CU_ASSERT_DOUBLE_EQUAL(all, out->base_s + steps, 1e-8);
        double one = ring_ll_s(clusters[i], 1, &f, &in);
        CU_ASSERT_DOUBLE_EQUAL(one, out->base_s + f->latency_s + out->hop_s, 1e-8);
    }
}

/* Rings wait for the last primitive of a chunk, whatever the operation. */
static void test_last_primitive(void)
{
    static const enum coll_op ops[] = { COLL_ALL_REDUCE, COLL_ALL_GATHER,
                                        COLL_REDUCE_SCATTER };
    struct bench b;
    bench_init(&b, "dgx-b200", true);
    const struct fabric *in = b.cluster.groups[0].instance->inside;
    bench_use_gpus(&b, 3);
    for (size_t i = 0; i < 3; i++) {
        struct coll_plan plan;
        struct coll_request q = bench_request(&b, ops[i], 1 << 20);
        q.algorithm = COLL_RING;
        q.protocol = FABRIC_PROTO_LL;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        CU_ASSERT_DOUBLE_EQUAL(plan.phases[0].steps.after_s,
                               (1 << 19) / in->proto[FABRIC_PROTO_LL].turn_Bps, 1e-12);
    }
    bench_release(&b);
}

static double time_of(struct bench *b, const struct coll_request *q)
{
    struct coll_plan plan;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b->arena, b->net, q, &b->err) == 0);
    return coll_plan_time_s(&plan, b->net);
}

/* A thread that launches on all GPUs, as measured on a DGX A100 (nccl-tests issue 123: 8 B
 * on two to eight GPUs), is what limits small sizes, and large ones not. */
static void test_one_thread(void)
{
    static const double measured_us[] = { 10, 13.76, 16.88, 20.8, 25.2, 29.5, 33.7 };
    struct bench b;
    bench_init(&b, "dgx-a100-80gb:1", true);
    for (int32_t n = 2; n <= 8; n++) {
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 8);
        bench_use_gpus(&b, (1u << n) - 1);
        double own_s = time_of(&b, &q);
        q.gpus_per_thread = n;
        double s = time_of(&b, &q);
        CU_ASSERT_DOUBLE_EQUAL(s, fmax(own_s, n * 4.2e-6), 1e-9);
        CU_ASSERT(fabs(s / (measured_us[n - 2] * 1e-6) - 1) < 0.09);
        q.graph_launch = true;
        CU_ASSERT(time_of(&b, &q) <= own_s);
        q.graph_launch = false;
        q.size_B = 1 << 28;
        double large_s = time_of(&b, &q);
        q.gpus_per_thread = 1;
        CU_ASSERT_DOUBLE_EQUAL(time_of(&b, &q), large_s, 1e-12);
        q.gpus_per_thread = n + 1;
        struct coll_plan plan;
        CU_ASSERT_EQUAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err), -1);
        b.err = (struct err) { 0 };
    }
    bench_release(&b);
}

static void test_versions(void)
{
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.4.8")), "2.4");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.11")), "2.10");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.12.12-1")), "2.12");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.18.1")), "2.18");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.20.5")), "2.19");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get(NULL)), "2.30");
    CU_ASSERT_PTR_NULL(nccl_version_get("newest"));
    CU_ASSERT_PTR_NULL(nccl_version_get("2"));
    CU_ASSERT_PTR_NULL(nccl_version_get("2.12x"));
}

/* What is said to be known is what the table holds. */
static void test_known_versions(void)
{
    static const struct {
        const char *version, *unsure; /* NULL: none */
    } rows[] = {
        { "2.4", NULL },
        { "2.4.8-1", NULL },
        { "2.11.4", NULL },
        { "2.27.5", NULL },
        { "2.30", NULL },
        { "2.30.7+x", NULL },
        { "2.3.7", "(2.4 to 2.30 are): taken for the oldest" },
        { "2.31", "newest" },
        { "9.9", "NCCL 9.9 is not known (2.4 to 2.30 are)" },
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *unsure = release_unsure(&arena, "nccl", rows[i].version);
        if (!rows[i].unsure) {
            CU_ASSERT_PTR_NULL(unsure);
            continue;
        }
        CU_ASSERT_PTR_NOT_NULL_FATAL(unsure);
        CU_ASSERT_PTR_NOT_NULL(strstr(unsure, rows[i].unsure));
    }
    CU_ASSERT_PTR_NULL(release_unsure(&arena, "pytorch", "2.5.1+cu124"));
    CU_ASSERT_PTR_NOT_NULL(release_unsure(&arena, "pytorch", "9.9"));
    CU_ASSERT_PTR_NOT_NULL(release_unsure(&arena, "horovod", "1.0"));
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get("2.0")), "2.4");
    CU_ASSERT_STRING_EQUAL(nccl_version_name(nccl_version_get(NULL)), "2.30");
    arena_release(&arena);
}

void test_nccl_register(void)
{
    CU_pSuite s = CU_add_suite("nccl", NULL, NULL);
    CU_add_test(s, "the plugin's choice", test_plugin_choice);
    CU_add_test(s, "plugins that no version asks", test_plugin_unasked);
    CU_add_test(s, "choice of protocol", test_choice);
    CU_add_test(s, "2.4's choice of protocol", test_choice_of_2_4);
    CU_add_test(s, "choice on Blackwell", test_choice_on_blackwell);
    CU_add_test(s, "chunks of NVLS", test_chunk_of_nvls);
    CU_add_test(s, "rounds of NVLS trees", test_rounds_of_nvls_trees);
    CU_add_test(s, "choice on InfiniBand", test_choice_on_infiniband);
    CU_add_test(s, "choice in a domain", test_choice_in_domain);
    CU_add_test(s, "a hop between nodes", test_hop);
    CU_add_test(s, "GPUs of one thread", test_one_thread);
    CU_add_test(s, "the last primitive", test_last_primitive);
    CU_add_test(s, "versions", test_versions);
    CU_add_test(s, "versions that are known", test_known_versions);
}
