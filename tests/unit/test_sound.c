/* Convolutions over samples of a sound, before an encoder. Counts are
 * those of transformers' modeling files; FLOPs by hand. */
#include "op_bench.h"
#include "scenario_bench.h"

#include <math.h>
#include <string.h>

void test_sound_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

static void make_list(struct op_list *list, struct cfg_loader *loader,
                      const struct model *m, int64_t sequence,
                      enum op_precision precision)
{
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct op_settings s = { .batch = 2,
                             .sequence = sequence,
                             .precision = precision,
                             .attention = OP_ATTENTION_FLASH,
                             .framework = &plain,
                             .tensor = 1 };
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, &loader->arena, m, &s, &err), 0);
}

static const struct op *find_op(const struct op *ops, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

/* What transformers 5's classes make of their files' sizes, less the mask's vector and
 * the scales of a weight norm: hidden + 128. */
static void test_published(void)
{
    static const struct {
        const char *file;
        int64_t parameters, unread;
    } cases[] = {
        { "{'model_type': 'wav2vec2'}", 94371712, 768 + 128 },
        { "{'model_type': 'hubert'}", 94371712, 768 + 128 },
        { "{'model_type': 'unispeech-sat'}", 94371712, 768 + 128 },
        /* and its gates: 8 x (64 + 1) + 12 in each layer */
        { "{'model_type': 'wavlm'}", 94381936, 768 + 128 + 12 * (8 * 65 + 12) },
        { "{'model_type': 'wav2vec2', 'hidden_size': 1024, 'num_hidden_layers': 24, "
          "'num_attention_heads': 16, 'intermediate_size': 4096, 'conv_bias': true, "
          "'feat_extract_norm': 'layer', 'do_stable_layer_norm': true}",
          315438720, 1024 + 128 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        CU_ASSERT_EQUAL(model_parameters(&m), cases[i].parameters - cases[i].unread);
        cfg_loader_release(&loader);
    }
}

/* Two convolutions, of 4 samples every 2 and of 3 rows every 3, and positions over 8
 * tokens in 2 groups. */
#define SOUND                                                                      \
    "{'model_type': 'wav2vec2', 'hidden_size': 64, 'num_hidden_layers': 2, "       \
    "'num_attention_heads': 4, 'intermediate_size': 128, 'conv_dim': [32, 16], "   \
    "'conv_kernel': [4, 3], 'conv_stride': [2, 3], 'num_conv_pos_embeddings': 8, " \
    "'num_conv_pos_embedding_groups': 2"

static void test_convolutions(void)
{
    const double s = 50, rows = 2 * s; /* of two sequences */
    struct cfg_loader loader;
    struct op_list list;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SOUND "}"), 0);
    CU_ASSERT_EQUAL(model_sound_samples(&m), 6);
    make_list(&list, &loader, &m, 50, OP_BF16);
    const struct op_block *b = &list.blocks[0];
    const struct op *first = find_op(b->forward, b->n_forward, "conv1"),
                    *second = find_op(b->forward, b->n_forward, "conv2"),
                    *places = find_op(b->forward, b->n_forward, "position_conv");
    CU_ASSERT_DOUBLE_EQUAL(first->flops, 2 * (3 * rows) * 4 * 32, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(second->flops, 2 * rows * (3 * 32) * 16, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(places->flops, 2 * rows * 8 * 64 * 64 / 2, 1e-6);
    /* each number of what is read once, and weights, in 16 bits */
    CU_ASSERT_DOUBLE_EQUAL(first->read_B, 2 * (6 * rows + 4 * 32), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(second->read_B, 2 * (3 * rows * 32 + 3 * 32 * 16), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(places->read_B, 2 * (rows * 64 + 8 * 64 * 64 / 2), 1e-6);
    /* nothing is below the first */
    CU_ASSERT_PTR_NULL(find_op(b->backward, b->n_backward, "conv1_dgrad"));
    CU_ASSERT_PTR_NOT_NULL(find_op(b->backward, b->n_backward, "conv2_dgrad"));
    /* the first alone is normed, unless the file says "layer" */
    CU_ASSERT_PTR_NOT_NULL(find_op(b->forward, b->n_forward, "norm1"));
    CU_ASSERT_PTR_NULL(find_op(b->forward, b->n_forward, "norm2"));
    CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&list, false) / 2 /
                               (model_flops_per_sample(&m, 50, 0, true) / 3),
                           1, 1e-9);
    cfg_loader_release(&loader);
}

/* Every precision, place of norms and kind of head has a list whose tensors find their
 * users (asserted where it is made). */
static void test_kinds(void)
{
    static const char *const files[] = {
        SOUND "}",
        SOUND ", 'do_stable_layer_norm': true, 'feat_extract_norm': 'layer', "
              "'conv_bias': true, 'hidden_dropout': 0}",
        SOUND ", 'architectures': ['Wav2Vec2ForSequenceClassification']}",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        for (int p = 0; p < OP_PRECISION_N; p++) {
            struct cfg_loader loader;
            struct op_list list;
            struct model m;
            CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, files[i]), 0);
            make_list(&list, &loader, &m, 50, (enum op_precision)p);
            CU_ASSERT(op_list_parameters(&list) > model_parameters(&m));
            cfg_loader_release(&loader);
        }
}

static void test_refused(void)
{
    static const struct {
        const char *file, *says;
    } cases[] = {
        { SOUND ", 'add_adapter': true}", "add_adapter" },
        { SOUND ", 'conv_pos_batch_norm': true}", "conv_pos_batch_norm" },
        { "{'model_type': 'hubert', 'conv_dim': [512, 512]}", "conv_kernel" },
        { "{'model_type': 'hubert', 'num_conv_pos_embedding_groups': 7}", "groups" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].file), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), cases[i].says));
        cfg_loader_release(&loader);
    }
}

/* A scenario has no more frames and words than the model reads and writes. */
static void test_lengths(void)
{
#define JOB(lengths)                                                                \
    "{ 'model': 'openai/whisper-small', 'cluster': { 'instance': 'p4d.24xlarge' }," \
    "  'training': { 'micro_batch_size': 1, " lengths " } }"
    bench_refused(JOB("'sequence_length': 1501"), "1501 frames are more than the 1500");
    bench_refused(JOB("'sequence_length': 1500"), "writes up to 448 tokens");
    bench_refused(JOB("'sequence_length': 1500, 'decoder_length': 449"),
                  "writes up to 448 tokens");
#undef JOB
}

void test_sound_register(void)
{
    CU_pSuite suite = CU_add_suite("sound", NULL, NULL);
    CU_add_test(suite, "published counts", test_published);
    CU_add_test(suite, "convolutions over a sound", test_convolutions);
    CU_add_test(suite, "sounds of every precision and head", test_kinds);
    CU_add_test(suite, "sounds that are refused", test_refused);
    CU_add_test(suite, "lengths of a scenario", test_lengths);
}
