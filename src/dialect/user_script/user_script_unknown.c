/* A command that starts a training by options that no dialect has: what its starter and
 * a configuration of DeepSpeed's or Accelerate's say is taken, the rest is asked for. */
#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

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

/* Options that were not read, by name. */
static void name_options(struct launch_context *t, const struct value *given,
                         const char *program, int64_t line)
{
    static const char *const read[] = { "deepspeed", "deepspeed_config",
                                        "deepscale_config", NULL };
    struct strbuf names;
    strbuf_init(&names);
    for (int32_t i = 0; i < given->n; i++)
        if (!names_listed(read, given->items[i].key))
            strbuf_printf(&names, "%s--%.60s", names.len ? ", " : "",
                          given->items[i].key);
    if (names.len)
        launch_note(t->l, line, DIAG_NOT_SIMULATED,
                    "%.80s: no dialect has its options, and these are not read: %s",
                    program, strbuf_get(&names));
    strbuf_release(&names);
}

void user_script_read_unknown(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w = &c->command->words[c->script];
    const char *program = launch_last_part(w->text);
    struct value *accelerate = accelerate_take_command(t, c);
    struct value *given = value_new(t->arena, VALUE_DICT, c->command->line, 0),
                 at = { .line = c->command->line };
    const struct value_item entry = { program, at.line, &at };
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        char *key = arena_strdup(t->arena, it->key + strspn(it->key, "-"));
        for (char *s = key; *s; s++)
            *s = *s == '-' ? '_' : *s;
        value_add(t->arena, given, key, it->line, it->value);
    }
    if (user_script_refuses_options(t, given, program))
        return;
    take_deepspeed(t, given);
    deepspeed_unresolved_autos(t);
    launch_take_entry(t, w->text, &entry);
    name_options(t, given, program, at.line);
    const char *why = arena_printf(
        t->arena, "%.60s decides it, whose options and text are not read", program);
    user_script_ask(t, at.line, why);
    if (!launch_has(t, library_at) && !launch_is_unresolved(t, library_at))
        launch_add_unresolved(t, library_at, at.line, "%s", why);
    if (accelerate)
        accelerate_settle(t, accelerate);
}
