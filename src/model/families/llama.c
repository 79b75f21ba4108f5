/* Decoders in the line of Llama: rotary embeddings, gated MLPs, few key-value heads. */
#include "model/families/family_rows.h"

/* Llama, Mistral, Mixtral, Phi-3, StarCoder2
 * --------------------------------------------------- */

static const struct family_field llama_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

void families_llama(struct family_raw *raw)
{
    raw->m.attention.qkv_bias = raw->m.attention.out_bias = raw->bias;
}

void families_windows(struct family_raw *raw)
{
    const struct model *m = &raw->m;
    int64_t full = raw->full_every ? m->layers / raw->full_every : 0;
    raw->windowed = raw->listed.n ? raw->listed.sliding : m->layers - full;
    if (!m->attention.window)
        raw->windowed = 0;
}

/* Mistral, Mixtral, StarCoder2, Phi-3: of all layers. */
static const struct family_field mistral_fields[] = {
    LLAMA_SIZES, LLAMA_FFN, WINDOW("sliding_window"), ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field mixtral_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    SIZE("num_local_experts", NULL, mlp.experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),
    WINDOW("sliding_window"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field phi3_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    WINDOW("sliding_window"),
    DROP("resid_pdrop", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field starcoder2_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    WINDOW("sliding_window"),
    FLAG("use_bias", m.mlp.bias),
    DROP("residual_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void starcoder2_finish(struct family_raw *raw)
{
    raw->m.attention.qkv_bias = raw->m.attention.out_bias = raw->m.mlp.bias;
    families_windows(raw);
}

/* Qwen
 * --------------------------------------------------------------------------------- */

#define QWEN_SIZES                                      \
    LLAMA_SIZES, WINDOW("sliding_window"), LAYER_TYPES, \
        FLAG("use_sliding_window", windows),            \
        WORD("max_window_layers", full_first, 0, LAYERS_MAX), ACTIVATION("hidden_act")
#define QWEN_EXPERTS                                                                   \
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),                   \
        SIZE("num_experts", "num_local_experts", mlp.experts, true, EXPERTS_MAX),      \
        SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),   \
        SIZE("intermediate_size", NULL, mlp.dense_width, false, WIDTH_MAX),            \
        WORD("decoder_sparse_step", sparse_step, 1, LAYERS_MAX),                       \
    {                                                                                  \
        .key = "mlp_only_layers", .type = FAMILY_ITEMS, .at = offsetof(R, dense_items) \
    }

static const struct family_field qwen2_fields[] = { QWEN_SIZES, LLAMA_FFN, FIELDS_END };
static const struct family_field qwen3_fields[] = { QWEN_SIZES, LLAMA_FFN,
                                                    FLAG("attention_bias", bias),
                                                    FIELDS_END };
static const struct family_field qwen2_moe_fields[] = {
    QWEN_SIZES,
    QWEN_EXPERTS,
    SIZE("shared_expert_intermediate_size", NULL, mlp.shared_width, true, WIDTH_MAX),
    FLAG("qkv_bias", m.attention.qkv_bias),
    FIELDS_END,
};
static const struct family_field qwen3_moe_fields[] = {
    QWEN_SIZES,
    QWEN_EXPERTS,
    FLAG("attention_bias", bias),
    FIELDS_END,
};

/* Windows of the layers after the first few, where they are asked for. */
static void qwen2_finish(struct family_raw *raw)
{
    if (!raw->windows)
        raw->m.attention.window = 0;
    families_windows(raw);
    if (!raw->listed.n && raw->windowed > 0)
        raw->windowed =
            raw->m.layers > raw->full_first ? raw->m.layers - raw->full_first : 0;
}

/* Layers that are listed have no experts, nor those between every so-manyth
 * (transformers, modeling_qwen3_moe.py, Qwen3MoeDecoderLayer). */
static bool has_experts(const struct family_raw *raw, int64_t layer)
{
    for (int64_t i = 0; i < raw->dense_items.n; i++)
        if (raw->dense_items.of[i] == layer)
            return false;
    return raw->sparse_step < 2 || (layer + 1) % raw->sparse_step == 0;
}

static void qwen_experts(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->mlp.dense_layers = 0;
    for (int64_t i = 0; i < m->layers; i++) {
        bool dense = !has_experts(raw, i);
        raw->interleaved |= dense && i > m->mlp.dense_layers;
        m->mlp.dense_layers += dense;
    }
    families_dense(m);
}

static void qwen2_moe_finish(struct family_raw *raw)
{
    qwen2_finish(raw);
    qwen_experts(raw);
}

static void qwen3_finish(struct family_raw *raw)
{
    qwen2_finish(raw);
    families_llama(raw);
    raw->m.attention.q_norm = raw->m.attention.k_norm = families_head_dim(&raw->m);
}

static void qwen3_moe_finish(struct family_raw *raw)
{
    qwen3_finish(raw);
    qwen_experts(raw);
}

/* Gemma -------------------------------------------------------------------------------- */

static const struct family_field gemma_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

static const struct family_field gemma2_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("sliding_window_pattern", full_every, 1, LAYERS_MAX),
    NONZERO("attn_logit_softcapping", attention.softcap),
    NONZERO("final_logit_softcapping", ends.logit_softcap),
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

/* Every other layer has a window. */
static void gemma2_finish(struct family_raw *raw)
{
    raw->full_every = 2;
    families_windows(raw);
    families_llama(raw);
}

/* All but every sixth. */
static void gemma3_finish(struct family_raw *raw)
{
    if (!raw->full_every)
        raw->full_every = 6;
    families_windows(raw);
    families_llama(raw);
    raw->m.attention.q_norm = raw->m.attention.k_norm = raw->m.attention.head_dim;
}

/* GPT-OSS
 * ------------------------------------------------------------------------------ */

static const struct family_field gpt_oss_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    SIZE("num_local_experts", NULL, mlp.experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", "experts_per_token", mlp.experts_per_token, true,
         EXPERTS_MAX),
    FLAG("attention_bias", m.attention.qkv_bias),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Every other layer has a window. */
static void gpt_oss_finish(struct family_raw *raw)
{
    raw->m.attention.out_bias = raw->m.attention.qkv_bias;
    raw->full_every = 2;
    families_windows(raw);
}

/* Cohere ------------------------------------------------------------------------------- */

static const struct family_field cohere_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("use_qk_norm", qk_norm),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("sliding_window_pattern", full_every, 1, LAYERS_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void cohere_finish(struct family_raw *raw)
{
    families_llama(raw);
    if (raw->qk_norm)
        families_wide_norms(&raw->m);
}

/* All but every fourth layer have a window. */
static void cohere2_finish(struct family_raw *raw)
{
    if (!raw->full_every)
        raw->full_every = 4;
    cohere_finish(raw);
    families_windows(raw);
}

/* OLMo 2, StableLM
 * --------------------------------------------------------------------- */

int64_t families_head_dim(const struct model *m)
{
    const struct model_attention *a = &m->attention;
    return a->head_dim ? a->head_dim : m->hidden / a->heads;
}

void families_wide_norms(struct model *m)
{
    struct model_attention *a = &m->attention;
    int64_t d = families_head_dim(m);
    a->q_norm = a->heads * d;
    a->k_norm = (a->kv_heads ? a->kv_heads : a->heads) * d;
}

static void olmo2_finish(struct family_raw *raw)
{
    families_llama(raw);
    families_wide_norms(&raw->m);
}

static const struct family_field stablelm_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("use_qkv_bias", m.attention.qkv_bias),
    FLAG("use_parallel_residual", m.parallel_residual),
    FLAG("qk_layernorm", qk_norm),
    DROP("hidden_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Norms of queries and keys have weights of each head's own (StableLM 2 12B; transformers,
 * modeling_stablelm.py, StableLmLayerNormPerHead). */
static void stablelm_finish(struct family_raw *raw)
{
    raw->m.norms.one = raw->m.parallel_residual;
    if (raw->qk_norm)
        families_wide_norms(&raw->m);
}

#define GEMMA LLAMA, .attention.head_dim = 256, .ends.tied = true
#define COHERE                                                              \
    GATED, .ends.tied = true, .parallel_residual = true, .norms.one = true, \
           .norms.bare = true
#define QWEN2 LLAMA, .attention.qkv_bias = true, .attention.window = 4096
#define QWEN3 LLAMA, .attention.head_dim = 128, .attention.window = 4096

const struct family families_llama_line[] = {
    FAMILY("llama", llama_fields, families_llama, LLAMA),
    FAMILY("granite", llama_fields, families_llama, LLAMA),
    FAMILY("mistral", mistral_fields, families_windows, LLAMA,
           .attention.window = 4096),
    FAMILY("mixtral", mixtral_fields, families_windows, LLAMA),
    FAMILY("qwen2", qwen2_fields, qwen2_finish, QWEN2),
    FAMILY("qwen2_moe", qwen2_moe_fields, qwen2_moe_finish, QWEN2,
           .mlp.shared_scale = true),
    FAMILY("qwen3", qwen3_fields, qwen3_finish, QWEN3),
    FAMILY("qwen3_moe", qwen3_moe_fields, qwen3_moe_finish, LLAMA,
           .attention.window = 4096),
    FAMILY("phi3", phi3_fields, families_windows, LLAMA, .attention.fused_qkv = true,
           .mlp.fused_gate = true),
    FAMILY("gemma", gemma_fields, families_llama, GEMMA),
    FAMILY("gemma2", gemma2_fields, gemma2_finish, GEMMA, .norms.result = true,
           .attention.softcap = true, .ends.logit_softcap = true,
           .attention.window = 4096),
    /* without norms of results */
    FAMILY("vaultgemma", gemma2_fields, gemma2_finish, GEMMA, .attention.softcap = true,
           .ends.logit_softcap = true, .attention.window = 4096),
    FAMILY("gemma3_text", gemma2_fields, gemma3_finish, GEMMA, .norms.result = true,
           .attention.window = 4096),
    FAMILY("gpt_oss", gpt_oss_fields, gpt_oss_finish, LLAMA, .attention.head_dim = 64,
           .mlp.bare_experts = true, .attention.qkv_bias = true, .mlp.bias = true,
           .mlp.router_bias = true, .attention.sinks = true, .attention.window = 128,
           .attention.scaled_rope = true),
    FAMILY("olmo", llama_fields, families_llama, GATED, .norms.fixed = true),
    FAMILY("olmo2", llama_fields, olmo2_finish, LLAMA, .norms.result = true,
           .norms.no_input = true),
    FAMILY("starcoder2", starcoder2_fields, starcoder2_finish, DECODER,
           .attention.rotary = true, .ends.tied = true, .mlp.bias = true,
           .attention.window = 4096),
    FAMILY("stablelm", stablelm_fields, stablelm_finish, GATED),
    FAMILY("cohere", cohere_fields, cohere_finish, COHERE),
    FAMILY("cohere2", cohere_fields, cohere2_finish, COHERE, .attention.window = 4096),
    { .name = NULL },
};
