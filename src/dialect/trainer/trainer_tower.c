/* What only the model decides, which --set may give: whether it has a vision tower, that
 * is frozen unless a switch says otherwise (full training is simulated as training of
 * all), and whether sources and targets are one sequence. */
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "model/model.h"

#include <string.h>

void trainer_tower_frozen(struct launch_context *t, const struct value *dict,
                          const char *key)
{
    if (!value_get(dict, key))
        t->l->tower = key;
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
    if (l->tower && !pointer_get(root.json, "/training/lora") && has_tower(root))
        launch_note(l, l->line, DIAG_NOT_SIMULATED,
                    "%s: its default freezes the vision tower, which is simulated as "
                    "trained",
                    l->tower);
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
