#include "config/xml.h"

#include "base/file.h"
#include "base/xmalloc.h"
#include "config/lenient.h"
#include "config/place.h"

#include <errno.h>
#include <expat.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct xml_doc {
    struct cfg_loader *loader;
    const char *file, *text;
};

/* While expat runs. */
struct parse_context {
    XML_Parser parser;
    struct xml_doc *doc;
    struct xml_element *root, *open; /* the element that is not closed yet */
    int depth, n_elements;
    bool failed;
};

static int error_at(const struct xml_doc *doc, size_t offset, const char *what)
{
    struct place p = place_of(doc->text, offset);
    diags_add(&doc->loader->diags,
              (struct diag) { .code = DIAG_SYNTAX,
                              .file = doc->file,
                              .line = p.line,
                              .column = p.column },
              "%s", what);
    return -1;
}

static size_t byte_index(const struct parse_context *r)
{
    XML_Index at = XML_GetCurrentByteIndex(r->parser);
    return at > 0 ? (size_t)at : 0;
}

/* Stops at the first error; what expat calls afterwards finds `failed`. */
static void stop(struct parse_context *r, const char *what)
{
    if (!r->failed)
        error_at(r->doc, byte_index(r), what);
    r->failed = true;
    XML_StopParser(r->parser, XML_FALSE);
}

static const char *beyond_limits(const struct parse_context *r, const char **attributes)
{
    int n = 0;
    for (; attributes[2 * n]; n++)
        if (strlen(attributes[2 * n]) > XML_VALUE_MAX ||
            strlen(attributes[2 * n + 1]) > XML_VALUE_MAX)
            return "an attribute is longer than 1024 bytes";
    if (n > XML_ATTRIBUTES_MAX)
        return "an element has more than 32 attributes";
    if (r->depth >= XML_DEPTH_MAX)
        return "elements are nested more than 64 deep";
    if (r->n_elements >= XML_ELEMENTS_MAX)
        return "more than 16384 elements";
    return NULL;
}

static void copy_attributes(struct arena *arena, struct xml_element *e,
                            const char **attributes)
{
    while (attributes[2 * e->n_attributes])
        e->n_attributes++;
    struct xml_attribute *a =
        ARENA_ARRAY(arena, e->n_attributes + 1, struct xml_attribute);
    for (int32_t i = 0; i < e->n_attributes; i++) {
        a[i].name = arena_strdup(arena, attributes[2 * i]);
        a[i].value = arena_strdup(arena, attributes[2 * i + 1]);
    }
    e->attributes = a;
}

static void XMLCALL on_start(void *data, const char *name, const char **attributes)
{
    struct parse_context *r = data;
    if (r->failed)
        return;
    const char *limit = beyond_limits(r, attributes);
    if (limit) {
        stop(r, limit);
        return;
    }
    struct arena *arena = &r->doc->loader->arena;
    struct xml_element *e = ARENA_NEW(arena, struct xml_element);
    e->name = arena_strdup(arena, name);
    e->doc = r->doc;
    e->offset = byte_index(r);
    e->parent = r->open;
    copy_attributes(arena, e, attributes);
    if (!r->open)
        r->root = e;
    else if (r->open->last)
        r->open->last->next = e;
    else
        r->open->first = e;
    if (r->open)
        r->open->last = e;
    r->open = e;
    r->depth++;
    r->n_elements++;
}

static void XMLCALL on_end(void *data, const char *name)
{
    struct parse_context *r = data;
    (void)name; /* expat has checked that it is the open one's */
    if (r->failed)
        return;
    r->open = r->open->parent;
    r->depth--;
}

static void XMLCALL on_doctype(void *data, const char *name, const char *sysid,
                               const char *pubid, int has_subset)
{
    struct parse_context *r = data;
    (void)sysid, (void)pubid, (void)has_subset;
    char what[160];
    snprintf(what, sizeof(what),
             "a DOCTYPE (\"%.40s\") is not taken: NCCL writes none%s", name,
             strcmp(name, "topology") == 0 ? ", and hwloc's XML is not read" : "");
    const char *at = strstr(r->doc->text, "<!DOCTYPE");
    error_at(r->doc, at ? (size_t)(at - r->doc->text) : byte_index(r), what);
    r->failed = true;
    XML_StopParser(r->parser, XML_FALSE);
}

/* What expat found, with the element left open where the file just ends. */
static void report_syntax(struct parse_context *r)
{
    enum XML_Error code = XML_GetErrorCode(r->parser);
    char what[256];
    if (r->open && (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
                    code == XML_ERROR_PARTIAL_CHAR)) {
        struct place p = place_of(r->doc->text, r->open->offset);
        snprintf(what, sizeof(what),
                 "the file is cut off: <%.40s> of line %" PRId64 " is not closed",
                 r->open->name, p.line);
    } else {
        snprintf(what, sizeof(what), "not XML: %s", XML_ErrorString(code));
    }
    error_at(r->doc, byte_index(r), what);
}

static struct xml_element *parse(struct xml_doc *doc, size_t len)
{
    struct parse_context r = { .parser = XML_ParserCreate("UTF-8"), .doc = doc };
    if (!r.parser)
        xmalloc_fail();
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    if (XML_Parse(r.parser, doc->text, (int)len, XML_TRUE) != XML_STATUS_OK &&
        !r.failed) {
        report_syntax(&r);
        r.failed = true;
    }
    XML_ParserFree(r.parser);
    return r.failed ? NULL : r.root;
}

struct xml_element *xml_load(struct cfg_loader *loader, const char *file)
{
    struct err err = { 0 };
    size_t len;
    char *text = file_read(file, XML_BYTES_MAX, &len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return NULL;
    }
    struct xml_doc *doc = ARENA_NEW(&loader->arena, struct xml_doc);
    doc->loader = loader;
    doc->file = arena_strdup(&loader->arena, file);
    doc->text = arena_strndup(&loader->arena, text, len);
    size_t bad = lenient_bad_byte(text, len);
    free(text);
    if (bad < len) {
        error_at(doc, bad, "not a text file (a NUL byte, or no UTF-8)");
        return NULL;
    }
    return parse(doc, len);
}

const char *xml_attribute(const struct xml_element *e, const char *name)
{
    for (int32_t i = 0; i < e->n_attributes; i++)
        if (strcmp(e->attributes[i].name, name) == 0)
            return e->attributes[i].value;
    return NULL;
}

bool xml_is(const struct xml_element *e, const char *name)
{
    return strcmp(e->name, name) == 0;
}

int xml_error(const struct xml_element *e, const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return error_at(e->doc, e->offset, what);
}

int xml_int(const struct xml_element *e, const char *name, int64_t *v, int64_t min,
            int64_t max)
{
    const char *text = xml_attribute(e, name);
    if (!text)
        return xml_error(e, "<%.40s> has no %s", e->name, name);
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    if (end == text || *end || errno || n < min || n > max)
        return xml_error(e,
                         "%s=\"%.40s\" of <%.40s> is not a whole number from %" PRId64
                         " to %" PRId64,
                         name, text, e->name, min, max);
    *v = n;
    return 0;
}
