/* Expressions of Python source: literals and known names give values, the rest is read
 * over to its end and gives a value that is not known. */
#include "dialect/source/python_parse.h"

#include <string.h>

static const char literal_mend[] = "it is no literal";
static const char arithmetic[] = "it is arithmetic";

void python_advance(struct python_parser *r)
{
    r->t = python_next(&r->lex);
    r->failed |= r->t.kind == TOKEN_BAD;
    /* going back to the next line after a failure may scan again, but not without
     * end */
    if (r->lex.work > 64 * (int64_t)r->lex.n + (1 << 16))
        r->limit = "too much that has to be read again and again";
}

bool python_at(const struct python_parser *r, const char *word)
{
    return python_is(&r->t, word);
}

void python_open(struct python_parser *r)
{
    if (r->lex.brackets == PYTHON_DEPTH_MAX)
        r->failed = true;
    else
        r->lex.brackets++;
    python_advance(r);
}

void python_close(struct python_parser *r, const char *bracket)
{
    if (!python_at(r, bracket) || r->failed) {
        r->failed = true;
        return;
    }
    r->lex.brackets--;
    python_advance(r);
}

/* What is not understood ----------------------------------------------------------- */

static bool ends_value(const struct python_parser *r)
{
    static const char *const ends[] = { ",", ")", "]", "}", ":", "=", ";" };
    if (r->failed || r->limit || r->t.kind == TOKEN_END || r->t.kind == TOKEN_NEWLINE)
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (python_at(r, ends[i]))
            return true;
    return false;
}

static bool at_any(const struct python_parser *r, const char *brackets)
{
    return r->t.kind == TOKEN_OP && r->t.n == 1 && strchr(brackets, *r->t.s);
}

/* Over everything up to the bracket that closes the one just opened, and over that. */
static void skip_brackets(struct python_parser *r)
{
    int32_t outside = r->lex.brackets;
    python_open(r);
    while (!r->failed && !r->limit && r->lex.brackets > outside) {
        if (r->t.kind == TOKEN_END)
            r->failed = true;
        else if (at_any(r, "([{"))
            python_open(r);
        else if (at_any(r, ")]}"))
            python_close(r, (char[]) { *r->t.s, '\0' });
        else
            python_advance(r);
    }
}

/* Over the rest of an expression; a lambda's parameters end with ":", and are no
 * end. */
static void skip_rest(struct python_parser *r)
{
    bool lambda = false;
    while (lambda || !ends_value(r)) {
        if (r->failed || r->limit || r->t.kind == TOKEN_END ||
            r->t.kind == TOKEN_NEWLINE || at_any(r, ")]}"))
            return;
        if (python_at(r, "lambda"))
            lambda = true;
        else if (python_at(r, ":"))
            lambda = false;
        if (at_any(r, "([{"))
            skip_brackets(r);
        else
            python_advance(r);
    }
}

/* Brackets ------------------------------------------------------------------------- */

/* Over "..." and its comma, if one follows: it means items that are left out. */
bool python_gap(struct python_parser *r, struct value *v)
{
    if (!python_at(r, "..."))
        return false;
    v->gap = r->t.line;
    python_advance(r);
    if (python_at(r, ","))
        python_advance(r);
    return true;
}

/* Whether another item follows a comma; anything but the closing bracket fails. */
bool python_comma(struct python_parser *r, const char *closing)
{
    if (python_at(r, ",")) {
        python_advance(r);
        return true;
    }
    r->failed |= !python_at(r, closing);
    return false;
}

bool python_goes_on(const struct python_parser *r, const char *closing)
{
    return !r->failed && !r->limit && !python_at(r, closing);
}

