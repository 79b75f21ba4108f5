/* Functions of Python that make numbers and texts of values. */
#include "dialect/python/python_builtin.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_number(const struct value *v)
{
    return v &&
           (v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_BOOL);
}

static double number(const struct value *v)
{
    return v->kind == VALUE_REAL ? v->real : (double)v->integer;
}

static struct value *whole_of(struct python_parser *r, const struct python_arguments *a,
                              double x, const char *what)
{
    if (!(fabs(x) < 9e18))
        return python_lost(r, a, what);
    return python_int(r, a->line, (int64_t)x);
}

static struct value *to_int(struct python_parser *r, const struct python_arguments *a)
{
    if (!a->first)
        return python_int(r, a->line, 0);
    const struct value *given = python_placed(a, a->second, "base");
    int64_t base = given ? given->integer : 10;
    bool based =
        !given || (given->kind == VALUE_INT && a->first->kind == VALUE_STRING &&
                   (base == 0 || (base >= 2 && base <= 36)));
    if (!based)
        return given->kind == VALUE_UNKNOWN
                   ? python_unknown(r, a->line, "%s", given->why)
                   : python_lost(r, a, "int()");
    if (a->first->kind == VALUE_REAL)
        return whole_of(r, a, trunc(a->first->real), "int()");
    if (is_number(a->first))
        return python_int(r, a->line, a->first->integer);
    if (a->first->kind == VALUE_STRING) {
        char *end;
        errno = 0;
        long long n = strtoll(a->first->text, &end, (int)base);
        if (end != a->first->text && !*end && !errno)
            return python_int(r, a->line, n);
    }
    return python_lost(r, a, "int()");
}

static struct value *to_float(struct python_parser *r, const struct python_arguments *a)
{
    if (is_number(a->first))
        return python_real(r, a->line, number(a->first));
    if (a->first && a->first->kind == VALUE_STRING) {
        char *end;
        double x = strtod(a->first->text, &end);
        if (end != a->first->text && !*end && isfinite(x))
            return python_real(r, a->line, x);
    }
    return python_lost(r, a, "float()");
}

static struct value *to_str(struct python_parser *r, const struct python_arguments *a)
{
    const char *text = a->first ? python_string(r, a->first) : "";
    return text ? python_text(r, a->line, text) : python_lost(r, a, "str()");
}

static struct value *to_bool(struct python_parser *r, const struct python_arguments *a)
{
    int truth = a->first ? python_truth(a->first) : 0;
    return truth >= 0 ? python_bool(r, a->line, truth) : python_lost(r, a, "bool()");
}

static struct value *length(struct python_parser *r, const struct python_arguments *a)
{
    const struct value *v = a->first;
    if (v && v->kind == VALUE_STRING) {
        int64_t n = 0;
        for (const char *s = v->text; *s; s++)
            n += ((unsigned char)*s & 0xc0) != 0x80;
        return python_int(r, a->line, n);
    }
    bool object = v && v->kind == VALUE_DICT && v->text;
    bool known = v && (v->kind == VALUE_LIST || v->kind == VALUE_DICT) && !v->gap;
    struct value *given =
        object ? python_object_call(r, (struct value *)(uintptr_t)v, "__len__",
                                    python_new(r, VALUE_DICT, a->line), a->line)
               : NULL;
    return given              ? given
           : known && !object ? python_int(r, a->line, v->n)
                              : python_lost(r, a, "len()");
}

/* max(a, b) and max([a, b]), `sign` -1 for min. What key= is, is not read; default= is
 * what an empty list has. */
static struct value *extreme(struct python_parser *r, const struct python_arguments *a,
                             int sign)
{
    const struct value *list = a->second ? a->all : a->first;
    const struct value_item *otherwise = value_get(a->all, "default");
    struct value *best = NULL;
    bool known = list && !list->gap && !value_get(a->all, "key") &&
                 (list->kind == VALUE_LIST || (list->kind == VALUE_DICT && a->second));
    for (int32_t i = 0; known && i < list->n; i++) {
        struct value *v = list->items[i].value;
        if (v->kind == VALUE_UNKNOWN)
            return python_unknown(r, a->line, "%s", v->why);
        known = is_number(v) &&
                (!list->items[i].key || isdigit((unsigned char)*list->items[i].key));
        if (known && (!best || sign * number(v) > sign * number(best)))
            best = v;
    }
    if (known && !best && otherwise)
        best = otherwise->value;
    return known && best ? best : python_lost(r, a, sign > 0 ? "max()" : "min()");
}

static struct value *largest(struct python_parser *r, const struct python_arguments *a)
{
    return extreme(r, a, 1);
}

static struct value *smallest(struct python_parser *r, const struct python_arguments *a)
{
    return extreme(r, a, -1);
}

static struct value *sum_of(struct python_parser *r, const struct python_arguments *a)
{
    struct value *start = python_placed(a, a->second, "start"),
                 *v = start ? start : python_int(r, a->line, 0);
    if (!a->first || a->first->kind != VALUE_LIST || a->first->gap)
        return python_lost(r, a, "sum()");
    for (int32_t i = 0; i < a->first->n; i++)
        v = python_calculate(r, "+", v, a->first->items[i].value);
    return v;
}

static struct value *absolute(struct python_parser *r, const struct python_arguments *a)
{
    if (!is_number(a->first) || a->first->integer == INT64_MIN)
        return python_lost(r, a, "abs()");
    return a->first->kind == VALUE_REAL
               ? python_real(r, a->line, fabs(a->first->real))
               : python_int(r, a->line, llabs(a->first->integer));
}

static struct value *rounded(struct python_parser *r, const struct python_arguments *a)
{
    if (!is_number(a->first) || a->second)
        return python_lost(r, a, "round()");
    return whole_of(r, a, nearbyint(number(a->first)), "round()"); /* to even */
}

static struct value *ceiling(struct python_parser *r, const struct python_arguments *a)
{
    return is_number(a->first) ? whole_of(r, a, ceil(number(a->first)), "math.ceil()")
                               : python_lost(r, a, "math.ceil()");
}

static struct value *floor_of(struct python_parser *r, const struct python_arguments *a)
{
    return is_number(a->first) ? whole_of(r, a, floor(number(a->first)), "math.floor()")
                               : python_lost(r, a, "math.floor()");
}

static struct value *root_of(struct python_parser *r, const struct python_arguments *a)
{
    bool has = is_number(a->first) && number(a->first) >= 0;
    return has ? python_real(r, a->line, sqrt(number(a->first)))
               : python_lost(r, a, "math.sqrt()");
}

const struct python_function_row python_numbers[] = {
    { "int", to_int },        { "float", to_float },    { "str", to_str },
    { "bool", to_bool },      { "len", length },        { "max", largest },
    { "min", smallest },      { "sum", sum_of },        { "abs", absolute },
    { "round", rounded },     { "math.ceil", ceiling }, { "math.floor", floor_of },
    { "math.sqrt", root_of }, { NULL, NULL },
};
