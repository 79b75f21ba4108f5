/* What NCCL's choice costs: over clusters, sizes and GPUs a node, as NCCL chooses and
 * held to Simple, as SageMaker's launchers hold it. */
#include "net_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void test_choose_register(void);

static const char *const types[] = {
    "p3dn.24xlarge",    "p4d.24xlarge",  "p5.48xlarge", "p5en.48xlarge",
    "p6-b200.48xlarge", "dgx-a100-80gb", "dgx-h100",    "dgx-1v-32gb",
};
static const int nodes[] = { 1, 2, 3, 4, 6, 7, 8, 13, 24, 33, 63, 64 };
static const uint32_t masks[] = { 0x1, 0x3, 0xf, 0xff }; /* 1, 2, 4 and 8 GPUs */
static const double sizes[] = { 1024,     65536,    524288,    4194304,
                                12600000, 67108864, 268435456, 1073741824 };
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* One way to run an all-reduce, as NCCL's tuner names it. */
struct way {
    const char *label;
    enum coll_algorithm algorithm;
};
static const struct way between[] = { { "ring", COLL_RING },
                                      { "tree", COLL_TREE },
                                      { "NVLS", COLL_NVLS_TREE } };
static const struct way inside[] = { { "ring", COLL_RING }, { "NVLS", COLL_NVLS } };

/* What the tuner expects of a way, read where the choice is printed: "tree simple
 * 3517.7 us"; INFINITY where it is not among what is chosen from. */
static double expected_us(const char *why, const char *label, int protocol)
{
    char text[32];
    snprintf(text, sizeof(text), " %s %s ", label,
             names_of(fabric_protocol_names, protocol));
    const char *at = strstr(why, "expects") ? strstr(why, text) : NULL;
    return at ? strtod(at + strlen(text), NULL) : (double)INFINITY;
}

static bool plan_of(struct bench *b, struct coll_request q, struct coll_plan *plan)
{
    struct err err = { 0 };
    return coll_plan_make(plan, &b->arena, b->net, &q, &err) == 0;
}

/* Whoever is taken is what the version's tuner, or the plugin's, expects the least of;
 * it costs at most a tenth more than the best of what was chosen from, but for what the
 * tuner expects otherwise. */
static void check_choice(struct bench *b, const char *spec, struct coll_request q)
{
    const struct way *ways = b->world.spans[0].n_instances > 1 ? between : inside;
    size_t n = ways == between ? N_OF(between) : N_OF(inside);
    struct coll_plan chosen, other;
    CU_ASSERT_FATAL(plan_of(b, q, &chosen));
    double took = coll_plan_time_s(&chosen, b->net), least = INFINITY;
    double expected = INFINITY;
    if (!strstr(chosen.why, "expects"))
        return;
    for (size_t i = 0; i < n; i++)
        if (ways[i].algorithm == chosen.algorithm)
            expected = expected_us(chosen.why, ways[i].label, chosen.protocol);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < FABRIC_PROTO_N; k++) {
            double us = expected_us(chosen.why, ways[i].label, k);
            least = fmin(least, us);
            struct coll_request as = q;
            as.algorithm = ways[i].algorithm;
            as.protocol = k;
            if (isinf(us) || us > expected || !plan_of(b, as, &other))
                continue;
            if (took > 1.1 * coll_plan_time_s(&other, b->net))
                printf("\n    %s, %d GPUs, %.0f B: %s", spec, b->world.spans[0].n_gpus,
                       q.size_B, chosen.why);
            CU_ASSERT(took <= 1.1 * coll_plan_time_s(&other, b->net));
        }
    CU_ASSERT(expected <= least);
}

/* Versions with a tuner use it, whatever NCCL_PROTO says. */
static void check_tuner(struct bench *b, struct coll_request q)
{
    struct coll_plan plan;
    q.nccl = "2.23.4";
    CU_ASSERT_FATAL(plan_of(b, q, &plan));
    CU_ASSERT_PTR_NULL(strstr(plan.why, "no tuner"));
}

/* The chunks that fill a tree are those of its channels: a group with fewer GPUs of
 * each node waits no longer than whole nodes do once their channels are full. */
static void check_fill(struct bench *b, double size_B, double *whole_s)
{
    struct coll_plan plan;
    struct coll_request q = bench_request(b, COLL_ALL_REDUCE, size_B);
    q.algorithm = COLL_TREE;
    q.protocol = FABRIC_PROTO_SIMPLE;
    if (b->world.spans[0].n_instances < 2 || !plan_of(b, q, &plan))
        return;
    if (b->world.spans[0].n_gpus == 8)
        *whole_s = fmax(*whole_s, plan.phases[0].latency_s);
    CU_ASSERT(plan.phases[0].latency_s <= *whole_s * (1 + 1e-9));
}

static void check_cluster(struct bench *b, const char *spec, int protocol)
{
    double whole_s = 0;
    for (size_t m = N_OF(masks); m-- > 0;) {
        bench_use_gpus(b, masks[m]);
        if (coll_group_ranks(&b->world) == 1)
            continue;
        for (size_t i = 0; i < N_OF(sizes); i++) {
            struct coll_request q = bench_request(b, COLL_ALL_REDUCE, sizes[i]);
            q.protocol = protocol;
            check_choice(b, spec, q);
            check_tuner(b, q);
            check_fill(b, sizes[i], &whole_s);
        }
    }
}

static void test_choice_costs(void)
{
    for (size_t t = 0; t < N_OF(types); t++)
        for (size_t n = 0; n < N_OF(nodes); n++) {
            char spec[64];
            struct bench b;
            snprintf(spec, sizeof(spec), "%s:%d", types[t], nodes[n]);
            bench_init(&b, spec, true);
            check_cluster(&b, spec, -1);
            check_cluster(&b, spec, FABRIC_PROTO_SIMPLE);
            bench_release(&b);
        }
}

