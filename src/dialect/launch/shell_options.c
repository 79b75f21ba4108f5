/* Options of the command that a shell script starts, for the dialects that read them. */
#include "dialect/launch/launch_shell.h"

#include <string.h>

const char *launch_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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
    const struct value *all = &t->command->options;
    bool own = it >= all->items && it < all->items + all->n;
    int64_t column = own ? t->command->columns[it - all->items] : 1;
    diags_add(&t->l->loader->diags, launch_diag(t->l, code, it->value->line, column),
              "%s: %s", it->key, text);
}
