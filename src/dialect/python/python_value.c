/* Values of Python source, and the names they are bound to. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_MAX = 100 };

struct value *python_new(struct python_parser *r, enum value_kind kind, int64_t line)
{
    struct python_value *made = ARENA_NEW(r->p->arena, struct python_value);
    struct value *v = &made->value;
    made->born = r->values;
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

struct value *python_int(struct python_parser *r, int64_t line, int64_t n)
{
    struct value *v = python_new(r, VALUE_INT, line);
    v->integer = n;
    v->real = (double)n;
    return v;
}

struct value *python_real(struct python_parser *r, int64_t line, double x)
{
    if (!isfinite(x))
        return python_unknown(r, line, "it is no number that can be held");
    struct value *v = python_new(r, VALUE_REAL, line);
    v->real = x;
    return v;
}

struct value *python_bool(struct python_parser *r, int64_t line, bool b)
{
    struct value *v = python_new(r, VALUE_BOOL, line);
    v->integer = b;
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
        if (names_same(dict->items[i].key, key))
            return &dict->items[i];
    return NULL;
}

void python_put(struct python_parser *r, struct value *dict, const char *key,
                int64_t line, struct value *value)
{
    python_will_change(r, dict);
    struct value_item *it = find_item(dict, key);
    r->lex.work += dict->n / 8;
    if (!it)
        it = add_item(r, dict);
    if (it)
        *it = (struct value_item) { key, line, value };
}

void python_append(struct python_parser *r, struct value *list, struct value *value)
{
    python_will_change(r, list);
    struct value_item *it = add_item(r, list);
    if (it)
        *it = (struct value_item) { NULL, value->line, value };
}

void python_remove(struct python_parser *r, struct value *v, int32_t i)
{
    python_will_change(r, v);
    value_remove(v, i);
    r->lex.work += v->n - i;
}

void python_extend(struct python_parser *r, struct value *list,
                   const struct value *other)
{
    int32_t n = other->n; /* it may be the list itself */
    if (other->kind != VALUE_LIST || other->gap)
        list->gap = list->gap ? list->gap : other->gap ? other->gap : other->line;
    for (int32_t i = 0; other->kind == VALUE_LIST && i < n && !r->limit; i++)
        python_append(r, list, other->items[i].value);
}

