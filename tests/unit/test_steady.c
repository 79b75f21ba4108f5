/* Microbatches of a pipeline that a step leaves out, because they go on as those before
 * them, against the same step with all of them: the same to the last picosecond and
 * byte; shares of links, which are sums of doubles, to 1e-12. */
#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <math.h>

void test_steady_register(void);

/* A GPT-2 of seven layers (stages are unequal) and one of eight. */
#define GPT2(layers)                                                                   \
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': " layers ", 'n_embd': 1024,"        \
    "             'n_head': 16, 'vocab_size': 8192, 'n_positions': 512 },"             \
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 4 },"                         \
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 2,"                   \
    "                'microbatches': 96, 'precision': 'fp16', 'attention': 'unfused' " \
    "} }"
#define MIXTRAL                                                                        \
    "{ 'model': { 'model_type': 'mixtral', 'hidden_size': 512, 'num_hidden_layers': "  \
    "8,"                                                                               \
    "             'num_attention_heads': 8, 'num_key_value_heads': 4,"                 \
    "             'intermediate_size': 1024, 'vocab_size': 8192,"                      \
    "             'num_local_experts': 4, 'num_experts_per_tok': 2,"                   \
    "             'max_position_embeddings': 512 },"                                   \
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 4 },"                         \
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 1,"                   \
    "                'microbatches': 96, 'precision': 'bf16', 'attention': 'unfused' " \
    "} }"

static const char even[] = GPT2("8"), odd[] = GPT2("7"), deep[] = GPT2("24"),
                  experts[] = MIXTRAL;
