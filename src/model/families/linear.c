/* Decoders whose layers are linear attention, most of them: a delta rule or fixed decays,
 * with full attention in every so-manyth. Sources: configuration_*.py and modular_*.py of
 * each in transformers 5.0 (qwen3_next, qwen3_5, qwen3_5_moe, kimi_linear, minimax);
 * MiniMaxAI/MiniMax-Text-01, configuration_minimax_text_01.py. */
#include "model/families/family_rows.h"
#include "model/pattern.h"

#include <string.h>

/* Qwen3-Next, Qwen3.5: a gated delta rule, and gated attention --------------------------- */

#define DELTA_SIZES                                                                 \
    LLAMA_SIZES, PATTERN("layer_types", NULL),                                      \
        WORD("full_attention_interval", full_every, 1, LAYERS_MAX),                 \
        STATE_SIZE("linear_num_value_heads", NULL, heads, false, HEADS_MAX),        \
        STATE_SIZE("linear_value_head_dim", NULL, head_dim, false, WIDTH_MAX),      \
        STATE_SIZE("linear_num_key_heads", NULL, groups, false, HEADS_MAX),         \
        STATE_SIZE("linear_key_head_dim", NULL, size, false, WIDTH_MAX),            \
        STATE_SIZE("linear_conv_kernel_dim", NULL, conv, false, 1024),              \
        FLAG("attention_bias", bias),                                               \
        NOTED("mtp_num_hidden_layers",                                              \
              "layers that predict further tokens are not modelled: they are left " \
              "out"),                                                               \
        ACTIVATION("hidden_act")
#define DELTA_EXPERTS                                                         \
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),          \
        EXPERTS("num_experts", "num_experts_per_tok"),                        \
        SIZE("shared_expert_intermediate_size", NULL, mlp.shared_width, true, \
             WIDTH_MAX)

static const struct family_field delta_fields[] = {
    DELTA_SIZES,
    LLAMA_FFN,
    FIELDS_END,
};

static const struct family_field delta_moe_fields[] = {
    DELTA_SIZES,
    DELTA_EXPERTS,
    SIZE("intermediate_size", NULL, mlp.dense_width, false, WIDTH_MAX),
    WORD("decoder_sparse_step", sparse_step, 0, LAYERS_MAX),
    { .key = "mlp_only_layers", .type = FAMILY_ITEMS, .at = offsetof(R, dense_items) },
    FIELDS_END,
};

/* Every so-manyth layer is full attention, where none are listed. */
static void list_mixers(struct family_raw *raw)
{
    if (raw->pattern.n > 0)
        return;
    raw->pattern.kinds = ARENA_ARRAY(raw->arena, raw->m.layers, struct model_kind);
    for (int64_t i = 0; i < raw->m.layers; i++)
        raw->pattern.kinds[i].mixer =
            (i + 1) % raw->full_every ? MODEL_MIXER_STATE : MODEL_MIXER_ATTENTION;
}

static void delta_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.qkv_bias = m->attention.out_bias = raw->bias;
    m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    list_mixers(raw);
    families_add_inner(raw, MODEL_INNER_MLP);
}

/* OLMo Hybrid: the same rule with products of their own, plain attention with norms of all
 * queries and keys. Its layers of attention have their two norms after each sublayer, which
 * takes as many kernels as before it. */
static void olmo_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_state *s = &m->state;
    if (!s->groups)
        s->groups = m->attention.heads;
    if (!s->heads)
        s->heads = m->attention.heads;
    if (!s->size)
        s->size = 3 * m->hidden / (4 * s->groups);
    if (!s->head_dim)
        s->head_dim = 2 * s->size;
    delta_finish(raw);
    families_wide_norms(m);
}

static bool is_dense(const struct family_raw *raw, int64_t layer)
{
    for (int64_t i = 0; i < raw->dense_items.n; i++)
        if (raw->dense_items.of[i] == layer)
            return true;
    return raw->sparse_step > 0 && (layer + 1) % raw->sparse_step;
}

