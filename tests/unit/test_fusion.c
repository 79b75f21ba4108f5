/* Tensor fusion: what goes into a buffer, ticks, and whole steps under every library:
 * bytes, folding, compression, conditions of SMDDP's AllGather. */
#include "run/fusion.h"
#include "simulate/simulate.h"
#include "step/update/smddp.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_fusion_register(void);

/* --- what goes together ----------------------------------------------------------- */

static void test_take(void)
{
    static const double sizes[] = { 3, 4, 5, 20, 1, 1 };
    static const struct {
        double threshold;
        int32_t first, n, taken;
        double bytes;
    } cases[] = {
        { 10, 0, 6, 2, 7 },  { 12, 0, 6, 3, 12 }, /* full to the byte */
        { 10, 0, 1, 1, 3 },  { 10, 3, 3, 1, 20 }, /* larger than the threshold: alone */
        { 10, 4, 2, 2, 2 },  { 0, 0, 6, 6, 34 },  /* no threshold */
        { 2.5, 0, 6, 1, 3 }, { 10, 0, 0, 0, 0 },
    };
    struct fusion f = { 0 };
    for (int i = 0; i < 6; i++)
        VEC_PUSH(&f.tensors, ((struct fusion_tensor) { i, sizes[i] }));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double bytes;
        f.threshold_B = cases[i].threshold;
        CU_ASSERT_EQUAL(fusion_take(&f, cases[i].first, cases[i].n, &bytes),
                        cases[i].taken);
        CU_ASSERT_EQUAL(bytes, cases[i].bytes);
    }
    VEC_RELEASE(&f.tensors);
}

