/* Collectives: rings over real links, costs against independent formulas, and the
 * identities that every plan keeps. */
#include "cost/collective.h"
#include "cost/rings.h"
#include "net_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_collective_register(void);

static double time_of(struct bench *b, const struct coll_request *q)
{
    struct coll_plan plan;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b->arena, b->net, q, &b->err) == 0);
    return coll_plan_time_s(&plan, b->net);
}

/* The study's seven rows: rings of GPUs 0..n-1 of the cube mesh, and bus bandwidth
 * where one link carries 22.5 GB/s. */
static void test_mesh_rows(void)
{
    static const struct {
        int n, directed, path;
        double busbw;
    } rows[] = { { 2, 1, 1, 22.5 }, { 3, 2, 1, 45 }, { 4, 4, 1, 90 }, { 5, 0, 2, 36 },
                 { 6, 2, 1, 45 },   { 7, 4, 2, 90 }, { 8, 6, 2, 135 } };
    struct bench b;
    bench_init(&b, "p3.16xlarge", true);
    const struct instance *inst = b.cluster.groups[0].instance;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct rings rings;
        uint8_t order[INSTANCE_GPUS_MAX];
        bench_use_gpus(&b, (1u << rows[i].n) - 1);
        const struct coll_span *s = &b.world.spans[0];
        rings_lay_inside(inst, s->gpus, s->n_gpus, &rings);
        CU_ASSERT_EQUAL(rings.kind == RINGS_WIRE ? rings.n : 0, rows[i].directed);
        CU_ASSERT(rings_best_path(inst, s->gpus, s->n_gpus, order) >= rows[i].path);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 0x1p40);
        q.protocol = FABRIC_PROTO_SIMPLE;
        double busbw = q.size_B / time_of(&b, &q) * 2 * (rows[i].n - 1) / rows[i].n;
        int32_t wire[NET_ROUTE_MAX];
        CU_ASSERT_EQUAL_FATAL(net_route(b.net, 0, 0, 0, 1, wire), 1);
        double link = net_links(b.net)[wire[0]].payload_Bps;
        CU_ASSERT_DOUBLE_EQUAL(busbw / link, rows[i].busbw / 22.5, 1e-3);
    }
    bench_release(&b);
}

/* How many subsets of the mesh have K rings, a path only, or neither (section 3). */
static void test_mesh_subsets(void)
{
    enum { PATH = 4, NONE = 5 };
    static const int expected[9][6] = {
        [2] = { 0, 8, 8, 0, 0, 12 },  [3] = { 0, 8, 0, 0, 24, 24 },
        [4] = { 0, 6, 2, 0, 48, 14 }, [5] = { 0, 24, 0, 0, 32, 0 },
        [6] = { 0, 24, 4, 0, 0, 0 },  [7] = { 0, 0, 8, 0, 0, 0 },
        [8] = { 0, 0, 0, 1, 0, 0 },
    };
    int counts[9][6] = { { 0 } };
    struct bench b;
    bench_init(&b, "p3dn.24xlarge", true);
    const struct instance *inst = b.cluster.groups[0].instance;
    for (uint32_t mask = 1; mask < 256; mask++) {
        struct rings rings;
        uint8_t order[INSTANCE_GPUS_MAX];
        bench_use_gpus(&b, mask);
        const struct coll_span *s = &b.world.spans[0];
        if (s->n_gpus < 2)
            continue;
        rings_lay_inside(inst, s->gpus, s->n_gpus, &rings);
        int k = s->n_gpus == 2 ? rings.n : rings.n / 2;
        if (rings.kind == RINGS_PCIE)
            k = rings_best_path(inst, s->gpus, s->n_gpus, order) > 0 ? PATH : NONE;
        counts[s->n_gpus][k]++;
    }
    for (int n = 2; n <= 8; n++)
        for (int k = 1; k < 6; k++)
            CU_ASSERT_EQUAL(counts[n][k], expected[n][k]);
    bench_release(&b);
}

