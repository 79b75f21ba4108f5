/* Decoders whose layers keep a state, all or some of them: Mamba, Mamba-2 and hybrids.
 * Sources: configuration_*.py and modeling_*.py of each in transformers 4.57, or what
 * the model's own repository has there. */
#include "model/families/family_rows.h"
#include "model/pattern.h"

#include <math.h>
#include <string.h>

/* Kinds and patterns --------------------------------------------------------------- */

struct model_kind *families_make_pattern(struct family_raw *raw, struct model_kind kind)
{
    struct model_kind *kinds =
        ARENA_ARRAY(raw->arena, raw->m.layers, struct model_kind);
    for (int64_t i = 0; i < raw->m.layers; i++)
        kinds[i] = kind;
    raw->m.pattern = kinds;
    return kinds;
}

void families_add_inner(struct family_raw *raw, enum model_inner inner)
{
    const struct model_kind state = { MODEL_MIXER_STATE, inner, 0 };
    struct model_kind *kinds = families_make_pattern(raw, state);
    for (int64_t i = 0; raw->pattern.kinds && i < raw->m.layers; i++)
        if (!raw->pattern.n || i < raw->pattern.n)
            kinds[i].mixer = raw->pattern.kinds[i].mixer;
}

/* Without attention: what divides heads, divides the states'. */
static void without_attention(struct model *m)
{
    m->attention.heads = m->attention.kv_heads = m->state.heads;
    m->attention.head_dim = m->state.head_dim;
}

/* Heads of a Mamba-2 mixer by its width, where one of both is unsaid. */
static void finish_heads(struct family_raw *raw)
{
    struct model_state *s = &raw->m.state;
    int64_t width = raw->state_width ? raw->state_width : raw->expand * raw->m.hidden;
    if (!s->head_dim)
        s->head_dim = s->heads > 0 ? width / s->heads : 64;
    if (!s->heads)
        s->heads = width / s->head_dim > 0 ? width / s->head_dim : 1;
}

/* Mamba ------------------------------------------------------------------------------- */

static const struct family_field mamba_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "d_model", hidden, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    STATE_SIZE("state_size", NULL, size, false, WIDTH_MAX),
    STATE_SIZE("conv_kernel", NULL, conv, false, 1024),
    WORD("expand", expand, 1, 1024),
    WORD("intermediate_size", state_width, 1, WIDTH_MAX),
    FLAG("use_bias", m.state.bias),
    FLAG("use_conv_bias", m.state.conv_bias),
    STATE_SIZE("time_step_rank", NULL, step_rank, false, WIDTH_MAX),
    FIELDS_END,
};

static const struct family_field mamba2_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "d_model", hidden, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    STATE_SIZE("num_heads", NULL, heads, false, HEADS_MAX),
    STATE_SIZE("head_dim", NULL, head_dim, false, WIDTH_MAX),
    STATE_SIZE("state_size", NULL, size, false, WIDTH_MAX),
    STATE_SIZE("n_groups", NULL, groups, false, HEADS_MAX),
    STATE_SIZE("conv_kernel", NULL, conv, false, 1024),
    STATE_SIZE("chunk_size", NULL, chunk, false, 1 << 16),
    WORD("expand", expand, 1, 1024),
    FLAG("use_bias", m.state.bias),
    FLAG("use_conv_bias", m.state.conv_bias),
    FLAG("rms_norm", m.state.norm),
    FIELDS_END,
};

static void alone(struct family_raw *raw)
{
    const struct model_kind state = { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 };
    without_attention(&raw->m);
    families_make_pattern(raw, state);
}

static void mamba2_finish(struct family_raw *raw)
{
    finish_heads(raw);
    alone(raw);
}

static void finish_columns(struct family_raw *raw)
{
    struct model_state *s = &raw->m.state;
    s->heads = raw->state_width ? raw->state_width : raw->expand * raw->m.hidden;
    s->head_dim = 1;
    if (!s->step_rank)
        s->step_rank = (raw->m.hidden + 15) / 16;
}

static void mamba_finish(struct family_raw *raw)
{
    finish_columns(raw);
    alone(raw);
}

/* Hybrids of Mamba-2 ------------------------------------------------------------------ */

