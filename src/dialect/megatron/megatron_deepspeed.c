/* Megatron-DeepSpeed: the arguments of DeepSpeed in addition to Megatron's. Its
 * configuration may be a file next to the script, or one that the script writes. */
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/megatron/megatron.h"

#include "base/names.h"

#include <inttypes.h>
#include <string.h>

/* What Megatron's arguments say already, and DeepSpeed needs
 * (megatron/training.py, set_train_batch_size). */
static const char *const said[] = { "train_batch_size",
                                    "train_micro_batch_size_per_gpu",
                                    "gradient_accumulation_steps",
                                    "gradient_clipping",
                                    "activation_checkpointing",
                                    "pipeline",
                                    NULL };

static const struct value *without_said(struct arena *arena, const struct value *config)
{
    struct value *rest = ARENA_NEW(arena, struct value);
    *rest = *config;
    rest->n = 0;
    rest->items = ARENA_ARRAY(arena, config->n + 1, struct value_item);
    for (int32_t i = 0; i < config->n; i++)
        if (!names_listed(said, config->items[i].key))
            rest->items[rest->n++] = config->items[i];
    return rest;
}

static const struct source_file *written(const struct shell *s, const char *name)
{
    const struct source_file *found = NULL;
    for (int64_t i = 0; i < s->files.n; i++)
        if (strcmp(s->files.v[i].name, name) == 0)
            found = &s->files.v[i];
    return found;
}

/* The configuration that an option names; NULL: it is not at hand. */
static const struct value *config_of(struct launch_context *t,
                                     const struct launch_command *c,
                                     const struct value_item *it)
{
    const char *name = it && it->value->text ? it->value->text : "";
    const struct source_file *own = written(c->shell, name);
    if (own)
        return deepspeed_parse(t->l->loader, t->l->file, own->text, own->line);
    const char *file = *name ? deepspeed_find(t, name) : NULL;
    return file ? deepspeed_load(t->l->loader, file) : megatron_template(t, c);
}

static struct value *dictionary_of(struct arena *arena, const char *key,
                                   const struct value_item *it)
{
    struct value *d = ARENA_NEW(arena, struct value);
    *d = (struct value) { .kind = VALUE_DICT, .line = it->value->line, .n = 1 };
    d->items = ARENA_NEW(arena, struct value_item);
    *d->items = (struct value_item) { key, it->line, it->value };
    return d;
}

/* A configuration of the stage that --zero-stage gives, and of the precision. */
static const struct value *config_of_stage(struct arena *arena,
                                           const struct launch_command *c,
                                           const struct value_item *stage)
{
    static const char *const words[] = { "--fp16", "--bf16" };
    struct value *config = ARENA_NEW(arena, struct value);
    *config = (struct value) { .kind = VALUE_DICT, .line = stage->value->line };
    config->items = ARENA_ARRAY(arena, 3, struct value_item);
    config->items[config->n++] =
        (struct value_item) { "zero_optimization", stage->line,
                              dictionary_of(arena, "stage", stage) };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const struct value_item *it = launch_option(c, words[i]);
        if (it)
            config->items[config->n++] =
                (struct value_item) { words[i] + 2, it->line,
                                      dictionary_of(arena, "enabled", it) };
    }
    return config;
}

/* Experts are whole on each rank of a tensor group unless it is asked for (deepspeed/moe/
 * layer.py, enable_expert_tensor_parallelism). */
static void note_slices(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *on =
                                launch_option(c, "--enable-expert-tensor-parallelism"),
                            *experts = launch_option(c, "--num-experts");
    if (!launch_has(t, "/model/num_experts") || !launch_has(t, "/parallelism/tensor"))
        return;
    launch_hear(t, on);
    if (!on && experts)
        launch_note(t->l, experts->line, DIAG_NOT_SIMULATED,
                    "%s: whole on each rank of a tensor group, without "
                    "--enable-expert-tensor-parallelism: they are simulated as divided "
                    "by it",
                    experts->key);
}

void megatron_take_deepspeed(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *named = launch_option(c, "--deepspeed-config"),
                            *stage = launch_option(c, "--zero-stage");
    const struct value *config = config_of(t, c, named);
    stage = stage || config ? stage : megatron_template_stage(t, c);
    const char *name = named && named->value->text ? named->value->text : "";
    launch_hear(t, launch_option(c, "--deepspeed"));
    launch_hear(t, named);
    launch_hear(t, config ? NULL : stage);
    struct value v = { .line = c->command->line };
    const struct value_item from = { "DeepSpeed's own", v.line, &v };
    if (launch_has(t, "/parallelism/pipeline") &&
        !launch_has(t, "/parallelism/partition"))
        launch_set(t, "/parallelism/partition", json_string("type:transformer"), &from);
    if (config) {
        deepspeed_take(t, without_said(t->arena, config),
                       arena_printf(t->arena, "%s: ", shell_shown(t->arena, name)));
    } else if (stage && stage->value->kind != VALUE_UNKNOWN) {
        launch_note(t->l, named ? named->line : stage->line, DIAG_UNREADABLE,
                    "DeepSpeed's configuration %s is not at hand: %s is taken, and "
                    "defaults (put it next to the script)",
                    shell_shown(t->arena, name), stage->key);
        deepspeed_take(t, config_of_stage(t->arena, c, stage), "");
    } else {
        launch_add_unresolved(
            t, "/parallelism/sharding/strategy",
            named ? named->value->line : c->command->line,
            "the stage of ZeRO (0 is none, 1 optimizer, 2 gradients, 3 full) is in "
            "DeepSpeed's configuration %s, which was not found (put it next to the "
            "script)",
            shell_shown(t->arena, name));
    }
    if (!launch_has(t, "/parallelism/library"))
        launch_set(t, "/parallelism/library", json_string("deepspeed"), &from);
    note_slices(t, c);
}

void megatron_take_interval(struct launch_context *t, const struct launch_command *c)
{
    struct value two = { .kind = VALUE_INT, .line = c->command->line, .integer = 2 };
    const struct value_item otherwise = { "expert-interval's default", two.line, &two },
                            *it = launch_option(c, "--expert-interval");
    int64_t layers = launch_number(t, "/model/num_layers", 0), n, dense;
    if (!it && megatron_uses_deepspeed(c))
        it = &otherwise;
    if (!it || !launch_has(t, "/model/num_experts"))
        return;
    launch_hear(t, it);
    if (!launch_whole(it->value, &n) || n < 1) {
        launch_unresolved_item(t, "/model/moe_first_dense_layers", it, "whole number");
        return;
    }
    dense = layers - layers / n;
    if (dense < 1)
        return;
    launch_set(t, "/model/moe_first_dense_layers", json_integer((json_int_t)dense), it);
    launch_note(t->l, it->line, DIAG_APPROXIMATE,
                "%s: of the %" PRId64 " layers 1 in %" PRId64 " has experts; those "
                "without are taken to be the first",
                it->key, layers, n);
}
