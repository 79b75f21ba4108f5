/* Models that read pictures: parameters by part, FLOPs of their towers against published
 * counts, and what is refused. Whole counts of ids are test_hub's. */
#include "model/model.h"
#include "op_bench.h"
#include "scenario/scenario.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_vision_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

/* What a file says of patches, MLPs and heads acts; counts as transformers 5 makes them,
 * less a mask token and scales of layers. */
static void test_words(void)
{
#define SMALL "'hidden_size': 384, 'num_hidden_layers': 12, 'num_attention_heads': 6"
    static const struct {
        const char *file;
        int64_t parameters;
    } cases[] = {
        /* two thirds of the columns in a gated MLP, whose matrices are three */
        { "{'model_type': 'dinov2', " SMALL ", 'mlp_ratio': 4, 'patch_size': 14, "
          "'image_size': 224}",
          21619584 },
        { "{'model_type': 'dinov2', " SMALL ", 'mlp_ratio': 4, 'patch_size': 14, "
          "'image_size': 224, 'use_swiglu_ffn': true}",
          21619584 + 12 * (2 * 1024 - 1536) },
        { "{'model_type': 'dinov2', " SMALL ", 'patch_size': 14, 'image_size': 224, "
          "'num_channels': 6}",
          21619584 + 3 * 14 * 14 * 384 },
        { "{'model_type': 'dinov2', " SMALL ", 'patch_size': 14, 'image_size': 224, "
          "'num_register_tokens': 4}",
          21619584 + 4 * 384 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        int64_t n = model_parameters(&m);
        if (n != cases[i].parameters)
            printf("words %zu: %lld\n", i, (long long)n);
        CU_ASSERT_EQUAL(n, cases[i].parameters);
        cfg_loader_release(&loader);
    }
}

/* A head is tied where the file or its language model's part says so; a contradiction of
 * the two is one warning more. */
static void test_tied(void)
{
    static const struct {
        const char *whole, *part;
        bool tied;
        int64_t warnings;
    } cases[] = {
        { "false", "false", false, 0 },
        { "true", "true", true, 0 },
        { "true", "false", true, 1 },
        { "false", "true", true, 1 },
    };
    int64_t usual = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        char text[512];
        snprintf(text, sizeof(text),
                 "{'model_type': 'llava', 'tie_word_embeddings': %s, 'text_config': "
                 "{'model_type': 'llama', 'tie_word_embeddings': %s}, 'vision_config': "
                 "{'model_type': 'clip_vision_model'}}",
                 cases[i].whole, cases[i].part);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
        usual = i == 0 ? loader.diags.n_warnings : usual;
        CU_ASSERT_EQUAL(m.ends.tied, cases[i].tied);
        CU_ASSERT_EQUAL(loader.diags.n_warnings - usual, cases[i].warnings);
        cfg_loader_release(&loader);
    }
}

/* Multiply-adds of a picture as torchvision counts them ("GFLOPS" of its table of
 * models, docs/source/models.rst, vit_b_16 and its like; its MLP has one layer more for
 * the classes), and parameters of the encoder without its head. */
