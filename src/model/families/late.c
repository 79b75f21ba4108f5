/* Models of 2025 and 2026 that differ from others in few choices, and encoders of
 * embeddings. Sources: configuration_*.py and modeling_*.py of each in transformers 5.16;
 * Alibaba-NLP/new-impl (modeling.py) of GTE. */
#include "model/families/family_rows.h"

/* Decoders with experts --------------------------------------------------------------- */

/* Arcee's Trinity: gated attention, norms of sublayers' results, too. */
static const struct family_field afmoe_fields[] = {
    LLAMA_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    EXPERTS("num_experts", "num_experts_per_tok"),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    COUNT("num_dense_layers", NULL, mlp.dense_layers, LAYERS_MAX),
    OR_NONE("n_group", mlp.router_groups, EXPERTS_MAX),
    OR_NONE("topk_group", mlp.router_chosen, EXPERTS_MAX),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("global_attn_every_n_layers", full_every, 1, LAYERS_MAX),
    FLAG("attention_bias", bias),
    ELSEWHERE("num_expert_groups"), /* n_group's and topk_group's other names */
    ELSEWHERE("num_limited_groups"),
    ELSEWHERE("route_norm"),
    ELSEWHERE("score_func"),
    ELSEWHERE("use_grouped_mm"),
    ELSEWHERE("mup_enabled"),
    ELSEWHERE("load_balance_coeff"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Norms of each head's query and key, and the width of experts that all tokens share. */
static void head_norms(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
}

static void afmoe_finish(struct family_raw *raw)
{
    head_norms(raw);
    if (!raw->full_every)
        raw->full_every = 4;
    families_windows(raw);
    families_dense(&raw->m);
}

/* Command A+: attention and experts side by side, as Cohere's. */
static const struct family_field cohere_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_experts", "num_experts_per_tok"),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    OR_NONE("prefix_dense_intermediate_size", mlp.dense_width, WIDTH_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    MLP_TYPES,
    WINDOW("sliding_window"),
    LAYER_TYPES,
    WORD("sliding_window_pattern", full_every, 1, LAYERS_MAX),
    FLAG("attention_bias", bias),
    ELSEWHERE("shared_expert_combination_strategy"),
    ELSEWHERE("expert_selection_fn"),
    ELSEWHERE("prefix_dense_sliding_window_pattern"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void cohere_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    if (!raw->full_every)
        raw->full_every = 4;
    families_windows(raw);
    families_dense(m);
}

/* Hunyuan 3; JetBrains' Mellum 2: no shared experts, windows of listed layers. */
#define DENSE_FIRST                                                      \
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),   \
        SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX), \
        COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX), MLP_TYPES