/* Bytes on all links of a kind, summed from a plan. */
static double bytes_on(const struct bench *b, const struct coll_plan *plan,
                       enum net_kind kind)
{
    double sum = 0;
    for (int32_t i = 0; i < plan->n_phases; i++)
        for (int32_t u = 0; u < plan->phases[i].n_uses; u++) {
            const struct flow_use *use = &plan->phases[i].uses[u];
            if (net_links(b->net)[use->link].kind == kind)
                sum += use->weight * plan->phases[i].size_B;
        }
    return sum;
}

/* A ring of n ranks sends f S over each of its n hops, f S = 2 S (n-1)/n for
 * all-reduce; a chain sends S over n - 1 hops. Through a switch a hop is two links;
 * between N nodes there are N hops of two NIC links. */
static void test_bytes_conserved(void)
{
    static const double S = 1 << 26;
    static const struct {
        enum coll_op op;
        double factor; /* of S on each hop */
        bool chain;
    } ops[] = { { COLL_ALL_REDUCE, 2, false },
                { COLL_ALL_GATHER, 1, false },
                { COLL_REDUCE_SCATTER, 1, false },
                { COLL_BROADCAST, 1, true },
                { COLL_REDUCE, 1, true } };
    for (int nodes = 1; nodes <= 4; nodes++) {
        char spec[32];
        struct bench b;
        double n = 8 * nodes, hops_out = nodes > 1 ? nodes : 0;
        snprintf(spec, sizeof(spec), "p4d.24xlarge:%d", nodes);
        bench_init(&b, spec, false);
        for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
            struct coll_request q = bench_request(&b, ops[i].op, S);
            struct coll_plan plan;
            double on_hop = S * ops[i].factor * (ops[i].chain ? 1 : (n - 1) / n);
            q.protocol = FABRIC_PROTO_SIMPLE;
            q.algorithm = COLL_RING;
            CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
            double total =
                bytes_on(&b, &plan, NET_NVLINK) + bytes_on(&b, &plan, NET_NIC);
            double hops = ops[i].chain ? n - 1 : n;
            CU_ASSERT_DOUBLE_EQUAL(total, 2 * hops * on_hop, 1e-9 * total);
            double nics = bytes_on(&b, &plan, NET_NIC);
            if (!ops[i].chain)
                CU_ASSERT_DOUBLE_EQUAL(nics, 2 * hops_out * on_hop, 1e-9 * total);
        }
        bench_release(&b);
    }
}

/* Leaders alone broadcast or reduce across nodes, so one NIC of each has all bytes; all
 * GPUs of a node share an all-reduce, so every NIC has a part. */
static void test_leaders(void)
{
    static const struct {
        enum coll_op op;
        int phase; /* across nodes */
        int nics;  /* of p4d's four */
    } rows[] = { { COLL_BROADCAST, 0, 1 },
                 { COLL_REDUCE, 1, 1 },
                 { COLL_ALL_REDUCE, 1, 4 } };
    struct bench b;
    bench_init(&b, "p4d.24xlarge:2", false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct coll_request q = bench_request(&b, rows[i].op, 1 << 26);
        struct coll_plan plan;
        int links = 0;
        q.algorithm = COLL_HIERARCHICAL;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        const struct coll_phase *across = &plan.phases[rows[i].phase];
        for (int32_t u = 0; u < across->n_uses; u++)
            links += net_links(b.net)[across->uses[u].link].kind == NET_NIC;
        /* of two nodes, in and out, but for what a chain's ends leave out */
        int directions = rows[i].op == COLL_ALL_REDUCE ? 4 : 2;
        CU_ASSERT_EQUAL(links, directions * rows[i].nics);
    }
    bench_release(&b);
}

/* Every NIC of a p4d carries a quarter, in and out. */
static void test_nics_even(void)
{
    struct bench b;
    bench_init(&b, "p4d.24xlarge:3", true);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 1 << 28);
    struct coll_plan plan;
    q.protocol = FABRIC_PROTO_SIMPLE;
    q.algorithm = COLL_RING;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    int seen = 0;
    for (int32_t u = 0; u < plan.phases[0].n_uses; u++) {
        const struct flow_use *use = &plan.phases[0].uses[u];
        if (net_links(b.net)[use->link].kind != NET_NIC)
            continue;
        CU_ASSERT_DOUBLE_EQUAL(use->weight, 2.0 * 23 / 24 / 4, 1e-12);
        seen++;
    }
    CU_ASSERT_EQUAL(seen, 8);
    bench_release(&b);
}

