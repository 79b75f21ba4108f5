/* Arguments of the Trainer as a document (HfArgumentParser's JSON and YAML), and what
 * dialects that build on the Trainer's share: their own rows, then its; its defaults. */
#include "base/file.h"
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/source/document.h"
#include "dialect/source/files.h"
#include "dialect/trainer/trainer.h"
#include "dialect/usual/usual.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 20, COPIED_MAX = 20000, BEGINNING_MIN_B = 12 };

/* Documents next to a file --------------------------------------------------------- */

static struct value *read_text(struct launch_context *t, const char *name,
                               const char *text, size_t len)
{
    struct document d;
    int64_t budget = COPIED_MAX;
    document_read(&d, t->l->loader, name, text, len, "what trains nothing");
    struct value *copy = d.root && d.root->kind == VALUE_DICT
                             ? value_copy(t->arena, d.root, &budget)
                             : NULL;
    document_release(&d);
    return copy;
}

struct value *trainer_load_next_to(struct launch_context *t, const char *name,
                                   int64_t line)
{
    struct err err = { 0 };
    size_t len = 0;
    const char *own =
        document_is(name)
            ? launch_written_text(t->l, t->command ? t->command->shell : NULL, name)
            : NULL;
    const char *path =
        document_is(name) && !own ? launch_path_next_to(t->l, name, line) : NULL;
    if (own) {
        struct value *written = read_text(t, name, own, strlen(own));
        if (written)
            value_move_to(written, line);
        return written;
    }
    char *text = path ? file_read(path, FILE_MAX_B, &len, &err) : NULL;
    if (!text)
        return NULL;
    struct value *v = read_text(t, arena_strdup(t->arena, path), text, len);
    free(text);
    if (v)
        value_move_to(v, line);
    return v;
}

struct value *trainer_parse_as(struct launch_context *t, const struct value_item *it,
                               const char *ending)
{
    const char *text = it->value->text;
    struct value *v = read_text(t, arena_printf(t->arena, "%s%s", it->key, ending),
                                text, strlen(text));
    if (v)
        value_move_to(v, it->value->line);
    return v;
}

struct value *trainer_parse(struct launch_context *t, const struct value_item *it)
{
    return trainer_parse_as(t, it, ".json");
}

const struct value_item *trainer_document(struct launch_context *t,
                                          const struct launch_command *c)
{
    const struct shell_word *w = c->command->words;
    const struct value_item *given = launch_option(c, "--config");
    if (given && given->value->text)
        return given;
    for (int32_t i = c->script + 1; i < c->command->n && w[i].text[0] != '-'; i++) {
        if (!document_is(w[i].text))
            continue;
        struct value_item *it = ARENA_NEW(t->arena, struct value_item);
        *it =
            (struct value_item) { "config", w[i].line,
                                  value_new_string(t->arena, w[i].text, w[i].line, 0) };
        return it;
    }
    return NULL;
}

/* "--per-device-train-batch" to "per_device_train_batch_size"; short beginnings are left
 * to what programs of one's own call so. */
static const char *argument_name(struct launch_context *t, const char *option)
{
    char *name = launch_argument(t->arena, option);
    const char *whole = strlen(name) >= BEGINNING_MIN_B
                            ? dialect_option_begun(trainer_tables, "", name)
                            : NULL;
    return whole ? whole : name;
}

struct value *trainer_command_arguments(struct launch_context *t,
                                        const struct launch_command *c)
{
    const struct value_item *file = trainer_document(t, c);
    const char *name = file ? file->value->text : NULL;
    struct value *all = name ? trainer_load_next_to(t, name, file->line) : NULL;
    if (name && !all)
        launch_add_unresolved(t, "/model", file->line,
                              "config: \"%.80s\" was not found (put it next to the "
                              "script)",
                              name);
    if (!all)
        all = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        const char *key = argument_name(t, it->key);
        const struct value_item *old;
        if (strcmp(key, "config") == 0)
            continue;
        old = value_get(all, key);
        if (old)
            all->items[old - all->items] =
                (struct value_item) { key, it->line, it->value };
        else
            value_add(t->arena, all, key, it->line, it->value);
    }
    return all;
}

/* Arguments with defaults ---------------------------------------------------------- */

void trainer_default(struct launch_context *t, const char *pointer, json_t *value,
                     const char *from)
{
    launch_assume(t, pointer, value, from);
}

/* bf16 that is off goes before a default that is on. */
static bool is_turned_off(struct launch_context *t, const char *pointer)
{
    const struct value_item *it =
        strcmp(pointer, "/training/precision") == 0 ? launch_hyper(t, "bf16") : NULL;
    bool known =
        it && it->value->kind != VALUE_UNKNOWN && it->value->kind != VALUE_NONE;
    if (!known || launch_true(it->value) || launch_has(t, pointer) ||
        launch_is_unresolved(t, pointer))
        return false;
    launch_set(t, pointer, json_string("fp32"), it);
    return true;
}

void trainer_take_defaults(struct launch_context *t, const struct trainer_default *d)
{
    for (; d && d->pointer; d++) {
        bool autocast = t->converts && strncmp(d->value, "amp_", 4) == 0;
        const char *word = d->value + (autocast ? 4 : 0);
        json_t *v = json_loads(word, JSON_DECODE_ANY, NULL);
        if (is_turned_off(t, d->pointer))
            json_decref(v);
        else
            trainer_default(t, d->pointer, v ? v : json_string(word), d->from);
    }
}

/* Whether another owns clipping: DeepSpeed has gradient_clipping of its own file
 * (transformers/integrations/deepspeed.py fills in "auto" alone), SMP's sharded data
 * parallelism its sdp_gradient_clipping. */
