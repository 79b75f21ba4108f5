/* Decoders in the line of Llama: rotary embeddings, gated MLPs, few key-value heads. */
#include "model/family_rows.h"

/* Llama, Mistral, Mixtral, Phi-3, StarCoder2
 * --------------------------------------------------- */

#define LLAMA_SIZES                                                                    \
    HF_SIZES, SIZE("num_key_value_heads", NULL, attention.kv_heads, false, HEADS_MAX), \
        DROP("attention_dropout", attention.dropout)
#define LLAMA_FFN SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX)
static const struct family_field llama_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void llama_finish(struct family_raw *raw)
{
    raw->m.attention.qkv_bias = raw->m.attention.out_bias = raw->bias;
}

/* Sliding windows: of the layers that are listed, or of all but every so-manyth. */
static void set_windows(struct family_raw *raw)
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
    set_windows(raw);
}

/* Qwen
 * --------------------------------------------------------------------------------- */

#define QWEN_SIZES                                      \
    LLAMA_SIZES, WINDOW("sliding_window"), LAYER_TYPES, \
        FLAG("use_sliding_window", windows),            \
        WORD("max_window_layers", full_first, 0, LAYERS_MAX), ACTIVATION("hidden_act")
#define QWEN_EXPERTS                                                                  \
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),                  \
        SIZE("num_experts", NULL, mlp.experts, true, EXPERTS_MAX),                    \
        SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),  \
        WORD("decoder_sparse_step", sparse_step, 1, LAYERS_MAX),                      \
    {                                                                                 \
        .key = "mlp_only_layers", .type = FAMILY_ANY, .at = offsetof(R, listed_dense) \
    }

static const struct family_field qwen2_fields[] = { QWEN_SIZES, LLAMA_FFN, FIELDS_END };
static const struct family_field qwen3_fields[] = { QWEN_SIZES, LLAMA_FFN,
                                                    FLAG("attention_bias", bias),
                                                    FIELDS_END };
static const struct family_field qwen2_moe_fields[] = {
    QWEN_SIZES,
    QWEN_EXPERTS,
    SIZE("shared_expert_intermediate_size", NULL, mlp.shared_width, true, WIDTH_MAX),
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
    set_windows(raw);
    if (!raw->listed.n && raw->windowed > 0)
        raw->windowed =
            raw->m.layers > raw->full_first ? raw->m.layers - raw->full_first : 0;
}

static void qwen3_finish(struct family_raw *raw)
{
    qwen2_finish(raw);
    llama_finish(raw);
    raw->m.attention.q_norm = raw->m.attention.k_norm = raw->m.attention.head_dim;
}

/* Gemma
 * -------------------------------------------------------------------------------- */

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
    set_windows(raw);
    llama_finish(raw);
}

/* All but every sixth. */
static void gemma3_finish(struct family_raw *raw)
{
    if (!raw->full_every)
        raw->full_every = 6;
    set_windows(raw);
    llama_finish(raw);
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
    set_windows(raw);
}

/* OLMo 2, StableLM
 * --------------------------------------------------------------------- */

static void olmo2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t d =
        m->attention.head_dim ? m->attention.head_dim : m->hidden / m->attention.heads;
    llama_finish(raw);
    m->attention.q_norm = m->attention.heads * d;
    m->attention.k_norm =
        (m->attention.kv_heads ? m->attention.kv_heads : m->attention.heads) * d;
}

