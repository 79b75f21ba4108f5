/* Rows of a transformer layer. With every precision and fusion they sum to the tables
 * of MODEL.md, "Operator lists"; tests/unit/test_ops.c holds them to it. */
#include "model/build.h"

/* Attention ------------------------------------------------------------------------ */

static const struct row attention_f[] = {
    { ROW_STREAM, "qkv_cast", .when = HAS_AMP, .unless = HAS_FUSED_QKV | HAS_LATENT,
      .launches = 3, .read = { WIDE(3, A) }, .write = { NARROW(3, A) },
      .keep = { KEEP(NARROW(3, A), "value_wgrad") } },
    { ROW_STREAM, "qkv_cast", .when = HAS_AMP | HAS_FUSED_QKV, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, I), "qkv_wgrad") } },
    { ROW_LINEAR, .part = PART_QKV, .when = HAS_FUSED_QKV,
      .keep = { KEEP(NARROW(1, QKV), "dkey|flash_bwd", .unless = HAS_COPIES | HAS_ROPE),
                KEEP(NARROW(1, K), "dprobs|flash_bwd", .when = HAS_ROPE,
                     .unless = HAS_COPIES),
                KEEP(NARROW(1, QK), "query_norm_bwd", .when = HAS_QK_NORM) } },
    { ROW_LINEAR, .part = PART_QUERY, .unless = HAS_FUSED_QKV,
      .keep = { KEEP(NARROW(1, Q), "dkey|flash_bwd", .unless = HAS_COPIES | HAS_ROPE),
                KEEP(NARROW(1, Q), "query_norm_bwd", .when = HAS_QK_NORM) } },
    { ROW_LINEAR, .part = PART_KEY, .unless = HAS_FUSED_QKV | HAS_LATENT,
      .keep = { KEEP(NARROW(1, K), "dquery|flash_bwd", .unless = HAS_COPIES | HAS_ROPE),
                KEEP(NARROW(1, K), "key_norm_bwd", .when = HAS_QK_NORM) } },
    { ROW_LINEAR, .part = PART_VALUE, .unless = HAS_FUSED_QKV | HAS_LATENT,
      .keep = { KEEP(NARROW(1, K), "dprobs|flash_bwd", .unless = HAS_COPIES) } },
    { ROW_OWNER, "query_norm", PART_QUERY_NORM, .when = HAS_QK_NORM,
      .unless = HAS_EAGER_RMS, .read = { NARROW(1, Q) }, .write = { NARROW(1, Q) } },
    { ROW_OWNER, "key_norm", PART_KEY_NORM, .when = HAS_QK_NORM,
      .unless = HAS_EAGER_RMS, .read = { NARROW(1, K) }, .write = { NARROW(1, K) } },
    { ROW_OWNER, "query_norm", PART_QUERY_NORM, .when = HAS_QK_NORM | HAS_EAGER_RMS,
      .launches = 6, .read = { NARROW(2, Q), FP32(4, Q) },
      .write = { NARROW(2, Q), FP32(3, Q) }, .made = NARROW(3, Q) },
    { ROW_OWNER, "key_norm", PART_KEY_NORM, .when = HAS_QK_NORM | HAS_EAGER_RMS,
      .launches = 6, .read = { NARROW(2, K), FP32(4, K) },
      .write = { NARROW(2, K), FP32(3, K) }, .made = NARROW(3, K) },
    { ROW_STREAM, "rope", .when = HAS_ROPE | HAS_FUSED_ROPE,
      .read = { NARROW(1, Q), NARROW(1, K) }, .write = { NARROW(1, Q), NARROW(1, K) },
      .keep = { KEEP(NARROW(1, Q), "dkey|flash_bwd", .unless = HAS_COPIES),
                KEEP(NARROW(1, K), "dquery|flash_bwd", .unless = HAS_COPIES) } },
    /* negated half, halves joined, two products and their sum, of q and of k */
    { ROW_STREAM, "rope_query", .when = HAS_ROPE, .unless = HAS_FUSED_ROPE,
      .launches = 5, .read = { NARROW(5.5, Q) }, .write = { NARROW(4.5, Q) },
      .made = NARROW(3, Q),
      .keep = { KEEP(NARROW(1, Q), "dkey|flash_bwd", .unless = HAS_COPIES) } },
    { ROW_STREAM, "rope_key", .when = HAS_ROPE, .unless = HAS_FUSED_ROPE, .launches = 5,
      .read = { NARROW(5.5, K) }, .write = { NARROW(4.5, K) }, .made = NARROW(3, K),
      .keep = { KEEP(NARROW(1, K), "dquery|flash_bwd", .unless = HAS_COPIES) } },
    /* each head's rotated and other numbers joined, and the documents' */
    { ROW_STREAM, "rope_join", .when = HAS_SPLIT_ROPE, .launches = 4,
      .read = { NARROW(2, Q), NARROW(2, K) }, .write = { NARROW(2, Q), NARROW(2, K) } },
    /* heads set apart, and what came of all ranks put in order: a copy each */
    { ROW_STREAM, "heads_deal", .when = HAS_DEALT_HEADS, .launches = 6,
      .read = { NARROW(2, QKV) }, .write = { NARROW(2, QKV) }, .made = NARROW(1, QKV) },
    { ROW_FLASH, "flash", .when = HAS_FLASH, .read = { NARROW(1, Q), NARROW(2, K) },
      .write = { NARROW(1, U), FP32(1, L) },
      .keep = { KEEP(NARROW(1, U), "out_wgrad", .unless = HAS_FP8 | HAS_DEALT_HEADS),
                KEEP(NARROW(1, U), "flash_bwd", .when = HAS_FP8),
                KEEP(NARROW(1, U), "flash_bwd", .when = HAS_DEALT_HEADS,
                     .unless = HAS_FP8),
                KEEP(FP32(1, L), "flash_bwd") } },
    /* each head's result by a sigmoid of its log-sum less its sink */
    { ROW_OWNER, "sinks", PART_SINKS, .when = HAS_SINKS | HAS_FLASH,
      .read = { NARROW(1, U), FP32(1, L) }, .write = { NARROW(1, U) },
      .keep = { KEEP(NARROW(1, U), "sinks_bwd") } },
    { ROW_STREAM, "flash_merge", .when = HAS_FLASH | HAS_RING,
      .read = { NARROW(2, QR) }, .write = { NARROW(1, QR) } },
    { ROW_STREAM, "qk_copy", .when = HAS_COPIES, .launches = 2,
      .read = { NARROW(1, Q), NARROW(1, K) }, .write = { NARROW(1, Q), NARROW(1, E) },
      .keep = { KEEP(NARROW(1, Q), "dkey"), KEEP(NARROW(1, E), "dquery") } },
    { ROW_BMM_SSD, "scores", .unless = HAS_FLASH,
      .read = { NARROW(1, Q), NARROW(1, E) }, .write = { NARROW(1, S) } },
    { ROW_STREAM, "scale", .unless = HAS_FLASH | HAS_FUSED_SOFTMAX | HAS_RELATIVE,
      .read = { NARROW(1, S) }, .write = { NARROW(1, S) } },
    /* a division, tanh and a product */
    { ROW_STREAM, "score_cap", .when = HAS_SCORE_CAP, .unless = HAS_FLASH,
      .launches = 3, .read = { NARROW(3, S) }, .write = { NARROW(3, S) },
      .made = NARROW(2, S), .keep = { KEEP(NARROW(1, S), "score_cap_bwd") } },
    { ROW_STREAM, "mask", .unless = HAS_FLASH | HAS_FUSED_SOFTMAX,
      .read = { NARROW(1, S) }, .write = { PROBS(1, S) },
      .keep = { KEEP(PROBS(1, S), "softmax_bwd", .when = HAS_SOFTMAX_INPUT) } },
    /* one more column of scores, dropped again behind the softmax */
    { ROW_OWNER, "sinks", PART_SINKS, .when = HAS_SINKS, .unless = HAS_FLASH,
      .launches = 2, .read = { PROBS(2, S) }, .write = { PROBS(2, S) },
      .made = PROBS(1, S) },
    { ROW_STREAM, "softmax", .unless = HAS_FLASH | HAS_FUSED_SOFTMAX_DROPOUT,
      .read = { PROBS(1, S) }, .write = { PROBS(1, S) },
      .keep = { KEEP(PROBS(1, S), "softmax_bwd") } },
    { ROW_STREAM, "softmax", .when = HAS_FUSED_SOFTMAX_DROPOUT, .unless = HAS_FLASH,
      .read = { PROBS(1, S) }, .write = { PROBS(2, S), MASK(1, S) },
      .keep = { KEEP(PROBS(1, S), "softmax_bwd"), KEEP(PROBS(1, S), "dvalue"),
                KEEP(MASK(1, S), "softmax_bwd") } },
    { ROW_STREAM, "probs_dropout", .when = HAS_ATTENTION_DROPOUT,
      .unless = HAS_FLASH | HAS_FUSED_SOFTMAX_DROPOUT, .read = { PROBS(1, S) },
      .write = { PROBS(1, S), MASK(1, S) },
      .keep = { KEEP(MASK(1, S), "probs_dropout_bwd"),
                KEEP(PROBS(1, S), "dvalue", .unless = HAS_WIDE_PROBS) } },
    { ROW_STREAM, "probs_cast", .when = HAS_WIDE_PROBS, .read = { PROBS(1, S) },
      .write = { NARROW(1, S) }, .keep = { KEEP(NARROW(1, S), "dvalue") } },
    { ROW_STREAM, "v_copy", .when = HAS_COPIES, .read = { NARROW(1, K) },
      .write = { NARROW(1, E) }, .keep = { KEEP(NARROW(1, E), "dprobs") } },
    { ROW_BMM_SDS, "context", .unless = HAS_FLASH,
      .read = { NARROW(1, E), NARROW(1, S) }, .write = { NARROW(1, U) } },
    { ROW_STREAM, "context_copy", .unless = HAS_FLASH, .read = { NARROW(1, U) },
      .write = { NARROW(1, U) }, .keep = { KEEP(NARROW(1, U), "out_wgrad") } },
    { ROW_STREAM, "heads_return", .when = HAS_DEALT_HEADS, .launches = 2,
      .read = { NARROW(2, U) }, .write = { NARROW(2, U) }, .made = NARROW(1, U),
      .keep = { KEEP(NARROW(1, U), "out_wgrad", .when = HAS_FLASH,
                     .unless = HAS_FP8) } },
    { ROW_LINEAR, .part = PART_OUT,
      .keep = { KEEP(NARROW(1, A), "result_norm#_bwd", .when = HAS_RESULT_NORM) } },
    ROW_END,
};

