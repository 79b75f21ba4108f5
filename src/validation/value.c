#include "validation/value.h"

#include "base/xmalloc.h"
#include "validation/cell.h"
#include "validation/expr.h"
#include "validation/map_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where an expression's columns are looked up, and what was met on the way. */
struct lookup {
    struct value_row row;
    bool is_empty, is_oom;
};

static int cell_number(void *arg, const char *name, size_t n, double *v,
                       struct err *err)
{
    struct lookup *l = arg;
    size_t len = 0;
    const char *at = column_cell(l->row, name, n, &len, err);
    if (!at)
        return -1;
    char *cell = xstrndup(at, len);
    enum cell_state state = cell_read(cell, v);
    l->is_empty |= state == CELL_EMPTY;
    l->is_oom |= state == CELL_OOM;
    if (state == CELL_EMPTY)
        err_set(err, "column {%.*s} is empty in this row", (int)n, name);
    else if (state == CELL_OOM)
        err_set(err, "column {%.*s} says out of memory", (int)n, name);
    else if (state == CELL_TEXT)
        err_set(err, "\"%.60s\" in column {%.*s} is no number", cell, (int)n, name);
    free(cell);
    return state == CELL_NUMBER ? 0 : -1;
}

static json_t *resolve_text(const char *template, struct value_row row, struct err *err)
{
    struct strbuf b;
    strbuf_init(&b);
    json_t *out = NULL;
    bool one_column =
        template[0] == '{' && strcspn(template, "}") + 1 == strlen(template);
    if (column_fill(template, row, &b, err) == 0)
        out = one_column && b.len == 0 ? json_null() : json_string(strbuf_get(&b));
    strbuf_release(&b);
    if (!out)
        err_set(err, "\"%.100s\" does not come to UTF-8 text", template);
    return out;
}

static json_t *number_json(double v, const char *unit)
{
    if (unit)
        return json_sprintf("%.15g%s", v, unit);
    if (v == floor(v) && fabs(v) < 9007199254740992.0)
        return json_integer((json_int_t)v);
    return json_real(v);
}

static json_t *resolve_map(json_t *form, struct value_row row, struct err *err)
{
    struct strbuf b;
    strbuf_init(&b);
    json_t *out = NULL, *fallback = json_object_get(form, "default");
    const char *key_text = json_string_value(json_object_get(form, "expr"));
    if (column_fill(key_text ? key_text : "", row, &b, err) == 0) {
        json_t *found = map_key_find(json_object_get(form, "map"), strbuf_get(&b));
        if (found || fallback)
            out = mapping_resolve(found ? found : fallback, row, err);
        else
            err_set(err, "the map of \"%.100s\" has no \"%.100s\"", key_text,
                    strbuf_get(&b));
    }
    strbuf_release(&b);
    return out;
}

static json_t *resolve_expr(json_t *form, struct value_row row, struct err *err)
{
    json_t *expr = json_object_get(form, "expr");
    json_t *fallback = json_object_get(form, "default");
    struct lookup l = { .row = row };
    struct err first = { 0 };
    double v = json_number_value(expr);
    if (json_is_number(expr) ||
        expr_eval(json_string_value(expr), cell_number, &l, &v, &first) == 0)
        return number_json(v, json_string_value(json_object_get(form, "unit")));
    if (l.is_empty && fallback)
        return mapping_resolve(fallback, row, err);
    err_set(err, "%s", first.text);
    return NULL;
}

static json_t *resolve_object(json_t *value, struct value_row row, struct err *err)
{
    json_t *out = json_object(), *member;
    const char *key;
    json_object_foreach(value, key, member)
    {
        struct err inner = { 0 };
        json_t *v = mapping_resolve(member, row, &inner);
        if (!v) {
            err_set(err, "/%s%s%s", key, inner.text[0] == '/' ? "" : ": ", inner.text);
            json_decref(out);
            return NULL;
        }
        json_object_set_new(out, key, v);
    }
    return out;
}

static json_t *resolve_array(json_t *value, struct value_row row, struct err *err)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *v = mapping_resolve(json_array_get(value, i), row, err);
        if (!v) {
            json_decref(out);
            return NULL;
        }
        json_array_append_new(out, v);
    }
    return out;
}

json_t *mapping_resolve(json_t *value, struct value_row row, struct err *err)
{
    if (json_is_string(value))
        return resolve_text(json_string_value(value), row, err);
    if (json_is_array(value))
        return resolve_array(value, row, err);
    if (!json_is_object(value))
        return json_copy(value);
    if (!json_object_get(value, "expr"))
        return resolve_object(value, row, err);
    return json_is_object(json_object_get(value, "map"))
               ? resolve_map(value, row, err)
               : resolve_expr(value, row, err);
}

static int measured_expr(const char *text, struct value_row row,
                         enum value_state *state, double *number, struct err *err)
{
    struct lookup l = { .row = row };
    struct err why = { 0 };
    if (expr_eval(text, cell_number, &l, number, &why) == 0)
        *state = VALUE_GIVEN;
    else if (l.is_oom)
        *state = VALUE_OOM;
    else if (l.is_empty)
        *state = VALUE_EMPTY;
    else
        return err_set(err, "%s", why.text);
    return 0;
}

int mapping_number(json_t *value, struct value_row row, enum value_state *state,
                   double *number, struct err *err)
{
    json_t *expr = json_is_object(value) ? json_object_get(value, "expr") : value;
    bool mapped = json_is_object(value) && json_object_get(value, "map");
    if (json_is_string(expr) && !mapped)
        return measured_expr(json_string_value(expr), row, state, number, err);
    json_t *v = mapping_resolve(value, row, err);
    if (!v)
        return -1;
    const char *text = json_string_value(v);
    *state = VALUE_GIVEN;
    *number = json_is_true(v) ? 1 : json_number_value(v);
    if (json_is_null(v))
        *state = VALUE_EMPTY;
    else if (text && cell_read(text, number) == CELL_OOM)
        *state = VALUE_OOM;
    bool wrong =
        json_is_object(v) || json_is_array(v) || (text && *state == VALUE_GIVEN);
    json_decref(v);
    return wrong ? err_set(err, "a measured value should be a number") : 0;
}
