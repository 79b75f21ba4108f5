/* Decoders and encoders that are others' but for names, biases and places of norms.
 * Sources: configuration_*.py and modeling_*.py of each in transformers 5. */
#include "model/families/family_rows.h"

/* Decoders in the line of Llama --------------------------------------------------------- */

static const struct family_field llama_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Code World Model: layers are listed, or all but every fourth have a window. */
static void cwm_finish(struct family_raw *raw)
{
    raw->full_every = 4;
    families_llama(raw);
    families_windows(raw);
}

static const struct family_field granite_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    EXPERTS("num_local_experts", "num_experts_per_tok"),
    COUNT("shared_intermediate_size", NULL, mlp.shared_width, WIDTH_MAX),
    FLAG("attention_bias", bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Solar Open: GLM-4.5's experts, in each layer. */
static const struct family_field solar_fields[] = {
    LLAMA_SIZES,
    SIZE("moe_intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    EXPERTS("n_routed_experts", "num_experts_per_tok"),
    OR_NONE("n_group", mlp.router_groups, EXPERTS_MAX),
    OR_NONE("topk_group", mlp.router_chosen, EXPERTS_MAX),
    WORD("n_shared_experts", shared_experts, 0, EXPERTS_MAX),
    FLAG("attention_bias", m.attention.qkv_bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void solar_finish(struct family_raw *raw)
{
    raw->m.mlp.shared_width = raw->shared_experts * raw->m.mlp.width;
}

/* Others -------------------------------------------------------------------------------- */

static const struct family_field codegen_fields[] = {
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("n_embd", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_head", "num_attention_heads", attention.heads, true, HEADS_MAX),
    OR_NONE("n_inner", mlp.width, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    DROP("resid_pdrop", hidden_dropout),
    DROP("attn_pdrop", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field biogpt_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

enum { PADDING = 2 }; /* rows of learned positions before the first token's */

static void biogpt_finish(struct family_raw *raw)
{
    raw->m.ends.positions += PADDING;
}

/* XGLM: positions are computed, and are no parameters. */
static const struct family_field xglm_fields[] = {
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("attention_heads", "num_attention_heads", attention.heads, true, HEADS_MAX),
    SIZE("ffn_dim", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    TIED,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

/* Persimmon: norms of each head's queries and keys, whose biases are left out. */
static const struct family_field persimmon_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    FLAG("qk_layernorm", qk_norm),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void persimmon_finish(struct family_raw *raw)
{
    if (raw->qk_norm)
        raw->m.attention.q_norm = raw->m.attention.k_norm = families_head_dim(&raw->m);
}

/* Encoders ------------------------------------------------------------------------------ */

/* ERNIE: BERT. */
static const struct family_field ernie_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, ends.positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    NOTED("use_task_id", "embeddings of tasks are left out: a row for each task"),
    ELSEWHERE("task_type_vocab_size"),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field roformer_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    WORD("embedding_size", embedding_width, 1, WIDTH_MAX),
    NOTED("rotary_value", "values are read without rotation"),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Words of fewer columns, and a product that makes up for it. */
static void roformer_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (raw->embedding_width && raw->embedding_width != m->hidden)
        m->ends.word = raw->embedding_width;
    m->ends.word_bias = m->ends.word_all = m->ends.word > 0;
}

/* Nomic BERT, and its own repository's names for the same sizes. */
static const struct family_field nomic_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embd", hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", "n_head", attention.heads, true, HEADS_MAX),
    SIZE("intermediate_size", "n_inner", mlp.width, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    HEAD_DIM,
    TIED,
    COUNT("type_vocab_size", NULL, ends.type_vocab, 1024),
    FLAG("qkv_proj_bias", m.attention.qkv_bias),
    FLAG("mlp_fc1_bias", m.mlp.bias),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention.dropout),
    FIELDS_END,
};

/* Ettin's decoder: ModernBERT with causal attention. The head's dense layer before the
 * words' product is left out. */
static const struct family_field ettin_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("local_attention", NULL, attention.window, false, POSITIONS_MAX),
    WORD("global_attn_every_n_layers", full_every, 1, LAYERS_MAX),
    LAYER_TYPES,
    FLAG("norm_bias", bias),
    FLAG("attention_bias", m.attention.qkv_bias),
    FLAG("mlp_bias", m.mlp.bias),
    FLAG("decoder_bias", m.ends.head_bias),
    DROP("attention_dropout", attention.dropout),
    DROP("mlp_dropout", hidden_dropout),
    ACTIVATION("hidden_activation"),
    FIELDS_END,
};

static void ettin_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    int64_t every = raw->full_every ? raw->full_every : 3;
    m->norms.bare = !raw->bias;
    m->attention.out_bias = m->attention.qkv_bias;
    raw->windowed = m->layers - (m->layers + every - 1) / every;
    if (raw->listed.n)
        raw->windowed = raw->listed.sliding;
}

/* Tables -------------------------------------------------------------------------------- */

#define ALL_BIASES \
    .attention.qkv_bias = true, .attention.out_bias = true, .mlp.bias = true
#define DROPS .attention.dropout = true, .hidden_dropout = true
#define WORDS \
    .arch = MODEL_ENCODER, .ends.head = MODEL_HEAD_MASKED_LM, .ends.tied = true
#define BERT WORDS, ALL_BIASES, DROPS, .ends.positions = 512
#define ROBERTA .ends.type_vocab = 1, .ends.positions_unused = 2, .ends.pooler = true

const struct family families_more[] = {
    FAMILY("cwm", llama_fields, cwm_finish, LLAMA, .attention.window = 8192,
           .attention.head_dim = 128),
    FAMILY("helium", llama_fields, families_llama, LLAMA),
    FAMILY("granitemoeshared", granite_fields, families_llama, LLAMA),
    FAMILY("solar_open", solar_fields, solar_finish, LLAMA, .mlp.router_bias = true,
           .attention.head_dim = 128),
    /* OLMoE's experts, norms of results as in OLMo 2 */
    FAMILY("flex_olmo", families_olmoe_fields, families_olmoe, LLAMA,
           .norms.result = true, .norms.no_input = true),
    FAMILY("jais2", llama_fields, families_llama, DECODER, .attention.rotary = true,
           .activation = MODEL_ACTIVATION_SQUARED_RELU, .mlp.bias = true),
    FAMILY("codegen", codegen_fields, NULL, DECODER, .mlp.bias = true,
           .ends.head_bias = true, .parallel_residual = true, .norms.one = true,
           .attention.rotary = true, .attention.fused_qkv = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("biogpt", biogpt_fields, biogpt_finish, DECODER, ALL_BIASES, DROPS,
           .ends.tied = true, .ends.positions = 1024, .ends.positions_unused = PADDING),
    FAMILY("xglm", xglm_fields, NULL, DECODER, ALL_BIASES, DROPS, .ends.tied = true),
    FAMILY("persimmon", persimmon_fields, persimmon_finish, DECODER, ALL_BIASES,
           .attention.rotary = true, .attention.fused_qkv = true,
           .activation = MODEL_ACTIVATION_SQUARED_RELU),
    FAMILY("modernbert-decoder", ettin_fields, ettin_finish, DECODER, .ends.tied = true,
           .mlp.gated = true, .mlp.fused_gate = true, .attention.rotary = true,
           .norms.embedding = true, .attention.window = 128, .ends.head_bias = true),
    FAMILY("ernie", ernie_fields, NULL, BERT, .norms.post = true,
           .norms.embedding = true, .ends.type_vocab = 2, .ends.pooler = true),
    FAMILY("bert-generation", families_bert_fields, NULL, BERT, .norms.post = true,
           .norms.embedding = true),
    FAMILY("data2vec-text", families_bert_fields, NULL, BERT, ROBERTA,
           .norms.post = true, .norms.embedding = true),
    FAMILY("megatron-bert", families_bert_fields, NULL, BERT, .norms.final = true,
           .ends.type_vocab = 2, .ends.pooler = true),
    FAMILY("roberta-prelayernorm", families_bert_fields, NULL, BERT, ROBERTA,
           .norms.final = true, .norms.embedding = true),
    FAMILY("xlm-roberta-xl", families_bert_fields, NULL, BERT, ROBERTA,
           .norms.final = true),
    FAMILY("roformer", roformer_fields, roformer_finish, WORDS, ALL_BIASES, DROPS,
           .norms.post = true, .norms.embedding = true, .ends.type_vocab = 2,
           .attention.rotary = true),
    FAMILY("eurobert", llama_fields, families_llama, WORDS, .norms.rms = true,
           .norms.final = true, .mlp.gated = true, .attention.rotary = true),
    FAMILY("nomic_bert", nomic_fields, NULL, WORDS, .norms.post = true,
           .norms.embedding = true, .ends.type_vocab = 2, .mlp.gated = true,
           .attention.rotary = true),
    { .name = NULL },
};