static void test_ticks(void)
{
    static const int64_t cases[][3] = { { 5, 0, 0 },   { 5, 1, 5 }, { 5, 5, 5 },
                                        { 5, 6, 10 },  { 0, 7, 7 }, { 1, 7, 7 },
                                        { 5, 24, 25 }, { -1, 3, 3 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CU_ASSERT_EQUAL(fusion_tick_ps(cases[i][0], cases[i][1]), cases[i][2]);
}

/* --- a coordinator by itself
 * ------------------------------------------------------------ */

enum { PLANS_MAX = 16 };

struct bench {
    struct sim sim;
    struct fusion fusion;
    struct fusion_coordinator *coordinator;
    struct coll_plan plan;
    double sent_B[PLANS_MAX];
    int64_t sent_ps[PLANS_MAX];
    int n_sent;
    int64_t done_ps;
    struct sim_event events[8];
    int rank[8];
    int32_t task[8];
    struct sim_event end;
};

static const struct coll_plan *note_plan(void *arg, double bytes)
{
    struct bench *b = arg;
    b->sent_B[b->n_sent] = bytes;
    return &b->plan;
}

/* Every buffer takes 3 ps. */
static void send(void *arg, const struct coll_plan *plan)
{
    struct bench *b = arg;
    (void)plan;
    b->sent_ps[b->n_sent++] = b->sim.now_ps;
    sim_after(&b->sim, &b->end, 3);
}

static void fire_end(struct sim *sim, struct sim_event *ev)
{
    struct bench *b = SIM_OWNER(ev, struct bench, end);
    (void)sim;
    fusion_coordinator_sent(b->coordinator);
}

static void note_done(void *arg)
{
    struct bench *b = arg;
    b->done_ps = b->sim.now_ps;
}

static void fire_task(struct sim *sim, struct sim_event *ev)
{
    struct bench *b = sim->context;
    int64_t i = ev - b->events;
    fusion_coordinator_task_ended(b->coordinator, b->rank[i], b->task[i]);
}

static const struct sim_event_type end_type = { "end", fire_end };
static const struct sim_event_type task_type = { "task", fire_task };

/* Tensors of 10 bytes are ready with tasks 0, 1, 2, 3 of two ranks, at the times
 * given. */
static void run_coordinator(struct bench *b, double cycle_s, double threshold,
                            const int64_t at[8])
{
    memset(b, 0, sizeof(*b));
    sim_init(&b->sim, b);
    b->fusion = (struct fusion) {
        .threshold_B = threshold, .cycle_s = cycle_s, .plan = note_plan, .arg = b
    };
    for (int i = 0; i < 4; i++)
        VEC_PUSH(&b->fusion.tensors, ((struct fusion_tensor) { i, 10 }));
    b->coordinator = fusion_coordinator_new(&b->fusion, &b->sim, 2, send, note_done, b);
    sim_event_init(&b->end, &end_type);
    for (int i = 0; i < 8; i++) {
        b->rank[i] = i / 4;
        b->task[i] = i % 4;
        sim_event_init(&b->events[i], &task_type);
        sim_at(&b->sim, &b->events[i], at[i]);
    }
    sim_run(&b->sim);
    CU_ASSERT(fusion_coordinator_is_done(b->coordinator));
    fusion_coordinator_free(b->coordinator);
    VEC_RELEASE(&b->fusion.tensors);
    sim_release(&b->sim);
}

/* A tensor goes when its slowest rank has it; what comes between ticks waits; buffers
 * go one after the other; the threshold cuts. */
static void test_fuser(void)
{
    static const int64_t at[8] = { 1, 2, 3, 21, 1, 2, 11, 12 };
    struct bench b;
    run_coordinator(&b, 10e-12, 100, at);
    CU_ASSERT_EQUAL(b.n_sent, 3);
    CU_ASSERT(b.sent_ps[0] == 10 && b.sent_B[0] == 20);
    CU_ASSERT(b.sent_ps[1] == 20 && b.sent_B[1] == 10);
    CU_ASSERT(b.sent_ps[2] == 30 && b.sent_B[2] == 10);
    CU_ASSERT_EQUAL(b.done_ps, 33);
    run_coordinator(&b, 10e-12, 10, at);
    CU_ASSERT_EQUAL(b.n_sent, 4);
    CU_ASSERT(b.sent_ps[0] == 10 && b.sent_ps[1] == 13 && b.sent_ps[2] == 20);
    run_coordinator(&b, 100e-12, 0, at);
    CU_ASSERT(b.n_sent == 1 && b.sent_ps[0] == 100 && b.sent_B[0] == 40);
    run_coordinator(&b, 0, 0, at);
    CU_ASSERT(b.sent_ps[0] == 1 && b.sent_B[0] == 10 && b.n_sent == 4);
    CU_ASSERT(b.sent_ps[1] == 4 && b.sent_ps[2] == 11 && b.sent_ps[3] == 21);
}

/* --- whole steps ------------------------------------------------------------------ */

struct job {
    struct cfg_loader loader;
    struct arena arena;
    struct scenario s;
    struct err err;
};

static void job_load(struct job *j, const char *instance, const char *parallelism)
{
    char text[600];
    memset(j, 0, sizeof(*j));
    cfg_loader_init(&j->loader);
    arena_init(&j->arena);
    snprintf(text, sizeof(text),
             "{'model': 'bert-base-uncased', 'cluster': {'instance': '%s', 'count': 3},"
             " 'training': {'sequence_length': 128, 'micro_batch_size': 4, "
             "'precision': 'amp_fp16', 'gradient_accumulation_steps': 2}, "
             "'parallelism': %s}",
             instance, parallelism);
    struct cfg root = cfg_parse(&j->loader, "test", text, strlen(text));
    CU_ASSERT_FATAL(scenario_read(&j->s, &j->loader, root) == 0);
}

static void job_release(struct job *j)
{
    arena_release(&j->arena);
    cfg_loader_release(&j->loader);
}

static struct simulate_result validation_job_run(struct job *j, enum fidelity network,
                                                 bool unfold)
{
    struct simulate_result r;
    struct simulate_options options = { .network = network, .unfold = unfold };
    CU_ASSERT_FATAL(simulate(&r, &j->arena, &j->s, &options, &j->err) == 0);
    return r;
}

static const char *const ways[] = {
    "{}",
    "{'gradient_compression': 'int8'}",
    "{'backend': 'smddp'}",
    "{'backend': 'smddp', 'overlap': false}",
    "{'library': 'horovod'}",
    "{'library': 'horovod', 'fusion_cycle': '0s', 'bucket_size': '1MiB'}",
    "{'library': 'horovod', 'overlap': false}",
    "{'library': 'parameter-server', 'server_replicas': 1}",
    "{'library': 'parameter-server', 'asynchronous': true}",
    "{'broadcast_buffers': true}",
};

/* Equal ranks folded or not, and flow against closed forms where nothing contends: push
 * and pull of servers do, and a folded node represents the busiest server and the
 * busiest replica. The parts of the step sum up to it. */
static void test_ways(void)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        struct job j;
        job_load(&j, "p3dn.24xlarge", ways[i]);
        struct simulate_result folded = validation_job_run(&j, FIDELITY_FLOW, false);
        struct simulate_result whole = validation_job_run(&j, FIDELITY_FLOW, true);
        double t = folded.step_time_s, sum = 0;
        bool servers = strstr(ways[i], "server"), copies = strstr(ways[i], "repl");
        CU_ASSERT_DOUBLE_EQUAL(whole.step_time_s, t, (copies ? 5e-3 : 1e-9) * t);
        for (int p = 0; p < CATEGORY_N; p++)
            sum += p == CATEGORY_DATA_COMM_HIDDEN ? 0 : folded.parts_s[p];
        CU_ASSERT_DOUBLE_EQUAL(sum, t, 1e-9 * t);
        CU_ASSERT(folded.parts_s[CATEGORY_DATA_COMM_EXPOSED] > 0);
        double analytic = validation_job_run(&j, FIDELITY_ANALYTIC, false).step_time_s;
        if (!servers)
            CU_ASSERT_DOUBLE_EQUAL(analytic, t, 1e-9 * t);
        CU_ASSERT(analytic <= t * (1 + 1e-9));
        job_release(&j);
    }
}