static void test_vit(void)
{
    static const struct {
        const char *sizes;
        int64_t patch, tokens;
        double giga, parameters;
    } cases[] = {
        { "'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12,"
          " 'intermediate_size': 3072",
          16, 197, 17.56, 85798656 },
        { "'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12,"
          " 'intermediate_size': 3072",
          32, 50, 4.41, 87455232 },
        { "'hidden_size': 1024, 'num_hidden_layers': 24, 'num_attention_heads': 16,"
          " 'intermediate_size': 4096",
          16, 197, 61.55, 303301632 },
        { "'hidden_size': 1024, 'num_hidden_layers': 24, 'num_attention_heads': 16,"
          " 'intermediate_size': 4096",
          32, 50, 15.38, 305510400 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        char text[300];
        snprintf(text, sizeof(text), "{'model_type': 'vit', %s, 'patch_size': %d}",
                 cases[i].sizes, (int)cases[i].patch);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
        double giga = model_flops_per_sample(&m, cases[i].tokens, 0, true) / 6e9;
        if (fabs(giga / cases[i].giga - 1) > 0.01)
            printf("vit %zu: %.4g\n", i, giga);
        CU_ASSERT_DOUBLE_EQUAL(giga / cases[i].giga, 1, 0.01);
        CU_ASSERT_DOUBLE_EQUAL((double)model_parameters(&m), cases[i].parameters, 0);
        cfg_loader_release(&loader);
    }
}

#define TEXT_PART                                                \
    "'text_config': {'model_type': 'llama', 'hidden_size': 256," \
    " 'num_hidden_layers': 2, 'num_attention_heads': 4,"         \
    " 'intermediate_size': 512, 'vocab_size': 1000}"
#define VISION_PART                                                          \
    "'vision_config': {'hidden_size': 64, 'num_hidden_layers': 3,"           \
    " 'num_attention_heads': 2, 'intermediate_size': 128, 'image_size': 56," \
    " 'patch_size': 14}"

/* Columns that a projector reads: of several layers of the tower, and of the patches
 * that become one token. */
static void test_projector(void)
{
    static const struct {
        const char *file;
        int64_t in, norm, tokens;
        bool bias;
    } cases[] = {
        { "'llava'", 64, 0, 16, true },
        { "'llava', 'vision_feature_layer': [-2, 1, 2]", 192, 0, 16, true },
        { "'llava', 'multimodal_projector_bias': false", 64, 0, 16, false },
        { "'vipllava'", 320, 320, 16, true },
        { "'vipllava', 'vision_feature_layers': [-2, 1]", 128, 128, 16, true },
        { "'internvl', 'downsample_ratio': 0.5", 256, 256, 4, true },
        { "'internvl', 'downsample_ratio': 0.25", 1024, 1024, 1, true },
        { "'internvl', 'downsample_ratio': 1.0", 64, 64, 16, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        char text[768];
        snprintf(text, sizeof(text),
                 "{'model_type': %s, " TEXT_PART ", " VISION_PART "}", cases[i].file);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
        CU_ASSERT_EQUAL(m.tower->widths[0], cases[i].in);
        CU_ASSERT_EQUAL(m.tower->norm, cases[i].norm);
        CU_ASSERT_EQUAL(m.tower->tokens, cases[i].tokens);
        CU_ASSERT_EQUAL(m.tower->bias, cases[i].bias);
        cfg_loader_release(&loader);
    }
}

/* Llama 3.2 Vision: a picture's tiles are no tokens of the sequence; each layer of
 * cross-attention reads them, and without pictures is held, not run and not trained. */
static void test_crossed(void)
{
    static const char file[] =
        "{'model_type': 'mllama', 'images_per_sequence': %d, 'text_config': {"
        "'hidden_size': 256, 'num_hidden_layers': 4, 'num_attention_heads': 4,"
        " 'num_key_value_heads': 2, 'intermediate_size': 512, 'vocab_size': 1000,"
        " 'cross_attention_layers': [1, 3]}, 'vision_config': {'hidden_size': 64,"
        " 'num_hidden_layers': 3, 'num_global_layers': 1, 'attention_heads': 2,"
        " 'intermediate_size': 128, 'vision_output_dim': 128, 'image_size': 56}}";
    enum { W = 256, KV = 128, TOKENS = 4 * 17, TILES = 4 * 24 };
    enum { SELF = 2 * W * W + 2 * W * KV + 3 * W * 512 };
    double flops[2];
    for (int n = 0; n < 2; n++) {
        struct cfg_loader loader;
        struct model m;
        char text[sizeof(file) + 16];
        snprintf(text, sizeof(text), file, n);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
        CU_ASSERT_EQUAL(m.tower->patches, TILES);
        CU_ASSERT_EQUAL(model_crossed_tokens(&m), n * TOKENS);
        CU_ASSERT_EQUAL(model_picture_tokens(&m), 0);
        /* words, head, layers with norms, and norms of queries and keys of two */
        int64_t words = 2 * 1000 * W + W + 4 * (SELF + 2 * W) + 2 * 2 * 64;
        struct model plain = m;
        plain.tower = NULL;
        CU_ASSERT_EQUAL(model_parameters(&plain), words);
        flops[n] = model_flops_per_sample(&m, 512, 0, true);
        cfg_loader_release(&loader);
    }
    double of_two = 6.0 * 512 * (2 * SELF + 4 * W * 256 + 1000 * W);
    double crossed = 6.0 * 2 *
                     (512.0 * (2 * W * W + 3 * W * 512) + 2.0 * TOKENS * W * KV +
                      2.0 * 512 * TOKENS * W);
    CU_ASSERT_DOUBLE_EQUAL(flops[0] / of_two, 1, 1e-6);
    CU_ASSERT(flops[1] > of_two + crossed);
}

/* Two pictures a sequence have twice the tower's FLOPs; the list has them as well, in
 * twice the tokens of each block of the tower. */
static void test_pictures(void)
{
    struct cfg_loader one, two;
    struct model a, b;
    CU_ASSERT_EQUAL_FATAL(
        read_text(&a, &one, "{'model_type': 'llava', " TEXT_PART ", " VISION_PART "}"),
        0);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&b, &two,
                  "{'model_type': 'llava', 'images_per_sequence': 2, " TEXT_PART
                  ", " VISION_PART "}"),
        0);
    CU_ASSERT_EQUAL(one.diags.n_warnings, 1);
    CU_ASSERT_EQUAL(model_parameters(&a), model_parameters(&b));
    CU_ASSERT_EQUAL(a.tower->patches, 17);
    CU_ASSERT_EQUAL(a.tower->tokens, 16);
    struct model words = a;
    words.tower = NULL;
    double none = model_flops_per_sample(&words, 512, 0, true);
    struct cfg_loader idle;
    struct model c;
    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &idle,
                  "{'model_type': 'llava', 'images_per_sequence': 0, " TEXT_PART
                  ", " VISION_PART "}"),
        0);
    CU_ASSERT_EQUAL(idle.diags.n_warnings, 0);
    CU_ASSERT_EQUAL(model_parameters(&c), model_parameters(&a));
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&c, 512, 0, true), none, 1);
    cfg_loader_release(&idle);
    double first = model_flops_per_sample(&a, 512, 0, true) - none;
    double both = model_flops_per_sample(&b, 512, 0, true) - none;
    /* by hand: patches, three layers, and a projector of 64 x 256 and 256 x 256 */
    double layer = 17 * (4 * 64 * 64 + 2 * 64 * 128) + 2 * 17 * 17 * 64;
    double macs = 17 * 588 * 64 + 3 * layer + 16 * (64 * 256 + 256 * 256);
    CU_ASSERT_DOUBLE_EQUAL(first, 6 * macs, 1);
    CU_ASSERT_DOUBLE_EQUAL(both, 2 * first, 1);
    cfg_loader_release(&one);
    cfg_loader_release(&two);
}

