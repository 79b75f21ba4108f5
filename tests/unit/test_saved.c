/* What modules save, on the host: which tensors, the memory that leaves, copies next to
 * compute and those that are waited for. */
#include "model/saved.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <string.h>

void test_saved_register(void);

enum { TOKENS = 4096, H = 7168, HEADS = 128, MIB = 1 << 20 };

/* DeepSeek-V3, four stages on 256 GPUs: 32 microbatches. */
static void load(struct job *j, const char *instance, const char *changes)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{ 'model': 'deepseek-v3', 'cluster': { 'instance': '%s', 'count': %d },"
             "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
             "                'microbatches': 32, 'precision': 'bf16' },"
             "  'parallelism': { 'library': 'megatron', 'pipeline': 4, 'expert': 64,"
             "                   'sharding': { 'strategy': 'optimizer' } } }",
             instance, strcmp(instance, "dgx-gb200") == 0 ? 64 : 32);
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

/* Bytes of a token and layer: latent attention of 128 heads of 192 columns, whose values
 * are a view of 256; 8 experts of 2048 columns inside. */
static void test_tensors(void)
{
    static const struct {
        const char *module;
        double freed, copied;
    } rows[] = {
        { "attn_norm", 2 * H, 2 * H },
        { "core_attn", 2. * HEADS * (192 + 192 + 256),
          2. * HEADS * (192 + 192 + 256 + 128) },
        { "attn_proj", 2. * HEADS * 128, 2. * HEADS * 128 },
        { "mlp_norm", 2 * H, 2 * H },
        { "expert_fc1", 2. * 8 * H, 2. * 8 * H },
        { "moe_act", 2. * 8 * 2 * 2048, 2. * 8 * 2 * 2048 },
    };
    struct job j;
    struct op_list list;
    struct err err = { 0 };
    load(&j, "p5.48xlarge", "");
    struct op_settings settings = scenario_op_settings(&j.s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&list, &j.loader.arena, &j.s.model, &settings, &err), 0);
    for (int32_t i = 0; i < list.n_blocks; i++)
        for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
            struct op_saved all[OP_SAVERS], *s = NULL;
            op_saved_find(&list.blocks[i], (1 << OP_SAVERS) - 1, 0, all);
            for (int m = 0; m < OP_SAVERS; m++)
                if (strcmp(names_of(op_saver_names, m), rows[k].module) == 0)
                    s = &all[m];
            if (strcmp(list.blocks[i].name, "layer") != 0) {
                CU_ASSERT(op_block_is_layer(&list.blocks[i]) || s->after < 0);
                continue;
            }
            double freed = 0;
            for (int32_t n = 0; n < s->n; n++)
                freed += (double)s->size_B[n];
            CU_ASSERT(s->after >= 0 && s->first >= 0 && s->last >= s->first);
            CU_ASSERT_DOUBLE_EQUAL(freed / TOKENS, rows[k].freed, 1);
            CU_ASSERT_DOUBLE_EQUAL((double)s->copied_B / TOKENS, rows[k].copied, 1);
        }
    job_unload(&j);
}

#define SOME "offload_modules=[\"core_attn\",\"attn_proj\",\"expert_fc1\"] "
#define ALL                                                        \
    "offload_modules=[\"attn_norm\",\"qkv_linear\",\"core_attn\"," \
    "\"attn_proj\",\"mlp_norm\",\"expert_fc1\",\"moe_act\"] "

static void run(const char *instance, const char *changes, struct job *j,
                struct simulate_result *r)
{
    load(j, instance, changes);
    validation_job_run(j, r);
}

/* The first stage has four microbatches in flight: three leave whole, of the fourth all
 * but the last layer's, which its backward has back. Over C2C all copies overlap with
 * compute; over PCIe they are waited for, by what they take longer than it. */
static void test_memory_and_time(void)
{
    static const double freed = 2. * HEADS * (192 + 192 + 256 + 128) + 2. * 8 * H;
    struct job jobs[4];
    struct simulate_result r[4];
    run("dgx-gb200", "", &jobs[0], &r[0]);
    run("dgx-gb200", SOME, &jobs[1], &r[1]);
    run("p5.48xlarge", "", &jobs[2], &r[2]);
    run("p5.48xlarge", SOME, &jobs[3], &r[3]);
    double left = (double)(r[0].memory.stages[0].activations_B -
                           r[1].memory.stages[0].activations_B);
    /* 16 layers, of which three have no experts */
    double dense = 3 * 4. * 2. * 8 * H;
    CU_ASSERT(job_near(left, TOKENS * (freed * (4 * 16 - 1) - dense), 0.02));
    CU_ASSERT(job_near(r[1].step_time_s, r[0].step_time_s, 1e-6));
    double slower_s = r[3].step_time_s - r[2].step_time_s;
    CU_ASSERT(slower_s >= -1e-9 && r[3].parts_s[CATEGORY_OFFLOAD_EXPOSED] >= 0);
    CU_ASSERT_EQUAL(r[3].memory.stages[0].activations_B,
                    r[1].memory.stages[0].activations_B);
    for (int i = 0; i < 4; i++)
        job_unload(&jobs[i]);
}

