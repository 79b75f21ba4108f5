/* Files of Megatron-Bridge without the program that reads them: changes of a recipe
 * (--config-file of scripts/training), and run_config.yaml, which it saves next to a
 * checkpoint (megatron/bridge/training/utils/omegaconf_utils.py, config_container.py). */
#include "dialect/nemo/nemo.h"

#include "base/names.h"

#include <string.h>

/* Changes of a recipe --------------------------------------------------------------- */

/* Where nobody names the recipe, that of the checkpoint that is tuned. */
static const char *recipe_of_checkpoint(struct launch_context *t,
                                        const struct value *root)
{
    const struct value_item *checkpoint = value_get(root, "checkpoint"),
                            *peft = value_get(root, "peft"),
                            *path = checkpoint ? value_get(checkpoint->value,
                                                           "pretrained_checkpoint")
                                               : NULL;
    if (!path || path->value->kind != VALUE_STRING)
        return NULL;
    const char *name = nemo_recipe_of(
        t, path->value->text, peft && peft->value->kind != VALUE_NONE ? "peft" : "sft");
    if (name)
        launch_note(t->l, path->line, DIAG_ASSUMED,
                    "checkpoint.pretrained_checkpoint: the keys are taken to change "
                    "%.80s (--estimator NAME takes another recipe)",
                    name);
    return name;
}

static const char *target_of(const struct value *v)
{
    const struct value_item *it =
        v->kind == VALUE_DICT ? value_get(v, "_target_") : NULL;
    const char *text = it && it->value->kind == VALUE_STRING ? it->value->text : NULL;
    const char *dot = text ? strrchr(text, '.') : NULL;
    return dot ? dot + 1 : text;
}

bool nemo_names_recipe(const struct value *root)
{
    const struct value_item *recipe = value_get(root, "recipe"),
                            *it = recipe && recipe->value->kind == VALUE_DICT
                                      ? value_get(recipe->value, "_target_")
                                      : NULL;
    return it && it->value->kind == VALUE_STRING &&
           strncmp(it->value->text, "megatron.bridge.recipes.", 24) == 0;
}

/* recipe._target_, the function that is called (NVIDIA-NeMo/Nemotron, recipes of nano3 and
 * super3). Until 2026 one function tuned with adapters and without; its argument said
 * which. */
static const char *recipe_of_target(struct launch_context *t, const struct value *root)
{
    static const char both[] = "_finetune_config";
    const struct value_item *recipe = value_get(root, "recipe"),
                            *peft = recipe ? value_get(recipe->value, "peft") : NULL;
    const char *name = nemo_names_recipe(root) ? target_of(recipe->value) : NULL;
    size_t n = name ? strlen(name) : 0, m = strlen(both);
    if (n <= m || strcmp(name + n - m, both) != 0)
        return name;
    return arena_printf(t->arena, "%.*s_%s_config", (int)(n - m), name,
                        !peft || peft->value->kind != VALUE_NONE ? "peft" : "sft");
}

/* What else the function is given; packed_sequence and its kind change lengths alone. */
static void note_arguments(struct launch_context *t, const struct value *root)
{
    static const char *const read[] = { "_target_", "peft", "packed_sequence", NULL };
    const struct value_item *recipe = value_get(root, "recipe");
    for (int32_t i = 0; nemo_names_recipe(root) && i < recipe->value->n; i++) {
        const struct value_item *it = &recipe->value->items[i];
        bool data = strstr(it->key, "path") || strstr(it->key, "dir");
        if (!names_listed(read, it->key) && !data)
            launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                        "recipe.%.60s: it is an argument of the recipe's function, "
                        "which is not read",
                        it->key);
    }
}

void nemo_read_override(struct launch_context *t, const struct value *root,
                        const char *name)
{
    const char *recipe = name ? name : recipe_of_target(t, root);
    recipe = recipe ? recipe : recipe_of_checkpoint(t, root);
    struct value *facts = NULL;
    t->l->named = NULL;
    if (!recipe) {
        diags_add(&t->l->loader->diags, launch_diag(t->l, DIAG_REQUIRES, root->line, 0),
                  "these keys change a recipe of Megatron-Bridge, which the file does "
                  "not name (give --estimator RECIPE, or the Python script or the "
                  "command that names it: run_recipe.py --recipe NAME)");
        return;
    }
    facts = nemo_recipe_facts(
        t, &(struct nemo_call) { .recipe = recipe, .line = root->line });
    if (!facts)
        return;
    nemo_overlay(t->arena, facts, launch_flatten(t->arena, root));
    note_arguments(t, root);
    core_read(t, facts, "changes of a recipe of Megatron-Bridge");
}

/* Saved configurations -------------------------------------------------------------- */

bool nemo_is_container(const struct value *root)
{
    const char *target = root && root->kind == VALUE_DICT ? target_of(root) : NULL;
    return target && strcmp(target, "ConfigContainer") == 0;
}

/* A function or a type is its name, an object its keys with its class under "@"; what is
 * made by a call (an enum's member, a partial function) is left out, as is none. NULL:
 * nothing. */
static struct value *plain(struct arena *arena, struct value *v)
{
    const char *target = v->kind == VALUE_DICT ? target_of(v) : NULL;
    const struct value_item *called =
        v->kind == VALUE_DICT ? value_get(v, "_call_") : NULL;
    if (v->kind == VALUE_NONE || (v->kind == VALUE_LIST && !v->n))
        return NULL;
    if (v->kind != VALUE_DICT)
        return v;
    if (target && called && !launch_true(called->value))
        return value_new_string(arena, target, v->line, 0);
    if (target && (called || value_get(v, "_args_") || launch_is_on(v, "_partial_")))
        return NULL;
    struct value *out = value_new(arena, VALUE_DICT, v->line, 0);
    if (target)
        value_add(arena, out, "@", v->line,
                  value_new_string(arena, target, v->line, 0));
    for (int32_t i = 0; i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        struct value *inner = it->key[0] == '_' ? NULL : plain(arena, it->value);
        if (inner)
            value_add(arena, out, it->key, it->line, inner);
    }
    return out;
}

/* A provider of a class that no table has gives all of its sizes, too. */
static void name_provider(struct launch_context *t, struct value *root)
{
    const struct value_item *model = value_get(root, "model"),
                            *class = model ? value_get(model->value, "@") : NULL;
    if (!class || nemo_class(t, class->value->text).json ||
        !value_get(model->value, "num_layers"))
        return;
    class->value->text = value_get(model->value, "hybrid_layer_pattern")
                             ? "HybridModelProvider"
                             : "GPTModelProvider";
}

struct value *nemo_plain_container(struct launch_context *t, const struct value *root)
{
    struct value *out = value_new(t->arena, VALUE_DICT, root->line, 0);
    for (int32_t i = 0; i < root->n; i++) {
        const struct value_item *it = &root->items[i];
        struct value *inner = it->key[0] == '_' ? NULL : plain(t->arena, it->value);
        if (inner)
            value_add(t->arena, out, it->key, it->line, inner);
    }
    name_provider(t, out);
    return launch_flatten(t->arena, out);
}
