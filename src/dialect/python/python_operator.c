/* Operators between values of Python source. */
#include "dialect/python/python_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value *lost(struct python_parser *r, const struct value *a,
                          const struct value *b)
{
    return python_unknown(r, a->line, "%s", a->kind == VALUE_UNKNOWN ? a->why : b->why);
}

static bool is_number(const struct value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_BOOL;
}

static double number(const struct value *v)
{
    return v->kind == VALUE_REAL ? v->real : (double)v->integer;
}

/* Arithmetic ----------------------------------------------------------------------- */

/* Rounded down, as Python's. */
static int64_t floored(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a to the b, of whole numbers; true when it is beyond 64 bits. */
static bool power(int64_t a, int64_t b, int64_t *v)
{
    bool beyond = b < 0 || b > 63 * 64;
    *v = 1;
    for (int64_t i = 0; i < b && !beyond; i++)
        beyond = __builtin_mul_overflow(*v, a, v) && a != 0;
    return beyond;
}

/* True when it is none that 64 bits hold. */
static bool whole_result(const char *op, int64_t a, int64_t b, int64_t *v)
{
    bool divides = strcmp(op, "//") == 0 || strcmp(op, "%") == 0;
    if (divides && (b == 0 || (a == INT64_MIN && b == -1)))
        return true;
    if (strcmp(op, "//") == 0)
        *v = floored(a, b);
    else if (strcmp(op, "%") == 0)
        *v = a - floored(a, b) * b;
    else if (strcmp(op, "**") == 0)
        return power(a, b, v);
    else if (strcmp(op, "<<") == 0)
        return b < 0 || b > 62 || __builtin_mul_overflow(a, INT64_C(1) << b, v);
    else if (strcmp(op, ">>") == 0)
        *v = b < 0 ? 0 : b > 62 ? 0 : a >> b;
    else if (strcmp(op, "&") == 0)
        *v = a & b;
    else if (strcmp(op, "|") == 0)
        *v = a | b;
    else if (strcmp(op, "+") == 0)
        return __builtin_add_overflow(a, b, v);
    else if (strcmp(op, "-") == 0)
        return __builtin_sub_overflow(a, b, v);
    else if (strcmp(op, "*") == 0)
        return __builtin_mul_overflow(a, b, v);
    else
        return true;
    return false;
}

static double real_result(const char *op, double a, double b)
{
    if (strcmp(op, "+") == 0)
        return a + b;
    if (strcmp(op, "-") == 0)
        return a - b;
    if (strcmp(op, "*") == 0)
        return a * b;
    if (strcmp(op, "/") == 0)
        return a / b;
    if (strcmp(op, "//") == 0)
        return floor(a / b);
    if (strcmp(op, "%") == 0)
        return a - floor(a / b) * b;
    if (strcmp(op, "**") == 0)
        return pow(a, b);
    return NAN;
}

static struct value *join_texts(struct python_parser *r, const struct value *a,
                                const struct value *b)
{
    bool known = a->kind == VALUE_STRING && b->kind == VALUE_STRING;
    if (!known && a->kind != VALUE_UNKNOWN && b->kind != VALUE_UNKNOWN)
        return python_unknown(r, a->line, "it is arithmetic");
    size_t n = (a->text ? strlen(a->text) : 0) + (b->text ? strlen(b->text) : 0);
    if (n > PYTHON_STRING_MAX)
        return python_unknown(r, a->line, "it is too long a string");
    r->lex.work += (int64_t)n;
    const char *text = arena_printf(r->p->arena, "%s%s", a->text ? a->text : "",
                                    b->text ? b->text : "");
    struct value *v = known ? python_text(r, a->line, text) : lost(r, a, b);
    if (!known && (a->text || b->text))
        v->text = text; /* known in part */
    return v;
}

/* "x" * 3, [0] * 3 */
static struct value *repeat(struct python_parser *r, const struct value *v, int64_t n)
{
    int64_t made = (v->kind == VALUE_STRING ? (int64_t)strlen(v->text) : v->n) *
                   (n > 0 && n <= PYTHON_STRING_MAX ? n : 0);
    if (n > PYTHON_STRING_MAX || made > PYTHON_STRING_MAX ||
        (v->kind == VALUE_LIST && made > PYTHON_ITEMS_MAX))
        return python_unknown(r, v->line, "it is too long");
    r->lex.work += made;
    if (v->kind == VALUE_LIST) {
        struct value *list = python_new(r, VALUE_LIST, v->line);
        for (int64_t i = 0; i < n; i++)
            python_extend(r, list, v);
        return list;
    }
    char *text = arena_alloc(r->p->arena, (size_t)made + 1, 1);
    size_t len = strlen(v->text);
    for (int64_t i = 0; i < n; i++)
        memcpy(text + (size_t)i * len, v->text, len);
    return python_text(r, v->line, text);
}

/* What + | * and % do of other things than numbers; NULL: nothing. */
static struct value *of_others(struct python_parser *r, const char *op,
                               const struct value *a, const struct value *b)
{
    bool adds = strcmp(op, "+") == 0, lists = a->kind == VALUE_LIST;
    if (strcmp(op, "%") == 0 && a->kind == VALUE_STRING) {
        const char *text = python_by_percent(r, a->text, b);
        struct value *v = text ? python_text(r, a->line, text)
                               : python_unknown(r, a->line, "it is formatted text");
        v->text = text ? text : a->text;
        return v;
    }
    if ((adds && lists) || (strcmp(op, "|") == 0 && a->kind == VALUE_DICT)) {
        struct value *v = python_copy(r, a);
        v->gap = a->gap;
        if (lists)
            python_extend(r, v, b);
        else
            python_merge(r, v, b);
        return v;
    }
    if (adds && (a->text || b->text))
        return join_texts(r, a, b);
    if (strcmp(op, "*") == 0 && b->kind == VALUE_INT &&
        (lists || a->kind == VALUE_STRING))
        return repeat(r, a, b->integer);
    return NULL;
}

/* Text of which a part is not known; NULL: it is no text. */
static const char *joined(struct python_parser *r, const struct value *a,
                          const struct value *b)
{
    const struct value *parts[] = { a, b };
    for (int i = 0; i < 2; i++)
        if (!parts[i]->text || parts[i]->kind == VALUE_DICT ||
            (parts[i]->kind == VALUE_UNKNOWN && !strchr(parts[i]->text, '{')))
            return NULL;
    if (strlen(a->text) + strlen(b->text) > PYTHON_STRING_MAX)
        return NULL;
    return arena_printf(r->p->arena, "%s%s", a->text, b->text);
}

struct value *python_calculate(struct python_parser *r, const char *op,
                               const struct value *a, const struct value *b)
{
    int64_t n = 0;
    struct value *v = of_others(r, op, a, b);
    if (strcmp(op, "%") == 0 && a->kind == VALUE_UNKNOWN && !a->text)
        r->remainder = b->kind == VALUE_INT && b->integer > 0 ? b->integer : -1;
    if (!v && strcmp(op, "/") == 0 && a->kind == VALUE_STRING &&
        b->kind == VALUE_STRING)
        v = python_path_join(r, a, b);
    if (v)
        return v;
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN) {
        v = lost(r, a, b);
        if (strcmp(op, "+") == 0)
            v->text = joined(r, a, b);
        return v;
    }
    if (!is_number(a) || !is_number(b))
        return python_unknown(r, a->line, "it is arithmetic with \"%s\"", op);
    bool whole = a->kind != VALUE_REAL && b->kind != VALUE_REAL &&
                 strcmp(op, "/") != 0 && (strcmp(op, "**") != 0 || b->integer >= 0);
    if (!whole)
        return python_real(r, a->line, real_result(op, number(a), number(b)));
    if (whole_result(op, a->integer, b->integer, &n))
        return python_unknown(r, a->line, "it is no number that can be held");
    return python_int(r, a->line, n);
}