/* Qwen3-VL has positions for 48 x 48 patches, which it interpolates over larger
 * pictures. */
static void test_interpolated(void)
{
    struct cfg_loader loader;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(
        read_text(
            &m, &loader,
            "{'model_type': 'qwen3_vl', " TEXT_PART
            ", 'vision_config': {'depth': 2, 'hidden_size': 64, 'num_heads': 2, "
            "'intermediate_size': 128, 'patch_size': 16, 'spatial_merge_size': 2, "
            "'temporal_patch_size': 2, 'out_hidden_size': 256, "
            "'num_position_embeddings': 2304}}"),
        0);
    CU_ASSERT_EQUAL(m.tower->patches, 4096);
    CU_ASSERT_EQUAL(m.tower->model.ends.positions, 2304);
    cfg_loader_release(&loader);
}

/* 262144 pixels are 16 x 16 tokens of 32 pixels at most; the file's own size is smaller. */
static void test_pixels(void)
{
    static const char *const files[] = {
        "{'model_type': 'qwen3_vl', 'max_pixels': 270000, " TEXT_PART
        ", 'vision_config': {'depth': 2, 'hidden_size': 64, 'num_heads': 2, "
        "'intermediate_size': 128, 'patch_size': 16, 'spatial_merge_size': 2, "
        "'temporal_patch_size': 2, 'out_hidden_size': 256, "
        "'num_position_embeddings': 2304}}",
        "{'model_type': 'qwen3_vl', 'max_pixels': 270000, " TEXT_PART
        ", 'vision_config': {'depth': 2, 'hidden_size': 64, 'num_heads': 2, "
        "'intermediate_size': 128, 'patch_size': 16, 'spatial_merge_size': 2, "
        "'temporal_patch_size': 2, 'out_hidden_size': 256, 'image_size': 256, "
        "'num_position_embeddings': 2304}}",
    };
    static const int64_t tokens[] = { 256, 64 };
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, files[i]), 0);
        CU_ASSERT_EQUAL(m.tower->tokens, tokens[i]);
        CU_ASSERT_EQUAL(m.tower->patches, 4 * tokens[i]);
        cfg_loader_release(&loader);
    }
}

