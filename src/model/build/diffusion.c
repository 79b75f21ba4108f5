/* Diffusion transformers: DiT (Peebles and Xie 2023), MMDiT (Esser et al. 2024, Stable
 * Diffusion 3) and Flux, as diffusers 0.32 has them (models/transformers/
 * dit_transformer_2d.py, transformer_sd3.py, transformer_flux.py; models/attention.py,
 * JointTransformerBlock; models/normalization.py, AdaLayerNormZero).
 *
 *   dual layer    image: modulation, norm, q k v |             | out, gate, sum, norm, MLP
 *                 text:  modulation, norm, q k v | flash of all | out, gate, sum, norm, MLP
 *   single layer  modulation, norm, q k v and MLP, flash, one product of both, gate, sum
 *
 * A sequence is the tokens of text and image together. Modulations are products of one row
 * a sample. What encodes texts and pictures is not in it: its results are the inputs. */
#include "model/build/diffusion.h"

#include "model/build/emit.h"

#include <string.h>

/* Rows -------------------------------------------------------------------------------- */

static const struct row modulation_f[] = {
    { ROW_STREAM, "modulation_silu", .read = { NARROW(1, O) },
      .write = { NARROW(1, O) }, .keep = { KEEP(NARROW(1, O), "modulation_wgrad") } },
    { ROW_LINEAR, .part = MODULE_MODULATION,
      .keep = { KEEP(NARROW(1, OM), "modulation_silu_bwd") } },
    ROW_END,
};
static const struct row modulation_b[] = {
    { ROW_DGRAD, .part = MODULE_MODULATION },
    { ROW_WGRAD, .part = MODULE_MODULATION },
    { ROW_BIAS, .part = MODULE_MODULATION },
    { ROW_STREAM, "modulation_silu_bwd", .read = { NARROW(2, O) },
      .write = { NARROW(1, O) } },
    ROW_END,
};

