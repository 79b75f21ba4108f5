#include "base/names.h"

#include "base/xmalloc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *names_of(const struct name_value *table, int value)
{
    for (; table->name; table++)
        if (table->value == value)
            return table->name;
    return "?";
}

int names_find(const struct name_value *table, const char *name, int *value)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0) {
            *value = table->value;
            return 0;
        }
    }
    return -1;
}

bool names_listed(const char *const *list, const char *word)
{
    for (; list && *list; list++)
        if (names_same(*list, word))
            return true;
    return false;
}

bool names_within(const char *const *list, const char *text)
{
    for (; text && *list; list++)
        if (strstr(text, *list))
            return true;
    return false;
}

bool names_mentioned(const char *const *list, const char *text)
{
    for (; text && *text; text++)
        for (const char *const *name = list; *name; name++)
            if (tolower((unsigned char)*text) == tolower((unsigned char)**name) &&
                strncasecmp(text, *name, strlen(*name)) == 0)
                return true;
    return false;
}

bool names_ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: three rows of the table of prefixes are enough. */
int names_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), width = m + 1;
    int *cells = xcalloc(3 * width, sizeof(*cells));
    int *before = cells, *above = cells + width, *row = cells + 2 * width;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    int distance = row[m];
    free(cells);
    return distance;
}

static bool goes_on(const char *word, const char *from)
{
    size_t n = strlen(from);
    return n > 2 && strncmp(word, from, n) == 0 && (word[n] == '_' || word[n] == '-');
}

const char *names_nearest(const struct name_value *table, const char *word)
{
    const char *nearest = NULL, *longer_or_shorter = NULL;
    int best = 0;
    size_t n = strlen(word);
    for (; table->name; table++) {
        size_t m = strlen(table->name);
        size_t longer = n > m ? n : m, shorter = n > m ? m : n;
        if (strcasecmp(table->name, word) == 0)
            return table->name;
        if (!longer_or_shorter &&
            (goes_on(word, table->name) || goes_on(table->name, word)))
            longer_or_shorter = table->name;
        if (3 * (longer - shorter) > longer)
            continue; /* their lengths alone differ by too much */
        int d = names_distance(table->name, word);
        if (3 * (size_t)d <= longer && (!nearest || d < best)) {
            nearest = table->name;
            best = d;
        }
    }
    return nearest && (best <= 2 || !longer_or_shorter) ? nearest : longer_or_shorter;
}
