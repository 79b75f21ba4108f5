/* A transformer layer: norms, sums, and which sublayers come in which order. With every
 * precision and fusion its rows sum to the tables of MODEL.md, "Operator lists";
 * tests/unit/test_ops.c holds them to it. */
#include "model/build/build.h"
#include "model/pattern.h"

/* Norm, and what ends a sublayer --------------------------------------------------- */

/* RMSNorm of several kernels keeps its input in fp32 for the square and the product, and
 * what its weight multiplies, where that is trained: 4 B more than one kernel, which keeps
 * its input (transformers/models/llama/modeling_llama.py, LlamaRMSNorm). */
const struct row build_norm_f[] = {
    { ROW_OWNER, "norm#", MODULE_NORM, .unless = HAS_EAGER_RMS, .read = { WIDE(1, A) },
      .write = { WIDE(1, A) }, .keep = { KEEP(NARROW(1, I), "@", .unless = HAS_AMP) } },
    { ROW_OWNER, "norm#", MODULE_NORM, .when = HAS_EAGER_RMS, .launches = 6,
      .read = { WIDE(2, A), FP32(4, A) }, .write = { WIDE(2, A), FP32(3, A) },
      .keep = { KEEP(NARROW(1, I), "@", .unless = HAS_AMP),
                KEEP(FP32(1, A), "norm#_bwd", .unless = HAS_FROZEN_NORMS),
                KEEP(NARROW(1, A), "norm#_bwd",
                     .when = HAS_FROZEN_NORMS | HAS_CAST_LOSS, .unless = HAS_AMP) } },
    ROW_END,
};

const struct row build_norm_b[] = {
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .unless = HAS_EAGER_RMS, .launches = 2,
      .read = { WIDE(4, A) }, .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .when = HAS_EAGER_RMS, .launches = 10,
      .read = { WIDE(3, A), FP32(8, A) }, .write = { WIDE(2, A), FP32(5, A) } },
    ROW_END,
};

const struct row build_add_f[] = {
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

const struct row build_add_b[] = {
    { ROW_STREAM, "residual#_cast_bwd", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) } },
    { ROW_STREAM, "dropout#_bwd", .when = HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, A), MASK(1, A) }, .write = { NARROW(1, A) } },
    ROW_END,
};

const struct row build_sum_b[] = {
    { ROW_STREAM, "residual#_sum_bwd", .read = { WIDE(2, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};

/* Layers: which sublayers in which order ------------------------------------------- */

static const struct build_step post_norm_f[] = {
    STEP(build_attention_f, 1),
    STEP(build_add_f, 1, .user = "norm1_bwd"),
    STEP(build_norm_f, 1, .user = "up_wgrad"),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2, .user = "norm2_bwd"),
    STEP(build_norm_f, 2),
    STEPS_END,
};
static const struct build_step post_norm_b[] = {
    STEP(build_norm_b, 2),      STEP(build_add_b, 2),  STEP(build_mlp_b, 2),
    STEP(build_sum_b, 2),       STEP(build_norm_b, 1), STEP(build_add_b, 1),
    STEP(build_attention_b, 1), STEP(build_sum_b, 1),  STEPS_END,
};

static const struct build_step pre_norm_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_latent_f, 1),
    STEP(build_attention_f, 1),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step pre_norm_b[] = {
    STEP(build_add_b, 2),    STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2),   STEP(build_sum_b, 2),
    STEP(build_add_b, 1),    STEP(build_attention_b, 1),
    STEP(build_latent_b, 1), STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),    STEPS_END,
};

static const struct build_step parallel_f[] = {
    /* NeoX, falcon-40b */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_attention_f, 1),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 1),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step parallel_b[] = {
    STEP(build_add_b, 2),  STEP(build_add_b, 1),       STEP(build_mlp_b, 2),
    STEP(build_norm_b, 2), STEP(build_attention_b, 1), STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),  STEP(build_sum_b, 2),       STEPS_END,
};

static const struct build_step parallel_one_f[] = {
    /* GPT-J, falcon-7b */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_attention_f, 1),
    STEP(build_mlp_f, 2),
    STEP(build_add_f, 1),
    STEP(build_add_f, 2),
    STEPS_END,
};
static const struct build_step parallel_one_b[] = {
    STEP(build_add_b, 2), STEP(build_add_b, 1),
    STEP(build_mlp_b, 2), STEP(build_attention_b, 1),
    STEP(build_sum_b, 2), STEP(build_norm_b, 1),
    STEP(build_sum_b, 1), STEPS_END,
};

