#include "validation/value.h"

#include "base/xmalloc.h"
#include "validation/cell.h"
#include "validation/expr.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Where an expression's columns are looked up, and what was met on the way. */
struct lookup {
    struct value_row row;
    bool is_empty, is_oom;
};

static int64_t find_exactly(const struct csv *csv, const char *name, size_t n)
{
    for (int64_t i = 0; i < csv->n_columns; i++)
        if (strncmp(csv->columns[i], name, n) == 0 && csv->columns[i][n] == '\0')
            return i;
    return -1;
}

/* The column named COLUMN, or COLUMN#I for the I-th number within its text (*part; 0: the
 * whole cell). */
static int64_t find_part(const struct csv *csv, const char *name, size_t n, int *part)
{
    int64_t column = find_exactly(csv, name, n);
    *part = 0;
    if (column < 0 && n > 2 && name[n - 2] == '#' && name[n - 1] >= '1' &&
        name[n - 1] <= '9') {
        *part = name[n - 1] - '0';
        column = find_exactly(csv, name, n - 2);
    }
    return column;
}

static int64_t find_column(const struct csv *csv, const char *name, size_t n)
{
    int part;
    return find_part(csv, name, n, &part);
}

static int no_column(const struct csv *csv, const char *name, size_t n, struct err *err)
{
    char *word = xstrndup(name, n);
    const char *nearest = NULL;
    int least = (int)n / 2 + 1;
    for (int64_t i = 0; i < csv->n_columns && n < 200; i++) {
        int d = names_distance(word, csv->columns[i]);
        if (d < least) {
            least = d;
            nearest = csv->columns[i];
        }
    }
    if (nearest)
        err_set(err, "the table has no column {%s} (did you mean {%s}?)", word,
                nearest);
    else
        err_set(err, "the table has no column {%.100s}", word);
    free(word);
    return -1;
}

/* The cell's text, or the part of it that the name asks for: *len bytes; NULL with err
 * set. A part that is not there is empty. */
static const char *cell_of(struct value_row row, const char *name, size_t n,
                           size_t *len, struct err *err)
{
    int part;
    int64_t column = find_part(row.csv, name, n, &part);
    if (column < 0) {
        no_column(row.csv, name, n, err);
        return NULL;
    }
    const char *cell = csv_cell(row.csv, row.row, column);
    *len = strlen(cell);
    if (part && cell_find_number(cell, part, &cell, len)) {
        *len = 0;
        return "";
    }
    return cell;
}

