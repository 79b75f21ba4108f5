#include "model/families.h"

#include "base/names.h"

#include <string.h>

#define R struct family_raw
#define SIZE(k, a, member, need, most)                                             \
    {                                                                              \
        .key = (k), .alias = (a), .type = FAMILY_INT, .at = offsetof(R, m.member), \
        .required = (need), .min = 1, .max = (most)                                \
    }
#define COUNT(k, a, member, most)                                                  \
    {                                                                              \
        .key = (k), .alias = (a), .type = FAMILY_INT, .at = offsetof(R, m.member), \
        .min = 0, .max = (most)                                                    \
    }
#define FLAG(k, member)                                            \
    {                                                              \
        .key = (k), .type = FAMILY_BOOL, .at = offsetof(R, member) \
    }
#define DROP(k, member)                                                     \
    {                                                                       \
        .key = (k), .type = FAMILY_PROBABILITY, .at = offsetof(R, m.member) \
    }
#define TEXT(k, member)                                              \
    {                                                                \
        .key = (k), .type = FAMILY_STRING, .at = offsetof(R, member) \
    }
#define FIELDS_END  \
    {               \
        .key = NULL \
    }
#define FAMILY(word, table, function, ...)                                  \
    {                                                                       \
        .name = (word), .fields = (table), .finish = (function), .usual = { \
            .m = { __VA_ARGS__ },                                           \
            .multi_query = true,                                            \
            .feed_forward = "relu"                                          \
        }                                                                   \
    }
#define DECODER .arch = MODEL_DECODER, .head = MODEL_HEAD_CAUSAL_LM, .final_norm = true

enum {
    LAYERS_MAX = 10000,
    WIDTH_MAX = 1 << 20,
    HEADS_MAX = 1 << 14,
    VOCAB_MAX = 1 << 26,
    POSITIONS_MAX = 1 << 26,
    EXPERTS_MAX = 4096,
};

#define ACTIVATION(k) TEXT(k, activation)
#define TIED FLAG("tie_word_embeddings", m.tied_embeddings)
#define HEAD_DIM SIZE("head_dim", NULL, head_dim, false, WIDTH_MAX)
#define HF_SIZES                                                   \
    SIZE("num_hidden_layers", NULL, layers, true, LAYERS_MAX),     \
        SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),        \
        SIZE("num_attention_heads", NULL, heads, true, HEADS_MAX), \
        SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX), HEAD_DIM, TIED

/* BERT and its kin ----------------------------------------------------------------- */

