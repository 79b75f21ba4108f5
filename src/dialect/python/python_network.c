/* Modules of a network that the text builds: which, with what sizes, and how often. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <string.h>

enum { MODULES_MAX = 200 };

/* Whether the first two arguments are known. */
static bool is_sized(const struct value *arguments)
{
    for (int32_t i = 0; i < arguments->n && i < 2; i++)
        if (arguments->items[i].value->kind == VALUE_UNKNOWN)
            return false;
    return !arguments->gap;
}

static bool same_size(const struct value *a, const struct value *b)
{
    for (int32_t i = 0; i < 2 && i < a->n && i < b->n; i++)
        if (a->items[i].value->kind == VALUE_INT &&
            !python_same(a->items[i].value, b->items[i].value))
            return false;
    return true;
}

static bool same_place(const struct python_module *a, const struct python_module *b)
{
    return a->at == b->at && strcmp(a->function, b->function) == 0 &&
           (a->within == b->within ||
            (a->within && b->within && strcmp(a->within, b->within) == 0));
}

static void note_built(struct python_parser *r, int64_t module, int64_t times)
{
    VEC_PUSH(&r->built, ((struct python_built) { module, times }));
    r->p->modules.v[module].times += times;
}

void python_unbuild(struct python_parser *r, const struct python_place *from)
{
    while (r->built.n > from->built) {
        const struct python_built *b = &r->built.v[--r->built.n];
        r->p->modules.v[b->module].times -= b->times;
    }
}

bool python_builds(const struct python *p)
{
    static const char *const parts[] = { "Embedding", "Conv2d", "ModuleList", NULL };
    for (int64_t i = 0; i < p->modules.n; i++)
        if (p->modules.v[i].times > 0 &&
            names_listed(parts, python_last_part(p->modules.v[i].function)))
            return true;
    return false;
}

void python_add_module(struct python_parser *r, const struct python_module *new)
{
    /* of a network that was built, what nothing calls has no parts */
    if (r->rest && r->built_by_calls &&
        isupper((unsigned char)*python_last_part(new->function)))
        return;
    for (int64_t i = 0; i < r->p->modules.n; i++) {
        struct python_module *m = &r->p->modules.v[i];
        if (!same_place(m, new))
            continue;
        if (!is_sized(new->arguments))
            return;
        bool first = !is_sized(m->arguments);
        if (!first && r->rest) /* what was called decides */
            return;
        m->varies |=
            new->varies || (!first && !same_size(m->arguments, new->arguments));
        if (first)
            m->times = 0;
        note_built(r, i, new->times);
        m->arguments = first ? new->arguments : m->arguments;
        return;
    }
    if (r->p->modules.n == MODULES_MAX)
        return;
    VEC_PUSH(&r->p->modules, *new);
    r->p->modules.v[r->p->modules.n - 1].times = 0;
    note_built(r, r->p->modules.n - 1, new->times);
}

static bool is_module(const struct python_parser *r, const char *name)
{
    for (const char *const *m = r->wanted->modules_of; *m; m++)
        if (**m == '*' ? strstr(name, *m + 1) != NULL : names_same(*m, name))
            return true;
    return false;
}

/* CastedLinear(4, 8) of class CastedLinear(nn.Linear) is an nn.Linear. */
static const char *built_as(struct python_parser *r, const char *path,
                            const char *function)
{
    const char *base = python_inherits_init(r, path) ? python_class_base(r, path) : "";
    bool derives = !is_module(r, python_last_part(function)) &&
                   is_module(r, python_last_part(base));
    return derives ? base : function;
}

void python_record_module(struct python_parser *r, const char *path,
                          const char *function, int64_t line,
                          const struct value *arguments)
{
    if (!r->wanted->modules_of)
        return;
    function = built_as(r, path, function);
    if (is_module(r, python_last_part(function)))
        python_add_module(r, &(struct python_module) {
                                 .function = function,
                                 .line = line,
                                 .times = 1,
                                 .at = r->lex.i,
                                 .within = r->in.around ? r->in.around->name : NULL,
                                 .arguments = arguments });
}
