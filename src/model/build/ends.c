/* Rows of what is below and above the layers: embeddings, the bridge between the
 * stacks of an encoder-decoder, heads and losses. Losses run in fp32. */
#include "model/build/emit.h"

/* Embedding ------------------------------------------------------------------------ */

static const struct row embedding_f[] = {
    { ROW_STREAM, "patch_unfold", .when = HAS_PATCHES, .read = { NARROW(1, PATCH) },
      .write = { NARROW(1, PATCH) },
      .keep = { KEEP(NARROW(1, PATCH), "patch_wgrad") } },
    { ROW_LINEAR, .part = MODULE_PATCH, .when = HAS_PATCHES },
    { ROW_OWNER, "word_gather", MODULE_WORD, .unless = HAS_PATCHES,
      .read = { WIDE(1, X) }, .write = { WIDE(1, X) },
      .keep = { KEEP(NARROW(1, PATCH), "patch_wgrad", .when = HAS_WORD_PRODUCT) } },
    { ROW_LINEAR, .part = MODULE_PATCH, .when = HAS_WORD_PRODUCT },
    { ROW_OWNER, "position_gather", MODULE_PLACE, .when = HAS_POSITIONS,
      .read = { WIDE(1, X) }, .write = { WIDE(1, X) } },
    { ROW_STREAM, "position_sum", .when = HAS_POSITIONS, .read = { WIDE(2, X) },
      .write = { WIDE(1, X) } },
    { ROW_OWNER, "token_type_gather", MODULE_TYPE, .when = HAS_TYPES,
      .read = { WIDE(1, X) }, .write = { WIDE(1, X) } },
    { ROW_STREAM, "token_type_sum", .when = HAS_TYPES, .read = { WIDE(2, X) },
      .write = { WIDE(1, X) } },
    ROW_END,
};
/* Embeddings that each layer adds: of its own table, and a product of the words. */
static const struct row layer_words_f[] = {
    { ROW_OWNER, "layer_word_gather", MODULE_LAYER_WORD, .when = HAS_LAYER_INPUTS,
      .launches = 2, .read = { NARROW(2, PALL) }, .write = { NARROW(2, PALL) } },
    { ROW_STREAM, "layer_words_cast", .when = HAS_LAYER_INPUTS | HAS_AMP,
      .read = { WIDE(1, A) }, .write = { NARROW(1, A) },
      .keep = { KEEP(NARROW(1, A), "layer_project_wgrad",
                     .when = HAS_LAYER_INPUTS_BWD) } },
    { ROW_LINEAR, .part = MODULE_LAYER_PROJECT, .when = HAS_LAYER_INPUTS,
      .keep = { KEEP(NARROW(1, PALL), "layer_inputs_norm_bwd",
                     .when = HAS_LAYER_INPUTS_BWD) } },
    { ROW_OWNER, "layer_inputs_norm", MODULE_LAYER_NORM, .when = HAS_LAYER_INPUTS,
      .launches = 2, .read = { NARROW(2, PALL) }, .write = { NARROW(2, PALL) } },
    { ROW_STREAM, "layer_inputs_sum", .when = HAS_LAYER_INPUTS, .launches = 2,
      .read = { NARROW(3, PALL) }, .write = { NARROW(2, PALL) },
      .made = NARROW(1, PALL),
      .keep = { KEEP(NARROW(1, PALL), "layer_inputs_sum_bwd") } },
    ROW_END,
};
static const struct row layer_words_b[] = {
    { ROW_STREAM, "layer_inputs_sum_bwd", .when = HAS_LAYER_INPUTS,
      .read = { NARROW(1, PALL) }, .write = { NARROW(1, PALL) } },
    { ROW_OWNER_BWD, "layer_inputs_norm_bwd", MODULE_LAYER_NORM,
      .when = HAS_LAYER_INPUTS | HAS_LAYER_INPUTS_BWD, .launches = 2,
      .read = { NARROW(4, PALL) }, .write = { NARROW(1, PALL) } },
    { ROW_DGRAD, .part = MODULE_LAYER_PROJECT,
      .when = HAS_LAYER_INPUTS | HAS_LAYER_INPUTS_BWD },
    { ROW_WGRAD, .part = MODULE_LAYER_PROJECT,
      .when = HAS_LAYER_INPUTS | HAS_LAYER_INPUTS_BWD },
    { ROW_STREAM, "layer_words_sum_bwd", .when = HAS_LAYER_INPUTS,
      .unless = HAS_FROZEN_EMBEDDING, .read = { WIDE(2, A) }, .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "layer_word_scatter", MODULE_LAYER_WORD, .when = HAS_LAYER_INPUTS,
      .launches = 4, .read = { WIDE(1, PALL) },
      .write = { WIDE(1, PWORD), WIDE(1, PALL) } },
    ROW_END,
};
static const struct row embedded_f[] = {
    { ROW_OWNER, "relative_bias_gather", MODULE_BIAS, .when = HAS_RELATIVE,
      .unless = HAS_RELATIVE_EACH },
    { ROW_OWNER, "relative_rows", MODULE_RELATIVE, .when = HAS_PLACE_KEYS },
    { ROW_OWNER, "relative_rows_norm", MODULE_RELATIVE_NORM, .when = HAS_PLACE_NORM,
      .read = { WIDE(1, DW) }, .write = { WIDE(1, DW) },
      .keep = { KEEP(WIDE(1, DW), "relative_rows_norm_bwd") } },
    { ROW_STREAM, "dropout", .when = HAS_HIDDEN_DROPOUT, .read = { WIDE(1, A) },
      .write = { WIDE(1, A), MASK(1, A) },
      .keep = { KEEP(MASK(1, A), "dropout_bwd") } },
    ROW_END,
};

