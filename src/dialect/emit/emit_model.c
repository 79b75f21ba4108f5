/* A model in the words of a scenario's own ("model_type": "megatron"); what is its
 * default there is null. */
#include "dialect/emit/emit_parts.h"
#include "model/pattern.h"

#define VALUE(name, result)                       \
    static json_t *name(const struct scenario *s) \
    {                                             \
        const struct model *m = &s->model;        \
        return (result);                          \
    }
#define WHEN(condition, result) ((condition) ? (result) : json_null())
#define WHOLE(n) json_integer((json_int_t)(n))
#define MORE(a, b) ((a) > (b) ? (a) : (b))

VALUE(layers, WHOLE(m->layers))
VALUE(hidden, WHOLE(m->hidden))
VALUE(ffn, WHOLE(m->mlp.width))
VALUE(heads, WHOLE(m->attention.heads))
VALUE(channels, WHEN(m->attention.head_dim * m->attention.heads != m->hidden,
                     WHOLE(m->attention.head_dim)))
VALUE(groups,
      WHEN(m->attention.kv_heads != m->attention.heads, WHOLE(m->attention.kv_heads)))
VALUE(experts, WHEN(m->mlp.experts, WHOLE(m->mlp.experts)))
VALUE(topk, WHEN(m->mlp.experts, WHOLE(m->mlp.experts_per_token)))
VALUE(shared, WHEN(m->mlp.shared_width, WHOLE(m->mlp.shared_width)))
VALUE(vocab, WHOLE(m->ends.vocab))
VALUE(positions, WHOLE(MORE(m->ends.positions, s->training.sequence_length)))
VALUE(gated, WHEN(m->mlp.gated, json_true()))
VALUE(activation,
      WHEN(m->activation == MODEL_ACTIVATION_SQUARED_RELU, json_string("squared_relu")))
VALUE(normalization, WHEN(m->norms.rms, json_string("RMSNorm")))
VALUE(embedding, m->attention.rotary  ? json_string("rope")
                 : !m->ends.positions ? json_string("none")
                                      : json_null())
VALUE(bias, WHEN(!m->mlp.bias && !m->attention.out_bias, json_false()))
VALUE(qkv_bias, WHEN(m->attention.qkv_bias && !m->attention.out_bias, json_true()))
VALUE(qk_norm, WHEN(m->attention.q_norm > 0, json_true()))
VALUE(untied, WHEN(m->arch == MODEL_DECODER && !m->ends.tied, json_true()))
VALUE(embedding_norm, WHEN(m->norms.embedding && m->arch == MODEL_DECODER, json_true()))
VALUE(hidden_dropout, WHEN(!m->hidden_dropout, json_real(0)))
VALUE(attention_dropout, WHEN(!m->attention.dropout, json_real(0)))

/* Layers by letters, where each is a mixer or an MLP alone. */
static json_t *pattern(const struct scenario *s)
{
    const struct model *m = &s->model;
    json_t *text = m->pattern ? json_string("") : json_null();
    for (int64_t i = 0; m->pattern && i < m->layers; i++) {
        char letter[] = { model_pattern_letter(m->pattern[i]), '\0' };
        json_t *longer = json_sprintf("%s%s", json_string_value(text), letter);
        json_decref(text);
        text = longer;
        if (!letter[0]) {
            json_decref(text);
            return json_null();
        }
    }
    return text;
}

VALUE(state_heads, WHEN(m->pattern, WHOLE(m->state.heads)))
VALUE(state_head_dim, WHEN(m->pattern, WHOLE(m->state.head_dim)))
VALUE(state_size, WHEN(m->pattern, WHOLE(m->state.size)))
VALUE(state_groups, WHEN(m->pattern, WHOLE(m->state.groups)))
VALUE(latent, WHEN(m->mlp.latent, WHOLE(m->mlp.latent)))

/* clang-format off */
const struct emit_field emit_model_fields[] = {
    { "/model/num_layers", EMIT_DETAIL, layers },
    { "/model/hidden_size", EMIT_DETAIL, hidden },
    { "/model/ffn_hidden_size", EMIT_DETAIL, ffn },
    { "/model/num_attention_heads", EMIT_DETAIL, heads },
    { "/model/kv_channels", EMIT_DETAIL, channels },
    { "/model/num_query_groups", EMIT_DETAIL, groups },
    { "/model/num_experts", EMIT_DETAIL, experts },
    { "/model/moe_router_topk", EMIT_DETAIL, topk },
    { "/model/moe_shared_expert_intermediate_size", EMIT_DETAIL, shared },
    { "/model/vocab_size", EMIT_DETAIL, vocab },
    { "/model/max_position_embeddings", EMIT_DETAIL, positions },
    { "/model/swiglu", EMIT_DETAIL, gated },
    { "/model/activation", EMIT_DETAIL, activation },
    { "/model/normalization", EMIT_DETAIL, normalization },
    { "/model/position_embedding_type", EMIT_DETAIL, embedding },
    { "/model/add_bias_linear", EMIT_DETAIL, bias },
    { "/model/add_qkv_bias", EMIT_DETAIL, qkv_bias },
    { "/model/qk_layernorm", EMIT_DETAIL, qk_norm },
    { "/model/untie_embeddings_and_output_weights", EMIT_DETAIL, untied },
    { "/model/embed_layernorm", EMIT_DETAIL, embedding_norm },
    { "/model/hybrid_layer_pattern", EMIT_DETAIL, pattern },
    { "/model/mamba_num_heads", EMIT_DETAIL, state_heads },
    { "/model/mamba_head_dim", EMIT_DETAIL, state_head_dim },
    { "/model/mamba_state_dim", EMIT_DETAIL, state_size },
    { "/model/mamba_num_groups", EMIT_DETAIL, state_groups },
    { "/model/moe_latent_size", EMIT_DETAIL, latent },
    { "/model/hidden_dropout", EMIT_DETAIL, hidden_dropout },
    { "/model/attention_dropout", EMIT_DETAIL, attention_dropout },
    { NULL, EMIT_DETAIL, NULL },
};
/* clang-format on */

