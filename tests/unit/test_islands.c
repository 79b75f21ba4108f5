/* One simulation on several cores: ranks that run apart until the first collective over
 * replicas, against the same run on one clock (which an observer asks for), and against
 * itself on other numbers of threads. */
#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <omp.h>

void test_islands_register(void);

/* 64 GPUs; stages of unlike lengths. */
#define GPT2(instance, count)                                                         \
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 9, 'n_embd': 1024, 'n_head': 16,"  \
    "             'vocab_size': 8192, 'n_positions': 512 },"                          \
    "  'cluster': { 'instance': '" instance "', 'count': " count " },"                \
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 2, 'microbatches': " \
    "                8, 'precision': 'fp16', 'attention': 'unfused' } }"

static const char p4d[] = GPT2("p4d.24xlarge", "8"), p3[] = GPT2("p3.16xlarge", "8"),
                  g5[] = GPT2("g5.48xlarge", "8");
static const char experts[] =
    "{ 'model': { 'model_type': 'mixtral', 'hidden_size': 512, 'num_hidden_layers': 8,"
    "             'num_attention_heads': 8, 'num_key_value_heads': 4,"
    "             'intermediate_size': 1024, 'vocab_size': 8192,"
    "             'num_local_experts': 4, 'num_experts_per_tok': 2,"
    "             'max_position_embeddings': 512 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 8 },"
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 1,"
    "                'microbatches': 8, 'precision': 'bf16', 'attention': 'unfused' } "
    "}";
static const char unlike[] = /* replicas on instances of two kinds */
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 6, 'n_embd': 768, 'n_head': 12,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'groups': [ { 'instance': 'p3.16xlarge', 'count': 2 },"
    "                           { 'instance': 'p3dn.24xlarge', 'count': 2 } ] },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2,"
    "                'microbatches': 8, 'precision': 'fp16', 'attention': 'unfused' } "
    "}";

/* All but one are several islands: gathers of full sharding join all ranks at once. */
static const struct islands_case {
    const char *text, *changes;
    bool is_one;
} cases[] = {
    { p4d, "pipeline=4 tensor=8", false },
    { p4d, "pipeline=2 tensor=4 library=\"megatron\"", false },
    { p4d,
      "pipeline=2 tensor=8 library=\"megatron\" schedule=\"interleaved\" "
      "virtual_stages=2 sharding={\"strategy\":\"optimizer\"}",
      false },
    { p4d, "pipeline=4 tensor=8 library=\"deepspeed\"", false },
    { p4d, "pipeline=4 tensor=4 schedule=\"gpipe\"", false },
    { p4d, "pipeline=2 tensor=8 schedule=\"zb-h1\"", false },
    { p4d, "pipeline=2 tensor=8 schedule=\"zb-v\"", false },
    { p4d, "pipeline=2 tensor=8 library=\"smp\" schedule=\"smp-interleaved\"", false },
    { p4d, "pipeline=2 tensor=2 context=2 placement=\"DPT\"", false },
    { p4d, "pipeline=1 tensor=8 /training/microbatches=1", false },
    { p4d, "pipeline=1 library=\"ddp\" /training/microbatches=1", false },
    { p4d,
      "pipeline=1 library=\"ddp\" /training/microbatches=1 "
      "/training/gradient_accumulation_steps=6",
      false },
    { p4d, "pipeline=1 sharding={\"strategy\":\"full\"} /training/microbatches=1",
      true },
    { p3, "pipeline=4 placement=\"DPT\"", false },
    { g5, "pipeline=4 tensor=2", false },
    { experts, "pipeline=2 expert=4", false },
    { unlike, "pipeline=2 placement=\"DPT\"", false },
};

struct job {
    struct cfg_loader loader;
    struct simulate_result r;
};

static void run(struct job *job, const struct islands_case *c, bool one_clock,
                enum fidelity network, int threads)
{
    static const struct observer nobody = { 0 };
    const int before = omp_get_max_threads();
    struct scenario s;
    struct err err = { 0 };
    const struct simulate_options options = { .network = network,
                                              .unfold = true,
                                              .whole = true,
                                              .observer = one_clock ? &nobody : NULL };
    bench_scenario(&job->loader, &s, c->text, "/parallelism/", c->changes);
    omp_set_num_threads(threads);
    CU_ASSERT_EQUAL_FATAL(simulate(&job->r, &job->loader.arena, &s, &options, &err), 0);
    omp_set_num_threads(before);
}

/* Shares of links are sums of doubles. */
static void compare(const struct simulate_result *a, const struct simulate_result *b,
                    double tolerance)
{
    CU_ASSERT_EQUAL(a->step_time_s, b->step_time_s);
    for (int i = 0; i < CATEGORY_N; i++)
        CU_ASSERT_EQUAL(a->parts_s[i], b->parts_s[i]);
    CU_ASSERT_EQUAL(a->util_gpu, b->util_gpu);
    CU_ASSERT_EQUAL(a->util_host, b->util_host);
    CU_ASSERT_DOUBLE_EQUAL(a->util_nic, b->util_nic, tolerance);
    CU_ASSERT_DOUBLE_EQUAL(a->util_nvlink, b->util_nvlink, tolerance);
}

static void check(const struct islands_case *c, enum fidelity network)
{
    static const int threads[] = { 1, 2, 5 };
    struct job one, apart[3];
    run(&one, c, true, network, 2);
    for (int i = 0; i < 3; i++) {
        run(&apart[i], c, false, network, threads[i]);
        compare(&one.r, &apart[i].r, 1e-12);
        compare(&apart[0].r, &apart[i].r, 0);
        CU_ASSERT_EQUAL(apart[i].r.events, apart[0].r.events);
        if (network == FIDELITY_FLOW) /* each island solves for its own rates */
            CU_ASSERT_EQUAL(apart[i].r.events == one.r.events, c->is_one);
    }
    for (int i = 0; i < 3; i++)
        cfg_loader_release(&apart[i].loader);
    cfg_loader_release(&one.loader);
}

static void test_one_clock_or_many(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check(&cases[i], FIDELITY_FLOW);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i += 3)
        check(&cases[i], FIDELITY_ANALYTIC);
}

void test_islands_register(void)
{
    CU_pSuite suite = CU_add_suite("islands", NULL, NULL);
    CU_ADD_TEST(suite, test_one_clock_or_many);
}