static const struct row attention_b[] = {
    { ROW_DGRAD, .part = PART_OUT },
    { ROW_WGRAD, .part = PART_OUT },
    { ROW_BIAS, .part = PART_OUT, .unless = HAS_FUSED_ADD },
    { ROW_STREAM, "heads_return_bwd", .when = HAS_DEALT_HEADS, .launches = 2,
      .read = { NARROW(2, U) }, .write = { NARROW(2, U) }, .made = NARROW(1, U) },
    { ROW_OWNER_BWD, "sinks_bwd", PART_SINKS, .when = HAS_SINKS | HAS_FLASH,
      .read = { NARROW(2, U), FP32(1, L) }, .write = { NARROW(1, U) } },
    { ROW_FLASH, "flash_bwd", .when = HAS_FLASH,
      .read = { NARROW(2, Q), NARROW(2, U), NARROW(4, K) },
      .write = { NARROW(1, Q), NARROW(2, K) } },
    { ROW_STREAM, "flash_sum_bwd", .when = HAS_FLASH | HAS_RING,
      .read = { NARROW(3, QR), NARROW(6, KR) } },
    { ROW_STREAM, "context_copy_bwd", .unless = HAS_FLASH, .read = { NARROW(1, U) },
      .write = { NARROW(1, U) } },
    { ROW_BMM_SSD, "dprobs", .unless = HAS_FLASH,
      .read = { NARROW(1, Q), NARROW(1, E) }, .write = { NARROW(1, S) } },
    { ROW_BMM_SDS, "dvalue", .unless = HAS_FLASH, .same_node = true,
      .read = { NARROW(1, Q), NARROW(1, S) }, .write = { NARROW(1, E) } },
    { ROW_STREAM, "probs_cast_bwd", .when = HAS_WIDE_PROBS, .read = { NARROW(1, S) },
      .write = { PROBS(1, S) } },
    { ROW_STREAM, "probs_dropout_bwd", .when = HAS_ATTENTION_DROPOUT,
      .unless = HAS_FLASH | HAS_FUSED_SOFTMAX_DROPOUT,
      .read = { PROBS(1, S), MASK(1, S) }, .write = { PROBS(1, S) } },
    { ROW_STREAM, "softmax_bwd", .unless = HAS_FLASH | HAS_FUSED_SOFTMAX_DROPOUT,
      .read = { PROBS(2, S) }, .write = { PROBS(1, S) } },
    { ROW_STREAM, "softmax_bwd", .when = HAS_FUSED_SOFTMAX_DROPOUT, .unless = HAS_FLASH,
      .read = { PROBS(2, S), MASK(1, S) }, .write = { PROBS(1, S) } },
    { ROW_OWNER_BWD, "sinks_bwd", PART_SINKS, .when = HAS_SINKS, .unless = HAS_FLASH,
      .launches = 2, .read = { PROBS(2, S) }, .write = { PROBS(2, S) },
      .made = PROBS(1, S) },
    { ROW_STREAM, "mask_cast_bwd", .when = HAS_WIDE_PROBS, .read = { PROBS(1, S) },
      .write = { NARROW(1, S) } },
    { ROW_STREAM, "relative_bias_sum_bwd", .when = HAS_RELATIVE,
      .unless = HAS_FLASH | HAS_CROSS, .read = { NARROW(2, S) },
      .write = { NARROW(1, S) } },
    { ROW_STREAM, "score_cap_bwd", .when = HAS_SCORE_CAP, .unless = HAS_FLASH,
      .launches = 3, .read = { NARROW(4, S) }, .write = { NARROW(3, S) },
      .made = NARROW(2, S) },
    { ROW_STREAM, "scale_bwd", .unless = HAS_FLASH | HAS_FUSED_SOFTMAX | HAS_RELATIVE,
      .read = { NARROW(1, S) }, .write = { NARROW(1, S) } },
    { ROW_BMM_SDS, "dquery", .unless = HAS_FLASH,
      .read = { NARROW(1, E), NARROW(1, S) }, .write = { NARROW(1, Q) } },
    { ROW_BMM_SDS, "dkey", .unless = HAS_FLASH, .same_node = true,
      .read = { NARROW(1, Q), NARROW(1, S) }, .write = { NARROW(1, E) } },
    { ROW_STREAM, "qkv_copy_bwd", .unless = HAS_FLASH | HAS_FUSED_QKV, .launches = 3,
      .read = { NARROW(1, Q), NARROW(2, E) }, .write = { NARROW(1, Q), NARROW(2, K) } },
    { ROW_STREAM, "qkv_copy_bwd", .when = HAS_FUSED_QKV, .unless = HAS_FLASH,
      .read = { NARROW(1, Q), NARROW(2, E) }, .write = { NARROW(1, Q), NARROW(2, K) } },
    { ROW_STREAM, "heads_deal_bwd", .when = HAS_DEALT_HEADS, .launches = 6,
      .read = { NARROW(2, QKV) }, .write = { NARROW(2, QKV) }, .made = NARROW(1, QKV) },
    { ROW_STREAM, "rope_bwd", .when = HAS_ROPE | HAS_FUSED_ROPE,
      .read = { NARROW(1, Q), NARROW(1, K) }, .write = { NARROW(1, Q), NARROW(1, K) } },
    /* rotated and other numbers into zeros, their sum, the documents joined, less what
     * halves that are joined save below */
    { ROW_STREAM, "rope_split_bwd", .when = HAS_SPLIT_ROPE, .launches = 4,
      .read = { NARROW(2, Q), NARROW(2, K) }, .write = { NARROW(2, Q), NARROW(2, K) } },
    /* two products, a negation, two halves into zeros, two sums */
    { ROW_STREAM, "rope_key_bwd", .when = HAS_ROPE, .unless = HAS_FUSED_ROPE,
      .launches = 9, .read = { NARROW(7.5, K) }, .write = { NARROW(7.5, K) },
      .made = NARROW(3, K) },
    { ROW_STREAM, "rope_query_bwd", .when = HAS_ROPE, .unless = HAS_FUSED_ROPE,
      .launches = 9, .read = { NARROW(7.5, Q) }, .write = { NARROW(7.5, Q) },
      .made = NARROW(3, Q) },
    { ROW_OWNER_BWD, "key_norm_bwd", PART_KEY_NORM, .when = HAS_QK_NORM,
      .unless = HAS_EAGER_RMS, .launches = 2, .read = { NARROW(4, K) },
      .write = { NARROW(1, K) } },
    { ROW_OWNER_BWD, "query_norm_bwd", PART_QUERY_NORM, .when = HAS_QK_NORM,
      .unless = HAS_EAGER_RMS, .launches = 2, .read = { NARROW(4, Q) },
      .write = { NARROW(1, Q) } },
    { ROW_OWNER_BWD, "key_norm_bwd", PART_KEY_NORM, .when = HAS_QK_NORM | HAS_EAGER_RMS,
      .launches = 10, .read = { NARROW(3, K), FP32(8, K) },
      .write = { NARROW(2, K), FP32(5, K) }, .made = NARROW(3, K) },
    { ROW_OWNER_BWD, "query_norm_bwd", PART_QUERY_NORM,
      .when = HAS_QK_NORM | HAS_EAGER_RMS, .launches = 10,
      .read = { NARROW(3, Q), FP32(8, Q) }, .write = { NARROW(2, Q), FP32(5, Q) },
      .made = NARROW(3, Q) },
    { ROW_DGRAD, .part = PART_QKV, .when = HAS_FUSED_QKV },
    { ROW_WGRAD, .part = PART_QKV, .when = HAS_FUSED_QKV },
    { ROW_BIAS, .part = PART_QKV, .when = HAS_FUSED_QKV },
    { ROW_DGRAD, .part = PART_QUERY, .unless = HAS_FUSED_QKV },
    { ROW_WGRAD, .part = PART_QUERY, .unless = HAS_FUSED_QKV },
    { ROW_BIAS, .part = PART_QUERY, .unless = HAS_FUSED_QKV },
    { ROW_DGRAD, .part = PART_KEY, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_WGRAD, .part = PART_KEY, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_BIAS, .part = PART_KEY, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_DGRAD, .part = PART_VALUE, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_WGRAD, .part = PART_VALUE, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_BIAS, .part = PART_VALUE, .unless = HAS_FUSED_QKV | HAS_LATENT },
    { ROW_STREAM, "qkv_cast_bwd", .when = HAS_AMP, .unless = HAS_FUSED_QKV | HAS_LATENT,
      .launches = 3, .read = { NARROW(3, A) }, .write = { WIDE(3, A) } },
    { ROW_STREAM, "qkv_cast_bwd", .when = HAS_AMP | HAS_FUSED_QKV,
      .read = { NARROW(1, A) }, .write = { WIDE(1, A) } },
    { ROW_STREAM, "qkv_sum_bwd", .unless = HAS_FUSED_QKV | HAS_LATENT, .launches = 2,
      .read = { WIDE(4, A) }, .write = { WIDE(2, A) } },
    ROW_END,
};

