/* Objects of the text's own classes: what __init__ sets, and their methods. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 1000, BASES_MAX = 8 };

/* Whether a method has the object, or its class, as its first parameter, by its usual
 * name; a static one has not. */
static bool takes_self(struct python_parser *r, const struct python_function *f)
{
    struct python_place before = python_here(r);
    python_go(r, &f->parameters);
    python_open(r);
    bool takes = python_at(r, "self") || python_at(r, "cls");
    r->failed = false;
    python_go(r, &before);
    return f->named && takes;
}

/* The class of the text's that a class derives from; -1: it is of elsewhere, or none. */
static int64_t base_class(struct python_parser *r, int64_t class)
{
    const char *name = r->functions.v[class].base;
    const struct python_function *f = name ? python_function(r, name) : NULL;
    bool own = f && f->fields && f - r->functions.v != class;
    return own ? f - r->functions.v : -1;
}

/* A method of a class, or of what it derives from; NULL. */
static struct python_function *method_of(struct python_parser *r, int64_t class,
                                         const char *name)
{
    for (int deep = 0; class >= 0 && deep < BASES_MAX; deep++) {
        for (int64_t i = class; i-- > r->functions.v[class].methods;) {
            struct python_function *f = &r->functions.v[i];
            if (f->class == class + 1 && strcmp(f->name, name) == 0)
                return f;
        }
        class = base_class(r, class);
    }
    return NULL;
}

bool python_inherits_init(struct python_parser *r, const char *name)
{
    const struct python_function *f = python_function(r, name);
    return f && f->fields && f->base && !method_of(r, f - r->functions.v, "__init__");
}

struct value *python_call_method(struct python_parser *r, struct python_function *f,
                                 struct value *x, const struct value *arguments,
                                 int64_t line)
{
    struct value *given = python_new(r, VALUE_DICT, line);
    int at = takes_self(r, f) ? 1 : 0;
    given->gap = arguments->gap;
    if (at)
        python_put(r, given, "0", line, x);
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        bool numbered = *it->key >= '0' && *it->key <= '9';
        python_put(r, given, numbered ? arena_printf(r->p->arena, "%d", at++) : it->key,
                   it->line, it->value);
    }
    return r->inline_call(r, f, given, line);
}

/* self.save_hyperparameters() of Lightning: "hparams" of an object are the parameters and
 * names of the function that is read, or what it is given. */
static struct value *keep_names(struct python_parser *r, struct value *x,
                                const struct value *arguments, int64_t line)
{
    struct value *kept = python_new(r, VALUE_DICT, line);
    for (int32_t i = 0; i < arguments->n && !r->limit; i++)
        if (arguments->items[i].value->kind == VALUE_DICT)
            python_merge(r, kept, arguments->items[i].value);
    for (int64_t i = r->in.scope; i < r->p->names.n && !r->limit; i++) {
        const struct python_name *n = &r->p->names.v[i];
        if (n->value && n->value != x && !strchr(n->name, '.') &&
            kept->n < PYTHON_ITEMS_MAX)
            python_put(r, kept, n->name, n->value->line, n->value);
    }
    python_put(r, x, "hparams", line, kept);
    return python_new(r, VALUE_NONE, line);
}

/* The class that a name is bound to, as "cls" of a method that is called on it; else the
 * name. */
const char *python_own_class(struct python_parser *r, const char *name)
{
    const struct value *v = strcmp(name, "cls") == 0 ? python_find(r, name) : NULL;
    return v && v->kind == VALUE_DICT && v->text ? v->text : name;
}

/* Config.small(...): a method that is called on a class of the text, or of a module. */
struct value *python_class_call(struct python_parser *r, struct value *x,
                                const char *name, const struct value *arguments,
                                int64_t line)
{
    const char *class = x->kind == VALUE_DICT ? x->text : NULL;
    const struct python_function *f = class ? python_function(r, class) : NULL;
    if (!class || python_find(r, class) != x)
        return NULL;
    struct python_function *m = f && f->fields && f->methods < r->functions.n
                                    ? method_of(r, f - r->functions.v, name)
                                    : NULL;
    if (m)
        return python_call_method(r, m, x, arguments, line);
    const char *path = python_class_path(r, class);
    return path != class ? r->foreign_call(
                               r, arena_printf(r->p->arena, "%s.%s", path, name),
                               arguments, line)
                         : NULL;
}