#define BAMBA_STATE                                                                   \
    STATE_SIZE("mamba_n_heads", NULL, heads, false, HEADS_MAX),                       \
        STATE_SIZE("mamba_d_state", NULL, size, false, WIDTH_MAX),                    \
        STATE_SIZE("mamba_n_groups", NULL, groups, false, HEADS_MAX),                 \
        STATE_SIZE("mamba_d_conv", NULL, conv, false, 1024),                          \
        STATE_SIZE("mamba_chunk_size", NULL, chunk, false, 1 << 16),                  \
        WORD("mamba_expand", expand, 1, 1024), FLAG("mamba_proj_bias", m.state.bias), \
        FLAG("mamba_conv_bias", m.state.conv_bias)

/* "auto" is width / heads. */
static const struct family_field bamba_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    BAMBA_STATE,
    { .key = "attn_layer_indices", .type = FAMILY_MEMBERS, .at = offsetof(R, pattern) },
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void bamba_finish(struct family_raw *raw)
{
    raw->m.attention.qkv_bias = raw->m.attention.out_bias = raw->bias;
    finish_heads(raw);
    families_add_inner(raw, MODEL_INNER_MLP);
}

/* Granite 4: experts and a shared MLP in every layer; without experts that one alone. */
static const struct family_field granite_fields[] = {
    LLAMA_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    COUNT("num_local_experts", NULL, mlp.experts, EXPERTS_MAX),
    COUNT("num_experts_per_tok", NULL, mlp.experts_per_token, EXPERTS_MAX),
    SIZE("shared_intermediate_size", NULL, mlp.shared_width, true, WIDTH_MAX),
    BAMBA_STATE,
    PATTERN("layer_types", "layers_block_type"),
    FLAG("attention_bias", bias),
    TEXT("position_embedding_type", position),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void granite_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.qkv_bias = m->attention.out_bias = raw->bias;
    m->attention.rotary = raw->position && strcmp(raw->position, "rope") == 0;
    if (m->mlp.experts == 0) {
        m->mlp.width = m->mlp.shared_width;
        m->mlp.shared_width = m->mlp.experts_per_token = 0;
    }
    finish_heads(raw);
    families_add_inner(raw, MODEL_INNER_MLP);
}

/* Falcon-H1: both mixers side by side in every layer. */
static const struct family_field falcon_h1_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    BAMBA_STATE,
    WORD("mamba_d_ssm", state_width, 1, WIDTH_MAX),
    STATE_SIZE("mamba_d_head", NULL, head_dim, false, WIDTH_MAX),
    FLAG("mamba_rms_norm", m.state.norm),
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void falcon_h1_finish(struct family_raw *raw)
{
    const struct model_kind both = { MODEL_MIXER_BOTH, MODEL_INNER_MLP, 0 };
    raw->m.attention.qkv_bias = raw->m.attention.out_bias = raw->bias;
    finish_heads(raw);
    families_make_pattern(raw, both);
}

/* Nemotron-H, Nemotron 3: each layer is a mixer, an MLP or experts alone. Experts of
 * Nemotron 3 Super read latent columns. */
static const struct family_field nemotron_h_fields[] = {
    PATTERN("hybrid_override_pattern", "layers_block_type"),
    LLAMA_SIZES,
    SIZE("attention_head_dim", NULL, attention.head_dim, false, WIDTH_MAX),
    SIZE("intermediate_size", NULL, mlp.dense_width, false, WIDTH_MAX),
    STATE_SIZE("mamba_num_heads", NULL, heads, true, HEADS_MAX),
    STATE_SIZE("mamba_head_dim", NULL, head_dim, false, WIDTH_MAX),
    STATE_SIZE("ssm_state_size", "state_size", size, false, WIDTH_MAX),
    STATE_SIZE("n_groups", "mamba_n_groups", groups, false, HEADS_MAX),
    STATE_SIZE("conv_kernel", "mamba_d_conv", conv, false, 1024),
    STATE_SIZE("chunk_size", NULL, chunk, false, 1 << 16),
    FLAG("use_conv_bias", m.state.conv_bias),
    FLAG("mamba_proj_bias", m.state.bias),
    COUNT("n_routed_experts", "num_local_experts", mlp.experts, EXPERTS_MAX),
    COUNT("num_experts_per_tok", NULL, mlp.experts_per_token, EXPERTS_MAX),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    WORD("moe_intermediate_size", expert_width, 1, WIDTH_MAX),
    SIZE("moe_shared_expert_intermediate_size", NULL, mlp.shared_width, false,
         WIDTH_MAX),
    OR_NONE("moe_latent_size", mlp.latent, WIDTH_MAX),
    OR_NONE("n_group", mlp.router_groups, EXPERTS_MAX),
    OR_NONE("topk_group", mlp.router_chosen, EXPERTS_MAX),
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    NOTED("num_nextn_predict_layers",
          "layers that predict further tokens are not modelled: they are left out"),
    ACTIVATION("mlp_hidden_act"),
    FIELDS_END,
};

