/* MPT's sizes as a config.json: llmfoundry/models/mpt/configuration_mpt.py. */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llmfoundry/llmfoundry.h"

#include <inttypes.h>
#include <string.h>

static const char model_at[] = "/model", attention_at[] = "/training/attention";

/* llmfoundry/models/utils/config_defaults.py and layers/attention.py. */
static void copy_attention(struct launch_context *t, json_t *to,
                           const struct value *attn)
{
    static const char *const keys[] = { "alibi", "rope", "kv_n_heads", "attn_pdrop",
                                        NULL };
    for (const char *const *key = keys; attn && *key; key++)
        llmfoundry_copy(t, to, attn, *key);
    if (strcmp(launch_word(attn, "attn_type", ""), "multiquery_attention") == 0)
        json_object_set_new(to, "kv_n_heads", json_integer(1));
}

static int64_t number(const struct value *section, const char *key, int64_t otherwise)
{
    const struct value_item *it = value_get(section, key);
    int64_t n;
    return it && launch_whole(it->value, &n) ? n : otherwise;
}

/* A gated MLP with rotary or no positions and without biases is a Llama's. */
static json_t *gated(struct launch_context *t, const struct value *m,
                     const struct value *attn, const struct value *ffn,
                     const struct value_item *from)
{
    int64_t hidden = number(m, "d_model", 2048), wide = 0;
    const struct value_item *ratio = value_get(m, "expansion_ratio");
    double x = 4;
    if (!launch_is_on(attn, "rope") || launch_is_on(attn, "alibi") ||
        !launch_is_on(m, "no_bias")) {
        llmfoundry_refuse_size(
            t, from, "a gated MLP is read with rope and without biases alone");
        return NULL;
    }
    if (ratio && !launch_real(ratio->value, &x))
        x = 4;
    wide = number(ffn, "ffn_hidden_size", (int64_t)(x * (double)hidden));
    json_t *v = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "model_type", "llama", "hidden_size",
        (json_int_t)hidden, "num_hidden_layers", (json_int_t)number(m, "n_layers", 24),
        "num_attention_heads", (json_int_t)number(m, "n_heads", 16),
        "intermediate_size", (json_int_t)wide, "vocab_size",
        (json_int_t)number(m, "vocab_size", 50368), "tie_word_embeddings",
        !value_get(m, "tie_word_embeddings") || launch_is_on(m, "tie_word_embeddings"));
    if (value_get(attn, "kv_n_heads"))
        json_object_set_new(v, "num_key_value_heads",
                            json_integer((json_int_t)number(attn, "kv_n_heads", 1)));
    return v;
}

/* What of MPT's choices no family has. */
static bool is_simulated(struct launch_context *t, const struct value *m,
                         const struct value *ffn)
{
    const struct value_item *type = value_get(ffn, "ffn_type"),
                            *blocks = value_get(m, "block_overrides"),
                            *tied = value_get(m, "tie_word_embeddings"),
                            *head = value_get(m, "head_dim");
    const char *word = launch_word(ffn, "ffn_type", "mptmlp");
    bool glu = strcmp(word, "mptglu") == 0;
    if (!glu && strcmp(word, "mptmlp") != 0 && strcmp(word, "te_ln_mlp") != 0)
        llmfoundry_refuse_size(t, type,
                               "experts and other MLPs of MPT are not simulated");
    else if (blocks && blocks->value->kind != VALUE_NONE)
        llmfoundry_refuse_size(t, blocks, "layers that differ are not simulated");
    else if (head && head->value->kind != VALUE_NONE)
        llmfoundry_refuse_size(t, head,
                               "heads of another size are not simulated for MPT");
    else if (!glu && tied && tied->value->kind == VALUE_BOOL && !tied->value->integer)
        llmfoundry_refuse_size(t, tied, "a head of its own is not simulated for MPT");
    return !launch_is_unresolved(t, model_at);
}

/* llmfoundry/models/mpt/configuration_mpt.py: what a file leaves open. */
static json_t *plain(struct launch_context *t, const struct value *m,
                     const struct value *attn)
{
    static const char *const keys[] = { "d_model",     "n_heads",         "n_layers",
                                        "max_seq_len", "expansion_ratio", "vocab_size",
                                        "no_bias",     "resid_pdrop",     NULL };
    json_t *v =
        json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b}", "model_type", "mpt",
                  "d_model", 2048, "n_heads", 16, "n_layers", 24, "max_seq_len", 2048,
                  "expansion_ratio", 4, "vocab_size", 50368, "no_bias", 0);
    json_t *a = json_object();
    const struct value_item *learned = value_get(m, "learned_pos_emb"),
                            *old = value_get(m, "mlp_ratio");
    for (const char *const *key = keys; *key; key++)
        llmfoundry_copy(t, v, m, *key);
    if (old)
        json_object_set_new(v, "expansion_ratio",
                            json_integer((json_int_t)number(m, "mlp_ratio", 4)));
    copy_attention(t, a, m); /* of 2023's first versions */
    copy_attention(t, a, attn);
    /* no positions at all cost what alibi's do */
    if (learned && !launch_true(learned->value) && !json_object_get(a, "rope"))
        json_object_set_new(a, "alibi", json_true());
    json_object_set_new(v, "attn_config", a);
    return v;
}

static void take_mpt(struct launch_context *t, const struct value *m,
                     const struct value_item *name)
{
    const struct value *attn = llmfoundry_section(m, "attn_config"),
                       *ffn = llmfoundry_section(m, "ffn_config");
    const struct value_item *type = value_get(ffn, "ffn_type");
    if (!is_simulated(t, m, ffn))
        return;
    bool glu = type && strcmp(launch_word(ffn, "ffn_type", ""), "mptglu") == 0;
    json_t *v = glu ? gated(t, m, attn, ffn, type) : plain(t, m, attn);
    if (v && !launch_is_unresolved(t, model_at))
        launch_set(t, model_at, v, name);
    else
        json_decref(v);
}

/* triton is Flash attention in another language (v0.4 and older). */
static void take_mpt_attention(struct launch_context *t, const struct value *m)
{
    const struct value_item *it =
        value_get(llmfoundry_section(m, "attn_config"), "attn_impl");
    it = it ? it : value_get(m, "attn_impl");
    const char *word =
        it && it->value->kind == VALUE_STRING ? it->value->text : "flash";
    if (strcmp(word, "torch") == 0)
        launch_set(t, attention_at, json_string("unfused"), it);
    else if (strcmp(word, "flash") && strcmp(word, "triton"))
        launch_unresolved_item(t, attention_at, it, "attention that is simulated");
    else if (it)
        launch_set(t, attention_at, json_string("flash"), it);
    else
        launch_assume(t, attention_at, json_string("flash"), "attn_impl's default");
}

void llmfoundry_take_mpt(struct launch_context *t, const struct value *m,
                         const struct value_item *name)
{
    take_mpt(t, m, name);
    take_mpt_attention(t, m);
}