#define STACKED_PART                                                        \
    "'vision_config': {'depth': 4, 'hidden_size': 64, 'num_heads': 2,"      \
    " 'intermediate_size': 128, 'patch_size': 14, 'spatial_merge_size': 2," \
    " 'temporal_patch_size': 1, 'image_size': 56,"                          \
    " 'num_position_embeddings': 16, 'deepstack_visual_indexes': [1, 2, 3]}"

/* Three projectors of inner layers: each a norm of the four merged columns and products
 * of 256 x 256 and 256 x 256 with biases, over as many tokens as the last one's. */
static void test_inner_projectors(void)
{
    struct cfg_loader one, two;
    struct model plain, stacked;
    CU_ASSERT_EQUAL_FATAL(read_text(&stacked, &one,
                                    "{'model_type': 'qwen3_vl', " TEXT_PART
                                    ", " STACKED_PART "}"),
                          0);
    CU_ASSERT_EQUAL(stacked.tower->inner, 3);
    plain = stacked;
    struct model_tower tower = *stacked.tower;
    tower.inner = 0;
    plain.tower = &tower;
    int64_t each = 2 * 256 + 256 * 257 + 256 * 257;
    CU_ASSERT_EQUAL(model_parameters(&stacked) - model_parameters(&plain), 3 * each);
    double more = model_flops_per_sample(&stacked, 512, 0, true) -
                  model_flops_per_sample(&plain, 512, 0, true);
    CU_ASSERT_DOUBLE_EQUAL(more, 6.0 * 3 * 4 * 2 * 256 * 256, 1);
    CU_ASSERT_EQUAL(
        read_text(&plain, &two,
                  "{'model_type': 'qwen3_vl', " TEXT_PART
                  ", 'vision_config': {'depth': 2, 'hidden_size': 64, 'num_heads': 2, "
                  "'intermediate_size': 128, 'deepstack_visual_indexes': [1,2,3,4,5,6,"
                  "7,8,9,10,11,12,13,14,15,16,17]}}"),
        -1);
    cfg_loader_release(&one);
    cfg_loader_release(&two);
}

static void list_is(const char *text, int32_t blocks, int64_t patches, int64_t tokens)
{
    struct cfg_loader loader;
    struct model m;
    struct arena arena;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, text), 0);
    arena_init(&arena);
    for (int p = 0; p < OP_PRECISION_N; p++)
        for (int flash = 0; flash < 2; flash++) {
            struct op_list list;
            struct err err = { 0 };
            struct op_settings s = { .batch = 2,
                                     .sequence = 128,
                                     .precision = (enum op_precision)p,
                                     .attention = flash ? OP_ATTENTION_FLASH
                                                        : OP_ATTENTION_UNFUSED,
                                     .framework = &op_eager,
                                     .tensor = 1 };
            double flops = 0;
            CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &arena, &m, &s, &err), 0);
            CU_ASSERT_EQUAL(list.n_blocks, blocks);
            CU_ASSERT_EQUAL(op_list_parameters(&list), model_parameters(&m));
            CU_ASSERT_EQUAL(list.blocks[2].tokens, 2 * patches);
            CU_ASSERT_EQUAL(list.blocks[blocks - 3].tokens, 2 * tokens);
            for (int32_t i = 0; i < list.n_blocks; i++)
                for (int32_t j = 0; j < list.blocks[i].n_forward; j++)
                    flops +=
                        (double)list.blocks[i].repeat * list.blocks[i].forward[j].flops;
            double want = 2 * model_flops_per_sample(&m, 128, 0, flash) / 3;
            CU_ASSERT_DOUBLE_EQUAL(flops / want, 1, 1e-9);
        }
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* The operators' FLOPs are the model's, forward: all precisions and both attentions. */
static void test_list(void)
{
    list_is("{'model_type': 'llava', " TEXT_PART ", " VISION_PART "}", 7, 17, 16);
    list_is("{'model_type': 'qwen3_vl', " TEXT_PART ", " STACKED_PART "}", 9, 16, 4);
}