static const struct row embedded_b[] = {
    { ROW_STREAM, "dropout_bwd", .when = HAS_HIDDEN_DROPOUT,
      .unless = HAS_FROZEN_EMBEDDING, .read = { WIDE(1, A), MASK(1, A) },
      .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "relative_bias_scatter", MODULE_BIAS, .when = HAS_RELATIVE,
      .unless = HAS_RELATIVE_EACH },
    { ROW_OWNER_BWD, "relative_rows_norm_bwd", MODULE_RELATIVE_NORM,
      .when = HAS_PLACE_NORM, .launches = 2, .read = { WIDE(4, DW) },
      .write = { WIDE(1, DW) } },
    { ROW_OWNER_BWD, "relative_rows_bwd", MODULE_RELATIVE, .when = HAS_PLACE_KEYS,
      .read = { WIDE(1, DW) }, .write = { WIDE(1, DW) } },
    ROW_END,
};
static const struct row embedding_b[] = {
    { ROW_OWNER_BWD, "token_type_scatter", MODULE_TYPE, .when = HAS_TYPES,
      .launches = 2, .read = { WIDE(1, X) }, .write = { WIDE(1, TYPE) } },
    { ROW_OWNER_BWD, "position_scatter", MODULE_PLACE, .when = HAS_POSITIONS,
      .launches = 2, .read = { WIDE(1, X) }, .write = { WIDE(1, PLACE) } },
    { ROW_STREAM, "tied_sum", .when = HAS_TIED, .unless = HAS_FROZEN_EMBEDDING,
      .same_node = true, .read = { WIDE(2, WORD) }, .write = { WIDE(1, WORD) } },
    { ROW_DGRAD, .part = MODULE_PATCH, .when = HAS_WORD_PRODUCT,
      .unless = HAS_FROZEN_EMBEDDING },
    { ROW_WGRAD, .part = MODULE_PATCH, .when = HAS_WORD_PRODUCT },
    { ROW_BIAS, .part = MODULE_PATCH, .when = HAS_WORD_PRODUCT },
    { ROW_OWNER_BWD, "word_scatter", MODULE_WORD, .unless = HAS_PATCHES, .launches = 4,
      .read = { WIDE(1, X) }, .write = { WIDE(1, WORD), WIDE(1, X) } },
    { ROW_WGRAD, .part = MODULE_PATCH, .when = HAS_PATCHES },
    { ROW_BIAS, .part = MODULE_PATCH, .when = HAS_PATCHES },
    ROW_END,
};

static const struct build_step embedding_steps_f[] = {
    STEP(embedding_f, 0),
    STEP(layer_words_f, 0),
    STEP(build_altup_in_f, 0),
    STEP(embedded_f, 0),
    STEPS_END,
};
static const struct build_step embedding_steps_b[] = {
    STEP(embedded_b, 0),
    STEP(build_altup_in_b, 0),
    STEP(layer_words_b, 0),
    STEP(embedding_b, 0),
    STEPS_END,
};
static const struct build_step embedding_normed_f[] = {
    STEP(embedding_f, 0),
    STEP(build_norm_f, 0),
    STEP(embedded_f, 0),
    STEPS_END,
};
static const struct build_step embedding_normed_b[] = {
    STEP(embedded_b, 0),
    STEP(build_norm_b, 0),
    STEP(embedding_b, 0),
    STEPS_END,
};

