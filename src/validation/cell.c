#include "validation/cell.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char blanks[] = " \t", digits[] = "0123456789";

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(text, *words) == 0)
            return true;
    return false;
}

static bool says_empty(const char *cell)
{
    static const char *const words[] = {
        "",   "-",    "--",  "\u2013", "\u2014", "n/a",
        "na", "n.a.", "nan", "none",   "null",   NULL
    };
    return is_one_of(cell, words);
}

static bool says_oom(const char *cell)
{
    static const char *const beginnings[] = { "OOM", "out of memory", "out-of-memory",
                                              "CUDA OOM", "CUDA out of memory" };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncasecmp(cell, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Length of ".5" after an integer; 0 when there is none. */
static size_t fraction(const char *s)
{
    return s[0] == '.' && isdigit((unsigned char)s[1]) ? 1 + strspn(s + 1, digits) : 0;
}

/* Digits in groups of three, "1,048,576.5", as far as they go; 0 when there are
 * none. */
static size_t grouped(const char *s, double *v)
{
    size_t n = strspn(s, digits);
    if (n < 1 || n > 3 || s[n] != ',')
        return 0;
    *v = strtod(s, NULL);
    while (s[n] == ',' && strspn(s + n + 1, digits) == 3) {
        *v = *v * 1000 + strtod(s + n + 1, NULL); /* the last with its fraction */
        n += 4;
    }
    n += fraction(s + n);
    return s[n] == ',' ? 0 : n;
}

/* "GB", "MiB", "B", "%" or nothing; "K" multiplies. */
static const char *skip_unit(const char *s, double *v)
{
    s += strspn(s, blanks);
    if (*s == '%')
        return s + 1;
    size_t n = strspn(s, "KkMmGgTtIi");
    bool is_unit = tolower((unsigned char)s[n]) == 'b';
    if (isalpha((unsigned char)s[n + is_unit]))
        return s;
    if (is_unit)
        return s + n + 1;
    if (n != 1 || tolower((unsigned char)*s) != 'k')
        return s;
    *v *= 1000;
    return s + 1;
}

/* "(inferred)" or nothing, up to the end. */
static bool is_remark(const char *s)
{
    s += strspn(s, blanks);
    size_t n = strlen(s);
    while (n && strchr(blanks, s[n - 1]))
        n--;
    return n == 0 || (s[0] == '(' && s[n - 1] == ')');
}

enum cell_state cell_read(const char *cell, double *number)
{
    cell += strspn(cell, blanks);
    if (says_empty(cell))
        return CELL_EMPTY;
    if (says_oom(cell))
        return CELL_OOM;
    double v;
    size_t n = grouped(cell, &v);
    char *end = (char *)(size_t)(cell + n);
    if (n == 0)
        v = strtod(cell, &end);
    if (end == cell || !isfinite(v) || !is_remark(skip_unit(end, &v)))
        return CELL_TEXT;
    *number = v;
    return CELL_NUMBER;
}

int cell_find_number(const char *cell, int i, const char **at, size_t *n)
{
    size_t rest = 0;
    for (const char *s = cell; i > 0; s += *n + rest, i--) {
        s += strcspn(s, digits);
        *at = s;
        *n = strspn(s, digits);
        if (*n == 0)
            return -1;
        rest = fraction(s + *n);
        if (rest && strspn(s + *n + 1, "0") + 1 < rest) { /* not ".0" */
            *n += rest;
            rest = 0;
        }
    }
    return 0;
}

static bool plain_number(const char *s, double *v)
{
    char *end;
    *v = strtod(s, &end);
    return end != s && end[strspn(end, blanks)] == '\0' && isfinite(*v);
}

bool cell_alike(const char *a, const char *b)
{
    double x, y;
    if (plain_number(a, &x) && plain_number(b, &y))
        return x == y;
    a += strspn(a, blanks);
    b += strspn(b, blanks);
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return a[strspn(a, blanks)] == '\0' && b[strspn(b, blanks)] == '\0';
}
