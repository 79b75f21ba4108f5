/* Decoders with experts: DeepSeek and its kin, and those of 2024 to 2026 that differ in
 * few choices. Sources: as model/families/recent.c. */
#include "model/families/family_rows.h"

#include <string.h>

void families_dense(struct model *m)
{
    if (m->mlp.dense_layers < m->layers)
        return;
    m->mlp.dense_layers = m->layers;
    *m = model_of_dense_layers(m);
}

#define FURTHER COUNT("num_nextn_predict_layers", NULL, mtp_given, MTP_MAX)

/* DeepSeek-V2 and -V3, Kimi-K2 ------------------------------------------------------------ */

static const struct family_field deepseek_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("n_routed_experts", "num_local_experts", mlp.experts, true, EXPERTS_MAX),
    SIZE("num_experts_per_tok", NULL, mlp.experts_per_token, true, EXPERTS_MAX),
    OR_NONE("n_group", mlp.router_groups, EXPERTS_MAX),
    OR_NONE("topk_group", mlp.router_chosen, EXPERTS_MAX),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    WORD("moe_layer_freq", sparse_step, 1, LAYERS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    MLP_TYPES,
    ELSEWHERE("qk_head_dim"), /* the sum of both parts */
    LATENT_HEADS,
    SIZE("v_head_dim", NULL, attention.value_dim, true, WIDTH_MAX),
    OR_NONE("index_topk", attention.window, POSITIONS_MAX),
    OR_NONE("index_n_heads", attention.index_heads, HEADS_MAX),
    OR_NONE("index_head_dim", attention.index_dim, WIDTH_MAX),
    FURTHER,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void deepseek_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.head_dim = raw->plain_head_dim + m->attention.latent_rope;
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    if (!m->attention.window)
        m->attention.index_heads = 0;
    else if (!m->attention.index_heads || !m->attention.index_dim)
        raw->refused = "keys that are chosen without \"index_n_heads\" and "
                       "\"index_head_dim\"";
    raw->windowed = m->attention.index_heads > 0 ? m->layers : 0;
    if (raw->sparse_step > 1) { /* of those after the first, every so-manyth */
        int64_t first = m->mlp.dense_layers, step = raw->sparse_step;
        int64_t with = (m->layers + step - 1) / step - (first + step - 1) / step;
        m->mlp.dense_layers = m->layers - (with > 0 ? with : 0);
        raw->interleaved = true;
    }
    families_dense(m);
}

static void axk1_finish(struct family_raw *raw)
{
    deepseek_finish(raw);
    raw->noted = "the norm of experts' results is left out: a weight a column";
}

/* Experts in all layers, or after the first few ----------------------------------- */

const struct family_field families_olmoe_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_experts", "num_experts_per_tok"),
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

void families_olmoe(struct family_raw *raw)
{
    families_llama(raw);
    families_wide_norms(&raw->m);
}

