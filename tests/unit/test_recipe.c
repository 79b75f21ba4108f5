/* Recipes of products in fewer than 16 bits: which GPUs have them, what is quantized,
 * kept, held and gathered (MODEL.md, 8.18 and 5.1). */
#include "model/recipe.h"
#include "scenario/states.h"
#include "step_bench.h"

void test_recipe_register(void);

/* Llama 3 70B on 64 GPUs: tensor 2, pipeline 4, 8 replicas, 16 microbatches. */
static const char llama[] =
    "{ 'model': 'llama3-70b', 'cluster': { 'instance': 'p6-b200.48xlarge', 'count': 8 "
    "},"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'global_batch_size': 128, 'precision': 'mxfp8' },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 2, 'pipeline': 4,"
    "                   'sequence_parallel': true,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

static void load(struct job *j, const char *changes)
{
    bench_scenario(&j->loader, &j->s, llama, "/training/", changes);
}

/* --- which GPUs -------------------------------------------------------------------- */

static const struct {
    const char *precision, *instance, *error; /* NULL: it runs */
} machines[] = {
    { "fp8", "p4d.24xlarge", "has no fp8 arithmetic" },
    { "fp8_current", "g6.48xlarge", NULL },
    { "fp8_blockwise", "g6.48xlarge", "needs compute capability 9.0 (Hopper)" },
    { "fp8_blockwise", "p5.48xlarge", NULL },
    { "mxfp8", "p5.48xlarge", "H100-SXM5-80GB has no mxfp8 arithmetic" },
    { "mxfp8", "p6-b200.48xlarge", NULL },
    { "mxfp8", "g7e.48xlarge", "above it Transformer Engine has no MXFP8" },
    { "nvfp4", "p5en.48xlarge", "has no nvfp4 arithmetic" },
    { "nvfp4", "p6-b300.48xlarge", NULL },
    { "nvfp4", "g7e.48xlarge", NULL },
};

static void test_machines(void)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        char text[512];
        cfg_loader_init(&loader);
        snprintf(text, sizeof(text),
                 "{ 'model': 'gpt2', 'cluster': { 'instance': '%s', 'count': 1 },"
                 "  'training': { 'sequence_length': 512, 'micro_batch_size': 1,"
                 "                'precision': '%s' } }",
                 machines[i].instance, machines[i].precision);
        int rc =
            scenario_read(&s, &loader, cfg_parse(&loader, "t", text, strlen(text)));
        const char *error =
            loader.diags.n_errors ? diags_error_text(&loader.diags, 0) : "";
        CU_ASSERT_EQUAL(rc == 0, machines[i].error == NULL);
        if (machines[i].error && !strstr(error, machines[i].error)) {
            CU_FAIL("another error");
            fprintf(stderr, "%s on %s: %s\n", machines[i].precision,
                    machines[i].instance, error);
        }
        cfg_loader_release(&loader);
    }
}

/* --- what is quantized ------------------------------------------------------------- */

struct quantized {
    double input_B, gradient_B; /* moved an element of the output product's */
    double transposed_B;        /* of what norms made, in all */
    int launches;               /* of a gradient */
};

static bool named(const struct op *op, const char *name)
{
    return strcmp(op->name, name) == 0;
}

static struct quantized quantized_of(const struct op_block *b)
{
    struct quantized q = { 0 };
    double inputs = 0, outputs = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        if (named(&b->forward[i], "out")) {
            inputs = (double)b->forward[i].m * (double)b->forward[i].k;
            outputs = (double)b->forward[i].m * (double)b->forward[i].n;
        }
    for (int32_t i = 0; i < b->n_forward; i++)
        if (named(&b->forward[i], "out_input_fp8"))
            q.input_B = (b->forward[i].read_B + b->forward[i].write_B) / inputs;
    for (int32_t i = 0; i < b->n_backward; i++) {
        const struct op *op = &b->backward[i];
        if (named(op, "out_grad_fp8")) {
            q.gradient_B = (op->read_B + op->write_B) / outputs;
            q.launches = op->launches;
        }
        if (strstr(op->name, "_input_transpose"))
            q.transposed_B += op->read_B + op->write_B;
    }
    return q;
}

