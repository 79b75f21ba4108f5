/* What recipes of NeMo 2 and Megatron-Bridge set: models/launch/nemo2.json and
 * models/launch/bridge.json. */
#include "config/datadir.h"
#include "dialect/nemo/nemo.h"
#include "model/hub.h"

#include <inttypes.h>
#include <string.h>

static struct cfg data(struct launch_context *t, const char *file, const char *table,
                       const char *name)
{
    struct cfg all =
        datadir_load(t->l->loader, "models/launch", file, (struct cfg) { 0 });
    return cfg_get(cfg_get(all, table), name);
}

struct cfg nemo_class(struct launch_context *t, const char *name)
{
    return data(t, "nemo2", "classes", name);
}

/* Values ---------------------------------------------------------------------------- */

static struct value *value_from(struct arena *arena, const json_t *v, int64_t line)
{
    struct value *made = value_new(arena, VALUE_NONE, line, 0);
    if (json_is_string(v)) {
        made->kind = VALUE_STRING;
        made->text = arena_strdup(arena, json_string_value(v));
    } else if (json_is_boolean(v)) {
        made->kind = VALUE_BOOL;
        made->integer = json_is_true(v);
    } else if (json_is_integer(v)) {
        made->kind = VALUE_INT;
        made->integer = (int64_t)json_integer_value(v);
    } else if (json_is_real(v)) {
        made->kind = VALUE_REAL;
        made->real = json_real_value(v);
    } else if (json_is_array(v)) {
        made->kind = VALUE_LIST;
        for (size_t i = 0; i < json_array_size(v); i++)
            value_add(arena, made, NULL, line,
                      value_from(arena, json_array_get(v, i), line));
    }
    return made;
}

static bool is_within(const char *path, const char *place, size_t n)
{
    return strncmp(path, place, n) == 0 && (!path[n] || path[n] == '.');
}

/* Takes out what is at a place and within it. */
static void clear(struct value *flat, const char *place, size_t n)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < flat->n; i++)
        if (!is_within(flat->items[i].key, place, n))
            flat->items[kept++] = flat->items[i];
    flat->n = kept;
}

/* "model.*.name": each key so called of what is inside. */
static bool overlay_all(struct value *flat, const struct value_item *over)
{
    const char *star = strstr(over->key, "*.");
    if (!star)
        return false;
    size_t before = (size_t)(star - over->key);
    for (int32_t i = 0; i < flat->n; i++) {
        struct value_item *it = &flat->items[i];
        if (strncmp(it->key, over->key, before) == 0 &&
            strcmp(python_last_part(it->key), star + 2) == 0)
            *it = (struct value_item) { it->key, over->line, over->value };
    }
    return true;
}

/* Keys by the names that the facts have: GPTDatasetConfig has two for its length, and a
 * word for a precision is its class. */
static const char *key_of(const struct value_item *it)
{
    if (strcmp(it->key, "dataset.sequence_length") == 0)
        return "dataset.seq_length";
    return strcmp(it->key, "mixed_precision") == 0 && it->value->kind == VALUE_STRING
               ? "mixed_precision.@"
               : it->key;
}

void nemo_overlay(struct arena *arena, struct value *flat, const struct value *over)
{
    for (int32_t i = 0; i < over->n; i++) {
        const struct value_item *it = &over->items[i];
        if (overlay_all(flat, it))
            continue;
        const char *key = key_of(it);
        size_t n = strlen(key);
        bool object = n > 2 && strcmp(key + n - 2, ".@") == 0;
        clear(flat, key, object ? n - 2 : n);
        value_add(arena, flat, key, it->line, it->value);
    }
}

static void overlay_facts(struct launch_context *t, struct value *flat,
                          struct cfg facts, int64_t line)
{
    for (void *it = cfg_first(facts); it; it = cfg_next(facts, it)) {
        const char *key = arena_strdup(t->arena, cfg_key(it));
        struct value *v = value_from(t->arena, cfg_member(facts, it).json, line);
        clear(flat, key, strlen(key));
        if (v->kind != VALUE_NONE)
            value_add(t->arena, flat, key, line, v);
    }
}

/* Recipes --------------------------------------------------------------------------- */

static bool is_refused(struct launch_context *t, struct cfg recipe,
                       const struct nemo_call *call)
{
    const char *why = NULL;
    struct cfg refused = cfg_get(recipe, "refused");
    if (!refused.json || cfg_string(refused, &why))
        return false;
    diags_add(&t->l->loader->diags,
              launch_diag(t->l, DIAG_NOT_SIMULATED, call->line, 0),
              "%.80s: %s is not simulated", call->recipe, why);
    return true;
}

/* NeMo 2's: what is common, the recipe's own, and what its arguments change. */
static struct value *facts_of_nemo(struct launch_context *t, struct cfg recipe,
                                   const struct nemo_call *call)
{
    const char *packed = call->packed && !call->performance ? ",packed" : "";
    const char *which = arena_printf(t->arena, "%s%s%s%s", call->kind,
                                     call->performance ? ",performance" : packed, "",
                                     call->full ? ",full" : "");
    struct value *flat = value_new(t->arena, VALUE_DICT, call->line, 0);
    struct cfg base = cfg_get(recipe, call->kind), of = cfg_get(recipe, "class");
    const char *class = NULL;
    if (!base.json) {
        launch_add_unresolved(t, "/model", call->line, "%.60s has no recipe for %s",
                              call->recipe, call->kind);
        return NULL;
    }
    overlay_facts(t, flat, data(t, "nemo2", "common", call->kind), call->line);
    overlay_facts(t, flat, base, call->line);
    if (strcmp(which, call->kind) != 0)
        overlay_facts(t, flat, cfg_get(recipe, which), call->line);
    if (of.json && cfg_string(of, &class) == 0)
        value_add(t->arena, flat, "model.config.@", call->line,
                  value_new_string(t->arena, class, call->line, 0));
    launch_note(t->l, call->line, DIAG_ASSUMED,
                "%.60s: what the recipe sets is that of NeMo 2.5.0rc0 (2025-09), where "
                "this file changes nothing",
                call->recipe);
    return flat;
}

