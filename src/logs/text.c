#include "logs/text.h"

#include "base/plain.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 48 };

static const double value_max = 1e18;

/* The bytes of a terminal's colour at a text. */
static size_t colour_length(const char *at)
{
    if (*at != '\033' || at[1] != '[')
        return 0;
    size_t n = 2 + strspn(at + 2, "0123456789;?");
    return n + (at[n] != '\0');
}

size_t line_clean(char *text, size_t length)
{
    size_t n = 0;
    text[length] = '\0';
    for (size_t i = 0; i < length;) {
        size_t skip = colour_length(text + i);
        if (skip) {
            i += skip;
            continue;
        }
        char c = text[i++];
        text[n++] = c == '\t' || c == '\0' ? ' ' : c;
    }
    text[n] = '\0';
    plain_make(text);
    return n;
}

static double human_factor(char c)
{
    static const char suffixes[] = "KMBTP";
    const char *at = c ? strchr(suffixes, c) : NULL;
    return at ? pow(1e3, (double)(at - suffixes + 1)) : 1;
}

/* Whether a comma separates thousands: three digits follow, and no fourth. */
static bool is_separator(const char *at)
{
    return *at == ',' && isdigit((unsigned char)at[1]) &&
           isdigit((unsigned char)at[2]) && isdigit((unsigned char)at[3]) &&
           !isdigit((unsigned char)at[4]);
}

/* The length of an exponent at a text. */
static size_t exponent_length(const char *at)
{
    if (*at != 'e' && *at != 'E')
        return 0;
    size_t sign = at[1] == '+' || at[1] == '-';
    if (!isdigit((unsigned char)at[1 + sign]))
        return 0;
    return 1 + sign + strspn(at + 1 + sign, "0123456789");
}

int line_number(const char *at, bool human, double *v, const char **end)
{
    char text[NUMBER_MAX];
    size_t n = 0;
    bool digits = false;
    at += strspn(at, " :='\"");
    if (*at == '-')
        text[n++] = *at++;
    for (; n + 12 < sizeof(text); at++) {
        if (is_separator(at) && digits)
            continue;
        if (!isdigit((unsigned char)*at) && *at != '.')
            break;
        digits = digits || *at != '.';
        text[n++] = *at;
    }
    size_t e = digits ? exponent_length(at) : 0;
    if (e && e < 8) {
        memcpy(text + n, at, e);
        n += e;
        at += e;
    }
    text[n] = '\0';
    *v = strtod(text, NULL) * (human ? human_factor(*at) : 1);
    if (end)
        *end = at;
    return digits && isfinite(*v) && fabs(*v) <= value_max ? 0 : -1;
}

int line_before(const char *line, const char *end, double *v)
{
    const char *at = end, *after;
    while (at > line && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
        at--;
    return line_number(at, false, v, &after) == 0 && after == end && *v > 0 ? 0 : -1;
}

const char *line_after(const char *line, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = strstr(line, key); at; at = strstr(at + 1, key)) {
        bool begins = at == line || !isalnum((unsigned char)*key) ||
                      (!isalnum((unsigned char)at[-1]) && !strchr("_/-", at[-1]));
        if (begins)
            return at + n;
    }
    return NULL;
}

int line_value(const char *line, const char *key, bool human, double *v)
{
    const char *at = line_after(line, key);
    return at ? line_number(at, human, v, NULL) : -1;
}

/* Digits of at most six, ended by one of some characters. */
static int64_t rank_at(const char *at, const char *ends)
{
    size_t n = strspn(at, "0123456789");
    if (n == 0 || n > 6 || !at[n] || !strchr(ends, at[n]))
        return -1;
    return strtol(at, NULL, 10);
}

int64_t line_rank(const char *line)
{
    static const char *const before[] = { "[rank", "[default", "mpirank:" };
    size_t blanks = strspn(line, " ");
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        const char *at = strstr(line, before[i]);
        int64_t rank = at ? rank_at(at + strlen(before[i]), "],") : -1;
        if (rank >= 0)
            return rank;
    }
    line += blanks;
    if (line[0] == '[' && line[1] == '1' && line[2] == ',')
        return rank_at(line + 3, "]");
    size_t n = strspn(line, "0123456789"); /* srun --label */
    return n && line[n] == ':' && line[n + 1] == ' ' ? rank_at(line, ":") : -1;
}

void line_keep(char *out, size_t size, const char *from, size_t length)
{
    size_t n = length < size - 1 ? length : size - 1;
    memcpy(out, from, n);
    out[n] = '\0';
    plain_make(out);
}