/* Bytes that a recipe moves for an element: read for its scale, read, written once a
 * direction; on Hopper two directions, on Blackwell one where a tensor has one scale. */
static const struct {
    const char *changes;
    double each_B;
    bool transposes;
    int launches;
} moved[] = {
    { "precision=fp8 /cluster/instance=p5.48xlarge", 2 + 2, true, 1 },
    { "precision=fp8", 2 + 1, false, 1 },
    { "precision=fp8_current /cluster/instance=p5.48xlarge", 2 + 2 + 2, false, 2 },
    { "precision=fp8_current", 2 + 2 + 1, false, 2 },
    { "precision=fp8_blockwise /cluster/instance=p5.48xlarge", 2 + 2 * (1 + 4. / 128),
      false, 1 },
    { "precision=mxfp8", 2 + 2 * (1 + 1. / 32), false, 1 },
    { "precision=nvfp4", 2 + 2 + 2 * (0.5 + 1. / 16), false, 2 },
    { "precision=nvfp4 framework=megatron-bridge-26.02",
      4.0 * (2 + 2 + 2 * (0.5 + 1. / 16)), false, 2 },
};

static const struct op_block *layer_of(const struct op_list *list)
{
    int32_t i = 0;
    while (strcmp(list->blocks[i].name, "layer") != 0)
        i++;
    return &list->blocks[i];
}

static void list_of(struct op_list *list, struct job *j)
{
    struct err err = { 0 };
    struct op_settings s = scenario_op_settings(&j->s);
    int rc = op_list_make(list, &j->loader.arena, &j->s.model, &s, &err);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
}

static void test_moved(void)
{
    for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
        struct job j;
        struct op_list list;
        load(&j, moved[i].changes);
        list_of(&list, &j);
        struct quantized q = quantized_of(layer_of(&list));
        CU_ASSERT_DOUBLE_EQUAL(q.input_B, moved[i].each_B, 1e-9);
        /* which each rank of the tensor group quantizes half of, before it is gathered */
        CU_ASSERT_DOUBLE_EQUAL(q.gradient_B, moved[i].each_B / 2, 1e-9);
        CU_ASSERT_EQUAL(q.transposed_B > 0, moved[i].transposes);
        CU_ASSERT_EQUAL(q.launches, moved[i].launches);
        job_unload(&j);
    }
}