struct value *python_property(struct python_parser *r, struct value *x,
                              const char *name, int64_t line)
{
    int64_t i = r->objects.n;
    r->lex.work += r->objects.n / 8;
    while (i-- > 0 && r->objects.v[i].value != x)
        ;
    struct python_function *f =
        i >= 0 ? method_of(r, r->objects.v[i].class, name) : NULL;
    return f && f->property
               ? python_call_method(r, f, x, python_new(r, VALUE_DICT, line), line)
               : NULL;
}

struct value *python_object_call(struct python_parser *r, struct value *x,
                                 const char *name, const struct value *arguments,
                                 int64_t line)
{
    static const char *const of_dictionaries[] = { "get", "items",  "keys", "values",
                                                   "pop", "update", "copy", NULL };
    int64_t i = r->objects.n;
    r->lex.work += r->objects.n / 8;
    while (i-- > 0 && r->objects.v[i].value != x)
        ;
    struct python_function *f =
        i >= 0 ? method_of(r, r->objects.v[i].class, name) : NULL;
    if (f)
        return python_call_method(r, f, x, arguments, line);
    if (i < 0 || names_listed(of_dictionaries, name))
        return NULL;
    if (strcmp(name, "save_hyperparameters") == 0)
        return keep_names(r, x, arguments, line);
    return python_unknown(r, line, "%.60s(...) is a call", name);
}

struct value *python_super_call(struct python_parser *r, const char *name,
                                const struct value *arguments, int64_t line)
{
    struct value *self = python_find(r, "self");
    int64_t class = r->in.frame && self ? r->in.frame->class - 1 : -1;
    int64_t base = class >= 0 ? base_class(r, class) : -1;
    struct python_function *f = base >= 0 ? method_of(r, base, name) : NULL;
    return f ? python_call_method(r, f, self, arguments, line) : NULL;
}

/* Of several instances none is the one that methods are of which nothing calls. */
static void note_instance(struct python_parser *r, struct python_function *of,
                          struct value *v)
{
    of->instance = of->made++ ? NULL : v;
    if (r->objects.n < OBJECTS_MAX)
        VEC_PUSH(&r->objects, ((struct python_object) { v, of - r->functions.v }));
}

struct value *python_instance(struct python_parser *r, struct python_function *of,
                              const struct value *arguments)
{
    const struct python_function f = *of; /* others may come meanwhile */
    int64_t class = of - r->functions.v;
    struct python_function *init = method_of(r, class, "__init__");
    struct value *v = python_copy(r, f.fields);
    v->gap = f.named ? f.line : 0; /* what a base class has */
    v->text = v->text ? v->text : f.name;
    note_instance(r, of, v);
    if (init) {
        python_call_method(r, init, v, arguments, arguments->line);
        return v;
    }
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        bool numbered = *it->key >= '0' && *it->key <= '9';
        long at = numbered ? strtol(it->key, NULL, 10) : -1;
        if (!numbered)
            python_put(r, v, it->key, it->line, it->value);
        else if (at < v->n)
            v->items[at].value = it->value;
    }
    /* of a dataclass, what is computed of its fields (dataclasses.py) */
    struct python_function *post = method_of(r, class, "__post_init__");
    if (post)
        python_call_method(r, post, v, python_new(r, VALUE_DICT, arguments->line),
                           arguments->line);
    return v;
}

struct value *python_member_at(struct python_parser *r, const char *path)
{
    size_t n = strcspn(path, ".");
    struct value *x = python_find(r, arena_strndup(r->p->arena, path, n));
    while (x && path[n]) {
        path += n + 1;
        n = strcspn(path, ".");
        x = value_member(x, arena_strndup(r->p->arena, path, n));
    }
    return x;
}