static void nemotron_h_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.qkv_bias = m->attention.out_bias = raw->bias;
    m->pattern = raw->pattern.n > 0 ? raw->pattern.kinds : NULL;
    if (m->mlp.experts > 0 && m->pattern && model_expert_layers(m) > 0) {
        m->mlp.width = raw->expert_width;
        m->mlp.router_bias = true;
        if (raw->shared_experts == 0)
            m->mlp.shared_width = 0;
    } else {
        m->mlp.width = m->mlp.dense_width;
        m->mlp.experts = m->mlp.experts_per_token = m->mlp.shared_width = 0;
        m->mlp.latent = m->mlp.router_groups = m->mlp.router_chosen = 0;
        m->mlp.dense_width = 0;
    }
    finish_heads(raw);
    if (!m->pattern) /* a mixer alone would be Mamba-2 */
        families_add_inner(raw, MODEL_INNER_NONE);
}

/* Jamba ------------------------------------------------------------------------------- */

static const struct family_field jamba_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    COUNT("num_experts", NULL, mlp.experts, EXPERTS_MAX),
    COUNT("num_experts_per_tok", NULL, mlp.experts_per_token, EXPERTS_MAX),
    WORD("attn_layer_period", attends.every, 1, LAYERS_MAX),
    WORD("attn_layer_offset", attends.from, 0, LAYERS_MAX),
    WORD("expert_layer_period", routes.every, 1, LAYERS_MAX),
    WORD("expert_layer_offset", routes.from, 0, LAYERS_MAX),
    STATE_SIZE("mamba_d_state", NULL, size, false, WIDTH_MAX),
    STATE_SIZE("mamba_d_conv", NULL, conv, false, 1024),
    WORD("mamba_expand", expand, 1, 1024),
    STATE_SIZE("mamba_dt_rank", NULL, step_rank, false, WIDTH_MAX),
    FLAG("mamba_proj_bias", m.state.bias),
    FLAG("mamba_conv_bias", m.state.conv_bias),
    FLAG("mamba_inner_layernorms", m.state.step_norm),
    WINDOW("sliding_window"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static bool recurs(struct family_period p, int64_t i)
{
    return p.every > 0 && i % p.every == p.from;
}

static void jamba_finish(struct family_raw *raw)
{
    const struct model_kind state = { MODEL_MIXER_STATE, MODEL_INNER_DENSE, 0 };
    struct model *m = &raw->m;
    finish_columns(raw);
    if (m->mlp.experts < 2)
        m->mlp.experts = m->mlp.experts_per_token = 0;
    struct model_kind *kinds = families_make_pattern(raw, state);
    for (int64_t i = 0; i < m->layers; i++) {
        if (recurs(raw->attends, i))
            kinds[i].mixer = MODEL_MIXER_ATTENTION;
        if (recurs(raw->routes, i) && m->mlp.experts > 0)
            kinds[i].inner = MODEL_INNER_MLP;
    }
    m->mlp.dense_width = m->mlp.experts > 0 ? m->mlp.width : 0;
    raw->windowed = m->attention.window ? m->layers : 0;
}

/* LFM2: gated short convolutions among attention -------------------------------------- */

#define LFM2_SIZES                                                        \
    LLAMA_SIZES,                                                          \
        { .key = "full_attn_idxs",                                        \
          .type = FAMILY_MEMBERS,                                         \
          .at = offsetof(R, pattern) },                                   \
        PATTERN("layer_types", NULL), FLAG("tie_embedding", m.ends.tied), \
        STATE_SIZE("conv_L_cache", NULL, conv, false, 1024), FLAG("conv_bias", bias)

static const struct family_field lfm2_fields[] = {
    LFM2_SIZES,
    SIZE("intermediate_size", "block_ff_dim", mlp.width, false, WIDTH_MAX),
    FLAG("block_auto_adjust_ff_dim", adjusts_width),
    { .key = "block_ffn_dim_multiplier",
      .type = FAMILY_REAL,
      .at = offsetof(R, width_factor),
      .max = 1024 },
    WORD("block_multiple_of", width_multiple, 1, WIDTH_MAX),
    FIELDS_END,
};

static const struct family_field lfm2_moe_fields[] = {
    LFM2_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    EXPERTS("num_experts", "num_experts_per_tok"),
    COUNT("num_dense_layers", NULL, mlp.dense_layers, LAYERS_MAX),
    FLAG("use_expert_bias", m.mlp.router_bias),
    FIELDS_END,
};

static void finish_conv(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->state.heads = m->hidden;
    m->state.head_dim = 1;
    m->state.bias = m->state.conv_bias = raw->bias;
    m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    if (!raw->pattern.kinds)
        raw->refused = "kinds of layers that no list names (\"layer_types\")";
    families_add_inner(raw, MODEL_INNER_MLP);
}

static void lfm2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t of = raw->width_multiple;
    if (raw->adjusts_width) {
        double width = floor((double)(2 * m->mlp.width / 3) * raw->width_factor);
        m->mlp.width = of * (((int64_t)width + of - 1) / of);
    }
    finish_conv(raw);
}