/* Where one copy of the weights is kept, backward transposes it: on Hopper alone. */
static void test_transposed(void)
{
    static const struct {
        const char *changes;
        bool transposes;
    } rows[] = {
        { "framework=megatron-bridge /cluster/instance=p5.48xlarge", false },
        { "framework=megatron-bridge-sft /cluster/instance=p5.48xlarge", true },
        { "framework=megatron-bridge-sft", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job j;
        struct op_list list;
        char changes[160];
        snprintf(changes, sizeof(changes), "precision=fp8_current %s", rows[i].changes);
        load(&j, changes);
        list_of(&list, &j);
        const struct op_block *b = layer_of(&list);
        double moved_B = 0, weights = 0;
        for (int32_t k = 0; k < b->n_backward; k++)
            if (strstr(b->backward[k].name, "_weight_transpose"))
                moved_B += b->backward[k].read_B + b->backward[k].write_B;
        for (int32_t k = 0; k < b->n_params; k++)
            if (b->params[k].matrix)
                weights += (double)b->params[k].elements;
        CU_ASSERT_DOUBLE_EQUAL(moved_B, rows[i].transposes ? 2 * weights : 0, 1);
        job_unload(&j);
    }
}

/* The first and last layers' products read 16 bits, the others' the format. */
static void test_mixed(void)
{
    struct job j;
    struct op_list list;
    load(&j, "precision=nvfp4 layers_16bit={\"first\":2,\"last\":14}");
    list_of(&list, &j);
    static const struct {
        const char *name;
        int64_t repeat;
        enum dtype dtype;
    } blocks[] = { { "16bit_layer", 2, DTYPE_BF16 },
                   { "layer", 64, DTYPE_NVFP4 },
                   { "16bit_layer", 14, DTYPE_BF16 } };
    CU_ASSERT_EQUAL_FATAL(list.n_blocks, 5);
    for (int b = 0; b < 3; b++) {
        const struct op_block *block = &list.blocks[1 + b];
        CU_ASSERT_STRING_EQUAL(block->name, blocks[b].name);
        CU_ASSERT_EQUAL(block->repeat, blocks[b].repeat);
        for (int32_t i = 0; i < block->n_forward; i++)
            if (named(&block->forward[i], "qkv"))
                CU_ASSERT_EQUAL(block->forward[i].dtype, blocks[b].dtype);
    }
    CU_ASSERT(op_block_kept_B(&list.blocks[1]) > op_block_kept_B(&list.blocks[2]));
    int64_t parameters = op_list_parameters(&list);
    job_unload(&j);
    load(&j, "precision=nvfp4");
    struct op_list alike;
    list_of(&alike, &j);
    CU_ASSERT_EQUAL(op_list_parameters(&alike), parameters);
    job_unload(&j);
}

/* --- what is held and gathered ------------------------------------------------------ */

/* Bytes of a layer's weight: 16 bits and copies made once a step, or copies alone. */
static const struct {
    const char *changes;
    double held_B;
} held[] = {
    { "precision=bf16", 2 },
    { "precision=fp8 /cluster/instance=p5.48xlarge", 2 + 2 },
    { "precision=fp8", 2 + 1 },
    { "precision=fp8_current quantized_parameters=true", 1 },
    { "precision=fp8_current quantized_parameters=true framework=megatron-bridge "
      "/cluster/instance=p5.48xlarge",
      2 },
    { "precision=fp8_current quantized_parameters=true framework=megatron-bridge-sft "
      "/cluster/instance=p5.48xlarge",
      1 },
    { "precision=mxfp8", 2 + 2 * (1 + 1. / 32) },
    { "precision=mxfp8 quantized_parameters=true", 2 * (1 + 1. / 32) },
    { "precision=nvfp4 quantized_parameters=true", 2 * (0.5 + 1. / 16) },
};

static void test_held(void)
{
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
        struct job j;
        load(&j, held[i].changes);
        struct states st = states_of(&j.s);
        CU_ASSERT_EQUAL(st.parameter_B, 2);
        CU_ASSERT_DOUBLE_EQUAL(st.quantized_B, held[i].held_B, 1e-9);
        job_unload(&j);
    }
}

/* Of all stages; embedding and head stay in 16 bits, as do norms. */
static double gathered_B(const char *changes)
{
    struct job j;
    load(&j, changes);
    double bytes = bench_comm_B(&j.loader, &j.s, CHANNEL_SHARD, COLL_ALL_GATHER);
    job_unload(&j);
    return bytes;
}

static void test_gathered(void)
{
    double wide_B = gathered_B("precision=fp8_current"),
           layers = 80.0 * (2.25 * 8192. * 8192 / 2 + 3 * 8192. * 28672 / 2);
    double eight_B = gathered_B("precision=fp8_current quantized_parameters=true");
    CU_ASSERT_DOUBLE_EQUAL(wide_B - eight_B, layers, 1e-6 * layers);
    double four_B = gathered_B("precision=nvfp4 quantized_parameters=true");
    CU_ASSERT_DOUBLE_EQUAL(wide_B - four_B, 1.5 * layers, 1e-6 * layers);
    /* MXFP8's are gathered in 16 bits, and quantized both ways after that */
    double blocks_B = gathered_B("precision=mxfp8 quantized_parameters=true");
    CU_ASSERT_EQUAL(blocks_B, wide_B);
}

