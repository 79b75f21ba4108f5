/* What is inside a loaded document: shared by cfg.c, fields.c and set.c alone. */
#ifndef CONFIG_CFG_DOC_H
#define CONFIG_CFG_DOC_H

#include "base/err.h"
#include "base/vec.h"
#include "config/cfg.h"
#include "config/lenient.h"

/* A `--set` that was applied. */
struct document_set {
    const char *pointer; /* as it was written */
    const char *scope;   /* the outermost value it made: the pointer, or a parent */
};

struct cfg_doc {
    struct cfg_loader *loader;
    const char *name;
    char *text; /* as it was read; NULL for a tree */
    size_t len;
    struct lenient read; /* the text once more, made for the first place looked up */
    json_t *root;
    json_t *replaced; /* an array: what cfg_set took out; a cfg may still point to it */
    VEC(struct document_set) sets; /* the newest last */
    struct cfg_doc *next;
};

/* The tree of a text, or NULL with err set and *at the byte where. */
json_t *document_tree(const char *text, size_t len, size_t *at, struct err *err);

/* Whether a JSON pointer is `outer` or something inside it. */
bool document_within(const char *pointer, const char *outer);

/* A JSON pointer with one more segment, in the loader's arena. */
const char *document_path(struct cfg_doc *doc, const char *parent, const char *key);

#endif