/* A list, a tuple, or an expression in brackets. */
static struct value *read_list(struct python_parser *r, const char *closing)
{
    struct value *v = python_new(r, VALUE_LIST, r->t.line);
    bool comma = false;
    python_open(r);
    while (python_goes_on(r, closing)) {
        if (python_gap(r, v))
            continue;
        bool unpacked = python_at(r, "*");
        struct value *item = python_expression(r);
        if (unpacked)
            v->gap = item->line;
        else
            python_append(r, v, item);
        bool more = python_comma(r, closing);
        comma |= more;
        if (!more)
            break;
    }
    python_close(r, closing);
    bool grouping = *closing == ')' && v->n == 1 && !comma && !v->gap;
    return grouping ? v->items[0].value : v;
}

/* "**other", in a dictionary or a call. */
bool python_unpacked(struct python_parser *r, struct value *dict)
{
    if (!python_at(r, "**"))
        return false;
    python_advance(r);
    python_merge(r, dict, python_expression(r));
    return true;
}

/* Why an entry makes the whole no dictionary that is known, or NULL. */
static const char *read_pair(struct python_parser *r, struct value *dict)
{
    struct value *key = python_expression(r);
    if (!python_at(r, ":"))
        return "it is a set or a comprehension";
    python_advance(r);
    struct value *value = python_expression(r);
    const char *name = python_key(r, key);
    if (!name)
        return "a key of it is no literal";
    python_put(r, dict, name, key->line, value);
    return NULL;
}

static struct value *read_dict(struct python_parser *r)
{
    struct value *v = python_new(r, VALUE_DICT, r->t.line);
    const char *why = NULL;
    python_open(r);
    while (python_goes_on(r, "}")) {
        if (python_gap(r, v))
            continue;
        if (!python_unpacked(r, v)) {
            const char *wrong = read_pair(r, v);
            why = why ? why : wrong;
        }
        if (!python_comma(r, "}"))
            break;
    }
    python_close(r, "}");
    return why ? python_unknown(r, v->line, "%s", why) : v;
}

/* Terms ---------------------------------------------------------------------------- */

const char *python_path(struct python_parser *r)
{
    const char *path = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
    python_advance(r);
    for (int parts = 1; python_at(r, ".") && !r->limit; parts++) {
        python_advance(r);
        if (r->t.kind != TOKEN_NAME || parts > 16) {
            r->failed = true;
            break;
        }
        path = arena_printf(r->p->arena, "%s.%.*s", path, (int)r->t.n, r->t.s);
        python_advance(r);
    }
    return path;
}

static struct value *read_strings(struct python_parser *r)
{
    struct value *v = NULL;
    while ((r->t.kind == TOKEN_STRING || (r->t.kind == TOKEN_OTHER && r->t.text)) &&
           !r->limit) {
        struct value *part;
        if (r->t.kind == TOKEN_STRING) {
            part = python_text(r, r->t.line, r->t.text);
        } else {
            part = python_unknown(r, r->t.line, "it is a string made by running");
            part->text = r->t.text;
        }
        v = v ? python_join(r, v, part) : part;
        python_advance(r);
    }
    return v;
}

static struct value *read_number(struct python_parser *r, int sign)
{
    struct value *v;
    if (r->t.kind == TOKEN_OTHER) {
        v = python_unknown(r, r->t.line, "it is no number that can be held");
    } else {
        v = python_new(r, r->t.kind == TOKEN_INT ? VALUE_INT : VALUE_REAL, r->t.line);
        v->integer = sign * r->t.integer;
        v->real = sign * r->t.real;
    }
    python_advance(r);
    return v;
}

static struct value *read_name(struct python_parser *r)
{
    static const struct {
        const char *word;
        enum value_kind kind;
        int64_t integer;
    } words[] = { { "True", VALUE_BOOL, 1 },
                  { "False", VALUE_BOOL, 0 },
                  { "None", VALUE_NONE, 0 } };
    int64_t line = r->t.line;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!python_at(r, words[i].word))
            continue;
        struct value *v = python_new(r, words[i].kind, line);
        v->integer = words[i].integer;
        python_advance(r);
        return v;
    }
    if (python_at(r, "lambda") || python_at(r, "not") || python_at(r, "await"))
        return python_unknown(r, line, "%s", literal_mend); /* its rest is read over */
    const char *path = python_path(r);
    if (python_at(r, "("))
        return python_call_at(r, path, line);
    struct value *v = python_find(r, path);
    return v ? v : python_unknown(r, line, "%.60s is not known before", path);
}

