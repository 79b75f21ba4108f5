#include "model/families.h"

#include "base/names.h"

#include <string.h>

static const struct family *const tables[] = { families_encoder, families_gpt,
                                               families_llama, families_megatron };
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

void family_list(struct strbuf *out)
{
    const char *comma = "";
    for (const struct family *f = NULL; (f = family_next(f)) != NULL; comma = ", ")
        strbuf_printf(out, "%s\"%s\"", comma, f->name);
}

const char *family_refusal(const char *name)
{
    static const char none[] = "it has no attention",
                      encoder_decoder[] = "of encoder-decoders, T5's are";
    static const struct {
        const char *name, *why;
    } refused[] = {
        { "albert", "its layers share one set of weights" },
        { "deberta", "its attention is disentangled" },
        { "deberta-v2", "its attention is disentangled" },
        { "electra", "it trains a generator with it" },
        { "mamba", none },
        { "mamba2", none },
        { "rwkv", none },
        { "bart", encoder_decoder },
        { "mbart", encoder_decoder },
        { "pegasus", encoder_decoder },
        { "whisper", encoder_decoder },
        { "llama4", "its layers differ" },
        { "modernbert", "its layers differ" },
        { "qwen3_next", "its layers differ" },
        { "jamba", "its layers differ" },
        { "gemma3",
          "it has a vision tower (its text_config alone is \"gemma3_text\")" },
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
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
