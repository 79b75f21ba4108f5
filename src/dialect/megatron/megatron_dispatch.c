/* Who moves experts' tokens: --moe-token-dispatcher-type (allgather is Megatron-Core's
 * default: megatron/training/arguments.py), the backend of "flex", and overlaps. */
#include "dialect/megatron/megatron.h"

#include "config/pointer.h"
#include "dialect/option.h"
#include "model/model.h"

#include <string.h>

#define WIDE "/parallelism/"

static const char *word_of(const struct value_item *it)
{
    return it && it->value->kind == VALUE_STRING ? it->value->text : "";
}

static bool is_on(const struct value_item *it)
{
    return it && !launch_is_off(it->value);
}

/* The backend of "flex": DeepEP unless another is named. */
static const char *flexible(const struct megatron_dispatch *o)
{
    const char *word = word_of(o->backend);
    return !*word || strcmp(word, "deepep") == 0 ? "deepep"
           : strcmp(word, "hybridep") == 0       ? "hybridep"
                                                 : NULL;
}

static const char *dispatcher_of(const struct megatron_dispatch *o,
                                 const struct value_item **from)
{
    const char *type = word_of(o->type);
    *from = o->type;
    if (strcmp(type, "flex") == 0) {
        *from = o->backend ? o->backend : o->type;
        return flexible(o);
    }
    if (strncmp(type, "alltoall", strlen("alltoall")) == 0)
        return "alltoall";
    return strcmp(type, "allgather") == 0 ? "allgather" : NULL;
}

static void take_overlap(struct launch_context *t, const struct megatron_dispatch *o)
{
    if (is_on(o->shared))
        launch_decide(t, WIDE "expert_overlap", json_string("shared-expert"), o->shared,
                      "");
    if (is_on(o->pairs))
        launch_decide(t, WIDE "expert_overlap", json_string("microbatches"), o->pairs,
                      "");
}

void megatron_take_dispatch(struct launch_context *t, const struct megatron_dispatch *o)
{
    const struct value_item *from;
    const char *word = dispatcher_of(o, &from);
    int64_t n;
    if (!launch_has(t, WIDE "expert"))
        return; /* they are named as without effect */
    if (o->type && word) {
        launch_hear(t, o->type);
        launch_decide(t, WIDE "expert_dispatcher", json_string(word), from, "");
    } else if (o->type)
        launch_unresolved_item(t, WIDE "expert_dispatcher", from,
                               "dispatcher that is simulated");
    else if (o->line > 0) {
        struct value v = { .line = o->line };
        const struct value_item by = { "moe-token-dispatcher-type's default", v.line,
                                       &v };
        launch_set(t, WIDE "expert_dispatcher", json_string("allgather"), &by);
    }
    bool kernels =
        word && (strcmp(word, "deepep") == 0 || strcmp(word, "hybridep") == 0);
    if (kernels)
        launch_hear(t, o->enable);
    if (kernels && o->sms && launch_whole(o->sms->value, &n) && n > 0)
        launch_decide(t, WIDE "expert_dispatch_sms", json_integer((json_int_t)n),
                      o->sms, "");
    take_overlap(t, o);
}

/* core/transformer/moe/moe_layer.py (core_v0.19.0): without shared experts there is nothing
 * to overlap, and the switch is passed over. */
void megatron_settle_overlap(struct launch *l, struct cfg root)
{
    static const char at[] = WIDE "expert_overlap";
    const char *word = json_string_value(pointer_get(root.json, at));
    json_t *given = json_object_get(root.json, "model");
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    if (!word || strcmp(word, "shared-expert") != 0 || !given)
        return;
    cfg_loader_init(&loader);
    struct cfg model = cfg_get(
        cfg_from_tree(&loader, "model", json_pack("{s:O}", "model", given)), "model");
    if (model_read(&m, &loader, model) == 0 && m.mlp.shared_width == 0) {
        json_object_del(json_object_get(root.json, "parallelism"), "expert_overlap");
        launch_note(
            l, l->line, DIAG_WITHOUT_EFFECT,
            "moe-shared-expert-overlap: without effect, as no expert is shared");
    }
    cfg_loader_release(&loader);
}