/* Optimizer states by format, and sums of gradients as they are reduced. */
static void test_states(void)
{
    static const struct {
        const char *changes;
        double optimizer_B, gradient_B;
    } cases[] = {
        { "", 12, 4 },
        { "gradient_dtype=bf16", 12, 2 },
        { "optimizer_states={\"first_moment\":\"bf16\",\"second_moment\":\"bf16\"}", 8,
          4 },
        { "optimizer_states={\"first_moment\":\"bf16\",\"second_moment\":\"fp8\","
          "\"master_weights\":\"remainders\"}",
          5, 4 },
        { "gradient_dtype=fp32 /training/framework=nemo-2025", 10, 4 },
        /* the gradients of the step before, and the update's in fp32 */
        { "gradient_dtype=bf16 /training/framework=megatron-2021", 12, 8 },
        { "gradient_dtype=fp32 /training/framework=megatron-2021", 12, 4 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        load(&j, cases[i].changes);
        j.s.parallel.shard.degree = 1;
        CU_ASSERT_EQUAL(states_of(&j.s).optimizer_B, cases[i].optimizer_B);
        CU_ASSERT_EQUAL(states_of(&j.s).gradient_B, cases[i].gradient_B);
        job_unload(&j);
    }
}

/* Steps of 64 GPUs: fewer bits are less time and less memory. */
static void test_steps(void)
{
    static const char *const order[] = {
        "precision=bf16",
        "precision=mxfp8",
        "precision=mxfp8 quantized_parameters=true",
        "precision=mxfp8 quantized_parameters=true gradient_dtype=bf16 "
        "optimizer_states={\"first_moment\":\"bf16\",\"second_moment\":\"bf16\"}",
    };
    double before_B = 0;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        struct job j;
        struct simulate_result r;
        load(&j, order[i]);
        validation_job_run(&j, &r);
        double bytes = (double)r.memory.allocated_B;
        if (i > 1)
            CU_ASSERT(bytes < before_B);
        before_B = bytes;
        job_unload(&j);
    }
    static const char *const faster[] = { "precision=bf16", "precision=mxfp8",
                                          "precision=nvfp4" };
    double before_s = INFINITY;
    for (size_t i = 0; i < sizeof(faster) / sizeof(faster[0]); i++) {
        struct job j;
        struct simulate_result r;
        load(&j, faster[i]);
        validation_job_run(&j, &r);
        CU_ASSERT(r.step_time_s < before_s);
        before_s = r.step_time_s;
        job_unload(&j);
    }
}

/* --- what is refused ---------------------------------------------------------------- */

static const struct {
    const char *set, *error;
} refused[] = {
    { "precision=bf16 quantized_parameters=true",
      "products read parameters as they are" },
    { "precision=bf16 layers_16bit={\"last\":1}", "no layer's products read fewer" },
    { "precision=fp8 layers_16bit={\"first\":1}", "delayed scaling has all layers" },
    { "precision=mxfp8 layers_16bit={\"first\":80,\"last\":1}", "81 layers are more" },
    { "optimizer=lamb optimizer_states={\"first_moment\":\"bf16\"}",
      "Adam's states alone" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        char copy[256], *save = NULL;
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "t", llama, strlen(llama));
        snprintf(copy, sizeof(copy), "%s", refused[i].set);
        for (char *t = strtok_r(copy, " ", &save); t; t = strtok_r(NULL, " ", &save)) {
            char one[300];
            snprintf(one, sizeof(one), "/training/%s", t);
            CU_ASSERT_EQUAL(cfg_set(root, one), 0);
        }
        CU_ASSERT_EQUAL(scenario_read(&s, &loader, root), -1);
        const char *error =
            loader.diags.n_errors ? diags_error_text(&loader.diags, 0) : "";
        CU_ASSERT_PTR_NOT_NULL(strstr(error, refused[i].error));
        cfg_loader_release(&loader);
    }
}

void test_recipe_register(void)
{
    CU_pSuite suite = CU_add_suite("recipe", NULL, NULL);
    CU_ADD_TEST(suite, test_machines);
    CU_ADD_TEST(suite, test_moved);
    CU_ADD_TEST(suite, test_transposed);
    CU_ADD_TEST(suite, test_mixed);
    CU_ADD_TEST(suite, test_held);
    CU_ADD_TEST(suite, test_gathered);
    CU_ADD_TEST(suite, test_states);
    CU_ADD_TEST(suite, test_steps);
    CU_ADD_TEST(suite, test_refused);
}
