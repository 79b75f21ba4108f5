/* Towers of models that read pictures, whose layout is their own, and the language model
 * that reads one by cross-attention. Sources: configuration_*.py and modeling_*.py of each
 * in transformers 5. */
#include "model/families/family_rows.h"

/* GLM-4.1V and 4.5V: RMSNorms, gated MLPs as wide as the language model, a norm of patches
 * and learned positions; its projector has a gated MLP of `intermediate_size`. */
static const struct family_field glm4v_fields[] = {
    SIZE("depth", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("out_hidden_size", NULL, mlp.width, true, WIDTH_MAX),
    WORD("intermediate_size", picture.gate, 1, WIDTH_MAX),
    PICTURE,
    WORD("in_channels", picture.channels, 1, CHANNELS_MAX),
    WORD("temporal_patch_size", picture.frames, 1, 64),
    WORD("spatial_merge_size", picture.merge, 1, 64),
    FLAG("attention_bias", m.attention.qkv_bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void glm4v_finish(struct family_raw *raw)
{
    families_picture(raw);
    raw->m.ends.positions_stretched = true;
}

#define GLM4V(word)                                                                \
    {                                                                              \
        .name = (word), .fields = glm4v_fields, .finish = glm4v_finish, .usual = { \
            .m = { TOWER, .layers = 24, .hidden = 1536, .attention.heads = 12,     \
                   .mlp.width = 4096, .mlp.gated = true, .norms.rms = true,        \
                   .norms.embedding = true, .norms.final = true,                   \
                   .ends.patch_bias = true, .attention.rotary = true,              \
                   .attention.fused_qkv = true },                                  \
            .picture = { 336, 14, .frames = 2, .merge = 2, .gate = 13696,          \
                         .learned = true }                                         \
        }                                                                          \
    }

/* Llama 3.2 Vision: a picture is cut into tiles whose patches attend to each other, each
 * tile with a class token; patches of several layers go to the language model side by side
 * ("vision_output_dim"). The layers after the last of these ("num_global_layers") are like
 * the others but for two gates, numbers that are not counted. */
static const struct family_field mllama_tower_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),
    WORD("num_global_layers", picture.more_layers, 0, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("attention_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    PICTURE,
    WORD("vision_output_dim", picture.out, 1, WIDTH_MAX),
    WORD("max_num_tiles", picture.tiles, 1, 1024),
    { .key = "supported_aspect_ratios",
      .type = FAMILY_LENGTH,
      .at = offsetof(R, picture.shapes) },
    ELSEWHERE("intermediate_layers_indices"), /* vision_output_dim is their columns */
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Positions: one table of a tile's patches, one of all tiles for each shape of a picture
 * and for none, two of the tiles alone, and the class token. */
static void mllama_tower_finish(struct family_raw *raw)
{
    enum { WHOLE = 8 }; /* patches of a tile are padded to a multiple */
    struct model *m = &raw->m;
    struct family_picture *p = &raw->picture;
    families_picture(raw);
    int64_t tile = p->patches + 1, shapes = p->shapes + 1;
    m->layers += p->more_layers;
    m->ends.positions = tile + shapes * p->tiles * (tile + 2) + 1;
    m->ends.positions_stretched = true;
    p->patches = p->tiles * tile;
    p->class_tokens = p->tiles * ((tile + WHOLE - 1) / WHOLE * WHOLE - tile);
}

/* Its language model: Llama, of which listed layers attend to pictures and to no text.
 * The embedding has 8 words more than the head, which are not counted. */
static const struct family_field mllama_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    ITEMS("cross_attention_layers", full_items),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void mllama_finish(struct family_raw *raw)
{
    enum { FIRST = 3, EVERY = 5 }; /* where no layers are listed */
    const struct family_items *list = &raw->full_items;
    const struct model_kind self = { MODEL_MIXER_ATTENTION, MODEL_INNER_MLP, 0 },
                            cross = { MODEL_MIXER_CROSS, MODEL_INNER_MLP, 1 };
    struct model *m = &raw->m;
    struct model_variant *v = ARENA_NEW(raw->arena, struct model_variant);
    *v = (struct model_variant) { "cross_attention_layer", m->attention, m->mlp.width,
                                  false };
    struct model_attention *a = &v->attention;
    a->kv_heads = a->kv_heads ? a->kv_heads : a->heads;
    a->head_dim = families_head_dim(m);
    a->q_width = a->heads * a->head_dim;
    a->kv_width = a->kv_heads * a->head_dim;
    a->q_norm = a->k_norm = a->head_dim;
    a->rotary = false;
    m->variants = v;
    m->n_variants = 1;
    struct model_kind *kinds = families_make_pattern(raw, self);
    for (int64_t i = FIRST; !list->n && i < m->layers; i += EVERY)
        kinds[i] = cross;
    for (int64_t i = 0; i < list->n; i++)
        if (list->of[i] >= 0 && list->of[i] < m->layers)
            kinds[list->of[i]] = cross;
        else
            raw->refused = "cross-attention layers that are none of the layers "
                           "(\"cross_attention_layers\")";
}

const struct family families_tower[] = {
    GLM4V("glm4v_vision"),
    GLM4V("glm4v_moe_vision"),
    { .name = "mllama_vision_model",
      .fields = mllama_tower_fields,
      .finish = mllama_tower_finish,
      .usual = { .m = { TOWER, .layers = 32, .hidden = 1280, .attention.heads = 16,
                        .mlp.width = 5120, .mlp.bias = true, .norms.embedding = true,
                        .norms.final = true },
                 .picture = { 448, 14, .more_layers = 8, .out = 7680, .tiles = 4,
                              .shapes = 8 } } },
    { .name = "mllama_text_model",
      .fields = mllama_fields,
      .finish = mllama_finish,
      .usual = { .m = { LLAMA, .layers = 40, .hidden = 4096, .attention.heads = 32,
                        .attention.kv_heads = 8, .mlp.width = 14336,
                        .ends.vocab = 128256 } } },
    { .name = NULL },
};
