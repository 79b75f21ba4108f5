/* Values that are not known, but of which something is: one of two texts, the names of a
 * function's arguments. */
#include "dialect/python/python_parse.h"

#include <string.h>

const char python_signature_why[] = "it is the signature of a library's function";

bool python_is_signature(const struct value *v)
{
    return v && v->kind == VALUE_UNKNOWN && v->why &&
           strcmp(v->why, python_signature_why) == 0;
}

void python_keep_either(struct python_parser *r, struct value *v, const struct value *a,
                        const struct value *b)
{
    const struct value *both[] = { a, b };
    if (!a || !b || a->kind != VALUE_STRING || b->kind != VALUE_STRING)
        return;
    v->integer = PYTHON_EITHER;
    for (int i = 0; i < 2; i++)
        value_add(r->p->arena, v, NULL, v->line,
                  value_new_string(r->p->arena, both[i]->text, v->line, 0));
}
