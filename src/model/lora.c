/* Names of what LoRA adapts, and bytes of what it freezes. */
#include "model/lora.h"

#include <stddef.h>

#include <string.h>

const struct name_value lora_base_names[] = {
    { "fp32", LORA_BASE_FP32 }, { "fp16", LORA_BASE_FP16 }, { "bf16", LORA_BASE_BF16 },
    { "nf4", LORA_BASE_NF4 },   { "int8", LORA_BASE_INT8 }, { NULL, 0 },
};

struct word {
    const char *name;
    uint32_t means;
};

/* Modules of Hugging Face's modeling_*.py by family, Megatron-Bridge's
 * (linear_qkv, linear_proj, linear_fc1, linear_fc2) and torchtune's. A name that two
 * products of a family share (GPT-2's c_proj, NeoX's dense) is adapted in both, as PEFT
 * matches the ends of names. */
static const struct word targets[] = {
    { "q_proj", LORA_QUERY },
    { "query", LORA_QUERY },
    { "q_lin", LORA_QUERY },
    { "q", LORA_QUERY },
    { "wq", LORA_QUERY },
    { "q_b_proj", LORA_QUERY },
    { "query_proj", LORA_QUERY },
    { "linear_q", LORA_QUERY },
    { "k_proj", LORA_KEY },
    { "key", LORA_KEY },
    { "k_lin", LORA_KEY },
    { "k", LORA_KEY },
    { "wk", LORA_KEY },
    { "linear_k", LORA_KEY },
    { "key_proj", LORA_KEY },
    { "v_proj", LORA_VALUE },
    { "value", LORA_VALUE },
    { "v_lin", LORA_VALUE },
    { "v", LORA_VALUE },
    { "wv", LORA_VALUE },
    { "linear_v", LORA_VALUE },
    { "value_proj", LORA_VALUE },
    { "qkv_proj", LORA_QKV },
    { "query_key_value", LORA_QKV },
    { "c_attn", LORA_QKV },
    { "Wqkv", LORA_QKV },
    { "W_pack", LORA_QKV },
    { "wqkv", LORA_QKV },
    { "att_proj", LORA_QKV },
    { "linear_qkv", LORA_QKV },
    { "attention_qkv", LORA_QKV },
    { "o_proj", LORA_OUT },
    { "out_proj", LORA_OUT_PROJ },
    { "out_lin", LORA_OUT },
    { "o", LORA_OUT },
    { "output_proj", LORA_OUT },
    { "linear_proj", LORA_OUT },
    { "attention.dense", LORA_OUT },
    { "self_attention.dense", LORA_OUT },
    { "attention.output.dense", LORA_OUT },
    { "dense", LORA_OUT },
    { "c_proj", LORA_OUT | LORA_DOWN },
    { "gate_proj", LORA_GATE },
    { "wi_0", LORA_GATE },
    { "w1", LORA_GATE },
    { "linear_fc1_gate", LORA_GATE },
    { "up_proj", LORA_UP },
    { "wi_1", LORA_UP },
    { "wi", LORA_UP },
    { "w3", LORA_UP },
    { "fc1", LORA_UP },
    { "fc_in", LORA_UP },
    { "c_fc", LORA_UP },
    { "lin1", LORA_UP },
    { "dense_h_to_4h", LORA_UP },
    { "intermediate.dense", LORA_UP },
    { "linear_fc1_up", LORA_UP },
    { "gate_up_proj", LORA_GATE_UP },
    { "linear_fc1", LORA_GATE_UP },
    { "down_proj", LORA_DOWN },
    { "wo", LORA_DOWN },
    { "w2", LORA_DOWN },
    { "fc2", LORA_DOWN },
    { "fc_out", LORA_DOWN },
    { "lin2", LORA_DOWN },
    { "dense_4h_to_h", LORA_DOWN },
    { "linear_fc2", LORA_DOWN },
    { "router", LORA_ROUTER },
    { "gate", LORA_ROUTER },
    { "q_a_proj", LORA_QUERY_DOWN },
    { "kv_a_proj_with_mqa", LORA_KV_DOWN },
    { "kv_b_proj", LORA_KV_UP },
    { "in_proj", LORA_STATE_IN },
    { "in_proj_qkvz", LORA_STATE_IN },
    { "in_proj_qkv", LORA_STATE_QKV },
    { "in_proj_z", LORA_STATE_GATE },
    { "output_gate", LORA_STATE_GATE },
    { "g_a_proj", LORA_STATE_GATE },
    { "in_proj_a", LORA_STATE_A },
    { "f_a_proj", LORA_STATE_A },
    { "in_proj_b", LORA_STATE_B },
    { "b_proj", LORA_STATE_B },
    { "in_proj_ba", LORA_STATE_A | LORA_STATE_B },
    { "x_proj", LORA_STATE_SELECT },
    { "f_b_proj", LORA_STATE_SELECT },
    { "dt_proj", LORA_STATE_STEP },
    { "g_b_proj", LORA_STATE_STEP },
    { "to_q", LORA_QUERY },
    { "to_k", LORA_KEY },
    { "to_v", LORA_VALUE },
    { "to_out.0", LORA_OUT },
    { "attn.to_out.0", LORA_OUT },
    { "add_q_proj", LORA_TEXT_QUERY },
    { "add_k_proj", LORA_TEXT_KEY },
    { "add_v_proj", LORA_TEXT_VALUE },
    { "to_add_out", LORA_TEXT_OUT },
    { "ff.net.0.proj", LORA_UP },
    { "ff.net.2", LORA_DOWN },
    { "ff_context.net.0.proj", LORA_TEXT_UP },
    { "ff_context.net.2", LORA_TEXT_DOWN },
    { "proj_mlp", LORA_SINGLE_UP },
    { "proj_out", LORA_SINGLE_DOWN },
    { "lm_head", LORA_HEAD },
    { "embed_out", LORA_HEAD },
    { "output_layer", LORA_HEAD },
    { "all-linear", LORA_ALL_LINEAR },
};

