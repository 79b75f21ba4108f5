/* Stacks that read pictures, as patches: by themselves, or as the towers of models that
 * read pictures and words (vision.c). Sources: as model/families/recent.c. */
#include "model/families/family_rows.h"

#include <string.h>

enum { CHANNELS = 3 };

static const struct family_field vit_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    HEAD_DIM,
    PICTURE,
    FLAG("qkv_bias", m.attention.qkv_bias),
    FLAG("use_qk_norm", qk_norm),
    FLAG("qk_normalization", qk_norm),
    TEXT("norm_type", normalization),
    EACH("merge_kernel_size", NULL, picture.merge, 1, 64),
    WORD("num_register_tokens", picture.registers, 0, 1024),
    NOTED("vision_use_head", "the pooling of a classifier's head is left out"),
    ELSEWHERE("projection_dim"), /* of the pair's vectors */
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Llama 4's, with what follows it. */
static const struct family_field llama4_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    PICTURE,
    ELSEWHERE("projector_input_dim"),
    ELSEWHERE("projector_output_dim"),
    ELSEWHERE("vision_output_dim"), /* projector_output_dim's columns */
    ELSEWHERE("pixel_shuffle_ratio"),
    ELSEWHERE("projector_dropout"),
    NOTED("multi_modal_projector_bias", "a bias of the projector is left out"),
    ELSEWHERE("vision_feature_layer"),
    ELSEWHERE("vision_feature_select_strategy"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Kimi's, and Kimi K2.5's names for it. */
static const struct family_field moonvit_fields[] = {
    SIZE("num_hidden_layers", "vt_num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "vt_hidden_size", hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", "vt_num_attention_heads", attention.heads, true,
         HEADS_MAX),
    SIZE("intermediate_size", "vt_intermediate_size", mlp.width, false, WIDTH_MAX),
    PICTURE,
    EACH("merge_kernel_size", NULL, picture.merge, 1, 64),
    WORD("init_pos_emb_height", picture.rows, 1, 1 << 12),
    WORD("init_pos_emb_width", picture.columns, 1, 1 << 12),
    WORD("pos_emb_height", picture.rows, 1, 1 << 12),
    WORD("pos_emb_width", picture.columns, 1, 1 << 12),
    ELSEWHERE("init_pos_emb_time"), /* computed */
    ELSEWHERE("pos_emb_time"),
    ELSEWHERE("pos_emb_type"),
    ELSEWHERE("merge_type"),
    ELSEWHERE("mm_projector_type"),
    ELSEWHERE("mm_hidden_size"),
    ELSEWHERE("text_hidden_size"),
    ELSEWHERE("projector_hidden_act"),
    ELSEWHERE("projector_ln_eps"),
    ELSEWHERE("video_attn_type"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* SigLIP 2 with pictures of any shape: so many patches at most. */
static const struct family_field siglip2_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    PICTURE,
    SIZE("num_patches", NULL, ends.positions, false, POSITIONS_MAX),
    NOTED("vision_use_head", "the pooling of a classifier's head is left out"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* DINOv3: rotary positions; the biases of its products are chosen one by one. */
static const struct family_field dinov3_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    PICTURE,
    FLAG("query_bias", m.attention.qkv_bias),
    ELSEWHERE("key_bias"), /* one is counted where queries have one */
    ELSEWHERE("value_bias"),
    FLAG("proj_bias", m.attention.out_bias),
    FLAG("mlp_bias", m.mlp.bias),
    FLAG("use_gated_mlp", m.mlp.gated),
    WORD("num_register_tokens", picture.registers, 0, 1024),
    NOTED("layerscale_value", "scales of the layers' results are left out: two numbers "
                              "a column and layer"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Whisper's encoder, by itself. Its key projections have no bias; one is counted. */
static const struct family_field sound_fields[] = {
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("encoder_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("encoder_attention_heads", "num_attention_heads", attention.heads, true,
         HEADS_MAX),
    SIZE("encoder_ffn_dim", "intermediate_size", mlp.width, true, WIDTH_MAX),
    SIZE("num_mel_bins", NULL, ends.patch, false, 4096),
    WORD("max_source_positions", picture.patches, 1, POSITIONS_MAX),
    ELSEWHERE("n_window"), /* attention is within windows of sounds */
    ELSEWHERE("output_dim"),
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field dinov2_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    WORD("mlp_ratio", expansion, 1, 1024),
    PICTURE,
    FLAG("qkv_bias", m.attention.qkv_bias),
    FLAG("use_swiglu_ffn", m.mlp.gated),
    NOTED("layerscale_value", "scales of the layers' results are left out: two numbers "
                              "a column and layer"),
    WORD("num_register_tokens", picture.registers, 0, 1024),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Qwen's: sizes under names of their own; of the older one hidden_size is what it hands
 * to the language model. */
static const struct family_field qwen2_fields[] = {
    SIZE("depth", NULL, layers, true, LAYERS_MAX),
    SIZE("embed_dim", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", NULL, attention.heads, true, HEADS_MAX),
    WORD("mlp_ratio", expansion, 1, 1024),
    ELSEWHERE("hidden_size"), /* the language model's */
    PICTURE,
    WORD("in_channels", picture.channels, 1, CHANNELS_MAX),
    WORD("in_chans", picture.channels, 1, CHANNELS_MAX),
    WORD("temporal_patch_size", picture.frames, 1, 64),
    WORD("spatial_merge_size", picture.merge, 1, 64),
    FIELDS_END,
};

static const struct family_field qwen3_fields[] = {
    SIZE("depth", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("num_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    PICTURE,
    WORD("in_channels", picture.channels, 1, CHANNELS_MAX),
    WORD("in_chans", picture.channels, 1, CHANNELS_MAX),
    WORD("temporal_patch_size", picture.frames, 1, 64),
    WORD("spatial_merge_size", picture.merge, 1, 64),
    NOTED("window_size", "windows of the vision tower's attention are not modelled: "
                         "each patch attends to all of its picture"),
    ELSEWHERE("fullatt_block_indexes"),
    ELSEWHERE("out_hidden_size"), /* the language model's */
    { .key = "deepstack_visual_indexes",
      .type = FAMILY_LENGTH,
      .at = offsetof(R, picture.inner) },
    FIELDS_END,
};

/* Gemma 4's: as its language model's layers; positions of rows and of columns, and a mean
 * over neighbours in place of a merge. */
static const struct family_field gemma4_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("num_key_value_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    HEAD_DIM,
    PICTURE,
    SIZE("position_embedding_size", NULL, ends.positions, false, POSITIONS_MAX),
    WORD("pooling_kernel_size", picture.merge, 1, 64),
    FLAG("attention_bias", bias),
    NOTED("use_clipped_linears",
          "clamps around the vision tower's products are left out"),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

/* The other tower of a pair: texts. */
static const struct family_field text_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Patches of a square picture, their numbers, and learned positions of as many. */
void families_picture(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct family_picture *p = &raw->picture;
    int64_t across = p->side / p->patch;
    p->patches = across * across;
    m->ends.patch = (p->channels ? p->channels : CHANNELS) *
                    (p->frames ? p->frames : 1) * p->patch * p->patch;
    if (p->learned) { /* a class token's numbers are learned, too */
        m->ends.positions = p->patches + 2 * p->class_tokens;
        m->ends.positions_unused = p->class_tokens;
    }
    if (p->rows && p->columns) {
        m->ends.positions = p->rows * p->columns;
        m->ends.positions_stretched = true;
    }
    m->ends.positions += p->registers; /* with none of their own */
    p->class_tokens += p->registers;
    m->attention.out_bias |= p->out_bias;
    if (raw->qk_norm)
        families_wide_norms(m);
    if (raw->normalization && strcmp(raw->normalization, "rms_norm") == 0)
        m->norms.rms = true;
}

static void gemma4_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    families_picture(raw);
    m->ends.positions *= 2;
    m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
}

/* Of a gated MLP two thirds of the columns, in eights. */
static void dinov2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->mlp.width = m->hidden * (raw->expansion ? raw->expansion : 4);
    if (m->mlp.gated)
        m->mlp.width = (m->mlp.width * 2 / 3 + 7) / 8 * 8;
    families_picture(raw);
}

/* Of the older Qwen an MLP is so many times the columns. */
static void qwen2_finish(struct family_raw *raw)
{
    if (raw->expansion)
        raw->m.mlp.width = raw->expansion * raw->m.hidden;
    families_picture(raw);
}

/* Rotary positions, so none is learned; rows of the class token and of registers are left
 * out. */
static void dinov3_finish(struct family_raw *raw)
{
    families_picture(raw);
    raw->m.ends.positions = 0;
}

static void siglip2_finish(struct family_raw *raw)
{
    families_picture(raw);
    raw->m.ends.positions_stretched = true;
}

/* Two convolutions of three frames make the rows of the first product; positions are
 * held, and never trained. */
static void sound_finish(struct family_raw *raw)
{
    enum { KERNEL = 3 };
    struct model *m = &raw->m;
    m->ends.patch = KERNEL * (m->ends.patch + m->hidden);
    m->idle = raw->picture.patches * m->hidden;
}

#define POOL                                                                     \
    "the pooling of SiglipVisionModel's own head is left out (a classifier has " \
    "none)"
#define MERGER                                                                   \
    "what hands the result to a language model is left out (the config.json of " \
    "the whole has it)"
/* `why`: what is left out of one that is the whole model. */
#define PART(word, table, why, ...)                                                    \
    {                                                                                  \
        .name = (word), .fields = (table), .finish = families_picture, .alone = (why), \
        .usual = {                                                                     \
            __VA_ARGS__                                                                \
        }                                                                              \
    }
#define VISION(word, table, ...)                                                  \
    {                                                                             \
        .name = (word), .fields = (table), .finish = families_picture, .usual = { \
            __VA_ARGS__                                                           \
        }                                                                         \
    }
/* ViT's own defaults: base, patches of 16 (CLIP's of 32). */
#define BASE .layers = 12, .hidden = 768, .attention.heads = 12

/* CLIPTextConfig's defaults, and SiglipTextConfig's (transformers 4.57). */
const struct family families_vision[] = {
    { .name = "clip_text_model",
      .fields = text_fields,
      .usual = { .m = { .arch = MODEL_ENCODER,
                        BIASES,
                        .layers = 12,
                        .hidden = 512,
                        .attention.heads = 8,
                        .mlp.width = 2048,
                        .ends.vocab = 49408,
                        .ends.positions = 77,
                        .norms.final = true } } },
    { .name = "siglip_text_model",
      .fields = text_fields,
      .usual = { .m = { .arch = MODEL_ENCODER,
                        BIASES,
                        BASE,
                        .mlp.width = 3072,
                        .ends.vocab = 32000,
                        .ends.positions = 64,
                        .norms.final = true } } },
    VISION("vit", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true, .class_tokens = 1 }),
    VISION("deit", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true, .class_tokens = 2 }),
    { .name = "dinov2",
      .fields = dinov2_fields,
      .finish = dinov2_finish,
      .usual = { .m = { TOWER, BASE, BIASES, .norms.final = true,
                        .ends.patch_bias = true },
                 .picture = { 224, 14, .learned = true, .class_tokens = 1 } } },
    VISION("vit_msn", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true, .class_tokens = 1 }),
    VISION("ijepa", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true }),
    { .name = "dinov2_with_registers",
      .fields = dinov2_fields,
      .finish = dinov2_finish,
      .usual = { .m = { TOWER, BASE, BIASES, .norms.final = true,
                        .ends.patch_bias = true },
                 .picture = { 224, 16, .learned = true, .class_tokens = 1,
                              .registers = 4 } } },
    { .name = "dinov3_vit",
      .fields = dinov3_fields,
      .finish = dinov3_finish,
      .usual = { .m = { TOWER, BIASES, .layers = 12, .hidden = 384,
                        .attention.heads = 6, .mlp.width = 1536, .norms.final = true,
                        .ends.patch_bias = true, .attention.rotary = true },
                 .picture = { 224, 16, .class_tokens = 1 } } },
    { .name = "siglip2_vision_model",
      .fields = siglip2_fields,
      .finish = siglip2_finish,
      .alone = POOL,
      .usual = { .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                        .ends.patch_bias = true, .ends.positions = 256 },
                 .picture = { 256, 16 } } },
    { .name = "qwen2_audio_encoder",
      .fields = sound_fields,
      .finish = sound_finish,
      .usual = { .m = { TOWER, BIASES, .norms.final = true, .ends.patch = 128,
                        .ends.patch_bias = true },
                 .picture = { .patch = 1, .patches = 1500 } } },
    { .name = "voxtral_encoder",
      .fields = sound_fields,
      .finish = sound_finish,
      .usual = { .m = { TOWER, BIASES, .norms.final = true, .ends.patch = 128,
                        .ends.patch_bias = true },
                 .picture = { .patch = 1, .patches = 1500 } } },
    VISION("clip_vision_model", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .norms.embedding = true },
           .picture = { 224, 32, .learned = true, .class_tokens = 1 }),
    PART("siglip_vision_model", vit_fields, POOL,
         .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                .ends.patch_bias = true },
         .picture = { 224, 16, .learned = true }),
    VISION("idefics3_vision", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .ends.patch_bias = true },
           .picture = { 224, 32, .learned = true }),
    VISION("internvl_vision", vit_fields,
           .m = { TOWER, BIASES, .layers = 24, .hidden = 1024, .attention.heads = 16,
                  .mlp.width = 4096, .ends.patch_bias = true },
           .picture = { 448, 14, .learned = true, .class_tokens = 1 }),
    VISION("llama4_vision_model", llama4_fields,
           .m = { TOWER, BIASES, .layers = 34, .hidden = 768, .attention.heads = 16,
                  .mlp.width = 5632, .norms.final = true, .norms.embedding = true,
                  .attention.rotary = true },
           .picture = { 448, 14, .learned = true, .class_tokens = 1 }),
    VISION("moonvit", moonvit_fields,
           .m = { TOWER, BIASES, .layers = 27, .hidden = 1152, .attention.heads = 16,
                  .mlp.width = 4304, .norms.final = true, .ends.patch_bias = true,
                  .ends.positions = 64 * 64, .ends.positions_stretched = true,
                  .attention.rotary = true, .attention.fused_qkv = true },
           .picture = { 896, 14, .merge = 2 }),
    VISION("pixtral", vit_fields,
           .m = { TOWER, .layers = 24, .hidden = 1024, .attention.heads = 16,
                  .mlp.width = 4096, .mlp.gated = true, .norms.rms = true,
                  .norms.embedding = true, .attention.rotary = true },
           .picture = { 1024, 16 }),
    { .name = "qwen2_vl_vision",
      .fields = qwen2_fields,
      .finish = qwen2_finish,
      .alone = MERGER,
      .usual = { .m = { TOWER, BIASES, .layers = 32, .hidden = 1280,
                        .attention.heads = 16, .attention.rotary = true,
                        .attention.fused_qkv = true },
                 .picture = { 896, 14, .frames = 2, .merge = 2 } } },
    PART("qwen2_5_vl_vision", qwen3_fields, MERGER,
         .m = { TOWER, BIASES, .layers = 32, .hidden = 1280, .attention.heads = 16,
                .mlp.width = 3420, .mlp.gated = true, .norms.rms = true,
                .attention.rotary = true, .attention.fused_qkv = true },
         .picture = { 896, 14, .frames = 2, .merge = 2 }),
    { .name = "gemma4_vision",
      .fields = gemma4_fields,
      .finish = gemma4_finish,
      .usual = { .m = { TOWER, .layers = 16, .hidden = 768, .attention.heads = 12,
                        .mlp.width = 3072, .mlp.gated = true, .norms.rms = true,
                        .norms.result = true, .ends.positions = 10240,
                        .ends.positions_stretched = true, .attention.rotary = true,
                        .attention.value_norm = true },
                 .picture = { 768, 16, .merge = 3 } } },
    PART("qwen3_vl_vision", qwen3_fields, MERGER,
         .m = { TOWER, BIASES, .layers = 27, .hidden = 1152, .attention.heads = 16,
                .mlp.width = 4304, .ends.positions_stretched = true,
                .ends.patch_bias = true, .attention.rotary = true,
                .attention.fused_qkv = true },
         .picture = { 1024, 16, .frames = 2, .merge = 2 }),
    { .name = NULL },
};