/* Buffers that DDP sends before each forward take time on the network, and none of the
 * kernels'. */
static void test_sent_buffers(void)
{
    struct simulate_result r[2];
    for (int i = 0; i < 2; i++) {
        struct job j;
        job_load(&j, "p3dn.24xlarge", i ? "{'broadcast_buffers': true}" : "{}");
        r[i] = validation_job_run(&j, FIDELITY_FLOW, false);
        job_release(&j);
    }
    double compute_s = r[0].parts_s[CATEGORY_COMPUTE];
    CU_ASSERT_DOUBLE_EQUAL(r[1].parts_s[CATEGORY_COMPUTE], compute_s, 1e-9 * compute_s);
    CU_ASSERT(r[1].step_time_s > r[0].step_time_s);
}

static double comm_s(const char *instance, const char *way)
{
    struct job j;
    job_load(&j, instance, way);
    struct simulate_result r = validation_job_run(&j, FIDELITY_FLOW, false);
    job_release(&j);
    return r.parts_s[CATEGORY_DATA_COMM_EXPOSED] + r.parts_s[CATEGORY_DATA_COMM_HIDDEN];
}

/* fp16 halves and int8 quarters what a slow network carries; both cost kernels. */
static void test_compression(void)
{
    double whole = comm_s("p3.16xlarge", "{'overlap': false}");
    double half =
        comm_s("p3.16xlarge", "{'overlap': false, 'gradient_compression': 'fp16'}");
    double quarter =
        comm_s("p3.16xlarge", "{'overlap': false, 'gradient_compression': 'int8'}");
    CU_ASSERT(half > 0.5 * whole && half < 0.6 * whole);
    CU_ASSERT(quarter > 0.25 * whole && quarter < 0.36 * whole);
}