/* Folded and unfolded nets give one time; bytes over all links agree too. */
static void test_folding(void)
{
    static const char *const specs[] = { "p4d.24xlarge:3", "p3dn.24xlarge:4",
                                         "p5.48xlarge:2",  "g5.48xlarge:3",
                                         "dgx-gb200:36",   "p3.16xlarge:2" };
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct bench folded, whole;
        bench_init(&folded, specs[i], true);
        bench_init(&whole, specs[i], false);
        for (int op = 0; op <= COLL_REDUCE; op++)
            for (int a = COLL_RING; a <= COLL_HIERARCHICAL; a++)
                for (double size = 8; size < 1e10; size *= 37) {
                    struct coll_request q =
                        bench_request(&whole, (enum coll_op)op, size);
                    struct coll_plan x, y;
                    q.algorithm = (enum coll_algorithm)a;
                    CU_ASSERT_FATAL(coll_plan_make(&x, &whole.arena, whole.net, &q,
                                                   &whole.err) == 0);
                    CU_ASSERT_FATAL(coll_plan_make(&y, &folded.arena, folded.net, &q,
                                                   &folded.err) == 0);
                    double s = coll_plan_time_s(&x, whole.net);
                    CU_ASSERT_DOUBLE_EQUAL(coll_plan_time_s(&y, folded.net), s,
                                           1e-9 * s);
                    if (op <= COLL_REDUCE_SCATTER && a == COLL_RING)
                        CU_ASSERT_DOUBLE_EQUAL(x.wire_B, y.wire_B, 1e-9 * x.wire_B);
                }
        for (int op = COLL_ALL_REDUCE; op < COLL_OP_N; op++)
            for (double size = 8; size < 1e10; size *= 37) {
                struct coll_request q = bench_request(&whole, (enum coll_op)op, size);
                struct coll_plan x, y;
                if (op > COLL_ALL_REDUCE && op < COLL_ALLTOALL)
                    continue;
                q.algorithm = op == COLL_ALL_REDUCE ? COLL_TREE : COLL_P2P;
                CU_ASSERT_FATAL(
                    coll_plan_make(&x, &whole.arena, whole.net, &q, &whole.err) == 0);
                CU_ASSERT_FATAL(coll_plan_make(&y, &folded.arena, folded.net, &q,
                                               &folded.err) == 0);
                double s = coll_plan_time_s(&x, whole.net);
                CU_ASSERT_DOUBLE_EQUAL(coll_plan_time_s(&y, folded.net), s, 1e-9 * s);
                if (op != COLL_SCATTER)
                    CU_ASSERT_DOUBLE_EQUAL(x.wire_B, y.wire_B, 1e-9 * x.wire_B);
            }
        bench_release(&folded);
        bench_release(&whole);
    }
}

/* With one protocol, more bytes never take less; as chosen, the jumps are down to
 * NCCL. */
static void test_monotone(void)
{
    static const char *const specs[] = { "p4d.24xlarge", "p3.16xlarge",
                                         "p4d.24xlarge:4" };
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct bench b;
        bench_init(&b, specs[i], true);
        for (int op = 0; op <= COLL_REDUCE_SCATTER; op++) {
            double before = 0;
            for (double size = 8; size < 1e11; size *= 1.3) {
                struct coll_request q = bench_request(&b, (enum coll_op)op, size);
                q.protocol = FABRIC_PROTO_SIMPLE;
                double s = time_of(&b, &q);
                CU_ASSERT(s >= before);
                before = s;
            }
        }
        bench_release(&b);
    }
}