static const struct word trained[] = {
    { "embeddings", LORA_TRAINS_EMBEDDINGS },
    { "embed_tokens", LORA_TRAINS_EMBEDDINGS },
    { "wte", LORA_TRAINS_EMBEDDINGS },
    { "embed_in", LORA_TRAINS_EMBEDDINGS },
    { "word_embeddings", LORA_TRAINS_EMBEDDINGS },
    { "shared", LORA_TRAINS_EMBEDDINGS },
    { "head", LORA_TRAINS_HEAD },
    { "lm_head", LORA_TRAINS_HEAD },
    { "output_layer", LORA_TRAINS_HEAD },
    { "embed_out", LORA_TRAINS_HEAD },
    { "score", LORA_TRAINS_HEAD },
    { "classifier", LORA_TRAINS_HEAD },
    { "qa_outputs", LORA_TRAINS_HEAD },
    { "norms", LORA_TRAINS_NORMS },
    { "norm", LORA_TRAINS_NORMS },
    { "input_layernorm", LORA_TRAINS_NORMS },
    { "post_attention_layernorm", LORA_TRAINS_NORMS },
    { "vision_tower", LORA_TRAINS_VISION },
    { "visual", LORA_TRAINS_VISION },
    { "projector", LORA_TRAINS_PROJECTOR },
    { "multi_modal_projector", LORA_TRAINS_PROJECTOR },
    { "mm_projector", LORA_TRAINS_PROJECTOR },
    { "merger", LORA_TRAINS_PROJECTOR },
};

/* By model_type: TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING of PEFT 0.18,
 * peft/utils/constants.py. */
static const struct word defaults[] = {
    { "t5", LORA_QUERY | LORA_VALUE },
    { "mt5", LORA_QUERY | LORA_VALUE },
    { "bart", LORA_QUERY | LORA_VALUE },
    { "gpt2", LORA_QKV },
    { "bloom", LORA_QKV },
    { "opt", LORA_QUERY | LORA_VALUE },
    { "gptj", LORA_QUERY | LORA_VALUE },
    { "gpt_neox", LORA_QKV },
    { "gpt_neo", LORA_QUERY | LORA_VALUE },
    { "bert", LORA_QUERY | LORA_VALUE },
    { "roberta", LORA_QUERY | LORA_VALUE },
    { "xlm-roberta", LORA_QUERY | LORA_VALUE },
    { "electra", LORA_QUERY | LORA_VALUE },
    { "deberta-v2", LORA_QUERY | LORA_VALUE },
    { "deberta", LORA_QKV },
    { "llama", LORA_QUERY | LORA_VALUE },
    { "llama4", LORA_QUERY | LORA_VALUE },
    { "chatglm", LORA_QKV },
    { "gpt_bigcode", LORA_QKV },
    { "mpt", LORA_QKV },
    { "RefinedWebModel", LORA_QKV },
    { "RefinedWeb", LORA_QKV },
    { "falcon", LORA_QKV },
    { "codegen", LORA_QKV },
    { "mistral", LORA_QUERY | LORA_VALUE },
    { "mixtral", LORA_QUERY | LORA_VALUE },
    { "stablelm", LORA_QUERY | LORA_VALUE },
    { "phi", LORA_QUERY | LORA_VALUE | LORA_UP | LORA_DOWN },
    { "gemma", LORA_QUERY | LORA_VALUE },
    { "gemma2", LORA_QUERY | LORA_VALUE },
    { "gemma3_text", LORA_QUERY | LORA_VALUE },
    { "qwen2", LORA_QUERY | LORA_VALUE },
    { "qwen3", LORA_QUERY | LORA_VALUE },
    /* diffusers 0.32, examples/dreambooth/train_dreambooth_lora_sd3.py: target_modules */
    { "dit", LORA_QUERY | LORA_KEY | LORA_VALUE | LORA_OUT },
    { "sd3", LORA_QUERY | LORA_KEY | LORA_VALUE | LORA_OUT },
    { "flux", LORA_QUERY | LORA_KEY | LORA_VALUE | LORA_OUT },
};

static uint32_t find(const struct word *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i].name, word) == 0)
            return words[i].means;
    return 0;
}

