/* Stacks over a picture whose stages halve it and double their columns. Sources:
 * configuration_*.py and modeling_*.py of each in transformers 5. */
#include "model/families/family_rows.h"

enum { CHANNELS = 3, MAKERS_COLUMNS = 512 /* inside of what makes Swin v2's bias */ };

static const struct family_field swin_fields[] = {
    SIZE("embed_dim", NULL, hidden, true, WIDTH_MAX),
    ITEMS("depths", stages.depths),
    ITEMS("num_heads", stages.heads),
    SIDES("image_size", stages.picture, PIXELS_MAX),
    EACH("patch_size", NULL, picture.patch, 1, PIXELS_MAX),
    WORD("num_channels", picture.channels, 1, CHANNELS_MAX),
    SIDES("window_size", stages.window, PIXELS_MAX),
    { .key = "mlp_ratio",
      .type = FAMILY_REAL,
      .at = offsetof(R, stages.expansion),
      .max = 64 },
    FLAG("qkv_bias", m.attention.qkv_bias),
    FLAG("use_absolute_embeddings", stages.absolute),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    ELSEWHERE("num_layers"),  /* as many as "depths" has */
    ELSEWHERE("hidden_size"), /* of the last stage */
    ELSEWHERE("path_norm"),
    ELSEWHERE("drop_path_rate"),
    ELSEWHERE("encoder_stride"),
    ELSEWHERE("pretrained_window_sizes"),
    ELSEWHERE("stage_names"),
    ELSEWHERE("out_features"),
    ELSEWHERE("out_indices"),
    FIELDS_END,
};

/* Layers and heads of each stage; false: the file's make none. */
static bool set_stages(const struct family_raw *raw, struct model_stages *all)
{
    const struct family_stages *said = &raw->stages;
    const struct model *m = &raw->m;
    all->n = said->depths.n;
    if (all->n < 1 || all->n > MODEL_STAGES_MAX || said->heads.n != all->n)
        return false;
    for (int64_t i = 0; i < all->n; i++) {
        all->layers[i] = said->depths.of[i];
        all->heads[i] = said->heads.of[i];
        if (all->layers[i] < 1 || all->heads[i] < 1 ||
            (m->hidden << i) % all->heads[i] != 0)
            return false;
    }
    return true;
}

/* Positions are a bias of each two tokens of a window, in a table of each layer. */
static void swin_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    const struct family_stages *said = &raw->stages;
    struct family_picture *p = &raw->picture;
    struct model_stages *all = ARENA_NEW(raw->arena, struct model_stages);
    m->layers = 1;
    m->attention.heads = 1;
    if (said->window.rows != said->window.columns)
        raw->refused = "windows that are not square (\"window_size\")";
    else if (said->expansion != (double)(int64_t)said->expansion)
        raw->refused = "MLPs of that many columns (\"mlp_ratio\")";
    else if (!set_stages(raw, all))
        raw->refused = "stages of such layers and heads (\"depths\", \"num_heads\")";
    if (raw->refused)
        return;
    all->rows = said->picture.rows / p->patch;
    all->columns = said->picture.columns / p->patch;
    all->window = said->window.rows;
    all->expansion = (int64_t)said->expansion;
    m->layers = 0;
    for (int64_t i = 0; i < all->n; i++)
        m->layers += all->layers[i];
    m->stages = all;
    m->attention.heads = all->heads[0];
    m->mlp.width = all->expansion * m->hidden;
    m->attention.windowed = m->attention.relative_each = true;
    m->attention.relative_buckets = (2 * all->window - 1) * (2 * all->window - 1);
    p->side = said->picture.rows;
    p->across = said->picture.columns;
    p->patches = all->rows * all->columns;
    p->merge = (int64_t)1 << (all->n - 1);
    p->out = model_last_columns(m);
    m->ends.patch = (p->channels ? p->channels : CHANNELS) * p->patch * p->patch;
    m->ends.positions = said->absolute ? p->patches : 0;
}

/* Swin v2: the bias is made by an MLP of two coordinates, and keys have no bias of their
 * own; each head has a scale. What of this is no table of heads is counted as held. */
static void swin2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    swin_finish(raw);
    if (raw->refused)
        return;
    struct model_stages *all = ARENA_NEW(raw->arena, struct model_stages);
    *all = *m->stages;
    all->norm_after = true;
    m->stages = all;
    m->attention.relative_buckets = MAKERS_COLUMNS + 1;
    for (int64_t i = 0; i < all->n; i++)
        m->idle += all->layers[i] * (3 * MAKERS_COLUMNS - (m->hidden << i));
    raw->noted =
        "cosines of queries and keys and the MLP that makes the bias of positions "
        "are counted, and not run";
}

#define SWIN(word, fn, side, ...)                                         \
    {                                                                     \
        .name = (word), .fields = swin_fields, .finish = (fn), .usual = { \
            .m = { TOWER, BIASES, .hidden = 96, .norms.embedding = true,  \
                   .ends.patch_bias = true, __VA_ARGS__ },                \
            .picture = { .patch = 4 },                                    \
            .stages = { .picture = { side, side },                        \
                        .window = { 7, 7 },                               \
                        .expansion = 4 }                                  \
        }                                                                 \
    }

const struct family families_stages[] = {
    SWIN("swin", swin_finish, 224, .norms.final = true),
    SWIN("swinv2", swin2_finish, 224, .norms.final = true, .norms.result = true,
         .norms.no_input = true),
    SWIN("donut-swin", swin_finish, 224),
    { .name = NULL },
};
