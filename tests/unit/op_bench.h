/* Models, frameworks and settings of small operator lists, and sums over their
 * operators: the base of tests of lists. */
#ifndef TESTS_OP_BENCH_H
#define TESTS_OP_BENCH_H

#include "model/ops.h"

#include <CUnit/CUnit.h>

enum { H = 1024, HEADS = 16, BATCH = 4, SEQ = 128 };

static const struct framework op_eager = { .name = "eager",
                                           .kernels.fused_bias = true,
                                           .kernels.fused_norm = true,
                                           .loss.logit_B = 24 };
static const struct framework op_old_eager = { .name = "old",
                                               .kernels.fused_bias = true,
                                               .kernels.fused_norm = true,
                                               .tensors.keeps_softmax_input = true,
                                               .loss.logit_B = 24 };
static const struct framework op_fused = { .name = "fused",
                                           .kernels.fp8_cast = 1,
                                           .kernels.fp4_cast = 1,
                                           .kernels.fused_norm = true,
                                           .kernels.fused_qkv = true,
                                           .kernels.fused_softmax = true,
                                           .kernels.fused_bias = true,
                                           .kernels.fused_dropout_add = true,
                                           .loss.logit_B = 24 };

static const struct model op_bert = {
    .arch = MODEL_ENCODER,
    .ends.head = MODEL_HEAD_MASKED_LM,
    .layers = 24,
    .hidden = H,
    .attention.heads = HEADS,
    .attention.kv_heads = HEADS,
    .attention.head_dim = H / HEADS,
    .mlp.width = 4 * H,
    .attention.q_width = H,
    .attention.kv_width = H,
    .ends.vocab = 30522,
    .ends.positions = 512,
    .ends.type_vocab = 2,
    .norms.post = true,
    .ends.tied = true,
    .attention.qkv_bias = true,
    .attention.out_bias = true,
    .mlp.bias = true,
    .norms.embedding = true,
    .ends.pooler = true,
    .attention.dropout = true,
    .hidden_dropout = true,
};

static inline struct model op_gpt(void)
{
    struct model m = op_bert;
    m.arch = MODEL_DECODER;
    m.ends.head = MODEL_HEAD_CAUSAL_LM;
    m.ends.vocab = 51200;
    m.ends.positions = 2048;
    m.ends.type_vocab = 0;
    m.norms.post = m.norms.embedding = m.ends.pooler = false;
    m.norms.final = true;
    return m;
}

static inline struct model op_llama(int64_t kv_heads, int64_t ffn)
{
    struct model m = op_gpt();
    m.attention.kv_heads = kv_heads;
    m.attention.kv_width = kv_heads * m.attention.head_dim;
    m.mlp.width = ffn;
    m.ends.positions = 0;
    m.norms.rms = m.mlp.gated = m.attention.rotary = true;
    m.ends.tied = m.attention.qkv_bias = m.attention.out_bias = m.mlp.bias = false;
    m.attention.dropout = m.hidden_dropout = false;
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
