/* Options as their rows write them: the other direction of dialect/option.c. */
#include "dialect/emit/emit_parts.h"

#include <string.h>

/* The dialect's word for one of the scenario's; NULL: it has none. */
static json_t *word_of(const struct dialect_word *words, const json_t *value)
{
    const char *text = json_string_value(value);
    for (const struct dialect_word *w = words; text && w && w->word; w++)
        if (strcmp(w->value, text) == 0 && !strchr(w->word, '*'))
            return json_string(w->word);
    return NULL;
}

static json_t *flag_of(const struct dialect_option *o, const json_t *value)
{
    json_t *on = dialect_constant(o);
    bool same = json_equal(on, value);
    json_decref(on);
    return same ? json_true() : NULL;
}

static json_t *by_kind(const struct dialect_option *o, json_t *value)
{
    switch (o->kind) {
    case DIALECT_WHOLE:
    case DIALECT_POSITIVE:
    case DIALECT_SIZE:
        return json_is_integer(value) ? json_incref(value) : NULL;
    case DIALECT_DEGREE:
        return json_integer_value(value) > 1 ? json_incref(value) : NULL;
    case DIALECT_NORM:
    case DIALECT_PROBABILITY:
        return json_is_number(value) ? json_incref(value) : NULL;
    case DIALECT_TEXT:
        return json_is_string(value) ? json_incref(value) : NULL;
    case DIALECT_WORD:
        return word_of(o->words, value);
    case DIALECT_FLAG:
    case DIALECT_SWITCH:
        return flag_of(o, value);
    case DIALECT_OWN:
        break;
    }
    return NULL;
}

/* The value of an option, as its row writes it (a new reference); NULL: it is left
 * out. */
static json_t *option_value(const struct dialect_option *o, const struct scenario *s)
{
    if (o->give)
        return o->give(s);
    if (!o->written)
        return NULL;
    json_t *value = emit_value(s, o->pointer), *out = by_kind(o, value);
    json_decref(value);
    return out;
}

void emit_options(const struct dialect_table *tables, const struct scenario *s,
                  void (*put)(void *arg, const char *path, const char *name,
                              json_t *value),
                  void *arg)
{
    for (const struct dialect_table *t = tables; t->path; t++)
        for (const struct dialect_option *o = t->options; o->name; o++) {
            json_t *value = option_value(o, s);
            if (value)
                put(arg, t->path, o->name, value);
        }
}
