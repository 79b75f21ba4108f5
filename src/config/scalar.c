/* Single values of the lenient language: words, numbers, strings. */
#include "config/lenient.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* n hexadecimal digits at s, or -1. */
static long hex_digits(const char *s, int n)
{
    long v = 0;
    for (int i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)s[i]))
            return -1;
        int c = tolower((unsigned char)s[i]);
        v = 16 * v + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return v;
}

static int unicode_escape(struct strbuf *json, const char *s, size_t *at,
                          struct err *err)
{
    long v = hex_digits(s + *at + 2, 4);
    if (v < 0)
        return err_set(err, "\\u needs four hexadecimal digits (write \\u00e9)");
    if (v == 0)
        return err_set(err, "a string cannot hold the character NUL (remove \\u0000)");
    size_t n = 6;
    if (v >= 0xd800 && v <= 0xdfff) {
        bool pair = v <= 0xdbff && s[*at + 6] == '\\' && s[*at + 7] == 'u';
        long low = pair ? hex_digits(s + *at + 8, 4) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return err_set(err,
                           "\\u%04lx is half of a character (write the character "
                           "itself)",
                           v);
        n = 12;
    }
    strbuf_add(json, s + *at, n);
    *at += n;
    return 0;
}

/* A backslash and what follows it; JSON's escapes and Python's. */
static int escape(struct strbuf *json, const char *s, size_t *at, struct err *err)
{
    char c = s[*at + 1];
    if (c == 'u')
        return unicode_escape(json, s, at, err);
    if (c == 'x') {
        long v = hex_digits(s + *at + 2, 2);
        if (v <= 0)
            return err_set(err, "\\x needs two hexadecimal digits other than 00 (write "
                                "\\xe9)");
        strbuf_printf(json, "\\u%04lx", v);
        *at += 4;
        return 0;
    }
    if (c && strchr("\"\\/bfnrt", c))
        strbuf_add(json, s + *at, 2);
    else if (c == '\'')
        strbuf_addch(json, c);
    else if (c == 'a' || c == 'v')
        strbuf_addstr(json, c == 'a' ? "\\u0007" : "\\u000b");
    else if (isgraph((unsigned char)c))
        return err_set(err, "\\%c is no escape (write \\\\ for a backslash)", c);
    else
        return err_set(err, "a backslash at the end of the line (write \\\\ for a "
                            "backslash)");
    *at += 2;
    return 0;
}

int lenient_string(struct strbuf *json, const char *text, size_t *at, struct err *err)
{
    const size_t start = *at;
    const char quote = text[start];
    size_t i = start + 1;
    if (text[i] == quote && text[i + 1] == quote)
        return err_set(err, "strings with three quotes are not read (write it with one "
                            "pair, on one line)");
    strbuf_addch(json, '"');
    while (text[i] != quote) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\0' || c == '\n' || c == '\r')
            return err_set(err, "the string is not closed on its line (end it with %c)",
                           quote);
        if (c == '\\') {
            *at = i;
            if (escape(json, text, at, err))
                return -1;
            i = *at;
            continue;
        }
        if (c < 0x20)
            strbuf_printf(json, "\\u%04x", c);
        else if (c == '"')
            strbuf_addstr(json, "\\\"");
        else
            strbuf_addch(json, (char)c);
        i++;
    }
    strbuf_addch(json, '"');
    *at = i + 1;
    return 0;
}

/* What JSON wants of a number's spelling: no sign +, no _, digits around the point.
 * Returns -1 when s (of n bytes) is no number of JSON or Python. */
