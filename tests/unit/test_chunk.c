/* The three fidelities against each other, and chunk replay against its theorems. */
#include "base/units.h"
#include "net_bench.h"
#include "run/chunk.h"
#include "run/coll_run.h"
#include "run_until.h"

#include <CUnit/CUnit.h>
#include <math.h>

void test_chunk_register(void);

static void note_end(struct sim *sim, void *arg)
{
    *(double *)arg = units_s(sim->now_ps);
}

/* Ends of n plans started together. */
static void run_plans(struct bench *t, const struct coll_plan *const *plans, int n,
                      enum fidelity fidelity, double *ends)
{
    struct sim sim;
    struct coll_world world;
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, t->net, fidelity);
    for (int i = 0; i < n; i++) {
        ends[i] = -1;
        run_coll_start(&world, plans[i], note_end, &ends[i]);
    }
    sim_run(&sim);
    run_world_release(&world);
    sim_release(&sim);
}

static double run_plan(struct bench *t, const struct coll_plan *plan, enum fidelity f)
{
    double end;
    run_plans(t, &plan, 1, f, &end);
    return end;
}

/* Messages of a phase's rings that pass a link in one round. */
static int sharers(const struct coll_steps *steps, int32_t link)
{
    int n = 0;
    for (int32_t r = 0; r < steps->n_rings; r++)
        for (int32_t u = 0; u < steps->rings[r].hop_starts[steps->rings[r].n_hops]; u++)
            n += steps->rings[r].uses[u].link == link;
    return n;
}

/* (K5) of chunk.h: what chunks of several chains wait for each other. */
static double waiting_s(const struct bench *t, const struct coll_plan *plan,
                        const struct coll_steps *steps)
{
    double most = 0;
    for (int32_t r = 0; r < steps->n_rings && steps->is_chain; r++) {
        const struct coll_ring *ring = &steps->rings[r];
        double sum = 0;
        for (int32_t h = 0; h < ring->n_hops; h++) {
            double wait = 0;
            for (int32_t u = ring->hop_starts[h]; u < ring->hop_starts[h + 1]; u++) {
                const struct flow_use *use = &ring->uses[u];
                double bytes = (sharers(steps, use->link) - 1) * steps->message_B;
                wait = fmax(wait, bytes * use->weight /
                                      net_links(t->net)[use->link].payload_Bps);
            }
            sum += wait;
        }
        most = fmax(most, sum);
    }
    return net_is_folded(t->net) ? most * (double)plan->n_nodes : most;
}

/* What (K3) and (K6) allow either way. */
static double rounding_s(const struct coll_plan *plan)
{
    double s = 0;
    for (int32_t i = 0; i < plan->n_phases; i++) {
        const struct coll_steps *steps = &plan->phases[i].steps;
        double sharers = steps->is_stream ? steps->rings[0].n_hops : 1;
        s += 3e-12 * ((double)steps->n_messages * sharers + (double)plan->n_ranks + 1);
    }
    return s;
}

static void check_plan(struct bench *t, const struct coll_request *q)
{
    struct coll_plan plan;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &t->arena, t->net, q, &t->err) == 0);
    double closed = coll_plan_time_s(&plan, t->net);
    CU_ASSERT_DOUBLE_EQUAL(run_plan(t, &plan, FIDELITY_ANALYTIC), closed, 2e-12);
    CU_ASSERT_DOUBLE_EQUAL(run_plan(t, &plan, FIDELITY_FLOW), closed, 1e-6 * closed);
    double chunk = run_plan(t, &plan, FIDELITY_CHUNK), wait = 0;
    for (int32_t i = 0; i < plan.n_phases; i++)
        wait += waiting_s(t, &plan, &plan.phases[i].steps);
    CU_ASSERT(chunk >= closed - rounding_s(&plan));
    CU_ASSERT(chunk <= closed + rounding_s(&plan) + wait);
}

