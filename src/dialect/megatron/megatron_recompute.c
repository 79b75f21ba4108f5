/* What Megatron computes again in backward: whole layers, or modules of each
 * (megatron/core/transformer/transformer_config.py, core_v0.19.0). */
#include "dialect/megatron/megatron.h"

#include "base/names.h"
#include "model/regions.h"

#include <string.h>

static const char at[] = "/training/activation_checkpointing";

static void recompute(struct launch_context *t, json_t *value,
                      const struct value_item *it)
{
    launch_decide(t, at, value, it, "");
}

static bool has_word(const struct value_item *it, const char *word)
{
    return it && it->value->kind == VALUE_STRING && strcmp(it->value->text, word) == 0;
}

/* Layers --------------------------------------------------------------------------- */

void megatron_recompute_layers(struct launch_context *t, const struct value_item *it,
                               const struct value_item *method,
                               const struct value_item *count)
{
    int64_t n = 1;
    launch_hear(t, method);
    launch_hear(t, count);
    if (count && (!launch_whole(count->value, &n) || n < 1)) {
        launch_unresolved_item(t, at, count, "number of layers");
        return;
    }
    if (method && method->value->kind == VALUE_STRING && !has_word(method, "block") &&
        !has_word(method, "uniform")) {
        launch_unresolved_item(t, at, method, "method (uniform, block)");
        return;
    }
    if (has_word(method, "block"))
        recompute(t, json_pack("{s:I}", "block", (json_int_t)n), count ? count : it);
    else if (n > 1)
        recompute(t, json_pack("{s:I}", "group", (json_int_t)n), count);
    else
        recompute(t, json_string("full"), it);
}

/* Modules -------------------------------------------------------------------------- */

static void add_module(struct launch_context *t, json_t *list,
                       const struct value_item *it, const struct value *v)
{
    int32_t known = 0;
    while (v->text && op_region_names[known].name &&
           strcmp(op_region_names[known].name, v->text) != 0)
        known++;
    if (!v->text)
        launch_unresolved_item(t, at, it, "list of modules");
    else if (!op_region_names[known].name)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: %.40s is not simulated, and is kept", it->key, v->text);
    else
        json_array_append_new(list, json_string(v->text));
}

void megatron_recompute_modules(struct launch_context *t, const struct value_item *it,
                                const struct value_item *modules)
{
    json_t *list = json_array();
    launch_hear(t, modules);
    if (modules && modules->value->kind == VALUE_LIST)
        for (int32_t i = 0; i < modules->value->n; i++)
            add_module(t, list, modules, modules->value->items[i].value);
    else if (modules && modules->value->kind != VALUE_NONE)
        add_module(t, list, modules, modules->value);
    size_t n = json_array_size(list);
    const char *one = json_string_value(json_array_get(list, 0));
    bool none = modules && n == 0 && modules->value->kind != VALUE_NONE;
    if (!modules || modules->value->kind == VALUE_NONE ||
        (n == 1 && strcmp(one, "core_attn") == 0))
        recompute(t, json_string("selective"), it);
    else if (!none)
        recompute(t, json_pack("{s:O}", "modules", list), modules);
    json_decref(list);
}

/* Both ----------------------------------------------------------------------------- */

void megatron_take_recompute(struct launch_context *t, const struct launch_command *c)
{
    static const char *const granularities[] = { "--recompute-granularity",
                                                 "--activations-checkpoint-granularity",
                                                 NULL },
                             *const whole[] = { "--checkpoint-activations",
                                                "--activations-checkpoint-method",
                                                NULL };
    static const char *const methods[] = { "--recompute-method",
                                           "--activations-checkpoint-method", NULL },
                             *const counts[] = { "--recompute-num-layers",
                                                 "--activations-checkpoint-num-layers",
                                                 "--checkpoint-num-layers", NULL };
    const struct value_item *some = launch_option(c, "--recompute-activations"),
                            *how = launch_any_option(c, granularities),
                            *all = launch_any_option(c, whole),
                            *modules = launch_option(c, "--recompute-modules");
    if (how && !has_word(how, "full") && !has_word(how, "selective"))
        launch_unresolved_item(t, at, how, "granularity (full, selective)");
    else if (some || has_word(how, "selective"))
        megatron_recompute_modules(t, some ? some : how, modules);
    else if (how || all)
        megatron_recompute_layers(t, how ? how : all, launch_any_option(c, methods),
                                  launch_any_option(c, counts));
}