/* A host whose copies are slow bounds the pass: as many bytes a microbatch and stage at
 * its rate. */
static void test_bound(void)
{
    struct job j[2];
    struct simulate_result r[2];
    load(&j[0], "p5.48xlarge", "");
    load(&j[1], "p5.48xlarge", ALL);
    for (int i = 0; i < 2; i++) {
        struct instance *host =
            (struct instance *)(uintptr_t)j[i].s.cluster.groups[0].instance;
        host->host_pinned_Bps = 5e9;
        validation_job_run(&j[i], &r[i]);
    }
    double copied = 2 * H + 2. * HEADS * (192 + 192 + 256 + 128 + 128) + 2 * H +
                    2. * 8 * H + 2. * 8 * 2 * 2048;
    double least_s = 32 * TOKENS * copied * 14 / 5e9; /* one way, of the layers that
                                                         leave of the last stage */
    CU_ASSERT(r[1].step_time_s > 2 * least_s && r[1].step_time_s < 5 * least_s);
    CU_ASSERT(r[1].step_time_s > 1.2 * r[0].step_time_s);
    CU_ASSERT(r[1].parts_s[CATEGORY_OFFLOAD_EXPOSED] > 0);
    for (int i = 0; i < 2; i++)
        job_unload(&j[i]);
}

