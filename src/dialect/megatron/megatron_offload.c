/* What modules of layers save, on the host (megatron/core/transformer/
 * transformer_config.py, core_v0.19.0: fine_grained_activation_offloading). */
#include "dialect/megatron/megatron.h"

#include "base/strbuf.h"
#include "model/saved.h"
#include "scenario/scenario.h"

#include <string.h>

static const char at[] = "/parallelism/offload_modules";

static void add_module(struct launch_context *t, json_t *list,
                       const struct value_item *it, const struct value *v)
{
    int32_t known = 0;
    while (v->text && op_saver_names[known].name &&
           strcmp(op_saver_names[known].name, v->text) != 0)
        known++;
    if (!v->text)
        launch_unresolved_item(t, at, it, "list of modules");
    else if (!op_saver_names[known].name)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: %.40s is not simulated, and stays on the GPU", it->key,
                    v->text);
    else
        json_array_append_new(list, json_string(v->text));
}

void megatron_take_offload(struct launch_context *t, const struct value_item *on,
                           const struct value_item *modules)
{
    json_t *list = json_array();
    launch_hear(t, on);
    launch_hear(t, modules);
    if (!on || launch_is_off(on->value)) {
        if (modules && !launch_is_off(modules->value))
            launch_note(t->l, modules->line, DIAG_WITHOUT_EFFECT,
                        "%s: without effect, as fine-grained activation offloading is "
                        "not there",
                        modules->key);
        json_decref(list);
        return;
    }
    if (modules && modules->value->kind == VALUE_LIST)
        for (int32_t i = 0; i < modules->value->n; i++)
            add_module(t, list, modules, modules->value->items[i].value);
    else if (modules && modules->value->kind != VALUE_NONE)
        add_module(t, list, modules, modules->value);
    else
        launch_wrong_option(t, on, DIAG_MISSING,
                            "no module is named (write --offload-modules core_attn)");
    if (json_array_size(list) > 0)
        launch_decide(t, at, json_incref(list), modules, "");
    json_decref(list);
}

/* Weights leave with them until Transformer Engine 2.9 (pytorch/cpu_offload_v1.py). */
void megatron_take_offloaded_layers(struct launch_context *t,
                                    const struct megatron_offload *given)
{
    static const struct dialect_option row =
        ROW("cpu_offloading_num_layers", "/parallelism/offload_layers",
            .kind = DIALECT_POSITIVE);
    bool keeps = given->activations && !launch_true(given->activations->value);
    if (!given->on || !launch_true(given->on->value) || !given->layers)
        return;
    launch_hear(t, given->on);
    launch_hear(t, given->layers);
    launch_hear(t, given->activations);
    launch_hear(t, given->weights);
    if (given->weights && launch_true(given->weights->value))
        launch_note(t->l, given->weights->line, DIAG_NOT_SIMULATED,
                    "%s: is not simulated, as Transformer Engine from 2.10 on leaves "
                    "weights on the GPU",
                    given->weights->key);
    if (keeps)
        launch_note(t->l, given->activations->line, DIAG_NOT_SIMULATED,
                    "%s: is not simulated; activations stay on the GPU",
                    given->activations->key);
    else
        dialect_take(t, &row, given->layers);
}

json_t *megatron_give_offload(const struct scenario *s)
{
    return s->parallel.offload_modules ? json_true() : NULL;
}

/* "core_attn expert_fc1". */
json_t *megatron_give_offloaded(const struct scenario *s)
{
    struct strbuf b;
    if (!s->parallel.offload_modules)
        return NULL;
    strbuf_init(&b);
    for (int m = 0; m < OP_SAVERS; m++)
        if (s->parallel.offload_modules >> m & 1)
            strbuf_printf(&b, "%s%s", b.len ? " " : "", names_of(op_saver_names, m));
    json_t *text = json_string(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}
