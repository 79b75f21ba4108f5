/* Functions of Python and of its library that literals are given to: none is run, the
 * plain ones are known. */
#include "dialect/python/python_builtin.h"

#include <string.h>

struct value *python_lost(struct python_parser *r, const struct python_arguments *a,
                          const char *what)
{
    const struct value *v = a->first;
    struct value *u = v && v->kind == VALUE_UNKNOWN
                          ? python_unknown(r, a->line, "%s", v->why)
                          : python_unknown(r, a->line, "%s is a call", what);
    u->text = v ? v->text : NULL;
    return u;
}

struct value *python_placed(const struct python_arguments *a, struct value *placed,
                            const char *name)
{
    const struct value_item *it = placed ? NULL : value_get(a->all, name);
    return it ? it->value : placed;
}

static struct value *positional(const struct value *arguments, const char *at)
{
    const struct value_item *it = value_get(arguments, at);
    return it ? it->value : NULL;
}

static bool is_called(const struct python_function_row *row, const char *function)
{
    return *row->name == '*' ? strcmp(row->name + 1, python_last_part(function)) == 0
                             : strcmp(row->name, function) == 0;
}

struct value *python_builtin(struct python_parser *r, const char *function,
                             struct value *arguments, int64_t line)
{
    static const struct python_function_row *const tables[] = {
        python_numbers,
        python_lists,
        python_library,
    };
    const struct python_arguments a = { .all = arguments,
                                        .first = positional(arguments, "0"),
                                        .second = positional(arguments, "1"),
                                        .third = positional(arguments, "2"),
                                        .line = line };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct python_function_row *row = tables[i]; row->name; row++)
            if (is_called(row, function))
                return row->call(r, &a);
    return NULL;
}
