/* Arguments and classes of calls, and the words that calls are gathered as. */
#include "base/names.h"
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

/* "SFT" of CustomSFTConfig, a class of the user's own that derives from it. */
static const char *of_library(const char *method)
{
    return names_ends(method, "SFT")   ? "SFT"
           : names_ends(method, "DPO") ? "DPO"
                                       : method;
}

const char *user_script_method(struct arena *arena, const struct user_script *g)
{
    static const char *const ends[] = { "Trainer", "TrainingArguments", "Config" };
    const struct python_call *of[] = { g->parts[SCRIPT_TRAINER],
                                       g->parts[SCRIPT_ARGUMENTS] };
    for (int i = 0; i < 2; i++) {
        const char *name = of[i] ? python_last_part(of[i]->function) : "";
        for (size_t j = 0; j < sizeof(ends) / sizeof(ends[0]); j++) {
            if (names_ends(name, ends[j]))
                return of_library(
                    arena_strndup(arena, name, strlen(name) - strlen(ends[j])));
        }
    }
    return NULL;
}
