#include "dialect/source/value.h"
#include "base/names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WHY_MAX = 240 };

/* Making --------------------------------------------------------------------------- */

struct value *value_new(struct arena *arena, enum value_kind kind, int64_t line,
                        int64_t column)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) { .kind = kind, .line = line, .column = column };
    return v;
}

struct value *value_new_string(struct arena *arena, const char *text, int64_t line,
                               int64_t column)
{
    struct value *v = value_new(arena, VALUE_STRING, line, column);
    v->text = text;
    return v;
}

struct value *value_new_bool(struct arena *arena, bool on, int64_t line)
{
    struct value *v = value_new(arena, VALUE_BOOL, line, 0);
    v->integer = on;
    return v;
}

struct value *value_new_unknown(struct arena *arena, int64_t line, int64_t column,
                                const char *why, ...)
{
    char text[WHY_MAX];
    struct value *v = value_new(arena, VALUE_UNKNOWN, line, column);
    va_list ap;
    va_start(ap, why);
    vsnprintf(text, sizeof(text), why, ap);
    va_end(ap);
    v->why = arena_strdup(arena, text);
    return v;
}

void value_add(struct arena *arena, struct value *container, const char *key,
               int64_t line, struct value *value)
{
    if (container->n == container->cap) {
        int32_t cap = container->cap ? 2 * container->cap : 4;
        struct value_item *more = ARENA_ARRAY(arena, cap, struct value_item);
        if (container->n)
            memcpy(more, container->items, (size_t)container->n * sizeof(*more));
        container->items = more;
        container->cap = cap;
    }
    container->items[container->n++] = (struct value_item) { key, line, value };
}

void value_remove(struct value *container, int32_t at)
{
    struct value_item *items = container->items;
    memmove(&items[at], &items[at + 1],
            (size_t)(container->n - at - 1) * sizeof(items[0]));
    container->n--;
}

struct value *value_copy(struct arena *arena, const struct value *v, int64_t *budget)
{
    if (--*budget < 0)
        return NULL;
    struct value *copy = ARENA_NEW(arena, struct value);
    *copy = *v;
    copy->items = NULL;
    copy->n = copy->cap = 0;
    for (int32_t i = 0; i < v->n; i++) {
        struct value *inner = value_copy(arena, v->items[i].value, budget);
        if (!inner)
            return NULL;
        value_add(arena, copy, v->items[i].key, v->items[i].line, inner);
    }
    return copy;
}

/* Finding and moving --------------------------------------------------------------- */

const struct value_item *value_get(const struct value *dict, const char *key)
{
    for (int32_t i = 0; dict && dict->kind == VALUE_DICT && i < dict->n; i++)
        if (names_same(dict->items[i].key, key))
            return &dict->items[i];
    return NULL;
}

struct value *value_member(const struct value *dict, const char *key)
{
    const struct value_item *it = value_get(dict, key);
    return it ? it->value : NULL;
}

void value_move_by(struct value *v, int64_t lines)
{
    v->line += lines;
    for (int32_t i = 0; i < v->n; i++) {
        v->items[i].line += lines;
        value_move_by(v->items[i].value, lines);
    }
}

void value_move_to(struct value *v, int64_t line)
{
    v->line = line;
    for (int32_t i = 0; i < v->n; i++) {
        v->items[i].line = line;
        value_move_to(v->items[i].value, line);
    }
}

/* JSON ----------------------------------------------------------------------------- */

/* What is beyond the budget is left out, and the budget then below 0. */
static struct value *of_json(struct arena *arena, struct cfg c, int64_t *budget);

static void add_items(struct arena *arena, struct value *v, struct cfg c,
                      int64_t *budget)
{
    v->items = ARENA_ARRAY(arena, cfg_len(c), struct value_item);
    for (int64_t i = 0; v->kind == VALUE_LIST && i < cfg_len(c) && --*budget >= 0;
         i++) {
        struct value *inner = of_json(arena, cfg_at(c, i), budget);
        v->items[v->n++] = (struct value_item) { NULL, inner->line, inner };
    }
    for (void *it = v->kind == VALUE_DICT ? cfg_first(c) : NULL; it && --*budget >= 0;
         it = cfg_next(c, it)) {
        struct value *inner = of_json(arena, cfg_member(c, it), budget);
        v->items[v->n++] = (struct value_item) { arena_strdup(arena, cfg_key(it)),
                                                 inner->line, inner };
    }
}

static struct value *of_json(struct arena *arena, struct cfg c, int64_t *budget)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) { .kind = VALUE_NONE, .line = cfg_line(c) };
    switch (json_typeof(c.json)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        v->kind = json_is_object(c.json) ? VALUE_DICT : VALUE_LIST;
        add_items(arena, v, c, budget);
        break;
    case JSON_STRING:
        v->kind = VALUE_STRING;
        v->text = arena_strdup(arena, json_string_value(c.json));
        break;
    case JSON_INTEGER:
        v->kind = VALUE_INT;
        v->integer = (int64_t)json_integer_value(c.json);
        v->real = (double)v->integer;
        break;
    case JSON_REAL:
        v->kind = VALUE_REAL;
        v->real = json_real_value(c.json);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        v->kind = VALUE_BOOL;
        v->integer = json_is_true(c.json);
        break;
    case JSON_NULL:
        break;
    }
    return v;
}

struct value *value_of_json(struct cfg root, int64_t most, const char *what)
{
    int64_t budget = most;
    struct value *v = of_json(cfg_arena(root), root, &budget);
    if (budget >= 0)
        return v;
    cfg_error(root, DIAG_OUT_OF_RANGE,
              "has more than %" PRId64 " values (leave out %s)", most, what);
    return NULL;
}

struct value *value_keys_of_json(struct cfg root)
{
    struct arena *arena = cfg_arena(root);
    if (!cfg_is_object(root))
        return NULL;
    struct value *v = ARENA_NEW(arena, struct value);
    struct value *none = ARENA_NEW(arena, struct value);
    *none = (struct value) { .kind = VALUE_NONE, .line = 1 };
    *v = (struct value) { .kind = VALUE_DICT, .line = 1 };
    v->items = ARENA_ARRAY(arena, cfg_len(root), struct value_item);
    for (void *it = cfg_first(root); it; it = cfg_next(root, it))
        v->items[v->n++] =
            (struct value_item) { arena_strdup(arena, cfg_key(it)), 1, none };
    return v;
}