/* Over clusters, operations and sizes, folded or not. */
static void test_fidelities(void)
{
    static const char *const specs[] = { "p3.16xlarge",    "p4d.24xlarge",
                                         "p5.48xlarge",    "g5.48xlarge",
                                         "p4d.24xlarge:3", "p3dn.24xlarge:2",
                                         "p5.48xlarge:2",  "g5.48xlarge:2",
                                         "dgx-gb200:6" };
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
        for (int folded = 0; folded < 2; folded++) {
            struct bench t;
            bench_init(&t, specs[i], folded);
            for (int op = 0; op < COLL_OP_N; op++)
                for (double size = 512; size < 1e10; size *= 61)
                    for (int proto = -1; proto < FABRIC_PROTO_LL; proto++) {
                        struct coll_request q = { .op = (enum coll_op)op,
                                                  .protocol = proto,
                                                  .size_B = size,
                                                  .groups = &t.world,
                                                  .n_groups = 1 };
                        check_plan(&t, &q);
                    }
            bench_release(&t);
        }
}

/* Every subset of the cube mesh: rings, chains, PCIe. */
static void test_subsets(void)
{
    struct bench t;
    bench_init(&t, "p3.16xlarge", true);
    for (uint32_t mask = 1; mask < 256; mask++) {
        struct coll_span *s = &t.world.spans[0];
        struct coll_request q = { .op = COLL_ALL_REDUCE,
                                  .protocol = FABRIC_PROTO_SIMPLE,
                                  .size_B = 1e8,
                                  .groups = &t.world,
                                  .n_groups = 1 };
        struct coll_plan plan;
        s->n_gpus = 0;
        for (int g = 0; g < 8; g++)
            if (mask >> g & 1)
                s->gpus[s->n_gpus++] = (uint8_t)g;
        CU_ASSERT_FATAL(coll_plan_make(&plan, &t.arena, t.net, &q, &t.err) == 0);
        double closed = coll_plan_time_s(&plan, t.net);
        double chunk = run_plan(&t, &plan, FIDELITY_CHUNK);
        CU_ASSERT(chunk <= closed + rounding_s(&plan));
        double slack = plan.n_phases ? (double)plan.phases[0].steps.n_messages *
                                           plan.phases[0].steps.step_s
                                     : 0;
        CU_ASSERT(chunk >= closed - slack - 0.02 * closed - rounding_s(&plan));
    }
    bench_release(&t);
}

/* Eight rings through one NIC get an eighth of it each, at flow and chunk; a FIFO
 * serves the last messages one after the other, so the first ring ends a message
 * earlier. */
static void test_sharing(void)
{
    struct bench t;
    struct coll_group groups[8];
    struct coll_plan plans[8];
    const struct coll_plan *list[8];
    double ends[8];
    bench_init(&t, "p3dn.24xlarge:16", false);
    for (int i = 0; i < 8; i++) {
        groups[i] = t.world;
        groups[i].spans[0].n_gpus = 1;
        groups[i].spans[0].gpus[0] = (uint8_t)i;
        struct coll_request q = { .op = COLL_ALL_GATHER,
                                  .protocol = FABRIC_PROTO_SIMPLE,
                                  .size_B = 8e9,
                                  .groups = &groups[i],
                                  .n_groups = 1 };
        CU_ASSERT_FATAL(coll_plan_make(&plans[i], &t.arena, t.net, &q, &t.err) == 0);
        list[i] = &plans[i];
    }
    double alone = coll_plan_time_s(&plans[0], t.net);
    for (int f = FIDELITY_FLOW; f <= FIDELITY_CHUNK; f++) {
        run_plans(&t, list, 8, (enum fidelity)f, ends);
        for (int i = 0; i < 8; i++) {
            double early = f == FIDELITY_CHUNK ? 7.0 / 15 : 0; /* of 15 messages */
            CU_ASSERT(ends[i] / alone > 8 - early - 0.01);
            CU_ASSERT(ends[i] / alone < 8 + 0.01);
        }
    }
    bench_release(&t);
}