/* Comparison ----------------------------------------------------------------------- */

static bool is_unset(const struct value *v)
{
    return v->kind == VALUE_UNKNOWN && v->integer == PYTHON_UNSET;
}

int python_truth(const struct value *v)
{
    switch (v->kind) {
    case VALUE_NONE:
        return 0;
    case VALUE_BOOL:
    case VALUE_INT:
        return v->integer != 0;
    case VALUE_REAL:
        return v->real != 0;
    case VALUE_STRING:
        return *v->text != '\0';
    case VALUE_LIST:
    case VALUE_DICT:
        return v->n || v->text ? 1 : v->gap ? -1 : 0; /* text: an object's class */
    case VALUE_UNKNOWN:
        return is_unset(v) ? 0 : -1;
    }
    return -1;
}

/* 1, 0; -1: not known. */
static int equal(const struct value *a, const struct value *b, int depth)
{
    if (a == b && a->kind != VALUE_UNKNOWN && !a->n)
        return 1;
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN || depth > 20 || a->gap ||
        b->gap)
        return -1;
    if (is_number(a) && is_number(b))
        return number(a) == number(b);
    if (a->kind != b->kind || a->n != b->n)
        return 0;
    bool classes = a->kind == VALUE_DICT && (a->text || b->text);
    if (classes && !(a->text && b->text && strcmp(a->text, b->text) == 0))
        return 0; /* objects of other classes */
    if (a->kind == VALUE_STRING)
        return strcmp(a->text, b->text) == 0;
    int all = 1;
    for (int32_t i = 0; i < a->n && all; i++) {
        const struct value_item *other =
            a->kind == VALUE_DICT ? value_get(b, a->items[i].key) : &b->items[i];
        int one = other ? equal(a->items[i].value, other->value, depth + 1) : 0;
        all = one == 0 ? 0 : one < 0 ? -1 : all;
    }
    return all;
}

