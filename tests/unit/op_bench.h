/* Models, frameworks and settings of small operator lists, and sums over their
 * operators: what tests of lists stand on. */
#ifndef TESTS_OP_BENCH_H
#define TESTS_OP_BENCH_H

#include "model/ops.h"

#include <CUnit/CUnit.h>

enum { H = 1024, HEADS = 16, BATCH = 4, SEQ = 128 };

static const struct framework op_eager = {
    .name = "eager", .fused_bias = true, .fused_norm = true, .logit_bytes = 24
};
static const struct framework op_old_eager = { .name = "old",
                                               .fused_bias = true,
                                               .fused_norm = true,
                                               .keeps_softmax_input = true,
                                               .logit_bytes = 24 };
static const struct framework op_fused = { .name = "fused",
                                           .fused_norm = true,
                                           .fused_qkv = true,
                                           .fused_softmax = true,
                                           .fused_bias = true,
                                           .fused_dropout_add = true,
                                           .logit_bytes = 24 };

static const struct model op_bert = {
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

static inline struct model op_gpt(void)
{
    struct model m = op_bert;
    m.arch = MODEL_DECODER;
    m.head = MODEL_HEAD_CAUSAL_LM;
    m.vocab = 51200;
    m.positions = 2048;
    m.type_vocab = 0;
    m.post_norm = m.embedding_norm = m.pooler = false;
    m.final_norm = true;
    return m;
}

static inline struct model op_llama(int64_t kv_heads, int64_t ffn)
{
    struct model m = op_gpt();
    m.kv_heads = kv_heads;
    m.kv_width = kv_heads * m.head_dim;
    m.ffn = ffn;
    m.positions = 0;
    m.rms_norm = m.gated_mlp = m.rotary = true;
    m.tied_embeddings = m.qkv_bias = m.out_bias = m.mlp_bias = false;
    m.attention_dropout = m.hidden_dropout = false;
    return m;
}

static inline struct op_settings op_settings_of(enum op_precision p,
                                                const struct framework *fw)
{
    return (struct op_settings) {
        .batch = BATCH, .sequence = SEQ, .precision = p, .framework = fw, .tensor = 1
    };
}

static inline struct op_list op_make(struct arena *a, const struct model *m,
                                     struct op_settings s)
{
    struct op_list list = { 0 };
    struct err err = { 0 };
    CU_ASSERT_EQUAL(op_list_make(&list, a, m, &s, &err), 0);
    CU_ASSERT_STRING_EQUAL(err.text, "");
    return list;
}

struct op_sums {
    double flops, read_B, write_B;
};

static inline struct op_sums op_sum(const struct op *ops, int32_t n)
{
    struct op_sums t = { 0 };
    for (int32_t i = 0; i < n; i++) {
        t.flops += ops[i].flops;
        t.read_B += ops[i].read_B;
        t.write_B += ops[i].write_B;
    }
    return t;
}

/* FLOPs of all operators of a direction. */
static inline double op_list_flops(const struct op_list *list, bool backward)
{
    double sum = 0;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *block = &list->blocks[i];
        const struct op *ops = backward ? block->backward : block->forward;
        int32_t n = backward ? block->n_backward : block->n_forward;
        for (int32_t j = 0; j < n; j++)
            sum += (double)block->repeat * ops[j].flops;
    }
    return sum;
}

#endif
