/* Two towers that are trained against each other: parameters, vectors that replicas
 * exchange, and what is refused. */
#include "model/pattern.h"
#include "op_bench.h"
#include "step_bench.h"

void test_contrast_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

#define SMALL(family, more)                                                   \
    "{'model_type': '" family "', " more                                      \
    "'text_config': {'hidden_size': 64, 'num_attention_heads': 2, "           \
    "'num_hidden_layers': 2, 'intermediate_size': 128, 'vocab_size': 1000}, " \
    "'vision_config': {'hidden_size': 128, 'num_attention_heads': 4, "        \
    "'num_hidden_layers': 3, 'intermediate_size': 256, 'patch_size': 16, "    \
    "'image_size': 64}}"
#define CLIP SMALL("clip", "'projection_dim': 32, ")
#define SIGLIP SMALL("siglip", "")

static const struct op_block *find_block(const struct op_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (strcmp(list->blocks[i].name, name) == 0)
            return &list->blocks[i];
    return NULL;
}

static double flops(const struct op *ops, int32_t n, const char *name)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += strstr(ops[i].name, name) ? ops[i].flops : 0;
    return sum;
}

/* Vectors of the rank's pairs with those of all replicas, both ways: 2 b x e x b r. */
static void test_products(void)
{
    static const char *const files[] = { CLIP, SIGLIP };
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct model m;
        struct arena arena;
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, files[i]), 0);
        struct op_settings s = op_settings_of(OP_BF16, &op_fused);
        s.sequence = 16;
        s.replicas = 8;
        struct op_list list = op_make(&arena, &m, s);
        const struct op_block *head = find_block(&list, "head");
        double b = BATCH, e = i ? 64 : 32, products = 2 * 2 * b * e * b * 8;
        CU_ASSERT_EQUAL(flops(head->forward, head->n_forward, "contrast"), products);
        CU_ASSERT_EQUAL(flops(head->backward, head->n_backward, "contrast"),
                        2 * products);
        CU_ASSERT_EQUAL(flops(head->forward, head->n_forward, "pooler"),
                        2 * b * 64 * e);
        CU_ASSERT_EQUAL(find_block(&list, "projector") != NULL, i == 0);
        const struct op_block *pool = find_block(&list, "vision_pool");
        if (pool) { /* keys and values of 16 patches, one query, an MLP of one row */
            double keys = 2 * 16 * 128 * 128, one = 2 * 128 * 128 + 2 * 128 * 256;
            CU_ASSERT_EQUAL(flops(pool->forward, pool->n_forward, ""),
                            2 * b * (keys + one));
        }
        CU_ASSERT_EQUAL(find_block(&list, "vision_pool") != NULL, i == 1);
        /* pictures: 16 patches, and CLIP's class token */
        const struct op_block *layer = find_block(&list, "vision_layer");
        CU_ASSERT_EQUAL(layer->tokens, BATCH * (i ? 16 : 17));
        arena_release(&arena);
        cfg_loader_release(&loader);
    }
}

/* Adapters are in both towers. */
static void test_lora(void)
{
    struct cfg_loader loader;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, CLIP), 0);
    struct lora l = { .rank = 4, .targets = LORA_QUERY };
    CU_ASSERT_EQUAL(lora_parameters(&m, &l), 4 * (2 * 2 * 64 + 3 * 2 * 128));
    cfg_loader_release(&loader);
}

/* Steps ------------------------------------------------------------------------------- */

#define JOB                                                                    \
    "{'model':%s,'cluster':{'instance':'p5.48xlarge','count':%d},"             \
    "'training':{'sequence_length':%s,'micro_batch_size':64,'microbatches':2," \
    "'precision':'bf16','attention':'flash'%s},'parallelism':{%s}}"

static int read_job(struct job *j, const char *model, int nodes, const char *sequence,
                    const char *training, const char *parallelism)
{
    char text[4096];
    snprintf(text, sizeof(text), JOB, model, nodes, sequence, training, parallelism);
    cfg_loader_init(&j->loader);
    return scenario_read(&j->s, &j->loader,
                         cfg_parse(&j->loader, "job", text, strlen(text)));
}

/* *activations_B: of the first stage. */
static double step_s(const char *model, int nodes, const char *training,
                     const char *parallelism, bool unfold, int64_t *activations_B)
{
    struct job j;
    struct simulate_result r;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(read_job(&j, model, nodes, "16", training, parallelism), 0);
    const struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = unfold };
    int rc = simulate(&r, &j.loader.arena, &j.s, &how, &err);
    CU_ASSERT_STRING_EQUAL(err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    double s = r.step_time_s;
    *activations_B = r.memory.stages[0].activations_B;
    job_unload(&j);
    return s;
}

static void test_folded(void)
{
    static const char *const splits[] = {
        "'library':'ddp'",
        "'library':'fsdp','sharding':{'strategy':'full'}",
        "'library':'deepspeed','sharding':{'strategy':'optimizer'}",
    };
    static const char *const models[] = { CLIP, SIGLIP };
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
        for (int k = 0; k < 4; k++) {
            const char *training = k / 2 ? ",'activation_checkpointing':'full'" : "";
            int64_t folded, unfolded;
            double a = step_s(models[k % 2], 2, training, splits[i], false, &folded),
                   b = step_s(models[k % 2], 2, training, splits[i], true, &unfolded);
            CU_ASSERT(job_near(a, b, 1e-9));
            CU_ASSERT_EQUAL(folded, unfolded);
            CU_ASSERT(a > 0);
        }
}

/* More replicas are more products and larger logits, and vectors take longer. */
static void test_replicas(void)
{
    int64_t one, eight;
    const char *ddp = "'library':'ddp'";
    double a = step_s(CLIP, 1, "", ddp, false, &one),
           b = step_s(CLIP, 8, "", ddp, false, &eight);
    CU_ASSERT(b > a);
    CU_ASSERT(eight > one);
}

static void test_refused(void)
{
    static const struct {
        const char *sequence, *training, *parallelism, *part;
    } cases[] = {
        { "16", ",'task':'masked-lm'", "'library':'ddp'", "two towers" },
        { "16", "", "'library':'megatron','tensor':2", NULL },
        { "100", "", "'library':'ddp'", NULL }, /* 77 positions */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        struct simulate_result r;
        struct err err = { 0 };
        const struct simulate_options how = { .network = FIDELITY_FLOW };
        int rc = read_job(&j, CLIP, 1, cases[i].sequence, cases[i].training,
                          cases[i].parallelism);
        if (cases[i].part)
            CU_ASSERT_PTR_NOT_NULL(
                strstr(diags_error_text(&j.loader.diags, 0), cases[i].part));
        if (rc == 0)
            rc = simulate(&r, &j.loader.arena, &j.s, &how, &err);
        CU_ASSERT_EQUAL(rc, -1);
        job_unload(&j);
    }
}

void test_contrast_register(void)
{
    CU_pSuite s = CU_add_suite("contrast", NULL, NULL);
    CU_add_test(s, "products of vectors", test_products);
    CU_add_test(s, "adapters of both towers", test_lora);
    CU_add_test(s, "folded steps are unfolded ones", test_folded);
    CU_add_test(s, "more replicas", test_replicas);
    CU_add_test(s, "what is refused", test_refused);
}
