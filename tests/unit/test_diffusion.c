/* Diffusion transformers: published parameters and FLOPs, streams of picture and text,
 * adapters, and what is refused. */
#include "op_bench.h"
#include "step_bench.h"

void test_diffusion_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

#define FLUX_(guided)                                                                 \
    "{'_class_name': 'FluxTransformer2DModel', 'attention_head_dim': 128, "           \
    "'guidance_embeds': " guided ", 'in_channels': 64, 'joint_attention_dim': 4096, " \
    "'num_attention_heads': 24, 'num_layers': 19, 'num_single_layers': 38, "          \
    "'patch_size': 1, 'pooled_projection_dim': 768}"
#define SD3_(heads, layers, norm)                                                   \
    "{'_class_name': 'SD3Transformer2DModel', 'attention_head_dim': 64, "           \
    "'in_channels': 16, 'joint_attention_dim': 4096, 'num_attention_heads': " heads \
    ", 'num_layers': " layers ", 'out_channels': 16, 'patch_size': 2, "             \
    "'pooled_projection_dim': 2048, 'qk_norm': " norm "}"
#define DIT_(heads, columns, layers)                                              \
    "{'_class_name': 'DiTTransformer2DModel', 'attention_head_dim': " columns     \
    ", 'in_channels': 4, 'num_attention_heads': " heads ", 'num_layers': " layers \
    ", 'num_embeds_ada_norm': 1000, 'out_channels': 8, 'patch_size': 2}"

/* Counts: the checkpoints' safetensors of black-forest-labs/FLUX.1-dev and -schnell (the
 * one has guidance) and of stable-diffusion-3-medium, the card of stable-diffusion-3.5-
 * large (8.1B), and table 1 of Peebles and Xie 2023. */
static void test_published(void)
{
    static const struct {
        const char *file;
        double parameters, within;
    } cases[] = {
        { FLUX_("true"), 11901408320, 0 },
        { FLUX_("false"), 11891178560, 0 },
        { SD3_("24", "24", "null"), 2028328000, 0 },
        { SD3_("38", "38", "'rms_norm'"), 8.06e9, 0.001 },
        { DIT_("16", "72", "28"), 675e6, 0.001 },
        { DIT_("16", "64", "24"), 458e6, 0.002 },
        { DIT_("12", "64", "12"), 130e6, 0.005 },
        { DIT_("6", "64", "12"), 33e6, 0.02 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        double off = (double)m.parameters / cases[i].parameters - 1;
        if (fabs(off) > cases[i].within)
            printf("\n    %zu: %lld", i, (long long)m.parameters);
        CU_ASSERT(fabs(off) <= cases[i].within);
        cfg_loader_release(&loader);
    }
}

/* Multiply-adds of a picture, as Peebles and Xie count them ("Gflops", table 4): of 256 x
 * 256 pixels, 256 tokens; of 512 x 512, 1024. */
static void test_flops(void)
{
    static const struct {
        const char *file;
        int64_t tokens;
        double giga;
    } cases[] = {
        { DIT_("16", "72", "28"), 256, 118.64 },
        { DIT_("16", "72", "28"), 1024, 524.60 },
        { DIT_("16", "64", "24"), 256, 80.71 },
        { DIT_("12", "64", "12"), 256, 23.01 },
        { DIT_("6", "64", "12"), 256, 6.06 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        double giga = model_flops_per_sample(&m, cases[i].tokens, 0, true) / 6e9;
        if (fabs(giga / cases[i].giga - 1) > 0.01)
            printf("\n    %zu: %.2f", i, giga);
        CU_ASSERT_DOUBLE_EQUAL(giga / cases[i].giga, 1, 0.01);
        cfg_loader_release(&loader);
    }
}

#define SMALL_TEXT                                                                    \
    "'attention_head_dim': 32, 'num_attention_heads': 4, 'joint_attention_dim': 96, " \
    "'pooled_projection_dim': 64, 'in_channels': 16, 'text_tokens': 40"
#define FLUX                                                                        \
    "{'_class_name': 'FluxTransformer2DModel', 'num_layers': 2, "                   \
    "'num_single_layers': 3, 'patch_size': 1, 'guidance_embeds': true, " SMALL_TEXT \
    "}"
#define SD3                                                                       \
    "{'_class_name': 'SD3Transformer2DModel', 'num_layers': 3, 'patch_size': 2, " \
    "'qk_norm': 'rms_norm', " SMALL_TEXT "}"
#define DIT                                                                       \
    "{'_class_name': 'DiTTransformer2DModel', 'num_layers': 3, 'patch_size': 2, " \
    "'num_embeds_ada_norm': 10, 'attention_head_dim': 32, 'num_attention_heads': 4}"
static const char *const small[] = { FLUX, SD3, DIT };
enum { SMALLS = 3 };

/* The operators' FLOPs are the model's, forward and (but for what nothing below needs)
 * twice that backward, by every precision. */
static void test_list(void)
{
    for (int k = 0; k < SMALLS; k++)
        for (int p = 0; p < OP_PRECISION_N; p++) {
            struct cfg_loader loader;
            struct model m;
            struct arena arena;
            arena_init(&arena);
            CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, small[k]), 0);
            struct op_settings s = op_settings_of((enum op_precision)p, &op_fused);
            s.attention = OP_ATTENTION_FLASH;
            struct op_list list = op_make(&arena, &m, s);
            double model = model_flops_per_sample(&m, SEQ, 0, true) / 3 * BATCH;
            CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false) / model, 1, 1e-12);
            double back = op_list_flops(&list, true) / model;
            CU_ASSERT(back > 1.9 && back < 2.2); /* attention's is 2.5 times */
            arena_release(&arena);
            cfg_loader_release(&loader);
        }
}