static void delta_moe_finish(struct family_raw *raw)
{
    delta_finish(raw);
    struct model_kind *kinds = (struct model_kind *)raw->m.pattern;
    for (int64_t i = 0; i < raw->m.layers; i++)
        if (is_dense(raw, i))
            kinds[i].inner = MODEL_INNER_DENSE;
}

/* Kimi Linear: Kimi Delta Attention, and latent attention ------------------------------- */

static const struct family_field kimi_fields[] = {
    SIZE("num_hidden_layers", NULL, layers, false, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, false, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, false, VOCAB_MAX),
    TIED,
    SIZE("intermediate_size", NULL, mlp.dense_width, false, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("num_experts", "n_routed_experts", mlp.experts, false, EXPERTS_MAX),
    SIZE("num_experts_per_token", "num_experts_per_tok", mlp.experts_per_token, false,
         EXPERTS_MAX),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    WORD("moe_layer_freq", sparse_step, 1, LAYERS_MAX),
    OR_NONE("q_lora_rank", attention.latent_q, WIDTH_MAX),
    SIZE("kv_lora_rank", NULL, attention.latent_kv, false, WIDTH_MAX),
    SIZE("qk_rope_head_dim", NULL, attention.latent_rope, false, WIDTH_MAX),
    WORD("qk_nope_head_dim", plain_head_dim, 1, WIDTH_MAX),
    SIZE("v_head_dim", NULL, attention.value_dim, false, WIDTH_MAX),
    STATE_SIZE("linear_attn_config/num_heads", NULL, heads, true, HEADS_MAX),
    STATE_SIZE("linear_attn_config/head_dim", NULL, head_dim, true, WIDTH_MAX),
    STATE_SIZE("linear_attn_config/short_conv_kernel_size", NULL, conv, false, 1024),
    { .key = "linear_attn_config/full_attn_layers",
      .type = FAMILY_ITEMS,
      .at = offsetof(R, full_items),
      .required = true },
    OR_NONE("routed_expert_hidden_size", mlp.latent, WIDTH_MAX),
    NOTED("mla_use_output_gate",
          "the gate of latent attention's result is not modelled: it is left out"),
    NOTED("attn_res_block_size", "attention to the results of earlier blocks of layers "
                                 "is not modelled: it is left out"),
    NOTED("num_nextn_predict_layers",
          "layers that predict further tokens are not modelled: they are left out"),
    FIELDS_END,
};

/* Layers of full attention are listed from 1 on. */
static void kimi_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_state *s = &m->state;
    s->size = s->step_rank = s->head_dim;
    s->groups = s->heads;
    m->attention.head_dim = raw->plain_head_dim + m->attention.latent_rope;
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    const struct model_kind state = { MODEL_MIXER_STATE, MODEL_INNER_MLP, 0 };
    struct model_kind *kinds = families_make_pattern(raw, state);
    for (int64_t i = 0; i < raw->full_items.n; i++) {
        int64_t at = raw->full_items.of[i] - 1;
        if (at >= 0 && at < m->layers)
            kinds[at].mixer = MODEL_MIXER_ATTENTION;
    }
    for (int64_t i = 0; i < m->layers; i++)
        if (i < m->mlp.dense_layers || (raw->sparse_step > 0 && i % raw->sparse_step))
            kinds[i].inner = MODEL_INNER_DENSE;
    m->mlp.dense_layers = 0;
}

/* MiniMax-01, -M1: lightning attention ------------------------------------------------------ */