/* Simple's ring written out for 8 A100s, and for 2 nodes of p4d. */
static void test_formulas(void)
{
    struct bench b;
    bench_init(&b, "p4d.24xlarge", true);
    const struct fabric *f = b.cluster.groups[0].instance->inside;
    const struct fabric_protocol *p = &f->proto[FABRIC_PROTO_SIMPLE];
    double port = net_links(b.net)[net_port_out(b.net, 0, 0)].payload_Bps;
    for (double S = 1 << 20; S < 1e10; S *= 3) {
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, S);
        q.protocol = FABRIC_PROTO_SIMPLE;
        double c = S / (8 * (double)f->channels);
        double t =
            p->base_s +
            14 * (p->step_s + S / 8 / port + p->quantum_s * ceil(c / p->quantum_B)) +
            S / 8 / p->copy_Bps;
        CU_ASSERT_DOUBLE_EQUAL(time_of(&b, &q), t, 1e-9 * t);
    }
    bench_release(&b);
    bench_init(&b, "p4d.24xlarge:2", true);
    f = b.cluster.fabric;
    double nic = net_links(b.net)[net_nic_out(b.net, 0, 0)].payload_Bps;
    for (double S = 1 << 23; S < 1e10; S *= 3) {
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, S);
        q.protocol = FABRIC_PROTO_SIMPLE;
        q.algorithm = COLL_RING;
        double x = S / 16 / (4 * nic);
        double t = f->proto[FABRIC_PROTO_SIMPLE].base_s +
                   30 * (f->proto[FABRIC_PROTO_SIMPLE].step_s + x +
                         fmin(f->fill_frac * x, f->fill_max_s));
        CU_ASSERT_DOUBLE_EQUAL(time_of(&b, &q), t, 1e-9 * t);
    }
    bench_release(&b);
}

/* Trees move S between two nodes, 2 S between more. */
static void test_trees(void)
{
    static const struct {
        const char *spec;
        enum coll_algorithm algorithm;
        enum fabric_algo law;
        double nodes;
    } rows[] = { { "p4d.24xlarge:2", COLL_TREE, FABRIC_TREE, 2 },
                 { "p4d.24xlarge:4", COLL_TREE, FABRIC_TREE, 4 },
                 { "p3dn.24xlarge:16", COLL_TREE, FABRIC_TREE, 16 },
                 { "p5.48xlarge:4", COLL_NVLS_TREE, FABRIC_NVLS_TREE, 4 },
                 { "dgx-h100:4", COLL_TREE, FABRIC_TREE, 4 },
                 { "dgx-h100:8", COLL_NVLS_TREE, FABRIC_NVLS_TREE, 8 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bench b;
        bench_init(&b, rows[i].spec, true);
        const struct instance *inst = b.cluster.groups[0].instance;
        const struct fabric_law *law =
            &b.cluster.fabric->laws.of[rows[i].law][FABRIC_PROTO_SIMPLE];
        double nic = net_links(b.net)[net_nic_out(b.net, 0, 0)].payload_Bps;
        double g = log2(rows[i].nodes) - 1, k = rows[i].nodes > 2 ? 2 : 1;
        for (double S = 1 << 25; S < 1e10; S *= 3) {
            struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, S);
            double bytes_s = k * S / (nic * inst->n_nics * law->efficiency);
            double fill = fmin(fmax(S - law->fill_from_B, 0), law->fill_B) / S;
            double rounds = fmin(128 * 65536 / S, 1) * fmax((g + 1) / 2, 1);
            if (law->rounds_channels > 0)
                fill = rounds;
            double t = law->base_s + (inst->n_gpus - 1) * law->chain_s +
                       g * law->level_s + law->ramp_s +
                       g * law->ramp_level_s * fmin(S / fmax(law->ramp_B, 1), 1) +
                       (law->fill_frac * (1 + law->fill_level * g) +
                        law->fill_chain * (inst->n_gpus - 1)) *
                           fill * bytes_s;
            q.algorithm = rows[i].algorithm;
            q.protocol = FABRIC_PROTO_SIMPLE;
            CU_ASSERT_DOUBLE_EQUAL(time_of(&b, &q), t + bytes_s, 1e-9 * t);
        }
        bench_release(&b);
    }
}

