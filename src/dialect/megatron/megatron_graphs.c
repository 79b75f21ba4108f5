/* CUDA graphs of Megatron-Core: who captures, and what (megatron/core/transformer/
 * transformer_config.py and cuda_graph_config.py, core_v0.19.0). */
#include "dialect/megatron/megatron.h"

#include "model/graphs.h"

#include <string.h>

static const char at[] = "/training/cuda_graphs";

static bool is_word(const struct value *v, const char *word)
{
    return v->kind == VALUE_STRING && strcmp(v->text, word) == 0;
}

/* "attn", or CudaGraphScope.attn; "full" is the whole layer. */
static void add_scope(struct launch_context *t, json_t *list,
                      const struct value_item *it, const struct value *v)
{
    const char *dot = v->text ? strrchr(v->text, '.') : NULL,
               *word = dot ? dot + 1 : v->text;
    int32_t known = 0;
    if (!word) {
        launch_unresolved_item(t, at, it, "list of modules");
        return;
    }
    if (strcmp(word, "full") == 0 || !*word)
        return;
    while (op_graph_names[known].name && strcmp(op_graph_names[known].name, word) != 0)
        known++;
    if (op_graph_names[known].name)
        json_array_append_new(list, json_string(word));
    else
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: graphs of %.40s are not simulated", it->key, word);
}

void megatron_take_graphs(struct launch_context *t, const struct megatron_graphs *o)
{
    const struct value_item *impl = o->impl && launch_is_off(o->impl->value) ? NULL
                                                                             : o->impl,
                            *own = o->own && launch_true(o->own->value) ? o->own : NULL,
                            *engine = o->engine && launch_true(o->engine->value)
                                          ? o->engine
                                          : NULL,
                            *it = impl  ? impl
                                  : own ? own
                                        : engine;
    json_t *list = json_array();
    launch_hear(t, o->impl);
    launch_hear(t, o->own);
    launch_hear(t, o->engine);
    launch_hear(t, o->scope);
    if (o->scope && o->scope->value->kind == VALUE_LIST)
        for (int32_t i = 0; i < o->scope->value->n; i++)
            add_scope(t, list, o->scope, o->scope->value->items[i].value);
    else if (o->scope && !launch_is_off(o->scope->value))
        add_scope(t, list, o->scope, o->scope->value);
    const char *first = json_string_value(json_array_get(list, 0));
    bool all = (impl && is_word(impl->value, "full_iteration")) ||
               (first && strcmp(first, "full_iteration") == 0);
    if (it && it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, at, it, "implementation");
    else if (it && all)
        launch_decide(t, at, json_string("full_iteration"), it, "");
    else if (it && json_array_size(list) > 0)
        launch_decide(t, at, json_incref(list), o->scope, "");
    else if (it)
        launch_decide(t, at, json_string("layer"), it, "");
    else if (o->scope && json_array_size(list) > 0)
        launch_note(t->l, o->scope->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as nothing captures (cuda_graph_impl)",
                    o->scope->key);
    json_decref(list);
}
