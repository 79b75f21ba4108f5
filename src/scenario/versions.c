#include "scenario/versions.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

bool version_valid(const char *v)
{
    for (;;) {
        size_t digits = strspn(v, "0123456789");
        if (digits == 0 || digits > DIGITS_MAX)
            return false;
        v += digits;
        if (*v != '.')
            return *v == '\0' || strchr("+-", *v) || isalpha((unsigned char)*v);
        v++;
    }
}

/* `prefix`: b represents all versions that begin with it. */
static int compare(const char *a, const char *b, bool prefix)
{
    for (;;) {
        char *a_end, *b_end;
        long x = strtol(a, &a_end, 10), y = strtol(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        if (*b_end != '.' && (prefix || *a_end != '.'))
            return 0;
        a = *a_end == '.' ? a_end + 1 : "0";
        b = *b_end == '.' ? b_end + 1 : "0";
    }
}

int version_compare(const char *a, const char *b)
{
    return compare(a, b, false);
}

bool version_within(const char *a, const char *b)
{
    return compare(a, b, true) == 0;
}

const char *version_nearest(const char *const *list, const char *v)
{
    const char *found = NULL;
    for (; *list && version_compare(*list, v) <= 0; list++)
        found = *list;
    return found;
}
