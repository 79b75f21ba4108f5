/* LightningCLI's documents: a section of the Trainer's arguments, and classes of the
 * program's own with what they are given (lightning 2.5, pytorch/cli.py; jsonargparse 4).
 * The Trainer's are read as a call of it; those of the model and the data by what they are
 * usually called. */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { CALLS = 2 };

static const char *const trainer_keys[] = { "accelerator",
                                            "devices",
                                            "num_nodes",
                                            "strategy",
                                            "max_epochs",
                                            "max_steps",
                                            "accumulate_grad_batches",
                                            "precision",
                                            NULL };

static bool is_class(const struct value *v)
{
    const struct value *path = value_member(v, "class_path");
    return path && path->kind == VALUE_STRING;
}

bool user_script_recognises_cli(const struct value *root)
{
    const struct value *trainer = value_member(root, "trainer");
    bool any = false;
    for (const char *const *k = trainer_keys; trainer && *k; k++)
        any |= trainer->kind == VALUE_DICT && value_get(trainer, *k);
    return any &&
           (is_class(value_member(root, "model")) ||
            is_class(value_member(root, "data")) || value_get(root, "seed_everything"));
}

/* What a class is given: {class_path: a.B, init_args: {...}}, or its arguments alone. */
static const struct value *arguments_of(const struct value *v)
{
    const struct value *given = value_member(v, "init_args");
    return given && given->kind == VALUE_DICT           ? given
           : v && v->kind == VALUE_DICT && !is_class(v) ? v
                                                        : NULL;
}

/* An object as calls have it: its arguments with the class as the text. */
static struct value *object_of(struct arena *arena, struct value *v)
{
    const struct value *given = arguments_of(v);
    struct value *made = value_new(arena, VALUE_DICT, v->line, 0);
    if (!is_class(v))
        return v;
    made->text = python_last_part(value_member(v, "class_path")->text);
    for (int32_t i = 0; given && i < given->n; i++)
        value_add(arena, made, given->items[i].key, given->items[i].line,
                  given->items[i].value);
    return made;
}

static struct python_call trainer_of(struct arena *arena, const struct value *trainer)
{
    struct value *arguments = value_new(arena, VALUE_DICT, trainer->line, 0);
    for (int32_t i = 0; i < trainer->n; i++)
        if (trainer->items[i].value->kind != VALUE_NONE)
            value_add(arena, arguments, trainer->items[i].key, trainer->items[i].line,
                      object_of(arena, trainer->items[i].value));
    return (struct python_call) { .function = "lightning.pytorch.Trainer",
                                  .line = trainer->line,
                                  .arguments = arguments };
}

/* optimizer: {class_path: torch.optim.AdamW} */
static int add_optimizer(struct arena *arena, const struct value *root,
                         struct python_call *out)
{
    const struct value_item *it = value_get(root, "optimizer");
    if (!it || !is_class(it->value))
        return 0;
    *out =
        (struct python_call) { .function = value_member(it->value, "class_path")->text,
                               .line = it->line,
                               .arguments = object_of(arena, it->value) };
    return 1;
}

/* Names that sections of one's own have for what the Trainer calls otherwise. */
static const char *usual(const char *key)
{
    static const char *const lengths[] = {
        "max_length", "max_seq_length",  "max_len",    "max_seq_len",    "seq_len",
        "seq_length", "sequence_length", "block_size", "context_length", NULL
    };
    return names_listed(user_script_batches, key) ? "per_device_train_batch_size"
           : names_listed(lengths, key)           ? "block_size"
           : strcmp(key, "pretrained_model_name_or_path") == 0 ? "model_name_or_path"
                                                               : NULL;
}

static void add_sections(struct launch_context *t, const struct value *root,
                         struct user_script *g)
{
    static const char *const sections[] = { "model", "data" };
    struct value *leaves = value_new(t->arena, VALUE_DICT, 1, 0);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct value *given = arguments_of(value_member(root, sections[i]));
        for (int32_t k = 0; given && k < given->n; k++) {
            const struct value_item *it = &given->items[k];
            const char *name = usual(it->key);
            if (name && it->value->kind != VALUE_NONE && !value_get(g->words, name))
                value_add(t->arena, g->words, name, it->line, it->value);
        }
        if (given)
            user_script_add_leaves(t, sections[i], given, leaves);
    }
    for (int32_t i = 0; i < leaves->n; i++)
        if (!value_get(g->words, leaves->items[i].key) && !usual(leaves->items[i].key))
            value_add(t->arena, g->words, leaves->items[i].key, leaves->items[i].line,
                      leaves->items[i].value);
}

void user_script_open_cli(struct launch_context *t, const struct value *root,
                          struct user_script *g)
{
    struct python_call *calls = ARENA_ARRAY(t->arena, CALLS, struct python_call);
    struct python *p = ARENA_NEW(t->arena, struct python);
    *p = (struct python) { .arena = t->arena };
    calls[0] = trainer_of(t->arena, value_member(root, "trainer"));
    p->calls.v = calls;
    p->calls.n = 1 + add_optimizer(t->arena, root, &calls[1]);
    user_script_gather(g, t->arena, p);
    add_sections(t, root, g);
    launch_note(
        t->l, calls[0].line, DIAG_ASSUMED,
        "the classes are the program's own: values of model and data are taken to "
        "be what they are usually called, batches those of one GPU");
    t->l->title = "LightningCLI's configuration";
    t->l->line = calls[0].line;
}
