/* Operator lists against the byte and FLOP tables they were made from (MODEL.md,
 * "Operator lists"): A = tokens x hidden, S = heads x s x s x batch, W = hidden^2. */
#include "model/ops.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_ops_register(void);

enum { H = 1024, HEADS = 16, BATCH = 4, SEQ = 128 };

static const struct framework eager = { .name = "eager",
                                        .fused_norm = true,
                                        .logit_bytes = 24 };
static const struct framework old_eager = {
    .name = "old", .fused_norm = true, .keeps_softmax_input = true, .logit_bytes = 24
};
static const struct framework fused = { .name = "fused",
                                        .fused_norm = true,
                                        .fused_qkv = true,
                                        .fused_softmax = true,
                                        .fused_bias_gelu = true,
                                        .fused_dropout_add = true,
                                        .logit_bytes = 24 };

static const struct model bert = {
    .arch = MODEL_ENCODER,
    .head = MODEL_HEAD_MASKED_LM,
    .layers = 24,
    .hidden = H,
    .heads = HEADS,
    .kv_heads = HEADS,
    .head_dim = H / HEADS,
    .ffn = 4 * H,
    .q_width = H,
    .kv_width = H,
    .vocab = 30522,
    .positions = 512,
    .type_vocab = 2,
    .post_norm = true,
    .tied_embeddings = true,
    .qkv_bias = true,
    .out_bias = true,
    .mlp_bias = true,
    .embedding_norm = true,
    .pooler = true,
    .attention_dropout = true,
    .hidden_dropout = true,
};

static struct model gpt(void)
{
    struct model m = bert;
    m.arch = MODEL_DECODER;
    m.head = MODEL_HEAD_CAUSAL_LM;
    m.vocab = 51200;
    m.positions = 2048;
    m.type_vocab = 0;
    m.post_norm = m.embedding_norm = m.pooler = false;
    m.final_norm = true;
    return m;
}

static struct op_settings settings(enum op_precision p, const struct framework *fw)
{
    return (struct op_settings) {
        .batch = BATCH, .sequence = SEQ, .precision = p, .framework = fw, .tensor = 1
    };
}

static struct op_list make(struct arena *a, const struct model *m, struct op_settings s)
{
    struct op_list list = { 0 };
    struct err err = { 0 };
    CU_ASSERT_EQUAL(op_list_make(&list, a, m, &s, &err), 0);
    CU_ASSERT_STRING_EQUAL(err.text, "");
    return list;
}

struct sums {
    double flops, read_B, write_B;
};

static struct sums sum(const struct op *ops, int32_t n)
{
    struct sums t = { 0 };
    for (int32_t i = 0; i < n; i++) {
        t.flops += ops[i].flops;
        t.read_B += ops[i].read_B;
        t.write_B += ops[i].write_B;
    }
    return t;
}

/* Coefficients of A, S and W. */
struct abc {
    double a, s, w;
};

static double value(struct abc c)
{
    double tokens = (double)BATCH * SEQ;
    return c.a * tokens * H + c.s * (double)HEADS * SEQ * SEQ * BATCH +
           c.w * (double)H * H;
}

struct table {
    const char *name;
    enum op_precision precision;
    const struct framework *framework;
    bool gpt;
    struct abc f_read, f_write, b_read, b_write, kept;
};

static const struct table tables[] = {
    { "T1",
      OP_FP16,
      &old_eager,
      false,
      { 56, 10, 24 },
      { 50, 11, 0 },
      { 144, 15, 24 },
      { 56, 8, 24 },
      { 34, 7, 0 } },
    { "T1 torch > 1.10",
      OP_BF16,
      &eager,
      false,
      { 56, 10, 24 },
      { 50, 11, 0 },
      { 144, 15, 24 },
      { 56, 8, 24 },
      { 34, 5, 0 } },
    { "T1 fp32",
      OP_FP32,
      &old_eager,
      false,
      { 112, 20, 48 },
      { 98, 21, 0 },
      { 286, 29, 48 },
      { 112, 16, 48 },
      { 66, 13, 0 } },
    { "T1 tf32",
      OP_TF32,
      &eager,
      false,
      { 112, 20, 48 },
      { 98, 21, 0 },
      { 286, 29, 48 },
      { 112, 16, 48 },
      { 66, 9, 0 } },
    { "T2",
      OP_AMP_FP16,
      &old_eager,
      false,
      { 80, 18, 72 },
      { 66, 19, 24 },
      { 192, 27, 48 },
      { 88, 18, 72 },
      { 42, 11, 0 } },
    { "T2 torch > 1.10",
      OP_AMP_BF16,
      &eager,
      false,
      { 80, 18, 72 },
      { 66, 19, 24 },
      { 192, 27, 48 },
      { 88, 18, 72 },
      { 42, 7, 0 } },
    { "T3",
      OP_FP16,
      &fused,
      true,
      { 42, 6, 24 },
      { 40, 7, 0 },
      { 128, 13, 24 },
      { 48, 6, 24 },
      { 34, 5, 0 } },
};

static void check_table(const struct table *t)
{
    struct arena a;
    arena_init(&a);
    struct model m = t->gpt ? gpt() : bert;
    struct op_list list = make(&a, &m, settings(t->precision, t->framework));
    const struct op_block *layer = &list.blocks[1];
    struct sums f = sum(layer->forward, layer->n_forward);
    struct sums b = sum(layer->backward, layer->n_backward);
    double tokens = (double)BATCH * SEQ;
    double flops = 24 * tokens * H * H + 4.0 * SEQ * tokens * H;
    CU_ASSERT_EQUAL(f.flops, flops);
    CU_ASSERT_EQUAL(b.flops, 2 * flops);
    CU_ASSERT_EQUAL(f.read_B, value(t->f_read));
    CU_ASSERT_EQUAL(f.write_B, value(t->f_write));
    CU_ASSERT_EQUAL(b.read_B, value(t->b_read));
    CU_ASSERT_EQUAL(b.write_B, value(t->b_write));
    CU_ASSERT_EQUAL((double)op_block_kept_B(layer), value(t->kept));
    arena_release(&a);
}

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        check_table(&tables[i]);
}

void test_ops_register(void)
{
    CU_pSuite suite = CU_add_suite("ops", NULL, NULL);
    CU_add_test(suite, "tables of bytes and FLOPs", test_tables);
}