/* A convolution over tokens after it (model/build/token_conv.c). */
static const struct build_step embedding_conv_f[] = {
    STEP(embedding_f, 0),
    STEP(build_norm_f, 0, .user = "position_conv_wgrad"),
    STEP(embedded_f, 0),
    STEP(build_token_conv_f, 0),
    STEP(build_norm_f, 0, .prefix = "conv_"),
    STEPS_END,
};
static const struct build_step embedding_conv_b[] = {
    STEP(build_norm_b, 0, .prefix = "conv_"),
    STEP(build_token_conv_b, 0),
    STEP(embedded_b, 0),
    STEP(build_norm_b, 0),
    STEP(embedding_b, 0),
    STEPS_END,
};

/* Bridge --------------------------------------------------------------------------- */

/* The encoder's last norm, then the decoder's embedding (the same matrix, whose
 * gradient the embedding block completes). */

static const struct row encoder_end_f[] = {
    { ROW_STREAM, "encoder_dropout", .when = HAS_MEMORY_DROPOUT, .read = { WIDE(1, A) },
      .write = { WIDE(1, A), MASK(1, A) },
      .keep = { KEEP(MASK(1, A), "encoder_dropout_bwd"),
                KEEP(WIDE(1, A), "encoder_dropout_bwd") } },
    ROW_END,
};
/* With what came before it is kept the encoder's result, which all layers read. */
static const struct row decoder_words_f[] = {
    { ROW_STREAM, "word_gather", .unless = HAS_OWN_WORDS, .read = { WIDE(1, X) },
      .write = { WIDE(1, X) },
      .keep = { KEEP(WIDE(1, A), "word_scatter",
                     .unless = HAS_MEMORY_DROPOUT | HAS_FROZEN_EMBEDDING) } },
    { ROW_OWNER, "word_gather", MODULE_WORD, .when = HAS_OWN_WORDS,
      .read = { WIDE(1, X) }, .write = { WIDE(1, X) },
      .keep = { KEEP(WIDE(1, A), "word_scatter", .unless = HAS_FROZEN_EMBEDDING) } },
    { ROW_OWNER, "position_gather", MODULE_PLACE, .when = HAS_POSITIONS,
      .read = { WIDE(1, X) }, .write = { WIDE(1, X) } },
    { ROW_STREAM, "position_sum", .when = HAS_POSITIONS, .read = { WIDE(2, X) },
      .write = { WIDE(1, X) },
      .keep = { KEEP(WIDE(1, A), "norm_bwd", .when = HAS_EMBEDDING_NORM) } },
    ROW_END,
};
static const struct row decoder_words_b[] = {
    { ROW_OWNER_BWD, "position_scatter", MODULE_PLACE, .when = HAS_POSITIONS,
      .launches = 2, .read = { WIDE(1, X) }, .write = { WIDE(1, PLACE) } },
    { ROW_STREAM, "tied_sum", .when = HAS_OWN_WORDS | HAS_TIED,
      .unless = HAS_FROZEN_EMBEDDING, .same_node = true, .read = { WIDE(2, WORD) },
      .write = { WIDE(1, WORD) } },
    { ROW_STREAM, "word_scatter", .unless = HAS_FROZEN_EMBEDDING | HAS_OWN_WORDS,
      .launches = 4, .read = { WIDE(1, X) }, .write = { WIDE(1, WORD), WIDE(1, X) } },
    { ROW_OWNER_BWD, "word_scatter", MODULE_WORD, .when = HAS_OWN_WORDS, .launches = 4,
      .read = { WIDE(1, X) }, .write = { WIDE(1, WORD), WIDE(1, X) } },
    ROW_END,
};
static const struct row encoder_end_b[] = {
    { ROW_STREAM, "encoder_dropout_bwd", .when = HAS_MEMORY_DROPOUT,
      .read = { WIDE(1, A), MASK(1, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};

enum bridge_part {
    ENCODER_NORM,
    ENCODER_END,
    WORDS,
    WORDS_NORM,
    EMBEDDED,
    BRIDGE_PARTS
};

static const struct {
    struct build_step forward, backward;
} bridge_parts[] = {
    [ENCODER_NORM] = { STEP(build_norm_f, 0, .prefix = "encoder_"),
                       STEP(build_norm_b, 0, .prefix = "encoder_") },
    [ENCODER_END] = { STEP(encoder_end_f, 0), STEP(encoder_end_b, 0) },
    [WORDS] = { STEP(decoder_words_f, 0), STEP(decoder_words_b, 0) },
    [WORDS_NORM] = { STEP(build_norm_f, 0), STEP(build_norm_b, 0) },
    [EMBEDDED] = { STEP(embedded_f, 0), STEP(embedded_b, 0) },
};

/* Parts of heads ------------------------------------------------------------------- */

static const struct row head_cast_f[] = {
    { ROW_STREAM, "head_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) },
      .keep = { KEEP(NARROW(1, I), "logits_wgrad|classes_wgrad") } },
    ROW_END,
};
static const struct row head_cast_b[] = {
    { ROW_STREAM, "head_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};

/* Predicted positions (all, or those gathered) through dense, activation and norm. */
static const struct row masked_f[] = {
    { ROW_STREAM, "predicted_gather", .when = HAS_PREDICTED, .read = { WIDE(1, P) },
      .write = { WIDE(1, P) },
      .keep = { KEEP(WIDE(1, P), "dense_wgrad", .unless = HAS_AMP) } },
    { ROW_STREAM, "dense_cast_in", .when = HAS_AMP, .read = { WIDE(1, P) },
      .write = { NARROW(1, P) }, .keep = { KEEP(NARROW(1, P), "dense_wgrad") } },
    { ROW_LINEAR, .part = MODULE_DENSE,
      .keep = { KEEP(NARROW(1, P), "dense_activation_bwd") } },
    { ROW_STREAM, "dense_activation", .read = { NARROW(1, P) },
      .write = { NARROW(1, P) }, .keep = { KEEP(NARROW(1, P), "dense_norm_bwd") } },
    { ROW_OWNER, "dense_norm", MODULE_NORM, .read = { NARROW(1, P) },
      .write = { WIDE(1, P) },
      .keep = { KEEP(NARROW(1, P), "logits_wgrad", .unless = HAS_AMP) } },
    { ROW_STREAM, "logits_cast_in", .when = HAS_AMP, .read = { WIDE(1, P) },
      .write = { NARROW(1, P) }, .keep = { KEEP(NARROW(1, P), "logits_wgrad") } },
    ROW_END,
};
static const struct row masked_b[] = {
    { ROW_STREAM, "logits_cast_in_bwd", .when = HAS_AMP, .read = { NARROW(1, P) },
      .write = { WIDE(1, P) } },
    { ROW_OWNER_BWD, "dense_norm_bwd", MODULE_NORM, .launches = 2,
      .read = { WIDE(2, P), NARROW(2, P) }, .write = { NARROW(1, P) } },
    { ROW_STREAM, "dense_activation_bwd", .read = { NARROW(2, P) },
      .write = { NARROW(1, P) } },
    { ROW_DGRAD, .part = MODULE_DENSE },
    { ROW_WGRAD, .part = MODULE_DENSE },
    { ROW_BIAS, .part = MODULE_DENSE },
    { ROW_STREAM, "dense_cast_in_bwd", .when = HAS_AMP, .read = { NARROW(1, P) },
      .write = { WIDE(1, P) } },
    { ROW_STREAM, "predicted_scatter", .when = HAS_PREDICTED, .read = { WIDE(1, P) },
      .write = { WIDE(1, X) } },
    ROW_END,
};

/* Logits over the vocabulary, and their loss: the logits, their fp32 copy and the
 * log-softmax are kept, and backward makes the gradient of the logits out of that; in
 * place, the fp32 copy becomes the softmax. Fused, the loss makes one number a token,
 * and the gradient of the logits, in their place or in addition to them. Compiled over a
 * split vocabulary it keeps the log-softmax, too, and scatters into a zeroed copy. Raw,
 * log-softmax and both gradients have the logits' 16 bits. */
static const struct row loss_f[] = {
    { ROW_LINEAR, .part = MODULE_DENSE, .when = HAS_WORD_OUT,
      .keep = { KEEP(NARROW(1, PATCH), "logits_wgrad") } },
    { ROW_LINEAR, .part = MODULE_LOGITS,
      .keep = { KEEP(NARROW(1, V), "loss_bwd", .unless = HAS_LOSS_IN_PLACE),
                KEEP(NARROW(1, V), "logits_wgrad",
                     .when = HAS_FUSED_LOSS | HAS_LOSS_IN_PLACE),
                KEEP(NARROW(1, V), "logits_wgrad", .when = HAS_KEPT_LOGITS) } },
    { ROW_STREAM, "logits_gather", .when = HAS_LIST_GATHER, .launches = 2,
      .read = { NARROW(2, V) }, .write = { NARROW(2, V) }, .made = NARROW(2, V) },
    { ROW_STREAM, "logit_softcap", .when = HAS_LOGIT_SOFTCAP, .launches = 3,
      .read = { NARROW(3, V) }, .write = { NARROW(3, V) }, .made = NARROW(2, V),
      .keep = { KEEP(NARROW(1, V), "logit_softcap_bwd") } },
    { ROW_STREAM, "loss", .when = HAS_LOSS_IN_PLACE, .unless = HAS_FUSED_LOSS,
      .launches = 5, .read = { LOSS(1, V) }, .write = { LOSS(1, V) },
      .made = FP32(1, V), .keep = { KEEP(FP32(1, V), "loss_bwd") } },
    { ROW_STREAM, "loss", .when = HAS_RAW_LOSS, .launches = 2, .read = { LOSS(1, V) },
      .write = { LOSS(1, V) }, .made = NARROW(1, V),
      .keep = { KEEP(NARROW(1, V), "loss_bwd") } },
    { ROW_STREAM, "loss", .unless = HAS_FUSED_LOSS | HAS_LOSS_IN_PLACE | HAS_RAW_LOSS,
      .launches = 5, .read = { LOSS(1, V) }, .write = { LOSS(1, V) },
      .made = FP32(1, V),
      .keep = { KEEP(FP32(1, V), "loss_bwd"),
                KEEP(FP32(1, V), "loss_bwd", .when = HAS_CAST_LOSS) } },
    { ROW_STREAM, "loss", .when = HAS_FUSED_LOSS, .unless = HAS_SPLIT_LOSS,
      .in_place = true, .read = { LOSS(1, V) }, .write = { LOSS(1, V) } },
    { ROW_STREAM, "loss", .when = HAS_FUSED_LOSS | HAS_SPLIT_LOSS,
      .read = { LOSS(1, V) }, .write = { LOSS(1, V), FP32(1, V) }, .made = FP32(1, V),
      .keep = { KEEP(FP32(1, V), "loss_bwd") } },
    ROW_END,
};
static const struct row loss_b[] = {
    { ROW_STREAM, "loss_bwd", .when = HAS_RAW_LOSS, .launches = 2,
      .read = { LOSS(1, V) }, .write = { LOSS(1, V) }, .made = NARROW(2, V) },
    { ROW_STREAM, "loss_bwd", .unless = HAS_FUSED_LOSS | HAS_RAW_LOSS, .launches = 4,
      .read = { LOSS(1, V) }, .write = { LOSS(1, V) }, .made = LOSS_BWD(1, V) },
    { ROW_STREAM, "loss_bwd", .when = HAS_FUSED_LOSS,
      .unless = HAS_LOSS_IN_PLACE | HAS_SPLIT_LOSS, .read = { LOSS(1, V) },
      .write = { LOSS(1, V) }, .made = NARROW(1, V) },
    { ROW_STREAM, "loss_bwd", .when = HAS_FUSED_LOSS | HAS_SPLIT_LOSS,
      .unless = HAS_LOSS_IN_PLACE, .read = { LOSS(1, V), FP32(2, V) },
      .write = { LOSS(1, V), FP32(1, V) }, .made = LOSS_BWD(1, V) },
    { ROW_STREAM, "loss_bwd", .when = HAS_FUSED_LOSS | HAS_LOSS_IN_PLACE,
      .in_place = true, .read = { LOSS(1, V) }, .write = { LOSS(1, V) } },
    { ROW_STREAM, "logit_softcap_bwd", .when = HAS_LOGIT_SOFTCAP, .launches = 3,
      .read = { NARROW(4, V) }, .write = { NARROW(3, V) }, .made = NARROW(2, V) },
    { ROW_DGRAD, .part = MODULE_LOGITS },
    { ROW_WGRAD, .part = MODULE_LOGITS },
    { ROW_BIAS, .part = MODULE_LOGITS },
    { ROW_DGRAD, .part = MODULE_DENSE, .when = HAS_WORD_OUT },
    { ROW_WGRAD, .part = MODULE_DENSE, .when = HAS_WORD_OUT },
    ROW_END,
};

/* The first token of each sequence through dense and tanh. */
static const struct row pooler_f[] = {
    { ROW_STREAM, "first_token", .read = { NARROW(1, O) }, .write = { NARROW(1, O) },
      .keep = { KEEP(NARROW(1, O), "pooler_wgrad") } },
    { ROW_LINEAR, .part = MODULE_POOLER },
    { ROW_STREAM, "pooler_tanh", .read = { NARROW(1, O) }, .write = { NARROW(1, O) },
      .keep = { KEEP(NARROW(1, O), "pooler_tanh_bwd") } },
    ROW_END,
};
static const struct row pooler_b[] = {
    { ROW_STREAM, "pooler_tanh_bwd", .read = { NARROW(2, O) },
      .write = { NARROW(1, O) } },
    { ROW_DGRAD, .part = MODULE_POOLER },
    { ROW_WGRAD, .part = MODULE_POOLER },
    { ROW_BIAS, .part = MODULE_POOLER },
    { ROW_STREAM, "first_token_bwd", .read = { NARROW(1, O) },
      .write = { WIDE(1, X) } },
    ROW_END,
};

/* A few logits: of each position (span) or of each sequence (class, next sentence). */
static const struct row classes_f[] = {
    { ROW_LINEAR, .part = MODULE_CLASSES,
      .keep = { KEEP(NARROW(1, C), "classes_loss_bwd") } },
    { ROW_STREAM, "classes_loss", .launches = 8, .read = { FP32(4, C) },
      .write = { FP32(3, C) }, .keep = { KEEP(FP32(2, C), "classes_loss_bwd") } },
    ROW_END,
};
static const struct row classes_b[] = {
    { ROW_STREAM, "classes_loss_bwd", .launches = 8, .read = { FP32(4, C) },
      .write = { FP32(3, C) } },
    { ROW_DGRAD, .part = MODULE_CLASSES },
    { ROW_WGRAD, .part = MODULE_CLASSES },
    { ROW_BIAS, .part = MODULE_CLASSES },
    ROW_END,
};

/* Heads: segments in order of forward; backward runs them in reverse. */
enum segment { STREAMS, NORM, POOL, MASKED, CAST, VOCAB, CLASSES, CONTRAST, SEGMENTS };

static const struct {
    struct build_step forward, backward;
} segments[] = {
    [STREAMS] = { STEP(build_altup_out_f, 0), STEP(build_altup_out_b, 0) },
    [NORM] = { STEP(build_norm_f, 0, .prefix = "final_"),
               STEP(build_norm_b, 0, .prefix = "final_") },
    [POOL] = { STEP(pooler_f, 0), STEP(pooler_b, 0) },
    [MASKED] = { STEP(masked_f, 0), STEP(masked_b, 0) },
    [CAST] = { STEP(head_cast_f, 0), STEP(head_cast_b, 0) },
    [VOCAB] = { STEP(loss_f, 0), STEP(loss_b, 0) },
    [CLASSES] = { STEP(classes_f, 0), STEP(classes_b, 0) },
    [CONTRAST] = { STEP(build_contrast_f, 0), STEP(build_contrast_b, 0) },
};

/* Which segments a head has, and the backward operator that last needs its input. */
static const struct {
    uint64_t segments;
    const char *user;
} heads[] = {
    [MODEL_HEAD_NONE] = { 0, NULL },
    [MODEL_HEAD_CAUSAL_LM] = { 1 << CAST | 1 << VOCAB, "logits_wgrad" },
    [MODEL_HEAD_MASKED_LM] = { 1 << MASKED | 1 << VOCAB, "dense_wgrad" },
    [MODEL_HEAD_PRETRAIN] = { 1 << POOL | 1 << MASKED | 1 << VOCAB | 1 << CLASSES,
                              "dense_wgrad" },
    [MODEL_HEAD_SPAN] = { 1 << CAST | 1 << CLASSES, "classes_wgrad" },
    [MODEL_HEAD_CLASS] = { 1 << POOL | 1 << CLASSES, NULL },
    [MODEL_HEAD_SCORE] = { 1 << CAST | 1 << CLASSES, "classes_wgrad" },
    [MODEL_HEAD_CONTRAST] = { 1 << CONTRAST, NULL },
    [MODEL_HEAD_DENOISE] = { 0, NULL }, /* model/build/diffusion.c */
};

/* The one module of the block that comes. */
static void enter(struct build *b, enum op_module module)
{
    b->module = module;
    b->elements = b->sizes[module];
}

void build_embedding(struct build *b, struct op_block *block)
{
    enter(b, OP_EMBEDDING);
    bool normed = b->flags & HAS_EMBEDDING_NORM;
    struct keep given = { .term = WIDE(normed ? 1 : 0, A), .until = "norm_bwd" };
    flagset flags = b->flags;
    if (b->m->ends.frames)
        b->flags &= ~(HAS_POSITIONS | HAS_TIED);
    const struct layer steps =
        b->m->ends.conv > 0 ? (struct layer) { embedding_conv_f, embedding_conv_b }
        : normed            ? (struct layer) { embedding_normed_f, embedding_normed_b }
                            : (struct layer) { embedding_steps_f, embedding_steps_b };
    if (b->m->ends.conv > 0)
        build_token_conv(b);
    build_block(b, block, "embedding", 1, steps.forward, steps.backward, given);
    if (b->m->idle > 0)
        build_freeze(b, MODULE_IDLE,
                     build_param(b, "idle.weight", (double)b->m->idle, false));
    b->flags = flags;
}

void build_bridge(struct build *b, struct op_block *block)
{
    struct build_step forward[BRIDGE_PARTS + 1] = { 0 };
    struct build_step backward[BRIDGE_PARTS + 1] = { 0 };
    const bool has[] = { [ENCODER_NORM] = b->m->norms.final,
                         [ENCODER_END] = true,
                         [WORDS] = true,
                         [WORDS_NORM] = b->flags & HAS_EMBEDDING_NORM,
                         [EMBEDDED] = true };
    struct keep given = { .term = WIDE(has[ENCODER_NORM] ? 1 : 0, A),
                          .until = "encoder_norm_bwd" };
    int n = 0;
    for (int i = 0; i < BRIDGE_PARTS; i++)
        if (has[i])
            forward[n++] = bridge_parts[i].forward;
    for (int i = 0; i < BRIDGE_PARTS; i++)
        if (has[i])
            backward[--n] = bridge_parts[i].backward;
    enter(b, OP_EMBEDDING);
    if (b->m->ends.frames || b->m->ends.words_apart)
        b->flags |= HAS_OWN_WORDS;
    build_block(b, block, "decoder_embedding", 1, forward, backward, given);
}

/* A norm keeps its input; other heads share what the first product keeps, unless it is
 * gathered or cast. */
static struct keep head_given(const struct build *b, const char *user)
{
    struct keep given = { .term = WIDE(1, A), .until = user };
    if (b->m->altup.inputs > 0)
        given.until = NULL; /* the streams' mean is kept */
    else if (b->m->norms.final)
        given.until = "final_norm_bwd";
    else if (b->flags & (HAS_AMP | HAS_PREDICTED))
        given.until = NULL;
    return given;
}

void build_head(struct build *b, struct op_block *block)
{
    enter(b, OP_HEAD);
    struct build_step forward[SEGMENTS + 1] = { 0 }, backward[SEGMENTS + 1] = { 0 };
    uint64_t has = heads[b->m->ends.head].segments;
    const char *user = heads[b->m->ends.head].user;
    if (b->m->norms.final)
        has |= 1 << NORM;
    if (b->m->altup.inputs > 0)
        has |= 1 << STREAMS;
    if (b->m->ends.head == MODEL_HEAD_NONE && b->m->ends.pooler)
        has |= 1 << POOL;
    int n = 0;
    for (int i = 0; i < SEGMENTS; i++)
        if (has & 1u << i)
            forward[n++] = segments[i].forward;
    n = 0;
    for (int i = SEGMENTS - 1; i >= 0; i--)
        if (has & 1u << i)
            backward[n++] = segments[i].backward;
    if (b->m->norms.final)
        forward[b->m->altup.inputs > 0].user = b->flags & HAS_PREDICTED ? NULL : user;
    build_block(b, block, "head", 1, forward, backward, head_given(b, user));
    build_chunks(b, block);
}
