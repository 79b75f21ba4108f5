/* Formats and methods of text in Python source. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MAX = 60, DIGITS_MAX = 30 };

/* Formats -------------------------------------------------------------------------- */

/* "05d", ".2f", ">8", ",": width and precision, and the kinds d s f e g. */
static const char *by_parts(struct python_parser *r, const struct value *v,
                            const char *spec, bool percent)
{
    char text[400], flags[3] = "";
    int width = 0, precision = -1, n_flags = 0;
    while (*spec && strchr("0+", *spec) && n_flags < 2)
        flags[n_flags++] = *spec++;
    while (isdigit((unsigned char)*spec) && width < FIELD_MAX)
        width = width * 10 + *spec++ - '0';
    if (*spec == '.')
        for (spec++, precision = 0;
             isdigit((unsigned char)*spec) && precision < DIGITS_MAX;)
            precision = precision * 10 + *spec++ - '0';
    char kind = *spec ? *spec : 's';
    bool number =
        v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_BOOL;
    if ((*spec && spec[1]) || width > FIELD_MAX || precision > DIGITS_MAX)
        return NULL;
    const char *plain = python_string(r, v);
    if (kind == 's' && plain && precision < 0 && (!width || percent) && !n_flags) {
        size_t n = strlen(plain);
        return n >= (size_t)width ? plain
                                  : arena_printf(r->p->arena, "%*s", width, plain);
    }
    if (!*spec && v->kind == VALUE_INT)
        kind = 'd';
    if (kind == 'd' && (v->kind == VALUE_INT || v->kind == VALUE_BOOL))
        snprintf(text, sizeof(text), strchr(flags, '0') ? "%0*" PRId64 : "%*" PRId64,
                 width, v->integer);
    else if (number && kind && strchr("feg", kind) && !n_flags) {
        double x = v->kind == VALUE_REAL ? v->real : (double)v->integer;
        int digits = precision < 0 ? 6 : precision;
        if (kind == 'f')
            snprintf(text, sizeof(text), "%*.*f", width, digits, x);
        else if (kind == 'e')
            snprintf(text, sizeof(text), "%*.*e", width, digits, x);
        else
            snprintf(text, sizeof(text), "%*.*g", width, digits, x);
    } else {
        return NULL;
    }
    return arena_strdup(r->p->arena, text);
}

const char *python_by_spec(struct python_parser *r, const struct value *v,
                           const char *spec)
{
    if (v->kind == VALUE_UNKNOWN)
        return NULL;
    return *spec ? by_parts(r, v, spec, false) : python_string(r, v);
}

/* The text of a buffer, which is released; NULL: not known, or too long. */
static const char *hand_over(struct python_parser *r, struct strbuf *b, bool known)
{
    const char *out = known && b->len < PYTHON_STRING_MAX
                          ? arena_strndup(r->p->arena, strbuf_get(b), b->len)
                          : NULL;
    strbuf_release(b);
    return out;
}

const char *python_by_percent(struct python_parser *r, const char *text,
                              const struct value *values)
{
    struct strbuf b;
    int32_t next = 0, n = values->kind == VALUE_LIST ? values->n : 1;
    bool known = values->kind != VALUE_UNKNOWN && !values->gap;
    strbuf_init(&b);
    for (const char *s = text; *s && known && b.len < PYTHON_STRING_MAX; s++) {
        if (*s != '%' || s[1] == '%') {
            strbuf_addch(&b, *s);
            s += *s == '%';
            continue;
        }
        const struct value *v = NULL;
        size_t m = strcspn(s + 1, "sdifeg%");
        if (s[1] == '(') { /* %(name)s */
            size_t key = strcspn(s + 2, ")");
            const struct value_item *it =
                value_get(values, arena_strndup(r->p->arena, s + 2, key));
            v = it ? it->value : NULL;
            s += s[2 + key] ? key + 2 : 0;
            m = strcspn(s + 1, "sdifeg%");
        } else if (next < n) {
            v = values->kind == VALUE_LIST ? values->items[next].value : values;
            next++;
        }
        const char *spec = arena_strndup(r->p->arena, s + 1, m + (s[1 + m] != '\0'));
        const char *made = v && s[1 + m] ? by_parts(r, v, spec, true) : NULL;
        known = made != NULL;
        strbuf_addstr(&b, made ? made : "");
        s += m + (s[1 + m] != '\0');
    }
    const char *out = hand_over(r, &b, known);
    r->lex.work += out ? (int64_t)strlen(out) : 0;
    return out;
}

/* {}, {0}, {name}, {name[key]}: the argument, NULL when there is none. */
static const struct value *field_of(struct python_parser *r, const char *name, size_t n,
                                    const struct value *arguments, int *next)
{
    const char *key = n ? arena_strndup(r->p->arena, name, n)
                        : arena_printf(r->p->arena, "%d", (*next)++);
    const struct value_item *it = value_get(arguments, key);
    return it ? it->value : NULL;
}