/* Double binary trees: each reaches its root, no node has more than two children, and
 * one that has two in the one tree is a leaf of the other. */
static void test_double_trees(void)
{
    for (int64_t n = 2; n < 200; n++) {
        int children[2][200] = { { 0 } };
        for (int t = 0; t < 2; t++)
            for (int64_t i = 0; i < n; i++) {
                int64_t at = i, steps = 0;
                while (coll_tree_parent(n, t, at) >= 0 && steps++ < 20)
                    at = coll_tree_parent(n, t, at);
                CU_ASSERT(coll_tree_parent(n, t, at) == -1);
                if (coll_tree_parent(n, t, i) >= 0)
                    children[t][coll_tree_parent(n, t, i)]++;
            }
        for (int64_t i = 0; i < n; i++) {
            CU_ASSERT(children[0][i] <= 2 && children[1][i] <= 2);
            if (n % 2 == 0)
                CU_ASSERT(children[0][i] == 0 || children[1][i] == 0);
        }
    }
}

/* What is chosen for so many GPUs of each of some nodes. */
static enum coll_algorithm chosen(const char *spec, int n_gpus)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, spec, true);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 1 << 28);
    bench_use_gpus(&b, (1u << n_gpus) - 1);
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    bench_release(&b);
    return plan.algorithm;
}

/* NVLS: S (1 + 1/n) through every port, both ways; not for bytes, nor before Hopper,
 * nor for pairs, nor where NCCL expects more of a ring (three GPUs: 180 of 360 GB/s). */
static void test_nvls(void)
{
    struct bench b;
    struct coll_plan plan;
    CU_ASSERT_EQUAL(chosen("p5.48xlarge", 8), COLL_NVLS);
    CU_ASSERT_EQUAL(chosen("p5.48xlarge", 3), COLL_RING);
    CU_ASSERT_EQUAL(chosen("p5.48xlarge", 2), COLL_RING);
    CU_ASSERT_EQUAL(chosen("dgx-h100:2", 4), COLL_NVLS_TREE);
    CU_ASSERT(chosen("dgx-h100:2", 2) != COLL_NVLS_TREE);
    CU_ASSERT(chosen("dgx-a100-80gb:2", 8) != COLL_NVLS_TREE);
    bench_init(&b, "p5.48xlarge", true);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 1 << 28);
    double eff = b.cluster.groups[0]
                     .instance->inside->laws.of[FABRIC_NVLS][FABRIC_PROTO_SIMPLE]
                     .efficiency;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    CU_ASSERT_EQUAL(plan.algorithm, COLL_NVLS);
    CU_ASSERT_EQUAL(plan.phases[0].n_uses, 16);
    for (int32_t u = 0; u < plan.phases[0].n_uses; u++)
        CU_ASSERT_DOUBLE_EQUAL(plan.phases[0].uses[u].weight * eff, 1.125, 1e-12);
    q.int8 = true;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    CU_ASSERT_EQUAL(plan.algorithm, COLL_RING);
    bench_release(&b);
}

/* All-to-all: of each GPU's S, (n - 8)/n leave the node by its NIC, 7/n by NVLink. */
static void test_alltoall(void)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, "p5.48xlarge:4", true);
    struct coll_request q = bench_request(&b, COLL_ALLTOALL, 1 << 28);
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    CU_ASSERT_EQUAL(plan.algorithm, COLL_P2P);
    double eff = b.cluster.fabric->laws.of[FABRIC_P2P][FABRIC_PROTO_SIMPLE].efficiency;
    CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &plan, NET_NIC) * eff / q.size_B,
                           2 * 8 * 24.0 / 32, 1e-9);
    eff = b.cluster.groups[0]
              .instance->inside->laws.of[FABRIC_P2P][FABRIC_PROTO_SIMPLE]
              .efficiency;
    CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &plan, NET_NVLINK) * eff / q.size_B,
                           2 * 8 * 7.0 / 32, 1e-9);
    bench_release(&b);
}

