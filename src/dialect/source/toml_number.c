/* Numbers, dates and Booleans of TOML. */
#include "dialect/source/toml_scan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 80 };

/* Each "_" is between two digits, and is left out; false: one does not. */
static bool without_underscores(const char *word, char *out)
{
    size_t n = 0;
    for (const char *s = word; *s; s++) {
        if (*s != '_')
            out[n++] = *s;
        else if (s == word || !isxdigit((unsigned char)s[-1]) ||
                 !isxdigit((unsigned char)s[1]))
            return false;
    }
    out[n] = '\0';
    return true;
}

/* "d" is a digit, everything else is itself. */
static bool has_form(const char *s, const char *form)
{
    for (; *form; s++, form++)
        if (*form == 'd' ? !isdigit((unsigned char)*s)
                         : tolower((unsigned char)*s) != tolower((unsigned char)*form))
            return false;
    return true;
}

/* 1979-05-27, 07:32:00.5, 1979-05-27T07:32:00-07:00; a blank may replace T. */
static bool is_date(const char *s)
{
    if (has_form(s, "dddd-dd-dd")) {
        s += 10;
        if (!*s)
            return true;
        if (!strchr("Tt ", *s++))
            return false;
    }
    if (!has_form(s, "dd:dd:dd"))
        return false;
    s += 8;
    if (*s == '.')
        s += 1 + strspn(s + 1, "0123456789");
    if (*s == 'Z' || *s == 'z')
        s++;
    else if ((*s == '+' || *s == '-') && has_form(s + 1, "dd:dd"))
        s += 6;
    return !*s;
}

/* The base of a whole number and where its digits are; 0: it is none. */
static int base_of(const char *s, const char **digits)
{
    static const struct {
        const char *prefix, *digits;
        int base;
    } bases[] = { { "0x", "0123456789abcdefABCDEF", 16 },
                  { "0o", "01234567", 8 },
                  { "0b", "01", 2 } };
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        *digits = s + 2;
        if (strncmp(s, bases[i].prefix, 2) == 0)
            return s[2] && strspn(*digits, bases[i].digits) == strlen(*digits)
                       ? bases[i].base
                       : 0;
    }
    *digits = s;
    s += *s == '-' || *s == '+';
    bool zeros = *s == '0' && s[1];
    return *s && !zeros && strspn(s, "0123456789") == strlen(s) ? 10 : 0;
}

/* digits[.digits][e[+-]digits] with no leading zeros. */
static bool is_real(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t n = strspn(s, "0123456789");
    if (!n || (*s == '0' && n > 1))
        return false;
    s += n;
    if (*s == '.') {
        n = strspn(++s, "0123456789");
        if (!n)
            return false;
        s += n;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        n = strspn(s, "0123456789");
        if (!n)
            return false;
        s += n;
    }
    return !*s;
}

static bool read_number(struct value *v, const char *word)
{
    char number[WORD_MAX];
    const char *digits;
    char *end;
    if (!without_underscores(word, number))
        return false;
    int base = base_of(number, &digits);
    errno = 0;
    if (base) {
        v->kind = VALUE_INT;
        v->integer = strtoll(digits, &end, base);
        v->real = (double)v->integer;
    } else if (is_real(number)) {
        v->kind = VALUE_REAL;
        v->real = strtod(number, &end);
    } else {
        return false;
    }
    if ((base && errno) || (!base && !isfinite(v->real))) {
        v->kind = VALUE_UNKNOWN;
        v->why = "it is no number that can be held";
    }
    return true;
}

static bool is_word(const char *word, const char *what)
{
    return strcmp(word + (*word == '-' || *word == '+'), what) == 0;
}

struct value *toml_scalar(struct toml_reader *r)
{
    char word[WORD_MAX];
    size_t n = 0, most = (size_t)(r->end - r->s);
    while (n < most && (isalnum((unsigned char)r->s[n]) || strchr("+-_.:", r->s[n])))
        n++;
    /* a blank between a date and a time */
    if (n == 10 && n + 3 < most && r->s[10] == ' ' && has_form(r->s, "dddd-dd-dd") &&
        has_form(r->s + 11, "dd:"))
        for (n = 11;
             n < most && (isalnum((unsigned char)r->s[n]) || strchr("+-.:", r->s[n]));)
            n++;
    if (n == 0 || n >= WORD_MAX)
        return toml_fail(r, "a value is missing here (give a number, a string in "
                            "quotes, true or false)");
    memcpy(word, r->s, n);
    word[n] = '\0';
    struct toml_node *node = toml_node(r, VALUE_STRING, TOML_VALUE);
    if (!node)
        return NULL;
    struct value *v = &node->value;
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        v->kind = VALUE_BOOL;
        v->integer = *word == 't';
    } else if (is_word(word, "inf") || is_word(word, "nan")) {
        v->kind = VALUE_UNKNOWN;
        v->why = "it is no number that can be held";
    } else if (is_date(word)) {
        v->text = arena_strdup(r->arena, word);
    } else if (!read_number(v, word)) {
        return toml_fail(r, "\"%.40s\" is no value of TOML (put text in quotes)", word);
    }
    r->s += n;
    return v;
}