bool python_same(const struct value *a, const struct value *b)
{
    bool numbers = is_number(a) && is_number(b);
    return a == b || (equal(a, b, 0) == 1 && (!numbers || a->kind == b->kind));
}

/* Whether a is in b: an element, a key, a part of a text. */
static int within(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_STRING && python_is_signature(b))
        return 1;
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return -1;
    if (b->kind == VALUE_STRING)
        return a->kind == VALUE_STRING ? strstr(b->text, a->text) != NULL : -1;
    int found = b->gap ? -1 : 0;
    for (int32_t i = 0; i < b->n && found != 1; i++) {
        int one = b->kind == VALUE_LIST     ? equal(a, b->items[i].value, 0)
                  : a->kind == VALUE_STRING ? strcmp(a->text, b->items[i].key) == 0
                                            : -1;
        found = one == 1 ? 1 : one < 0 ? -1 : found;
    }
    return found;
}

static int is_before(const struct value *a, const struct value *b)
{
    if (is_number(a) && is_number(b))
        return number(a) < number(b);
    if (a->kind == VALUE_STRING && b->kind == VALUE_STRING)
        return strcmp(a->text, b->text) < 0;
    return -1;
}

/* What is imported, and what a class makes, is something. */
static bool is_something(const struct value *v)
{
    return v->kind == VALUE_UNKNOWN && v->integer == PYTHON_SOMETHING;
}

/* None, True and False are themselves alone; "is" of others is up to Python. */
static int is_itself(const struct value *a, const struct value *b)
{
    if ((a->kind == VALUE_NONE && is_something(b)) ||
        (b->kind == VALUE_NONE && is_something(a)))
        return 0;
    bool single = a->kind == VALUE_NONE || b->kind == VALUE_NONE ||
                  (a->kind == VALUE_BOOL && b->kind == VALUE_BOOL);
    if (is_unset(a) || is_unset(b))
        return single;
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return -1;
    return single ? a->kind == b->kind && a->integer == b->integer : equal(a, b, 0);
}

static int negated(int truth)
{
    return truth < 0 ? truth : !truth;
}

struct value *python_compare(struct python_parser *r, const char *op,
                             const struct value *a, const struct value *b)
{
    int truth = strcmp(op, "==") == 0       ? equal(a, b, 0)
                : strcmp(op, "!=") == 0     ? negated(equal(a, b, 0))
                : strcmp(op, "<") == 0      ? is_before(a, b)
                : strcmp(op, ">=") == 0     ? negated(is_before(a, b))
                : strcmp(op, ">") == 0      ? is_before(b, a)
                : strcmp(op, "<=") == 0     ? negated(is_before(b, a))
                : strcmp(op, "in") == 0     ? within(a, b)
                : strcmp(op, "not in") == 0 ? negated(within(a, b))
                : strcmp(op, "is") == 0     ? is_itself(a, b)
                                            : negated(is_itself(a, b));
    r->lex.work += a->n + b->n;
    if (truth >= 0)
        return python_bool(r, a->line, truth);
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return lost(r, a, b);
    return python_unknown(r, a->line, "it is a comparison with \"%s\"", op);
}

/* As text -------------------------------------------------------------------------- */

/* The shortest digits that give the number again, as Python's repr. */
static const char *real_text(struct python_parser *r, double x)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    bool small = fabs(x) < 1e16 && fabs(x) >= 1e-4;
    if (small && strchr(text, 'e'))
        snprintf(text, sizeof(text), "%.0f", x);
    bool whole = !strpbrk(text, ".eni");
    return arena_printf(r->p->arena, "%s%s", text, whole ? ".0" : "");
}

const char *python_string(struct python_parser *r, const struct value *v)
{
    switch (v->kind) {
    case VALUE_STRING:
        return v->text;
    case VALUE_INT:
        return arena_printf(r->p->arena, "%" PRId64, v->integer);
    case VALUE_BOOL:
        return v->integer ? "True" : "False";
    case VALUE_NONE:
        return "None";
    case VALUE_REAL:
        return real_text(r, v->real);
    case VALUE_LIST:
    case VALUE_DICT:
    case VALUE_UNKNOWN:
        break;
    }
    return NULL;
}