static const struct build_step cross_f[] = {
    /* decoder of T5 */
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_attention_f, 1),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = "cross_query_wgrad"),
    STEP(build_attention_f, 2, .prefix = "cross_"),
    STEP(build_add_f, 2, .user = "norm3_bwd"),
    STEP(build_norm_f, 3, .user = MLP_WGRAD),
    STEP(build_mlp_f, 3),
    STEP(build_add_f, 3),
    STEPS_END,
};
static const struct build_step cross_b[] = {
    STEP(build_add_b, 3),
    STEP(build_mlp_b, 3),
    STEP(build_norm_b, 3),
    STEP(build_sum_b, 3),
    STEP(build_add_b, 2),
    STEP(build_attention_b, 2, .prefix = "cross_"),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(build_attention_b, 1),
    STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

static const struct build_step cross_post_f[] = {
    /* decoder of BART */
    STEP(build_attention_f, 1),
    STEP(build_add_f, 1, .user = "norm1_bwd"),
    STEP(build_norm_f, 1, .user = "cross_query_wgrad"),
    STEP(build_attention_f, 2, .prefix = "cross_"),
    STEP(build_add_f, 2, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 3),
    STEP(build_add_f, 3, .user = "norm3_bwd"),
    STEP(build_norm_f, 3),
    STEPS_END,
};
static const struct build_step cross_post_b[] = {
    STEP(build_norm_b, 3),
    STEP(build_add_b, 3),
    STEP(build_mlp_b, 3),
    STEP(build_sum_b, 3),
    STEP(build_norm_b, 2),
    STEP(build_add_b, 2),
    STEP(build_attention_b, 2, .prefix = "cross_"),
    STEP(build_sum_b, 2),
    STEP(build_norm_b, 1),
    STEP(build_add_b, 1),
    STEP(build_attention_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

/* Gemma 2: norms of a sublayer's input and of its result. */
#define AROUND_F                                                          \
    STEP(build_norm_f, 1, .user = QKV_WGRAD), STEP(build_attention_f, 1), \
        STEP(build_norm_f, 1, .prefix = "result_"),                       \
        STEP(build_add_f, 1, .user = "norm2_bwd"),                        \
        STEP(build_norm_f, 2, .user = MLP_WGRAD), STEP(build_mlp_f, 2),   \
        STEP(build_norm_f, 2, .prefix = "result_")
#define AROUND_B                                                                 \
    STEP(build_add_b, 2), STEP(build_norm_b, 2, .prefix = "result_"),            \
        STEP(build_mlp_b, 2), STEP(build_norm_b, 2), STEP(build_sum_b, 2),       \
        STEP(build_add_b, 1), STEP(build_norm_b, 1, .prefix = "result_"),        \
        STEP(build_attention_b, 1), STEP(build_norm_b, 1), STEP(build_sum_b, 1), \
        STEPS_END
static const struct build_step around_f[] = { AROUND_F, STEP(build_add_f, 2),
                                              STEPS_END };
static const struct build_step around_b[] = { AROUND_B };

/* T5Gemma's decoder: norms of the input and of the result of each sublayer. */
static const struct build_step cross_around_f[] = {
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_attention_f, 1),
    STEP(build_norm_f, 1, .prefix = "result_"),
    STEP(build_add_f, 1, .user = "norm2_bwd"),
    STEP(build_norm_f, 2, .user = "cross_query_wgrad"),
    STEP(build_attention_f, 2, .prefix = "cross_"),
    STEP(build_norm_f, 2, .prefix = "cross_result_"),
    STEP(build_add_f, 2, .user = "norm3_bwd"),
    STEP(build_norm_f, 3, .user = MLP_WGRAD),
    STEP(build_mlp_f, 3),
    STEP(build_norm_f, 3, .prefix = "result_"),
    STEP(build_add_f, 3),
    STEPS_END,
};
static const struct build_step cross_around_b[] = {
    STEP(build_add_b, 3),
    STEP(build_norm_b, 3, .prefix = "result_"),
    STEP(build_mlp_b, 3),
    STEP(build_norm_b, 3),
    STEP(build_sum_b, 3),
    STEP(build_add_b, 2),
    STEP(build_norm_b, 2, .prefix = "cross_result_"),
    STEP(build_attention_b, 2, .prefix = "cross_"),
    STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(build_attention_b, 1),
    STEP(build_norm_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

/* Gemma 4: embeddings of this layer, gated by the stream, are added to it. */
static const struct row layer_inputs_f[] = {
    { ROW_STREAM, "layer_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "layer_gate_wgrad") } },
    { ROW_LINEAR, .part = MODULE_LAYER_GATE,
      .keep = { KEEP(NARROW(1, PI), "layer_activation_bwd") } },
    { ROW_STREAM, "layer_activation", .read = { NARROW(1, PI) },
      .write = { NARROW(1, PI) },
      .keep = { KEEP(NARROW(1, PI), "layer_multiply_bwd") } },
    { ROW_STREAM, "layer_multiply", .read = { NARROW(2, PI) },
      .write = { NARROW(1, PI) }, .keep = { KEEP(NARROW(1, PI), "layer_out_wgrad") } },
    { ROW_LINEAR, .part = MODULE_LAYER_OUT,
      .keep = { KEEP(NARROW(1, A), "result_norm#_bwd") } },
    ROW_END,
};
static const struct row layer_inputs_b[] = {
    { ROW_DGRAD, .part = MODULE_LAYER_OUT },
    { ROW_WGRAD, .part = MODULE_LAYER_OUT },
    { ROW_STREAM, "layer_multiply_bwd", .launches = 2, .read = { NARROW(3, PI) },
      .write = { NARROW(2, PI) } },
    { ROW_STREAM, "layer_activation_bwd", .read = { NARROW(2, PI) },
      .write = { NARROW(1, PI) } },
    { ROW_DGRAD, .part = MODULE_LAYER_GATE },
    { ROW_WGRAD, .part = MODULE_LAYER_GATE },
    { ROW_STREAM, "layer_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};
static const struct row layer_scale_f[] = {
    { ROW_STREAM, "layer_scale", .when = HAS_LAYER_SCALE, .in_place = true,
      .read = { WIDE(1, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};
static const struct row layer_scale_b[] = {
    { ROW_STREAM, "layer_scale_bwd", .when = HAS_LAYER_SCALE, .read = { WIDE(1, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};
static const struct build_step scaled_f[] = { AROUND_F, STEP(build_add_f, 2),
                                              STEP(layer_scale_f, 2), STEPS_END };
static const struct build_step scaled_b[] = { STEP(layer_scale_b, 2), AROUND_B };
static const struct build_step layer_inputs_steps_f[] = {
    AROUND_F,
    STEP(build_add_f, 2, .user = "layer_gate_wgrad"),
    STEP(layer_inputs_f, 3),
    STEP(build_norm_f, 3, .prefix = "result_"),
    STEP(build_add_f, 3),
    STEP(layer_scale_f, 3),
    STEPS_END,
};
static const struct build_step layer_inputs_steps_b[] = {
    STEP(layer_scale_b, 3),
    STEP(build_add_b, 3),
    STEP(build_norm_b, 3, .prefix = "result_"),
    STEP(layer_inputs_b, 3),
    STEP(build_sum_b, 3),
    AROUND_B,
};

/* Gemma 3n: one of several streams, with thin products next to attention. */
static const struct build_step altup_f[] = {
    STEP(build_altup_predict_f, 1),
    STEP(build_norm_f, 1, .user = QKV_WGRAD),
    STEP(build_laurel_f, 1),
    STEP(build_attention_f, 1),
    STEP(build_norm_f, 1, .prefix = "result_"),
    STEP(build_add_f, 1),
    STEP(build_laurel_sum_f, 1),
    STEP(build_norm_f, 2, .user = MLP_WGRAD),
    STEP(build_mlp_f, 2),
    STEP(build_norm_f, 2, .prefix = "result_"),
    STEP(build_add_f, 2),
    STEP(build_altup_correct_f, 2),
    STEP(layer_inputs_f, 3),
    STEP(build_norm_f, 3, .prefix = "result_"),
    STEP(build_altup_add_f, 3),
    STEPS_END,
};
static const struct build_step altup_b[] = {
    STEP(build_altup_add_b, 3),     STEP(build_norm_b, 3, .prefix = "result_"),
    STEP(layer_inputs_b, 3),        STEP(build_altup_correct_b, 2),
    STEP(build_add_b, 2),           STEP(build_norm_b, 2, .prefix = "result_"),
    STEP(build_mlp_b, 2),           STEP(build_norm_b, 2),
    STEP(build_sum_b, 2),           STEP(build_laurel_sum_b, 1),
    STEP(build_add_b, 1),           STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(build_attention_b, 1),     STEP(build_laurel_b, 1),
    STEP(build_norm_b, 1),          STEP(build_sum_b, 1),
    STEP(build_altup_predict_b, 1), STEPS_END,
};

/* OLMo 2: of its result alone. The sum is the next products' input, of which autocast
 * keeps casts. */
#define RESULT_STEPS(user_)                                                     \
    {                                                                           \
        STEP(build_attention_f, 1), STEP(build_norm_f, 1, .prefix = "result_"), \
            STEP(build_add_f, 1, .user = (user_)), STEP(build_mlp_f, 2),        \
            STEP(build_norm_f, 2, .prefix = "result_"), STEP(build_add_f, 2),   \
            STEPS_END,                                                          \
    }
static const struct build_step result_f[] = RESULT_STEPS(MLP_WGRAD);
static const struct build_step result_cast_f[] = RESULT_STEPS(NULL);
static const struct build_step result_b[] = {
    STEP(build_add_b, 2),
    STEP(build_norm_b, 2, .prefix = "result_"),
    STEP(build_mlp_b, 2),
    STEP(build_sum_b, 2),
    STEP(build_add_b, 1),
    STEP(build_norm_b, 1, .prefix = "result_"),
    STEP(build_attention_b, 1),
    STEP(build_sum_b, 1),
    STEPS_END,
};

static struct layer choose(const struct build *b, bool second)
{
    const struct model *m = b->m;
    struct layer own = build_mixer_layer(m);
    struct layer windowed = build_windowed_layer(m);
    if (own.forward)
        return own;
    if (windowed.forward)
        return windowed;
    if (second && m->norms.post)
        return (struct layer) { cross_post_f, cross_post_b };
    if (second && m->norms.result)
        return (struct layer) { cross_around_f, cross_around_b };
    if (second)
        return (struct layer) { cross_f, cross_b };
    if (m->norms.post)
        return (struct layer) { post_norm_f, post_norm_b };
    if (m->norms.no_input)
        return (struct layer) { b->flags & HAS_AMP ? result_cast_f : result_f,
                                result_b };
    if (m->altup.inputs > 0)
        return (struct layer) { altup_f, altup_b };
    if (m->layer_inputs.columns > 0)
        return (struct layer) { layer_inputs_steps_f, layer_inputs_steps_b };
    if (m->layer_scale)
        return (struct layer) { scaled_f, scaled_b };
    if (m->norms.result)
        return (struct layer) { around_f, around_b };
    if (m->parallel_residual && m->norms.one)
        return (struct layer) { parallel_one_f, parallel_one_b };
    if (m->parallel_residual)
        return (struct layer) { parallel_f, parallel_b };
    return (struct layer) { pre_norm_f, pre_norm_b };
}

/* Its input is kept for the first norm, or (norm after) as the input of the products,
 * of which autocast keeps casts. */
void build_layer(struct build *b, struct op_block *block, enum stack stack)
{
    static const char *const names[] = { [STACK_ONLY] = "layer",
                                         [STACK_DENSE] = "dense_layer",
                                         [STACK_DECODER] = "decoder_layer",
                                         [STACK_VISION] = "vision_layer" };
    const struct model *m = b->m;
    const char *name =
        stack == STACK_PATTERN ? model_kind_name(m, m->kind) : names[stack];
    bool second = stack == STACK_DECODER || m->crosses;
    struct layer layer = choose(b, second);
    struct keep given = { .term = WIDE(1, A), .until = "norm1_bwd|norm2_bwd" };
    if (m->norms.post || m->norms.no_input)
        given.until = b->flags & HAS_AMP ? NULL : QKV_WGRAD;
    flagset flags = b->flags;
    b->mlp_number = second ? 3 : 2;
    if (m->arch == MODEL_DECODER || second)
        b->flags |= HAS_DECODER;
    build_block(b, block, name,
                stack == STACK_DECODER ? m->decoder_layers
                                       : m->layers - m->mlp.dense_layers,
                layer.forward, layer.backward, given);
    b->flags = flags;
    b->mlp_number = 0;
    if (stack != STACK_VISION)
        build_tiles(b, block);
}