uint32_t lora_target_of(const char *word)
{
    const size_t n = sizeof(targets) / sizeof(targets[0]);
    uint32_t whole = find(targets, n, word);
    const char *dot = strrchr(word, '.'); /* "self_attn.q_proj" */
    return whole || !dot ? whole : find(targets, n, dot + 1);
}

/* Modules whose names mean another product in one family: Qwen's first generation makes
 * w1(x) silu(w2(x)) (Qwen/Qwen-7B, modeling_qwen.py, QWenMLP). */
static const struct {
    const char *family;
    struct word own;
} of_families[] = {
    { "qwen", { "w1", LORA_UP } },
    { "qwen", { "w2", LORA_GATE } },
    /* internlm/internlm2-chat-7b, modeling_internlm2.py, InternLM2Attention */
    { "internlm2", { "wo", LORA_OUT } },
    /* THUDM/chatglm3-6b, modeling_chatglm.py, MLP: gate and up in one */
    { "chatglm", { "dense_h_to_4h", LORA_GATE_UP } },
    { "starcoder2", { "c_proj", LORA_DOWN } },
    /* attention.output.dense, intermediate.dense and output.dense */
    { "bert", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "roberta", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "xlm-roberta", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "electra", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "deberta", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "deberta-v2", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
    { "vit", { "dense", LORA_OUT | LORA_UP | LORA_DOWN } },
};

uint32_t lora_target_in(const char *family, const char *word)
{
    const char *dot = strrchr(word, '.');
    uint32_t path = dot ? find(targets, sizeof(targets) / sizeof(targets[0]), word) : 0;
    if (path) /* "attention.output.dense" */
        return path;
    for (size_t i = 0; family && i < sizeof(of_families) / sizeof(of_families[0]); i++)
        if (strcmp(of_families[i].family, family) == 0 &&
            strcmp(of_families[i].own.name, dot ? dot + 1 : word) == 0)
            return of_families[i].own.means;
    return lora_target_of(word);
}

uint32_t lora_default_targets(const char *family)
{
    return find(defaults, sizeof(defaults) / sizeof(defaults[0]), family);
}

const char *lora_target_name(int32_t i)
{
    return (size_t)i < sizeof(targets) / sizeof(targets[0]) ? targets[i].name : NULL;
}

uint32_t lora_trained_of(const char *word)
{
    const size_t n = sizeof(trained) / sizeof(trained[0]);
    const char *dot = strrchr(word, '.');
    return find(trained, n, dot ? dot + 1 : word);
}

static const struct word frozen[] = {
    { "vision_tower", LORA_FREEZES_VISION },
    { "projector", LORA_FREEZES_PROJECTOR },
    { "language_model", LORA_FREEZES_LANGUAGE },
    { "embeddings", LORA_FREEZES_EMBEDDINGS },
    { "head", LORA_FREEZES_HEAD },
    { "feature_encoder", LORA_FREEZES_FEATURES },
    { "encoder", LORA_FREEZES_ENCODER },
    { "attention", LORA_FREEZES_ATTENTION },
    { "mlp", LORA_FREEZES_MLP },
    { "router", LORA_FREEZES_ROUTER },
    { "norms", LORA_FREEZES_NORMS },
    { "state", LORA_FREEZES_STATE },
};

uint32_t lora_frozen_of(const char *word)
{
    return find(frozen, sizeof(frozen) / sizeof(frozen[0]), word);
}

/* The i-th bit of the set that a word of the table names alone. */
static const char *word_at(const struct word *words, size_t n, uint32_t set, int32_t i)
{
    for (uint32_t bit = 1; bit && bit <= set; bit <<= 1) {
        if (!(set & bit) || i-- > 0)
            continue;
        for (size_t k = 0; k < n; k++)
            if (words[k].means == bit)
                return words[k].name;
    }
    return NULL;
}

const char *lora_target_word(uint32_t set, int32_t i)
{
    return word_at(targets, sizeof(targets) / sizeof(targets[0]), set, i);
}

const char *lora_trained_word(uint32_t set, int32_t i)
{
    return word_at(trained, sizeof(trained) / sizeof(trained[0]), set, i);
}

const char *lora_frozen_word(uint32_t set, int32_t i)
{
    return word_at(frozen, sizeof(frozen) / sizeof(frozen[0]), set, i);
}

bool lora_is_quantized(const struct lora *l)
{
    return l->rank > 0 && (l->base == LORA_BASE_NF4 || l->base == LORA_BASE_INT8);
}

/* NF4: half a byte, and an fp32 scale for every 64; doubly quantized, that scale has 8
 * bits, of which 256 share an fp32 one: 4.127 bits (Dettmers et al. 2023, section 3;
 * bitsandbytes 0.44 functional.py, quantize_4bit). */
double lora_quantized_B(const struct lora *l)
{
    const double block = 64, scales = 256, fp32_B = 4;
    if (l->base == LORA_BASE_INT8)
        return 1;
    return 0.5 +
           (l->double_quantization ? (1 + fp32_B / scales) / block : fp32_B / block);
}
