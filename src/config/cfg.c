#include "config/cfg.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/cfg_doc.h"
#include "config/lenient.h"
#include "config/place.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 64 << 20 };

void cfg_loader_init(struct cfg_loader *loader)
{
    *loader = (struct cfg_loader) { 0 };
    arena_init(&loader->arena);
    diags_init(&loader->diags);
}

void cfg_loader_release(struct cfg_loader *loader)
{
    for (struct cfg_doc *d = loader->docs; d; d = d->next) {
        json_decref(d->root);
        json_decref(d->replaced);
        VEC_RELEASE(&d->sets);
        lenient_release(&d->read);
        free(d->text);
    }
    for (const struct cfg_owned *o = loader->owned; o; o = o->next)
        o->release(o->what);
    diags_release(&loader->diags);
    inputs_release(&loader->inputs);
    arena_release(&loader->arena);
    loader->docs = NULL;
}

void cfg_loader_own(struct cfg_loader *loader, void *what, void (*release)(void *what))
{
    struct cfg_owned *o = ARENA_NEW(&loader->arena, struct cfg_owned);
    *o = (struct cfg_owned) { loader->owned, what, release };
    loader->owned = o;
}

static struct cfg_doc *doc_add(struct cfg_loader *loader, const char *name)
{
    struct cfg_doc *doc = ARENA_NEW(&loader->arena, struct cfg_doc);
    doc->loader = loader;
    doc->name = arena_strdup(&loader->arena, name);
    doc->replaced = json_array();
    doc->next = loader->docs;
    loader->docs = doc;
    return doc;
}

/* jansson's complaint about JSON that lenient_read wrote: a repeated key, at whose end
 * it is. Anything else would be our own mistake, and is passed on. */
static void tree_error(const struct lenient *l, const json_error_t *e, size_t *at,
                       struct err *err)
{
    size_t end = e->position > 0 ? (size_t)e->position - 1 : 0;
    *at = lenient_origin(l, end);
    if (json_error_code(e) != json_error_duplicate_key) {
        err_set(err, "%s", e->text);
        return;
    }
    size_t from = end;
    for (const struct lenient_mark *m = l->marks.v + l->marks.n; m-- > l->marks.v;) {
        from = m->json;
        if (from <= end)
            break;
    }
    int n = end - from < 40 ? (int)(end - from) + 1 : 40;
    err_set(err, "duplicate key %.*s (keep one of them)", n, l->json.s + from);
}