void python_merge(struct python_parser *r, struct value *dict,
                  const struct value *other)
{
    python_will_change(r, dict);
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

static struct value *deep_copy(struct python_parser *r, const struct value *v, int deep)
{
    if (v->kind != VALUE_DICT && v->kind != VALUE_LIST)
        return (struct value *)(uintptr_t)v;
    struct value *copy = python_new(r, v->kind, v->line);
    copy->gap = v->gap;
    if (deep > PYTHON_DEPTH_MAX)
        return python_unknown(r, v->line, "it holds itself");
    for (int32_t i = 0; i < v->n && !r->limit; i++) {
        struct value_item *it = add_item(r, copy);
        if (it)
            *it = (struct value_item) { v->items[i].key, v->items[i].line,
                                        deep_copy(r, v->items[i].value, deep + 1) };
    }
    return copy;
}

struct value *python_deep_copy(struct python_parser *r, const struct value *v)
{
    return deep_copy(r, v, 0);
}

const char *python_key(struct python_parser *r, const struct value *key)
{
    if (key->kind == VALUE_STRING)
        return key->text;
    if (key->kind == VALUE_INT || key->kind == VALUE_BOOL)
        return arena_printf(r->p->arena, "%" PRId64, key->integer);
    if (key->kind == VALUE_REAL || key->kind == VALUE_NONE)
        return python_string(r, key);
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
    struct value *off = name ? python_argument_left_out(r, x, name, key->line) : NULL;
    if (off)
        return off;
    if (x->kind == VALUE_UNKNOWN || key->kind == VALUE_UNKNOWN)
        return python_unknown(r, key->line, "%s",
                              x->kind == VALUE_UNKNOWN ? x->why : key->why);
    return python_unknown(r, key->line, "it is an element that is not known");
}

void python_spoil(struct python_parser *r, struct value *v, const char *why)
{
    if (v->kind != VALUE_DICT && v->kind != VALUE_LIST)
        return;
    python_will_change(r, v);
    v->kind = VALUE_UNKNOWN;
    v->why = why;
    v->n = v->cap = 0;
}

/* Names ---------------------------------------------------------------------------- */

/* Most names that are looked for begin as others do (self.): by FNV-1a's 32 bits few are
 * compared. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    return h;
}

/* Where the last of that name is bound from there on; unbound ones have no value. -1. */
static int64_t find_name(const struct python_parser *r, const char *name, int64_t from)
{
    const uint32_t h = hash_of(name);
    const struct python_name *names = r->p->names.v;
    for (int64_t i = r->p->names.n; i-- > from;)
        if (r->hashes[i] == h && names[i].value && strcmp(names[i].name, name) == 0)
            return i;
    return -1;
}

void python_rebind(struct python_parser *r, int64_t name, struct value *v)
{
    python_will_bind(r, name);
    r->p->names.v[name].value = v;
}

/* Where the name outside is that the function under way declares as its own; -1: it
 * declares none, or there is none yet. What nobody calls sets nothing outside. */
static int64_t outer_name(const struct python_parser *r, const char *name)
{
    const struct python_outer *o = r->in.frame && !r->rest ? r->in.frame->outer : NULL;
    while (o && strcmp(o->name, name) != 0)
        o = o->next;
    for (int64_t i = 0; o && i < r->in.scope; i++) {
        int64_t at = o->global ? i : r->in.scope - 1 - i;
        if (r->p->names.v[at].value && strcmp(r->p->names.v[at].name, name) == 0)
            return at;
    }
    return -1;
}

/* A name that a branch bound keeps its place when that is taken back. */
void python_bind(struct python_parser *r, const char *name, struct value *v)
{
    int64_t i = r->p->names.n, outer = outer_name(r, name);
    const uint32_t h = hash_of(name);
    if (outer >= 0) {
        python_rebind(r, outer, v);
        return;
    }
    while (i-- > r->in.scope)
        if (r->hashes[i] == h && strcmp(r->p->names.v[i].name, name) == 0)
            break;
    r->lex.work += r->p->names.n / 8;
    if (i >= r->in.scope) {
        python_rebind(r, i, v);
    } else if (r->p->names.n == PYTHON_NAMES_MAX) {
        r->limit = "too many names";
    } else {
        r->hashes[r->p->names.n] = h;
        VEC_PUSH(&r->p->names, ((struct python_name) { name, NULL }));
        python_rebind(r, r->p->names.n - 1, v);
    }
}

struct value *python_find(const struct python_parser *r, const char *name)
{
    int64_t i = find_name(r, name, 0);
    return i >= 0 ? r->p->names.v[i].value : NULL;
}

/* The last of names that has a value. */
static const struct value *last_of(const struct python_name *names, int64_t n,
                                   const char *name)
{
    while (n-- > 0)
        if (names[n].value && strcmp(names[n].name, name) == 0)
            return names[n].value;
    return NULL;
}

const struct value *python_name(const struct python *p, const char *name)
{
    const struct value *v = last_of(p->names.v, p->names.n, name);
    return v ? v : last_of(p->left.v, p->left.n, name);
}

void python_note(struct python_parser *r, int64_t line, const char *fmt, ...)
{
    char text[240];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    for (int64_t i = 0; i < r->p->notes.n; i++) /* of a function called twice */
        if (r->p->notes.v[i].line == line && strcmp(r->p->notes.v[i].text, text) == 0)
            return;
    if (r->p->notes.n < NOTES_MAX)
        VEC_PUSH(&r->p->notes,
                 ((struct python_note) { line, arena_strdup(r->p->arena, text) }));
}

/* Calls and functions -------------------------------------------------------------- */

static const char *within_of(const struct python_parser *r)
{
    return r->in.around ? r->in.around->name : NULL;
}

/* Whether the function that is read is one of those that nothing called. */
static bool is_uncalled(const struct python_parser *r)
{
    return r->rest && r->in.around && !r->in.around->outer;
}

enum { BASES_MAX = 8 };

/* Model.from_pretrained(...) of class Model(LlamaForCausalLM), which has no such method of
 * its own, is its base's. */
static const char *of_base(struct python_parser *r, const char *function, int64_t line)
{
    const char *dot = strrchr(function, '.');
    if (!dot || strncmp(dot + 1, "from_", 5) != 0 || python_function(r, function))
        return function;
    const char *class = arena_strndup(r->p->arena, function, (size_t)(dot - function));
    const struct python_function *f = python_function(r, class);
    const char *base = f ? f->base : NULL;
    for (int i = 0; base && i < BASES_MAX && (f = python_function(r, base)); i++)
        base = f->base ? f->base : base;
    const char *last = base ? python_last_part(base) : "";
    const char *task = strstr(last, "For"); /* LlamaForCausalLM, and no Formatter */
    if (!(task && isupper((unsigned char)task[3])) && !names_ends(last, "LMHeadModel"))
        return function;
    python_note(r, line,
                "%.60s is the text's own class of %.60s: what it adds is not read",
                class, last);
    return arena_printf(r->p->arena, "%s%s", base, dot);
}

int64_t python_record(struct python_parser *r, const char *function, int64_t line,
                      const char *target, struct value *arguments)
{
    function = of_base(r, function, line);
    if (r->p->calls.n == PYTHON_CALLS_MAX) {
        r->limit = "too many calls";
        return -1;
    }
    VEC_PUSH(&r->p->calls, ((struct python_call) { .function = function,
                                                   .target = target,
                                                   .line = line,
                                                   .quoted = r->quoted,
                                                   .unsure = r->maybe > 0,
                                                   .condition = r->condition,
                                                   .every = r->every,
                                                   .loops = r->loops,
                                                   .loop = r->loop,
                                                   .around = r->in.around,
                                                   .within = within_of(r),
                                                   .uncalled = is_uncalled(r),
                                                   .arguments = arguments }));
    return r->p->calls.n - 1;
}

void python_set_attribute(struct python_parser *r, const struct value *x,
                          const char *key, int64_t line, struct value *v)
{
    static const char *const kinds[] = { "Arguments",  "Config",
                                         "Estimator",  "Config.from_pretrained",
                                         "PyTorch",    "HuggingFace",
                                         "TensorFlow", "ModelTrainer",
                                         "Accelerator" };
    for (int64_t i = r->p->calls.n; x && i-- > 0;) {
        struct python_call *c = &r->p->calls.v[i];
        bool made = false;
        for (size_t k = 0; c->result == x && k < sizeof(kinds) / sizeof(kinds[0]); k++)
            made |= names_ends(c->function, kinds[k]);
        if (!made)
            continue;
        if (c->arguments != x)
            python_put(r, c->arguments, key, line, v);
        return;
    }
}

const struct value *python_given_to(const struct python_parser *r,
                                    const struct value *x, const char *name)
{
    for (int64_t i = r->p->calls.n; i-- > 0;)
        if (r->p->calls.v[i].result == x)
            return value_member(r->p->calls.v[i].arguments, name);
    return NULL;
}

struct python_function *python_function(struct python_parser *r, const char *name)
{
    for (int64_t i = r->functions.n; i-- > 0;)
        if (names_same(r->functions.v[i].name, name))
            return &r->functions.v[i];
    return NULL;
}

bool python_is_object(const struct python_parser *r, const char *function)
{
    const char *const *o = r->wanted->objects;
    while (o && *o && fnmatch(*o, function, 0) != 0)
        o++;
    return o && *o;
}

const char *python_last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}
