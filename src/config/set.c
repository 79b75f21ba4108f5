/* POINTER=VALUE: one change to a loaded document. */
#include "base/xmalloc.h"
#include "config/cfg_doc.h"
#include "config/lenient.h"

#include <stdlib.h>
#include <string.h>

/* VALUE as the language, or as a string. Text that begins like an object or an array
 * was meant as one, so there a mistake is reported. */
static json_t *value_of(const char *text, struct err *err)
{
    struct err syntax = { 0 };
    size_t at;
    json_t *value = document_tree(text, strlen(text), &at, &syntax);
    if (value)
        return value;
    if (strchr("{[", text[strspn(text, " \t\n")])) {
        if (text[0] == '\0')
            err_set(err, "no value (write POINTER=VALUE)");
        else
            err_set(err, "character %zu of the value: %s", at + 1, syntax.text);
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

/* One step of the pointer: the member of `parent` that a segment names. */
struct pointer_step {
    json_t *parent;
    char *key;     /* in an array, the index in digits */
    size_t index;  /* of an array; its length means one more element */
    json_t *child; /* borrowed; NULL when there is none */
};

static int find_index(struct pointer_step *s, struct err *err)
{
    size_t n = strlen(s->key), size = json_array_size(s->parent);
    bool append = strcmp(s->key, "-") == 0;
    bool digits = n > 0 && n < 10 && strspn(s->key, "0123456789") == n;
    s->index = append ? size : (size_t)strtoul(s->key, NULL, 10);
    if (!append && !digits)
        return err_set(err, "\"%s\" is no index of an array (write 0 to %zu)", s->key,
                       size);
    if (s->index > size)
        return err_set(err, "the array has no element %s (write 0 to %zu)", s->key,
                       size);
    free(s->key);
    s->key = xasprintf("%zu", s->index);
    s->child = json_array_get(s->parent, s->index);
    return 0;
}

static int pointer_find(struct pointer_step *s, struct err *err)
{
    if (json_is_array(s->parent))
        return find_index(s, err);
    if (json_is_object(s->parent)) {
        s->child = json_object_get(s->parent, s->key);
        return 0;
    }
    char *text = json_dumps(s->parent, JSON_ENCODE_ANY);
    err_set(err, "%.60s has no member \"%s\" (set an object in its place)",
            text ? text : "the document", s->key);
    free(text);
    return -1;
}

/* Puts a value, whose reference is stolen, in the child's place; the child lives on. */
static int pointer_put(struct cfg_doc *doc, struct pointer_step *s, json_t *value,
                       struct err *err)
{
    if (s->child)
        json_array_append(doc->replaced, s->child);
    int rc;
    if (json_is_object(s->parent))
        rc = json_object_set_new(s->parent, s->key, value);
    else if (s->child)
        rc = json_array_set_new(s->parent, s->index, value);
    else
        rc = json_array_append_new(s->parent, value);
    s->child = value;
    return rc ? err_set(err, "the pointer is not UTF-8 (write it as UTF-8)") : 0;
}

/* Walks the pointer, making objects where nothing is, and puts the value (its reference
 * is kept by the caller) at the end. *scope is the outermost value that is new. */
static int put(struct cfg_doc *doc, const char *pointer, json_t *value,
               const char **scope, struct err *err)
{
    const char *path = "";
    struct pointer_step s = { .parent = doc->root };
    *scope = NULL;
    for (int depth = 1; *pointer; depth++) {
        size_t n = strcspn(++pointer, "/");
        bool last = pointer[n] == '\0';
        if (depth > LENIENT_DEPTH_MAX)
            return err_set(err, "the pointer is more than %d deep (nest less)",
                           LENIENT_DEPTH_MAX);
        s.key = segment_of(pointer, n);
        int rc = pointer_find(&s, err);
        bool new = last || !s.child || json_is_null(s.child);
        if (rc == 0 && new)
            rc = pointer_put(doc, &s, last ? json_incref(value) : json_object(), err);
        path = document_path(doc, path, s.key);
        if (new && !*scope)
            *scope = path;
        free(s.key);
        if (rc)
            return -1;
        s.parent = s.child;
        pointer += n;
    }
    return 0;
}

/* From now on the values at the scope and below come from this --set. */
static void remember(struct cfg_doc *doc, const char *pointer, const char *scope)
{
    int64_t n = 0;
    for (int64_t i = 0; i < doc->sets.n; i++)
        if (!document_within(doc->sets.v[i].scope, scope))
            doc->sets.v[n++] = doc->sets.v[i];
    doc->sets.n = n;
    VEC_PUSH(&doc->sets, ((struct document_set) { pointer, scope }));
}

int cfg_set(struct cfg root, const char *assignment)
{
    struct cfg_doc *doc = root.doc;
    struct cfg_loader *loader = doc->loader;
    size_t n = strcspn(assignment, "=");
    const char *pointer = arena_strndup(&loader->arena, assignment, n), *scope;
    struct err err = { 0 };
    enum diag_code code = DIAG_SYNTAX;
    json_t *value = NULL;
    if (assignment[n] == '\0')
        err_set(&err, "no value (write POINTER=VALUE)");
    else if (pointer[0] != '/')
        err_set(&err, "not a JSON pointer (write for example /cluster/count=4)");
    else if ((value = value_of(assignment + n + 1, &err)) != NULL) {
        code = DIAG_UNKNOWN_KEY;
        if (put(doc, pointer, value, &scope, &err) == 0)
            remember(doc, pointer, scope);
    }
    json_decref(value);
    if (!err.set)
        return 0;
    diags_add(&loader->diags,
              (struct diag) { .code = code, .set = pointer, .pointer = pointer }, "%s",
              err.text);
    return -1;
}
