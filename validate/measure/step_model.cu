#include "step_model.h"

#include "json_in.h"

static void read_bert(struct step_model *t, const struct json_in *j)
{
    t->hidden = json_in_int(j, "hidden_size", 768);
    t->layers = json_in_int(j, "num_hidden_layers", 12);
    t->heads = json_in_int(j, "num_attention_heads", 12);
    t->ffn = json_in_int(j, "intermediate_size", 4 * t->hidden);
    t->words = json_in_int(j, "vocab_size", 30522);
    t->positions = json_in_int(j, "max_position_embeddings", 512);
    t->types = json_in_int(j, "type_vocab_size", 2);
    t->hidden_dropout = (float)json_in_real(j, "hidden_dropout_prob", 0.1);
    t->attention_dropout = (float)json_in_real(j, "attention_probs_dropout_prob", 0.1);
    t->post_norm = t->bias = t->tied = t->embedding_norm = t->masked_head = true;
}

static void read_gpt2(struct step_model *t, const struct json_in *j)
{
    t->hidden = json_in_int(j, "n_embd", 768);
    t->layers = json_in_int(j, "n_layer", 12);
    t->heads = json_in_int(j, "n_head", 12);
    t->ffn = json_in_int(j, "n_inner", 4 * t->hidden);
    t->words = json_in_int(j, "vocab_size", 50257);
    t->positions = json_in_int(j, "n_positions", 1024);
    t->hidden_dropout = (float)json_in_real(j, "resid_pdrop", 0.1);
    t->attention_dropout = (float)json_in_real(j, "attn_pdrop", 0.1);
    t->causal = t->bias = t->tied = true;
}

static void read_llama(struct step_model *t, const struct json_in *j)
{
    t->hidden = json_in_int(j, "hidden_size", 4096);
    t->layers = json_in_int(j, "num_hidden_layers", 32);
    t->heads = json_in_int(j, "num_attention_heads", 32);
    t->ffn = json_in_int(j, "intermediate_size", 11008);
    t->words = json_in_int(j, "vocab_size", 32000);
    t->tied = json_in_flag(j, "tie_word_embeddings", false);
    t->causal = t->rms = t->gated = t->rotary = true;
}

static const struct {
    const char *family;
    void (*read)(struct step_model *t, const struct json_in *j);
} families[] = {
    { "bert", read_bert },
    { "roberta", read_bert },
    { "gpt2", read_gpt2 },
    { "llama", read_llama },
};

static int check(struct measure *m, const struct step_model *t, const char *file)
{
    if (t->layers < 1 || t->heads < 1 || t->hidden < 8 || t->ffn < 8 || t->words < 2)
        return measure_fail(m, "%s: sizes must be positive", file);
    if (t->hidden % t->heads || t->head_dim % 16 || t->hidden % 8 || t->ffn % 8)
        return measure_fail(m,
                            "%s: the heads' size must be a multiple of 16, the others "
                            "of 8",
                            file);
    if (m->options->sequence % 8)
        return measure_fail(m, "--sequence: must be a multiple of 8");
    if (t->positions && m->options->sequence > t->positions)
        return measure_fail(m, "--sequence: the model has %lld positions",
                            (long long)t->positions);
    return 0;
}

int step_model_read(struct measure *m, struct step_model *t, const char *file)
{
    struct json_in j;
    char why[300];
    bool known = false;
    *t = {};
    if (json_in_open(&j, file, why, sizeof(why)))
        return measure_fail(m, "%s", why);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (json_in_is(&j, "model_type", families[i].family)) {
            families[i].read(t, &j);
            known = true;
        }
    int64_t kv = json_in_int(&j, "num_key_value_heads", t->heads);
    json_in_close(&j);
    if (!known)
        return measure_fail(m, "%s: model_type must be bert, roberta, gpt2 or llama",
                            file);
    if (kv != t->heads)
        return measure_fail(m, "%s: heads that share keys are not run here", file);
    t->head_dim = t->heads ? t->hidden / t->heads : 0;
    t->vocab = (t->words + 7) / 8 * 8;
    return check(m, t, file);
}
