/* Which model litgpt trains: an id in a folder, a name of litgpt's own, or the sizes of
 * "model_config" (litgpt/config.py, Config). */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/litgpt/litgpt.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <string.h>

static const char model_at[] = "/model";

/* Sizes ---------------------------------------------------------------------------- */

static int64_t size(const struct value *m, const char *key, int64_t otherwise)
{
    const struct value_item *it = value_get(m, key);
    int64_t n;
    return it && launch_whole(it->value, &n) && n > 0 && n < 1 << 24 ? n : otherwise;
}

static bool is_on(const struct value *m, const char *key, bool otherwise)
{
    const struct value_item *it = value_get(m, key);
    return it && it->value->kind != VALUE_NONE ? launch_true(it->value) : otherwise;
}

/* The first key that is none of those that are read, and asks for something; NULL. */
static const struct value_item *other_key(const struct value *m)
{
    static const char *const known[] = {
        "name",
        "hf_config",
        "block_size",
        "n_layer",
        "n_embd",
        "vocab_size",
        "n_head",
        "padding_multiple",
        "padded_vocab_size",
        "head_size",
        "norm_class_name",
        "norm_eps",
        "bias",
        "parallel_residual",
        "n_query_groups",
        "rope_base",
        "mlp_class_name",
        "intermediate_size",
        "rotary_percentage",
        "rope_condense_ratio",
        "rope_n_elem",
        "scale_embeddings",
        "lm_head_bias",
        NULL,
    };
    for (int32_t i = 0; i < m->n; i++)
        if (!names_listed(known, m->items[i].key) && !launch_is_off(m->items[i].value))
            return &m->items[i];
    return NULL;
}

/* A model of sizes, with the defaults of Config; NULL: no family is so. */
static json_t *of_sizes(const struct value *m)
{
    const char *mlp = launch_word(m, "mlp_class_name", "GptNeoxMLP"),
               *norm = launch_word(m, "norm_class_name", "LayerNorm");
    bool llama = strcmp(mlp, "LLaMAMLP") == 0 && strcmp(norm, "RMSNorm") == 0 &&
                 !is_on(m, "bias", true) && !is_on(m, "parallel_residual", true),
         neox = strcmp(mlp, "GptNeoxMLP") == 0 && strcmp(norm, "LayerNorm") == 0 &&
                is_on(m, "bias", true) && !value_get(m, "n_query_groups");
    int64_t width = size(m, "n_embd", 4096), heads = size(m, "n_head", 32),
            multiple = size(m, "padding_multiple", 512),
            words = size(m, "vocab_size", 50254);
    words = size(m, "padded_vocab_size", (words + multiple - 1) / multiple * multiple);
    if ((!llama && !neox) || (llama && !value_get(m, "intermediate_size")))
        return NULL;
    json_t *v =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "model_type",
                  llama ? "llama" : "gpt_neox", "hidden_size", (json_int_t)width,
                  "num_hidden_layers", (json_int_t)size(m, "n_layer", 16),
                  "num_attention_heads", (json_int_t)heads, "intermediate_size",
                  (json_int_t)size(m, "intermediate_size", 4 * width), "vocab_size",
                  (json_int_t)words, "max_position_embeddings",
                  (json_int_t)size(m, "block_size", 4096), "tie_word_embeddings", 0);
    if (neox)
        json_object_set_new(v, "use_parallel_residual",
                            json_boolean(is_on(m, "parallel_residual", true)));
    if (llama && value_get(m, "n_query_groups"))
        json_object_set_new(v, "num_key_value_heads",
                            json_integer((json_int_t)size(m, "n_query_groups", heads)));
    if (llama && value_get(m, "head_size"))
        json_object_set_new(v, "head_dim",
                            json_integer((json_int_t)size(m, "head_size", 0)));
    return v;
}

static void take_sizes(struct launch_context *t, const struct value_item *own,
                       bool tied)
{
    const struct value_item *other = other_key(own->value);
    json_t *v = other ? NULL : of_sizes(own->value);
    if (v && tied)
        json_object_set_new(v, "tie_word_embeddings", json_true());
    if (v)
        launch_set(t, model_at, v, own);
    else
        launch_add_unresolved(
            t, model_at, own->line,
            "model_config: it is no Llama's and no GPT-NeoX's%s%.40s; "
            "a config.json of equal sizes would do",
            other ? ", by " : "", other ? other->key : "");
}

/* Names ---------------------------------------------------------------------------- */

/* The name in "checkpoints/meta-llama/Llama-2-7b-hf". */
static const char *id_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && slash[-1] != '/')
        slash--;
    return slash ? slash : path;
}

static void take_name(struct launch_context *t, const struct value_item *name)
{
    static const struct dialect_option row = ROW("checkpoint_dir", "/model");
    const char *text = name->value->text ? name->value->text : "", *id = NULL;
    struct cfg known = launch_flavor(t, "litgpt", text);
    struct hub_id found;
    bool own = strcmp(name->key, "model_name") == 0;
    if (own && cfg_is_object(known)) {
        launch_set(t, model_at, json_deep_copy(known.json), name);
        return;
    }
    if (!own)
        id = id_of(text);
    else if ((!known.json || cfg_string(known, &id) != 0) && *text &&
             hub_find(&found, t->l->loader, text))
        id = found.name;
    if (!id) {
        launch_add_unresolved(t, model_at, name->line,
                              "model_name: %.60s is no model of litgpt that is known; "
                              "its config.json would do",
                              text);
        return;
    }
    struct value v = { .kind = VALUE_STRING, .line = name->line, .text = id };
    const struct value_item as = { name->key, name->line, &v };
    trainer_take_model(t, &row, &as);
}

/* A pre-training fills the model's positions (litgpt/pretrain.py, max_seq_length). */
static void assume_length(struct launch_context *t)
{
    json_t *model = json_object_get(t->tree, "model"),
           *own = json_object_get(model, "max_position_embeddings");
    const char *id = json_string_value(model);
    struct cfg config = { .json = model };
    struct hub_id found;
    if (id && hub_is_id(id) && hub_find(&found, t->l->loader, id) && !found.shipped) {
        config = hub_load(t->l->loader, id, (struct cfg) { 0 });
        own = json_object_get(config.json, "max_position_embeddings");
    }
    if (json_is_integer(own))
        launch_assume(t, "/training/sequence_length", json_incref(own),
                      "the model's block_size");
}

void litgpt_take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, "checkpoint_dir"),
                            *name = launch_find(t, c, "model_name"), *own = NULL,
                            *tied = launch_find(t, c, "train.tie_embeddings");
    struct value *sizes = value_new(t->arena, VALUE_DICT, 1, 0);
    for (int32_t i = 0; i < c->n; i++) {
        const struct value_item *m = &c->items[i];
        if (strncmp(m->key, "model_config.", 13) != 0)
            continue;
        own = own ? own : m;
        value_add(t->arena, sizes, m->key + 13, m->line, m->value);
        launch_hear(t, m);
    }
    if (own && !it) {
        const struct value_item whole = { "model_config", own->line, sizes };
        sizes->line = own->line;
        take_sizes(t, &whole, tied && launch_true(tied->value));
    } else if (it || name) {
        take_name(t, it ? it : name);
    }
    if (tied && launch_true(tied->value) && (!own || it))
        launch_note(t->l, tied->line, DIAG_NOT_SIMULATED,
                    "train.tie_embeddings: is not simulated for a model by its name");
    if (name && !it && !launch_has(t, "/training/sequence_length"))
        assume_length(t);
}