json_t *document_tree(const char *text, size_t len, size_t *at, struct err *err)
{
    struct lenient l;
    lenient_init(&l);
    json_t *tree = NULL;
    if (lenient_read(&l, text, len, at, err) == 0) {
        json_error_t e;
        tree = json_loadb(strbuf_get(&l.json), l.json.len,
                          JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
        if (!tree)
            tree_error(&l, &e, at, err);
    }
    lenient_release(&l);
    return tree;
}

/* Takes over the text. */
static struct cfg parse(struct cfg_loader *loader, const char *name, char *text,
                        size_t len)
{
    struct cfg_doc *doc = doc_add(loader, name);
    doc->text = text;
    doc->len = len;
    struct err err = { 0 };
    size_t at;
    doc->root = document_tree(text, len, &at, &err);
    if (!doc->root) {
        struct place p = place_of(text, at);
        diags_add(&loader->diags,
                  (struct diag) { .code = DIAG_SYNTAX,
                                  .file = doc->name,
                                  .line = p.line,
                                  .column = p.column },
                  "%s", err.text);
    }
    struct cfg root = { doc, doc->root, "" };
    if (json_is_null(root.json)) { /* as absent to all who ask */
        cfg_error(root, DIAG_WRONG_TYPE, "there is nothing in it but null");
        return (struct cfg) { doc, NULL, "" };
    }
    if (root.json && loader->watch && loader->watch->loaded)
        loader->watch->loaded(loader->watch->arg, root, doc->name);
    root.json = doc->root;
    return root;
}

struct cfg cfg_load(struct cfg_loader *loader, const char *file)
{
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    struct err err = { 0 };
    size_t len;
    char *text = file_read(file, FILE_MAX_B, &len, &err);
    if (!text) {
        loader->inputs.n_unread++;
        diags_unreadable(&loader->diags, name, &err);
        return (struct cfg) { doc_add(loader, file), NULL, "" };
    }
    inputs_note(&loader->inputs, &loader->arena, file, text, len);
    return parse(loader, name, text, len);
}

struct cfg cfg_parse(struct cfg_loader *loader, const char *name, const char *text,
                     size_t len)
{
    return parse(loader, name, xstrndup(text, len), len);
}

const char *cfg_document_text(struct cfg c, size_t *len)
{
    *len = c.doc->len;
    return c.doc->text;
}

const char *cfg_document_name(struct cfg c)
{
    return c.doc->name;
}

struct cfg cfg_from_tree(struct cfg_loader *loader, const char *name, json_t *tree)
{
    struct cfg_doc *doc = doc_add(loader, name);
    doc->root = tree;
    return (struct cfg) { doc, tree, "" };
}

bool cfg_present(struct cfg c)
{
    return c.json && !json_is_null(c.json);
}

bool cfg_is_object(struct cfg c)
{
    return json_is_object(c.json);
}

bool cfg_is_array(struct cfg c)
{
    return json_is_array(c.json);
}

bool cfg_is_string(struct cfg c)
{
    return json_is_string(c.json);
}

bool cfg_is_number(struct cfg c)
{
    return json_is_number(c.json);
}

const char *document_path(struct cfg_doc *doc, const char *parent, const char *key)
{
    size_t n = strlen(parent), own = strlen(key);
    bool plain = !memchr(key, '~', own) && !memchr(key, '/', own);
    char *path =
        ARENA_RAW(&doc->loader->arena, n + 1 + (plain ? own : 2 * own) + 1, char);
    char *to = path + n;
    memcpy(path, parent, n);
    *to++ = '/';
    if (plain) {
        memcpy(to, key, own + 1);
        return path;
    }
    for (; *key; key++) {
        bool escaped = *key == '~' || *key == '/';
        *to++ = escaped ? '~' : *key;
        if (escaped)
            *to++ = *key == '~' ? '0' : '1';
    }
    *to = '\0';
    return path;
}

struct cfg cfg_get(struct cfg object, const char *key)
{
    if (!object.doc)
        return object;
    json_t *json = json_object_get(object.json, key);
    return (struct cfg) { object.doc, json,
                          document_path(object.doc, object.path, key) };
}

struct cfg cfg_at(struct cfg array, int64_t i)
{
    if (!array.doc)
        return array;
    json_t *json = i < 0 ? NULL : json_array_get(array.json, (size_t)i);
    const char *path =
        arena_printf(&array.doc->loader->arena, "%s/%" PRId64, array.path, (int64_t)i);
    return (struct cfg) { array.doc, json, path };
}

int64_t cfg_len(struct cfg c)
{
    return (int64_t)(cfg_is_array(c) ? json_array_size(c.json)
                                     : json_object_size(c.json));
}

void *cfg_first(struct cfg object)
{
    return json_object_iter(object.json);
}

void *cfg_next(struct cfg object, void *it)
{
    return json_object_iter_next(object.json, it);
}

const char *cfg_key(void *it)
{
    return json_object_iter_key(it);
}

struct cfg cfg_member(struct cfg object, void *it)
{
    json_t *json = json_object_iter_value(it);
    return (struct cfg) { object.doc, json,
                          document_path(object.doc, object.path, cfg_key(it)) };
}

bool document_within(const char *pointer, const char *outer)
{
    size_t n = strlen(outer);
    return strncmp(pointer, outer, n) == 0 && (pointer[n] == '\0' || pointer[n] == '/');
}

static struct place find_place(struct cfg c, bool key)
{
    struct cfg_doc *doc = c.doc;
    struct err err = { 0 };
    size_t at;
    if (!doc->read.json.len && lenient_read(&doc->read, doc->text, doc->len, &at, &err))
        strbuf_release(&doc->read.json);
    return place_find(doc->text, &doc->read, c.path, key);
}

int64_t cfg_line(struct cfg c)
{
    if (!c.doc || !c.doc->text)
        return 0;
    return find_place(c, false).line;
}

/* The --set that gave a value, the innermost of several. */
static const struct document_set *find_set(struct cfg c)
{
    const struct document_set *set = NULL;
    for (int64_t i = 0; i < c.doc->sets.n; i++) {
        const struct document_set *at = &c.doc->sets.v[i];
        if (document_within(c.path, at->scope) &&
            (!set || strlen(at->scope) > strlen(set->scope)))
            set = at;
    }
    return set;
}

static struct diag place_diag(struct cfg c, bool key)
{
    const struct document_set *set = find_set(c);
    struct diag d = { .file = c.doc->name, .pointer = c.path };
    if (set) {
        d.set = set->pointer;
    } else if (c.doc->text) {
        struct place p = find_place(c, key);
        d.line = p.line;
        d.column = p.column;
    }
    return d;
}

struct diag cfg_diag(struct cfg c, enum diag_severity severity, enum diag_code code)
{
    struct diag d = place_diag(c, false);
    d.severity = severity;
    d.code = code;
    return d;
}

static void report_error(struct cfg c, bool key, enum diag_code code, const char *fmt,
                         va_list ap) __attribute__((format(printf, 4, 0)));

static void report_error(struct cfg c, bool key, enum diag_code code, const char *fmt,
                         va_list ap)
{
    assert(c.doc);
    struct diags *diags = &c.doc->loader->diags;
    if (diags_are_full(diags)) {
        diags_count_error(diags);
        return;
    }
    struct diag d = place_diag(c, key);
    d.code = code;
    diags_vadd(diags, d, fmt, ap);
}

int cfg_error(struct cfg c, enum diag_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report_error(c, false, code, fmt, ap);
    va_end(ap);
    return -1;
}

int cfg_error_at(struct cfg_loader *loader, struct cfg where, enum diag_code code,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (where.doc)
        report_error(where, false, code, fmt, ap);
    else
        diags_vadd(&loader->diags,
                   (struct diag) { .severity = DIAG_ERROR, .code = code }, fmt, ap);
    va_end(ap);
    return -1;
}

int cfg_error_key(struct cfg c, enum diag_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report_error(c, true, code, fmt, ap);
    va_end(ap);
    return -1;
}

void cfg_warn(struct cfg c, enum diag_code code, const char *fmt, ...)
{
    assert(c.doc);
    va_list ap;
    va_start(ap, fmt);
    diags_vadd(&c.doc->loader->diags, cfg_diag(c, DIAG_WARNING, code), fmt, ap);
    va_end(ap);
}

struct arena *cfg_arena(struct cfg c)
{
    return &c.doc->loader->arena;
}

void cfg_unknown_key(struct cfg value, const char *what, bool near)
{
    struct cfg_loader *loader = value.doc->loader;
    struct cfg_unknown *u = ARENA_NEW(&loader->arena, struct cfg_unknown);
    *u = (struct cfg_unknown) { value, what, near, loader->unknown };
    loader->unknown = u;
    cfg_error_key(value, DIAG_UNKNOWN_KEY, "%s", what);
}

const char *cfg_unknown_at(struct cfg root, const char *pointer)
{
    for (const struct cfg_unknown *u = root.doc->loader->unknown; u; u = u->next)
        if (u->value.doc == root.doc && document_within(pointer, u->value.path))
            return u->what;
    return NULL;
}
