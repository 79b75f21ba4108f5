/* The host and the GPU: what a small step costs when kernels are launched one by
 * one, by generated code, or as captured graphs. */
#include "step_bench.h"

void test_host_register(void);

static double part_s(const char *framework, enum category part)
{
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct simulate_options options = { 0 };
    struct err err = { 0 };
    char changes[160];
    snprintf(changes, sizeof(changes),
             "/cluster/count=1 /parallelism/library=ddp /training/micro_batch_size=1 "
             "/training/framework=%s",
             framework);
    bench_scenario(&loader, &s, bench_gpt2, "/parallelism/", changes);
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &options, &err), 0);
    double time_s = r.parts_s[part];
    cfg_loader_release(&loader);
    return time_s;
}

/* Graphs have the compiled kernels, and wait for the host only at the optimizer, whose
 * lists take it a millisecond. */
static void test_graphs(void)
{
    const double optimizer_s = 1e-3;
    double eager_s = part_s("pytorch2-fused", CATEGORY_OTHER) - optimizer_s,
           compiled_s = part_s("pytorch2-compiled", CATEGORY_OTHER) - optimizer_s,
           graphs_s = part_s("pytorch2-graphs", CATEGORY_OTHER) - optimizer_s;
    CU_ASSERT_TRUE(compiled_s < 0.5 * eager_s);
    CU_ASSERT_TRUE(graphs_s > 0 && graphs_s < 0.1 * compiled_s);
    CU_ASSERT_DOUBLE_EQUAL(part_s("pytorch2-graphs", CATEGORY_COMPUTE),
                           part_s("pytorch2-compiled", CATEGORY_COMPUTE), 1e-9);
}

/* What launch jitter costs a step whose host has forward's operators alone to issue. */
static double jittered_s(const char *checkpointing, int layers)
{
    struct simulate_result r[2];
    char changes[256];
    snprintf(changes, sizeof(changes),
             "/model/n_embd=8192 /training/micro_batch_size=16 /model/n_layer=%d "
             "/training/activation_checkpointing=\"%s\"",
             layers, checkpointing);
    for (int soft = 0; soft < 2; soft++) {
        struct job j;
        job_load(&j, changes);
        struct framework fw = *j.s.training.framework;
        fw.host.dispatch_forward_s = 1e-6;
        fw.host.dispatch_backward_s = fw.host.microbatch_s = 0;
        fw.host.launch_jitter = soft * 10;
        j.s.training.framework = &fw;
        validation_job_run(&j, &r[soft]);
        job_unload(&j);
    }
    return r[1].step_time_s - r[0].step_time_s;
}

/* The host keeps its lead from what is computed again into the backward after it: far
 * ahead, it loses by the square of the deviation over the lead (MODEL.md 4.2), a third
 * of forward's loss where backward is twice as long. */
static void test_launch_jitter(void)
{
    double none_s =
        jittered_s("none", 8) - jittered_s("none", 4); /* without the ends */
    double full_s = jittered_s("full", 8) - jittered_s("full", 4);
    CU_ASSERT(none_s > 0);
    CU_ASSERT_DOUBLE_EQUAL(full_s / none_s, 1 + 1. / 3, 0.02);
}

/* The step of a job on two nodes after changes to it and, unless below 0, to its library's
 * time for a piece of a list. */
static double changed_s(const char *const *changes, int n, double part_s)
{
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct err err = { 0 };
    const struct simulate_options options = { 0 };
    static const char text[] =
        "{ \"model\": \"llama-7b\", \"cluster\": { \"instance\": \"p5.48xlarge\", "
        "\"count\": 2 }, \"training\": { \"sequence_length\": 2048, "
        "\"micro_batch_size\": 1, \"microbatches\": 16, \"precision\": \"bf16\", "
        "\"optimizer\": \"adam\", \"framework\": \"nanotron\" }, "
        "\"parallelism\": { \"library\": \"nanotron\" } }";
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[i]), 0);
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    struct framework fw = *s.training.framework;
    fw.shard.part_s = part_s < 0 ? fw.shard.part_s : part_s;
    s.training.framework = &fw;
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &options, &err), 0);
    double time_s = r.step_time_s;
    cfg_loader_release(&loader);
    return time_s;
}