static const struct family_field bert_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, ffn, true, WIDTH_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    COUNT("type_vocab_size", NULL, type_vocab, 1024),
    DROP("hidden_dropout_prob", hidden_dropout),
    DROP("attention_probs_dropout_prob", attention_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field distilbert_fields[] = {
    SIZE("n_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("dim", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("n_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("hidden_dim", NULL, ffn, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("max_position_embeddings", NULL, positions, false, POSITIONS_MAX),
    HEAD_DIM,
    DROP("dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

#define ENCODER                                                                     \
    .arch = MODEL_ENCODER, .head = MODEL_HEAD_MASKED_LM, .positions = 512,          \
    .post_norm = true, .tied_embeddings = true, .qkv_bias = true, .out_bias = true, \
    .mlp_bias = true, .embedding_norm = true, .attention_dropout = true,            \
    .hidden_dropout = true

/* GPT-2 and GPT-J ------------------------------------------------------------------ */

#define GPT_SIZES                                                         \
    SIZE("n_layer", "num_hidden_layers", layers, true, LAYERS_MAX),       \
        SIZE("n_embd", "hidden_size", hidden, true, WIDTH_MAX),           \
        SIZE("n_head", "num_attention_heads", heads, true, HEADS_MAX),    \
        SIZE("n_inner", NULL, ffn, false, WIDTH_MAX),                     \
        SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX), HEAD_DIM, TIED, \
        DROP("resid_pdrop", hidden_dropout), DROP("attn_pdrop", attention_dropout)

static const struct family_field gpt2_fields[] = {
    GPT_SIZES,
    SIZE("n_positions", "max_position_embeddings", positions, false, POSITIONS_MAX),
    SIZE("n_ctx", NULL, positions, false, POSITIONS_MAX),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

static const struct family_field gptj_fields[] = { GPT_SIZES,
                                                   ACTIVATION("activation_function"),
                                                   FIELDS_END };

/* c_attn is hidden x 3 hidden, whatever the heads. */
static void gpt2_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->q_width = m->kv_width = m->hidden;
    if (!m->positions) {
        m->positions = 1024;
        m->positions_assumed = true;
    }
}

/* GPT-NeoX ------------------------------------------------------------------------- */

static const struct family_field neox_fields[] = {
    HF_SIZES,
    SIZE("intermediate_size", NULL, ffn, false, WIDTH_MAX),
    FLAG("use_parallel_residual", m.parallel_residual),
    FLAG("attention_bias", m.qkv_bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void neox_finish(struct family_raw *raw)
{
    raw->m.out_bias = raw->m.qkv_bias;
}

/* Falcon --------------------------------------------------------------------------- */

static const struct family_field falcon_fields[] = {
    SIZE("num_hidden_layers", "n_layer", layers, true, LAYERS_MAX),
    SIZE("hidden_size", "n_embed", hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", "n_head", heads, true, HEADS_MAX),
    SIZE("num_kv_heads", "n_head_kv", kv_heads, false, HEADS_MAX),
    SIZE("ffn_hidden_size", NULL, ffn, false, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    TIED,
    FLAG("multi_query", multi_query),
    FLAG("new_decoder_architecture", new_decoder),
    FLAG("parallel_attn", m.parallel_residual),
    FLAG("alibi", alibi),
    FLAG("bias", bias),
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention_dropout),
    ACTIVATION("activation"),
    FIELDS_END,
};

static void falcon_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    if (!raw->new_decoder)
        m->kv_heads = raw->multi_query ? 1 : m->heads;
    m->parallel_residual = m->parallel_residual || raw->new_decoder;
    m->one_norm = m->parallel_residual && !raw->new_decoder;
    m->rotary = !raw->alibi;
    m->qkv_bias = m->out_bias = m->mlp_bias = raw->bias;
}

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

#define LLAMA DECODER, .rms_norm = true, .gated_mlp = true, .rotary = true

/* T5 ------------------------------------------------------------------------------- */

static const struct family_field t5_fields[] = {
    SIZE("d_model", "hidden_size", hidden, true, WIDTH_MAX),
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("num_decoder_layers", NULL, decoder_layers, false, LAYERS_MAX),
    SIZE("num_heads", "num_attention_heads", heads, true, HEADS_MAX),
    SIZE("d_kv", "head_dim", head_dim, true, WIDTH_MAX),
    SIZE("d_ff", NULL, ffn, true, WIDTH_MAX),
    SIZE("vocab_size", NULL, vocab, true, VOCAB_MAX),
    SIZE("relative_attention_num_buckets", NULL, relative_buckets, false, 1 << 20),
    TIED,
    TEXT("feed_forward_proj", feed_forward),
    DROP("dropout_rate", hidden_dropout),
    ACTIVATION("dense_act_fn"),
    FIELDS_END,
};

static void t5_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention_dropout = m->hidden_dropout;
    m->gated_mlp = strncmp(raw->feed_forward, "gated", 5) == 0;
    if (strcmp(raw->feed_forward, "gated-gelu") == 0)
        m->activation = MODEL_ACTIVATION_GELU_NEW;
    if (!m->decoder_layers)
        m->decoder_layers = m->layers;
}

const struct family families[] = {
    FAMILY("bert", bert_fields, NULL, ENCODER, .type_vocab = 2, .pooler = true),
    FAMILY("roberta", bert_fields, NULL, ENCODER, .type_vocab = 1, .pooler = true),
    FAMILY("distilbert", distilbert_fields, NULL, ENCODER),
    FAMILY("gpt2", gpt2_fields, gpt2_finish, DECODER, .tied_embeddings = true,
           .qkv_bias = true, .out_bias = true, .mlp_bias = true, .fused_qkv = true,
           .attention_dropout = true, .hidden_dropout = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gptj", gptj_fields, NULL, DECODER, .mlp_bias = true, .head_bias = true,
           .parallel_residual = true, .one_norm = true, .rotary = true,
           .activation = MODEL_ACTIVATION_GELU_NEW),
    FAMILY("gpt_neox", neox_fields, neox_finish, DECODER, .qkv_bias = true,
           .mlp_bias = true, .parallel_residual = true, .fused_qkv = true,
           .rotary = true),
    FAMILY("t5", t5_fields, t5_finish, .arch = MODEL_ENCODER_DECODER,
           .head = MODEL_HEAD_CAUSAL_LM, .final_norm = true, .relative_buckets = 32,
           .rms_norm = true, .tied_embeddings = true, .hidden_dropout = true),
    FAMILY("llama", llama_fields, llama_finish, LLAMA),
    FAMILY("mistral", mistral_fields, NULL, LLAMA),
    FAMILY("qwen2", mistral_fields, NULL, LLAMA, .qkv_bias = true),
    FAMILY("mixtral", mixtral_fields, NULL, LLAMA),
    FAMILY("falcon", falcon_fields, falcon_finish, DECODER, .tied_embeddings = true,
           .parallel_residual = true, .fused_qkv = true),
    { .name = NULL },
};

/* Those of transformers' ACT2FN that eager code computes in several kernels. */
static const struct name_value activation_names[] = {
    { "gelu_new", MODEL_ACTIVATION_GELU_NEW },
    { "gelu_fast", MODEL_ACTIVATION_GELU_FAST },
    { "relu2", MODEL_ACTIVATION_SQUARED_RELU },
    { "squared_relu", MODEL_ACTIVATION_SQUARED_RELU }, /* Megatron-LM's word */
    { NULL, 0 },
};

enum model_activation families_activation(const char *word)
{
    int v;
    return names_find(activation_names, word, &v) < 0 ? MODEL_ACTIVATION_KERNEL
                                                      : (enum model_activation)v;
}
