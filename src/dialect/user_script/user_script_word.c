/* Arguments and classes of calls, and the words that calls are gathered as. */
#include "dialect/user_script/user_script.h"

#include <string.h>

const struct value *user_script_given(const struct python_call *c, const char *name,
                                      const char *place)
{
    const struct value_item *it = c ? value_get(c->arguments, name) : NULL;
    it = !it && c ? value_get(c->arguments, place) : it;
    return it ? it->value : NULL;
}

void user_script_put(struct user_script *g, struct arena *arena, const char *key,
                     int64_t line, struct value *v, bool on)
{
    const struct value_item *it = value_get(g->words, key);
    if (!it)
        value_add(arena, g->words, key, line, v);
    else if (it->value->kind == VALUE_NONE || (on && launch_is_off(it->value)))
        g->words->items[it - g->words->items] = (struct value_item) { key, line, v };
}

void user_script_put_true(struct user_script *g, struct arena *arena, const char *key,
                          int64_t line, bool on)
{
    user_script_put(g, arena, key, line, value_new_bool(arena, true, line), on);
}

const char *user_script_class(struct arena *arena, const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    return last == c->function || strncmp(last, "from_", 5) != 0
               ? last
               : python_last_part(arena_strndup(arena, c->function,
                                                (size_t)(last - c->function) - 1));
}