static bool clips_itself(const struct launch_context *t)
{
    static const char smp[] = "/distribution/smdistributed/modelparallel/parameters/"
                              "sharded_data_parallel_degree";
    const char *library =
        json_string_value(pointer_get(t->tree, "/parallelism/library"));
    return json_integer_value(pointer_get(t->tree, smp)) > 1 ||
           (library && strcmp(library, "deepspeed") == 0);
}

/* transformers/training_args.py; None is none, as 0 is (trainer.py). */
void trainer_take_clipping(struct launch_context *t)
{
    const struct value_item *norm = launch_hyper(t, "max_grad_norm");
    bool off = norm && norm->value->kind == VALUE_NONE;
    launch_hear(t, off ? norm : NULL);
    if (t->trainer && !off && !clips_itself(t))
        launch_assume(t, "/training/gradient_clipping", json_real(1),
                      "max_grad_norm's default");
}

bool trainer_is_loop(const struct launch_context *t, const char *program)
{
    static const char *const marks[] = { "max_train_steps", "num_warmup_steps",
                                         "checkpointing_steps", "with_tracking" };
    bool own = strstr(program, "no_trainer") != NULL;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        own |= launch_hyper(t, marks[i]) != NULL;
    return own;
}

/* transformers/training_args.py (4.57) */
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "8", "per_device_train_batch_size' default" },
    { NULL, NULL, NULL },
};

/* Sequences that nothing joins are as long as their text, which no file says. */
static void note_lengths(struct launch_context *t, const struct value *dict,
                         const struct trainer_kind *kind)
{
    const struct value_item *on = value_get(dict, kind->packing);
    if (!on || !launch_true(on->value))
        launch_note(t->l, on ? on->line : t->l->line, DIAG_ASSUMED,
                    "%s is off: each sequence is taken to be of the full length (give "
                    "--set /training/sequence_length=N for a shorter mean)",
                    kind->packing);
}

void trainer_read_arguments(struct launch_context *t, const struct value *dict,
                            const struct trainer_kind *kind)
{
    t->hyper[t->n_hyper++] = dict;
    t->trainer = !kind->loop;
    peft_take(t, kind->peft);
    if (kind->own) {
        launch_take_rows(t, kind->own, NULL);
        launch_take_rows(t, trainer_preference_rows, NULL);
    }
    trainer_take(t);
    trainer_take_defaults(t, kind->defaults);
    if (!kind->loop)
        trainer_take_defaults(t, defaults);
    peft_settle(t);
    trainer_settle(t);
    if (kind->packing)
        note_lengths(t, dict, kind);
    dialect_report(t, kind->tables, "", dict,
                   (struct dialect_place) { dict->line, "", "", true });
}

bool trainer_recognises_document(const struct dialect_input *in)
{
    const struct value *v = in->root;
    return value_get(v, "per_device_train_batch_size") ||
           (value_get(v, "model_name_or_path") &&
            (value_get(v, "num_train_epochs") || value_get(v, "max_steps") ||
             value_get(v, "learning_rate")));
}

void trainer_read_document(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .tables = trainer_tables };
    t->l->title = "the Trainer's arguments";
    t->l->what = "the file";
    t->l->line = 1;
    usual_take_own(t, in->root);
    trainer_read_arguments(t, in->root, &kind);
    t->trainer = !trainer_is_loop(t, "");
    peft_ask_base(t, 1);
}

static bool is_asked(struct launch_context *t, const char *name)
{
    const struct value_item *it = launch_hyper(t, name);
    return it && launch_true(it->value);
}

/* Whether what shards keeps fp32 weights of its own: DeepSpeed and SMP, and FSDP where
 * Accelerate has a mixed precision (accelerate/accelerator.py, prepare_model, 1.12: it
 * upcasts what is trained). */
static bool is_converted(struct launch_context *t)
{
    static const char *const leave[] = { "ddp", "horovod", NULL };
    const char *library =
        json_string_value(pointer_get(t->tree, "/parallelism/library"));
    if (library && strcmp(library, "fsdp") == 0)
        return t->mixes || is_asked(t, "bf16") || is_asked(t, "fp16");
    return t->converts || (library && !names_listed(leave, library));
}

/* The weights' type, as from_pretrained has it: they are trained as they are loaded, but
 * for what is converted. Of adapters, peft_settle says more. */
void trainer_take_dtype(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    static const struct name_value words[] = {
        { "bfloat16", 0 }, { "bf16", 0 }, { "torch.bfloat16", 0 }, { "auto", 0 },
        { "float16", 1 },  { "fp16", 1 }, { "torch.float16", 1 },  { NULL, 0 },
    };
    int half;
    if (t->adapters || is_converted(t) || launch_has(t, "/training/precision") ||
        launch_is_unresolved(t, "/training/precision"))
        return;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: %s; weights are taken to be fp32 (give --set "
                    "/training/precision=bf16 and /training/master_weights=false where "
                    "they are loaded in 16 bits)",
                    it->key, it->value->why ? it->value->why : "it is not known");
    if (it->value->kind != VALUE_STRING || names_find(words, it->value->text, &half))
        return;
    if (t->smp_precision) {
        launch_note(t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s: SMP's dictionary already converts the model", it->key);
        return;
    }
    if (strcmp(it->value->text, "auto") == 0)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: \"auto\" is the checkpoint's own type, taken to be bfloat16",
                    it->key);
    launch_set(t, "/training/precision", json_string(half ? "fp16" : "bf16"), it);
    launch_set(t, row->pointer, json_false(), it);
}
