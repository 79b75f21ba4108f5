/* Values of Python source, and the names they are bound to. */
#include "dialect/source/python_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_MAX = 100 };

struct python_value *python_new(struct python_parser *r, enum python_kind kind,
                                int64_t line)
{
    struct python_value *v = ARENA_NEW(r->p->arena, struct python_value);
    v->kind = kind;
    v->line = line;
    if (++r->values > PYTHON_VALUES_MAX)
        r->limit = "too many values";
    return v;
}

struct python_value *python_unknown(struct python_parser *r, int64_t line,
                                    const char *fmt, ...)
{
    char why[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    struct python_value *v = python_new(r, PYTHON_UNKNOWN, line);
    v->why = arena_strdup(r->p->arena, why);
    return v;
}

struct python_value *python_text(struct python_parser *r, int64_t line, const char *s)
{
    struct python_value *v = python_new(r, PYTHON_STRING, line);
    v->text = s;
    return v;
}

/* Containers ----------------------------------------------------------------------- */

/* Room for one more item, or NULL. */
static struct python_item *add_item(struct python_parser *r, struct python_value *v)
{
    if (v->n == PYTHON_ITEMS_MAX || r->limit) {
        r->limit = "too many items in one dictionary or list";
        return NULL;
    }
    if (v->n == v->cap) {
        int32_t cap = v->cap ? 2 * v->cap : 4;
        struct python_item *more = ARENA_ARRAY(r->p->arena, cap, struct python_item);
        if (v->n)
            memcpy(more, v->items, (size_t)v->n * sizeof(*more));
        v->items = more;
        v->cap = cap;
    }
    r->values++;
    return &v->items[v->n++];
}

static struct python_item *find_item(const struct python_value *dict, const char *key)
{
    for (int32_t i = 0; dict && dict->kind == PYTHON_DICT && i < dict->n; i++)
        if (strcmp(dict->items[i].key, key) == 0)
            return &dict->items[i];
    return NULL;
}

const struct python_item *python_get(const struct python_value *dict, const char *key)
{
    return find_item(dict, key);
}

void python_put(struct python_parser *r, struct python_value *dict, const char *key,
                int64_t line, struct python_value *value)
{
    struct python_item *it = find_item(dict, key);
    if (!it)
        it = add_item(r, dict);
    if (it)
        *it = (struct python_item) { key, line, value };
}

void python_append(struct python_parser *r, struct python_value *list,
                   struct python_value *value)
{
    struct python_item *it = add_item(r, list);
    if (it)
        *it = (struct python_item) { NULL, value->line, value };
}

void python_merge(struct python_parser *r, struct python_value *dict,
                  const struct python_value *other)
{
    if (other->kind != PYTHON_DICT || other->gap)
        dict->gap = dict->gap ? dict->gap : other->gap ? other->gap : other->line;
    r->lex.work += (int64_t)other->n * (dict->n + other->n);
    for (int32_t i = 0; other->kind == PYTHON_DICT && i < other->n; i++)
        python_put(r, dict, other->items[i].key, other->items[i].line,
                   other->items[i].value);
}

struct python_value *python_copy(struct python_parser *r,
                                 const struct python_value *container)
{
    struct python_value *v = python_new(r, container->kind, container->line);
    if (container->kind == PYTHON_DICT)
        python_merge(r, v, container);
    else
        for (int32_t i = 0; i < container->n; i++)
            python_append(r, v, container->items[i].value);
    v->why = container->why;
    return v;
}

struct python_value *python_join(struct python_parser *r, const struct python_value *a,
                                 const struct python_value *b)
{
    if (a->kind == PYTHON_UNKNOWN || b->kind == PYTHON_UNKNOWN)
        return python_unknown(r, a->line, "%s",
                              a->kind == PYTHON_UNKNOWN ? a->why : b->why);
    if (a->kind != PYTHON_STRING || b->kind != PYTHON_STRING)
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

struct python_value *python_calculate(struct python_parser *r, char op,
                                      const struct python_value *a,
                                      const struct python_value *b)
{
    int64_t v = 0;
    bool whole = a->kind == PYTHON_INT && b->kind == PYTHON_INT, beyond = false;
    if (!whole && op == '+')
        return python_join(r, a, b);
    if (a->kind == PYTHON_UNKNOWN || b->kind == PYTHON_UNKNOWN)
        return python_unknown(r, a->line, "%s",
                              a->kind == PYTHON_UNKNOWN ? a->why : b->why);
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
    struct python_value *made = python_new(r, PYTHON_INT, a->line);
    made->integer = op == '/' ? floored(a->integer, b->integer) : v;
    made->real = (double)made->integer;
    return made;
}

const char *python_key(struct python_parser *r, const struct python_value *key)
{
    if (key->kind == PYTHON_STRING)
        return key->text;
    if (key->kind == PYTHON_INT || key->kind == PYTHON_BOOL)
        return arena_printf(r->p->arena, "%" PRId64, key->integer);
    return NULL;
}

struct python_value *python_element(struct python_parser *r,
                                    const struct python_value *x,
                                    const struct python_value *key)
{
    if (x->kind == PYTHON_LIST && key->kind == PYTHON_INT) {
        int64_t i = key->integer < 0 ? key->integer + x->n : key->integer;
        if (i >= 0 && i < x->n && !x->gap)
            return x->items[i].value;
    }
    const char *name = python_key(r, key);
    const struct python_item *it = name ? find_item(x, name) : NULL;
    if (it)
        return it->value;
    if (x->kind == PYTHON_UNKNOWN)
        return python_unknown(r, key->line, "%s", x->why);
    return python_unknown(r, key->line, "it is an element that is not known");
}

void python_spoil(struct python_parser *r, struct python_value *v, const char *why)
{
    (void)r;
    if (v->kind != PYTHON_DICT && v->kind != PYTHON_LIST)
        return;
    v->kind = PYTHON_UNKNOWN;
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

void python_bind(struct python_parser *r, const char *name, struct python_value *v)
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

struct python_value *python_find(const struct python_parser *r, const char *name)
{
    struct python_name *n = find_name(r->p, name, 0);
    return n ? n->value : NULL;
}

const struct python_value *python_name(const struct python *p, const char *name)
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
