/* Dense decoders of 2023 to 2026 that differ from Llama in few choices. Sources: the
 * configuration_*.py and modeling_*.py of each in transformers 4.57, or what the
 * model's own repository has there. */
#include "model/families/family_rows.h"

#include <string.h>

/* Biases and norms ----------------------------------------------------------------- */

static const struct family_field seed_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", m.attention.qkv_bias),
    FLAG("attention_out_bias", m.attention.out_bias),
    FLAG("mlp_bias", m.mlp.bias),
    DROP("residual_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* GLM, MiMo: biases of queries, keys and values alone. */
static const struct family_field glm_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", m.attention.qkv_bias),
    NOTED("num_nextn_predict_layers",
          "layers that predict further tokens are not modelled: they are left out"),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static const struct family_field internlm_fields[] = {
    LLAMA_SIZES, LLAMA_FFN, FLAG("bias", bias), ACTIVATION("hidden_act"), FIELDS_END,
};

static const struct family_field internlm3_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("bias", bias),
    FLAG("qkv_bias", m.attention.qkv_bias),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void internlm3_finish(struct family_raw *raw)
{
    raw->m.attention.out_bias = raw->m.mlp.bias = raw->bias;
}

static const struct family_field ernie_fields[] = {
    LLAMA_SIZES, LLAMA_FFN, FLAG("use_bias", bias), ACTIVATION("hidden_act"),
    FIELDS_END,
};

static void ernie_finish(struct family_raw *raw)
{
    families_llama(raw);
    raw->m.mlp.bias = raw->bias;
}

/* Norms of each head's query and key. */
static void head_norms(struct family_raw *raw)
{
    families_llama(raw);
    raw->m.attention.q_norm = raw->m.attention.k_norm = families_head_dim(&raw->m);
}

static const struct family_field windowed_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    WINDOW("sliding_window"),
    LAYER_TYPES,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Three layers of four have a window. */
static void three_of_four(struct family_raw *raw)
{
    raw->full_every = 4;
    families_windows(raw);
}

static void olmo3_finish(struct family_raw *raw)
{
    families_llama(raw);
    families_wide_norms(&raw->m);
    three_of_four(raw);
}

static void exaone4_finish(struct family_raw *raw)
{
    head_norms(raw);
    three_of_four(raw);
}

static void ministral_finish(struct family_raw *raw)
{
    families_llama(raw);
    families_windows(raw);
}

/* Other names ---------------------------------------------------------------------- */

static const struct family_field exaone_fields[] = {
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("num_key_value_heads", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("vocab_size", NULL, ends.vocab, true, VOCAB_MAX),
    HEAD_DIM,
    TIED,
    LLAMA_FFN,
    DROP("attention_dropout", attention.dropout),
    DROP("embed_dropout", hidden_dropout),
    ACTIVATION("activation_function"),
    FIELDS_END,
};

/* Qwen of 2023: the gate and the other half are counted together. */
static const struct family_field qwen_fields[] = {
    HF_SIZES,
    LLAMA_FFN,
    SIZE("kv_channels", NULL, attention.head_dim, false, WIDTH_MAX),
    DROP("attn_dropout_prob", attention.dropout),
    FIELDS_END,
};

static void qwen_finish(struct family_raw *raw)
{
    raw->m.mlp.width /= 2;
}

static const struct family_field chatglm_fields[] = {
    SIZE("num_layers", "num_hidden_layers", layers, true, LAYERS_MAX),
    SIZE("hidden_size", NULL, hidden, true, WIDTH_MAX),
    SIZE("num_attention_heads", NULL, attention.heads, true, HEADS_MAX),
    SIZE("multi_query_group_num", NULL, attention.kv_heads, false, HEADS_MAX),
    SIZE("ffn_hidden_size", NULL, mlp.width, true, WIDTH_MAX),
    SIZE("kv_channels", NULL, attention.head_dim, false, WIDTH_MAX),
    SIZE("padded_vocab_size", "vocab_size", ends.vocab, true, VOCAB_MAX),
    FLAG("multi_query_attention", multi_query),
    FLAG("add_qkv_bias", m.attention.qkv_bias),
    FLAG("add_bias_linear", bias),
    TIED,
    DROP("hidden_dropout", hidden_dropout),
    DROP("attention_dropout", attention.dropout),
    FIELDS_END,
};

static void chatglm_finish(struct family_raw *raw)
{
    struct model *m = &raw->m;
    m->attention.out_bias = m->mlp.bias = raw->bias;
    m->attention.qkv_bias |= raw->bias;
    if (!raw->multi_query)
        m->attention.kv_heads = m->attention.heads;
}

static const struct family_field baichuan_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

/* Nemotron: LayerNorm, an MLP of two matrices with a squared ReLU. */
static const struct family_field nemotron_fields[] = {
    LLAMA_SIZES,
    LLAMA_FFN,
    FLAG("attention_bias", bias),
    FLAG("mlp_bias", m.mlp.bias),
    DROP("hidden_dropout", hidden_dropout),
    ACTIVATION("hidden_act"),
    FIELDS_END,
};

#define SQUARED .activation = MODEL_ACTIVATION_SQUARED_RELU
#define RESULTS .norms.result = true, .norms.no_input = true

const struct family families_recent[] = {
    FAMILY("smollm3", nemotron_fields, families_llama, LLAMA, .ends.tied = true),
    FAMILY("seed_oss", seed_fields, NULL, LLAMA, .attention.head_dim = 128,
           .attention.qkv_bias = true),
    FAMILY("glm", glm_fields, NULL, LLAMA, .attention.head_dim = 128,
           .attention.qkv_bias = true, .mlp.fused_gate = true),
    FAMILY("glm4", glm_fields, NULL, LLAMA, .attention.head_dim = 128,
           .norms.result = true, .mlp.fused_gate = true),
    FAMILY("chatglm", chatglm_fields, chatglm_finish, LLAMA,
           .attention.fused_qkv = true, .mlp.fused_gate = true),
    FAMILY("mimo", glm_fields, NULL, LLAMA, .attention.qkv_bias = true),
    FAMILY("internlm", internlm_fields, families_llama, LLAMA),
    FAMILY("internlm2", internlm_fields, families_llama, LLAMA,
           .attention.fused_qkv = true),
    FAMILY("internlm3", internlm3_fields, internlm3_finish, LLAMA),
    FAMILY("baichuan", baichuan_fields, NULL, LLAMA, .attention.fused_qkv = true),
    FAMILY("ernie4_5", ernie_fields, ernie_finish, LLAMA, .attention.head_dim = 128,
           .ends.tied = true),
    FAMILY("hunyuan_v1_dense", nemotron_fields, head_norms, LLAMA),
    FAMILY("exaone", exaone_fields, NULL, LLAMA),
    FAMILY("exaone4", windowed_fields, exaone4_finish, LLAMA, RESULTS),
    FAMILY("olmo3", windowed_fields, olmo3_finish, LLAMA, RESULTS,
           .attention.window = 4096),
    FAMILY("ministral", windowed_fields, ministral_finish, LLAMA,
           .attention.window = 4096),
    FAMILY("ministral3", windowed_fields, ministral_finish, LLAMA),
    FAMILY("nemotron", nemotron_fields, families_llama, DECODER, SQUARED,
           .attention.rotary = true),
    FAMILY("arcee", nemotron_fields, families_llama, DECODER, SQUARED,
           .norms.rms = true, .attention.rotary = true),
    FAMILY("qwen", qwen_fields, qwen_finish, LLAMA, .attention.qkv_bias = true,
           .attention.fused_qkv = true),
    { .name = NULL },
};