/* Scatter: of the root's S, (n - 8)/n leave its node, by the NICs of its GPUs, and come
 * in elsewhere. */
static void test_scatter(void)
{
    struct bench b;
    struct coll_plan plan;
    bench_init(&b, "p5.48xlarge:4", true);
    struct coll_request q = bench_request(&b, COLL_SCATTER, 1 << 28);
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
    double eff = b.cluster.fabric->laws.of[FABRIC_P2P][FABRIC_PROTO_SIMPLE].efficiency;
    CU_ASSERT_DOUBLE_EQUAL(bytes_on(&b, &plan, NET_NIC) * eff / q.size_B, 2 * 24.0 / 32,
                           1e-9);
    bench_release(&b);
}

/* Four NICs of a DGX-1: ways through it that share no wire, each in and out at its
 * NIC. */
static void test_mesh_ways(void)
{
    struct bench b;
    struct rings ways;
    int used[8][8] = { { 0 } };
    bench_init(&b, "dgx-1v-16gb:2", true);
    const struct instance *inst = b.cluster.groups[0].instance;
    const struct coll_span *s = &b.world.spans[0];
    rings_lay_through(inst, s->gpus, s->n_gpus, &ways);
    CU_ASSERT_EQUAL(ways.n, 4);
    for (int32_t r = 0; r < ways.n; r++) {
        const uint8_t *order = ways.order[r];
        CU_ASSERT_EQUAL(instance_nic_of_gpu(inst, order[0]),
                        instance_nic_of_gpu(inst, order[7]));
        for (int k = 0; k + 1 < 8; k++)
            used[order[k]][order[k + 1]]++;
    }
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            CU_ASSERT(used[i][k] <= inst->nvlinks[i][k]);
    struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 672e6);
    q.algorithm = COLL_RING;
    q.protocol = FABRIC_PROTO_SIMPLE;
    double nics = 4 * net_links(b.net)[net_nic_out(b.net, 0, 0)].payload_Bps;
    double busbw = q.size_B / time_of(&b, &q) * 2 * 15 / 16;
    CU_ASSERT(busbw > 0.95 * nics);
    bench_release(&b);
}

/* Groups at once on one NIC share it; groups elsewhere do not count. */
static void test_groups(void)
{
    struct bench b;
    struct coll_group groups[8];
    bench_init(&b, "p3dn.24xlarge:4", true);
    for (int i = 0; i < 8; i++) {
        groups[i] = b.world;
        groups[i].spans[0].n_gpus = 1;
        groups[i].spans[0].gpus[0] = (uint8_t)i;
    }
    struct coll_request q = bench_request(&b, COLL_ALL_GATHER, 1e9);
    struct coll_plan one, eight;
    q.groups = groups;
    q.protocol = FABRIC_PROTO_SIMPLE;
    CU_ASSERT_FATAL(coll_plan_make(&one, &b.arena, b.net, &q, &b.err) == 0);
    q.n_groups = 8;
    CU_ASSERT_FATAL(coll_plan_make(&eight, &b.arena, b.net, &q, &b.err) == 0);
    double ratio = (coll_plan_time_s(&eight, b.net) - eight.phases[0].latency_s) /
                   (coll_plan_time_s(&one, b.net) - one.phases[0].latency_s);
    CU_ASSERT_DOUBLE_EQUAL(ratio, 8, 1e-9);
    for (int i = 0; i < 4; i++) {
        groups[i] = b.world;
        groups[i].spans[0].first = i;
        groups[i].spans[0].n_instances = 1;
    }
    q.n_groups = 1;
    double alone = time_of(&b, &q);
    q.n_groups = 4;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&b, &q), alone, 1e-12);
    bench_release(&b);
}

