/* What simulations leave to those after them on the same thread, and what nobody reads
 * of them, changes no number: jobs one after the other with files in common, against
 * each of them alone. */
#include "scenario_bench.h"
#include "simulate/simulate.h"

void test_kept_register(void);

static const char *const changes[] = {
    "tensor=8",
    "tensor=8 /training/micro_batch_size=4",
    "tensor=4 pipeline=4 /training/microbatches=16",
    "tensor=4 pipeline=4 /training/microbatches=16 /training/sequence_length=128",
    "tensor=4 pipeline=2 /training/microbatches=16 placement=\"PDT\"",
    "tensor=8 /cluster/oversubscription=4",
    "tensor=8 /cluster/count=4",
    "tensor=2 sharding={\"strategy\":\"full\"}",
    "tensor=8 /software/nccl=\"2.10\"",
    "tensor=8 /training/framework=\"pytorch2-compiled\"",
    "pipeline=4 /training/microbatches=32 schedule=\"interleaved\" virtual_stages=2",
    "tensor=8 "
    "/cluster={\"like\":\"p4d.24xlarge\",\"gpu\":\"A100-SXM4-80GB\",\"count\":2}",
    "tensor=8 "
    "/cluster={\"like\":\"p4d.24xlarge\",\"network_bandwidth\":\"200Gb/"
    "s\",\"count\":2}",
    "tensor=8 "
    "/cluster={\"like\":\"p4d.24xlarge\",\"network_bandwidth\":\"100Gb/"
    "s\",\"count\":2}",
    "/cluster/instance=\"p3.16xlarge\"",
};
enum { JOBS = sizeof(changes) / sizeof(changes[0]) };

struct job {
    struct cfg_loader loader;
    struct simulate_result r;
};

/* files NULL: none are lent. */
static void run(struct job *job, const char *change, struct cfg_loader *files,
                struct step_unread unread)
{
    struct scenario s;
    struct err err = { 0 };
    bench_scenario_of(&job->loader, files, &s, bench_gpt2, "/parallelism/", change);
    const struct simulate_options options = { .network = FIDELITY_FLOW,
                                              .unread = unread,
                                              .memo = simulate_memo_of(&job->loader) };
    CU_ASSERT_PTR_EQUAL(options.memo == NULL, files == NULL);
    CU_ASSERT_EQUAL_FATAL(simulate(&job->r, &job->loader.arena, &s, &options, &err), 0);
}

static void compare(const struct simulate_result *a, const struct simulate_result *b)
{
    CU_ASSERT_EQUAL(a->step_time_s, b->step_time_s);
    CU_ASSERT_EQUAL(a->memory.peak_B, b->memory.peak_B);
    CU_ASSERT_EQUAL(a->util_gpu, b->util_gpu);
    CU_ASSERT_EQUAL(a->util_host, b->util_host);
    for (int i = 0; i < CATEGORY_N; i++)
        CU_ASSERT_EQUAL(a->parts_s[i], b->parts_s[i]);
}

static void test_lent(void)
{
    struct cfg_loader files;
    cfg_loader_init(&files);
    for (int i = 0; i < 2 * JOBS; i++) {
        struct job alone, after;
        run(&alone, changes[i % JOBS], NULL, (struct step_unread) { 0 });
        run(&after, changes[i % JOBS], &files, (struct step_unread) { 0 });
        compare(&alone.r, &after.r);
        CU_ASSERT_EQUAL(alone.r.util_nic, after.r.util_nic);
        CU_ASSERT_EQUAL(alone.r.util_nvlink, after.r.util_nvlink);
        CU_ASSERT_EQUAL(alone.r.layer.forward_s, after.r.layer.forward_s);
        CU_ASSERT_EQUAL(alone.r.events, after.r.events);
        cfg_loader_release(&alone.loader);
        cfg_loader_release(&after.loader);
    }
    cfg_loader_release(&files);
}

static void test_unread(void)
{
    for (int i = 0; i < JOBS; i++) {
        struct job read, unread;
        run(&read, changes[i], NULL, (struct step_unread) { 0 });
        run(&unread, changes[i], NULL, (struct step_unread) { true, true });
        compare(&read.r, &unread.r);
        CU_ASSERT_EQUAL(read.r.layer.parameters_B, unread.r.layer.parameters_B);
        CU_ASSERT(read.r.layer.forward_s > 0 && unread.r.layer.forward_s == 0);
        cfg_loader_release(&read.loader);
        cfg_loader_release(&unread.loader);
    }
}

/* More jobs than are kept: all is forgotten on the way. */
static void test_many(void)
{
    enum { MANY = 5000 };
    struct plans_kept *kept = plans_kept_new();
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
    struct err err = { 0 };
    bench_scenario(&loader, &s, bench_gpt2, "/parallelism/", "tensor=8");
    const struct reps_options how = { 0 };
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader.arena, &s, &how, &err), 0);
    const struct comm *comm = &reps.programs[0]->comms.v[0];
    const struct plans plans = { .arena = &loader.arena,
                                 .net = reps.net,
                                 .groups = &reps.groups };
    for (int i = 0; i < MANY; i++) {
        const struct coll_plan *plan, *again;
        struct groups groups = reps.groups;
        groups.shard = 1 + i;
        plans_kept_begin(kept, &groups);
        CU_ASSERT_EQUAL_FATAL(plans_make_kept(kept, &plans, comm, 0, &plan, &err), 0);
        CU_ASSERT_EQUAL_FATAL(plans_make_kept(kept, &plans, comm, 0, &again, &err), 0);
        CU_ASSERT_PTR_EQUAL(plan, again);
        CU_ASSERT_EQUAL(coll_plan_time_s(plan, reps.net),
                        coll_plan_time_s(comm->plan, reps.net));
    }
    reps_release(&reps);
    plans_kept_free(kept);
    cfg_loader_release(&loader);
}

void test_kept_register(void)
{
    CU_pSuite suite = CU_add_suite("kept", NULL, NULL);
    CU_add_test(suite, "lent", test_lent);
    CU_add_test(suite, "unread", test_unread);
    CU_add_test(suite, "many", test_many);
}
