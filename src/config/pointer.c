#include "config/pointer.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

/* Cuts the next segment off, unescaped; the caller frees it. */
static char *next_segment(const char **pointer)
{
    const char *from = *pointer + (**pointer == '/');
    size_t n = strcspn(from, "/");
    char *segment = xstrndup(from, n), *to = segment;
    *pointer = from + n;
    for (const char *c = segment; *c; c++) {
        bool escaped = *c == '~' && (c[1] == '0' || c[1] == '1');
        *to++ = !escaped ? *c : c[1] == '1' ? '/' : '~';
        c += escaped;
    }
    *to = '\0';
    return segment;
}

static bool to_index(const char *segment, size_t *i)
{
    size_t n = strlen(segment);
    *i = strtoul(segment, NULL, 10);
    return n > 0 && n < 10 && strspn(segment, "0123456789") == n;
}

static json_t *child_of(json_t *parent, const char *segment)
{
    size_t i;
    if (json_is_array(parent))
        return to_index(segment, &i) ? json_array_get(parent, i) : NULL;
    return json_object_get(parent, segment);
}

json_t *pointer_get(json_t *root, const char *pointer)
{
    json_t *at = root;
    while (*pointer && at) {
        char *segment = next_segment(&pointer);
        at = child_of(at, segment);
        free(segment);
    }
    return at;
}

static int put(json_t *parent, const char *segment, json_t *value)
{
    size_t i;
    if (json_is_object(parent))
        return json_object_set_new(parent, segment, value);
    if (json_is_array(parent) && to_index(segment, &i))
        return json_array_set_new(parent, i, value);
    json_decref(value);
    return -1;
}

int pointer_set(json_t *root, const char *pointer, json_t *value, struct err *err)
{
    const char *rest = pointer;
    json_t *parent = root;
    int rc = *pointer ? 0 : -1;
    while (rc == 0) {
        char *segment = next_segment(&rest);
        if (*rest == '\0') {
            rc = put(parent, segment, value);
            free(segment);
            return rc ? err_set(err, "%s: there is no such place to set", pointer) : 0;
        }
        json_t *child = child_of(parent, segment);
        if (!child || json_is_null(child)) {
            rc = put(parent, segment, json_object());
            child = child_of(parent, segment);
        }
        parent = child;
        free(segment);
    }
    json_decref(value);
    return err_set(err, "%s: there is no such place to set", pointer);
}