static const struct family_field minimax_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    STATE_SIZE("block_size", NULL, chunk, false, 1 << 16),
    PATTERN("layer_types", NULL),
    { .key = "attn_type_list", .type = FAMILY_ITEMS, .at = offsetof(R, full_items) },
    NOTED("shared_intermediate_size",
          "a shared expert is not modelled: it is left out"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* The types of the model's own repository: 1 is full attention. */
static void minimax_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_state *s = &m->state;
    s->heads = s->groups = m->attention.heads;
    s->head_dim = s->size = families_head_dim(m);
    if (raw->full_items.n > 0) {
        raw->pattern.n = raw->full_items.n;
        raw->pattern.kinds = ARENA_ARRAY(raw->arena, raw->pattern.n, struct model_kind);
        for (int64_t i = 0; i < raw->pattern.n; i++)
            raw->pattern.kinds[i].mixer =
                raw->full_items.of[i] ? MODEL_MIXER_ATTENTION : MODEL_MIXER_STATE;
    }
    for (int64_t i = 0; raw->pattern.n == 0 && i < m->layers; i++) {
        if (!raw->pattern.kinds)
            raw->pattern.kinds = ARENA_ARRAY(raw->arena, m->layers, struct model_kind);
        raw->pattern.kinds[i].mixer =
            (i + 1) % 2 ? MODEL_MIXER_ATTENTION : MODEL_MIXER_STATE;
    }
    families_add_inner(raw, MODEL_INNER_MLP);
}

/* Tables ------------------------------------------------------------------------------ */

#define DELTA_(four)                             \
    LLAMA, .attention.gated = true,              \
           .state = { .kind = MODEL_STATE_DELTA, \
                      .heads = 32,               \
                      .head_dim = 128,           \
                      .size = 128,               \
                      .groups = 16,              \
                      .conv = 4,                 \
                      .chunk = 64,               \
                      .norm = true,              \
                      .apart = four }
#define LINEAR(word, table, function, every, ...)                           \
    {                                                                       \
        .name = (word), .fields = (table), .finish = (function), .usual = { \
            .m = { __VA_ARGS__ },                                           \
            .full_every = every                                             \
        }                                                                   \
    }
#define LIGHTNING \
    LLAMA, .state = { .kind = MODEL_STATE_LIGHTNING, .chunk = 256, .norm = true }

const struct family families_linear[] = {
    LINEAR("qwen3_next", delta_moe_fields, delta_moe_finish, 4, DELTA_(false),
           .attention.head_dim = 256, .mlp.dense_width = 5632,
           .mlp.shared_scale = true),
    LINEAR("qwen3_5_text", delta_fields, delta_finish, 4, DELTA_(true),
           .attention.head_dim = 256),
    LINEAR("qwen3_5_moe_text", delta_moe_fields, delta_moe_finish, 4, DELTA_(true),
           .attention.head_dim = 256, .mlp.shared_scale = true),
    LINEAR("olmo_hybrid", delta_fields, olmo_finish, 4, LLAMA,
           .state = { .kind = MODEL_STATE_DELTA,
                      .conv = 4,
                      .chunk = 64,
                      .norm = true,
                      .apart = true }),
    LINEAR("kimi_linear", kimi_fields, kimi_finish, 0, DECODER, .norms.rms = true,
           .mlp.gated = true, .layers = 27, .hidden = 2304, .attention.heads = 32,
           .ends.vocab = 163840, .mlp.dense_width = 9216, .mlp.width = 1024,
           .mlp.experts = 256, .mlp.experts_per_token = 8, .mlp.dense_layers = 1,
           .mlp.router_bias = true, .attention.latent_kv = 512,
           .attention.latent_rope = 64, .attention.value_dim = 128,
           .state = { .kind = MODEL_STATE_KDA, .conv = 4, .chunk = 64, .norm = true }),
    LINEAR("minimax", minimax_fields, minimax_finish, 0, LIGHTNING),
    LINEAR("minimax_text_01", minimax_fields, minimax_finish, 0, LIGHTNING),
    LINEAR("minimax_m1", minimax_fields, minimax_finish, 0, LIGHTNING),
    { .name = NULL },
};
