/* Gemma 4: parameters of the published sizes, and what layers with other heads, without
 * keys of their own and with embeddings of their own have. */
#include "model/ops.h"
#include "model/pattern.h"
#include "op_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_gemma_register(void);

/* clang-format off */
#define REST ", 'vocab_size': 262144, 'sliding_window': 512"
#define E2B "'model_type': 'gemma4_text', 'hidden_size': 1536, 'num_hidden_layers': 35, " \
    "'num_attention_heads': 8, 'num_key_value_heads': 1, 'intermediate_size': 6144, " \
    "'num_kv_shared_layers': 20, 'use_double_wide_mlp': true, 'layer_types': [" FIVES "]" REST
#define FIVE "'sliding_attention', 'sliding_attention', 'sliding_attention', " \
    "'sliding_attention', 'full_attention'"
#define FIVES FIVE ", " FIVE ", " FIVE ", " FIVE ", " FIVE ", " FIVE ", " FIVE
#define B26 "'model_type': 'gemma4_text', 'hidden_size': 2816, 'num_hidden_layers': 30, " \
    "'num_attention_heads': 16, 'num_key_value_heads': 8, 'intermediate_size': 2112, " \
    "'num_global_key_value_heads': 2, 'attention_k_eq_v': true, " \
    "'hidden_size_per_layer_input': 0, 'enable_moe_block': true, 'num_experts': 128, " \
    "'top_k_experts': 8, 'moe_intermediate_size': 704" REST

/* The sums of the tensors' shapes that modeling_gemma4.py makes; the cards say 2.3B and
 * 5.1B with embeddings, 30.7B, 25.2B. */
static const struct {
    const char *file;
    int64_t parameters;
} published[] = {
    { "{" E2B "}", 4628569344 },
    { "{'model_type': 'gemma4_text', 'hidden_size': 2560, 'num_hidden_layers': 42, "
      "'num_attention_heads': 8, 'num_key_value_heads': 2, 'intermediate_size': 10240, "
      "'num_kv_shared_layers': 18" REST "}", 7463013376 },
    { "{'model_type': 'gemma4_text', 'hidden_size': 5376, 'num_hidden_layers': 60, "
      "'num_attention_heads': 32, 'num_key_value_heads': 16, 'intermediate_size': 21504, "
      "'num_global_key_value_heads': 4, 'attention_k_eq_v': true, "
      "'hidden_size_per_layer_input': 0" REST "}", 30697345280 },
    { "{" B26 "}", 25233141760 },
    /* Gemma 3n: E4B without towers; E2B with them */
    { "{'model_type': 'gemma3n_text'}", 6866696688 },
    { "{'model_type': 'gemma3n', 'text_config': {'model_type': 'gemma3n_text', "
      "'num_hidden_layers': 30, 'intermediate_size': 8192, 'num_kv_shared_layers': 10}, "
      "'vision_config': {}, 'audio_config': {}}",
      4435182688 + 20974080 + 294284096 + 4460544 + 681348640 + 3345408 },
    { "{'model_type': 'gemma4', 'text_config': {" E2B "}, 'vision_config': {'model_type': "
      "'gemma4_vision', 'hidden_size': 768, 'num_hidden_layers': 16, 'head_dim': 64, "
      "'num_attention_heads': 12, 'intermediate_size': 3072}, 'audio_config': {}}",
      5104297504 },
};
/* clang-format on */

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

static void test_published(void)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, published[i].file), 0);
        CU_ASSERT_EQUAL(m.parameters, published[i].parameters);
        cfg_loader_release(&loader);
    }
}

static void make(struct op_list *list, struct model *m, struct cfg_loader *loader,
                 const char *file, struct lora lora)
{
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct err err = { 0 };
    struct op_settings s = { .batch = 1,
                             .sequence = 1024,
                             .framework = &plain,
                             .attention = OP_ATTENTION_FLASH,
                             .precision = OP_BF16,
                             .lora = lora,
                             .tensor = 1 };
    CU_ASSERT_EQUAL_FATAL(read_text(m, loader, file), 0);
    struct model *kept = ARENA_NEW(&loader->arena, struct model);
    *kept = *m;
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, &loader->arena, kept, &s, &err), 0);
}

static const struct op_block *block_of(const struct op_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (strcmp(list->blocks[i].name, name) == 0)
            return &list->blocks[i];
    CU_FAIL_FATAL("no such block");
    return NULL;
}

