/* Options of the command that a shell script starts, for the dialects that read them. */
#include "dialect/launch/launch_shell.h"

#include <string.h>

const char *launch_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool launch_is_option(const struct shell_word *w)
{
    return w->text[0] == '-' && w->text[1] == '-' && w->text[2] != '\0';
}

const struct shell_binding *launch_variable(const struct launch_command *c,
                                            const char *name)
{
    const struct shell *s = c->shell;
    const struct shell_command *own = c->command;
    for (; own; own = own->within ? &s->commands.v[own->within - 1] : NULL)
        for (int32_t i = own->n_own; i-- > 0;)
            if (strcmp(own->own[i].name, name) == 0)
                return &own->own[i];
    for (int64_t i = s->bindings.n; i-- > 0;)
        if (strcmp(s->bindings.v[i].name, name) == 0)
            return &s->bindings.v[i];
    return NULL;
}

struct value *launch_environment(struct launch_context *t,
                                 const struct launch_command *c)
{
    const struct shell *s = c->shell;
    const struct shell_command *own = c->command;
    struct value *all = value_new(t->arena, VALUE_DICT, own->line, 0);
    for (int64_t i = 0; i < s->bindings.n + own->n_own; i++) {
        const struct shell_binding *b =
            i < s->bindings.n ? &s->bindings.v[i] : &own->own[i - s->bindings.n];
        if (launch_variable(c, b->name) == b && b->value)
            value_add(t->arena, all, b->name, b->line,
                      value_new_string(t->arena, b->value, -b->line, 0));
    }
    return all;
}

const struct value_item *launch_option(const struct launch_command *c, const char *name)
{
    return value_get(&c->options, name);
}

bool launch_option_is(const struct launch_command *c, const char *name,
                      const char *word)
{
    const struct value_item *it = launch_option(c, name);
    return it && it->value->kind == VALUE_STRING && strcmp(it->value->text, word) == 0;
}

void launch_wrong_option(const struct launch_context *t, const struct value_item *it,
                         enum diag_code code, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    const struct value *all = t->command ? &t->command->options : NULL;
    bool own = all && it >= all->items && it < all->items + all->n;
    int64_t column = own ? t->command->columns[it - all->items] : all ? 1 : 0;
    diags_add(&t->l->loader->diags, launch_diag(t->l, code, it->value->line, column),
              "%s: %s", it->key, text);
}

const struct value_item *launch_any_option(const struct launch_command *c,
                                           const char *const *names)
{
    const struct value_item *it = NULL;
    for (; *names && !it; names++)
        it = launch_option(c, *names);
    return it;
}

void launch_decide(struct launch_context *t, const char *pointer, json_t *value,
                   const struct value_item *it, const char *otherwise)
{
    struct value v = { .line = t->command ? t->command->command->line : t->l->line };
    const struct value_item from = { otherwise, v.line, &v };
    if (launch_has(t, pointer)) {
        json_decref(value);
        return;
    }
    launch_set(t, pointer, value, it ? it : &from);
    launch_hear(t, it);
}

struct value *launch_word_value(struct arena *arena, const struct shell_word *w,
                                const char *text)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) {
        .kind = w->why ? VALUE_UNKNOWN : VALUE_STRING,
        .line = w->line,
        .text = text,
        .why = w->why,
        .ask = w->why ? w->ask : NULL,
    };
    return v;
}