/* clang-format off */
static bool same_sizes(const struct model *a, const struct model *b);

static bool same_tower(const struct model_tower *a, const struct model_tower *b)
{
    if (!a || !b)
        return a == b;
    return a->patches == b->patches && a->crops == b->crops && a->tokens == b->tokens &&
           a->model.activation == b->model.activation &&
           a->model.attention.fused_qkv == b->model.attention.fused_qkv &&
           same_sizes(&a->model, &b->model);
}

static bool same_pattern(const struct model *a, const struct model *b)
{
#define SAME(m) (a->state.m == b->state.m)
    bool state = SAME(kind) && SAME(heads) && SAME(head_dim) && SAME(size) && SAME(groups) && SAME(conv) && SAME(chunk) && SAME(step_rank) &&
        SAME(bias) && SAME(conv_bias) && SAME(norm) && SAME(step_norm) && SAME(apart);
#undef SAME
    if (!state || !a->pattern != !b->pattern || a->layers != b->layers)
        return false;
    for (int64_t i = 0; a->pattern && i < a->layers; i++)
        if (!model_kind_same(a->pattern[i], b->pattern[i]))
            return false;
    return true;
}

static bool same_sizes(const struct model *a, const struct model *b)
{
#define SAME(m) (a->m == b->m)
    return SAME(arch) && SAME(ends.head) && SAME(layers) && SAME(decoder_layers) &&
        SAME(hidden) && SAME(attention.heads) && SAME(attention.kv_heads) && SAME(attention.head_dim) && SAME(mlp.width) &&
        SAME(attention.value_dim) && SAME(attention.q_width) && SAME(attention.kv_width) && SAME(ends.vocab) && SAME(ends.positions) &&
        SAME(ends.type_vocab) && SAME(ends.word) && SAME(ends.word_all) && SAME(ends.word_out) && SAME(ends.patch) && SAME(ends.frames) && SAME(ends.positions_unused) && SAME(mlp.experts) && SAME(mlp.experts_per_token) &&
        SAME(mlp.shared_width) && SAME(mlp.dense_layers) && (a->mlp.dense_layers == 0 || SAME(mlp.dense_width)) && SAME(mlp.latent) && same_pattern(a, b) && SAME(attention.latent_kv) &&
        SAME(attention.latent_rope) && SAME(attention.latent_q) && SAME(attention.q_norm) && SAME(attention.k_norm) && SAME(attention.window) &&
        SAME(attention.windowed_share) && SAME(attention.relative_buckets) && SAME(norms.rms) && SAME(norms.bare) &&
        SAME(norms.fixed) && SAME(norms.post) && SAME(norms.result) && SAME(norms.no_input) &&
        SAME(mlp.gated) && SAME(ends.tied) && SAME(parallel_residual) && SAME(norms.one) &&
        SAME(attention.qkv_bias) && SAME(attention.out_bias) && SAME(mlp.bias) && SAME(ends.head_bias) &&
        SAME(norms.embedding) && SAME(norms.final) && SAME(ends.pooler) && SAME(attention.softcap) &&
        SAME(ends.logit_softcap) && SAME(attention.sinks) && SAME(attention.gated) && SAME(attention.index_heads) && SAME(attention.index_dim) && SAME(ends.embed) && SAME(diffusion.stack) && SAME(diffusion.single_layers) && SAME(diffusion.text_tokens) && SAME(mlp.router_bias) && SAME(mlp.shared_scale) &&
        SAME(attention.rotary) && SAME(attention.dropout) && SAME(hidden_dropout) &&
        SAME(ends.patch) && same_tower(a->tower, b->tower);
#undef SAME
}
/* clang-format on */

/* Whether an activation is one kernel, whatever the model calls it (build_activation). */
static bool fuses_activation(const struct scenario *s)
{
    const struct framework *fw = s->training.framework;
    return fw->kernels.fused_activation || fw->kernels.fused_bias_gelu;
}

/* Whether one product makes queries, keys and values, by the stack or by the family. */
static bool fuses_qkv(const struct scenario *s)
{
    return s->training.framework->kernels.fused_qkv || s->model.attention.fused_qkv;
}

bool emit_same_model(const struct scenario *a, const struct scenario *b)
{
    bool activation = a->model.activation == b->model.activation ||
                      (fuses_activation(a) && fuses_activation(b));
    return activation && fuses_qkv(a) == fuses_qkv(b) &&
           same_sizes(&a->model, &b->model);
}