/* Versions of Horovod, and what is written overrides them. */
static void test_versions(void)
{
    static const struct {
        const char *version;
        int64_t threshold;
        double cycle;
    } cases[] = { { "0.19.5", 64 << 20, 5e-3 },
                  { "0.21", 64 << 20, 5e-3 },
                  { "0.22.0", 128 << 20, 1e-3 },
                  { "0.28.1", 128 << 20, 1e-3 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[400];
        struct cfg_loader loader;
        struct scenario s;
        cfg_loader_init(&loader);
        snprintf(text, sizeof(text),
                 "{'model': 'bert-base-uncased', 'cluster': {'instance': "
                 "'p3.16xlarge', 'count': 2}, 'training': {'sequence_length': 128, "
                 "'micro_batch_size': 4}, 'parallelism': {'library': 'horovod'}, "
                 "'software': {'horovod': '%s'}}",
                 cases[i].version);
        struct cfg root = cfg_parse(&loader, "test", text, strlen(text));
        CU_ASSERT_FATAL(scenario_read(&s, &loader, root) == 0);
        CU_ASSERT_EQUAL(s.parallel.reduce.bucket_B, cases[i].threshold);
        CU_ASSERT_EQUAL(s.parallel.reduce.fusion_cycle_s, cases[i].cycle);
        cfg_loader_release(&loader);
    }
}

/* --- rules of libraries ----------------------------------------------------------- */

static void test_buffers(void)
{
    CU_ASSERT_EQUAL(smddp_buffer_B(100, 0), 100);
    CU_ASSERT_EQUAL(smddp_buffer_B(100, 200), 100);
    CU_ASSERT_EQUAL(smddp_buffer_B(100, 100), 100);
    CU_ASSERT_EQUAL(smddp_buffer_B(100, 40), 100.0 / 3);
}

static void test_gather_conditions(void)
{
    struct job j;
    job_load(&j, "p4d.24xlarge", "{'backend': 'smddp'}");
    struct scenario *s = &j.s;
    CU_ASSERT_PTR_NOT_NULL(strstr(smddp_gather_refuses(s, 1e6), "not sharded"));
    s->parallel.shard.degree = 8;
    CU_ASSERT_PTR_NULL(smddp_gather_refuses(s, 1e6));
    CU_ASSERT_PTR_NULL(smddp_gather_refuses(s, 16 << 20));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(smddp_gather_refuses(s, (16 << 20) + 1), "scratch buffer"));
    s->parallel.shard.degree = 128; /* 128 / 8 x 8 MiB fills the sort buffer */
    CU_ASSERT_PTR_NULL(smddp_gather_refuses(s, 8 << 20));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(smddp_gather_refuses(s, (8 << 20) + 1), "sort buffer"));
    s->software.pytorch = "1.11.0";
    CU_ASSERT_PTR_NOT_NULL(strstr(smddp_gather_refuses(s, 1e6), "PyTorch"));
    s->software.pytorch = "1.12.0";
    CU_ASSERT_STRING_EQUAL(smddp_gather_refuses(s, 1e6), "it needs PyTorch 1.12.1");
    s->software.pytorch = "1.12.1";
    CU_ASSERT_PTR_NULL(smddp_gather_refuses(s, 1e6));
    s->software.pytorch = "1.13.1";
    s->software.smddp = "1.5.0";
    CU_ASSERT_PTR_NOT_NULL(strstr(smddp_gather_refuses(s, 1e6), "SMDDP 1.6"));
    s->software.smddp = NULL;
    s->cluster.n_instances = 1;
    CU_ASSERT_PTR_NOT_NULL(strstr(smddp_gather_refuses(s, 1e6), "one instance"));
    job_release(&j);
    job_load(&j, "p3dn.24xlarge", "{'backend': 'smddp'}");
    j.s.parallel.shard.degree = 8;
    CU_ASSERT_PTR_NOT_NULL(strstr(smddp_gather_refuses(&j.s, 1e6), "p4de"));
    job_release(&j);
}

void test_fusion_register(void)
{
    CU_pSuite s = CU_add_suite("fusion", NULL, NULL);
    CU_add_test(s, "what fits goes together", test_take);
    CU_add_test(s, "ticks", test_ticks);
    CU_add_test(s, "a coordinator's buffers", test_fuser);
    CU_add_test(s, "steps under every library, folded and not", test_ways);
    CU_add_test(s, "buffers that are broadcast", test_sent_buffers);
    CU_add_test(s, "compression", test_compression);
    CU_add_test(s, "versions of Horovod", test_versions);
    CU_add_test(s, "balanced buffers", test_buffers);
    CU_add_test(s, "conditions of SMDDP's AllGather", test_gather_conditions);
}