static struct value *facts_of_bridge(struct launch_context *t, struct cfg recipe,
                                     const struct nemo_call *call)
{
    struct value *flat = value_new(t->arena, VALUE_DICT, call->line, 0);
    const char *kind = strstr(call->recipe, "_peft")  ? "peft"
                       : strstr(call->recipe, "_sft") ? "sft"
                                                      : "pretrain";
    overlay_facts(t, flat, data(t, "bridge", "common", kind), call->line);
    overlay_facts(t, flat, recipe, call->line);
    launch_note(t->l, call->line, DIAG_ASSUMED,
                "%.80s: what the recipe sets is that of Megatron-Bridge of 2026-08, "
                "where this file changes nothing",
                call->recipe);
    return flat;
}

/* Whether two ids are of models of the same sizes: a base and what was tuned of it. */
static bool is_same_model(struct launch_context *t, const char *a, const char *b)
{
    struct hub_id of[2];
    if (!hub_find(&of[0], t->l->loader, a) || !hub_find(&of[1], t->l->loader, b))
        return false;
    struct cfg x = hub_load(t->l->loader, of[0].name, (struct cfg) { 0 }),
               y = hub_load(t->l->loader, of[1].name, (struct cfg) { 0 });
    return x.json && y.json && json_equal(x.json, y.json);
}

/* Of the recipes that tune it the one of the shortest name: others are of a GPU or a
 * length. */
const char *nemo_recipe_of(struct launch_context *t, const char *model,
                           const char *kind)
{
    struct cfg all = cfg_get(
        datadir_load(t->l->loader, "models/launch", "bridge", (struct cfg) { 0 }),
        "recipes");
    const char *ending = arena_printf(t->arena, "_%s_config", kind), *best = NULL;
    size_t n = strlen(ending);
    for (void *it = cfg_first(all); it; it = cfg_next(all, it)) {
        const char *name = cfg_key(it), *id = NULL;
        struct cfg of = cfg_get(cfg_member(all, it), "model.@");
        size_t length = strlen(name);
        if (length > n && strcmp(name + length - n, ending) == 0 && of.json &&
            (!best || length < strlen(best)) && cfg_string(of, &id) == 0 &&
            is_same_model(t, id, model))
            best = name;
    }
    return best;
}

const char *nemo_recipe_now(struct launch_context *t, const char *name, bool adapters,
                            int64_t line)
{
    static const char before[] = "_finetune_config";
    size_t n = strlen(name), of = strlen(before);
    if (data(t, "bridge", "recipes", name).json || n < of ||
        strcmp(name + n - of, before) != 0)
        return name;
    const char *now = arena_printf(t->arena, "%.*s_%s_config", (int)(n - of), name,
                                   adapters ? "peft" : "sft");
    if (!data(t, "bridge", "recipes", now).json)
        return name;
    launch_note(t->l, line, DIAG_ASSUMED, "%.80s is taken to be what is %.80s now",
                name, now);
    return now;
}

bool nemo_recipe_known(struct launch_context *t, const struct nemo_call *call)
{
    return data(t, call->kind ? "nemo2" : "bridge", "recipes", call->recipe).json;
}

/* A length that the recipe is called with is that of its sequences, packed ones too. */
static struct value *with_length(struct value *flat, const struct nemo_call *call)
{
    static const char *const of[] = { "seq_length", "packed_sequence_size" };
    for (int32_t i = 0; flat && call->length && i < flat->n; i++)
        for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++)
            if (strcmp(python_last_part(flat->items[i].key), of[k]) == 0)
                flat->items[i].value = call->length->value;
    return flat;
}

void nemo_take_data_module(struct launch_context *t, struct value *flat)
{
    const struct value_item *it = value_get(flat, "data.@");
    const char *class = it ? it->value->text : "";
    struct cfg all = data(t, "nemo2", "data_modules", python_last_part(class));
    if (!it)
        return;
    if (!all.json || strstr(class, ".t5.")) { /* of somebody's own */
        value_remove(flat, (int32_t)(it - flat->items));
        return;
    }
    int64_t line = it->line;
    for (void *one = cfg_first(all); one; one = cfg_next(all, one)) {
        const char *key = arena_printf(t->arena, "data.%s", cfg_key(one));
        if (!value_get(flat, key))
            value_add(t->arena, flat, key, line,
                      value_from(t->arena, cfg_member(all, one).json, line));
    }
}

struct value *nemo_recipe_facts(struct launch_context *t, const struct nemo_call *call)
{
    struct cfg recipe =
        data(t, call->kind ? "nemo2" : "bridge", "recipes", call->recipe);
    if (!recipe.json) {
        launch_add_unresolved(t, "/model", call->line,
                              "%.80s is no recipe that is known: its degrees and "
                              "batches are not either",
                              call->recipe);
        return nemo_unknown_recipe(t, call);
    }
    if (is_refused(t, recipe, call))
        return NULL;
    return with_length(call->kind ? facts_of_nemo(t, recipe, call)
                                  : facts_of_bridge(t, recipe, call),
                       call);
}
