/* A command that starts a training by options that no dialect has: what its starter and
 * a configuration of DeepSpeed's or Accelerate's say is taken, the rest is asked for. */
#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <stddef.h>
#include <string.h>

static const char library_at[] = "/parallelism/library";

/* deepspeed.add_config_arguments (DeepSpeed 0.16, deepspeed/__init__.py). */
static void take_deepspeed(struct launch_context *t, const struct value *given)
{
    static const char *const names[] = { "deepspeed_config", "deepscale_config" };
    static const struct dialect_option row = { .pointer = library_at };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = value_get(given, names[i]);
        if (it && !launch_has(t, library_at))
            deepspeed_take_file(t, &row, it);
    }
}

/* clang-format off */
/* Options that no row reads, and values of documents, ask for what their names say. */
static const struct { const char *part, *pointer; bool options; } deciding[] = {
    { "lora", PEFT_LORA, false }, { "peft", PEFT_LORA, false }, { "adapter", PEFT_LORA, true }, { "4bit", PEFT_LORA, true }, { "8bit", PEFT_LORA, true },
    { "freeze", "/training/frozen", false }, { "checkpointing", "/training/activation_checkpointing", false },
    { "checkpoint_activations", "/training/activation_checkpointing", false }, { "accum", "/training/gradient_accumulation_steps", false },
};
/* clang-format on */

/* The document of a program whose text is not read, by what its values are usually called;
 * NULL: there is none. */
static struct value *document_of(struct launch_context *t,
                                 const struct launch_command *c, struct value **whole)
{
    const struct value_item *file = trainer_document(t, c);
    struct value *own =
        file ? trainer_load_next_to(t, file->value->text, file->line) : NULL;
    struct value *leaves = own ? value_new(t->arena, VALUE_DICT, file->line, 0) : NULL;
    struct strbuf names;
    *whole = own;
    if (!own)
        return NULL;
    peft_open_sections(t, own);
    user_script_add_leaves(t, "", own, leaves);
    strbuf_init(&names);
    for (int32_t i = 0; i < leaves->n; i++)
        strbuf_printf(&names, "%s%.60s", i ? ", " : "", leaves->items[i].key);
    if (names.len)
        launch_note(t->l, file->line, DIAG_ASSUMED,
                    "%.80s: its values are taken to say what they are usually called, "
                    "batches those of one GPU: %s",
                    launch_last_part(file->value->text), strbuf_get(&names));
    strbuf_release(&names);
    return leaves;
}

/* Options -------------------------------------------------------------------------- */

/* What usual names say. */
static void take_usual(struct launch_context *t, const struct value *given,
                       const struct value *document)
{
    struct value *usual = value_new(t->arena, VALUE_DICT, given->line, 0);
    for (int32_t i = 0; i < given->n; i++)
        if (!names_listed(user_script_guesses, given->items[i].key))
            value_add(t->arena, usual, given->items[i].key, given->items[i].line,
                      given->items[i].value);
    t->hyper[t->n_hyper++] = usual;
    if (document)
        t->hyper[t->n_hyper++] = document;
    peft_take(t, NULL);
    trainer_take(t);
    peft_settle(t);
    trainer_settle(t);
}

static bool is_read(const struct launch_context *t, const struct value_item *it)
{
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value_item *own = value_get(t->hyper[i], it->key);
        if (own && launch_is_heard(t, own))
            return true;
    }
    return false;
}

/* An option or a value of a document that is not read, and whose name says what it
 * decides. */
static void ask_for(struct launch_context *t, const struct value_item *it,
                    const char *program, bool option)
{
    int64_t n;
    bool whole = launch_whole(it->value, &n);
    if (strstr(it->key, "checkpointing_steps")) /* how often the model is saved */
        return;
    for (size_t i = 0; i < sizeof(deciding) / sizeof(deciding[0]); i++) {
        const char *at = deciding[i].pointer;
        if (!strstr(it->key, deciding[i].part) || (!option && deciding[i].options) ||
            launch_is_off(it->value) || launch_has(t, at) ||
            (whole && n == 1 && strstr(at, "accumulation")) ||
            launch_is_unresolved(t, at))
            continue;
        launch_add_unresolved(t, at, it->line,
                              "%s%.60s is %.60s's own, and is not read",
                              option ? "--" : "", it->key, program);
        if (strstr(at, "checkpointing") && it->value->kind == VALUE_BOOL)
            launch_add_example(t, at, "full");
        if (whole && strstr(at, "accumulation"))
            launch_add_example(t, at, arena_printf(t->arena, "%lld", (long long)n));
    }
}

/* What a document and its sections have that no row reads. */
static void ask_document(struct launch_context *t, const struct value *own,
                         const char *program)
{
    for (int32_t i = 0; i < own->n; i++) {
        const struct value_item *it = &own->items[i];
        if (it->value->kind == VALUE_DICT && program)
            ask_document(t, it->value, NULL);
        else if (it->value->kind != VALUE_DICT && !is_read(t, it))
            ask_for(t, it, program ? program : "the program", false);
    }
}

