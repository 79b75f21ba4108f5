/* What may be wrong with a mapping's values, before any row is read: see value.h. */
#include "validation/value.h"

#include "validation/expr.h"
#include "validation/map_key.h"

static int any_number(void *arg, const char *name, size_t n, double *v, struct err *err)
{
    const struct csv *csv = arg;
    *v = 1;
    return column_find(csv, name, n) < 0 ? column_unknown(csv, name, n, err) : 0;
}

static bool is_form(struct cfg value)
{
    return cfg_is_object(value) && cfg_get(value, "expr").json;
}

int mapping_check_text(struct cfg value, const struct csv *csv)
{
    const char *text, *name;
    size_t n = 0;
    if (cfg_string(value, &text))
        return -1;
    struct err err = { 0 };
    do {
        if (column_next(&text, &name, &n, &err) == 0 && name &&
            column_find(csv, name, n) < 0)
            column_unknown(csv, name, n, &err);
        if (err.set)
            return cfg_error(value, DIAG_SYNTAX, "%s", err.text);
    } while (name);
    return 0;
}

int mapping_check_number(struct cfg value, const struct csv *csv)
{
    if (cfg_is_number(value))
        return 0;
    if (is_form(value))
        return mapping_check(value, csv);
    const char *text;
    struct err err = { 0 };
    if (cfg_string(value, &text))
        return -1;
    struct csv *arg = (struct csv *)(uintptr_t)csv; /* only read */
    return expr_check(text, any_number, arg, &err)
               ? cfg_error(value, DIAG_SYNTAX, "%s", err.text)
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
        rc |= mapping_check(cfg_member(value, it), csv);
    return rc;
}

static int check_form(struct cfg value, const struct csv *csv)
{
    struct form f = { 0 };
    int rc = cfg_read(value, form_fields, &f);
    if (cfg_present(f.map)) {
        if (!cfg_is_object(f.map))
            rc = cfg_error(f.map, DIAG_WRONG_TYPE,
                           "should be an object of texts and their values");
        rc |= mapping_check_text(f.expr, csv) | map_key_check(f.map);
        rc |= check_members(f.map, csv);
    } else {
        rc |= mapping_check_number(f.expr, csv);
    }
    if (cfg_present(f.fallback))
        rc |= mapping_check(f.fallback, csv);
    return rc ? -1 : 0;
}

int mapping_check(struct cfg value, const struct csv *csv)
{
    int rc = 0;
    if (is_form(value))
        return check_form(value, csv);
    if (cfg_is_object(value))
        return check_members(value, csv) ? -1 : 0;
    if (cfg_is_string(value) && json_string_length(value.json) > 0)
        return mapping_check_text(value, csv);
    for (int64_t i = 0; cfg_is_array(value) && i < cfg_len(value); i++)
        rc |= mapping_check(cfg_at(value, i), csv);
    return rc ? -1 : 0;
}