/* Of a tower and its projector that are not trained: parameters, operators and what is
 * kept. */
static void test_frozen(void)
{
    static const struct {
        uint32_t frozen;
        bool vision, projector, words; /* trained */
    } cases[] = {
        { 0, true, true, true },
        { LORA_FREEZES_VISION, false, true, true },
        { LORA_FREEZES_PROJECTOR, true, false, true },
        { LORA_FREEZES_VISION | LORA_FREEZES_PROJECTOR, false, false, true },
        { LORA_FREEZES_VISION | LORA_FREEZES_LANGUAGE, false, true, false },
        { LORA_FREEZES_LANGUAGE, true, true, false },
    };
    struct cfg_loader loader;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader,
                                    "{'model_type': 'llava', " TEXT_PART
                                    ", " VISION_PART "}"),
                          0);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct op_list list;
        struct arena arena;
        struct err err = { 0 };
        struct op_settings s = { .batch = 2,
                                 .sequence = 128,
                                 .precision = OP_AMP_BF16,
                                 .attention = OP_ATTENTION_FLASH,
                                 .framework = &op_eager,
                                 .tensor = 1,
                                 .lora.frozen = cases[c].frozen };
        int64_t wanted = 0;
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(op_list_make(&list, &arena, &m, &s, &err), 0);
        for (int32_t i = 0; i < list.n_blocks; i++) {
            const struct op_block *b = &list.blocks[i];
            bool tower = strncmp(b->name, "vision", 6) == 0,
                 projector = strcmp(b->name, "projector") == 0,
                 trained = tower       ? cases[c].vision
                           : projector ? cases[c].projector
                                       : cases[c].words,
                 embedding = i == 0,
                 below = tower ? cases[c].vision
                               : !projector || cases[c].projector || cases[c].vision;
            int32_t kept = 0, wgrads = 0;
            for (int32_t j = 0; j < b->n_params; j++) {
                CU_ASSERT_EQUAL(b->params[j].frozen, !trained);
                wanted += trained ? b->repeat * b->params[j].elements : 0;
            }
            for (int32_t j = 0; j < b->n_forward; j++)
                for (int32_t k = 0; k < b->forward[j].n_outs; k++)
                    kept += b->forward[j].outs[k].kept_until >= 0;
            for (int32_t j = 0; j < b->n_backward; j++)
                wgrads += strstr(b->backward[j].name, "_wgrad") != NULL;
            if (!embedding || trained)
                CU_ASSERT_EQUAL(b->n_backward > 0, below);
            CU_ASSERT(trained || wgrads == 0);
            CU_ASSERT(below || kept == 0);
            if (tower || projector)
                CU_ASSERT_EQUAL(wgrads > 0, trained && strcmp(b->name, "vision_norm"));
        }
        CU_ASSERT_EQUAL(op_list_trained(&list), wanted);
        CU_ASSERT_EQUAL(op_list_parameters(&list), model_parameters(&m));
        arena_release(&arena);
    }
    cfg_loader_release(&loader);
}

