/* Models in the words of Megatron-LM's arguments, gpt-neox's and OLMo's, which say each
 * choice by itself. */
#include "model/families/family_rows.h"
#include "model/pattern.h"

#include "base/names.h"

#include <string.h>
#include <strings.h>

/* Megatron-LM ---------------------------------------------------------------------- */

static const struct family_field megatron_fields[] = {
    SIZE("num_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("ffn_hidden_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("num_query_groups", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("kv_channels", NULL, attention.head_dim, false, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    SIZE("num_experts", NULL, mlp.experts, false, EXPERTS_MAX),
    SIZE("moe_router_topk", NULL, mlp.experts_per_token, false, EXPERTS_MAX),
    COUNT("moe_router_num_groups", NULL, mlp.router_groups, EXPERTS_MAX),
    COUNT("moe_router_group_topk", NULL, mlp.router_chosen, EXPERTS_MAX),
    WORD("moe_ffn_hidden_size", expert_width, 1, WIDTH_MAX),
    COUNT("moe_first_dense_layers", NULL, mlp.dense_layers, LAYERS_MAX),
    FLAG("multi_latent_attention", latent),
    SIZE("q_lora_rank", NULL, attention.latent_q, false, WIDTH_MAX),
    SIZE("kv_lora_rank", NULL, attention.latent_kv, false, WIDTH_MAX),
    WORD("qk_head_dim", plain_head_dim, 1, WIDTH_MAX),
    SIZE("qk_pos_emb_head_dim", NULL, attention.latent_rope, false, WIDTH_MAX),
    SIZE("v_head_dim", NULL, attention.value_dim, false, WIDTH_MAX),
    SIZE("moe_shared_expert_intermediate_size", NULL, mlp.shared_width, false,
         WIDTH_MAX),
    { .key = "hybrid_layer_pattern",
      .type = FAMILY_PATTERN,
      .at = offsetof(R, pattern) },
    SIZE("mamba_num_heads", NULL, state.heads, false, HEADS_MAX),
    SIZE("mamba_head_dim", NULL, state.head_dim, false, WIDTH_MAX),
    SIZE("mamba_state_dim", NULL, state.size, false, WIDTH_MAX),
    SIZE("mamba_num_groups", NULL, state.groups, false, HEADS_MAX),
    COUNT("moe_latent_size", NULL, mlp.latent, WIDTH_MAX),
    TEXT("normalization", normalization),
    TEXT("position_embedding_type", position),
    ACTIVATION("activation"),
    FLAG("encoder", encoder),
    FLAG("encoder_decoder", encoder_decoder),
    SIZE("decoder_num_layers", NULL, decoder_layers, false, LAYERS_MAX),
    FLAG("swiglu", swiglu),
    FLAG("untie_embeddings_and_output_weights", untied),
    FLAG("add_bias_linear", bias),
    FLAG("add_qkv_bias", m.attention.qkv_bias),
    FLAG("qk_layernorm", qk_norm),
    FLAG("embed_layernorm", m.norms.embedding),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

static void finish_experts(struct model *m)
{
    if (m->mlp.experts && !m->mlp.experts_per_token)
        m->mlp.experts_per_token = m->mlp.experts < 2 ? 1 : 2;
    if (!m->mlp.experts)
        m->mlp.shared_width = 0;
}

/* The first layers without experts have the width of a dense MLP, experts their own. */
static void finish_widths(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t width = m->mlp.width ? m->mlp.width : 4 * m->hidden;
    if (!m->mlp.experts)
        m->mlp.dense_layers = 0;
    m->mlp.dense_width = m->mlp.dense_layers ? width : 0;
    if (raw->expert_width && m->mlp.experts)
        m->mlp.width = raw->expert_width;
    families_dense(m);
}

/* Latent attention: what is unsaid is arguments.py's (Megatron-LM core_r0.12,
 * _add_mla_args). Its norms are of the latent columns. */
static void finish_latent(struct family_raw *raw)
{
    struct model_attention *a = &raw->m.attention;
    if (!raw->latent) {
        a->latent_q = a->latent_kv = a->latent_rope = a->value_dim = 0;
        return;
    }
    a->latent_kv = a->latent_kv ? a->latent_kv : 32;
    a->latent_rope = a->latent_rope ? a->latent_rope : 64;
    a->value_dim = a->value_dim ? a->value_dim : 128;
    a->head_dim = (raw->plain_head_dim ? raw->plain_head_dim : 128) + a->latent_rope;
    a->kv_heads = a->heads;
    a->q_norm = a->k_norm = 0;
}

/* Layers by letters. What is unsaid is megatron/core/ssm/mamba_mixer.py's (core_r0.14,
 * MambaMixer): as many heads as twice the hidden size has, chunks of 128. */
static void finish_pattern(struct family_raw *raw)
{
    struct model *m = &raw->m;
    struct model_state *s = &m->state;
    int64_t width = m->mlp.width ? m->mlp.width : 4 * m->hidden;
    if (raw->pattern.n == 0) {
        *s = (struct model_state) { .kind = MODEL_STATE_NONE };
        return;
    }
    s->kind = MODEL_STATE_SSD;
    s->conv = 4;
    s->chunk = 128;
    s->bias = raw->bias;
    s->conv_bias = s->norm = true;
    s->heads = s->heads ? s->heads : 2 * m->hidden / s->head_dim;
    s->heads = s->heads ? s->heads : 1;
    m->pattern = raw->pattern.n == m->layers ? raw->pattern.kinds : NULL;
    m->mlp.dense_layers = 0;
    if (m->mlp.experts > 0 && m->pattern && model_expert_layers(m) > 0) {
        m->mlp.dense_width = width;
        m->mlp.width = raw->expert_width ? raw->expert_width : width;
    } else {
        raw->without_experts = m->mlp.experts > 0;
        m->mlp.experts = m->mlp.experts_per_token = m->mlp.shared_width = 0;
        m->mlp.dense_width = 0;
    }
}

/* Its BERT has norms before attention and MLP, as its GPT, and two heads; its T5 is a
 * GPT's layers with learned positions and biases. */
static void megatron_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t head =
        m->attention.head_dim ? m->attention.head_dim : m->hidden / m->attention.heads;
    if (raw->encoder) {
        m->arch = MODEL_ENCODER;
        m->ends.head = MODEL_HEAD_PRETRAIN;
        m->ends.type_vocab = 2;
        m->ends.pooler = true;
    }
    if (raw->encoder_decoder) {
        m->arch = MODEL_ENCODER_DECODER;
        m->decoder_layers = m->decoder_layers ? m->decoder_layers : m->layers;
    } else {
        m->decoder_layers = 0;
    }
    m->ends.tied = !raw->untied;
    m->mlp.gated = raw->swiglu;
    m->norms.rms = raw->normalization && strcasecmp(raw->normalization, "RMSNorm") == 0;
    m->attention.rotary = raw->position && strcmp(raw->position, "rope") == 0;
    if (raw->position && strcmp(raw->position, "learned_absolute") != 0)
        m->ends.positions = 0;
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = head;
    m->attention.out_bias = m->mlp.bias = raw->bias;
    m->attention.qkv_bias |= raw->bias;
    finish_experts(m);
    finish_latent(raw);
    if (!m->mlp.width && m->mlp.gated) /* 2/3 of 4, to a multiple of 64 */
        m->mlp.width = m->hidden * 8 / 3 / 64 * 64;
    finish_widths(raw);
    finish_pattern(raw);
    if (!m->mlp.experts)
        m->mlp.latent = 0;
}

/* gpt-neox ------------------------------------------------------------------------- */

/* megatron/neox_arguments/neox_args.py (gpt-neox of 2026-05); "ffn_hidden_size" is the
 * MLP's inner width, which "intermediate_size" is not where the MLP is gated. */
static const struct family_field neox_args_fields[] = {
    SIZE("num_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("num_kv_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("ffn_hidden_size", NULL, mlp.width, false, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    WINDOW("sliding_window_width"),
    SIZE("moe_num_experts", NULL, mlp.experts, false, EXPERTS_MAX),
    SIZE("moe_top_k", NULL, mlp.experts_per_token, false, EXPERTS_MAX),
    TEXT("norm", normalization),
    TEXT("pos_emb", position),
    ACTIVATION("activation"),
    FLAG("no_weight_tying", untied),
    FLAG("gpt_j_residual", m.parallel_residual),
    FLAG("use_bias_in_attn_linear", bias),
    FLAG("use_bias_in_mlp", m.mlp.bias),
    FLAG("use_qk_layernorm", qk_norm),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

/* megatron/model/activations.py, norms.py, moe_mlp.py (experts have no biases). */
static void neox_args_finish(struct family_raw *raw)
{
    static const char *const gated[] = { "swiglu",   "geglu", "reglu",
                                         "bilinear", "glu",   NULL },
                             *const rms[] = { "rmsnorm", "te_rmsnorm", "scalenorm",
                                              NULL };
    struct model *m = &raw->m;
    const char *norm = raw->normalization ? raw->normalization : "layernorm",
               *position = raw->position ? raw->position : "learned";
    m->ends.tied = !raw->untied;
    m->mlp.gated = raw->activation && names_listed(gated, raw->activation);
    m->norms.rms = names_listed(rms, norm);
    m->norms.fixed = strcmp(norm, "non_parametric_layernorm") == 0;
    m->attention.rotary = strcmp(position, "rotary") == 0;
    if (strcmp(position, "learned") != 0)
        m->ends.positions = 0;
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = m->hidden / m->attention.heads;
    m->attention.qkv_bias = m->attention.out_bias = raw->bias;
    if (m->mlp.experts < 2)
        m->mlp.experts = m->mlp.experts_per_token = 0;
    else if (!m->mlp.experts_per_token)
        m->mlp.experts_per_token = 1;
    if (m->mlp.experts)
        m->mlp.bias = false;
    if (!m->mlp.width)
        m->mlp.width = m->mlp.gated ? m->hidden * 4 / 3 : 4 * m->hidden;
    raw->windowed = m->attention.window ? m->layers : 0;
}

/* OLMo ----------------------------------------------------------------------------- */

/* olmo/config.py, ModelConfig (allenai/OLMo of 2025-09). */
static const struct family_field olmo_args_fields[] = {
    SIZE("d_model", NULL, hidden, true, WIDTH_MAX),
    SIZE("n_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("n_layers", NULL, layers, true, LAYERS_MAX),
    SIZE("n_kv_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    SIZE("mlp_hidden_size", NULL, mlp.width, false, WIDTH_MAX),
    WORD("mlp_ratio", expansion, 1, 1024),
    SIZE("max_sequence_length", NULL, ends.positions, false, POSITIONS_MAX),
    ACTIVATION("activation_type"),
    TEXT("layer_norm_type", normalization),
    TEXT("block_type", position),
    FLAG("alibi", alibi),
    FLAG("rope", m.attention.rotary),
    FLAG("multi_query_attention", multi_query),
    FLAG("attention_layer_norm", qk_norm),
    FLAG("layer_norm_with_affine", norm_weights),
    FLAG("attention_layer_norm_with_affine", qk_norm_weights),
    FLAG("bias_for_layer_norm", norm_bias),
    FLAG("include_bias", bias),
    FLAG("embedding_layer_norm", m.norms.embedding),
    FLAG("norm_after", m.norms.result),
    FLAG("weight_tying", m.ends.tied),
    DROP("residual_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

/* olmo/model.py: SwiGLU halves the MLP's hidden size; positions are learned without
 * rotation and ALiBi; blocks of "llama" have products of their own for q, k and v. */
static void olmo_args_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t inner = m->mlp.width ? m->mlp.width : raw->expansion * m->hidden;
    m->mlp.gated = !raw->activation || strcmp(raw->activation, "swiglu") == 0;
    m->mlp.width = m->mlp.gated ? inner / 2 : inner;
    m->norms.rms = raw->normalization && strcmp(raw->normalization, "rms") == 0;
    m->norms.fixed = !raw->norm_weights;
    m->norms.bare = !raw->norm_bias || !raw->bias;
    m->norms.no_input = m->norms.result;
    m->attention.fused_qkv = !raw->position || strcmp(raw->position, "llama") != 0;
    if (raw->multi_query)
        m->attention.kv_heads = 1;
    if (m->attention.rotary || raw->alibi)
        m->ends.positions = 0;
    if (raw->qk_norm && raw->qk_norm_weights)
        families_wide_norms(m);
    m->attention.qkv_bias = m->attention.out_bias = m->mlp.bias = raw->bias;
    m->ends.head_bias = raw->bias && !m->ends.tied;
}

const struct family families_megatron[] = {
    { .name = "olmo_args",
      .fields = olmo_args_fields,
      .finish = olmo_args_finish,
      .usual = { .m = { DECODER, .ends.tied = true, .ends.positions = 1024,
                        .attention.dropout = true, .hidden_dropout = true },
                 .bias = true,
                 .norm_bias = true,
                 .norm_weights = true,
                 .qk_norm_weights = true,
                 .expansion = 4 } },
    { .name = "neox_args",
      .fields = neox_args_fields,
      .finish = neox_args_finish,
      .usual = { .m = { DECODER, .attention.fused_qkv = true, .mlp.bias = true },
                 .bias = true } },
    { .name = "megatron",
      .fields = megatron_fields,
      .finish = megatron_finish,
      .usual = { .m = { DECODER, .attention.dropout = true, .hidden_dropout = true,
                        .attention.fused_qkv = true, .state.head_dim = 64,
                        .state.size = 128, .state.groups = 8 },
                 .bias = true } },
    { .name = NULL },
};
