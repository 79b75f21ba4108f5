/* SMDDP's collectives and MiCS: bytes on every kind of link against independent
 * formulas, times against the closed form written out, folding, and the fidelities. */
#include "base/units.h"
#include "cost/collective.h"
#include "net_bench.h"
#include "run/coll_run.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_smddp_register(void);

static int plan(struct bench *b, enum coll_op op, enum coll_algorithm algorithm,
                double size, struct coll_plan *out)
{
    struct coll_request q = { .op = op,
                              .algorithm = algorithm,
                              .protocol = FABRIC_PROTO_SIMPLE,
                              .size_B = size,
                              .groups = &b->world,
                              .n_groups = 1,
                              .library = &b->library };
    return coll_plan_make(out, &b->arena, b->net, &q, &b->err);
}

/* Bytes of one phase over all links of a kind whose end `from` says out or in; what
 * NICs carry of host memory is charged less than GPU traffic, which is undone here. */
static double bytes_on(const struct bench *b, const struct coll_phase *phase,
                       enum net_kind kind)
{
    double sum = 0;
    for (int32_t u = 0; u < phase->n_uses; u++) {
        const struct net_link *l = &net_links(b->net)[phase->uses[u].link];
        double staged = 1;
        if (kind == NET_NIC)
            staged = l->payload_Bps / (l->line_Bps * b->cluster.fabric->efficiency);
        if (l->kind == kind)
            sum += phase->uses[u].weight * phase->size_B / staged;
    }
    return sum;
}

/* One buffer on N nodes: every node's NICs send and receive 2 S (N-1)/N; its GPUs copy
 * S out over PCIe; memory is accessed S + 4 S (N-1)/N + 3 S (N-1)/N + S times, two
 * accesses a unit of the link. */
static void test_bytes_of_reduce(void)
{
    static const double S = 24 << 20;
    for (int nodes = 2; nodes <= 8; nodes *= 2) {
        char spec[32];
        struct bench b;
        struct coll_plan x;
        double part = S * (nodes - 1) / nodes, host = 0;
        snprintf(spec, sizeof(spec), "p3dn.24xlarge:%d", nodes);
        bench_init(&b, spec, false);
        b.library.incast_frac = 0;
        CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, S, &x) == 0);
        CU_ASSERT_EQUAL_FATAL(x.n_phases, 5);
        for (int i = 0; i < 5; i++)
            host += bytes_on(&b, &x.phases[i], NET_HOST);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[0], NET_NVLINK),
                               8 * S * 7 / 8 * nodes, 1e-6 * S);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[1], NET_PCIE), S * nodes, 1);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[2], NET_NIC), 4 * part * nodes,
                               1);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[3], NET_UPLINK), S * nodes, 1);
        CU_ASSERT_DOUBLE_EQUAL(host, nodes * (2 * S + 7 * part) / 2, 1);
        bench_release(&b);
    }
}

/* S1 to S4 of MODEL.md for a buffer that is all there is, with the terms of the files:
 * NICs set the pace on p3dn, the sums of eight server processes on p4d. */
static void test_closed_form(void)
{
    static const struct {
        const char *cluster; /* four nodes */
        double nics_Bps;
    } rows[] = { { "p3dn.24xlarge:4", 12.5e9 }, { "p4d.24xlarge:4", 50e9 } };
    double S = 32 << 20;
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        struct bench b;
        struct coll_plan x;
        bench_init(&b, rows[r].cluster, true);
        CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, S, &x) == 0);
        const struct instance *inst = b.cluster.groups[0].instance;
        double copy = HUGE_VAL, wire = rows[r].nics_Bps * b.cluster.fabric->efficiency;
        for (int32_t i = 0; i < net_n_links(b.net); i++)
            if (net_links(b.net)[i].kind == NET_UPLINK)
                copy = 4 * net_links(b.net)[i].payload_Bps;
        double network = fmax(2 * S * 0.75 / wire * (1 + 0.12 * 2), S * 0.75 / 10e9);
        double inside = coll_phase_time_s(&x.phases[0], b.net);
        double t = 2 * inside +
                   2 * (10e-6 + S / fmin(copy, 8 * inst->host_pinned_Bps)) +
                   2 * b.cluster.fabric->latency_s + network;
        CU_ASSERT_DOUBLE_EQUAL(coll_plan_time_s(&x, b.net), t, 1e-9 * t);
        bench_release(&b);
    }
}

/* nb buffers take the first and nb - 1 of the slowest stage. */
static void test_pipeline(void)
{
    struct bench b;
    struct coll_plan one, ten;
    double S = 32 << 20, slowest = 0;
    bench_init(&b, "p3dn.24xlarge:4", true);
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, S, &one) == 0);
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, 10 * S, &ten) == 0);
    for (int i = 0; i < one.n_phases; i++)
        slowest = fmax(slowest, coll_phase_time_s(&one.phases[i], b.net));
    double t = coll_plan_time_s(&one, b.net) + 9 * slowest;
    CU_ASSERT_DOUBLE_EQUAL(coll_plan_time_s(&ten, b.net), t, 1e-9 * t);
    CU_ASSERT_DOUBLE_EQUAL(ten.wire_B, 10 * one.wire_B, 1e-9 * ten.wire_B);
    /* buffers are balanced: 2.5 of them are three alike */
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, 2.5 * S, &ten) == 0);
    CU_ASSERT_DOUBLE_EQUAL(ten.phases[0].size_B, 2.5 * S / 3, 1e-6);
    bench_release(&b);
}