/* Picture and text each have their products' rows; attention has all tokens. */
static void test_streams(void)
{
    struct cfg_loader loader;
    struct model m;
    struct arena arena;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SD3), 0);
    struct op_list list = op_make(&arena, &m, op_settings_of(OP_BF16, &op_fused));
    CU_ASSERT_EQUAL_FATAL(list.n_blocks, 4);
    CU_ASSERT_STRING_EQUAL(list.blocks[1].name, "dual_layer");
    CU_ASSERT_STRING_EQUAL(list.blocks[2].name, "last_dual_layer");
    CU_ASSERT_EQUAL(list.blocks[1].repeat, 2);
    const struct op_block *b = &list.blocks[1];
    int seen = 0;
    for (int32_t i = 0; i < b->n_forward; i++) {
        const struct op *op = &b->forward[i];
        if (strcmp(op->name, "query") == 0 || strcmp(op->name, "down") == 0)
            CU_ASSERT_EQUAL(op->m, BATCH * (SEQ - 40));
        if (strcmp(op->name, "text_query") == 0 || strcmp(op->name, "text_down") == 0)
            CU_ASSERT_EQUAL(op->m, BATCH * 40);
        if (op->kind == OP_FLASH)
            CU_ASSERT(op->m == SEQ && op->n == SEQ && op->batch == BATCH * 4);
        seen += op->kind == OP_FLASH || strstr(op->name, "text_down") != NULL;
    }
    CU_ASSERT_EQUAL(seen, 2);
    for (int32_t i = 0; i < list.blocks[2].n_params; i++)
        CU_ASSERT_PTR_NULL(strstr(list.blocks[2].params[i].name, "text_down"));
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* r (in + out) weights next to each module; single layers have no last product of
 * attention alone. */
