/* What only the model decides, which --set may give: whether it has a vision tower, that
 * is frozen, by a switch or unless one says otherwise, and whether sources and targets are one sequence. */
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

void trainer_take_frozen(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    bool frees =
        strncmp(row->name, "tune", 4) == 0 || strncmp(row->name, "unfreeze", 8) == 0;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(t, it, "Boolean");
    if (it->value->kind == VALUE_UNKNOWN || launch_true(it->value) == frees)
        return;
    t->l->frozen_line = it->line;
    if (strcmp(row->value, "projector") == 0)
        t->l->projector = it->key;
    else
        t->l->tower = it->key;
}

/* The scenario's model; whether it can be read. */
static bool peek(struct cfg root, struct model *m, struct cfg_loader *loader)
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
    bool has = peek(root, &m, &loader) && m.tower;
    cfg_loader_release(&loader);
    return has;
}

void trainer_settle_tower(struct launch *l, struct cfg root)
{
    static const char frozen_at[] = "/training/frozen";
    struct err err = { 0 };
    const char *both = l->tower && l->projector ? ", " : "",
               *tower = l->tower ? l->tower : "",
               *projector = l->projector ? l->projector : "";
    int64_t line = l->frozen_line ? l->frozen_line : l->line;
    if ((!l->tower && !l->projector) || pointer_get(root.json, "/training/lora") ||
        pointer_get(root.json, frozen_at))
        return;
    if (!has_tower(root)) {
        if (l->frozen_line)
            launch_note(l, line, DIAG_WITHOUT_EFFECT,
                        "%s%s%s: without effect here: the model has no vision tower",
                        tower, both, projector);
        return;
    }
    json_t *list = json_array();
    if (l->tower)
        json_array_append_new(list, json_string("vision_tower"));
    if (l->projector)
        json_array_append_new(list, json_string("projector"));
    pointer_set(root.json, frozen_at, list, &err);
    launch_note(l, line, DIAG_ASSUMED, "%s%s%s%s: the %s not trained", tower, both,
                projector, l->frozen_line ? "" : " by default",
                !l->projector ? "vision tower is"
                : l->tower    ? "vision tower and the projector are"
                              : "projector is");
}

void trainer_settle_lengths(struct launch *l, struct cfg root)
{
    static const char decoder_at[] = "/training/decoder_length";
    json_t *training = json_object_get(root.json, "training");
    json_t *source = json_object_get(training, "sequence_length"),
           *target = json_object_get(training, "decoder_length");
    const struct launch_resolved *from = NULL;
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, decoder_at) == 0)
            from = &l->resolved.v[i];
    if (!json_is_integer(source) || !json_is_integer(target) || !from ||
        from->replaced || !launch_same_word(from->from, "max_target_length"))
        return;
    json_int_t a = json_integer_value(source), b = json_integer_value(target);
    bool one = peek(root, &m, &loader) && m.arch != MODEL_ENCODER_DECODER;
    cfg_loader_release(&loader);
    if (!one)
        return;
    json_object_set_new(training, "sequence_length", json_integer(a + b));
    json_object_del(training, "decoder_length");
    launch_note(
        l, from->line, DIAG_ASSUMED,
        "the model has no decoder after an encoder: each sequence is taken to be "
        "of max_source_length %lld and max_target_length %lld (give --set "
        "/training/sequence_length=N for another)",
        (long long)a, (long long)b);
}