static void note_end(struct sim *sim, void *arg)
{
    *(double *)arg = units_s(sim->now_ps);
}

static double run(const struct bench *b, const struct coll_plan *x, enum fidelity f)
{
    struct coll_world world;
    struct sim sim;
    double end = -1;
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, b->net, f);
    run_coll_start(&world, x, note_end, &end);
    sim_run(&sim);
    run_world_release(&world);
    sim_release(&sim);
    return end;
}

static const struct {
    const char *spec;
    enum coll_op op;
    enum coll_algorithm algorithm;
} plans[] = {
    { "p3dn.24xlarge:4", COLL_ALL_REDUCE, COLL_SMDDP },
    { "p3.16xlarge:2", COLL_ALL_REDUCE, COLL_SMDDP },
    { "p4d.24xlarge:3", COLL_ALL_REDUCE, COLL_SMDDP },
    { "p4d.24xlarge:3", COLL_ALL_GATHER, COLL_SMDDP },
    { "p4d.24xlarge:4", COLL_ALL_GATHER, COLL_MICS },
    { "p4d.24xlarge:4", COLL_ALL_REDUCE, COLL_MICS },
    { "p3dn.24xlarge:4", COLL_ALL_REDUCE, COLL_SERVERS },
};

/* Folded and unfolded nets give one time; nothing contends, so flow is the closed form,
 * and chunk within its rounding. */
static void test_folding_and_fidelities(void)
{
    for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
        struct bench folded, whole;
        bench_init(&folded, plans[i].spec, true);
        bench_init(&whole, plans[i].spec, false);
        folded.library.shard = whole.library.shard = 16;
        for (double size = 1e4; size < 1e10; size *= 31) {
            struct coll_plan x, y;
            CU_ASSERT_FATAL(plan(&folded, plans[i].op, plans[i].algorithm, size, &x) ==
                            0);
            CU_ASSERT_FATAL(plan(&whole, plans[i].op, plans[i].algorithm, size, &y) ==
                            0);
            double s = coll_plan_time_s(&x, folded.net);
            CU_ASSERT_DOUBLE_EQUAL(coll_plan_time_s(&y, whole.net), s, 1e-9 * s);
            double exact = 1e-9 * s + 2e-12 * (x.n_phases + 1); /* picoseconds */
            CU_ASSERT_DOUBLE_EQUAL(run(&folded, &x, FIDELITY_FLOW), s, exact);
            CU_ASSERT_DOUBLE_EQUAL(run(&folded, &x, FIDELITY_ANALYTIC), s, exact);
            if (plans[i].algorithm != COLL_MICS)
                CU_ASSERT_DOUBLE_EQUAL(run(&folded, &x, FIDELITY_CHUNK), s, 1e-4 * s);
        }
        bench_release(&folded);
        bench_release(&whole);
    }
}

/* More nodes, no gain below two; gathers want NVSwitch; the incast term starts at 3. */
static void test_refusals(void)
{
    struct bench b;
    struct coll_plan x;
    bench_init(&b, "p3dn.24xlarge", true);
    CU_ASSERT(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, 1e6, &x) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "inside one node"));
    bench_release(&b);
    bench_init(&b, "p3dn.24xlarge:2", true);
    CU_ASSERT(plan(&b, COLL_ALL_GATHER, COLL_SMDDP, 1e6, &x) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "NVSwitch"));
    b.err = (struct err) { 0 };
    CU_ASSERT(plan(&b, COLL_BROADCAST, COLL_SMDDP, 1e6, &x) < 0);
    b.err = (struct err) { 0 };
    b.library.shard = 5;
    CU_ASSERT(plan(&b, COLL_ALL_REDUCE, COLL_MICS, 1e6, &x) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "sharding degree"));
    bench_release(&b);
    bench_init(&b, "p3dn.24xlarge:2", true);
    b.library.incast_frac = 0;
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, 1e8, &x) == 0);
    double without = coll_plan_time_s(&x, b.net);
    b.library.incast_frac = 0.5;
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, 1e8, &x) == 0);
    CU_ASSERT_EQUAL(coll_plan_time_s(&x, b.net), without);
    bench_release(&b);
}

/* Herring's efficiency is the same on 64 to 2,048 GPUs: incast does not grow past 8
 * nodes, where a buffer of S takes what it takes of 8 but for (N-1)/N. */
