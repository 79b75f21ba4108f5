#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/olmocore/olmocore.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Arguments of a constructor, and attributes that are set later, by what they change. */
static const char *const idle[] = {
    "@",         "vocab_size",   "attn_backend",    "use_flash", "fused_ops",
    "dtype",     "init_method",  "init_seed",       "init_std",  "rope_theta",
    "compile",   "rope_scaling", "layer_norm_eps",  "0",         "rope_full_precision",
    "dp_config", "ac_config",    "float8_config",   "tp_config", "cp_config",
    "cls",       "flash",        "attention_sinks", NULL,
};
static const struct {
    const char *argument, *key;
} sizes[] = {
    { "d_model", "hidden_size" },         { "n_layers", "num_hidden_layers" },
    { "n_heads", "num_attention_heads" }, { "n_kv_heads", "num_key_value_heads" },
    { "head_dim", "head_dim" },
};

static bool is_idle(const char *key)
{
    for (const char *const *i = idle; *i; i++) {
        size_t n = strlen(*i);
        if (strncmp(key, *i, n) == 0 && (key[n] == '\0' || key[n] == '.'))
            return true;
    }
    return strncmp(key, "init_", 5) == 0 || strncmp(key, "lm_head.loss", 12) == 0;
}

static const char *argument_of(const char *key)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (strcmp(sizes[i].argument, key) == 0)
            return sizes[i].key;
    return NULL;
}

/* Whether an argument gives another value for the key of a model's own. */
static bool is_changed(const struct value *flat, const char *key)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[40];
        snprintf(path, sizeof(path), "model.%s", sizes[i].argument);
        const struct value_item *it = value_get(flat, path);
        if (it && it->value->kind != VALUE_NONE && strcmp(sizes[i].key, key) == 0)
            return true;
    }
    return false;
}

/* A tokenizer's vocabulary, as padded_vocab_size() gives it: a multiple of 128
 * (olmo_core/data/tokenizer.py). */
static int64_t padded(const struct python *p, const char **name)
{
    static const struct {
        const char *tokenizer;
        int64_t entries;
    } known[] = {
        { "dolma2", 100278 },
        { "dolma2_sigdig", 100278 },
        { "gpt_neox_olmo_dolma_v1_5", 50280 },
        { "gpt2", 50257 },
    };
    const struct python_call *found = NULL;
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strstr(p->calls.v[i].function, ".TokenizerConfig."))
            found = &p->calls.v[i];
    *name = found ? python_last_part(found->function) : "dolma2";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].tokenizer, *name) == 0)
            return (known[i].entries + 127) / 128 * 128;
    return 0;
}

static void take_vocabulary(struct launch_context *t, const struct python *p,
                            const struct value *flat, int64_t line)
{
    static const char at[] = "/model/vocab_size";
    const struct value_item *it = value_get(flat, "model.vocab_size");
    const char *name;
    int64_t n = 0, of = padded(p, &name);
    it = it ? it : value_get(flat, "model.0");
    launch_hear(t, it);
    if (it && launch_whole(it->value, &n) && n > 0) {
        launch_set(t, at, json_integer((json_int_t)n), it);
        return;
    }
    bool pads = !it || (it->value->why && (strstr(it->value->why, "vocab_size") ||
                                           strstr(it->value->why, "tokenizer")));
    if (pads && of)
        launch_set(
            t, at, json_integer((json_int_t)of),
            it ? it
               : &(struct value_item) { "vocab_size", line,
                                        value_new(t->arena, VALUE_NONE, line, 0) });
    else if (it)
        launch_unresolved_item(t, at, it, "whole number of at least 1");
}

/* What is given beyond the name's own sizes; false: it cannot be. */
static bool change(struct launch_context *t, const struct value *flat, bool made)
{
    for (int32_t i = 0; i < flat->n; i++) {
        const struct value_item *it = &flat->items[i];
        const char *key = it->key + 6, *size;
        int64_t n;
        if (strncmp(it->key, "model.", 6) != 0 || is_idle(key) ||
            (made && (olmocore_is_of_made(key) || argument_of(key))))
            continue;
        size = argument_of(key);
        launch_hear(t, it);
        if (size && it->value->kind == VALUE_NONE)
            continue;
        if (size && launch_whole(it->value, &n) && n > 0) {
            launch_set(t, launch_pointer(t, "/model", size),
                       json_integer((json_int_t)n), it);
            continue;
        }
        json_object_del(t->tree, "model");
        launch_forget(t, "/model");
        launch_add_unresolved(t, "/model", it->line,
                              "%.60s changes the model in a way that is not read; its "
                              "config.json would do",
                              key);
        return false;
    }
    return true;
}

void olmocore_take_model(struct launch_context *t, const struct python *p,
                         const struct value *flat)
{
    const struct python_call *c = olmocore_model_call(p);
    if (!c) {
        launch_add_unresolved(t, "/model", t->l->line,
                              "the script calls none of TransformerConfig's models");
        return;
    }
    const char *name = python_last_part(c->function);
    struct cfg known = launch_flavor(t, "olmocore", name);
    struct value v = { .kind = VALUE_STRING, .line = c->line, .text = name };
    const struct value_item from = {
        arena_printf(t->arena, "TransformerConfig.%.60s", name), c->line, &v
    };
    json_t *own = olmocore_model_made(t, flat, name, c->line);
    json_t *sizes_of = own ? own : known.json;
    if (launch_is_unresolved(t, "/model"))
        return;
    if (!json_is_object(sizes_of)) {
        launch_add_unresolved(
            t, "/model", c->line,
            "TransformerConfig.%.60s() is no model that is known; its "
            "config.json would do",
            name);
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach(sizes_of, key, value) if (own || !is_changed(flat, key))
        launch_set(t, launch_pointer(t, "/model", key), json_deep_copy(value), &from);
    if (change(t, flat, own != NULL))
        take_vocabulary(t, p, flat, c->line);
    json_decref(own);
}
