/* Stacks that read pictures, as patches: by themselves, or as the towers of models that
 * read pictures and words (vision.c). Sources: as families_recent.c. */
#include "model/family_rows.h"

#include <string.h>

enum { PIXELS_MAX = 1 << 16, CHANNELS = 3 };

#define PICTURE                                            \
    EACH("image_size", NULL, picture.side, 1, PIXELS_MAX), \
        EACH("patch_size", NULL, picture.patch, 1, PIXELS_MAX)

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
    NOTED("num_register_tokens", "register tokens are not modelled: they are left out"),
    NOTED("vision_use_head", "the pooling of a classifier's head is left out"),
    ACTIVATION("hidden_act"),
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
    NOTED("num_register_tokens", "register tokens are not modelled: they are left out"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Qwen's: sizes under names of their own; of the older one hidden_size is what it hands
 * to the language model. */
static const struct family_field qwen2_fields[] = {
    SIZE("depth", NULL, layers, true, LAYERS_MAX),
    SIZE("embed_dim", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", NULL, attention.heads, true, HEADS_MAX),
    PICTURE,
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
    WORD("temporal_patch_size", picture.frames, 1, 64),
    WORD("spatial_merge_size", picture.merge, 1, 64),
    NOTED("window_size", "windows of the vision tower's attention are not modelled: "
                         "each patch attends to all of its picture"),
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
static void vision_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct family_picture *p = &raw->picture;
    int64_t across = p->side / p->patch;
    p->patches = across * across;
    m->ends.patch = CHANNELS * (p->frames ? p->frames : 1) * p->patch * p->patch;
    if (p->learned) { /* a class token's numbers are learned, too */
        m->ends.positions = p->patches + 2 * p->class_tokens;
        m->ends.positions_unused = p->class_tokens;
    }
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
    vision_finish(raw);
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
    vision_finish(raw);
}

#define TOWER .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_CLASS
#define BIASES .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true
#define VISION(word, table, ...)                                               \
    {                                                                          \
        .name = (word), .fields = (table), .finish = vision_finish, .usual = { \
            __VA_ARGS__                                                        \
        }                                                                      \
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
           .m = { TOWER, BASE, BIASES, .norms.final = true, .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true, .class_tokens = 1 }),
    VISION("deit", vit_fields,
           .m = { TOWER, BASE, BIASES, .norms.final = true, .ends.patch_bias = true },
           .picture = { 224, 16, .learned = true, .class_tokens = 2 }),
    { .name = "dinov2",
      .fields = dinov2_fields,
      .finish = dinov2_finish,
      .usual = { .m = { TOWER, BASE, BIASES, .norms.final = true,
                        .ends.patch_bias = true },
                 .picture = { 224, 14, .learned = true, .class_tokens = 1 } } },
    VISION("clip_vision_model", vit_fields,
           .m = { TOWER, BASE, BIASES, .mlp.width = 3072, .norms.final = true,
                  .norms.embedding = true },
           .picture = { 224, 32, .learned = true, .class_tokens = 1 }),
    VISION("siglip_vision_model", vit_fields,
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
    VISION("llama4_vision_model", vit_fields,
           .m = { TOWER, BIASES, .layers = 34, .hidden = 768, .attention.heads = 16,
                  .mlp.width = 5632, .norms.final = true, .norms.embedding = true,
                  .attention.rotary = true },
           .picture = { 448, 14, .learned = true, .class_tokens = 1 }),
    VISION("moonvit", vit_fields,
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
    VISION("qwen2_vl_vision", qwen2_fields,
           .m = { TOWER, BIASES, .layers = 32, .hidden = 1280, .attention.heads = 16,
                  .attention.rotary = true, .attention.fused_qkv = true },
           .picture = { 896, 14, .frames = 2, .merge = 2 }),
    VISION("qwen2_5_vl_vision", qwen3_fields,
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
    VISION("qwen3_vl_vision", qwen3_fields,
           .m = { TOWER, BIASES, .layers = 27, .hidden = 1152, .attention.heads = 16,
                  .mlp.width = 4304, .ends.positions_stretched = true,
                  .ends.patch_bias = true, .attention.rotary = true,
                  .attention.fused_qkv = true },
           .picture = { 1024, 16, .frames = 2, .merge = 2 }),
    { .name = NULL },
};
