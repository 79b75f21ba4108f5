/* Decoders of 2024 to 2026 that differ from those of model/families/recent.c and
 * model/families/experts.c in names and in a choice or two. Sources: the configuration_*.py
 * and modeling_*.py of each in transformers 4.57, or what the model's own repository
 * has there; mlx-lm 0.30, mlx_lm/models, says the same of sizes. */
#include "model/families/family_rows.h"

/* Dense ---------------------------------------------------------------------------- */

/* Apertus: an MLP of two matrices with xIELU, whose two numbers a layer are left out. */
static const struct family_field apertus_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    FLAG("qk_norm", qk_norm),
    DROP("hidden_dropout", hidden_dropout),
    FIELDS_END,
};

static void apertus_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
}

/* MiniCPM: Llama, scaled; experts come under a key of their own. */
static const struct family_field minicpm_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    COUNT("num_experts", NULL, mlp.experts, EXPERTS_MAX),
    COUNT("num_experts_per_tok", NULL, mlp.experts_per_token, EXPERTS_MAX),
    NOTED("sparse_config", "attention to chosen blocks of keys is not modelled: each "
                           "token attends to all before it"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* MiniCPM3: latent attention, an MLP in each layer. */
static const struct family_field minicpm3_fields[] = {
    HF_SIZES,
    LLAMA_FFN,
    LATENT_HEADS,
    SIZE("v_head_dim", NULL, attention.value_dim, false, WIDTH_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void minicpm3_finish(struct family_raw *raw)
{
    struct model_attention *a = &raw->m.attention;
    if (!a->value_dim)
        a->value_dim = raw->m.hidden / a->heads;
    a->head_dim = raw->plain_head_dim + a->latent_rope;
}

static const struct family_field plain_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Experts -------------------------------------------------------------------------- */

/* Experts in groups, as DeepSeek-V2 names them but for their number. */
#define GROUPED_EXPERTS(total)                                           \
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),   \
        SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX), \
        EXPERTS(total, "num_experts_per_tok"),                           \
        OR_NONE("n_group", mlp.router_groups, EXPERTS_MAX),              \
        OR_NONE("topk_group", mlp.router_chosen, EXPERTS_MAX)

/* DeepSeek of 2023, dots.llm1: attention as Llama's, experts as DeepSeek-V2's. */
static const struct family_field dots_fields[] = {
    LLAMA_SIZES,
    GROUPED_EXPERTS("n_routed_experts"),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    WORD("moe_layer_freq", sparse_step, 1, LAYERS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    FLAG("attention_bias", bias),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Those after the first few have experts: every layer, or every so-manyth. */
static void deepseek_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    families_windows(raw);
    if (raw->sparse_step > 1)
        raw->refused = "experts in every so-manyth layer (\"moe_layer_freq\")";
    families_dense(m);
}

static void dots_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    deepseek_finish(raw);
    m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
}

/* All but every fourth layer have a window. */
static void exaone_finish(struct family_raw *raw)
{
    raw->full_every = 4;
    dots_finish(raw);
}

/* K-EXAONE. */
static const struct family_field exaone_fields[] = {
    LLAMA_SIZES,
    GROUPED_EXPERTS("num_experts"),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    MLP_TYPES,
    WINDOW("sliding_window"),
    LAYER_TYPES,
    COUNT("num_nextn_predict_layers", NULL, mtp_given, MTP_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Ling, Ring: DeepSeek's experts under names of their own. */
static const struct family_field bailing_fields[] = {
    LLAMA_SIZES,
    GROUPED_EXPERTS("num_experts"),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    SIZE("moe_shared_expert_intermediate_size", NULL, mlp.shared_width, false,
         WIDTH_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    FLAG("use_bias", bias),
    FLAG("use_qkv_bias", m.attention.qkv_bias),
    FLAG("use_qk_norm", qk_norm),
    FLAG("moe_router_enable_expert_bias", m.mlp.router_bias),
    COUNT("num_nextn_predict_layers", NULL, mtp_given, MTP_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void bailing_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.out_bias = m->mlp.bias = raw->bias;
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    if (!m->mlp.shared_width)
        m->mlp.shared_width = m->mlp.width;
    m->mlp.shared_width *= raw->shared_experts;
    families_dense(m);
}

/* Grok-1: a norm of each sublayer's result, scores and logits through a tanh. */
static const struct family_field grok_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_experts", "num_experts_per_tok"),
    FIELDS_END,
};

const struct family families_kin[] = {
    FAMILY("apertus", apertus_fields, apertus_finish, DECODER, .norms.rms = true,
           .attention.rotary = true),
    FAMILY("minicpm", minicpm_fields, families_llama, LLAMA, .ends.tied = true),
    FAMILY("minicpm3", minicpm3_fields, minicpm3_finish, LLAMA, .ends.tied = true),
    FAMILY("orion", plain_fields, families_llama, GATED),
    FAMILY("xverse", plain_fields, families_llama, LLAMA),
    FAMILY("aquila", plain_fields, families_llama, LLAMA),
    FAMILY("Yi", plain_fields, families_llama, LLAMA),
    FAMILY("deepseek", dots_fields, deepseek_finish, LLAMA),
    FAMILY("dots1", dots_fields, dots_finish, LLAMA, .mlp.router_bias = true),
    FAMILY("exaone_moe", exaone_fields, exaone_finish, LLAMA, .mlp.router_bias = true),
    FAMILY("bailing_moe", bailing_fields, bailing_finish, LLAMA,
           .attention.fused_qkv = true),
    FAMILY("bailing_moe_v2", bailing_fields, bailing_finish, LLAMA,
           .attention.fused_qkv = true, .mlp.router_bias = true),
    FAMILY("grok-1", grok_fields, NULL, LLAMA, .ends.tied = true, .norms.result = true,
           .attention.softcap = true),
    { .name = NULL },
};
