/* The section "model" of llm-foundry: sizes of MPT, or a checkpoint of the Hub. */
#include "base/names.h"
#include "config/datadir.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llmfoundry/llmfoundry.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <inttypes.h>
#include <string.h>

static const char model_at[] = "/model", attention_at[] = "/training/attention";

static bool is_on(const struct value *section, const char *key)
{
    const struct value_item *it = value_get(section, key);
    return it && launch_true(it->value);
}

static const struct value *section_of(const struct value *v, const char *key)
{
    const struct value_item *it = value_get(v, key);
    return it && it->value->kind == VALUE_DICT ? it->value : NULL;
}

static void refuse_model(struct launch_context *t, const struct value_item *it,
                         const char *why)
{
    if (!launch_is_unresolved(t, model_at))
        launch_add_unresolved(t, model_at, it->line,
                              "model: %s: %s; a config.json of equal sizes would do",
                              it->key, why);
}

/* MPT ------------------------------------------------------------------------------ */

/* Copies a key as it is; a whole number of a real one. */
static void copy(struct launch_context *t, json_t *to, const struct value *from,
                 const char *key)
{
    const struct value_item *it = value_get(from, key);
    int64_t n;
    if (!it || it->value->kind == VALUE_NONE)
        return;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, model_at, it, "");
    else if (it->value->kind == VALUE_REAL && launch_whole(it->value, &n))
        json_object_set_new(to, key, json_integer((json_int_t)n));
    else
        json_object_set_new(to, key, launch_json(t, it->value, model_at));
}

/* llmfoundry/models/utils/config_defaults.py and layers/attention.py. */
static void copy_attention(struct launch_context *t, json_t *to,
                           const struct value *attn)
{
    static const char *const keys[] = { "alibi", "rope", "kv_n_heads", "attn_pdrop",
                                        NULL };
    for (const char *const *key = keys; attn && *key; key++)
        copy(t, to, attn, *key);
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
    if (!is_on(attn, "rope") || is_on(attn, "alibi") || !is_on(m, "no_bias")) {
        refuse_model(t, from, "a gated MLP is read with rope and without biases alone");
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
        !value_get(m, "tie_word_embeddings") || is_on(m, "tie_word_embeddings"));
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
        refuse_model(t, type, "experts and other MLPs of MPT are not simulated");
    else if (blocks && blocks->value->kind != VALUE_NONE)
        refuse_model(t, blocks, "layers that differ are not simulated");
    else if (head && head->value->kind != VALUE_NONE)
        refuse_model(t, head, "heads of another size are not simulated for MPT");
    else if (!glu && tied && tied->value->kind == VALUE_BOOL && !tied->value->integer)
        refuse_model(t, tied, "a head of its own is not simulated for MPT");
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
        copy(t, v, m, *key);
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
    const struct value *attn = section_of(m, "attn_config"),
                       *ffn = section_of(m, "ffn_config");
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
    const struct value_item *it = value_get(section_of(m, "attn_config"), "attn_impl");
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

/* Checkpoints of the Hub ----------------------------------------------------------- */

/* Overrides of a checkpoint's configuration that change no size. */
static bool is_harmless(const char *key)
{
    static const char *const keys[] = {
        "attn_config",
        "use_cache",
        "rope_scaling",
        "rope_theta",
        "rope_dim",
        "torch_dtype",
        "sliding_window",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "output_router_logits",
        "router_aux_loss_coef",
        "attention_dropout",
        NULL,
    };
    return names_listed(keys, key);
}

static bool changes_sizes(const struct value *overrides)
{
    for (int32_t i = 0; overrides && i < overrides->n; i++)
        if (!is_harmless(overrides->items[i].key))
            return true;
    return false;
}

/* The config.json of a known name, in the reference of the caller; NULL: none is. */
static json_t *config_of(struct launch_context *t, const char *name)
{
    struct cfg_loader *loader = t->l->loader;
    struct hub_id id;
    if (!hub_find(&id, loader, name))
        return NULL;
    struct cfg c = id.shipped
                       ? datadir_load(loader, "models", id.shipped, (struct cfg) { 0 })
                       : hub_load(loader, id.name, (struct cfg) { 0 });
    return c.json ? json_deep_copy(c.json) : NULL;
}

/* A checkpoint's sizes with the file's in their place. */
static void take_overridden(struct launch_context *t, const struct value_item *name,
                            const struct value_item *section)
{
    const struct value *v = section->value;
    json_t *config =
        name->value->kind == VALUE_STRING ? config_of(t, name->value->text) : NULL;
    if (!config) {
        refuse_model(t, section, "it changes sizes of a model that is not known");
        return;
    }
    for (int32_t i = 0; i < v->n; i++)
        if (!is_harmless(v->items[i].key))
            copy(t, config, v, v->items[i].key);
    if (launch_is_unresolved(t, model_at))
        json_decref(config);
    else
        launch_set(t, model_at, config, section);
}

static void take_checkpoint(struct launch_context *t, const struct value *m)
{
    static const struct dialect_option row =
        ROW("model.pretrained_model_name_or_path", "/model");
    const struct value_item *it = value_get(m, "pretrained_model_name_or_path"),
                            *overrides = value_get(m, "config_overrides");
    it = it ? it : value_get(m, "pretrained_model_name");
    if (it && changes_sizes(section_of(m, "config_overrides")))
        take_overridden(t, it, overrides);
    else if (it)
        trainer_take_model(t, &row, it);
}

/* llmfoundry/models/hf/hf_base.py (v0.21): flash_attention_2 where it is asked for, else
 * eager; a checkpoint of MPT has its own. */
static void take_hf_attention(struct launch_context *t, const struct value *m)
{
    static const struct dialect_word words[] = {
        { "flash_attention_2", "flash" },
        { "eager", "unfused" },
        { "sdpa", "sdpa" },
        { "torch", "unfused" },
        { "flash", "flash" },
        { "triton", "flash" },
        { NULL, NULL },
    };
    static const struct dialect_option row =
        ROW("attn_implementation", attention_at, .words = words,
            .wanted = "attention that is simulated");
    const struct value_item *flash = value_get(m, "use_flash_attention_2"),
                            *it = value_get(m, "attn_implementation");
    const struct value *own =
        section_of(section_of(m, "config_overrides"), "attn_config");
    it = it ? it : value_get(own, "attn_impl");
    if (flash && launch_true(flash->value))
        launch_set(t, attention_at, json_string("flash"), flash);
    else if (it && it->value->kind != VALUE_NONE)
        dialect_take_as(t, &row, it, DIALECT_WORD);
    else
        launch_assume(t, attention_at, json_string("unfused"),
                      "use_flash_attention_2's default, eager");
}

/* Adapters ------------------------------------------------------------------------- */

static void set_member(struct launch_context *t, const char *pointer,
                       const struct value *from, const char *key)
{
    const struct value_item *it = value_get(from, key);
    if (!it || it->value->kind == VALUE_NONE)
        return;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, pointer, it, "");
    else
        launch_set(t, pointer, launch_json(t, it->value, pointer), it);
}