static void lfm2_moe_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    finish_conv(raw);
    struct model_kind *kinds = (struct model_kind *)m->pattern;
    for (int64_t i = 0; i < m->mlp.dense_layers && i < m->layers; i++)
        kinds[i].inner = MODEL_INNER_DENSE;
    m->mlp.dense_layers = 0;
}

/* Tables ------------------------------------------------------------------------------ */

#define STATE_LINE DECODER, .norms.rms = true
#define SSD_(normed)                    \
    .state = { .kind = MODEL_STATE_SSD, \
               .size = 128,             \
               .groups = 8,             \
               .conv = 4,               \
               .chunk = 256,            \
               .conv_bias = true,       \
               .norm = normed }
#define SSD SSD_(true)
#define S6_(normed)                    \
    .state = { .kind = MODEL_STATE_S6, \
               .size = 16,             \
               .conv = 4,              \
               .conv_bias = true,      \
               .step_norm = normed }
#define S6 S6_(false)
#define FAMILY_STATE(word, table, function, expand_, ...)                   \
    {                                                                       \
        .name = (word), .fields = (table), .finish = (function), .usual = { \
            .m = { STATE_LINE, __VA_ARGS__ },                               \
            .expand = expand_                                               \
        }                                                                   \
    }

const struct family families_state[] = {
    FAMILY_STATE("mamba", mamba_fields, mamba_finish, 2, S6, .ends.tied = true),
    FAMILY_STATE("falcon_mamba", mamba_fields, mamba_finish, 2, S6, .ends.tied = true),
    FAMILY_STATE("mamba2", mamba2_fields, mamba2_finish, 2, SSD),
    FAMILY_STATE("bamba", bamba_fields, bamba_finish, 2, SSD, .mlp.gated = true,
                 .attention.rotary = true),
    FAMILY_STATE("granitemoehybrid", granite_fields, granite_finish, 2, SSD,
                 .mlp.gated = true, .ends.tied = true),
    FAMILY_STATE("falcon_h1", falcon_h1_fields, falcon_h1_finish, 2, SSD_(false),
                 .mlp.gated = true, .attention.rotary = true),
    FAMILY_STATE("nemotron_h", nemotron_h_fields, nemotron_h_finish, 2, SSD,
                 .activation = MODEL_ACTIVATION_SQUARED_RELU),
    FAMILY_STATE("jamba", jamba_fields, jamba_finish, 2, S6_(true), .mlp.gated = true),
    { .name = "lfm2",
      .fields = lfm2_fields,
      .finish = lfm2_finish,
      .usual = { .m = { STATE_LINE, .mlp.gated = true, .attention.rotary = true,
                        .state = { .kind = MODEL_STATE_CONV, .conv = 3 },
                        .ends.tied = true },
                 .adjusts_width = true,
                 .width_factor = 1,
                 .width_multiple = 256 } },
    FAMILY_STATE("lfm2_moe", lfm2_moe_fields, lfm2_moe_finish, 0, .mlp.gated = true,
                 .attention.rotary = true,
                 .state = { .kind = MODEL_STATE_CONV, .conv = 3 }, .ends.tied = true),
    { .name = NULL },
};
