/* Values of Python source, and the names they are bound to. */
#include "dialect/source/python_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_MAX = 100 };

struct value *python_new(struct python_parser *r, enum value_kind kind, int64_t line)
{
    struct value *v = ARENA_NEW(r->p->arena, struct value);
    v->kind = kind;
    v->line = line;
    if (++r->values > PYTHON_VALUES_MAX)
        r->limit = "too many values";
    return v;
}

struct value *python_unknown(struct python_parser *r, int64_t line, const char *fmt,
                             ...)
{
    char why[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    struct value *v = python_new(r, VALUE_UNKNOWN, line);
    v->why = arena_strdup(r->p->arena, why);
    return v;
}

struct value *python_text(struct python_parser *r, int64_t line, const char *s)
{
    struct value *v = python_new(r, VALUE_STRING, line);
    v->text = s;
    return v;
}

/* Containers ----------------------------------------------------------------------- */

/* Room for one more item, or NULL. */
static struct value_item *add_item(struct python_parser *r, struct value *v)
{
    if (v->n == PYTHON_ITEMS_MAX || r->limit) {
        r->limit = "too many items in one dictionary or list";
        return NULL;
    }
    if (v->n == v->cap) {
        int32_t cap = v->cap ? 2 * v->cap : 4;
        struct value_item *more = ARENA_ARRAY(r->p->arena, cap, struct value_item);
        if (v->n)
            memcpy(more, v->items, (size_t)v->n * sizeof(*more));
        v->items = more;
        v->cap = cap;
    }
    r->values++;
    return &v->items[v->n++];
}

static struct value_item *find_item(const struct value *dict, const char *key)
{
    for (int32_t i = 0; dict && dict->kind == VALUE_DICT && i < dict->n; i++)
        if (strcmp(dict->items[i].key, key) == 0)
            return &dict->items[i];
    return NULL;
}

void python_put(struct python_parser *r, struct value *dict, const char *key,
                int64_t line, struct value *value)
{
    struct value_item *it = find_item(dict, key);
    if (!it)
        it = add_item(r, dict);
    if (it)
        *it = (struct value_item) { key, line, value };
}

void python_append(struct python_parser *r, struct value *list, struct value *value)
{
    struct value_item *it = add_item(r, list);
    if (it)
        *it = (struct value_item) { NULL, value->line, value };
}

void python_merge(struct python_parser *r, struct value *dict,
                  const struct value *other)
{
    if (other->kind != VALUE_DICT || other->gap)
        dict->gap = dict->gap ? dict->gap : other->gap ? other->gap : other->line;
    r->lex.work += (int64_t)other->n * (dict->n + other->n);
    for (int32_t i = 0; other->kind == VALUE_DICT && i < other->n; i++)
        python_put(r, dict, other->items[i].key, other->items[i].line,
                   other->items[i].value);
}

struct value *python_copy(struct python_parser *r, const struct value *container)
{
    struct value *v = python_new(r, container->kind, container->line);
    if (container->kind == VALUE_DICT)
        python_merge(r, v, container);
    else
        for (int32_t i = 0; i < container->n; i++)
            python_append(r, v, container->items[i].value);
    v->why = container->why;
    return v;
}

struct value *python_join(struct python_parser *r, const struct value *a,
                          const struct value *b)
{
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return python_unknown(r, a->line, "%s",
                              a->kind == VALUE_UNKNOWN ? a->why : b->why);
    if (a->kind != VALUE_STRING || b->kind != VALUE_STRING)
        return python_unknown(r, a->line, "it is arithmetic");
    size_t n = strlen(a->text) + strlen(b->text);
    if (n > PYTHON_STRING_MAX)
        return python_unknown(r, a->line, "it is too long a string");
    r->lex.work += (int64_t)n;
    return python_text(r, a->line, arena_printf(r->p->arena, "%s%s", a->text, b->text));
}

/* Rounded down, as Python's. */
static int64_t floored(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

struct value *python_calculate(struct python_parser *r, char op, const struct value *a,
                               const struct value *b)
{
    int64_t v = 0;
    bool whole = a->kind == VALUE_INT && b->kind == VALUE_INT, beyond = false;
    if (!whole && op == '+')
        return python_join(r, a, b);
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return python_unknown(r, a->line, "%s",
                              a->kind == VALUE_UNKNOWN ? a->why : b->why);
    if (!whole)
        return python_unknown(r, a->line, "it is arithmetic with \"%s\"",
                              op == '/' ? "//" : (char[]) { op, '\0' });
    if (op == '/')
        beyond = b->integer == 0 || (a->integer == INT64_MIN && b->integer == -1);
    else
        beyond = op == '+'   ? __builtin_add_overflow(a->integer, b->integer, &v)
                 : op == '-' ? __builtin_sub_overflow(a->integer, b->integer, &v)
                             : __builtin_mul_overflow(a->integer, b->integer, &v);
    if (beyond)
        return python_unknown(r, a->line, "it is no number that can be held");
    struct value *made = python_new(r, VALUE_INT, a->line);
    made->integer = op == '/' ? floored(a->integer, b->integer) : v;
    made->real = (double)made->integer;
    return made;
}

const char *python_key(struct python_parser *r, const struct value *key)
{
    if (key->kind == VALUE_STRING)
        return key->text;
    if (key->kind == VALUE_INT || key->kind == VALUE_BOOL)
        return arena_printf(r->p->arena, "%" PRId64, key->integer);
    return NULL;
}

struct value *python_element(struct python_parser *r, const struct value *x,
                             const struct value *key)
{
    if (x->kind == VALUE_LIST && key->kind == VALUE_INT) {
        int64_t i = key->integer < 0 ? key->integer + x->n : key->integer;
        if (i >= 0 && i < x->n && !x->gap)
            return x->items[i].value;
    }
    const char *name = python_key(r, key);
    const struct value_item *it = name ? find_item(x, name) : NULL;
    if (it)
        return it->value;
    if (x->kind == VALUE_UNKNOWN)
        return python_unknown(r, key->line, "%s", x->why);
    return python_unknown(r, key->line, "it is an element that is not known");
}

void python_spoil(struct python_parser *r, struct value *v, const char *why)
{
    (void)r;
    if (v->kind != VALUE_DICT && v->kind != VALUE_LIST)
        return;
    v->kind = VALUE_UNKNOWN;
    v->why = why;
    v->n = v->cap = 0;
}

/* Names ---------------------------------------------------------------------------- */

static struct python_name *find_name(const struct python *p, const char *name,
                                     int64_t from)
{
    for (int64_t i = p->names.n; i-- > from;)
        if (strcmp(p->names.v[i].name, name) == 0)
            return &p->names.v[i];
    return NULL;
}

void python_bind(struct python_parser *r, const char *name, struct value *v)
{
    struct python_name *old = find_name(r->p, name, r->scope);
    r->lex.work += r->p->names.n / 8;
    if (old)
        old->value = v;
    else if (r->p->names.n == PYTHON_NAMES_MAX)
        r->limit = "too many names";
    else
        VEC_PUSH(&r->p->names, ((struct python_name) { name, v }));
}

struct value *python_find(const struct python_parser *r, const char *name)
{
    struct python_name *n = find_name(r->p, name, 0);
    return n ? n->value : NULL;
}

const struct value *python_name(const struct python *p, const char *name)
{
    struct python_name *n = find_name(p, name, 0);
    return n ? n->value : NULL;
}

void python_note(struct python_parser *r, int64_t line, const char *fmt, ...)
{
    char text[240];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (r->p->notes.n < NOTES_MAX)
        VEC_PUSH(&r->p->notes,
                 ((struct python_note) { line, arena_strdup(r->p->arena, text) }));
}
