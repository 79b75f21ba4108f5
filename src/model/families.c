#include "model/families.h"

#include "base/names.h"
#include "model/vision.h"

#include <string.h>

static const struct family *const tables[] = {
    families_encoder, families_gpt,      families_llama_line, families_recent,
    families_experts, families_state,    families_linear,     families_diffusion,
    families_vision,  families_megatron,
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct family *family_next(const struct family *family)
{
    for (int i = 0; i < TABLES; i++)
        for (const struct family *f = tables[i]; f->name; f++)
            if (!family)
                return f;
            else if (f == family)
                family = NULL;
    return NULL;
}

/* Why families that users meet are refused. */
#define STATE "its layers keep a state instead of keys and values"
#define HYBRID "some of its layers keep a state instead of keys and values"
#define ENCODER_DECODER "of encoder-decoders, those of T5, BART and Whisper are"
#define PICTURES "it reads pictures or sound with convolutions or windows of its own"
#define LANGUAGE "smsim reads its text_config alone, as a file"
#define DIFFER "its layers differ"
#define SHARED "its layers share keys, values or embeddings"
static const struct {
    const char *name, *why;
} refused[] = {
    { "albert", "its layers share one set of weights" },
    { "deberta", "its attention is disentangled" },
    { "deberta-v2", "its attention is disentangled" },
    { "electra", "it trains a generator with it" },
    { "xlnet", "it attends to two streams" },
    { "longformer", "its attention is sparse" },
    { "big_bird", "its attention is sparse" },
    { "reformer", "its attention is sparse" },
    { "modernbert", DIFFER },
    { "rwkv", STATE },
    { "rwkv7", STATE },
    { "retnet", STATE },
    { "recurrent_gemma", HYBRID },
    { "zamba", HYBRID },
    { "zamba2", HYBRID },
    { "deepseek_v4", "its attention compresses keys by learned blocks" },
    { "led", ENCODER_DECODER },
    { "t5gemma", ENCODER_DECODER },
    { "seamless_m4t", ENCODER_DECODER },
    { "openelm", DIFFER },
    { "nemotron-nas", DIFFER },
    { "deci", DIFFER },
    { "gemma3n_text", SHARED },
    { "gemma3n", SHARED },
    { "gemma4", SHARED },
    { "gemma4_text", SHARED },
    { "mllama", "its vision tower is read by layers of cross-attention" },
    { "swin", PICTURES },
    { "convnext", PICTURES },
    { "resnet", PICTURES },
    { "sam", PICTURES },
    { "wav2vec2", PICTURES },
    { "hubert", PICTURES },
    { "wavlm", PICTURES },
    { "florence2", PICTURES },
    { "phi4mm", PICTURES },
    { "phi3_v", PICTURES },
    { "wav2vec2-bert", PICTURES },
    { "kimi_vl", LANGUAGE },
    { "kimi_k25", LANGUAGE },
    { "qwen3_omni_moe", LANGUAGE },
    { "qwen2_5_omni", LANGUAGE },
    { "llama4", "it has a vision tower (its text_config alone is \"llama4_text\")" },
};
enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

const char *family_refusal(const char *name)
{
    for (int i = 0; i < REFUSED; i++)
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].why;
    return NULL;
}

const struct family *family_find(const char *name)
{
    const struct family *f = family_next(NULL);
    while (f && strcmp(f->name, name) != 0)
        f = family_next(f);
    return f;
}

const char *family_nearest(const char *name)
{
    enum { MOST = 256 };
    struct name_value words[MOST] = { { NULL, 0 } };
    for (int i = 0; i < MOST - 1 && (words[i].name = model_family(i)) != NULL; i++)
        continue;
    return names_nearest(words, name);
}

const char *model_refused(int64_t i, const char **why)
{
    if (i < 0 || i >= REFUSED)
        return NULL;
    *why = refused[i].why;
    return refused[i].name;
}

const char *model_family(int64_t i)
{
    for (const struct family *f = NULL; (f = family_next(f)) != NULL;)
        if (i-- == 0)
            return f->name;
    return vision_name(i);
}

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