/* HSDP's replicas: one GPU a node. A tree once took 2.5 times the ring. */
static void test_no_cliff(void)
{
    double last = 0;
    for (int n = 3; n <= 16; n++) {
        char spec[64];
        struct bench b;
        struct coll_plan plan, ring;
        snprintf(spec, sizeof(spec), "p4d.24xlarge:%d", n);
        bench_init(&b, spec, true);
        bench_use_gpus(&b, 1);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 12600000);
        CU_ASSERT_FATAL(plan_of(&b, q, &plan));
        q.algorithm = COLL_RING;
        CU_ASSERT_FATAL(plan_of(&b, q, &ring));
        double took = coll_plan_time_s(&plan, b.net);
        CU_ASSERT(took <=
                  1.15 * coll_plan_time_s(&ring, b.net)); /* 5: the tuner errs */
        CU_ASSERT(last == 0 || took <= 1.3 * last);
        last = took;
        bench_release(&b);
    }
}

static double tree_s(const char *spec, uint32_t mask, const char *nccl, int protocol)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, spec, true);
    bench_use_gpus(&b, mask);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 1e9);
    q.algorithm = COLL_TREE;
    q.protocol = protocol;
    q.nccl = nccl;
    CU_ASSERT_FATAL(plan_of(&b, q, &plan));
    double time_s = coll_plan_time_s(&plan, b.net);
    bench_release(&b);
    return time_s;
}

/* With one, two or four of Hopper's GPUs a node, each NIC has four channels, with eight
 * two (connect.cc, search.cc): LL128's trees carry twice as much of it. Older releases
 * double none of five ways, the search those of up to four; Ampere's NICs are slower. */
static void test_channels(void)
{
    static const struct {
        const char *spec, *nccl;
        uint32_t mask;
        double faster; /* than whole nodes, for each GPU's NIC */
    } cases[] = {
        { "p5.48xlarge:8", "2.28", 0x1, 2 },  { "p5.48xlarge:8", "2.18", 0x11, 2 },
        { "p5.48xlarge:8", "2.28", 0x55, 2 }, { "p5.48xlarge:8", "2.28", 0x1f, 2 },
        { "p5.48xlarge:8", "2.17", 0x1f, 1 }, { "dgx-a100-80gb:8", "2.28", 0x11, 1 },
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        const bool ampere = strncmp(cases[i].spec, "dgx", 3) == 0;
        int protocol = ampere ? FABRIC_PROTO_SIMPLE : FABRIC_PROTO_LL128;
        double whole_s = tree_s(cases[i].spec, 0xff, cases[i].nccl, protocol);
        double own_s = tree_s(cases[i].spec, cases[i].mask, cases[i].nccl, protocol);
        double gpus = __builtin_popcount(cases[i].mask);
        double faster = whole_s / own_s * 8 / gpus;
        CU_ASSERT_DOUBLE_EQUAL(faster, cases[i].faster, 0.15 * cases[i].faster);
    }
}

/* A fabric without a protocol has it for no algorithm. */
static void test_missing_protocol(void)
{
    struct bench b;
    struct coll_plan plan;
    const enum coll_algorithm all[] = { COLL_AUTO, COLL_RING, COLL_TREE };
    bench_init(&b, "p4d.24xlarge:6", true);
    for (size_t i = 0; i < N_OF(all); i++) {
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 12600000);
        q.algorithm = all[i];
        q.protocol = FABRIC_PROTO_LL128;
        b.err = (struct err) { 0 };
        CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) < 0);
        CU_ASSERT_STRING_EQUAL(b.err.text, "efa-2024 has no protocol ll128");
    }
    bench_release(&b);
    bench_init(&b, "p5.48xlarge", true);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 12600000);
    q.algorithm = COLL_NVLS;
    q.protocol = FABRIC_PROTO_LL;
    CU_ASSERT(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "simple alone"));
    bench_release(&b);
}

/* NCCL has trees for all-reduces over nodes alone: at no size is one chosen for what
 * gathers or scatters, nor inside a node. */
static void test_trees(void)
{
    const enum coll_op ops[] = { COLL_ALL_GATHER, COLL_REDUCE_SCATTER,
                                 COLL_ALL_REDUCE };
    int trees = 0;
    for (size_t t = 0; t < N_OF(types); t++)
        for (int n = 1; n < 9; n *= 8)
            for (size_t i = 0; i < N_OF(sizes) * N_OF(ops); i++) {
                char spec[64];
                struct bench b;
                struct coll_plan plan;
                enum coll_op op = ops[i % N_OF(ops)];
                snprintf(spec, sizeof(spec), "%s:%d", types[t], n);
                bench_init(&b, spec, true);
                struct coll_request q = bench_request(&b, op, sizes[i / N_OF(ops)]);
                CU_ASSERT_FATAL(plan_of(&b, q, &plan));
                bool tree = plan.algorithm == COLL_TREE,
                     may = op == COLL_ALL_REDUCE && n > 1;
                CU_ASSERT(may || !tree);
                trees += tree;
                bench_release(&b);
            }
    CU_ASSERT(trees > 0);
}

void test_choose_register(void)
{
    CU_pSuite s = CU_add_suite("choose", NULL, NULL);
    CU_add_test(s, "what a choice costs", test_choice_costs);
    CU_add_test(s, "no cliff over nodes", test_no_cliff);
    CU_add_test(s, "a protocol that is off is off for all", test_missing_protocol);
    CU_add_test(s, "channels of a NIC", test_channels);
    CU_add_test(s, "trees for all-reduces over nodes", test_trees);
}
