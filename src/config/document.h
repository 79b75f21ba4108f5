/* What is inside a loaded document: shared by cfg.c and set.c, private to the reader. */
#ifndef CONFIG_DOCUMENT_H
#define CONFIG_DOCUMENT_H

#include "base/err.h"
#include "base/vec.h"
#include "config/cfg.h"

struct cfg_doc {
    struct cfg_loader *loader;
    const char *name;
    char *text; /* as it was read; NULL for a tree */
    size_t len;
    json_t *root;
    json_t *replaced; /* an array: values that cfg_set took out, as some struct cfg
                             * may still point to them */
    VEC(const char *) sets; /* pointers that cfg_set wrote */
    struct cfg_doc *next;
};

/* The tree of a text, or NULL with err set and *at the byte where. */
json_t *document_tree(const char *text, size_t len, size_t *at, struct err *err);

/* Whether a JSON pointer is `outer` or something inside it. */
bool document_within(const char *pointer, const char *outer);

#endif