static int cell_number(void *arg, const char *name, size_t n, double *v,
                       struct err *err)
{
    struct lookup *l = arg;
    size_t len = 0;
    const char *at = cell_of(l->row, name, n, &len, err);
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

static int any_number(void *arg, const char *name, size_t n, double *v, struct err *err)
{
    const struct csv *csv = arg;
    *v = 1;
    return find_column(csv, name, n) < 0 ? no_column(csv, name, n, err) : 0;
}

/* Walks a template: text up to the next column, then the column. NULL name at the end. */
static int next_piece(const char **at, const char **name, size_t *n, struct err *err)
{
    *at += strcspn(*at, "{");
    *name = NULL;
    if (**at == '\0')
        return 0;
    *n = strcspn(*at + 1, "}");
    if ((*at)[1 + *n] == '\0')
        return err_set(err, "\"{\" without \"}\" in \"%.200s\"", *at);
    *name = *at + 1;
    *at += *n + 2;
    return 0;
}

static bool is_form(struct cfg value)
{
    return cfg_is_object(value) && cfg_get(value, "expr").json;
}

int value_check_text(struct cfg value, const struct csv *csv)
{
    const char *text, *name;
    size_t n = 0;
    if (cfg_string(value, &text))
        return -1;
    struct err err = { 0 };
    do {
        if (next_piece(&text, &name, &n, &err) == 0 && name &&
            find_column(csv, name, n) < 0)
            no_column(csv, name, n, &err);
        if (err.set)
            return cfg_error(value, "%s", err.text);
    } while (name);
    return 0;
}

int value_check_number(struct cfg value, const struct csv *csv)
{
    if (cfg_is_number(value))
        return 0;
    if (is_form(value))
        return value_check(value, csv);
    const char *text;
    struct err err = { 0 };
    if (cfg_string(value, &text))
        return -1;
    struct csv *arg = (struct csv *)(uintptr_t)csv; /* only read */
    return expr_check(text, any_number, arg, &err) ? cfg_error(value, "%s", err.text)
                                                   : 0;
}

struct form {
    struct cfg expr, map, fallback, ratio_to;
    const char *unit;
};

static const struct cfg_field form_fields[] = {
    CFG_CHILD("expr", struct form, expr),
    CFG_CHILD("map", struct form, map),
    CFG_CHILD("default", struct form, fallback),
    CFG_CHILD("ratio_to", struct form, ratio_to), /* of measured quantities */
    CFG_STRING("unit", struct form, unit),
    CFG_END,
};

static int check_members(struct cfg value, const struct csv *csv)
{
    int rc = 0;
    for (void *it = cfg_first(value); it; it = cfg_next(value, it))
        rc |= value_check(cfg_member(value, it), csv);
    return rc;
}

/* "/PATTERN/": a POSIX extended regular expression; the pattern is the caller's. */
static char *pattern_of(const char *key)
{
    size_t n = strlen(key);
    return n > 2 && key[0] == '/' && key[n - 1] == '/' ? xstrndup(key + 1, n - 2)
                                                       : NULL;
}

static const int pattern_flags = REG_EXTENDED | REG_NOSUB | REG_ICASE;

static int check_patterns(struct cfg map)
{
    int rc = 0;
    for (void *it = cfg_first(map); it; it = cfg_next(map, it)) {
        regex_t regex;
        char *pattern = pattern_of(cfg_key(it));
        if (pattern && regcomp(&regex, pattern, pattern_flags) != 0)
            rc = cfg_error_key(
                cfg_member(map, it),
                "is no POSIX extended regular expression between slashes");
        else if (pattern)
            regfree(&regex);
        free(pattern);
    }
    return rc;
}

static int check_form(struct cfg value, const struct csv *csv)
{
    struct form f = { 0 };
    int rc = cfg_read(value, form_fields, &f);
    if (cfg_present(f.map)) {
        if (!cfg_is_object(f.map))
            rc = cfg_error(f.map, "should be an object of texts and their values");
        rc |= value_check_text(f.expr, csv) | check_patterns(f.map);
        rc |= check_members(f.map, csv);
    } else {
        rc |= value_check_number(f.expr, csv);
    }
    if (cfg_present(f.fallback))
        rc |= value_check(f.fallback, csv);
    return rc ? -1 : 0;
}

int value_check(struct cfg value, const struct csv *csv)
{
    int rc = 0;
    if (is_form(value))
        return check_form(value, csv);
    if (cfg_is_object(value))
        return check_members(value, csv) ? -1 : 0;
    if (cfg_is_string(value) && json_string_length(value.json) > 0)
        return value_check_text(value, csv);
    for (int64_t i = 0; cfg_is_array(value) && i < cfg_len(value); i++)
        rc |= value_check(cfg_at(value, i), csv);
    return rc ? -1 : 0;
}

int value_text(const char *template, struct value_row row, struct strbuf *b,
               struct err *err)
{
    const char *at = template, *name;
    size_t n = 0;
    do {
        const char *from = at;
        if (next_piece(&at, &name, &n, err))
            return -1;
        strbuf_add(b, from, (size_t)((name ? name - 1 : at) - from));
        size_t len = 0;
        const char *cell = name ? cell_of(row, name, n, &len, err) : "";
        if (!cell)
            return -1;
        strbuf_add(b, cell, len);
    } while (name);
    return 0;
}

static json_t *resolve_text(const char *template, struct value_row row, struct err *err)
{
    struct strbuf b;
    strbuf_init(&b);
    json_t *out = NULL;
    bool one_column =
        template[0] == '{' && strcspn(template, "}") + 1 == strlen(template);
    if (value_text(template, row, &b, err) == 0)
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

static bool key_matches(const char *key, const char *text)
{
    regex_t regex;
    char *pattern = pattern_of(key);
    if (!pattern)
        return cell_alike(key, text);
    bool found = false;
    if (regcomp(&regex, pattern, pattern_flags) == 0) {
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
    }
    free(pattern);
    return found;
}

/* The very text, else the first key in the map that is alike or whose pattern matches. */
static json_t *find_in_map(json_t *map, const char *text)
{
    json_t *found = json_object_get(map, text), *value;
    const char *key;
    if (found)
        return found;
    json_object_foreach(map, key, value)
    {
        if (key_matches(key, text))
            return value;
    }
    return NULL;
}

static json_t *resolve_map(json_t *form, struct value_row row, struct err *err)
{
    struct strbuf b;
    strbuf_init(&b);
    json_t *out = NULL, *fallback = json_object_get(form, "default");
    const char *key_text = json_string_value(json_object_get(form, "expr"));
    if (value_text(key_text ? key_text : "", row, &b, err) == 0) {
        json_t *found = find_in_map(json_object_get(form, "map"), strbuf_get(&b));
        if (found || fallback)
            out = value_resolve(found ? found : fallback, row, err);
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
        return value_resolve(fallback, row, err);
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
        json_t *v = value_resolve(member, row, &inner);
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
        json_t *v = value_resolve(json_array_get(value, i), row, err);
        if (!v) {
            json_decref(out);
            return NULL;
        }
        json_array_append_new(out, v);
    }
    return out;
}

json_t *value_resolve(json_t *value, struct value_row row, struct err *err)
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

int value_number(json_t *value, struct value_row row, enum value_state *state,
                 double *number, struct err *err)
{
    json_t *expr = json_is_object(value) ? json_object_get(value, "expr") : value;
    bool mapped = json_is_object(value) && json_object_get(value, "map");
    if (json_is_string(expr) && !mapped)
        return measured_expr(json_string_value(expr), row, state, number, err);
    json_t *v = value_resolve(value, row, err);
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
