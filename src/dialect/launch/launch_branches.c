#include "dialect/launch/launch_branches.h"

#include "base/names.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_override.h"
#include "dialect/option.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_value(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind || a->integer != b->integer || a->n != b->n ||
        (a->kind == VALUE_REAL && memcmp(&a->real, &b->real, sizeof(a->real)) != 0) ||
        !same_text(a->text, b->text))
        return false;
    for (int32_t i = 0; i < a->n; i++)
        if (!same_value(a->items[i].value, b->items[i].value))
            return false;
    return true;
}

/* Whether a step depends on an option; of a dialect without tables it may. */
static bool counts(const struct dialect *d, const char *key)
{
    const struct dialect_option *o =
        d && d->tables ? dialect_option_of(d->tables, "", key) : NULL;
    if (d && d->tables && !o)
        o = dialect_option_of(d->tables, "", key + strspn(key, "-"));
    return o ? o->class != DIALECT_IDLE : !(d && d->tables);
}

/* Whether options of one command are not those of the other. */
static bool has_others(const struct launch_command *a, const struct launch_command *b)
{
    for (int32_t i = 0; i < a->options.n; i++) {
        const struct value_item *it = &a->options.items[i],
                                *twin = value_get(&b->options, it->key);
        if ((!twin || !same_value(it->value, twin->value)) &&
            counts(a->dialect, it->key))
            return true;
    }
    return false;
}

static const char *document_of(const struct launch_command *c)
{
    struct launch_named named;
    return launch_names_document(c, &named) ? named.text : NULL;
}

bool launch_trains_otherwise(const struct launch_command *a,
                             const struct launch_command *b)
{
    return !same_text(a->command->words[a->script].text,
                      b->command->words[b->script].text) ||
           !same_text(document_of(a), document_of(b)) || has_others(a, b) ||
           has_others(b, a);
}

bool launch_ask_branch(struct launch_context *t, const struct launch_command *c,
                       int found)
{
    const char *name = c->command->decides;
    if (!name)
        return false;
    const char *pointer = arena_printf(t->arena, "/shell/%.60s", name);
    if (!launch_is_unresolved(t, pointer))
        launch_add_unresolved(t, pointer, c->command->line,
                              "it decides which of %d commands that train runs", found);
    return true;
}
