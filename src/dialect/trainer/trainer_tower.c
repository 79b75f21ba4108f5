/* What only the model decides, which --set may give: whether it has a vision tower that is
 * frozen, by a switch or unless one says otherwise. */
#include "base/strbuf.h"
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "model/model.h"

#include <string.h>

/* Of a part that a switch freezes unless it is false. */
static const char *by_default(struct launch_context *t, const struct value *dict,
                              const char *key)
{
    const struct value_item *it = value_get(dict, key);
    if (it)
        launch_hear(t, it);
    if (it && launch_true(it->value))
        t->l->frozen_line = it->line;
    return !it || launch_true(it->value) ? key : NULL;
}

void trainer_frozen_parts(struct launch_context *t, const struct value *dict,
                          const char *tower, const char *projector)
{
    t->l->tower = by_default(t, dict, tower);
    t->l->projector = by_default(t, dict, projector);
}

void trainer_free_part(struct launch_context *t, bool projector, const char *key)
{
    if (!t->l->freed[projector])
        t->l->freed[projector] = key;
}

void trainer_take_frozen(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    bool frees =
        strncmp(row->name, "tune", 4) == 0 || strncmp(row->name, "unfreeze", 8) == 0;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(t, it, "Boolean");
    if (it->value->kind == VALUE_UNKNOWN)
        return;
    if (launch_true(it->value) == frees) {
        bool tower = strcmp(row->value, "vision_tower") == 0;
        if (strcmp(row->value, "language_model") != 0)
            trainer_free_part(t, !tower, it->key);
        launch_hear(t, tower ? it : NULL);
        return;
    }
    launch_hear(t, it);
    t->l->frozen_line = it->line;
    if (strcmp(row->value, "projector") == 0)
        t->l->projector = it->key;
    else if (strcmp(row->value, "language_model") == 0)
        t->l->language = it->key;
    else
        t->l->tower = it->key;
}

void trainer_take_only(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    (void)row;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(t, it, "Boolean");
    else if (launch_true(it->value)) {
        launch_hear(t, it);
        t->l->frozen_line = it->line;
        t->l->tower = t->l->language = it->key;
    }
}

/* LLaVA-NeXT's llava/train/train.py: what is not named is frozen. */
void trainer_take_tunable(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    const char *list = it->value->kind == VALUE_STRING ? it->value->text : NULL;
    (void)row;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(t, it, "list of parts");
    if (!list)
        return;
    launch_hear(t, it);
    t->l->frozen_line = it->line;
    t->l->tower = strstr(list, "mm_vision_tower") ? NULL : it->key;
    t->l->projector = strstr(list, "mm_mlp_adapter") ? NULL : it->key;
    t->l->language = strstr(list, "mm_language_model") ? NULL : it->key;
}

/* The scenario's model; whether it can be read. */
bool trainer_peek(struct cfg root, struct model *m, struct cfg_loader *loader)
{
    json_t *model = json_object_get(root.json, "model");
    cfg_loader_init(loader);
    struct cfg at = cfg_get(
        cfg_from_tree(loader, "model", json_pack("{s:O}", "model", model)), "model");
    return model && model_read(m, loader, at) == 0;
}

static bool has_tower(struct cfg root)
{
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    bool has = trainer_peek(root, &m, &loader) && m.tower;
    cfg_loader_release(&loader);
    return has;
}

/* A part of the tower that is trained whole next to adapters. */
static void train_part(struct launch *l, struct cfg root, const char *key,
                       const char *part)
{
    static const char at[] = "/training/lora/trained";
    struct err err = { 0 };
    json_t *list = pointer_get(root.json, at);
    list = json_is_array(list) ? json_copy(list) : json_array();
    json_array_append_new(list, json_string(part));
    pointer_set(root.json, at, list, &err);
    launch_note(l, l->line, DIAG_ASSUMED, "%s: trained whole next to adapters: %s", key,
                part);
}

/* What programs train next to adapters, which freeze all but themselves. */
static void settle_freed(struct launch *l, struct cfg root)
{
    static const char *const parts[] = { "vision_tower", "projector" };
    bool any = l->freed[0] || l->freed[1];
    if (!any || !launch_is_set(root, "/model") || !has_tower(root))
        return;
    for (int i = 0; i < 2; i++)
        if (l->freed[i] && !l->adapts_tower &&
            !pointer_get(root.json, "/training/frozen"))
            train_part(l, root, l->freed[i], parts[i]);
    if (l->freed[0] && l->adapts_tower)
        launch_note(
            l, l->line, DIAG_NOT_SIMULATED,
            "%s: adapters in the vision tower are not simulated: it is taken to "
            "be frozen",
            l->freed[0]);
    l->freed[0] = l->freed[1] = NULL; /* once */
}

void trainer_settle_tower(struct launch *l, struct cfg root)
{
    static const char frozen_at[] = "/training/frozen";
    const char *keys[] = { l->tower, l->projector, l->language };
    static const char *const parts[] = { "vision_tower", "projector",
                                         "language_model" };
    struct err err = { 0 };
    int64_t line = l->frozen_line ? l->frozen_line : l->line;
    if (launch_is_set(root, "/training/lora"))
        settle_freed(l, root);
    if ((!l->tower && !l->projector && !l->language) ||
        !launch_is_set(root, "/model") || pointer_get(root.json, "/training/lora") ||
        pointer_get(root.json, frozen_at))
        return;
    bool has = has_tower(root);
    json_t *list = json_array();
    struct strbuf names, what;
    strbuf_init(&names);
    strbuf_init(&what);
    for (int i = 0; i < 3; i++) {
        if (!keys[i])
            continue;
        json_array_append_new(list, json_string(parts[i]));
        strbuf_printf(&what, "%s%s", what.len ? ", " : "", parts[i]);
        if (!strstr(strbuf_get(&names), keys[i]))
            strbuf_printf(&names, "%s%s", names.len ? ", " : "", keys[i]);
    }
    if (has) {
        pointer_set(root.json, frozen_at, list, &err);
        launch_note(l, line, DIAG_ASSUMED, "%s%s: not trained: %s", strbuf_get(&names),
                    l->frozen_line ? "" : " by default", strbuf_get(&what));
    } else {
        json_decref(list);
        if (l->language) {
            diags_add(&l->loader->diags, launch_diag(l, DIAG_NOT_SIMULATED, line, 0),
                      "%s: the language model is frozen, and the model has no vision "
                      "tower before it that is trained",
                      l->language);
            l->tower = l->projector = l->language = NULL; /* once */
        } else if (l->frozen_line)
            launch_note(l, line, DIAG_WITHOUT_EFFECT,
                        "%s: without effect here: the model has no vision tower",
                        strbuf_get(&names));
    }
    strbuf_release(&names);
    strbuf_release(&what);
}
