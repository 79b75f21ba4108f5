/* What is decided when all else of a job is known, by its model and its adapters. */
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "model/model.h"

#include <string.h>

/* Without a policy FSDP makes one unit of the model; adapters bring one of their own
 * (transformers/integrations/fsdp.py, update_fsdp_plugin_peft). */
static void settle_unwrapped(struct launch *l, struct cfg root)
{
    static const char at[] = "/parallelism/sharding/unit";
    const char *strategy =
        json_string_value(pointer_get(root.json, "/parallelism/sharding/strategy"));
    struct err err = { 0 };
    bool full =
        strategy && (!strcmp(strategy, "full") || !strcmp(strategy, "gradients"));
    if (l->unwrapped_line == 0 || l->wraps || !full ||
        launch_is_set(root, "/training/lora") || pointer_get(root.json, at))
        return;
    pointer_set(root.json, at, json_string("model"), &err);
    launch_note(l, l->unwrapped_line, DIAG_ASSUMED,
                "FSDP is given no policy of units (auto_wrap): it gathers the whole "
                "model at once");
}

/* FSDP2's profile, where nothing else is asked for. */
static void settle_second(struct launch *l, struct cfg root)
{
    static const char at[] = "/training/framework";
    struct err err = { 0 };
    json_t *library = pointer_get(root.json, "/parallelism/library");
    if (l->fsdp2_line == 0 || pointer_get(root.json, at) || !json_is_string(library) ||
        strcmp(json_string_value(library), "fsdp") != 0)
        return;
    pointer_set(root.json, at, json_string("fsdp2-eager"), &err);
    launch_note(l, l->fsdp2_line, DIAG_ASSUMED, "FSDP2 runs as fsdp2-eager");
}

/* The Trainer accumulates under accelerate's no_sync, which is FSDP's own (accelerator.py;
 * transformers/trainer.py). The job may have one micro-batch a step otherwise. */
static void settle_accumulation(struct launch *l, struct cfg root)
{
    static const char at[] = "/parallelism/sharding/no_sync",
                      steps_at[] = "/training/gradient_accumulation_steps";
    struct err err = { 0 };
    json_t *library = pointer_get(root.json, "/parallelism/library"),
           *steps = pointer_get(root.json, steps_at);
    const struct launch_resolved *from = NULL;
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, steps_at) == 0)
            from = &l->resolved.v[i];
    if (!l->accelerated || !json_is_string(library) ||
        strcmp(json_string_value(library), "fsdp") != 0 ||
        json_integer_value(steps) <= 1 || pointer_get(root.json, at) || !from)
        return;
    pointer_set(root.json, at, json_true(), &err);
    launch_note(l, from->line, DIAG_ASSUMED,
                "FSDP's gradients stay whole until the last accumulation step "
                "(accelerate's no_sync)");
}

/* What the Trainer's wrap policy for adapters makes units of (the profile's default) stays
 * in the units of layers under FSDP2, which accelerate's fsdp2_prepare_auto_wrap_policy
 * wraps alone. */
void trainer_settle_units(struct launch *l, struct cfg root)
{
    static const char at[] = "/parallelism/sharding/adapter_units";
    struct err err = { 0 };
    settle_unwrapped(l, root);
    settle_second(l, root);
    settle_accumulation(l, root);
    if (l->fsdp2_line == 0 || !launch_is_set(root, "/training/lora") ||
        pointer_get(root.json, at))
        return;
    pointer_set(root.json, at, json_false(), &err);
    launch_note(l, l->fsdp2_line, DIAG_ASSUMED,
                "version: FSDP2 gathers adapters with their layers");
}

void trainer_settle_sharded(struct launch *l, struct cfg root)
{
    trainer_settle_hybrid(l, root);
    trainer_settle_units(l, root);
}

/* Of a model that has no decoder after an encoder, sources and targets are one
 * sequence. */
static void settle_lengths(struct launch *l, struct cfg root)
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
    bool one = trainer_peek(root, &m, &loader) && m.arch != MODEL_ENCODER_DECODER;
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

void trainer_settle_parts(struct launch *l, struct cfg root)
{
    trainer_settle_pictures(l, root);
    trainer_settle_tower(l, root);
    trainer_settle_units(l, root);
    settle_lengths(l, root);
}