/* A norm without weights, times one number a column and sample, and one added. */
static const struct row norm_f[] = {
    { ROW_STREAM, "norm#", .read = { WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(WIDE(1, A), "modulation_wgrad") } },
    { ROW_STREAM, "modulate#", .launches = 2, .read = { WIDE(2, A) },
      .write = { WIDE(2, A) }, .made = WIDE(1, A),
      .keep = { KEEP(NARROW(1, A), "@", .unless = HAS_AMP) } },
    { ROW_STREAM, "cast#", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "@") } },
    ROW_END,
};
static const struct row norm_b[] = {
    { ROW_STREAM, "cast#_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    /* the product, and sums over tokens of two gradients */
    { ROW_STREAM, "modulate#_bwd", .launches = 4, .read = { WIDE(4, A) },
      .write = { WIDE(2, A) }, .made = WIDE(1, A) },
    { ROW_STREAM, "norm#_bwd", .read = { WIDE(3, A) }, .write = { WIDE(1, A) } },
    { ROW_STREAM, "residual#_sum_bwd", .read = { WIDE(2, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};

static const struct row heads_f[] = {
    { ROW_LINEAR, .part = MODULE_QUERY,
      .keep = { KEEP(NARROW(1, Q), "query_norm_bwd", .when = HAS_QK_NORM) } },
    { ROW_LINEAR, .part = MODULE_KEY,
      .keep = { KEEP(NARROW(1, K), "key_norm_bwd", .when = HAS_QK_NORM) } },
    { ROW_LINEAR, .part = MODULE_VALUE },
    { ROW_OWNER, "query_norm", MODULE_QUERY_NORM, .when = HAS_QK_NORM, .launches = 4,
      .read = { NARROW(3, Q) }, .write = { NARROW(3, Q) }, .made = NARROW(1, Q) },
    { ROW_OWNER, "key_norm", MODULE_KEY_NORM, .when = HAS_QK_NORM, .launches = 4,
      .read = { NARROW(3, K) }, .write = { NARROW(3, K) }, .made = NARROW(1, K) },
    ROW_END,
};
static const struct row heads_b[] = {
    { ROW_OWNER_BWD, "key_norm_bwd", MODULE_KEY_NORM, .when = HAS_QK_NORM,
      .launches = 8, .read = { NARROW(6, K) }, .write = { NARROW(4, K) },
      .made = NARROW(1, K) },
    { ROW_OWNER_BWD, "query_norm_bwd", MODULE_QUERY_NORM, .when = HAS_QK_NORM,
      .launches = 8, .read = { NARROW(6, Q) }, .write = { NARROW(4, Q) },
      .made = NARROW(1, Q) },
    { ROW_DGRAD, .part = MODULE_QUERY },
    { ROW_WGRAD, .part = MODULE_QUERY },
    { ROW_BIAS, .part = MODULE_QUERY },
    { ROW_DGRAD, .part = MODULE_KEY },
    { ROW_WGRAD, .part = MODULE_KEY },
    { ROW_BIAS, .part = MODULE_KEY },
    { ROW_DGRAD, .part = MODULE_VALUE },
    { ROW_WGRAD, .part = MODULE_VALUE },
    { ROW_BIAS, .part = MODULE_VALUE },
    { ROW_STREAM, "qkv_sum_bwd", .launches = 2, .read = { NARROW(4, A) },
      .write = { NARROW(2, A) } },
    ROW_END,
};

static const struct row joint_f[] = {
    { ROW_STREAM, "joint_cat", .when = HAS_TEXT_STREAM, .launches = 3,
      .read = { NARROW(1, QKV) }, .write = { NARROW(1, QKV) } },
    /* in fp32: a product with cosines, halves turned, their product with sines, a sum */
    { ROW_STREAM, "rope", .when = HAS_ROPE, .launches = 10, .read = { FP32(5, QK) },
      .write = { FP32(4, QK) }, .made = NARROW(1, QK) },
    { ROW_FLASH, "flash", .read = { NARROW(1, QKV) },
      .write = { NARROW(1, U), FP32(1, L) },
      .keep = { KEEP(NARROW(1, QKV), "flash_bwd"), KEEP(NARROW(1, U), "flash_bwd"),
                KEEP(FP32(1, L), "flash_bwd") } },
    ROW_END,
};
static const struct row joint_b[] = {
    { ROW_FLASH, "flash_bwd", .read = { NARROW(2, Q), NARROW(2, U), NARROW(4, K) },
      .write = { NARROW(1, Q), NARROW(2, K) } },
    { ROW_STREAM, "rope_bwd", .when = HAS_ROPE, .launches = 14, .read = { FP32(6, QK) },
      .write = { FP32(6, QK) }, .made = NARROW(1, QK) },
    { ROW_STREAM, "joint_split_bwd", .when = HAS_TEXT_STREAM, .launches = 3,
      .read = { NARROW(1, QKV) }, .write = { NARROW(1, QKV) } },
    ROW_END,
};

/* The gate is one number a column and sample. */
static const struct row gate_f[] = {
    { ROW_STREAM, "gate#", .read = { NARROW(1, A) }, .write = { NARROW(1, A) } },
    { ROW_STREAM, "residual#", .read = { NARROW(1, A), WIDE(1, A) },
      .write = { WIDE(1, A) }, .keep = { KEEP(WIDE(1, A), "@") } },
    ROW_END,
};
static const struct row gate_b[] = {
    { ROW_STREAM, "gate#_bwd", .launches = 3, .read = { WIDE(1, A), NARROW(2, A) },
      .write = { NARROW(2, A) }, .made = NARROW(1, A) },
    ROW_END,
};

static const struct row out_f[] = {
    { ROW_LINEAR, .part = MODULE_OUT,
      .keep = { KEEP(NARROW(1, A), "modulation_wgrad") } },
    ROW_END,
};
static const struct row out_b[] = {
    { ROW_DGRAD, .part = MODULE_OUT },
    { ROW_WGRAD, .part = MODULE_OUT },
    { ROW_BIAS, .part = MODULE_OUT },
    ROW_END,
};

static const struct row up_f[] = {
    { ROW_LINEAR, .part = MODULE_UP, .keep = { KEEP(NARROW(1, F), "activation_bwd") } },
    { ROW_STREAM, "activation", .read = { NARROW(1, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "down_wgrad", .unless = HAS_ONE_OUT) } },
    ROW_END,
};
static const struct row up_b[] = {
    { ROW_STREAM, "activation_bwd", .read = { NARROW(2, F) },
      .write = { NARROW(1, F) } },
    { ROW_DGRAD, .part = MODULE_UP },
    { ROW_WGRAD, .part = MODULE_UP },
    { ROW_BIAS, .part = MODULE_UP },
    { ROW_STREAM, "mlp_sum_bwd", .when = HAS_ONE_OUT, .read = { NARROW(2, A) },
      .write = { NARROW(1, A) } },
    ROW_END,
};
/* Of a single layer both results side by side. */
static const struct row down_f[] = {
    { ROW_STREAM, "results_cat", .when = HAS_ONE_OUT,
      .read = { NARROW(1, U), NARROW(1, F) }, .write = { NARROW(1, U), NARROW(1, F) },
      .keep = { KEEP(NARROW(1, U), "down_wgrad"), KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_LINEAR, .part = MODULE_DOWN,
      .keep = { KEEP(NARROW(1, A), "modulation_wgrad") } },
    ROW_END,
};
static const struct row down_b[] = {
    { ROW_DGRAD, .part = MODULE_DOWN },
    { ROW_WGRAD, .part = MODULE_DOWN },
    { ROW_BIAS, .part = MODULE_DOWN },
    ROW_END,
};

/* Ends: patches, what the text encoder made, time step and pooled text (or class). */
static const struct row patches_f[] = {
    { ROW_STREAM, "patch_unfold", .read = { NARROW(1, PATCH) },
      .write = { NARROW(1, PATCH) },
      .keep = { KEEP(NARROW(1, PATCH), "patch_wgrad") } },
    { ROW_LINEAR, .part = MODULE_PATCH },
    { ROW_STREAM, "position_sum", .unless = HAS_ROPE, .read = { WIDE(2, X) },
      .write = { WIDE(1, X) } },
    ROW_END,
};
static const struct row patches_b[] = {
    { ROW_WGRAD, .part = MODULE_PATCH },
    { ROW_BIAS, .part = MODULE_PATCH },
    ROW_END,
};
static const struct row texts_f[] = {
    { ROW_STREAM, "context_cast", .read = { NARROW(1, CONTEXT) },
      .write = { NARROW(1, CONTEXT) },
      .keep = { KEEP(NARROW(1, CONTEXT), "context_wgrad") } },
    { ROW_LINEAR, .part = MODULE_CONTEXT },
    ROW_END,
};
static const struct row texts_b[] = {
    { ROW_WGRAD, .part = MODULE_CONTEXT },
    { ROW_BIAS, .part = MODULE_CONTEXT },
    ROW_END,
};
static const struct row condition_f[] = {
    { ROW_LINEAR, .part = MODULE_CONDITION,
      .keep = { KEEP(NARROW(3, O), "condition_silu_bwd") } },
    { ROW_OWNER, "condition_silu", MODULE_CONDITION_MORE, .launches = 4,
      .read = { NARROW(3, O) }, .write = { NARROW(3, O) },
      .keep = { KEEP(NARROW(3, O), "condition_out_wgrad") } },
    { ROW_LINEAR, .part = MODULE_CONDITION_OUT },
    ROW_END,
};
static const struct row condition_b[] = {
    { ROW_DGRAD, .part = MODULE_CONDITION_OUT },
    { ROW_WGRAD, .part = MODULE_CONDITION_OUT },
    { ROW_BIAS, .part = MODULE_CONDITION_OUT },
    { ROW_OWNER_BWD, "condition_silu_bwd", MODULE_CONDITION_MORE, .launches = 4,
      .read = { NARROW(6, O) }, .write = { NARROW(3, O) } },
    { ROW_WGRAD, .part = MODULE_CONDITION },
    { ROW_BIAS, .part = MODULE_CONDITION },
    ROW_END,
};

/* The last product makes patches; their squared error. */
static const struct row denoise_f[] = {
    { ROW_LINEAR, .part = MODULE_DENSE,
      .keep = { KEEP(NARROW(1, DENOISED), "loss_bwd") } },
    { ROW_STREAM, "loss", .launches = 4, .read = { FP32(4, DENOISED) },
      .write = { FP32(3, DENOISED) }, .made = FP32(1, DENOISED),
      .keep = { KEEP(FP32(1, DENOISED), "loss_bwd") } },
    ROW_END,
};
static const struct row denoise_b[] = {
    { ROW_STREAM, "loss_bwd", .launches = 3, .read = { FP32(3, DENOISED) },
      .write = { FP32(2, DENOISED) }, .made = FP32(1, DENOISED) },
    { ROW_DGRAD, .part = MODULE_DENSE },
    { ROW_WGRAD, .part = MODULE_DENSE },
    { ROW_BIAS, .part = MODULE_DENSE },
    ROW_END,
};

/* Steps ------------------------------------------------------------------------------- */

#define IMAGE(table, nth, ...) STEP(table, nth, .stream = STREAM_IMAGE, __VA_ARGS__)
#define TEXT(table, nth, ...) \
    STEP(table, nth, .stream = STREAM_TEXT, .prefix = "text_", __VA_ARGS__)

#define IMAGE_IN_F \
    IMAGE(modulation_f, 0), IMAGE(norm_f, 1, .user = "value_wgrad"), IMAGE(heads_f, 1)
#define TEXT_IN_F \
    TEXT(modulation_f, 0), TEXT(norm_f, 1, .user = "text_value_wgrad"), TEXT(heads_f, 1)
#define IMAGE_OUT_F                                                             \
    IMAGE(out_f, 1), IMAGE(gate_f, 1, .user = "norm2_bwd"),                     \
        IMAGE(norm_f, 2, .user = "up_wgrad"), IMAGE(up_f, 2), IMAGE(down_f, 2), \
        IMAGE(gate_f, 2)
#define TEXT_OUT_F                                                                \
    TEXT(out_f, 1), TEXT(gate_f, 1, .user = "text_norm2_bwd"),                    \
        TEXT(norm_f, 2, .user = "text_up_wgrad"), TEXT(up_f, 2), TEXT(down_f, 2), \
        TEXT(gate_f, 2, .user = "text_norm1_bwd")
#define IMAGE_OUT_B                                                       \
    IMAGE(gate_b, 2), IMAGE(down_b, 2), IMAGE(up_b, 2), IMAGE(norm_b, 2), \
        IMAGE(gate_b, 1), IMAGE(out_b, 1)
#define TEXT_OUT_B                                                                     \
    TEXT(gate_b, 2), TEXT(down_b, 2), TEXT(up_b, 2), TEXT(norm_b, 2), TEXT(gate_b, 1), \
        TEXT(out_b, 1)
#define IMAGE_IN_B IMAGE(heads_b, 1), IMAGE(norm_b, 1), IMAGE(modulation_b, 0)
#define TEXT_IN_B TEXT(heads_b, 1), TEXT(norm_b, 1), TEXT(modulation_b, 0)

static const struct build_step plain_f[] = { IMAGE_IN_F, STEP(joint_f, 1), IMAGE_OUT_F,
                                             STEPS_END };
static const struct build_step plain_b[] = { IMAGE_OUT_B, STEP(joint_b, 1), IMAGE_IN_B,
                                             STEPS_END };
static const struct build_step dual_f[] = { IMAGE_IN_F,  TEXT_IN_F,  STEP(joint_f, 1),
                                            IMAGE_OUT_F, TEXT_OUT_F, STEPS_END };
static const struct build_step dual_b[] = { TEXT_OUT_B, IMAGE_OUT_B, STEP(joint_b, 1),
                                            TEXT_IN_B,  IMAGE_IN_B,  STEPS_END };
/* Nothing reads the text after the last layer. */
static const struct build_step last_f[] = { IMAGE_IN_F, TEXT_IN_F, STEP(joint_f, 1),
                                            IMAGE_OUT_F, STEPS_END };
static const struct build_step last_b[] = { IMAGE_OUT_B, STEP(joint_b, 1), TEXT_IN_B,
                                            IMAGE_IN_B, STEPS_END };
static const struct build_step single_f[] = {
    STEP(modulation_f, 0), STEP(norm_f, 1, .user = "up_wgrad|value_wgrad"),
    STEP(heads_f, 1),      STEP(up_f, 1),
    STEP(joint_f, 1),      STEP(down_f, 1),
    STEP(gate_f, 1),       STEPS_END,
};
static const struct build_step single_b[] = {
    STEP(gate_b, 1),  STEP(down_b, 1), STEP(joint_b, 1),      STEP(up_b, 1),
    STEP(heads_b, 1), STEP(norm_b, 1), STEP(modulation_b, 0), STEPS_END,
};
static const struct build_step ends_f[] = { IMAGE(patches_f, 0),
                                            STEP(texts_f, 0, .stream = STREAM_TEXT),
                                            STEP(condition_f, 0), STEPS_END };
static const struct build_step ends_b[] = { STEP(condition_b, 0),
                                            STEP(texts_b, 0, .stream = STREAM_TEXT),
                                            IMAGE(patches_b, 0), STEPS_END };
static const struct build_step classed_f[] = { IMAGE(patches_f, 0),
                                               STEP(condition_f, 0), STEPS_END };
static const struct build_step classed_b[] = { STEP(condition_b, 0),
                                               IMAGE(patches_b, 0), STEPS_END };
static const struct build_step head_f[] = { IMAGE(modulation_f, 0),
                                            IMAGE(norm_f, 1, .user = "dense_wgrad"),
                                            IMAGE(denoise_f, 0), STEPS_END };
static const struct build_step head_b[] = { IMAGE(denoise_b, 0), IMAGE(norm_b, 1),
                                            IMAGE(modulation_b, 0), STEPS_END };

/* Sizes ------------------------------------------------------------------------------- */

static void set_ends(struct build *b)
{
    const struct model_diffusion *d = &b->m->diffusion;
    int64_t h = b->m->hidden, one = b->s->batch,
            image = build_stream_tokens(b, STREAM_IMAGE);
    int64_t text = build_stream_tokens(b, STREAM_TEXT),
            stacks = d->embedders + (d->pooled > 0);
    enum { FREQUENCIES = 256 };
    b->linears[MODULE_PATCH] = build_stream_product(b, image, b->m->ends.patch, h);
    b->linears[MODULE_CONTEXT] = build_stream_product(b, text, d->text_width, h);
    b->linears[MODULE_CONDITION] =
        build_stream_product(b, one, FREQUENCIES * d->embedders + d->pooled, h);
    b->linears[MODULE_CONDITION_OUT] = build_stream_product(b, one, stacks * h, h);
    b->linears[MODULE_DENSE] = build_stream_product(b, image, h, d->patch_out);
    for (int i = 0; i < OP_MODULES; i++) {
        double *e = b->sizes[i];
        e[SYM_PATCH] = (double)(image * b->m->ends.patch);
        e[SYM_CONTEXT] = (double)(text * d->text_width);
        e[SYM_DENOISED] = (double)(image * d->patch_out);
        e[SYM_CONDITION] = (double)(2 * h * (stacks - 1) + d->classes * h);
        e[SYM_O] = (double)(one * h);
    }
}

/* Blocks ------------------------------------------------------------------------------ */

struct stretch {
    const char *name;
    int64_t repeat;
    const struct build_step *forward, *backward;
    int64_t modulations[STREAM_N];
    enum stream given;
    const char *until;
    bool one_out;
};

static void build_stretch(struct build *b, struct op_block *block,
                          const struct stretch *t)
{
    double share = (double)build_stream_tokens(b, t->given) /
                   (double)build_stream_tokens(b, STREAM_ALL);
    struct keep given = { .term = WIDE(share, A), .until = t->until };
    struct linear *down = &b->linears[MODULE_DOWN];
    bool layer = t->until && t->forward != head_f;
    memcpy(b->modulations, t->modulations, sizeof(b->modulations));
    b->module = layer ? OP_ATTENTION : t->until ? OP_HEAD : OP_EMBEDDING;
    b->elements = b->sizes[b->module];
    b->mlp_number = layer ? 2 : 0;
    b->flags &= ~HAS_ONE_OUT;
    down->k = b->m->mlp.width;
    if (t->one_out) {
        b->flags |= HAS_ONE_OUT;
        down->k += b->m->attention.q_width;
    }
    build_block(b, block, t->name, t->repeat, t->forward, t->backward, given);
    b->mlp_number = 0;
}

int build_diffusion(struct op_list *list, struct arena *arena, const struct model *m,
                    const struct op_settings *s, struct err *err)
{
    const struct model_diffusion *d = &m->diffusion;
    bool text = d->text_tokens > 0;
    int64_t dual = m->layers - d->single_layers, last = d->text_ends ? 1 : 0;
    struct build b;
    if (s->sequence <= d->text_tokens && s->sequence > 1)
        return err_set(err,
                       "a sequence of %lld tokens is no longer than its %lld tokens of "
                       "text",
                       (long long)s->sequence, (long long)d->text_tokens);
    if (s->tensor > 1 || s->context > 1)
        return err_set(err, "a diffusion transformer over a tensor or context group is "
                            "not modelled");
    struct op_settings own = *s;
    if (own.sequence <= d->text_tokens) /* parameters alone are asked for */
        own.sequence = d->text_tokens + 1;
    if (build_init(&b, arena, m, &own, err) < 0)
        return -1;
    b.flags |= text ? HAS_TEXT_STREAM : 0;
    set_ends(&b);
    const struct stretch all[BUILD_DIFFUSION_BLOCKS] = {
        { "embedding", 1, text ? ends_f : classed_f, text ? ends_b : classed_b,
          .given = STREAM_IMAGE },
        { text ? "dual_layer" : "layer",
          dual - last,
          text ? dual_f : plain_f,
          text ? dual_b : plain_b,
          { 0, 6, 6 },
          STREAM_IMAGE,
          "norm1_bwd",
          false },
        { "last_dual_layer",
          last,
          last_f,
          last_b,
          { 0, 6, 2 },
          STREAM_IMAGE,
          "norm1_bwd",
          false },
        { "single_layer",
          d->single_layers,
          single_f,
          single_b,
          { 3, 3, 3 },
          STREAM_ALL,
          "norm1_bwd",
          true },
        { "head", 1, head_f, head_b, { 2, 2, 2 }, STREAM_IMAGE, "norm1_bwd", false },
    };
    list->blocks = ARENA_ARRAY(arena, BUILD_DIFFUSION_BLOCKS, struct op_block);
    list->n_blocks = 0;
    for (int i = 0; i < BUILD_DIFFUSION_BLOCKS; i++)
        if (all[i].repeat > 0)
            build_stretch(&b, &list->blocks[list->n_blocks++], &all[i]);
    list->n_ends = 1;
    return 0;
}