/* Parameters of the tower and of the projector in a list over a tensor group; -1: none. */
static int64_t tower_over(const struct model *m, int64_t tensor, struct err *err)
{
    struct op_list list;
    struct arena arena;
    struct op_settings s = { .batch = 1,
                             .sequence = 128,
                             .precision = OP_BF16,
                             .attention = OP_ATTENTION_FLASH,
                             .framework = &op_eager,
                             .tensor = tensor };
    int64_t n = 0;
    arena_init(&arena);
    if (op_list_make(&list, &arena, m, &s, err) < 0)
        n = -1;
    for (int32_t i = 0; n >= 0 && i < list.n_blocks; i++) {
        const struct op_block *b = &list.blocks[i];
        bool tower =
            strncmp(b->name, "vision", 6) == 0 || !strcmp(b->name, "projector");
        n += tower ? b->repeat * op_block_parameters(b) : 0;
    }
    arena_release(&arena);
    return n;
}

/* Without pictures the tower is whole on each GPU of a tensor group; with some it is
 * refused. */
static void test_idle_over_groups(void)
{
    struct cfg_loader one, two;
    struct model idle, sees;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(
        read_text(&idle, &one,
                  "{'model_type': 'llava', 'images_per_sequence': 0, " TEXT_PART
                  ", " VISION_PART "}"),
        0);
    CU_ASSERT_EQUAL_FATAL(read_text(&sees, &two,
                                    "{'model_type': 'llava', " TEXT_PART
                                    ", " VISION_PART "}"),
                          0);
    CU_ASSERT(tower_over(&idle, 1, &err) > 0);
    CU_ASSERT_EQUAL(tower_over(&idle, 2, &err), tower_over(&idle, 1, &err));
    CU_ASSERT_EQUAL(tower_over(&idle, 1, &err), tower_over(&sees, 1, &err));
    CU_ASSERT_EQUAL(tower_over(&sees, 2, &err), -1);
    CU_ASSERT_TRUE(model_is_whole(&idle) && !model_is_undivided(&idle));
    cfg_loader_release(&one);
    cfg_loader_release(&two);
}

static void test_refused(void)
{
    static const struct {
        const char *file, *part;
    } cases[] = {
        { "{'model_type': 'clip', 'text_config': {}}", "\"vision_config\" is missing" },
        { "{'model_type': 'llama4', " TEXT_PART
          ", 'vision_config': {'pixel_shuffle_ratio': 0.4}}",
          "one over a whole number" },
        { "{'model_type': 'qwen2_5_omni', " TEXT_PART "}",
          "\"thinker_config\" is missing" },
        { "{'model_type': 'llava', 'text_config': {'model_type': "
          "'zamba2'}, " VISION_PART "}",
          "a part of family \"zamba2\"" },
        { "{'model_type': 'llava', " TEXT_PART
          ", 'vision_config': {'model_type': 'llama', 'hidden_size': 64,"
          " 'num_hidden_layers': 2, 'num_attention_heads': 2,"
          " 'intermediate_size': 128, 'vocab_size': 10}}",
          "reads no pictures" },
        { "{'model_type': 'internvl', " TEXT_PART
          ", 'vision_config': {'image_size': 14, 'patch_size': 14}}",
          "smaller than a token" },
        { "{'model_type': 'mllama', 'text_config': {'num_hidden_layers': 10,"
          " 'cross_attention_layers': [3, 10]}, 'vision_config': {}}",
          "cross-attention layers that are none" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        const char *said = diags_error_text(&loader.diags, 0);
        if (!strstr(said, cases[i].part))
            printf("%s\n", said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].part));
        cfg_loader_release(&loader);
    }
}

void test_vision_register(void)
{
    CU_pSuite s = CU_add_suite("vision", NULL, NULL);
    CU_add_test(s, "heads tied by either part", test_tied);
    CU_add_test(s, "words of patches and heads act", test_words);
    CU_add_test(s, "positions that are interpolated", test_interpolated);
    CU_add_test(s, "pixels that a processor bounds", test_pixels);
    CU_add_test(s, "vit", test_vit);
    CU_add_test(s, "projector", test_projector);
    CU_add_test(s, "pictures", test_pictures);
    CU_add_test(s, "idle towers over groups", test_idle_over_groups);
    CU_add_test(s, "layers of cross-attention", test_crossed);
    CU_add_test(s, "projectors of inner layers", test_inner_projectors);
    CU_add_test(s, "list", test_list);
    CU_add_test(s, "frozen towers", test_frozen);
    CU_add_test(s, "refused", test_refused);
}