/* Updated parameters that come as lists: a copy for each of 32 layers' 7 tensors and three
 * more from each of 128 ranks. A thousand of these are launched during the gather. */
static void test_lists(void)
{
    static const char *const changes[] = { "/cluster/count=16",
                                           "/parallelism/sharding={\"strategy\":"
                                           "\"optimizer\"}" };
    const double part_s = 8e-6, pieces = (32 * 7 + 3) * 128, ahead = 1000;
    double once_s = changed_s(changes, 2, part_s),
           twice_s = changed_s(changes, 2, 2 * part_s),
           shipped_s = changed_s(changes, 2, -1);
    CU_ASSERT_DOUBLE_EQUAL(shipped_s, once_s, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(twice_s - once_s, (pieces - ahead) * part_s, ahead * part_s);
}

/* Eight stages with sixteen microbatches: two messages come and two go with each, and the
 * host takes 0.3 s for each, once it is there; at the ends of the pipeline one each. */
static double piped_s(const char *framework)
{
    const char *const changes[] = { framework, "/parallelism/tensor=2",
                                    "/parallelism/pipeline=8",
                                    "/parallelism/schedule=1f1b" };
    return changed_s(changes, 4, -1);
}

static void test_stage_messages(void)
{
    double more_s = piped_s("/training/framework=nanotron-polls") -
                    piped_s("/training/framework=nanotron");
    CU_ASSERT_TRUE(more_s > 15 * 4 * 0.3);
    CU_ASSERT_TRUE(more_s < (16 + 2 * 8) * 4 * 0.3);
}

/* A job with TORCH_DISTRIBUTED_DEBUG=DETAIL less the same without. */
static double checks_s(const char *const changes[4])
{
    const char *all[] = { "/parallelism/placement=PDT",
                          "/parallelism/sequence_parallel=true",
                          changes[0],
                          changes[1],
                          changes[2],
                          changes[3],
                          "/software={\"environment\":{\"TORCH_DISTRIBUTED_DEBUG\":"
                          "\"DETAIL\"}}" };
    return changed_s(all, 7, -1) - changed_s(all, 6, -1);
}

/* Each collective waits for a check of 210 us for each of its ranks in a node, 265 us over
 * nodes: 32 layers with ten of a tensor group in each of sixteen microbatches, a few of
 * the ends, and a hundred buckets of sixteen replicas. */
static void test_checks(void)
{
    const char *const inside[] = { "/cluster/count=1", "/parallelism/tensor=8",
                                   "/parallelism/pipeline=1",
                                   "/training/micro_batch_size=1" },
                      *const apart[] = { "/cluster/count=2", "/parallelism/tensor=16",
                                         "/parallelism/pipeline=1",
                                         "/training/micro_batch_size=1" },
                      *const stages[] = { "/cluster/count=2", "/parallelism/tensor=8",
                                          "/parallelism/pipeline=2",
                                          "/parallelism/schedule=1f1b" },
                      *const data[] = { "/cluster/count=2",
                                        "/parallelism/sequence_parallel=false",
                                        "/parallelism/tensor=1",
                                        "/training/microbatches=1" };
    double in_node_s = 16 * 32 * 10 * 8 * 210e-6,
           over_nodes_s = 16 * 32 * 10 * 16 * 265e-6;
    CU_ASSERT_DOUBLE_EQUAL(checks_s(inside) / in_node_s, 1, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(checks_s(apart) / over_nodes_s, 1, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(checks_s(stages) / in_node_s, 0.5, 0.1);
    CU_ASSERT(checks_s(data) > 0.1);
    CU_ASSERT(checks_s(data) < 200 * 16 * 265e-6);
}

void test_host_register(void)
{
    CU_pSuite suite = CU_add_suite("host", NULL, NULL);
    CU_add_test(suite, "graphs leave the host out of passes", test_graphs);
    CU_add_test(suite, "looks for messages of a pipeline", test_stage_messages);
    CU_add_test(suite, "checks before collectives", test_checks);
    CU_add_test(suite, "copies of lists", test_lists);
    CU_add_test(suite, "launch jitter with the backward after it", test_launch_jitter);
}
