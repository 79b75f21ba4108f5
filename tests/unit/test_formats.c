/* Modules whose products have formats of their own, in layers of several kinds, and
 * modules that predict further tokens after these. */
#include "model/formats.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_formats_register(void);

/* Nemotron 3 Super's widths: states, experts that read latent columns, attention. */
static const char hybrid[] =
    "{ 'model': { 'model_type': 'nemotron_h', 'num_hidden_layers': 16,"
    "    'hybrid_override_pattern': 'MEMEM*EMEMEM*EME', 'hidden_size': 4096,"
    "    'num_attention_heads': 32, 'num_key_value_heads': 2, 'head_dim': 128,"
    "    'mamba_num_heads': 128, 'mamba_head_dim': 64, 'ssm_state_size': 128,"
    "    'n_groups': 8, 'chunk_size': 128, 'intermediate_size': 2688,"
    "    'moe_intermediate_size': 2688, 'n_routed_experts': 64,"
    "    'num_experts_per_tok': 6, 'moe_latent_size': 1024, 'n_shared_experts': 1,"
    "    'moe_shared_expert_intermediate_size': 5376, 'vocab_size': 131072,"
    "    'tie_word_embeddings': false },"
    "  'cluster': { 'instance': 'dgx-b300', 'count': 2 },"
    "  'training': { 'sequence_length': 8192, 'micro_batch_size': 1,"
    "                'microbatches': 4, 'precision': 'nvfp4' },"
    "  'parallelism': { 'library': 'megatron', 'expert': 8,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

#define SUPER                                                              \
    "/training/module_precision={\"qkv\":\"bf16\",\"attn_proj\":\"bf16\"," \
    "\"moe_latent\":\"bf16\",\"mamba_out\":\"mxfp8\"} "

static void load(struct job *j, const char *changes)
{
    bench_scenario(&j->loader, &j->s, hybrid, "/parallelism/", changes);
}

static void list_of(struct op_list *list, struct job *j)
{
    struct err err = { 0 };
    struct op_settings s = scenario_op_settings(&j->s);
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, &j->loader.arena, &j->s.model, &s, &err),
                          0);
}

static bool has_op(const struct op_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        for (int32_t k = 0; k < list->blocks[i].n_forward; k++)
            if (strcmp(list->blocks[i].forward[k].name, name) == 0)
                return true;
    return false;
}

/* Each product, forward and both ways backward, has its module's format; those in 16
 * bits quantize nothing, and their weights are held so. */
static void test_products(void)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } rows[] = {
        { "qkv", DTYPE_BF16 },        { "out", DTYPE_BF16 },
        { "experts_in", DTYPE_BF16 }, { "experts_out", DTYPE_BF16 },
        { "state_in", DTYPE_NVFP4 },  { "state_out", DTYPE_MXFP8 },
        { "shared_up", DTYPE_NVFP4 }, { "up", DTYPE_NVFP4 },
        { "down", DTYPE_NVFP4 },      { "router", DTYPE_BF16 },
        { "logits", DTYPE_BF16 },
    };
    struct job j;
    struct op_list list;
    load(&j, SUPER);
    list_of(&list, &j);
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        char weight[64], dgrad[64], quantized[64];
        int n = 0;
        snprintf(weight, sizeof(weight), "%s.weight", rows[r].name);
        snprintf(dgrad, sizeof(dgrad), "%s_dgrad", rows[r].name);
        snprintf(quantized, sizeof(quantized), "%s_input_fp8", rows[r].name);
        for (int32_t i = 0; i < list.n_blocks; i++) {
            const struct op_block *b = &list.blocks[i];
            for (int32_t k = 0; k < b->n_forward; k++)
                if (strcmp(b->forward[k].name, rows[r].name) == 0) {
                    CU_ASSERT_EQUAL(b->forward[k].dtype, rows[r].dtype);
                    n++;
                }
            for (int32_t k = 0; k < b->n_backward; k++)
                if (strcmp(b->backward[k].name, dgrad) == 0)
                    CU_ASSERT_EQUAL(b->backward[k].dtype, rows[r].dtype);
            for (int32_t k = 0; k < b->n_params; k++)
                if (strcmp(b->params[k].name, weight) == 0)
                    CU_ASSERT_EQUAL(b->params[k].quantized,
                                    dtype_is_quantized(rows[r].dtype));
        }
        CU_ASSERT(n > 0);
        CU_ASSERT_EQUAL(has_op(&list, quantized), dtype_is_quantized(rows[r].dtype));
    }
    job_unload(&j);
}

static void run(const char *changes, struct job *j, struct simulate_result *r)
{
    load(j, changes);
    validation_job_run(j, r);
}

static const char dense[] =
    "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'dgx-b300', 'count': 2 },"
    "  'training': { 'sequence_length': 8192, 'micro_batch_size': 1,"
    "                'microbatches': 4, 'precision': 'nvfp4' },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 2 } }";

static void same_step(const char *text, const char *a, const char *b)
{
    const char *const changes[] = { a, b };
    struct job j[2];
    struct simulate_result r[2];
    for (int i = 0; i < 2; i++) {
        bench_scenario(&j[i].loader, &j[i].s, text, "/parallelism/", changes[i]);
        validation_job_run(&j[i], &r[i]);
    }
    CU_ASSERT(job_near(r[0].step_time_s, r[1].step_time_s, 1e-9));
    CU_ASSERT_EQUAL(r[0].memory.stages[0].activations_B,
                    r[1].memory.stages[0].activations_B);
    job_unload(&j[0]);
    job_unload(&j[1]);
}