static const struct op *op_of(const struct op_block *block, const char *name)
{
    for (int32_t i = 0; i < block->n_forward; i++)
        if (strcmp(block->forward[i].name, name) == 0)
            return &block->forward[i];
    for (int32_t i = 0; i < block->n_backward; i++)
        if (strcmp(block->backward[i].name, name) == 0)
            return &block->backward[i];
    return NULL;
}

/* Borrowing layers make no keys; others do, with their own heads and windows. */
static void test_layers(void)
{
    struct cfg_loader loader;
    struct op_list list;
    struct model m;
    make(&list, &m, &loader, "{" E2B "}", (struct lora) { 0 });
    const struct op_block *own = block_of(&list, "full_layer"),
                          *slides = block_of(&list, "sliding_layer"),
                          *borrows = block_of(&list, "borrowing_full_layer");
    CU_ASSERT_EQUAL(op_of(own, "key")->n, 512);
    CU_ASSERT_EQUAL(op_of(slides, "key")->n, 256);
    CU_ASSERT_PTR_NULL(op_of(borrows, "key"));
    CU_ASSERT_PTR_NULL(op_of(borrows, "value_wgrad"));
    CU_ASSERT_PTR_NOT_NULL(op_of(borrows, "borrowed_sum_bwd"));
    CU_ASSERT_PTR_NULL(op_of(own, "borrowed_sum_bwd"));
    CU_ASSERT_EQUAL(op_of(own, "flash")->k, 512);
    CU_ASSERT_EQUAL(op_of(own, "flash")->window, 0);
    CU_ASSERT_EQUAL(op_of(slides, "flash")->window, 512);
    CU_ASSERT_DOUBLE_EQUAL(op_of(slides, "flash")->windowed, 1, 0);
    CU_ASSERT_EQUAL(op_of(slides, "up")->n, 6144);
    CU_ASSERT_EQUAL(op_of(borrows, "up")->n, 2 * 6144);
    CU_ASSERT_EQUAL(op_of(own, "layer_gate")->n, 256);
    CU_ASSERT_EQUAL(op_of(block_of(&list, "embedding"), "layer_project")->n, 35 * 256);
    /* matrices of products, three times, with the logits'; attention apart */
    double flops = op_list_flops(&list, false);
    CU_ASSERT_DOUBLE_EQUAL(flops * 3 / model_flops_per_sample(&m, 1024, 0, true), 1,
                           1e-9);
    cfg_loader_release(&loader);
}

/* Next to experts there is an MLP, and each has norms; keys make values. */
static void test_beside(void)
{
    struct cfg_loader loader;
    struct op_list list;
    struct model m;
    make(&list, &m, &loader, "{" B26 "}", (struct lora) { 0 });
    const struct op_block *full = block_of(&list, "full_layer");
    CU_ASSERT_EQUAL(op_of(full, "shared_up")->n, 2112);
    CU_ASSERT_EQUAL(op_of(full, "up")->n, 704);
    CU_ASSERT_EQUAL(op_of(full, "key")->n, 2 * 512);
    CU_ASSERT_PTR_NULL(op_of(full, "value"));
    CU_ASSERT_PTR_NOT_NULL(op_of(full, "kv_sum_bwd"));
    CU_ASSERT_PTR_NOT_NULL(op_of(full, "experts_norm_bwd"));
    CU_ASSERT_PTR_NOT_NULL(op_of(block_of(&list, "sliding_layer"), "value"));
    CU_ASSERT_EQUAL(op_block_parameters(full), 828513408);
    double flops = op_list_flops(&list, false);
    CU_ASSERT_DOUBLE_EQUAL(flops * 3 / model_flops_per_sample(&m, 1024, 0, true), 1,
                           1e-9);
    cfg_loader_release(&loader);
}

/* Of all linear layers adapters have the ones of embeddings, too: (h + c) r each in a
 * layer, (h + 35 c) r before them. */
static void test_adapters(void)
{
    const struct lora lora = { .rank = 8, .targets = LORA_ALL_LINEAR },
                      some = { .rank = 8, .targets = LORA_QUERY };
    struct cfg_loader loader;
    struct op_list list;
    struct model m;
    make(&list, &m, &loader, "{" E2B "}", lora);
    int64_t layer =
        8 * ((1536 + 4096) + (4096 + 1536) + 3 * (1536 + 12288) + 2 * (1536 + 256));
    CU_ASSERT_EQUAL(op_block_trained(block_of(&list, "borrowing_full_layer")), layer);
    CU_ASSERT_EQUAL(op_block_trained(block_of(&list, "embedding")),
                    8 * (1536 + 35 * 256));
    cfg_loader_release(&loader);
    make(&list, &m, &loader, "{" E2B "}", some);
    CU_ASSERT_EQUAL(op_list_trained(&list),
                    8 * (28 * (1536 + 2048) + 7 * (1536 + 4096)));
    CU_ASSERT_PTR_NULL(op_of(block_of(&list, "embedding"), "layer_project_dgrad"));
    cfg_loader_release(&loader);
}