/* MLP, dense or experts ------------------------------------------------------------ */

static const struct row mlp_f[] = {
    { ROW_STREAM, "mlp_cast", .when = HAS_AMP, .unless = HAS_GATE | HAS_EXPERTS,
      .read = { WIDE(1, A) }, .write = { NARROW(1, A) },
      .keep = { KEEP(NARROW(1, I), "up_wgrad") } },
    { ROW_STREAM, "mlp_cast", .when = HAS_AMP | HAS_GATE, .unless = HAS_EXPERTS,
      .launches = 2, .read = { WIDE(2, A) }, .write = { NARROW(2, A) },
      .keep = { KEEP(NARROW(2, A), "up_wgrad") } },
    { ROW_STREAM, "mlp_cast", .when = HAS_AMP | HAS_EXPERTS, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, I), "router_wgrad") } },
    { ROW_LINEAR, .part = PART_ROUTER, .when = HAS_EXPERTS },
    { ROW_STREAM, "route", .when = HAS_EXPERTS, .launches = 4, .read = { FP32(2, R) },
      .write = { FP32(2, R) }, .keep = { KEEP(FP32(1, R), "route_bwd") } },
    { ROW_STREAM, "dispatch", .when = HAS_EXPERTS, .read = { NARROW(1, M) },
      .write = { NARROW(1, M) }, .keep = { KEEP(NARROW(1, M), "up_wgrad") } },
    { ROW_LINEAR, .part = PART_GATE, .when = HAS_GATE,
      .keep = { KEEP(NARROW(1, F), "activation_bwd") } },
    { ROW_LINEAR, .part = PART_UP,
      .keep = { KEEP(NARROW(1, F), "multiply_bwd|activation_bwd") } },
    { ROW_STREAM, "activation", .when = HAS_GATE | HAS_FUSED_GATE,
      .read = { NARROW(2, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_STREAM, "activation", .activation = true, .unless = HAS_FUSED_GATE,
      .read = { NARROW(1, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "multiply_bwd", .when = HAS_GATE),
                KEEP(NARROW(1, F), "down_wgrad", .unless = HAS_GATE) } },
    { ROW_STREAM, "multiply", .when = HAS_GATE, .unless = HAS_FUSED_GATE,
      .read = { NARROW(2, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_LINEAR, .part = PART_DOWN,
      .keep = { KEEP(NARROW(1, M), "combine_bwd", .when = HAS_EXPERTS),
                KEEP(NARROW(1, A), "result_norm#_bwd", .when = HAS_RESULT_NORM) } },
    { ROW_STREAM, "combine", .when = HAS_EXPERTS, .read = { NARROW(1, M) },
      .write = { NARROW(1, X) } },
    { ROW_LINEAR, .part = PART_SHARED_GATE, .when = HAS_SHARED,
      .keep = { KEEP(NARROW(1, Z), "shared_activation_bwd") } },
    { ROW_LINEAR, .part = PART_SHARED_UP, .when = HAS_SHARED,
      .keep = { KEEP(NARROW(1, Z), "shared_multiply_bwd|shared_activation_bwd") } },
    { ROW_STREAM, "shared_activation", .when = HAS_SHARED | HAS_FUSED_GATE,
      .read = { NARROW(2, Z) }, .write = { NARROW(1, Z) },
      .keep = { KEEP(NARROW(1, Z), "shared_down_wgrad") } },
    { ROW_STREAM, "shared_activation", .when = HAS_SHARED, .unless = HAS_FUSED_GATE,
      .read = { NARROW(1, Z) }, .write = { NARROW(1, Z) },
      .keep = { KEEP(NARROW(1, Z), "shared_multiply_bwd") } },
    { ROW_STREAM, "shared_multiply", .when = HAS_SHARED, .unless = HAS_FUSED_GATE,
      .read = { NARROW(2, Z) }, .write = { NARROW(1, Z) },
      .keep = { KEEP(NARROW(1, Z), "shared_down_wgrad") } },
    { ROW_LINEAR, .part = PART_SHARED_DOWN, .when = HAS_SHARED,
      .keep = { KEEP(NARROW(1, X), "shared_sigmoid_bwd", .when = HAS_SHARED_SCALE) } },
    { ROW_LINEAR, .part = PART_SHARED_SCALE, .when = HAS_SHARED_SCALE },
    { ROW_STREAM, "shared_sigmoid", .when = HAS_SHARED_SCALE, .launches = 2,
      .read = { NARROW(1, X), NARROW(2, T) }, .write = { NARROW(1, X), NARROW(1, T) },
      .keep = { KEEP(NARROW(1, T), "shared_sigmoid_bwd") } },
    { ROW_STREAM, "shared_sum", .when = HAS_SHARED, .read = { NARROW(2, X) },
      .write = { NARROW(1, X) } },
    ROW_END,
};

static const struct row mlp_b[] = {
    { ROW_STREAM, "shared_sigmoid_bwd", .when = HAS_SHARED_SCALE, .launches = 4,
      .read = { NARROW(4, X), NARROW(3, T) }, .write = { NARROW(2, X), NARROW(2, T) },
      .made = NARROW(1, X) },
    { ROW_DGRAD, .part = PART_SHARED_SCALE, .when = HAS_SHARED_SCALE },
    { ROW_WGRAD, .part = PART_SHARED_SCALE, .when = HAS_SHARED_SCALE },
    { ROW_DGRAD, .part = PART_SHARED_DOWN, .when = HAS_SHARED },
    { ROW_WGRAD, .part = PART_SHARED_DOWN, .when = HAS_SHARED },
    { ROW_STREAM, "shared_activation_bwd", .when = HAS_SHARED | HAS_FUSED_GATE,
      .read = { NARROW(3, Z) }, .write = { NARROW(2, Z) } },
    { ROW_STREAM, "shared_multiply_bwd", .when = HAS_SHARED, .unless = HAS_FUSED_GATE,
      .launches = 2, .read = { NARROW(3, Z) }, .write = { NARROW(2, Z) } },
    { ROW_STREAM, "shared_activation_bwd", .when = HAS_SHARED, .unless = HAS_FUSED_GATE,
      .read = { NARROW(2, Z) }, .write = { NARROW(1, Z) } },
    { ROW_DGRAD, .part = PART_SHARED_GATE, .when = HAS_SHARED },
    { ROW_WGRAD, .part = PART_SHARED_GATE, .when = HAS_SHARED },
    { ROW_DGRAD, .part = PART_SHARED_UP, .when = HAS_SHARED },
    { ROW_WGRAD, .part = PART_SHARED_UP, .when = HAS_SHARED },
    { ROW_STREAM, "shared_sum_bwd", .when = HAS_SHARED, .launches = 2,
      .read = { NARROW(4, X) }, .write = { NARROW(2, X) }, .made = NARROW(1, X) },
    { ROW_STREAM, "combine_bwd", .when = HAS_EXPERTS,
      .read = { NARROW(1, X), NARROW(1, M) }, .write = { NARROW(1, M) } },
    { ROW_DGRAD, .part = PART_DOWN },
    { ROW_WGRAD, .part = PART_DOWN },
    { ROW_BIAS, .part = PART_DOWN, .unless = HAS_FUSED_ADD },
    { ROW_STREAM, "activation_bwd", .when = HAS_GATE | HAS_FUSED_GATE,
      .read = { NARROW(3, F) }, .write = { NARROW(2, F) } },
    { ROW_STREAM, "multiply_bwd", .when = HAS_GATE, .unless = HAS_FUSED_GATE,
      .launches = 2, .read = { NARROW(3, F) }, .write = { NARROW(2, F) } },
    { ROW_STREAM, "activation_bwd", .activation = true, .unless = HAS_FUSED_GATE,
      .read = { NARROW(2, F) }, .write = { NARROW(1, F) } },
    { ROW_DGRAD, .part = PART_GATE, .when = HAS_GATE },
    { ROW_WGRAD, .part = PART_GATE, .when = HAS_GATE },
    { ROW_BIAS, .part = PART_GATE, .when = HAS_GATE },
    { ROW_DGRAD, .part = PART_UP },
    { ROW_WGRAD, .part = PART_UP },
    { ROW_BIAS, .part = PART_UP },
    { ROW_STREAM, "gate_sum_bwd", .when = HAS_GATE | HAS_EXPERTS,
      .read = { NARROW(2, M) }, .write = { NARROW(1, M) } },
    { ROW_STREAM, "dispatch_bwd", .when = HAS_EXPERTS, .read = { NARROW(1, M) },
      .write = { NARROW(1, X) } },
    { ROW_STREAM, "route_bwd", .when = HAS_EXPERTS, .launches = 4,
      .read = { FP32(3, R) }, .write = { FP32(2, R) } },
    { ROW_DGRAD, .part = PART_ROUTER, .when = HAS_EXPERTS },
    { ROW_WGRAD, .part = PART_ROUTER, .when = HAS_EXPERTS },
    { ROW_BIAS, .part = PART_ROUTER, .when = HAS_EXPERTS },
    { ROW_STREAM, "router_sum_bwd", .when = HAS_EXPERTS, .read = { NARROW(2, A) },
      .write = { NARROW(1, A) } },
    { ROW_STREAM, "mlp_cast_bwd", .when = HAS_AMP | HAS_EXPERTS,
      .read = { NARROW(1, A) }, .write = { WIDE(1, A) } },
    { ROW_STREAM, "mlp_cast_bwd", .when = HAS_AMP, .unless = HAS_GATE | HAS_EXPERTS,
      .read = { NARROW(1, A) }, .write = { WIDE(1, A) } },
    { ROW_STREAM, "mlp_cast_bwd", .when = HAS_AMP | HAS_GATE, .unless = HAS_EXPERTS,
      .launches = 2, .read = { NARROW(2, A) }, .write = { WIDE(2, A) } },
    { ROW_STREAM, "gate_sum_bwd", .when = HAS_GATE, .unless = HAS_EXPERTS,
      .read = { WIDE(2, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};

/* Norm, and what ends a sublayer --------------------------------------------------- */

const struct row build_norm_f[] = {
    { ROW_OWNER, "norm#", PART_NORM, .unless = HAS_EAGER_RMS, .read = { WIDE(1, A) },
      .write = { WIDE(1, A) }, .keep = { KEEP(NARROW(1, I), "@", .unless = HAS_AMP) } },
    { ROW_OWNER, "norm#", PART_NORM, .when = HAS_EAGER_RMS, .launches = 6,
      .read = { WIDE(2, A), FP32(4, A) }, .write = { WIDE(2, A), FP32(3, A) },
      .keep = { KEEP(NARROW(1, I), "@", .unless = HAS_AMP) } },
    ROW_END,
};

const struct row build_norm_b[] = {
    { ROW_OWNER_BWD, "norm#_bwd", PART_NORM, .unless = HAS_EAGER_RMS, .launches = 2,
      .read = { WIDE(4, A) }, .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "norm#_bwd", PART_NORM, .when = HAS_EAGER_RMS, .launches = 10,
      .read = { WIDE(3, A), FP32(8, A) }, .write = { WIDE(2, A), FP32(5, A) } },
    ROW_END,
};

static const struct row add_f[] = {
    { ROW_STREAM, "dropout#", .when = HAS_HIDDEN_DROPOUT, .unless = HAS_FUSED_ADD,
      .read = { NARROW(1, A) }, .write = { NARROW(1, A), MASK(1, A) },
      .keep = { KEEP(MASK(1, A), "dropout#_bwd") } },
    { ROW_STREAM, "residual#", .unless = HAS_FUSED_ADD,
      .read = { NARROW(1, A), WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(WIDE(1, A), "@") } },
    { ROW_STREAM, "dropout_add#", .when = HAS_FUSED_ADD | HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, A), WIDE(1, A) }, .write = { WIDE(1, A), MASK(1, A) },
      .keep = { KEEP(MASK(1, A), "dropout#_bwd"), KEEP(WIDE(1, A), "@") } },
    { ROW_STREAM, "dropout_add#", .when = HAS_FUSED_ADD, .unless = HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, A), WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(WIDE(1, A), "@") } },
    ROW_END,
};

static const struct row add_b[] = {
    { ROW_STREAM, "residual#_cast_bwd", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) } },
    { ROW_STREAM, "dropout#_bwd", .when = HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, A), MASK(1, A) }, .write = { NARROW(1, A) } },
    ROW_END,
};