static void test_incast_stays(void)
{
    static const double S = 32 << 20;
    static const char *const specs[] = { "p3dn.24xlarge:4", "p3dn.24xlarge:8",
                                         "p3dn.24xlarge:64", "p3dn.24xlarge:256" };
    double network[4];
    for (int i = 0; i < 4; i++) {
        struct bench b;
        struct coll_plan x;
        bench_init(&b, specs[i], true);
        CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_SMDDP, S, &x) == 0);
        network[i] = coll_phase_time_s(&x.phases[2], b.net);
        bench_release(&b);
    }
    CU_ASSERT(network[1] > 1.3 * network[0]);
    CU_ASSERT(network[2] > network[1] && network[2] < 64.0 / 63 * 8 / 7 * network[1]);
    CU_ASSERT(network[3] > network[2] && network[3] < 1.02 * network[2]);
}

/* Inter-node first moves S (k-1)/k a node over its NICs; a ring of all ranks moves
 * S (n-1)/n. Two hops: a reduce-scatter of S over all, and 2/shard of S across. */
static void test_mics_bytes(void)
{
    static const double S = 1 << 28;
    struct bench b;
    struct coll_plan x;
    bench_init(&b, "p4d.24xlarge:4", false);
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_GATHER, COLL_MICS, S, &x) == 0);
    CU_ASSERT_EQUAL_FATAL(x.n_phases, 3);
    CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[0], NET_NIC), 2 * 4 * S * 3 / 4, 1);
    CU_ASSERT_EQUAL(x.phases[1].n_uses, 0);
    CU_ASSERT(x.phases[1].latency_s > 2 * S / 8 / 1.6e12);
    CU_ASSERT_EQUAL(bytes_on(&b, &x.phases[2], NET_NIC), 0);
    b.library.shard = 8;
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_MICS, S, &x) == 0);
    CU_ASSERT_EQUAL_FATAL(x.n_phases, 2);
    CU_ASSERT_EQUAL(bytes_on(&b, &x.phases[0], NET_NIC), 0);
    CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &x.phases[1], NET_NIC), 2 * 4 * 2 * S * 3 / 4,
                           1);
    b.library.shard = 32;
    CU_ASSERT_FATAL(plan(&b, COLL_ALL_REDUCE, COLL_MICS, S, &x) == 0);
    CU_ASSERT_EQUAL(x.n_phases, 1);
    bench_release(&b);
}

static void test_mics_refused(void)
{
    static const struct {
        const char *cluster;
        enum coll_op op;
        int64_t shard;
        const char *why;
    } cases[] = {
        { "p4d.24xlarge:4", COLL_REDUCE_SCATTER, 8, "gathers parameters" },
        { "p4d.24xlarge", COLL_ALL_GATHER, 8, "several nodes" },
        { "p4d.24xlarge:4", COLL_ALL_REDUCE, 1, "no multiple" },
        { "p4d.24xlarge:4", COLL_ALL_REDUCE, 12, "no multiple" },
        { "p4d.24xlarge:3", COLL_ALL_REDUCE, 12, "have to fill nodes" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        struct coll_plan x;
        bench_init(&b, cases[i].cluster, false);
        b.library.shard = cases[i].shard;
        CU_ASSERT_EQUAL(plan(&b, cases[i].op, COLL_MICS, 1 << 20, &x), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, cases[i].why));
        bench_release(&b);
    }
}

/* The mesh takes in S (N-1)/N a node and S (g-1)/g a port, and its latency does not
 * grow with the nodes, as a ring's does. */
static void test_gather(void)
{
    static const double S = 1 << 26;
    double latency = 0;
    for (int nodes = 2; nodes <= 8; nodes += 3) {
        char spec[32];
        struct bench b;
        struct coll_plan x, ring;
        snprintf(spec, sizeof(spec), "p4d.24xlarge:%d", nodes);
        bench_init(&b, spec, false);
        CU_ASSERT_FATAL(plan(&b, COLL_ALL_GATHER, COLL_SMDDP, S, &x) == 0);
        CU_ASSERT_FATAL(plan(&b, COLL_ALL_GATHER, COLL_RING, S, &ring) == 0);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, x.phases, NET_NIC),
                               2.0 * nodes * S * (nodes - 1) / nodes, 1);
        CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, x.phases, NET_NVLINK),
                               2.0 * nodes * 8 * S * 7 / 8, 1);
        CU_ASSERT(nodes == 2 || x.phases[0].latency_s == latency);
        CU_ASSERT(x.sm_frac < ring.sm_frac || x.sm_frac < 9.0 / 108);
        CU_ASSERT(coll_plan_time_s(&x, b.net) < coll_plan_time_s(&ring, b.net));
        latency = x.phases[0].latency_s;
        bench_release(&b);
    }
}

void test_smddp_register(void)
{
    CU_pSuite s = CU_add_suite("smddp", NULL, NULL);
    CU_add_test(s, "bytes of an all-reduce on every kind of link",
                test_bytes_of_reduce);
    CU_add_test(s, "one buffer against the formula", test_closed_form);
    CU_add_test(s, "buffers overlap", test_pipeline);
    CU_add_test(s, "folded, flow and chunk", test_folding_and_fidelities);
    CU_add_test(s, "what is refused", test_refusals);
    CU_add_test(s, "incast past eight nodes", test_incast_stays);
    CU_add_test(s, "MiCS: bytes", test_mics_bytes);
    CU_add_test(s, "MiCS: refused", test_mics_refused);
    CU_add_test(s, "all-gather over a mesh", test_gather);
}