static const struct family_field phimoe_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    FLAG("attention_bias", bias),
    FLAG("lm_head_bias", m.ends.head_bias),
    WINDOW("sliding_window"),
    DROP("hidden_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void phimoe_finish(struct family_raw *raw)
{
    families_llama(raw);
    families_windows(raw);
}

static const struct family_field granite_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field minimax_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    FLAG("use_qk_norm", qk_norm),
    COUNT("num_mtp_modules", NULL, mtp_given, MTP_MAX),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void minimax_finish(struct family_raw *raw)
{
    if (raw->qk_norm)
        families_wide_norms(&raw->m);
}

static const struct family_field glm_fields[] = {
    LLAMA_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    EXPERTS("n_routed_experts", "num_experts_per_tok"),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    COUNT("first_k_dense_replace", NULL, mlp.dense_layers, LAYERS_MAX),
    MLP_TYPES,
    FLAG("attention_bias", m.attention.qkv_bias),
    FLAG("use_qk_norm", qk_norm),
    FURTHER,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void glm_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    families_dense(m);
}

static const struct family_field ernie_fields[] = {
    LLAMA_SIZES,
    SIZE("intermediate_size", NULL, mlp.dense_width, true, WIDTH_MAX),
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    EXPERTS("moe_num_experts", "moe_k"),
    WORD("moe_num_shared_experts", shared_experts, 0, EXPERTS_MAX),
    COUNT("moe_layer_start_index", NULL, mlp.dense_layers, LAYERS_MAX),
    WORD("moe_layer_end_index", last_experts, -1, LAYERS_MAX),
    WORD("moe_layer_interval", sparse_step, 1, LAYERS_MAX),
    FLAG("use_bias", bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void ernie_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    m->mlp.bias = raw->bias;
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
    int64_t first = m->mlp.dense_layers, last = m->layers - 1, with = 0;
    if (raw->last_experts > 0 && raw->last_experts < last)
        last = raw->last_experts;
    int64_t step = raw->sparse_step > 1 ? raw->sparse_step : 1;
    if (last >= first) /* of layers counted from 1, every step-th */
        with = (last + 1) / step - first / step;
    raw->interleaved = step > 1 || last < m->layers - 1;
    m->mlp.dense_layers = m->layers - with;
    families_dense(m);
}

static const struct family_field hunyuan_fields[] = {
    LLAMA_SIZES,
    EACH("moe_intermediate_size", "intermediate_size", m.mlp.width, 1, WIDTH_MAX),
    EACH("num_experts", NULL, m.mlp.experts, 1, EXPERTS_MAX),
    EACH("moe_topk", "num_experts_per_tok", m.mlp.experts_per_token, 1, EXPERTS_MAX),
    EACH("num_shared_expert", NULL, shared_experts, 1, EXPERTS_MAX),
    FLAG("attention_bias", bias),
    FLAG("use_qk_norm", qk_norm),
    NOTED("use_cla", "keys that layers share are not modelled: each has its own"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void hunyuan_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    families_llama(raw);
    if (raw->qk_norm)
        m->attention.q_norm = m->attention.k_norm = families_head_dim(m);
    if (raw->shared_experts == 0)
        raw->shared_experts = 1; /* the class has one, whatever the file says */
    m->mlp.shared_width = raw->shared_experts * m->mlp.width;
}

static const struct family_field dbrx_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("attn_config/kv_n_heads", NULL, attention.kv_heads, true, HEADS_MAX),
    SIZE("ffn_config/ffn_hidden_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("ffn_config/moe_num_experts", NULL, mlp.experts, true, EXPERTS_MAX),
    SIZE("ffn_config/moe_top_k", NULL, mlp.experts_per_token, true, EXPERTS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    FIELDS_END,
};

/* Llama 4's language model: one expert that all tokens go through, and experts in every
 * so-manyth layer. */
static const struct family_field llama4_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    SIZE("intermediate_size_mlp", NULL, mlp.dense_width, true, WIDTH_MAX),
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    WORD("interleave_moe_layer_step", sparse_step, 1, LAYERS_MAX),
    { .key = "moe_layers", .type = FAMILY_LENGTH, .at = offsetof(R, listed_experts) },
    FLAG("attention_bias", bias),
    NOTED("attention_chunk_size",
          "attention within chunks of the sequence is not modelled: each token "
          "attends to all before it"),
    NOTED("use_qk_norm", /* Llama4TextL2Norm */
          "norms of queries and keys, which have no weights, are not modelled"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void llama4_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t step = raw->sparse_step > 1 ? raw->sparse_step : 1;
    families_llama(raw);
    m->mlp.shared_width = m->mlp.width;
    m->mlp.dense_layers = m->layers - m->layers / step;
    if (raw->listed_experts > 0 && raw->listed_experts <= m->layers)
        m->mlp.dense_layers = m->layers - raw->listed_experts;
    raw->interleaved = m->mlp.dense_layers > 0;
    families_dense(m);
}

#define DEEPSEEK LLAMA, .mlp.router_bias = true

const struct family families_experts[] = {
    FAMILY("deepseek_v2", deepseek_fields, deepseek_finish, LLAMA),
    FAMILY("deepseek_v3", deepseek_fields, deepseek_finish, DEEPSEEK),
    FAMILY("deepseek_v32", deepseek_fields, deepseek_finish, DEEPSEEK,
           .attention.index_heads = 64, .attention.index_dim = 128,
           .attention.window = 2048),
    FAMILY("kimi_k2", deepseek_fields, deepseek_finish, DEEPSEEK),
    FAMILY("mistral4", deepseek_fields, deepseek_finish, LLAMA),
    FAMILY("axk1", deepseek_fields, axk1_finish, LLAMA),
    FAMILY("glm4_moe_lite", deepseek_fields, deepseek_finish, DEEPSEEK),
    FAMILY("glm_moe_dsa", deepseek_fields, deepseek_finish, DEEPSEEK,
           .attention.index_heads = 32, .attention.index_dim = 128,
           .attention.window = 2048),
    FAMILY("glm4_moe", glm_fields, glm_finish, DEEPSEEK, .attention.head_dim = 128),
    FAMILY("olmoe", families_olmoe_fields, families_olmoe, LLAMA),
    FAMILY("phimoe", phimoe_fields, phimoe_finish, GATED),
    FAMILY("granitemoe", granite_fields, families_llama, LLAMA, .ends.tied = true),
    { .name = "minimax_m2",
      .fields = minimax_fields,
      .finish = minimax_finish,
      .usual = { .m = { DEEPSEEK, .attention.head_dim = 128 },
                 .multi_query = true,
                 .qk_norm = true } },
    FAMILY("ernie4_5_moe", ernie_fields, ernie_finish, DEEPSEEK, .ends.tied = true),
    FAMILY("hunyuan_v1_moe", hunyuan_fields, hunyuan_finish, LLAMA),
    FAMILY("dbrx", dbrx_fields, NULL, GATED, .norms.bare = true,
           .attention.fused_qkv = true),
    FAMILY("llama4_text", llama4_fields, llama4_finish, LLAMA,
           .mlp.bare_experts = true),
    { .name = NULL },
};