static int respell(struct strbuf *out, const char *s, size_t n, bool *real)
{
    size_t i = 0, start = out->len;
    if (s[0] == '-')
        strbuf_addch(out, '-');
    i += s[0] == '-' || s[0] == '+';
    size_t first = out->len, whole = 0, part = 0, power = 0;
    for (; i < n && (isdigit((unsigned char)s[i]) || (s[i] == '_' && whole)); i++)
        if (s[i] != '_')
            strbuf_addch(out, s[i]), whole++;
    if (!whole)
        strbuf_addch(out, '0');
    if (whole > 1 && out->s[first] == '0')
        return -1;
    *real = false;
    if (i < n && s[i] == '.') {
        *real = true;
        strbuf_addch(out, '.');
        for (i++; i < n && isdigit((unsigned char)s[i]); i++, part++)
            strbuf_addch(out, s[i]);
        if (!part)
            strbuf_addch(out, '0');
    }
    if (whole + part == 0 || s[i - 1] == '_')
        return -1;
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        *real = true;
        strbuf_addch(out, s[i++]);
        if (i < n && (s[i] == '+' || s[i] == '-'))
            strbuf_addch(out, s[i++]);
        for (; i < n && isdigit((unsigned char)s[i]); i++, power++)
            strbuf_addch(out, s[i]);
        if (!power)
            return -1;
    }
    return i == n && out->len > start ? 0 : -1;
}

int lenient_number(struct strbuf *json, const char *text, size_t *at, struct err *err)
{
    const char *s = text + *at;
    size_t n = 1;
    while (word_char(s[n]) || s[n] == '.' ||
           ((s[n] == '+' || s[n] == '-') && (s[n - 1] == 'e' || s[n - 1] == 'E')))
        n++;
    int shown = n > 24 ? 24 : (int)n;
    const char *dots = n > 24 ? "..." : "";
    size_t start = json->len;
    bool real;
    if (respell(json, s, n, &real)) {
        size_t unit = strspn(s, "+-.0123456789");
        bool quantity = unit > 0 && isdigit((unsigned char)s[unit - 1]) &&
                        isalpha((unsigned char)s[unit]) && s[0] != '0';
        if (quantity)
            return err_set(err,
                           "%.*s%s is not a number (write a quantity in quotes, for "
                           "example \"400Gb/s\")",
                           shown, s, dots);
        return err_set(err, "%.*s%s is not a number (write for example 8, 0.5 or 1e9)",
                       shown, s, dots);
    }
    errno = 0;
    if (real && isinf(strtod(json->s + start, NULL)))
        return err_set(err, "%.*s%s is too large for a number (at most 1.8e308)", shown,
                       s, dots);
    if (!real && (strtoll(json->s + start, NULL, 10), errno == ERANGE))
        return err_set(err,
                       "%.*s%s is beyond 64 bits (at most 9223372036854775807, or "
                       "write it as a real number)",
                       shown, s, dots);
    *at += n;
    return 0;
}

int lenient_word(struct strbuf *json, const char *text, size_t *at, struct err *err)
{
    static const struct {
        const char *word, *json;
    } words[] = {
        { "true", "true" },
        { "false", "false" },
        { "null", "null" },
        { "True", "true" },
        { "False", "false" },
        { "None", "null" },
        /* as Python's json writes it: no number, where one is read */
        { "Infinity", "\"Infinity\"" },
    };
    const char *s = text + *at;
    size_t n = 0;
    while (word_char(s[n]) || s[n] == '.')
        n++;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) == n && strncmp(s, words[i].word, n) == 0) {
            strbuf_addstr(json, words[i].json);
            *at += n;
            return 0;
        }
    }
    int shown = n > 40 ? 40 : (int)n;
    const char *after = s + n + strspn(s + n, " \t");
    if (*after == '(')
        return err_set(err, "\"%.*s(...)\" is not a literal (write the value itself)",
                       shown, s);
    if (*after == '[')
        return err_set(err, "\"%.*s[...]\" is not a literal (write the value itself)",
                       shown, s);
    if (n >= 3 && (strncasecmp(s, "nan", n) == 0 || strncasecmp(s, "infinity", n) == 0))
        return err_set(err, "%.*s is not a finite number (write one, or leave it out)",
                       shown, s);
    if (s[n] == '"' || s[n] == '\'')
        return err_set(err,
                       "%.*s%c...%c is not a plain string (write it without the %.*s "
                       "and with its value)",
                       shown, s, s[n], s[n], shown, s);
    return err_set(err,
                   "%.*s is a name, not a value (write the value itself; a string "
                   "needs quotes)",
                   shown, s);
}
