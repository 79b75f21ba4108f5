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

static const char model_at[] = "/model", attention_at[] = "/training/attention",
                  task_at[] = "/training/task";

const struct value *llmfoundry_section(const struct value *v, const char *key)
{
    const struct value_item *it = value_get(v, key);
    return it && it->value->kind == VALUE_DICT ? it->value : NULL;
}

void llmfoundry_refuse_size(struct launch_context *t, const struct value_item *it,
                            const char *why)
{
    if (!launch_is_unresolved(t, model_at))
        launch_add_unresolved(t, model_at, it->line,
                              "model: %s: %s; a config.json of equal sizes would do",
                              it->key, why);
}

/* Copies a key as it is; a whole number of a real one. */
void llmfoundry_copy(struct launch_context *t, json_t *to, const struct value *from,
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
        llmfoundry_refuse_size(t, section,
                               "it changes sizes of a model that is not known");
        return;
    }
    for (int32_t i = 0; i < v->n; i++)
        if (!is_harmless(v->items[i].key))
            llmfoundry_copy(t, config, v, v->items[i].key);
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
    overrides = overrides ? overrides : value_get(m, "model_config");
    if (it && overrides && changes_sizes(overrides->value))
        take_overridden(t, it, overrides);
    else if (it)
        trainer_take_model(t, &row, it);
}

/* llmfoundry/models/hf/hf_base.py (v0.21): flash_attention_2 where it is asked for, else
 * eager; a checkpoint of MPT has its own, and v0.3 put its own attention in place of
 * Llama's (models/layers/llama_attention_monkeypatch.py). */
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
        llmfoundry_section(llmfoundry_section(m, "config_overrides"), "attn_config");
    it = it ? it : value_get(own, "attn_impl");
    it = it ? it : value_get(m, "attention_patch_type");
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
    launch_set(t, task_at, json_string("seq2seq"), name);
}

/* mosaicml/examples, benchmarks/bert: masked words, or labels where they are counted. */
static void take_bert(struct launch_context *t, const struct value *m,
                      const struct value_item *name)
{
    const struct value_item *labels = value_get(m, "num_labels");
    take_checkpoint(t, m);
    if (!launch_has(t, model_at) && !launch_is_unresolved(t, model_at))
        launch_assume(t, model_at, json_string("bert-base-uncased"),
                      "pretrained_model_name's default");
    launch_set(t, task_at, json_string(labels ? "classification" : "masked-lm"),
               labels ? labels : name);
    if (strcmp(name->value->text, "mosaic_bert") == 0)
        launch_note(t->l, name->line, DIAG_APPROXIMATE,
                    "%s: mosaic_bert is simulated as BERT: its gated MLPs, ALiBi and "
                    "unpadding are not",
                    name->key);
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
        llmfoundry_take_mpt(t, m, name);
        launch_set(t, task_at, json_string("causal-lm"), name);
    } else if (strcmp(word, "hf_causal_lm") == 0) {
        take_checkpoint(t, m);
        take_hf_attention(t, m);
        launch_set(t, task_at, json_string("causal-lm"), name);
    } else if (strcmp(word, "hf_bert") == 0 || strcmp(word, "mosaic_bert") == 0) {
        take_bert(t, m, name);
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