/* .attribute, [index] and (call) after a value that is no plain name. */
static struct value *read_postfix(struct python_parser *r, struct value *v)
{
    int64_t line = r->t.line;
    if (python_at(r, "[")) {
        python_open(r);
        struct value *key = python_expression(r);
        while (python_goes_on(r, "]")) { /* a slice */
            python_advance(r);
            skip_rest(r);
            key = python_unknown(r, line, "it is a slice");
        }
        python_close(r, "]");
        return python_element(r, v, key);
    }
    const char *text = v->kind == VALUE_STRING ? v->text : NULL;
    if (python_at(r, ".")) {
        python_advance(r);
        r->failed |= r->t.kind != TOKEN_NAME;
        python_advance(r);
    } else {
        python_arguments(r);
    }
    struct value *u = python_unknown(r, line, "it is a call");
    u->text = text ? text : v->kind == VALUE_UNKNOWN ? v->text : NULL;
    return u;
}

static struct value *read_term(struct python_parser *r)
{
    struct value *v;
    bool negative = python_at(r, "-");
    if (negative)
        python_advance(r);
    if (r->t.kind == TOKEN_INT || r->t.kind == TOKEN_REAL ||
        (r->t.kind == TOKEN_OTHER && !r->t.text))
        v = read_number(r, negative ? -1 : 1);
    else if (negative)
        v = python_unknown(r, r->t.line, "%s", arithmetic);
    else if (r->t.kind == TOKEN_STRING || r->t.kind == TOKEN_OTHER)
        v = read_strings(r);
    else if (r->t.kind == TOKEN_NAME)
        v = read_name(r);
    else if (python_at(r, "("))
        v = read_list(r, ")");
    else if (python_at(r, "["))
        v = read_list(r, "]");
    else if (python_at(r, "{"))
        v = read_dict(r);
    else
        v = python_unknown(r, r->t.line, "%s", literal_mend);
    while (!r->failed && !r->limit && at_any(r, "[.("))
        v = read_postfix(r, v);
    return v;
}

/* Terms joined by * and //. */
static struct value *read_product(struct python_parser *r)
{
    struct value *v = read_term(r);
    while ((python_at(r, "*") || python_at(r, "//")) && !r->failed && !r->limit) {
        char op = *r->t.s;
        python_advance(r);
        v = python_calculate(r, op, v, read_term(r));
    }
    return v;
}

/* Products joined by + and -. */
static struct value *read_sum(struct python_parser *r)
{
    struct value *v = read_product(r);
    while ((python_at(r, "+") || python_at(r, "-")) && !r->failed && !r->limit) {
        char op = *r->t.s;
        python_advance(r);
        v = python_calculate(r, op, v, read_product(r));
    }
    return v;
}

struct value *python_expression(struct python_parser *r)
{
    int64_t line = r->t.line;
    if (r->nested == 2 * PYTHON_DEPTH_MAX || ends_value(r))
        r->failed = true;
    if (r->failed || r->limit)
        return python_unknown(r, line, "%s", literal_mend);
    r->nested++;
    struct value *v = read_sum(r);
    if (!ends_value(r)) {
        int shown = r->t.n < 20 ? (int)r->t.n : 20;
        if (v->kind != VALUE_UNKNOWN || strcmp(v->why, arithmetic) != 0)
            v = python_unknown(r, line, "it is an expression with \"%.*s\"", shown,
                               r->t.s);
        skip_rest(r);
    }
    r->nested--;
    return v;
}