/* Whether an option has one dash. */
static bool is_of_letters(const struct launch_command *c, const struct value_item *it)
{
    for (int32_t i = 0; i < c->letters.n; i++)
        if (c->letters.items[i].value == it->value)
            return true;
    return false;
}

/* Options by name: those that were read as usual names are, and those that were not. */
static void name_options(struct launch_context *t, const struct launch_command *c,
                         const struct value *given, const char *program)
{
    int64_t line = c->command->line;
    static const char *const read[] = { "deepspeed", "deepspeed_config",
                                        "deepscale_config", NULL };
    struct strbuf names, taken;
    struct launch_idle idle;
    strbuf_init(&names);
    strbuf_init(&taken);
    launch_idle_init(&idle, t->l, line, "");
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const struct dialect_option *row =
            dialect_option_of(trainer_tables, "", it->key);
        struct strbuf *to = is_read(t, it) ? &taken : &names;
        if (names_listed(read, it->key))
            continue;
        if (to == &names && row && row->class == DIALECT_IDLE) {
            launch_idle_add(&idle, "%s", it->key);
            continue;
        }
        strbuf_printf(to, "%s%s%.60s", to->len ? ", " : "",
                      is_of_letters(c, it) ? "-" : "--", it->key);
        if (to == &names)
            ask_for(t, it, program, true);
    }
    if (taken.len)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%.80s: its text is not read, and options are taken to say what "
                    "they are usually called, batches those of one GPU: %s",
                    program, strbuf_get(&taken));
    if (names.len)
        launch_note(t->l, line, DIAG_NOT_SIMULATED,
                    "%.80s: no dialect has its options, and these are not read: %s",
                    program, strbuf_get(&names));
    launch_idle_end(&idle);
    strbuf_release(&names);
    strbuf_release(&taken);
}

/* The number that an option, or a word of hydra's ("training.batch_size=24"), gives a name
 * that batches often have may well be the batch. */
static void propose_batch(struct launch_context *t, const struct launch_command *c,
                          const struct value *given)
{
    static const char at[] = "/training/micro_batch_size";
    int64_t n;
    for (const char *const *name = user_script_batches; *name; name++) {
        const struct value_item *it = value_get(given, *name);
        if (it && launch_whole(it->value, &n) && n > 0)
            launch_add_example(t, at, arena_printf(t->arena, "%lld", (long long)n));
        for (int32_t i = c->script + 1; i < c->command->n; i++) {
            const char *text = c->command->words[i].text, *equals = strchr(text, '=');
            size_t len = strlen(*name);
            bool named = equals && *text != '-' && (size_t)(equals - text) > len &&
                         equals[-(ptrdiff_t)len - 1] == '.' &&
                         strncmp(equals - len, *name, len) == 0;
            if (named && equals[1] >= '1' && equals[1] <= '9')
                launch_add_example(t, at, equals + 1);
        }
    }
}

/* Options as words without dashes, but for one. */
static void add_options(struct launch_context *t, struct value *to,
                        const struct value *options, const char *but)
{
    for (int32_t i = 0; i < options->n; i++) {
        const struct value_item *it = &options->items[i];
        if (strcmp(it->key, but) == 0)
            continue;
        value_add(t->arena, to, launch_argument(t->arena, it->key), it->line,
                  it->value);
    }
}

void user_script_read_unknown(struct launch_context *t, const struct launch_command *c,
                              struct value *accelerate)
{
    const struct shell_word *w = &c->command->words[c->script];
    const char *program = launch_last_part(w->text);
    if (!c->unknown)
        launch_note(t->l, c->command->line, DIAG_UNRESOLVED,
                    "%s: on these GPUs its text runs no batch that is followed",
                    program);
    struct value *given = value_new(t->arena, VALUE_DICT, c->command->line, 0),
                 at = { .line = c->command->line };
    const struct value_item entry = { program, at.line, &at };
    struct value *whole;
    const struct value *document = document_of(t, c, &whole);
    add_options(t, given, &c->options, document ? "--config" : "");
    add_options(t, given, &c->letters, "");
    if (user_script_refuses_options(t, given, program))
        return;
    take_deepspeed(t, given);
    deepspeed_unresolved_autos(t);
    take_usual(t, given, document);
    launch_take_entry(t, w->text, &entry);
    peft_ask_base(t, at.line);
    user_script_ask_degrees(t, given, program, at.line);
    if (strstr(program, "lora") && !launch_has(t, PEFT_LORA) &&
        !launch_is_unresolved(t, PEFT_LORA))
        launch_add_unresolved(t, PEFT_LORA, at.line,
                              "%.60s trains adapters by its name, and its text is not "
                              "read",
                              program);
    name_options(t, c, given, program);
    if (whole)
        ask_document(t, whole, program);
    const char *why = arena_printf(
        t->arena, "%.60s decides it, whose options and text are not read", program);
    user_script_ask(t, at.line, why);
    propose_batch(t, c, given);
    if (!launch_has(t, library_at) && !launch_is_unresolved(t, library_at))
        launch_add_unresolved(t, library_at, at.line, "%s", why);
    if (accelerate)
        accelerate_settle(t, accelerate);
}