static const struct family_field stablelm_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("use_qkv_bias", m.attention.qkv_bias),
    FLAG("use_parallel_residual", m.parallel_residual),
    DROP("hidden_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void stablelm_finish(struct family_raw *raw)
{
    raw->m.norms.one = raw->m.parallel_residual;
}

/* DeepSeek-V2 and -V3, Kimi-K2
 * ------------------------------------------------------------ */

static const struct family_field deepseek_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("n_routed_experts", "num_local_experts", mlp.experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    WORD("moe_layer_freq", sparse_step, 1, LAYERS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    { .key = "q_lora_rank",
      .type = FAMILY_OR_NONE,
      .at = offsetof(R, m.attention.latent_q),
      .max = WIDTH_MAX },
    SIZE("kv_lora_rank", NULL, attention.latent_kv, true, WIDTH_MAX),
    SIZE("qk_rope_head_dim", NULL, attention.latent_rope, true, WIDTH_MAX),
    { .key = "qk_nope_head_dim",
      .type = FAMILY_INT,
      .at = offsetof(R, plain_head_dim),
      .required = true,
      .min = 1,
      .max = WIDTH_MAX },
    SIZE("v_head_dim", NULL, attention.value_dim, true, WIDTH_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void deepseek_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.head_dim = raw->plain_head_dim + m->attention.latent_rope;
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    if (m->mlp.dense_layers >= m->layers) { /* no layer has experts */
        m->mlp.dense_layers = m->layers;
        *m = model_of_dense_layers(m);
    }
}

#define GATED DECODER, .mlp.gated = true, .attention.rotary = true
#define LLAMA GATED, .norms.rms = true
#define GEMMA LLAMA, .attention.head_dim = 256, .ends.tied = true
#define QWEN2 LLAMA, .attention.qkv_bias = true, .attention.window = 4096
#define QWEN3 LLAMA, .attention.head_dim = 128, .attention.window = 4096

const struct family families_llama[] = {
    FAMILY("llama", llama_fields, llama_finish, LLAMA),
    FAMILY("granite", llama_fields, llama_finish, LLAMA),
    FAMILY("mistral", mistral_fields, set_windows, LLAMA, .attention.window = 4096),
    FAMILY("mixtral", mixtral_fields, set_windows, LLAMA),
    FAMILY("qwen2", qwen2_fields, qwen2_finish, QWEN2),
    FAMILY("qwen2_moe", qwen2_moe_fields, qwen2_finish, QWEN2,
           .mlp.shared_scale = true),
    FAMILY("qwen3", qwen3_fields, qwen3_finish, QWEN3),
    FAMILY("qwen3_moe", qwen3_moe_fields, qwen3_finish, QWEN3),
    FAMILY("phi3", phi3_fields, set_windows, LLAMA, .attention.fused_qkv = true),
    FAMILY("gemma", gemma_fields, llama_finish, GEMMA),
    FAMILY("gemma2", gemma2_fields, gemma2_finish, GEMMA, .norms.result = true,
           .attention.softcap = true, .ends.logit_softcap = true,
           .attention.window = 4096),
    FAMILY("gemma3_text", gemma2_fields, gemma3_finish, GEMMA, .norms.result = true,
           .attention.window = 4096),
    FAMILY("gpt_oss", gpt_oss_fields, gpt_oss_finish, LLAMA, .attention.head_dim = 64,
           .attention.qkv_bias = true, .mlp.bias = true, .mlp.router_bias = true,
           .attention.sinks = true, .attention.window = 128),
    FAMILY("olmo", llama_fields, llama_finish, GATED, .norms.fixed = true),
    FAMILY("olmo2", llama_fields, olmo2_finish, LLAMA, .norms.result = true,
           .norms.no_input = true),
    FAMILY("starcoder2", starcoder2_fields, starcoder2_finish, DECODER,
           .attention.rotary = true, .ends.tied = true, .mlp.bias = true,
           .attention.window = 4096),
    FAMILY("stablelm", stablelm_fields, stablelm_finish, GATED),
    FAMILY("deepseek_v2", deepseek_fields, deepseek_finish, LLAMA),
    FAMILY("deepseek_v3", deepseek_fields, deepseek_finish, LLAMA,
           .mlp.router_bias = true),
    FAMILY("kimi_k2", deepseek_fields, deepseek_finish, LLAMA, .mlp.router_bias = true),
    FAMILY("cohere", llama_fields, llama_finish, GATED, .ends.tied = true,
           .parallel_residual = true, .norms.one = true, .norms.bare = true),
    { .name = NULL },
};
