/* What reads the samples of a sound (Wav2Vec2 and its kin): convolutions, each over the
 * result of the one before, a norm and a product to the hidden size, and positions by a
 * convolution over tokens. All of it is the embedding's block.
 *
 *   samples | conv 1, norm, gelu | ... | conv n, gelu | norm, product | + positions
 *
 * Each convolution counts as a product of as many rows, kernel x columns wide, whose rows
 * share what they read (MODEL.md, 2.13). Sources: transformers 5,
 * models/wav2vec2/modeling_wav2vec2.py, Wav2Vec2FeatureEncoder,
 * Wav2Vec2PositionalConvEmbedding. */
#include "model/build/emit.h"

#include <string.h>

/* One convolution. Autocast norms in fp32, and the next one reads 16 bits again. */
static const struct row conv_f[] = {
    { ROW_LINEAR, .part = MODULE_CONV,
      .keep = { KEEP(NARROW(1, CY), "norm#_bwd", .when = HAS_CONV_NORM),
                KEEP(NARROW(1, CY), "gelu#_bwd", .unless = HAS_CONV_NORM) } },
    { ROW_OWNER, "norm#", MODULE_NORM, .when = HAS_CONV_NORM, .read = { NARROW(1, CY) },
      .write = { WIDE(1, CY) }, .keep = { KEEP(WIDE(1, CY), "gelu#_bwd") } },
    { ROW_STREAM, "gelu#", .when = HAS_CONV_NORM, .read = { WIDE(1, CY) },
      .write = { WIDE(1, CY) }, .keep = { KEEP(WIDE(1, CY), "@", .unless = HAS_AMP) } },
    { ROW_STREAM, "conv#_cast_out", .when = HAS_CONV_NORM | HAS_AMP,
      .read = { WIDE(1, CY) }, .write = { NARROW(1, CY) },
      .keep = { KEEP(NARROW(1, CY), "@") } },
    { ROW_STREAM, "gelu#", .unless = HAS_CONV_NORM, .read = { NARROW(1, CY) },
      .write = { NARROW(1, CY) }, .keep = { KEEP(NARROW(1, CY), "@") } },
    ROW_END,
};
static const struct row conv_b[] = {
    { ROW_STREAM, "conv#_cast_out_bwd", .when = HAS_CONV_NORM | HAS_AMP,
      .read = { NARROW(1, CY) }, .write = { WIDE(1, CY) } },
    { ROW_STREAM, "gelu#_bwd", .when = HAS_CONV_NORM, .read = { WIDE(2, CY) },
      .write = { WIDE(1, CY) } },
    { ROW_STREAM, "gelu#_bwd", .unless = HAS_CONV_NORM, .read = { NARROW(2, CY) },
      .write = { NARROW(1, CY) } },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .when = HAS_CONV_NORM, .launches = 2,
      .read = { WIDE(2, CY), NARROW(2, CY) }, .write = { NARROW(1, CY) } },
    { ROW_DGRAD, .part = MODULE_CONV, .when = HAS_CONV_BELOW },
    { ROW_WGRAD, .part = MODULE_CONV },
    { ROW_BIAS, .part = MODULE_CONV },
    ROW_END,
};

static const struct row features_f[] = {
    { ROW_OWNER, "norm", MODULE_NORM, .read = { NARROW(1, PATCH) },
      .write = { WIDE(1, PATCH) },
      .keep = { KEEP(WIDE(1, PATCH), "patch_wgrad", .unless = HAS_AMP) } },
    { ROW_STREAM, "cast", .when = HAS_AMP, .read = { WIDE(1, PATCH) },
      .write = { NARROW(1, PATCH) },
      .keep = { KEEP(NARROW(1, PATCH), "patch_wgrad") } },
    { ROW_LINEAR, .part = MODULE_PATCH,
      .keep = { KEEP(NARROW(1, X), "@", .unless = HAS_HIDDEN_DROPOUT) } },
    { ROW_STREAM, "dropout", .when = HAS_HIDDEN_DROPOUT, .read = { NARROW(1, X) },
      .write = { NARROW(1, X), MASK(1, X) },
      .keep = { KEEP(MASK(1, X), "dropout_bwd"), KEEP(NARROW(1, X), "@") } },
    ROW_END,
};
static const struct row features_b[] = {
    { ROW_STREAM, "dropout_bwd", .when = HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, X), MASK(1, X) }, .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_PATCH },
    { ROW_WGRAD, .part = MODULE_PATCH },
    { ROW_BIAS, .part = MODULE_PATCH },
    { ROW_STREAM, "cast_bwd", .when = HAS_AMP, .read = { NARROW(1, PATCH) },
      .write = { WIDE(1, PATCH) } },
    { ROW_OWNER_BWD, "norm_bwd", MODULE_NORM, .launches = 2,
      .read = { WIDE(2, PATCH), NARROW(2, PATCH) }, .write = { NARROW(1, PATCH) } },
    ROW_END,
};

