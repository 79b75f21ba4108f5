#include "validation/map_key.h"

#include "base/xmalloc.h"
#include "validation/cell.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* "/PATTERN/": a POSIX extended regular expression; the pattern is the caller's. */
static char *pattern_of(const char *key)
{
    size_t n = strlen(key);
    return n > 2 && key[0] == '/' && key[n - 1] == '/' ? xstrndup(key + 1, n - 2)
                                                       : NULL;
}

static const int pattern_flags = REG_EXTENDED | REG_NOSUB | REG_ICASE;

int map_key_check(struct cfg map)
{
    int rc = 0;
    for (void *it = cfg_first(map); it; it = cfg_next(map, it)) {
        regex_t regex;
        char *pattern = pattern_of(cfg_key(it));
        if (pattern && regcomp(&regex, pattern, pattern_flags) != 0)
            rc = cfg_error_key(
                cfg_member(map, it), DIAG_SYNTAX,
                "is no POSIX extended regular expression between slashes");
        else if (pattern)
            regfree(&regex);
        free(pattern);
    }
    return rc;
}

static bool matches(const char *key, const char *text)
{
    regex_t regex;
    char *pattern = pattern_of(key);
    if (!pattern)
        return cell_alike(key, text);
    bool found = false;
    if (regcomp(&regex, pattern, pattern_flags) == 0) {
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
    }
    free(pattern);
    return found;
}

json_t *map_key_find(json_t *map, const char *text)
{
    json_t *found = json_object_get(map, text), *value;
    const char *key;
    if (found)
        return found;
    json_object_foreach(map, key, value)
    {
        if (matches(key, text))
            return value;
    }
    return NULL;
}