/* "{}-{x:.2f}".format(...) */
static const char *str_format(struct python_parser *r, const char *text,
                              const struct value *arguments)
{
    struct strbuf b;
    int next = 0;
    bool known = !arguments->gap;
    strbuf_init(&b);
    for (const char *s = text; *s && known && b.len < PYTHON_STRING_MAX; s++) {
        if ((*s == '{' || *s == '}') && s[1] == *s) {
            strbuf_addch(&b, *s++);
        } else if (*s == '{') {
            size_t n = strcspn(s + 1, "}"), m = strcspn(s + 1, ":!}");
            const struct value *v = field_of(r, s + 1, m, arguments, &next);
            const char *spec =
                s[1 + m] == ':' ? arena_strndup(r->p->arena, s + 2 + m, n - m - 1) : "";
            const char *made =
                v && s[1 + m] != '!' && s[1 + n] ? python_by_spec(r, v, spec) : NULL;
            known = made != NULL;
            strbuf_addstr(&b, made ? made : "");
            s += known ? n + 1 : 0;
        } else {
            strbuf_addch(&b, *s);
        }
    }
    const char *out = hand_over(r, &b, known);
    r->lex.work += (int64_t)strlen(text);
    return out;
}

/* Methods -------------------------------------------------------------------------- */

static const char *argument_text(const struct value *arguments, const char *key)
{
    const struct value_item *it = value_get(arguments, key);
    return it && it->value->kind == VALUE_STRING ? it->value->text : NULL;
}

static const char *replaced(struct python_parser *r, const char *text, const char *from,
                            const char *to)
{
    struct strbuf b;
    size_t n = strlen(from);
    strbuf_init(&b);
    for (const char *s = text; *s && b.len < PYTHON_STRING_MAX;) {
        bool here = n && strncmp(s, from, n) == 0;
        if (here)
            strbuf_addstr(&b, to);
        else
            strbuf_addch(&b, *s);
        s += here ? n : 1;
    }
    const char *out = hand_over(r, &b, true);
    return out;
}

static struct value *split(struct python_parser *r, const char *text, const char *by,
                           int64_t line)
{
    struct value *list = python_new(r, VALUE_LIST, line);
    const char *s = text + (by ? 0 : strspn(text, " \t\r\n"));
    while (!r->limit && (by || *s)) {
        const char *end = by ? strstr(s, by) : s + strcspn(s, " \t\r\n");
        size_t n = end ? (size_t)(end - s) : strlen(s);
        python_append(r, list, python_text(r, line, arena_strndup(r->p->arena, s, n)));
        if (!end)
            break;
        s = by ? end + strlen(by) : end + strspn(end, " \t\r\n");
    }
    return list;
}

static const char *joined(struct python_parser *r, const char *by,
                          const struct value *list)
{
    struct strbuf b;
    bool known = list->kind == VALUE_LIST && !list->gap;
    strbuf_init(&b);
    for (int32_t i = 0; known && i < list->n && b.len < PYTHON_STRING_MAX; i++) {
        const struct value *v = list->items[i].value;
        known = v->kind == VALUE_STRING;
        strbuf_printf(&b, "%s%s", i ? by : "", known ? v->text : "");
    }
    const char *out = hand_over(r, &b, known);
    r->lex.work += out ? (int64_t)strlen(out) : 0;
    return out;
}

static const char *in_case(struct python_parser *r, const char *text, int (*to)(int))
{
    char *copy = arena_strdup(r->p->arena, text);
    for (char *s = copy; *s; s++)
        *s = (unsigned char)*s < 0x80 ? (char)to((unsigned char)*s) : *s;
    return copy;
}

static const char *stripped(struct python_parser *r, const char *text, const char *what,
                            bool left, bool right)
{
    const char *s = text + (left ? strspn(text, what) : 0);
    size_t n = strlen(s);
    while (right && n && strchr(what, s[n - 1]))
        n--;
    return arena_strndup(r->p->arena, s, n);
}

/* The text that a method gives; NULL: it gives none, or is not followed. */
static const char *text_of(struct python_parser *r, const char *text,
                           const char *method, const struct value *arguments)
{
    const char *a = argument_text(arguments, "0"), *b = argument_text(arguments, "1");
    const struct value_item *first = value_get(arguments, "0");
    bool strips = names_ends(method, "strip") && (a || !first);
    if (strcmp(method, "format") == 0)
        return str_format(r, text, arguments);
    if (strcmp(method, "lower") == 0 || strcmp(method, "upper") == 0)
        return in_case(r, text, *method == 'l' ? tolower : toupper);
    if (strips)
        return stripped(r, text, a ? a : " \t\r\n", method[0] != 'r', method[0] != 'l');
    if (strcmp(method, "replace") == 0 && a && b)
        return replaced(r, text, a, b);
    if (strcmp(method, "join") == 0 && first)
        return joined(r, text, first->value);
    return NULL;
}

struct value *python_text_method(struct python_parser *r, const struct value *x,
                                 const char *method, const struct value *arguments,
                                 int64_t line)
{
    const char *a = argument_text(arguments, "0");
    bool whole = !value_get(arguments, "0") || a;
    r->lex.work += x->text ? (int64_t)strlen(x->text) : 0;
    if (x->kind == VALUE_STRING && strcmp(method, "split") == 0 && whole &&
        !value_get(arguments, "1") && (!a || *a))
        return split(r, x->text, a, line);
    if (x->kind == VALUE_STRING && strcmp(method, "startswith") == 0 && a)
        return python_bool(r, line, strncmp(x->text, a, strlen(a)) == 0);
    if (x->kind == VALUE_STRING && strcmp(method, "endswith") == 0 && a)
        return python_bool(r, line, names_ends(x->text, a));
    const char *text =
        x->kind == VALUE_STRING ? text_of(r, x->text, method, arguments) : NULL;
    if (text)
        return python_text(r, line, text);
    struct value *u = x->kind == VALUE_UNKNOWN
                          ? python_unknown(r, line, "%s", x->why)
                          : python_unknown(r, line, ".%.40s() is a call", method);
    u->text = x->text; /* known in part */
    return u;
}