/* What a position's convolution makes is added to what it reads. */
static const struct row places_f[] = {
    { ROW_LINEAR, .part = MODULE_PLACE_CONV,
      .keep = { KEEP(NARROW(1, X), "position_gelu_bwd") } },
    { ROW_STREAM, "position_gelu", .read = { NARROW(1, X) },
      .write = { NARROW(1, X) } },
    { ROW_STREAM, "position_sum", .read = { NARROW(2, X) }, .write = { WIDE(1, X) } },
    ROW_END,
};
static const struct row places_b[] = {
    { ROW_STREAM, "position_gelu_bwd", .read = { NARROW(2, X) },
      .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_PLACE_CONV },
    { ROW_WGRAD, .part = MODULE_PLACE_CONV },
    { ROW_BIAS, .part = MODULE_PLACE_CONV },
    { ROW_STREAM, "position_sum_bwd", .read = { NARROW(1, X), WIDE(1, X) },
      .write = { NARROW(1, X) } },
    ROW_END,
};
static const struct row dropout_f[] = {
    { ROW_OWNER, "relative_bias_gather", MODULE_BIAS, .when = HAS_RELATIVE },
    { ROW_STREAM, "dropout", .when = HAS_HIDDEN_DROPOUT, .read = { WIDE(1, A) },
      .write = { WIDE(1, A), MASK(1, A) },
      .keep = { KEEP(MASK(1, A), "dropout_bwd") } },
    ROW_END,
};
static const struct row dropout_b[] = {
    { ROW_STREAM, "dropout_bwd", .when = HAS_HIDDEN_DROPOUT,
      .read = { WIDE(1, A), MASK(1, A) }, .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "relative_bias_scatter", MODULE_BIAS, .when = HAS_RELATIVE },
    ROW_END,
};

static const char FEATURES[] = "feature_";

/* Rows that convolution i makes: later ones leave out most of them. */
static int64_t rows_after(const struct build *b, int64_t i)
{
    const struct model_sound *sound = b->m->sound;
    int64_t rows = b->linears[MODULE_PATCH].rows;
    for (int64_t k = i + 1; k < sound->n; k++)
        rows *= sound->stride[k];
    return rows;
}

void build_enter_sound(struct build *b)
{
    const struct model_sound *sound = b->m->sound;
    int64_t i = b->step->number - 1;
    double *e = b->stream_sizes;
    memcpy(e, b->sizes[b->module], sizeof(b->stream_sizes));
    b->elements = e;
    if (b->step->prefix == FEATURES)
        e[SYM_H] = (double)b->m->ends.patch;
    if (i < 0)
        return;
    int64_t below = i > 0 ? sound->columns[i - 1] : 1, rows = rows_after(b, i);
    b->linears[MODULE_CONV] = (struct linear) { .rows = rows,
                                                .k = sound->kernel[i] * below,
                                                .n = sound->columns[i],
                                                .batch = 1,
                                                .bias = sound->bias,
                                                .owned = true,
                                                .dtype = b->linears[MODULE_PATCH].dtype,
                                                .overlap = (double)sound->kernel[i] /
                                                           (double)sound->stride[i] };
    e[SYM_CX] = (double)(rows * sound->stride[i] * below);
    e[SYM_CY] = (double)(rows * sound->columns[i]);
    e[SYM_H] = (double)sound->columns[i];
    b->flags &= ~(HAS_CONV_NORM | HAS_CONV_BELOW);
    b->flags |= sound->norm_each || i == 0 ? HAS_CONV_NORM : 0;
    b->flags |= i > 0 ? HAS_CONV_BELOW : 0;
}

static void set_places(struct build *b)
{
    const struct model_sound *sound = b->m->sound;
    int64_t h = b->m->hidden, groups = sound->place_groups;
    b->linears[MODULE_PLACE_CONV] =
        (struct linear) { .rows = b->linears[MODULE_PATCH].rows * groups,
                          .k = sound->place_kernel * (h / groups),
                          .n = h / groups,
                          .batch = groups,
                          .bias = true,
                          .owned = true,
                          .dtype = b->linears[MODULE_PATCH].dtype,
                          .overlap = (double)sound->place_kernel };
}

/* Nothing of it is trained: forward alone, of which nothing is kept. */
static void drop_backward(struct op_block *block)
{
    block->n_backward = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t k = 0; k < block->forward[i].n_outs; k++)
            block->forward[i].outs[k].kept_until = -1;
}

void build_sound(struct build *b, struct op_block *block)
{
    enum { MOST = MODEL_CONVOLUTIONS_MAX + 5 };
    struct build_step forward[MOST] = { 0 }, backward[MOST] = { 0 };
    int n = (int)b->m->sound->n, at = 0;
    bool normed = b->flags & HAS_EMBEDDING_NORM;
    for (int i = 1; i <= n; i++) {
        const char *user =
            i < n ? arena_printf(b->arena, "conv%d_wgrad", i + 1) : "feature_norm_bwd";
        forward[at++] = (struct build_step)STEP(conv_f, i, .user = user);
    }
    forward[at++] = (struct build_step)STEP(features_f, 0, .prefix = FEATURES,
                                            .user = "position_conv_wgrad");
    forward[at++] = (struct build_step)STEP(places_f, 0);
    if (normed)
        forward[at++] = (struct build_step)STEP(build_norm_f, 0);
    forward[at] = (struct build_step)STEP(dropout_f, 0);
    at = 0;
    backward[at++] = (struct build_step)STEP(dropout_b, 0);
    if (normed)
        backward[at++] = (struct build_step)STEP(build_norm_b, 0);
    backward[at++] = (struct build_step)STEP(places_b, 0);
    backward[at++] = (struct build_step)STEP(features_b, 0, .prefix = FEATURES);
    for (int i = n; i >= 1; i--)
        backward[at++] = (struct build_step)STEP(conv_b, i);
    b->module = OP_EMBEDDING;
    b->elements = b->sizes[OP_EMBEDDING];
    set_places(b);
    struct keep given = { .term = WIDE(normed ? 1 : 0, A), .until = "norm_bwd" };
    build_block(b, block, "embedding", 1, forward, backward, given);
    if (b->flags & HAS_FROZEN_EMBEDDING)
        drop_backward(block);
}