#define ALL(p)                                                                  \
    "/training/module_precision={\"qkv\":\"" p "\",\"attn_proj\":\"" p          \
    "\",\"experts\":\"" p "\",\"shared_experts\":\"" p "\",\"moe_latent\":\"" p \
    "\",\"mamba_in\":\"" p "\",\"mamba_out\":\"" p "\"} "

/* Where all modules have one format, the step is that of the format. Experts' groups are
 * padded by the job's precision, whatever their own. */
static void test_identities(void)
{
    same_step(dense,
              "/training/module_precision={\"qkv\":\"bf16\",\"attn_proj\":\"bf16\","
              "\"mlp\":\"bf16\"}",
              "/training/layers_16bit={\"first\":32}");
    same_step(hybrid, ALL("nvfp4"), "");
    same_step(hybrid, ALL("mxfp8"), "/training/precision=\"mxfp8\"");
}

/* The logits' product has 16 bits unless it is named: then its three products are
 * faster, and its weights are held as before. */
static void test_head(void)
{
    struct job j[2];
    struct simulate_result r[2];
    run("/training/precision=\"mxfp8\"", &j[0], &r[0]);
    run("/training/precision=\"mxfp8\" /training/module_precision={\"head\":\"mxfp8\"}",
        &j[1], &r[1]);
    double saved_s = r[0].parts_s[CATEGORY_COMPUTE] - r[1].parts_s[CATEGORY_COMPUTE];
    CU_ASSERT(saved_s > 0.002 * r[0].step_time_s && saved_s < 0.3 * r[0].step_time_s);
    CU_ASSERT_EQUAL(r[0].memory.stages[0].parameters_B,
                    r[1].memory.stages[0].parameters_B);
    job_unload(&j[0]);
    job_unload(&j[1]);
}

/* A module is run twice and has one set of parameters, gradients and states. */
static void test_repeated(void)
{
    static const char *const changes[] = {
        "",
        "/training/mtp_layers=1",
        "/training/mtp_layers=2",
        "/training/mtp_layers=2 /training/mtp_repeated=true",
        "/training/mtp_layers=2 /training/mtp_repeated=true "
        "/training/module_precision={\"mtp\":\"bf16\"}",
    };
    struct job j[5];
    struct simulate_result r[5];
    for (int i = 0; i < 5; i++)
        run(changes[i], &j[i], &r[i]);
    double one = (double)(r[1].memory.stages[0].parameters_B -
                          r[0].memory.stages[0].parameters_B);
    CU_ASSERT(one > 0);
    CU_ASSERT(job_near((double)(r[2].memory.stages[0].parameters_B -
                                r[0].memory.stages[0].parameters_B),
                       2 * one, 1e-9));
    CU_ASSERT_EQUAL(r[3].memory.stages[0].parameters_B,
                    r[1].memory.stages[0].parameters_B);
    CU_ASSERT_EQUAL(r[3].memory.stages[0].optimizer_B,
                    r[1].memory.stages[0].optimizer_B);
    CU_ASSERT_EQUAL(r[3].parameters, r[1].parameters);
    CU_ASSERT(
        job_near(r[3].parts_s[CATEGORY_COMPUTE], r[2].parts_s[CATEGORY_COMPUTE], 0.01));
    CU_ASSERT(r[4].parts_s[CATEGORY_COMPUTE] > r[3].parts_s[CATEGORY_COMPUTE]);
    CU_ASSERT(r[4].memory.stages[0].activations_B >
              r[3].memory.stages[0].activations_B);
    for (int i = 0; i < 5; i++)
        job_unload(&j[i]);
}

static void test_fidelities(void)
{
    static const char *const changes[] = {
        SUPER,
        SUPER "pipeline=2 expert=4",
        SUPER "tensor=2 sequence_parallel=true expert_tensor=1",
        SUPER "/training/mtp_layers=2 /training/mtp_repeated=true pipeline=2 expert=4",
        SUPER "/training/layers_16bit={\"last\":5} "
              "/training/quantized_parameters=true",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        job_agrees(hybrid, changes[i], 2e-2);
}

static const struct {
    const char *rest, *message;
} refused[] = {
    { "'precision': 'bf16', 'module_precision': { 'qkv': 'bf16' }",
      "where the others' products have a recipe" },
    { "'precision': 'fp8', 'module_precision': { 'qkv': 'bf16' }",
      "where the others' products have a recipe" },
    { "'precision': 'fp8_current', 'module_precision': { 'qkv': 'fp8' }",
      "modules have no \"fp8\" of their own" },
    { "'precision': 'fp8_current', 'module_precision': { 'qkv': 'fp32' }",
      "modules have no \"fp32\" of their own" },
    { "'precision': 'fp8_current', 'module_precision': { 'qkv': 'mxfp8' }",
      "which H100-SXM5-80GB has not" },
    { "'precision': 'fp8_current', 'module_precision': { 'attention': 'bf16' }",
      "attention" },
};

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge' },"
                 "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1,"
                 "                'microbatches': 8, %s },"
                 "  'parallelism': { 'library': 'megatron' } }",
                 refused[i].rest);
        bench_refused(text, refused[i].message);
    }
}

void test_formats_register(void)
{
    CU_pSuite s = CU_add_suite("formats", NULL, NULL);
    CU_add_test(s, "products of modules", test_products);
    CU_add_test(s, "one format for all modules", test_identities);
    CU_add_test(s, "modules that are repeated", test_repeated);
    CU_add_test(s, "the head in 8 bits", test_head);
    CU_add_test(s, "ranks, passes and operators agree", test_fidelities);
    CU_add_test(s, "what is refused", test_rules);
}