static void expect_error(struct bench *b, const struct coll_request *q,
                         const char *part)
{
    struct coll_plan plan;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(coll_plan_make(&plan, &b->arena, b->net, q, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
}

/* Memory traffic of a GPU in addition to its kernels': a ring passes every byte on in
 * three accesses, a sum in the switch is one access for each byte of the bus. */
static void test_memory_taken(void)
{
    static const struct {
        const char *cluster;
        enum coll_algorithm algorithm;
        double accesses;
    } cases[] = { { "p4d.24xlarge", COLL_RING, 3 },
                  { "p4d.24xlarge:2", COLL_TREE, 3 },
                  { "p5.48xlarge", COLL_NVLS, 1 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench b;
        bench_init(&b, cases[i].cluster, true);
        struct coll_request q = bench_request(&b, COLL_ALL_REDUCE, 0x1p30);
        struct coll_plan plan;
        q.algorithm = cases[i].algorithm;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err) == 0);
        double n = (double)plan.n_ranks;
        double bus_Bps = q.size_B / coll_plan_time_s(&plan, b.net) * 2 * (n - 1) / n;
        CU_ASSERT_DOUBLE_EQUAL(plan.memory_Bps / bus_Bps, cases[i].accesses, 1e-9);
        bench_release(&b);
    }
}

static void test_edges(void)
{
    struct bench b;
    bench_init(&b, "p4d.24xlarge:2", true);
    struct coll_request q = bench_request(&b, COLL_ALLTOALL, 1e6);
    q.algorithm = COLL_RING;
    expect_error(&b, &q, "rings do not do this operation");
    q.op = COLL_ALL_GATHER;
    q.algorithm = COLL_TREE;
    expect_error(&b, &q, "trees are for all_reduce");
    q.op = COLL_ALL_REDUCE;
    q.algorithm = COLL_NVLS_TREE;
    expect_error(&b, &q, "needs an NVSwitch");
    q.algorithm = COLL_NVLS;
    expect_error(&b, &q, "between nodes it is nvls_tree");
    q.algorithm = COLL_P2P;
    expect_error(&b, &q, "no point-to-point operation");
    q.algorithm = COLL_AUTO;
    q.nccl = "two";
    expect_error(&b, &q, "no version of NCCL");
    q.nccl = NULL;
    b.world.spans[0].gpus[3] = 12;
    expect_error(&b, &q, "no GPU 12");
    b.world.spans[0].gpus[3] = 2;
    expect_error(&b, &q, "twice");
    b.world.spans[0].gpus[3] = 3;
    b.world.spans[0].n_instances = 3;
    expect_error(&b, &q, "not all in the cluster");
    b.world.spans[0].n_instances = 1;
    bench_use_gpus(&b, 1);
    struct coll_plan plan;
    CU_ASSERT_EQUAL(coll_plan_make(&plan, &b.arena, b.net, &q, &b.err), 0);
    CU_ASSERT_EQUAL(plan.n_phases, 0);
    CU_ASSERT_EQUAL(coll_plan_time_s(&plan, b.net), 0);
    bench_release(&b);
}

void test_collective_register(void)
{
    CU_pSuite s = CU_add_suite("collective", NULL, NULL);
    CU_add_test(s, "rings of GPUs 0..n-1 of the cube mesh", test_mesh_rows);
    CU_add_test(s, "rings of every subset of the cube mesh", test_mesh_subsets);
    CU_add_test(s, "bytes are conserved", test_bytes_conserved);
    CU_add_test(s, "leaders alone between nodes", test_leaders);
    CU_add_test(s, "NICs carry equal shares", test_nics_even);
    CU_add_test(s, "folded equals unfolded", test_folding);
    CU_add_test(s, "time grows with size", test_monotone);
    CU_add_test(s, "closed forms written out", test_formulas);
    CU_add_test(s, "trees written out", test_trees);
    CU_add_test(s, "double binary trees", test_double_trees);
    CU_add_test(s, "reduction in the switch", test_nvls);
    CU_add_test(s, "all-to-all", test_alltoall);
    CU_add_test(s, "scatter", test_scatter);
    CU_add_test(s, "ways through a mesh", test_mesh_ways);
    CU_add_test(s, "groups share, or are elsewhere", test_groups);
    CU_add_test(s, "memory bandwidth taken from kernels", test_memory_taken);
    CU_add_test(s, "one rank, and what is refused", test_edges);
}
