/* Plain scalars of YAML. */
#include "dialect/source/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_MAX = 64 };

static bool is_any(const char *const *words, const char *text)
{
    for (; *words; words++)
        if (strcasecmp(*words, text) == 0)
            return true;
    return false;
}

/* Without "_", which YAML 1.1 has between digits; false: it is no number. */
static bool plain_digits(const char *text, char digits[DIGITS_MAX])
{
    size_t n = 0;
    bool has_digit = false;
    for (const char *s = text; *s; s++) {
        if (*s == '_' && s != text)
            continue;
        if (n + 1 == DIGITS_MAX ||
            (!isxdigit((unsigned char)*s) && !strchr("+-.xoXO", *s)))
            return false;
        has_digit |= isdigit((unsigned char)*s) != 0;
        digits[n++] = *s;
    }
    digits[n] = '\0';
    return has_digit;
}

/* The base of a whole number without its sign, and where its digits are; 0: it is
 * none. 0o17 is YAML 1.2's, 017 YAML 1.1's and PyYAML's. */
static int whole_base(const char *s, const char **digits)
{
    static const struct {
        const char *prefix, *digits;
        int base;
    } bases[] = { { "0x", "0123456789abcdefABCDEF", 16 },
                  { "0o", "01234567", 8 },
                  { "0", "01234567", 8 },
                  { "", "0123456789", 10 } };
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        size_t n = strlen(bases[i].prefix);
        if (strncasecmp(s, bases[i].prefix, n) != 0 || !s[n])
            continue;
        *digits = s + n;
        if (strspn(s + n, bases[i].digits) == strlen(s + n))
            return bases[i].base == 10 && *s == '0' && s[1] ? 0 : bases[i].base;
    }
    return 0;
}

static bool read_number(struct value *v, const char *text)
{
    char digits[DIGITS_MAX];
    const char *first;
    char *end;
    if (!plain_digits(text, digits))
        return false;
    const char *s = digits + (*digits == '-' || *digits == '+');
    int base = whole_base(s, &first);
    errno = 0;
    if (base) {
        long long n = strtoll(first, &end, base);
        v->kind = errno ? VALUE_UNKNOWN : VALUE_INT;
        v->why = errno ? "it is no number that can be held" : NULL;
        v->integer = *digits == '-' ? -n : n;
        v->real = (double)v->integer;
        return true;
    }
    if (*s == '0' && isdigit((unsigned char)s[1]) && !strpbrk(s, ".eE"))
        return false; /* 08 is text */
    /* digits, at most one ".", perhaps an exponent: no hexadecimal floats */
    if (strspn(s, "0123456789.eE+-") != strlen(s) || !strpbrk(s, "0123456789") ||
        (!isdigit((unsigned char)*s) && *s != '.'))
        return false;
    v->real = strtod(digits, &end);
    if (*end)
        return false;
    v->kind = isfinite(v->real) ? VALUE_REAL : VALUE_UNKNOWN;
    v->why = isfinite(v->real) ? NULL : "it is no number that can be held";
    return true;
}

struct value *yaml_plain(struct arena *arena, const char *text, int64_t line,
                         int64_t column)
{
    static const char *const nulls[] = { "", "~", "null", NULL };
    static const char *const trues[] = { "true", "yes", "on", NULL };
    static const char *const falses[] = { "false", "no", "off", NULL };
    static const char *const beyond[] = { ".inf", "+.inf", "-.inf", ".nan", NULL };
    struct value *v = value_new_string(arena, text, line, column);
    if (is_any(nulls, text)) {
        v->kind = VALUE_NONE;
    } else if (is_any(trues, text) || is_any(falses, text)) {
        v->kind = VALUE_BOOL;
        v->integer = is_any(trues, text);
    } else if (is_any(beyond, text)) {
        v->kind = VALUE_UNKNOWN;
        v->why = "it is no number that can be held";
    } else {
        read_number(v, text);
    }
    v->text = v->kind == VALUE_STRING || v->kind == VALUE_UNKNOWN ? v->text : NULL;
    return v;
}