/* In detail and of measured passes, one rank of a stage or each: the same. */
static void test_fidelities(void)
{
    static const char text[] =
        "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
        "                'microbatches': 8, 'precision': 'bf16' },"
        "  'parallelism': { 'library': 'megatron', 'offload_modules': "
        "    ['qkv_linear', 'core_attn', 'attn_proj'] } }";
    static const char *const changes[] = {
        "tensor=2 pipeline=4",
        "tensor=4 sequence_parallel=true",
        "pipeline=2 schedule=\"interleaved\" virtual_stages=4",
        "pipeline=4 /training/activation_checkpointing=\"selective\"",
        "pipeline=4 /training/mtp_layers=1",
        "sharding={\"strategy\":\"optimizer\"} /training/microbatches=1 "
        "/training/gradient_accumulation_steps=3",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        job_agrees(text, changes[i], 2e-2);
}

/* Llama 3 70B under Megatron-FSDP on 64 GPUs. */
static const char whole[] =
    "{ 'model': 'llama3-70b', 'cluster': { 'instance': 'dgx-gb200', 'count': 16 },"
    "  'training': { 'sequence_length': 8192, 'micro_batch_size': 2,"
    "                'microbatches': 2, 'precision': 'bf16',"
    "                'framework': 'megatron-bridge' },"
    "  'parallelism': { 'library': 'fsdp', 'sharding': { 'strategy': 'full' } } }";

static void load_whole(struct job *j, int64_t layers, double rate_Bps)
{
    char changes[64];
    snprintf(changes, sizeof(changes), "offload_layers=%" PRId64, layers);
    bench_scenario(&j->loader, &j->s, whole, "/parallelism/", changes);
    struct instance *host =
        (struct instance *)(uintptr_t)j->s.cluster.groups[0].instance;
    host->host_pinned_Bps = rate_Bps > 0 ? rate_Bps : host->host_pinned_Bps;
}

/* Of 80 layers 80 - n are on the GPU at once. Copies that end before the layers that
 * wait for them cost nothing. */
static void test_layers(void)
{
    static const int64_t layers[] = { 0, 5, 20, 40, 60 };
    struct job j[5];
    struct simulate_result r[5];
    for (int i = 0; i < 5; i++) {
        load_whole(&j[i], layers[i], 0);
        validation_job_run(&j[i], &r[i]);
        CU_ASSERT(job_near((double)r[i].memory.stages[0].activations_B,
                           (double)r[0].memory.stages[0].activations_B *
                               (double)(80 - layers[i]) / 80,
                           0.02));
        CU_ASSERT(job_near(r[i].step_time_s, r[0].step_time_s, 1e-6));
    }
    for (int i = 0; i < 5; i++)
        job_unload(&j[i]);
}

/* A slow host bounds the step: all bytes of the layers that leave, both ways. */
static void test_slow_layers(void)
{
    enum { LAYERS = 79 };
    static const double rate_Bps = 10e9;
    struct job j[2];
    struct simulate_result r[2];
    for (int i = 0; i < 2; i++) {
        load_whole(&j[i], i ? LAYERS : 0, rate_Bps);
        validation_job_run(&j[i], &r[i]);
    }
    double layer_B = (double)r[0].memory.stages[0].activations_B / 80;
    double least_s = 2 * LAYERS * 2 * layer_B / rate_Bps;
    CU_ASSERT(r[1].step_time_s > 0.98 * least_s);
    CU_ASSERT(r[1].step_time_s < 1.02 * least_s + r[0].step_time_s);
    CU_ASSERT(r[1].parts_s[CATEGORY_OFFLOAD_EXPOSED] > 0.5 * least_s);
    CU_ASSERT((double)r[1].memory.stages[0].activations_B < 3 * layer_B);
    for (int i = 0; i < 2; i++)
        job_unload(&j[i]);
}

static void test_layers_agree(void)
{
    static const char text[] =
        "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
        "                'microbatches': 3, 'precision': 'bf16' },"
        "  'parallelism': { 'library': 'megatron', 'offload_layers': 20 } }";
    static const char *const changes[] = {
        "tensor=4 sequence_parallel=true",
        "offload_layers=31 sharding={\"strategy\":\"optimizer\"}",
        "library=\"fsdp\" sharding={\"strategy\":\"full\"}",
        "context=2 /training/gradient_accumulation_steps=3",
        "/training/cuda_graphs=\"full_iteration\" /training/mtp_layers=1",
        "/model=\"deepseek-v3\" expert=16 offload_layers=12",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        job_agrees(text, changes[i], 2e-2);
}

static const struct {
    const char *changes, *message;
} refused[] = {
    { "'library': 'deepspeed', 'offload_layers': 4", "does not offload whole layers" },
    { "'library': 'megatron', 'offload_layers': 32", "the last of 32 layers" },
    { "'library': 'megatron', 'offload_layers': 4, 'pipeline': 2", "by pipelines" },
    { "'library': 'megatron', 'offload_layers': 4, 'offload_modules': ['core_attn']",
      "offload_modules has modules" },
    { "'library': 'megatron', 'offload_layers': 4 }, 'training': { "
      "'sequence_length': 2048, 'micro_batch_size': 1, 'microbatches': 8, 'precision': "
      "'bf16', 'activation_checkpointing': 'selective'",
      "where activations are computed again" },
    { "'library': 'megatron', 'offload_layers': 4 }, 'training': { "
      "'sequence_length': 2048, 'micro_batch_size': 1, 'microbatches': 8, 'precision': "
      "'bf16', 'cuda_graphs': ['attn']",
      "cannot hold layers" },
    { "'library': 'fsdp', 'offload_modules': ['core_attn']", "does not offload" },
    { "'library': 'megatron', 'offload_modules': ['attn_proj']",
      "attention's backward" },
    { "'library': 'megatron', 'offload_modules': []", "should be a list of modules" },
    { "'library': 'megatron', 'offload_modules': ['mlp']", "mlp" },
    { "'library': 'megatron', 'offload_modules': ['core_attn'], 'pipeline': 2, "
      "'schedule': 'zb-h1'",
      "two passes" },
    { "'library': 'megatron', 'offload_modules': ['core_attn'] }, 'training': { "
      "'sequence_length': 2048, 'micro_batch_size': 1, 'microbatches': 8, 'precision': "
      "'bf16', 'activation_checkpointing': 'full'",
      "computed again as a whole" },
};

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        char text[1024];
        bool own = strstr(refused[i].changes, "training") != NULL;
        snprintf(text, sizeof(text),
                 "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge' },"
                 "%s 'parallelism': { %s } }",
                 own ? ""
                     : "'training': { 'sequence_length': 2048, 'micro_batch_size': 1, "
                       "'microbatches': 8, 'precision': 'bf16' },",
                 refused[i].changes);
        bench_refused(text, refused[i].message);
    }
}

void test_saved_register(void)
{
    CU_pSuite s = CU_add_suite("saved", NULL, NULL);
    CU_add_test(s, "tensors of each module", test_tensors);
    CU_add_test(s, "memory that leaves, and time", test_memory_and_time);
    CU_add_test(s, "slow copies bound the step", test_bound);
    CU_add_test(s, "ranks, passes and operators agree", test_fidelities);
    CU_add_test(s, "whole layers leave", test_layers);
    CU_add_test(s, "slow copies of layers bound the step", test_slow_layers);
    CU_add_test(s, "whole layers: all fidelities agree", test_layers_agree);
    CU_add_test(s, "what is refused", test_rules);
}
