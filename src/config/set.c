#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/document.h"
#include "config/lenient.h"

#include <stdlib.h>
#include <string.h>

/* VALUE as the language, or as a string. Text that begins like an object or an array was
 * meant as one, so there a mistake is reported. */
static json_t *value_of(const char *text, struct err *err)
{
    struct err syntax = { 0 };
    size_t at;
    json_t *value = document_tree(text, strlen(text), &at, &syntax);
    if (value)
        return value;
    if (strchr("{[", text[strspn(text, " \t\n")])) {
        err_set(err, "%s", text[0] ? syntax.text : "no value (write POINTER=VALUE)");
        return NULL;
    }
    value = json_string(text);
    if (!value)
        err_set(err, "the value is not UTF-8 (write it as UTF-8)");
    return value;
}

/* The segment of n bytes with ~1 and ~0 resolved; the caller frees it. */
static char *segment_of(const char *pointer, size_t n)
{
    char *segment = xstrndup(pointer, n), *to = segment;
    for (const char *from = segment; *from; from++) {
        char c = *from;
        if (c == '~' && from[1] == '1')
            c = '/', from++;
        else if (c == '~' && from[1] == '0')
            from++;
        *to++ = c;
    }
    *to = '\0';
    return segment;
}

/* The array's index a segment names: its length stands for one more element. */
static int index_of(json_t *array, const char *segment, size_t *index, struct err *err)
{
    size_t n = strlen(segment), size = json_array_size(array);
    bool digits = n > 0 && n < 10 && strspn(segment, "0123456789") == n;
    *index = strcmp(segment, "-") == 0 ? size : (size_t)strtoul(segment, NULL, 10);
    if (!digits && strcmp(segment, "-") != 0)
        return err_set(err, "\"%s\" is no index of an array (write 0 to %zu)", segment,
                       size);
    if (*index > size)
        return err_set(err, "the array has no element %s (write 0 to %zu)", segment,
                       size);
    return 0;
}

/* What an object or array holds at a segment: borrowed, NULL when nothing. */
static int child_get(json_t *parent, const char *segment, json_t **child,
                     struct err *err)
{
    size_t i = 0;
    if (json_is_object(parent)) {
        *child = json_object_get(parent, segment);
    } else if (json_is_array(parent)) {
        if (index_of(parent, segment, &i, err))
            return -1;
        *child = json_array_get(parent, i);
    } else {
        char *text = json_dumps(parent, JSON_ENCODE_ANY);
        err_set(err, "%.60s has no member \"%s\" (set an object there)",
                text ? text : "the value", segment);
        free(text);
        return -1;
    }
    return 0;
}

/* Puts a value (whose reference is stolen) at a segment; what was there lives on. */
static int child_put(struct cfg_doc *doc, json_t *parent, const char *segment,
                     json_t *value, struct err *err)
{
    json_t *old = NULL;
    size_t i = 0;
    if (child_get(parent, segment, &old, err)) {
        json_decref(value);
        return -1;
    }
    if (old)
        json_array_append(doc->replaced, old);
    int rc;
    if (json_is_object(parent))
        rc = json_object_set_new(parent, segment, value);
    else if (index_of(parent, segment, &i, err) == 0 && i < json_array_size(parent))
        rc = json_array_set_new(parent, i, value);
    else
        rc = json_array_append_new(parent, value);
    return rc ? err_set(err, "the key is not UTF-8 (write it as UTF-8)") : 0;
}

/* Walks the pointer, making objects where nothing is, and puts the value at its end. */
static int put(struct cfg_doc *doc, const char *pointer, json_t *value, struct err *err)
{
    json_t *parent = doc->root;
    for (int depth = 0;; depth++) {
        size_t n = strcspn(++pointer, "/");
        bool last = pointer[n] == '\0';
        char *segment = segment_of(pointer, n);
        json_t *child = NULL;
        int rc = 0;
        if (depth == LENIENT_DEPTH_MAX)
            rc = err_set(err, "the pointer is more than %d deep (nest less)",
                         LENIENT_DEPTH_MAX);
        else if (!last)
            rc = child_get(parent, segment, &child, err);
        if (rc)
            json_decref(value);
        else if (last)
            rc = child_put(doc, parent, segment, value, err);
        else if (!child || json_is_null(child))
            rc = child_put(doc, parent, segment, child = json_object(), err);
        free(segment);
        if (rc || last)
            return rc;
        parent = child;
        pointer += n;
    }
}

/* From now on the values at the pointer and below come from this --set. */
static void remember(struct cfg_doc *doc, const char *pointer)
{
    int64_t n = 0;
    for (int64_t i = 0; i < doc->sets.n; i++)
        if (!document_within(doc->sets.v[i], pointer))
            doc->sets.v[n++] = doc->sets.v[i];
    doc->sets.n = n;
    VEC_PUSH(&doc->sets, pointer);
}

int cfg_set(struct cfg root, const char *assignment)
{
    struct cfg_doc *doc = root.doc;
    struct cfg_loader *loader = doc->loader;
    size_t n = strcspn(assignment, "=");
    const char *pointer = arena_strndup(&loader->arena, assignment, n);
    struct err err = { 0 };
    json_t *value;
    if (assignment[n] == '\0')
        err_set(&err, "no value (write POINTER=VALUE)");
    else if (pointer[0] != '/')
        err_set(&err, "not a JSON pointer (write for example /cluster/count=4)");
    else if ((value = value_of(assignment + n + 1, &err)) != NULL &&
             put(doc, pointer, value, &err) == 0)
        remember(doc, pointer);
    if (!err.set)
        return 0;
    diags_error(&loader->diags, "--set %s: %s", pointer, err.text);
    return -1;
}
