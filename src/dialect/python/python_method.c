/* Methods of dictionaries and lists in Python source. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* x.update(other, a=1) */
static void update(struct python_parser *r, struct value *x,
                   const struct value *arguments)
{
    const struct value *first = value_member(arguments, "0");
    if (first)
        python_merge(r, x, first);
    struct value *named = python_copy(r, arguments);
    named->gap = arguments->gap;
    if (first && named->n) /* it is first */
        named->items++, named->n--;
    python_merge(r, x, named);
}

/* x.get(key, other), pop and setdefault. */
static struct value *look_up(struct python_parser *r, struct value *x,
                             const char *method, const struct value *arguments,
                             int64_t line)
{
    const struct value *key = value_member(arguments, "0");
    struct value *other = value_member(arguments, "1");
    const char *name = key ? python_key(r, key) : NULL;
    const struct value_item *it = name ? value_get(x, name) : NULL;
    bool pops = strcmp(method, "pop") == 0, sets = strcmp(method, "setdefault") == 0;
    if (!name)
        return python_unknown(r, line, ".%.40s() is a call", method);
    if (it) {
        struct value *found = it->value;
        if (pops)
            python_remove(r, x, (int32_t)(it - x->items));
        return found;
    }
    if (x->gap)
        return python_unknown(r, line, "it is an element that is not known");
    if (!other)
        other = pops ? python_unknown(r, line, "\"%.60s\" is no key", name)
                     : python_new(r, VALUE_NONE, line);
    if (sets)
        python_put(r, x, name, line, other);
    return other;
}

static struct value *key_value(struct python_parser *r, const struct value_item *it)
{
    return python_text(r, it->line, it->key);
}

/* x.items(), keys() and values() as lists. */
static struct value *listed(struct python_parser *r, const struct value *x,
                            const char *method, int64_t line)
{
    struct value *list = python_new(r, VALUE_LIST, line);
    list->gap = x->gap;
    for (int32_t i = 0; i < x->n && !r->limit; i++) {
        struct value *v = x->items[i].value;
        if (*method == 'k') {
            v = key_value(r, &x->items[i]);
        } else if (*method == 'i') {
            struct value *pair = python_new(r, VALUE_LIST, line);
            python_append(r, pair, key_value(r, &x->items[i]));
            python_append(r, pair, v);
            v = pair;
        }
        python_append(r, list, v);
    }
    return list;
}

static struct value *dict_method(struct python_parser *r, struct value *x,
                                 const char *method, const struct value *arguments,
                                 int64_t line)
{
    static const char *const lists[] = { "items", "keys", "values", NULL };
    static const char *const finds[] = { "get", "pop", "setdefault", NULL };
    if (names_listed(lists, method))
        return listed(r, x, method, line);
    if (names_listed(finds, method))
        return look_up(r, x, method, arguments, line);
    if (strcmp(method, "update") != 0)
        return NULL;
    update(r, x, arguments);
    return python_new(r, VALUE_NONE, line);
}

static struct value *list_method(struct python_parser *r, struct value *x,
                                 const char *method, const struct value *arguments,
                                 int64_t line)
{
    struct value *first = value_member(arguments, "0");
    if (strcmp(method, "append") == 0 && first)
        python_append(r, x, first);
    else if (strcmp(method, "extend") == 0 && first)
        python_extend(r, x, first);
    else if (strcmp(method, "pop") == 0 && !first && x->n && !x->gap) {
        struct value *last = x->items[x->n - 1].value;
        python_remove(r, x, x->n - 1);
        return last;
    } else {
        return NULL;
    }
    if (r->unsure_loops) /* how often is not known */
        x->gap = x->gap ? x->gap : line;
    return python_new(r, VALUE_NONE, line);
}

/* NeMo-Run's: "*.name" is each member called so of all inside. */
static void broadcast(struct python_parser *r, struct value *x,
                      const struct value *arguments)
{
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        python_put(r, x, arena_printf(r->p->arena, "*.%s", it->key), it->line,
                   it->value);
    }
}

struct value *python_method(struct python_parser *r, struct value *x,
                            const char *method, const struct value *arguments,
                            int64_t line)
{
    static const char *const harmless[] = { "index", "count", NULL };
    struct value *file = python_file_method(r, x, method, line);
    if (file)
        return file;
    if (python_is_signature(x)) /* keys() */
        return x;
    if (x->kind != VALUE_DICT && x->kind != VALUE_LIST)
        return python_text_method(r, x, method, arguments, line);
    if (python_is_field_parser(x) && strncmp(method, "parse", 5) == 0)
        return python_parse_fields(r, x, method, arguments, line);
    if (strcmp(method, "copy") == 0)
        return python_copy(r, x);
    struct value *v = x->kind == VALUE_DICT
                          ? dict_method(r, x, method, arguments, line)
                          : list_method(r, x, method, arguments, line);
    if (v)
        return v;
    /* what a class was given is not changed by its methods */
    bool object = x->kind == VALUE_DICT && x->text && python_is_object(r, x->text),
         class = x->kind == VALUE_DICT && x->text &&
                 isupper((unsigned char)*python_last_part(x->text));
    if (object && strcmp(method, "broadcast") == 0)
        broadcast(r, x, arguments);
    bool own = class && python_method_sets(r, x->text, method);
    if ((own || (!class && !object)) && !names_listed(harmless, method))
        python_spoil(r, x,
                     arena_printf(r->p->arena,
                                  "it is changed by .%.40s() at line %" PRId64, method,
                                  line));
    return python_unknown(r, line, ".%.40s() is a call", method);
}

struct value *python_items(struct python_parser *r, const struct value *v)
{
    if (v->gap)
        return NULL;
    if (v->kind == VALUE_LIST)
        return python_copy(r, v); /* a loop may change it */
    struct value *list = python_new(r, VALUE_LIST, v->line);
    if (v->kind == VALUE_DICT) {
        for (int32_t i = 0; i < v->n && !r->limit; i++)
            python_append(r, list, python_text(r, v->items[i].line, v->items[i].key));
        return list;
    }
    if (v->kind != VALUE_STRING || strlen(v->text) > PYTHON_ITEMS_MAX)
        return NULL;
    for (const char *s = v->text; *s && !r->limit;) {
        size_t n = 1;
        while (((unsigned char)s[n] & 0xc0) == 0x80)
            n++;
        python_append(r, list,
                      python_text(r, v->line, arena_strndup(r->p->arena, s, n)));
        s += n;
    }
    return list;
}