/* PEFT's LoraConfig (peft/tuners/lora/config.py, PEFT 0.17): rank 8 by default. */
static void take_adapters(struct launch_context *t, const struct value_item *section)
{
    const struct value *v = section->value;
    const char *type = launch_word(v, "peft_type", "LORA");
    if (v->kind != VALUE_DICT || v->n == 0)
        return;
    if (strcmp(type, "LORA") != 0) {
        launch_add_unresolved(t, "/training/lora", section->line,
                              "%s: %.40s is not simulated; LORA is", section->key,
                              type);
        return;
    }
    set_member(t, "/training/lora/rank", v, "r");
    launch_assume(t, "/training/lora/rank", json_integer(8), "PEFT's r by default");
    set_member(t, "/training/lora/alpha", v, "lora_alpha");
    set_member(t, "/training/lora/dropout", v, "lora_dropout");
    set_member(t, "/training/lora/target_modules", v, "target_modules");
    set_member(t, "/training/lora/trained", v, "modules_to_save");
}

/* All of it ------------------------------------------------------------------------ */

/* Newer files have "peft_config" in the model, those of 2023 "lora" with "args". */
static void take_peft(struct launch_context *t, const struct value *m)
{
    const struct value_item *it = value_get(m, "peft_config"),
                            *old = value_get(value_get(m, "lora")
                                                 ? value_get(m, "lora")->value
                                                 : NULL,
                                             "args");
    it = it ? it : old;
    if (it)
        take_adapters(t, it);
}

static void take_t5(struct launch_context *t, const struct value *m,
                    const struct value_item *name)
{
    take_checkpoint(t, m);
    take_hf_attention(t, m);
    launch_set(t, "/training/task", json_string("seq2seq"), name);
}

static void refuse_name(struct launch_context *t, const struct value_item *name)
{
    diags_add(
        &t->l->loader->diags,
        launch_diag(t->l, DIAG_NOT_SIMULATED, name->value->line, name->value->column),
        "model.name: %.60s is not simulated (mpt_causal_lm, hf_causal_lm and "
        "hf_t5 are)",
        name->value->text);
}

void llmfoundry_take_model(struct launch_context *t, const struct value *m)
{
    static const char *const others[] = { "finetune_embedding_model",
                                          "contrastive_lm",
                                          "openai_causal_lm",
                                          "openai_chat",
                                          "hf_prefix_lm",
                                          "mpt_dpo_lm",
                                          "hf_dpo_lm",
                                          NULL };
    const struct value_item *name = value_get(m, "name");
    const char *word = launch_word(m, "name", "");
    if (strcmp(word, "mpt_causal_lm") == 0 || strcmp(word, "mosaic_gpt") == 0) {
        take_mpt(t, m, name);
        take_mpt_attention(t, m);
    } else if (strcmp(word, "hf_causal_lm") == 0) {
        take_checkpoint(t, m);
        take_hf_attention(t, m);
    } else if (strcmp(word, "hf_t5") == 0) {
        take_t5(t, m, name);
    } else if (names_listed(others, word)) {
        refuse_name(t, name);
    } else {
        launch_add_unresolved(t, model_at, name ? name->line : 1,
                              "model.name: \"%.60s\" is no model of llm-foundry that "
                              "is known",
                              word);
    }
    take_peft(t, m);
}