static const struct family_field hy_fields[] = {
    LLAMA_SIZES,
    DENSE_FIRST,
    EXPERTS("num_experts", "num_experts_per_tok"),
    WORD("num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    COUNT("num_nextn_predict_layers", NULL, mtp_given, MTP_MAX),
    ELSEWHERE("enable_moe_fp32_combine"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void hy_finish(struct family_raw *raw)
{
    head_norms(raw);
    families_dense(&raw->m);
}

static const struct family_field mellum_fields[] = {
    LLAMA_SIZES,
    DENSE_FIRST,
    SIZE("num_experts", "num_local_experts", mlp.experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void mellum_finish(struct family_raw *raw)
{
    head_norms(raw);
    raw->full_every = 1; /* windows of listed layers alone */
    families_windows(raw);
    families_dense(&raw->m);
}

/* Granite with windows in three layers of four, and a learned score of nothing. */
#define GRANITE_WINDOWS                                                  \
    FLAG("attention_bias", bias), WINDOW("sliding_window"), LAYER_TYPES, \
        ELSEWHERE("layer_rope_theta"), ACTIVATION("hidden_act")
static const struct family_field granite_fields[] = {
    LLAMA_SIZES, LLAMA_FFN, FLAG("mlp_bias", m.mlp.bias), GRANITE_WINDOWS, FIELDS_END,
};
static const struct family_field granite_moe_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    COUNT("shared_intermediate_size", NULL, mlp.shared_width, WIDTH_MAX),
    GRANITE_WINDOWS,
    FIELDS_END,
};

static void granite_finish(struct family_raw *raw)
{
    const int64_t every = 4; /* the first of four sees all keys */
    families_llama(raw);
    families_windows(raw);
    if (!raw->listed.n && raw->m.attention.window)
        raw->windowed = raw->m.layers - (raw->m.layers + every - 1) / every;
}

/* Dense decoders ---------------------------------------------------------------------- */

static const struct family_field clova_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    FLAG("use_post_norm", m.norms.result),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field nanochat_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    NONZERO("final_logit_softcapping", ends.logit_softcap),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void nanochat_finish(struct family_raw *raw)
{
    families_llama(raw);
    raw->noted = "norms of queries and keys, which have no weights, are left out";
}

/* Latent attention and one MLP a layer (Youtu-LLM). */
static const struct family_field youtu_fields[] = {
    HF_SIZES,
    LLAMA_FFN,
    LATENT_HEADS,
    SIZE("v_head_dim", NULL, attention.value_dim, true, WIDTH_MAX),
    ELSEWHERE("qk_head_dim"), /* the sum of both parts */
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void youtu_finish(struct family_raw *raw)
{
    struct model_attention *a = &raw->m.attention;
    a->head_dim = raw->plain_head_dim + a->latent_rope;
}

/* Encoders of embeddings -------------------------------------------------------------- */

#define WORDS_SIZES                                                        \
    HF_SIZES, SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX), \
        COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),             \
        DROP("hidden_dropout_prob", hidden_dropout),                       \
        DROP("attention_probs_dropout_prob", attention.dropout),           \
        ACTIVATION("hidden_act")

/* GTE of 2024: one product of queries, keys and values, one of both of a gated MLP; a bias
 * of its last product is left out. */
static const struct family_field gte_fields[] = {
    WORDS_SIZES,
    TEXT("position_embedding_type", position),
    FLAG("pack_qkv", m.attention.fused_qkv),
    ELSEWHERE("layer_norm_type"),
    ELSEWHERE("unpad_inputs"),
    FIELDS_END,
};

static const struct family_field rotary_fields[] = { WORDS_SIZES, FIELDS_END };

/* Four more tables of positions: of a word's box on the page. A token has six rows in all,
 * of which the time of two is counted. */
static const struct family_field layoutlm_fields[] = {
    WORDS_SIZES,
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    WORD("max_2d_position_embeddings", decoder.positions, 1, POSITIONS_MAX),
    FIELDS_END,
};

static void layoutlm_finish(struct family_raw *raw)
{
    enum { TABLES = 4, USUAL = 1024 }; /* x, y, height, width */
    int64_t rows = TABLES * (raw->decoder.positions ? raw->decoder.positions : USUAL);
    raw->m.ends.positions += rows;
    raw->m.ends.positions_unused = rows;
    raw->noted = "embeddings of words' boxes are counted, and not read: four rows a "
                 "token of six";
}

#define EXPERT LLAMA, .mlp.router_bias = true
#define ENCODER                                                                  \
    .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_MASKED_LM, .ends.tied = true, \
    .norms.post = true, .norms.embedding = true, .attention.qkv_bias = true,     \
    .attention.out_bias = true, .attention.dropout = true, .hidden_dropout = true
#define GTE                                                                       \
    ENCODER, .mlp.gated = true, .mlp.fused_gate = true, .attention.rotary = true, \
             .attention.fused_qkv = true

const struct family families_late[] = {
    FAMILY("afmoe", afmoe_fields, afmoe_finish, EXPERT, .norms.result = true,
           .attention.gated = true, .attention.head_dim = 128,
           .attention.window = 1024),
    FAMILY("cohere2_moe", cohere_fields, cohere_finish, GATED, .ends.tied = true,
           .parallel_residual = true, .norms.one = true, .norms.bare = true,
           .attention.head_dim = 128, .attention.window = 4096),
    FAMILY("hy_v3", hy_fields, hy_finish, LLAMA, .attention.head_dim = 128),
    FAMILY("mellum", mellum_fields, mellum_finish, LLAMA, .attention.head_dim = 128,
           .attention.window = 1024),
    FAMILY("granite_swa", granite_fields, granite_finish, LLAMA, .ends.tied = true,
           .attention.sinks = true, .attention.window = 128),
    FAMILY("granitemoe_swa", granite_moe_fields, granite_finish, LLAMA,
           .attention.sinks = true, .attention.window = 128),
    FAMILY("hyperclovax", clova_fields, families_llama, LLAMA, .norms.result = true),
    FAMILY("nanochat", nanochat_fields, nanochat_finish, DECODER, .norms.fixed = true,
           .norms.rms = true, .norms.embedding = true, .attention.rotary = true,
           .activation = MODEL_ACTIVATION_SQUARED_RELU, .ends.logit_softcap = true),
    FAMILY("youtu", youtu_fields, youtu_finish, LLAMA, .ends.tied = true),
    FAMILY("new", gte_fields, NULL, GTE),
    FAMILY("gte", gte_fields, NULL, GTE),
    FAMILY("jina_embeddings_v3", rotary_fields, NULL, ENCODER, .mlp.bias = true,
           .attention.rotary = true, .ends.type_vocab = 1, .ends.pooler = true),
    FAMILY("layoutlm", layoutlm_fields, layoutlm_finish, ENCODER, .mlp.bias = true,
           .ends.positions = 512, .ends.type_vocab = 2, .ends.pooler = true),
    { .name = NULL },
};
