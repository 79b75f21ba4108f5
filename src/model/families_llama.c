/* Decoders in the line of Llama: rotary embeddings, gated MLPs, few key-value heads. */
#include "model/family_rows.h"

/* Llama, Mistral, Qwen2, Mixtral --------------------------------------------------- */

#define LLAMA_SIZES                                                          \
    HF_SIZES, SIZE("num_key_value_heads", NULL, kv_heads, false, HEADS_MAX), \
        SIZE("intermediate_size", NULL, ffn, true, WIDTH_MAX),               \
        DROP("attention_dropout", attention_dropout)

static const struct family_field llama_fields[] = {
    LLAMA_SIZES,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp_bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field mistral_fields[] = { LLAMA_SIZES,
                                                      ACTIVATION("hidden_act"),
                                                      FIELDS_END };

static const struct family_field mixtral_fields[] = {
    LLAMA_SIZES,
    SIZE("num_local_experts", NULL, experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", NULL, experts_per_token, true, EXPERTS_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void llama_finish(struct family_raw *raw)
{
    raw->m.qkv_bias = raw->m.out_bias = raw->bias;
}

/* Phi-3, Gemma, OLMo, StarCoder2, StableLM, Cohere --------------------------------------- */

static const struct family_field phi3_fields[] = {
    LLAMA_SIZES,
    DROP("resid_pdrop", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field gemma_fields[] = {
    LLAMA_SIZES,
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

static const struct family_field starcoder2_fields[] = {
    LLAMA_SIZES,
    FLAG("use_bias", m.mlp_bias),
    DROP("residual_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void starcoder2_finish(struct family_raw *raw)
{
    raw->m.qkv_bias = raw->m.out_bias = raw->m.mlp_bias;
}

static const struct family_field stablelm_fields[] = {
    LLAMA_SIZES,
    FLAG("use_qkv_bias", m.qkv_bias),
    FLAG("use_parallel_residual", m.parallel_residual),
    DROP("hidden_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void stablelm_finish(struct family_raw *raw)
{
    raw->m.one_norm = raw->m.parallel_residual;
}

#define GATED DECODER, .gated_mlp = true, .rotary = true
#define LLAMA GATED, .rms_norm = true

const struct family families_llama[] = {
    FAMILY("llama", llama_fields, llama_finish, LLAMA),
    FAMILY("granite", llama_fields, llama_finish, LLAMA),
    FAMILY("mistral", mistral_fields, NULL, LLAMA),
    FAMILY("qwen2", mistral_fields, NULL, LLAMA, .qkv_bias = true),
    FAMILY("mixtral", mixtral_fields, NULL, LLAMA),
    FAMILY("phi3", phi3_fields, NULL, LLAMA, .fused_qkv = true),
    FAMILY("gemma", gemma_fields, llama_finish, LLAMA, .head_dim = 256,
           .tied_embeddings = true),
    FAMILY("olmo", llama_fields, llama_finish, GATED, .fixed_norm = true),
    FAMILY("starcoder2", starcoder2_fields, starcoder2_finish, DECODER, .rotary = true,
           .tied_embeddings = true, .mlp_bias = true),
    FAMILY("stablelm", stablelm_fields, stablelm_finish, GATED),
    FAMILY("cohere", llama_fields, llama_finish, GATED, .tied_embeddings = true,
           .parallel_residual = true, .one_norm = true, .bare_norm = true),
    { .name = NULL },
};