/* Operations at once, and the net they share. */
struct contended {
    const char *name, *spec;
    double oversubscription;
    struct {
        enum coll_op op;
        enum coll_algorithm algorithm;
        double size_B;
        int first_gpu, n_gpus; /* of each instance; 0: all */
    } ops[8];
};

static const struct contended contended[] = {
    { "two trees",
      "p4d.24xlarge:4",
      1,
      { { COLL_ALL_REDUCE, COLL_TREE, 1 << 28, 0, 0 },
        { COLL_ALL_REDUCE, COLL_TREE, 1 << 28, 0, 0 } } },
    { "ring and pipeline sends",
      "p4d.24xlarge:2",
      1,
      { { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 0, 0 },
        { COLL_SENDRECV, COLL_P2P, 1 << 28, 0, 1 },
        { COLL_SENDRECV, COLL_P2P, 1 << 28, 2, 1 },
        { COLL_SENDRECV, COLL_P2P, 1 << 28, 4, 1 },
        { COLL_SENDRECV, COLL_P2P, 1 << 28, 6, 1 } } },
    { "eight rings on one NIC",
      "p3dn.24xlarge:4",
      1,
      { { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 0, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 1, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 2, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 3, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 4, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 5, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 6, 1 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 7, 1 } } },
    { "two rings in a node",
      "p4d.24xlarge",
      1,
      { { COLL_ALL_GATHER, COLL_RING, 1 << 29, 0, 0 },
        { COLL_ALL_GATHER, COLL_RING, 1 << 29, 0, 0 } } },
    { "two all-to-alls",
      "p5.48xlarge:2",
      1,
      { { COLL_ALLTOALL, COLL_P2P, 1 << 28, 0, 0 },
        { COLL_ALLTOALL, COLL_P2P, 1 << 28, 0, 0 } } },
    { "two halves over a core",
      "p4d.24xlarge:4",
      4,
      { { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 0, 4 },
        { COLL_ALL_REDUCE, COLL_RING, 1 << 28, 4, 4 } } },
    { "tree and gather over a core",
      "p5.48xlarge:4",
      8,
      { { COLL_ALL_REDUCE, COLL_NVLS_TREE, 1 << 28, 0, 0 },
        { COLL_ALL_REDUCE, COLL_NVLS_TREE, 1 << 28, 0, 0 } } },
};

/* Plans of a case; returns how many. */
static int plan_contended(struct bench *t, const struct contended *c,
                          struct coll_group *groups, struct coll_plan *plans)
{
    int n = 0;
    for (; n < 8 && c->ops[n].size_B > 0; n++) {
        groups[n] = t->world;
        for (int32_t s = 0; s < groups[n].n_spans && c->ops[n].n_gpus > 0; s++) {
            groups[n].spans[s].n_gpus = c->ops[n].n_gpus;
            for (int k = 0; k < c->ops[n].n_gpus; k++)
                groups[n].spans[s].gpus[k] = (uint8_t)(c->ops[n].first_gpu + k);
        }
        struct coll_request q = { .op = c->ops[n].op,
                                  .algorithm = c->ops[n].algorithm,
                                  .protocol = FABRIC_PROTO_SIMPLE,
                                  .size_B = c->ops[n].size_B,
                                  .groups = &groups[n],
                                  .n_groups = 1 };
        CU_ASSERT_FATAL(coll_plan_make(&plans[n], &t->arena, t->net, &q, &t->err) == 0);
    }
    return n;
}

/* Chunk and flow agree on when contended operations end, and each is later than
 * alone. */