static const struct row sum_b[] = {
    { ROW_STREAM, "residual#_sum_bwd", .read = { WIDE(2, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};

/* Layers: which sublayers in which order ------------------------------------------- */

struct layer {
    const struct step *forward, *backward;
};

static const struct step post_norm_f[] = {
    STEP(attention_f, 1),
    STEP(add_f, 1, .user = "norm1_bwd"),
    STEP(build_norm_f, 1, .user = "up_wgrad"),
    STEP(mlp_f, 2),
    STEP(add_f, 2, .user = "norm2_bwd"),
    STEP(build_norm_f, 2),
    STEPS_END,
};
static const struct step post_norm_b[] = {
    STEP(build_norm_b, 2), STEP(add_b, 2),        STEP(mlp_b, 2),
    STEP(sum_b, 2),        STEP(build_norm_b, 1), STEP(add_b, 1),
    STEP(attention_b, 1),  STEP(sum_b, 1),        STEPS_END,
};

#define QKV_WGRAD "value_wgrad|qkv_wgrad|kv_down_wgrad"
#define MLP_WGRAD "router_wgrad|up_wgrad"

static const struct step pre_norm_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_latent_f, 1),
    STEP(attention_f, 1),
    STEP(add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(mlp_f, 2),
    STEP(add_f, 2),
    STEPS_END,
};
static const struct step pre_norm_b[] = {
    STEP(add_b, 2),          STEP(mlp_b, 2),
    STEP(build_norm_b, 2),   STEP(sum_b, 2),
    STEP(add_b, 1),          STEP(attention_b, 1),
    STEP(build_latent_b, 1), STEP(build_norm_b, 1),
    STEP(sum_b, 1),          STEPS_END,
};

static const struct step parallel_f[] = {
    /* NeoX, falcon-40b */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(attention_f, 1),
    STEP(mlp_f, 2),
    STEP(add_f, 1),
    STEP(add_f, 2),
    STEPS_END,
};
static const struct step parallel_b[] = {
    STEP(add_b, 2),        STEP(add_b, 1),       STEP(mlp_b, 2),
    STEP(build_norm_b, 2), STEP(attention_b, 1), STEP(build_norm_b, 1),
    STEP(sum_b, 1),        STEP(sum_b, 2),       STEPS_END,
};

static const struct step parallel_one_f[] = {
    /* GPT-J, falcon-7b */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(attention_f, 1),
    STEP(mlp_f, 2),
    STEP(add_f, 1),
    STEP(add_f, 2),
    STEPS_END,
};
static const struct step parallel_one_b[] = {
    STEP(add_b, 2), STEP(add_b, 1),        STEP(mlp_b, 2), STEP(attention_b, 1),
    STEP(sum_b, 2), STEP(build_norm_b, 1), STEP(sum_b, 1), STEPS_END,
};

static const struct step cross_f[] = {
    /* decoder of T5 */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(attention_f, 1),
    STEP(add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = "cross_query_wgrad"),
    STEP(attention_f, 2, .prefix = "cross_"),
    STEP(add_f, 2, .user = "norm3_bwd"),
    STEP(build_norm_f, 3, .user = MLP_WGRAD),
    STEP(mlp_f, 3),
    STEP(add_f, 3),
    STEPS_END,
};
static const struct step cross_b[] = {
    STEP(add_b, 3),
    STEP(mlp_b, 3),
    STEP(build_norm_b, 3),
    STEP(sum_b, 3),
    STEP(add_b, 2),
    STEP(attention_b, 2, .prefix = "cross_"),
    STEP(build_norm_b, 2),
    STEP(sum_b, 2),
    STEP(add_b, 1),
    STEP(attention_b, 1),
    STEP(build_norm_b, 1),
    STEP(sum_b, 1),
    STEPS_END,
};

/* Gemma 2: norms of a sublayer's input and of its result. */
static const struct step around_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(attention_f, 1),
    STEP(build_norm_f, 1, .prefix = "result_"),
    STEP(add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(mlp_f, 2),
    STEP(build_norm_f, 2, .prefix = "result_"),
    STEP(add_f, 2),
    STEPS_END,
};
static const struct step around_b[] = {
    STEP(add_b, 2),
    STEP(build_norm_b, 2, .prefix = "result_"),
    STEP(mlp_b, 2),
    STEP(build_norm_b, 2),
    STEP(sum_b, 2),
    STEP(add_b, 1),
    STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(attention_b, 1),
    STEP(build_norm_b, 1),
    STEP(sum_b, 1),
    STEPS_END,
};

/* OLMo 2: of its result alone. The sum is the next products' input, of which autocast
 * keeps casts. */
#define RESULT_STEPS(user_)                                                        \
    {                                                                              \
        STEP(attention_f, 1), STEP(build_norm_f, 1, .prefix = "result_"),          \
            STEP(add_f, 1, .user = (user_)), STEP(mlp_f, 2),                       \
            STEP(build_norm_f, 2, .prefix = "result_"), STEP(add_f, 2), STEPS_END, \
    }
static const struct step result_f[] = RESULT_STEPS(MLP_WGRAD);
static const struct step result_cast_f[] = RESULT_STEPS(NULL);
static const struct step result_b[] = {
    STEP(add_b, 2),
    STEP(build_norm_b, 2, .prefix = "result_"),
    STEP(mlp_b, 2),
    STEP(sum_b, 2),
    STEP(add_b, 1),
    STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(attention_b, 1),
    STEP(sum_b, 1),
    STEPS_END,
};

static struct layer choose(const struct build *b, bool second)
{
    const struct model *m = b->m;
    if (second)
        return (struct layer) { cross_f, cross_b };
    if (m->post_norm)
        return (struct layer) { post_norm_f, post_norm_b };
    if (m->no_input_norm)
        return (struct layer) { b->flags & HAS_AMP ? result_cast_f : result_f,
                                result_b };
    if (m->result_norm)
        return (struct layer) { around_f, around_b };
    if (m->parallel_residual && m->one_norm)
        return (struct layer) { parallel_one_f, parallel_one_b };
    if (m->parallel_residual)
        return (struct layer) { parallel_f, parallel_b };
    return (struct layer) { pre_norm_f, pre_norm_b };
}

/* Its input is kept for the first norm, or (norm behind) as the input of the products,
 * of which autocast keeps casts. */
void build_layer(struct build *b, struct op_block *block, enum stack stack)
{
    static const char *const names[] = { [STACK_ONLY] = "layer",
                                         [STACK_DENSE] = "dense_layer",
                                         [STACK_DECODER] = "decoder_layer" };
    const struct model *m = b->m;
    bool second = stack == STACK_DECODER;
    struct layer layer = choose(b, second);
    struct keep given = { .term = WIDE(1, A), .until = "norm1_bwd" };
    if (m->post_norm || m->no_input_norm)
        given.until = b->flags & HAS_AMP ? NULL : QKV_WGRAD;
    uint64_t flags = b->flags;
    b->mlp_number = second ? 3 : 2;
    if (m->arch == MODEL_DECODER || second)
        b->flags |= HAS_DECODER;
    build_block(b, block, names[stack],
                second ? m->decoder_layers : m->layers - m->dense_layers, layer.forward,
                layer.backward, given);
    b->flags = flags;
    b->mlp_number = 0;
}
