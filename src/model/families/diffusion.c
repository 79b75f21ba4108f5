/* Diffusion transformers, by the configurations of diffusers: "_class_name" in place of a
 * model_type. Sources: models/transformers/ of diffusers 0.32 (dit_transformer_2d.py,
 * transformer_sd3.py, transformer_flux.py); lengths of texts are the pipelines' own
 * (pipelines/stable_diffusion_3: 77 tokens of CLIP and 256 of T5; pipelines/flux: 512). */
#include "model/families/family_rows.h"

#include <string.h>

#define DIFFUSION_SIZES                                                         \
    SIZE("num_layers", NULL, layers, false, LAYERS_MAX),                        \
        SIZE("num_attention_heads", NULL, attention.heads, false, HEADS_MAX),   \
        SIZE("attention_head_dim", NULL, attention.head_dim, false, WIDTH_MAX), \
        SIZE("patch_size", NULL, diffusion.patch, false, 1 << 16),              \
        SIZE("in_channels", NULL, diffusion.channels, false, 1 << 16),          \
        OR_NONE("out_channels", diffusion.channels_out, 1 << 16),               \
        SIZE("image_size", NULL, diffusion.side, false, 1 << 16)
#define JOINT_SIZES                                                                \
    DIFFUSION_SIZES,                                                               \
        SIZE("joint_attention_dim", NULL, diffusion.text_width, false, WIDTH_MAX), \
        SIZE("pooled_projection_dim", NULL, diffusion.pooled, false, WIDTH_MAX),   \
        SIZE("text_tokens", NULL, diffusion.text_tokens, false, POSITIONS_MAX)

static const struct family_field dit_fields[] = {
    DIFFUSION_SIZES,
    SIZE("num_embeds_ada_norm", NULL, diffusion.classes, false, VOCAB_MAX),
    FIELDS_END,
};

static const struct family_field sd3_fields[] = {
    JOINT_SIZES,
    TEXT("qk_norm", normalization),
    { .key = "dual_attention_layers",
      .type = FAMILY_ITEMS,
      .at = offsetof(R, dense_items) },
    FIELDS_END,
};

static const struct family_field flux_fields[] = {
    JOINT_SIZES,
    COUNT("num_single_layers", NULL, diffusion.single_layers, LAYERS_MAX),
    FLAG("guidance_embeds", m.diffusion.guided),
    FIELDS_END,
};

static void finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_diffusion *d = &m->diffusion;
    int64_t out = d->channels_out ? d->channels_out : d->channels;
    m->hidden = m->attention.heads * m->attention.head_dim;
    m->mlp.width = 4 * m->hidden;
    m->ends.patch = d->patch * d->patch * d->channels;
    d->patch_out = d->patch * d->patch * out;
    d->embedders = 1 + d->guided;
    m->layers += d->single_layers;
    if (raw->normalization)
        m->attention.q_norm = m->attention.k_norm = m->attention.head_dim;
    raw->refused = raw->dense_items.n > 0
                       ? "layers with a second attention (\"dual_attention_layers\")"
                       : NULL;
    /* of a picture's side 8 pixels are one of the latents' (AutoencoderKL) */
    int64_t across = d->side / 8 / d->patch / d->packing;
    d->picture_tokens = across * across;
}

/* One class more than the labels: none (classifier-free guidance). */
static void dit_finish(struct family_raw *raw)
{
    raw->m.diffusion.classes++;
    finish(raw);
}

#define DENOISER                                                                     \
    .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_DENOISE, .ends.patch_bias = true, \
    .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true,        \
    .norms.fixed = true, .activation = MODEL_ACTIVATION_KERNEL
#define DIFFUSION(word, table, function, ...)                               \
    {                                                                       \
        .name = (word), .fields = (table), .finish = (function), .usual = { \
            .m = { DENOISER, __VA_ARGS__ }                                  \
        }                                                                   \
    }

/* Names are smsim's; the classes' own are in family_of_class. */
const struct family families_diffusion[] = {
    DIFFUSION("dit", dit_fields, dit_finish, .layers = 28, .attention.heads = 16,
              .attention.head_dim = 72,
              .diffusion = { .stack = true,
                             .patch = 2,
                             .channels = 4,
                             .channels_out = 8,
                             .classes = 1000,
                             .side = 256,
                             .packing = 1 }),
    DIFFUSION("sd3", sd3_fields, finish, .layers = 18, .attention.heads = 18,
              .attention.head_dim = 64,
              .diffusion = { .stack = true,
                             .patch = 2,
                             .channels = 16,
                             .channels_out = 16,
                             .text_width = 4096,
                             .pooled = 2048,
                             .text_tokens = 333,
                             .text_ends = true,
                             .side = 1024,
                             .packing = 1 }),
    DIFFUSION("flux", flux_fields, finish, .layers = 19, .attention.heads = 24,
              .attention.head_dim = 128, .attention.q_norm = 128,
              .attention.k_norm = 128, .attention.rotary = true,
              .diffusion = { .stack = true,
                             .patch = 1,
                             .channels = 64,
                             .single_layers = 38,
                             .text_width = 4096,
                             .pooled = 768,
                             .text_tokens = 512,
                             .side = 1024,
                             .packing = 2 }),
    { .name = NULL },
};

const struct family *family_of_class(const char *name)
{
    static const char *const classes[][2] = {
        { "DiTTransformer2DModel", "dit" },
        { "SD3Transformer2DModel", "sd3" },
        { "FluxTransformer2DModel", "flux" },
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strcmp(classes[i][0], name) == 0)
            return family_find(classes[i][1]);
    return NULL;
}