static const char unlike[] = /* instances of two kinds: nothing folds */
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 6, 'n_embd': 768, 'n_head': 12,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'groups': [ { 'instance': 'p3.16xlarge', 'count': 1 },"
    "                           { 'instance': 'p3dn.24xlarge', 'count': 1 } ] },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2,"
    "                'microbatches': 64, 'precision': 'fp16', 'attention': 'unfused' } "
    "}";

#define CHUNKS(n) " schedule=\"interleaved\" virtual_stages=" #n
#define GPIPE "schedule=\"gpipe\" "
#define FULL " sharding={\"strategy\":\"full\"}"
#define OPTIMIZER " sharding={\"strategy\":\"optimizer\"}"
#define ON(instance) " /cluster/instance=\"" instance "\""
#define FRAMEWORK(name) " /training/framework=\"" name "\""
#define RECOMPUTE " /training/activation_checkpointing=\"full\""
#define BATCHES(n) " /training/microbatches=" #n

struct steady_case {
    const char *text, *changes;
    bool unfold;
};

/* Steps that leave microbatches out. */
static const struct steady_case shorter_cases[] = {
    { even, "pipeline=2", false },
    { even, "pipeline=4", false },
    { even, "pipeline=8", false },
    { odd, "pipeline=2", false },
    { odd, "pipeline=4", false },
    { even, "pipeline=4 tensor=2", false },
    { even, "pipeline=4 tensor=8", false },
    { even, "pipeline=4 tensor=4 sequence_parallel=true", false },
    { odd, "pipeline=4 tensor=4 sequence_parallel=true" RECOMPUTE, false },
    { even, "pipeline=4 library=\"megatron\"", false },
    { odd, "pipeline=4 library=\"megatron\"", false },
    { odd, "pipeline=4 library=\"megatron\"" FRAMEWORK("megatron-core"), false },
    { even, "pipeline=8 library=\"megatron\" tensor=4" OPTIMIZER, false },
    { even,
      "pipeline=4 library=\"megatron\" overlap=true "
      "overlap_param_gather=true" FRAMEWORK("megatron-core") OPTIMIZER,
      false },
    { even, "pipeline=4 library=\"deepspeed\"" OPTIMIZER, false },
    { odd, "pipeline=4 library=\"deepspeed\"" RECOMPUTE, false },
    { even, "pipeline=4" FULL, false },
    { odd, "pipeline=4 tensor=2" FULL, false },
    { even, "pipeline=4 schedule=\"zb-h1\"", false },
    { odd, "pipeline=4 schedule=\"zb-h1\" tensor=2", false },
    { even, "pipeline=8 schedule=\"zb-h1\"" RECOMPUTE, false },
    { even, "pipeline=4 schedule=\"zb-v\"", false },
    { odd, "pipeline=2 schedule=\"zb-v\" tensor=2", false },
    { even, "pipeline=4 schedule=\"dualpipe-v\"" RECOMPUTE, false },
    { even, "pipeline=4 virtual_stages=2 schedule=\"interleaved-zb\"", false },
    { even, "pipeline=2" CHUNKS(2), false },
    { even, "pipeline=2" CHUNKS(4), false },
    { even, "pipeline=4" CHUNKS(2), false },
    { odd, "pipeline=2" CHUNKS(3), false },
    { even, "pipeline=4 tensor=4 library=\"megatron\"" CHUNKS(2), false },
    { even,
      "pipeline=4 tensor=8 library=\"megatron\" sequence_parallel=true" CHUNKS(2)
          OPTIMIZER,
      false },
    { even,
      "pipeline=2 library=\"megatron\" overlap=true overlap_param_gather=true" CHUNKS(4)
          OPTIMIZER,
      false },
    { even, "pipeline=4 context=2", false },
    { even, "pipeline=4 context=4 tensor=2 context_comm=\"all-gather\"", false },
    { experts, "pipeline=4 expert=2", false },
    { experts, "pipeline=2 expert=4 tensor=2", false },
    { experts, "pipeline=4 expert=4" CHUNKS(2), false },
    { even, "pipeline=4 offload_activations=true" RECOMPUTE, false },
    { even, "pipeline=4 offload_activations=true" CHUNKS(2) RECOMPUTE, false },
    { odd,
      "pipeline=4 offload_activations=true activation_loading_horizon=1 tensor=2 "
      "schedule=\"zb-h1\"" RECOMPUTE,
      false },
    { even, "pipeline=4" ON("p3.16xlarge"), false },
    { even, "pipeline=4" ON("g5.48xlarge"), false },
    { odd, "pipeline=4 tensor=2" ON("g4dn.12xlarge"), false },
    { even, "pipeline=4 tensor=2" ON("g4dn.12xlarge") CHUNKS(2), false },
    { even, "pipeline=4 placement=\"PDT\"" ON("g5.48xlarge"), false },
    { even, "pipeline=4 placement=\"DPT\"" ON("g5.48xlarge"), false },
    { odd, "pipeline=4 placement=\"DTP\" tensor=2" ON("p3.16xlarge"), false },
    { even, "pipeline=4 placement=\"DPT\" /cluster/count=1" ON("p3.16xlarge"), false },
    { even, "pipeline=4 /cluster/count=1" ON("p3.16xlarge"), true },
    { odd, "pipeline=4 /cluster/count=2" ON("g4dn.12xlarge"), true },
    { odd, "pipeline=4 /cluster/count=2 placement=\"DPT\"" ON("g5.48xlarge"), true },
    { even, "pipeline=4 /cluster/count=2" CHUNKS(2) ON("g4dn.12xlarge"), true },
    { unlike, "pipeline=2 placement=\"PDT\"", false },
    { unlike, "pipeline=2 placement=\"PTD\" tensor=4", false },
    { even, "pipeline=4" FRAMEWORK("pytorch2-compiled"), false },
    { even, "pipeline=8 tensor=4 /model/vocab_size=65536", false },
    { even, "pipeline=8 /training/micro_batch_size=8" BATCHES(768), false },
    { even, "pipeline=4" CHUNKS(2) BATCHES(768), false },
    { even, "pipeline=4 tensor=2 library=\"smp\" broadcast_outputs=\"none\"", false },
    { deep, "pipeline=2" CHUNKS(6), false }, /* what is in flight is replayed */
    { deep, "pipeline=2" CHUNKS(6) BATCHES(72), false },
    { even, GPIPE "pipeline=2", false },
    { even, GPIPE "pipeline=4", false },
    { even, GPIPE "pipeline=8", false },
    { even, GPIPE "pipeline=4" BATCHES(53), false },
    { even, GPIPE "pipeline=4 tensor=2" RECOMPUTE, false },
    { even, GPIPE "pipeline=4 tensor=8 /model/vocab_size=65536", false },
    { odd, GPIPE "pipeline=4 /model/vocab_size=65536" BATCHES(384), false },
    { even, GPIPE "pipeline=4 library=\"megatron\"" FRAMEWORK("megatron-core"), false },
    { even, GPIPE "pipeline=4 library=\"deepspeed\"" OPTIMIZER, false },
    { even, GPIPE "pipeline=4 placement=\"PDT\"" ON("g5.48xlarge"), false },
    { even, GPIPE "pipeline=2 /cluster/count=2" ON("g4dn.12xlarge"), true },
    { experts, GPIPE "pipeline=4 expert=2", false },
    { even, GPIPE "pipeline=8 placement=\"PDT\"" ON("g5.48xlarge"), false },
    { even, GPIPE "pipeline=8 placement=\"PTD\" library=\"megatron\"" ON("g5.48xlarge"),
      false },
    { odd, GPIPE "pipeline=2 placement=\"PTD\" tensor=2", false },
    { odd, GPIPE "pipeline=2 placement=\"PTD\" tensor=4 library=\"megatron\"", false },
};

/* Steps that are replayed whole: orders without periods, several accumulation steps,
 * pipelines that never come to one period, too few microbatches, outputs kept. */
static const struct steady_case whole_cases[] = {
    { odd, "pipeline=7 /cluster/count=7", false },
    { unlike, "pipeline=2", false },
    { unlike, "pipeline=2 placement=\"PDT\"" CHUNKS(3), false },
    { even, "pipeline=4 library=\"smp\" schedule=\"smp-interleaved\"", false },
    { odd, GPIPE "pipeline=4", false },
    { even, GPIPE "pipeline=4" FULL, false },
    { even, GPIPE "pipeline=4 offload_activations=true" RECOMPUTE, false },
    { even, "pipeline=4 library=\"ddp\" /training/gradient_accumulation_steps=6",
      false },
    { even, "pipeline=8" BATCHES(20), false },
    { even, "pipeline=4" CHUNKS(2) BATCHES(16), false },
    { even, "pipeline=4 library=\"smp\" broadcast_outputs=\"loss\"", false },
};

struct job {
    struct cfg_loader loader;
    struct simulate_result r;
};

static void run(struct job *job, const struct steady_case *c, bool whole)
{
    struct scenario s;
    struct err err = { 0 };
    const struct simulate_options options = { .network = FIDELITY_FLOW,
                                              .unfold = c->unfold,
                                              .whole = whole };
    bench_scenario(&job->loader, &s, c->text, "/parallelism/", c->changes);
    CU_ASSERT_EQUAL_FATAL(simulate(&job->r, &job->loader.arena, &s, &options, &err), 0);
}

static void compare(const struct simulate_result *a, const struct simulate_result *b)
{
    CU_ASSERT_EQUAL(a->step_time_s, b->step_time_s);
    for (int i = 0; i < CATEGORY_N; i++)
        CU_ASSERT_EQUAL(a->parts_s[i], b->parts_s[i]);
    CU_ASSERT_EQUAL(a->util_gpu, b->util_gpu);
    CU_ASSERT_EQUAL(a->util_host, b->util_host);
    CU_ASSERT_DOUBLE_EQUAL(a->util_nic, b->util_nic, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->util_nvlink, b->util_nvlink, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->executed_flops, b->executed_flops,
                           1e-12 * a->executed_flops);
    CU_ASSERT_EQUAL_FATAL(a->memory.n_stages, b->memory.n_stages);
    CU_ASSERT_EQUAL(a->memory.peak_B, b->memory.peak_B);
    CU_ASSERT_EQUAL(memcmp(a->memory.stages, b->memory.stages,
                           (size_t)a->memory.n_stages * sizeof(*a->memory.stages)),
                    0);
}

static void check(const struct steady_case *c, bool is_shorter)
{
    struct job whole, shorter;
    run(&whole, c, true);
    run(&shorter, c, false);
    compare(&whole.r, &shorter.r);
    CU_ASSERT_EQUAL(2 * shorter.r.events < whole.r.events, is_shorter);
    cfg_loader_release(&whole.loader);
    cfg_loader_release(&shorter.loader);
}

static void test_shorter(void)
{
    for (size_t i = 0; i < sizeof(shorter_cases) / sizeof(*shorter_cases); i++)
        check(&shorter_cases[i], true);
}

static void test_whole(void)
{
    for (size_t i = 0; i < sizeof(whole_cases) / sizeof(*whole_cases); i++)
        check(&whole_cases[i], false);
}

void test_steady_register(void)
{
    CU_pSuite suite = CU_add_suite("steady", NULL, NULL);
    CU_add_test(suite, "shorter", test_shorter);
    CU_add_test(suite, "whole", test_whole);
}
