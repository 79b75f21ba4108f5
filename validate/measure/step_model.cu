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
    if (m->step->sequence % 8)
        return measure_fail(m, "--sequence: must be a multiple of 8");
    if (t->positions && m->step->sequence > t->positions)
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
            t->family = families[i].family;
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

/* Keys of a family; NULL: it has none for that. */
struct keys {
    const char *hidden, *layers, *heads, *ffn, *words, *positions, *types,
        *hidden_dropout, *attention_dropout;
};

static const struct keys gpt2_keys = { "n_embd",  "n_layer",     "n_head",
                                       "n_inner", "vocab_size",  "n_positions",
                                       NULL,      "resid_pdrop", "attn_pdrop" };
static const struct keys bert_keys = {
    "hidden_size",       "num_hidden_layers",   "num_attention_heads",
    "intermediate_size", "vocab_size",          "max_position_embeddings",
    "type_vocab_size",   "hidden_dropout_prob", "attention_probs_dropout_prob"
};
static const struct keys llama_keys = { "hidden_size",
                                        "num_hidden_layers",
                                        "num_attention_heads",
                                        "intermediate_size",
                                        "vocab_size",
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL };

static void put_int(struct measure *m, const char *key, int64_t value)
{
    if (key)
        row_int(m, key, value);
}

static void put_real(struct measure *m, const char *key, float value)
{
    if (key)
        row_real(m, key, (double)value);
}

void step_model_row(struct measure *m, const struct step_model *t)
{
    const struct keys *k = t->gated          ? &llama_keys
                           : !t->masked_head ? &gpt2_keys
                                             : &bert_keys;
    row_open(m, "config");
    row_text(m, "model_type", t->family);
    put_int(m, k->hidden, t->hidden);
    put_int(m, k->layers, t->layers);
    put_int(m, k->heads, t->heads);
    put_int(m, k->ffn, t->ffn);
    put_int(m, k->words, t->words);
    put_int(m, k->positions, t->positions);
    put_int(m, k->types, t->types);
    put_real(m, k->hidden_dropout, t->hidden_dropout);
    put_real(m, k->attention_dropout, t->attention_dropout);
    if (k == &gpt2_keys)
        put_real(m, "embd_pdrop", t->hidden_dropout);
    row_flag(m, "tie_word_embeddings", t->tied);
    row_close(m);
}