/* Gemma 3n: FLOPs by hand, four streams between layers, thresholds in the first ten. */
static void test_streams(void)
{
    static const char file[] =
        "{'model_type': 'gemma3n_text', 'hidden_size': 256, 'num_hidden_layers': 12, "
        "'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 64, "
        "'intermediate_size': 512, 'vocab_size': 1000, 'num_kv_shared_layers': 4, "
        "'vocab_size_per_layer_input': 1000, 'hidden_size_per_layer_input': 32, "
        "'laurel_rank': 16, 'altup_num_inputs': 4}";
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct cfg_loader loader;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, file), 0);
    CU_ASSERT_EQUAL(model_streams(&m), 4);
    for (int p = 0; p < OP_PRECISION_N; p++) {
        struct op_settings s = { .batch = 1,
                                 .sequence = 256,
                                 .precision = (enum op_precision)p,
                                 .attention = OP_ATTENTION_FLASH,
                                 .framework = &plain,
                                 .tensor = 1 };
        struct op_list list;
        struct err err = { 0 };
        CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &loader.arena, &m, &s, &err), 0);
        CU_ASSERT_EQUAL(op_list_parameters(&list), m.parameters);
        CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false) /
                                   (model_flops_per_sample(&m, 256, 0, true) / 3),
                               1, 1e-9);
        int64_t sparse = 0, borrowing = 0;
        for (int32_t i = 0; i < list.n_blocks; i++) {
            const struct op_block *b = &list.blocks[i];
            sparse += op_block_has(b, "gate_threshold") ? b->repeat : 0;
            borrowing +=
                op_block_is_layer(b) && !op_block_has(b, "key") ? b->repeat : 0;
        }
        CU_ASSERT_EQUAL(sparse, 10);
        CU_ASSERT_EQUAL(borrowing, 4);
    }
    cfg_loader_release(&loader);
}

/* Which layers are sparse is the file's word: a share a layer, one of all, or the first
 * ten. -1: refused. */
static int64_t sparse_layers(const char *pattern)
{
    char text[400];
    struct cfg_loader loader;
    struct model m;
    int64_t sparse = 0;
    snprintf(
        text, sizeof(text),
        "{'model_type': 'gemma3n_text', 'hidden_size': 256, 'num_hidden_layers': 12, "
        "'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 64, "
        "'intermediate_size': 512, 'vocab_size': 1000, 'num_kv_shared_layers': 4%s}",
        pattern);
    if (read_text(&m, &loader, text)) {
        cfg_loader_release(&loader);
        return -1;
    }
    for (int64_t i = 0; i < m.layers; i++)
        sparse += m.variants[m.pattern[i].variant - 1].sparse;
    cfg_loader_release(&loader);
    return sparse;
}

static void test_sparse_layers(void)
{
    CU_ASSERT_EQUAL(sparse_layers(""), 10);
    CU_ASSERT_EQUAL(sparse_layers(", 'activation_sparsity_pattern': 0.95"), 12);
    CU_ASSERT_EQUAL(sparse_layers(", 'activation_sparsity_pattern': 0"), 0);
    CU_ASSERT_EQUAL(sparse_layers(", 'activation_sparsity_pattern': "
                                  "[0.95, 0.95, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]"),
                    3);
    CU_ASSERT_EQUAL(sparse_layers(", 'activation_sparsity_pattern': [0.95, 0]"), -1);
    CU_ASSERT_EQUAL(sparse_layers(", 'activation_sparsity_pattern': [2]"), -1);
}

void test_gemma_register(void)
{
    CU_pSuite suite = CU_add_suite("gemma", NULL, NULL);
    CU_add_test(suite, "streams of Gemma 3n", test_streams);
    CU_add_test(suite, "sparse layers of Gemma 3n", test_sparse_layers);
    CU_add_test(suite, "published sizes", test_published);
    CU_add_test(suite, "layers of several sorts", test_layers);
    CU_add_test(suite, "an MLP next to experts", test_beside);
    CU_add_test(suite, "adapters", test_adapters);
}