static void test_contended(void)
{
    for (size_t i = 0; i < sizeof(contended) / sizeof(*contended); i++) {
        const struct contended *c = &contended[i];
        struct bench t;
        struct coll_group groups[8];
        struct coll_plan plans[8];
        const struct coll_plan *list[8];
        double flow[8], chunk[8];
        bench_init(&t, c->spec, false);
        struct fabric fabric = *t.cluster.fabric;
        fabric.oversubscription = c->oversubscription;
        t.cluster.fabric = &fabric;
        net_free(t.net);
        t.net = net_new(&t.cluster, false, &t.err);
        int n = plan_contended(&t, c, groups, plans);
        for (int k = 0; k < n; k++)
            list[k] = &plans[k];
        run_plans(&t, list, n, FIDELITY_FLOW, flow);
        run_plans(&t, list, n, FIDELITY_CHUNK, chunk);
        for (int k = 0; k < n; k++) {
            CU_ASSERT(fabs(chunk[k] / flow[k] - 1) < 0.03);
            CU_ASSERT(flow[k] > 1.2 * coll_plan_time_s(&plans[k], t.net));
        }
        bench_release(&t);
    }
}

/* All messages are replayed: n ranks x K steps, and each carries its bytes. */
static void test_messages(void)
{
    struct bench t;
    struct sim sim;
    struct coll_plan plan;
    double end = -1;
    bench_init(&t, "p4d.24xlarge:2", false);
    struct coll_request q = { .op = COLL_ALL_REDUCE,
                              .protocol = FABRIC_PROTO_SIMPLE,
                              .size_B = 1 << 28,
                              .groups = &t.world,
                              .n_groups = 1 };
    q.algorithm = COLL_RING;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &t.arena, t.net, &q, &t.err) == 0);
    sim_init(&sim, NULL);
    struct chunk_net *c = chunk_net_new(&sim, t.net);
    chunk_start(c, &plan.phases[0].steps, note_end, &end);
    sim_run(&sim);
    CU_ASSERT(end > 0);
    CU_ASSERT_EQUAL(plan.phases[0].steps.message_B, 262144); /* slices of 4 MiB */
    CU_ASSERT_EQUAL(chunk_n_messages(c), 4 * 16 * 30 * 16);
    for (int32_t u = 0; u < plan.phases[0].n_uses; u++) {
        const struct flow_use *use = &plan.phases[0].uses[u];
        double busy = use->weight * q.size_B / net_links(t.net)[use->link].payload_Bps;
        CU_ASSERT_DOUBLE_EQUAL(chunk_link_busy_s(c, use->link), busy, 1e-6 * busy);
    }
    CU_ASSERT(sim.n_fired <
              4 * 16 * 30 * 16 / 3); /* those of one instant are one event */
    chunk_net_free(c);
    sim_release(&sim);
    bench_release(&t);
}

/* A world may be dropped while messages are under way. */
static void test_dropped(void)
{
    struct bench t;
    struct sim sim;
    struct coll_plan plan;
    double end = -1;
    bench_init(&t, "p4d.24xlarge", true);
    struct coll_request q = { .op = COLL_ALL_REDUCE,
                              .protocol = -1,
                              .size_B = 1e9,
                              .groups = &t.world,
                              .n_groups = 1 };
    CU_ASSERT_FATAL(coll_plan_make(&plan, &t.arena, t.net, &q, &t.err) == 0);
    sim_init(&sim, NULL);
    struct chunk_net *c = chunk_net_new(&sim, t.net);
    chunk_start(c, &plan.phases[0].steps, note_end, &end);
    run_until(&sim, units_ps(1e-3));
    chunk_net_free(c);
    sim_run(&sim);
    CU_ASSERT(end < 0);
    sim_release(&sim);
    bench_release(&t);
}

void test_chunk_register(void)
{
    CU_pSuite s = CU_add_suite("chunk", NULL, NULL);
    CU_add_test(s, "the three fidelities agree", test_fidelities);
    CU_add_test(s, "every subset of the cube mesh", test_subsets);
    CU_add_test(s, "eight rings share one NIC", test_sharing);
    CU_add_test(s, "contended links", test_contended);
    CU_add_test(s, "every message is replayed", test_messages);
    CU_add_test(s, "dropped midway", test_dropped);
}
