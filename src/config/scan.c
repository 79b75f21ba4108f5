#include "config/scan.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(struct scan *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')
        s->at++;
}

bool scan_take(struct scan *s, char c)
{
    skip_blanks(s);
    if (s->bad || *s->at != c)
        return false;
    s->at++;
    return true;
}

void scan_need(struct scan *s, char c)
{
    if (!scan_take(s, c))
        s->bad = true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Appends the digits from there on, and counts them. */
static char *add_digits(char *at, int64_t *digits, int *n)
{
    for (; is_digit(*at) && *n <= DBL_DIG; at++, ++*n)
        *digits = 10 * *digits + (*at - '0');
    return at;
}

/* The number that strtod reads, of few digits and without an exponent: digits and power
 * of ten are exact, so that their quotient is rounded once (Clinger, "How to Read
 * Floating Point Numbers Accurately", 1990). */
static double read_number(char *at, char **end)
{
    static const double tens[] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
    int64_t digits = 0;
    int n = 0, before;
    bool is_negative = *at == '-';
    char *to = add_digits(at + is_negative, &digits, &n);
    before = n;
    if (n > 0 && *to == '.')
        to = add_digits(to + 1, &digits, &n);
    bool is_plain = before > 0 && n <= DBL_DIG && !is_digit(*to) && *to != '.' &&
                    *to != 'e' && *to != 'E' && *to != 'x' && *to != 'X';
    if (!is_plain)
        return strtod(at, end);
    *end = to;
    double v = (double)digits / tens[n - before];
    return is_negative ? -v : v;
}

double scan_number(struct scan *s)
{
    skip_blanks(s);
    char *end = s->at;
    bool begins = *s->at == '-' || is_digit(*s->at);
    double v = begins && !s->bad ? read_number(s->at, &end) : 0;
    if (end <= s->at)
        s->bad = true;
    else
        s->at = end;
    return v;
}

/* What a backslash and that character stand for; NUL: nothing that is read here. */
static char escaped(char c)
{
    static const char from[] = "\"\\/nt", to[] = "\"\\/\n\t";
    const char *at = c ? strchr(from, c) : NULL;
    return at ? to[at - from] : '\0';
}

char *scan_string(struct scan *s)
{
    scan_need(s, '"');
    if (s->bad)
        return s->at + strlen(s->at);
    char *text = s->at, *to = text + strcspn(text, "\"\\"); /* as it is until there */
    s->at = to;
    while (*s->at && *s->at != '"') {
        bool is_escape = *s->at == '\\';
        char c = is_escape ? escaped(*++s->at) : *s->at;
        if (c == '\0')
            break;
        *to++ = c;
        s->at++;
    }
    s->bad = *s->at != '"';
    if (!s->bad)
        s->at++;
    *to = '\0';
    return text;
}

char *scan_string_or_null(struct scan *s)
{
    skip_blanks(s);
    if (s->bad || strncmp(s->at, "null", 4) != 0)
        return scan_string(s);
    s->at += 4;
    return NULL;
}

bool scan_is_done(struct scan *s)
{
    skip_blanks(s);
    return !s->bad && *s->at == '\0';
}