static void test_lora(void)
{
    static const struct {
        const char *file;
        uint32_t targets;
        int64_t sums;
    } cases[] = {
        { FLUX, LORA_QUERY, 5 * 256 },
        { FLUX, LORA_OUT, 2 * 256 },
        { FLUX, LORA_TEXT_VALUE | LORA_TEXT_OUT, 4 * 256 },
        { FLUX, LORA_UP | LORA_TEXT_DOWN, 4 * (128 + 512) },
        { FLUX, LORA_SINGLE_UP | LORA_SINGLE_DOWN, 3 * (640 + 768) },
        { SD3, LORA_TEXT_OUT | LORA_TEXT_KEY, (2 + 3) * 256 },
        { DIT, LORA_QUERY | LORA_KEY | LORA_VALUE | LORA_OUT, 12 * 256 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        struct lora l = { .rank = 8, .targets = cases[i].targets };
        CU_ASSERT_EQUAL(lora_parameters(&m, &l), 8 * cases[i].sums);
        CU_ASSERT(lora_flops_per_sample(&m, &l, SEQ, 0) < 0);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(lora_target_of("to_out.0"), LORA_OUT);
    CU_ASSERT_EQUAL(lora_target_of("attn.add_k_proj"), LORA_TEXT_KEY);
    CU_ASSERT_EQUAL(lora_target_of("ff_context.net.0.proj"), LORA_TEXT_UP);
}

/* Steps ------------------------------------------------------------------------------- */

#define JOB                                                                   \
    "{'model':%s,'cluster':{'instance':'p5.48xlarge','count':2},"             \
    "'training':{'sequence_length':%d,'micro_batch_size':4,'microbatches':2," \
    "'precision':'bf16'%s},'parallelism':{%s}}"

static int run(const char *model, int sequence, const char *training,
               const char *parallelism, bool unfold, struct simulate_result *r,
               const char *error)
{
    char text[4096];
    struct job j;
    struct err err = { 0 };
    snprintf(text, sizeof(text), JOB, model, sequence, training, parallelism);
    cfg_loader_init(&j.loader);
    int rc =
        scenario_read(&j.s, &j.loader, cfg_parse(&j.loader, "job", text, strlen(text)));
    const struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = unfold };
    if (error)
        CU_ASSERT_PTR_NOT_NULL(strstr(diags_error_text(&j.loader.diags, 0), error));
    if (rc == 0)
        rc = simulate(r, &j.loader.arena, &j.s, &how, &err);
    job_unload(&j);
    return rc;
}

static void test_folded(void)
{
    static const char *const splits[] = {
        "'library':'ddp'",
        "'library':'fsdp','sharding':{'strategy':'full'}",
        "'library':'deepspeed','sharding':{'strategy':'full'}",
    };
    static const char *const trainings[] = {
        "", ",'activation_checkpointing':'full'",
        ",'lora':{'rank':16,'target_modules':['to_q','to_out.0','add_q_proj']}"
    };
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
        for (int k = 0; k < 6; k++) {
            struct simulate_result a, b;
            const char *t = trainings[(i + (size_t)k) % 3];
            CU_ASSERT_EQUAL_FATAL(run(small[k % 2], 256, t, splits[i], false, &a, NULL),
                                  0);
            CU_ASSERT_EQUAL_FATAL(run(small[k % 2], 256, t, splits[i], true, &b, NULL),
                                  0);
            CU_ASSERT(job_near(a.step_time_s, b.step_time_s, 1e-9));
            CU_ASSERT(a.step_time_s > 0);
        }
}

static void test_refused(void)
{
    static const struct {
        const char *training, *parallelism;
        int sequence;
        const char *error;
    } cases[] = {
        { "", "'library':'megatron','tensor':2", 256, "is a diffusion transformer" },
        { "", "'library':'megatron','pipeline':2", 256, "is a diffusion transformer" },
        { "", "'library':'ddp'", 40, "the text of a sequence is 40 tokens" },
        { ",'attention':'unfused'", "'library':'ddp'", 256, "write \"sdpa\"" },
        { ",'task':'causal-lm'", "'library':'ddp'", 256, "whose task is its own" },
    };
    struct simulate_result r;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CU_ASSERT_EQUAL(run(FLUX, cases[i].sequence, cases[i].training,
                            cases[i].parallelism, false, &r, cases[i].error),
                        -1);
    CU_ASSERT_EQUAL(run("{'_class_name':'UNet2DConditionModel'}", 64, "",
                        "'library':'ddp'", false, &r, "UNet2DConditionModel"),
                    -1);
    CU_ASSERT_EQUAL(run("{'_class_name':'SD3Transformer2DModel',"
                        "'dual_attention_layers':[0,1]}",
                        4429, "", "'library':'ddp'", false, &r, "second attention"),
                    -1);
}

void test_diffusion_register(void)
{
    CU_pSuite s = CU_add_suite("diffusion", NULL, NULL);
    CU_add_test(s, "published parameters", test_published);
    CU_add_test(s, "published FLOPs", test_flops);
    CU_add_test(s, "operators' FLOPs are the model's", test_list);
    CU_add_test(s, "streams of picture and text", test_streams);
    CU_add_test(s, "adapters", test_lora);
    CU_add_test(s, "folded steps are unfolded ones", test_folded);
    CU_add_test(s, "what is refused", test_refused);
}
