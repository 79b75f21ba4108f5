/* A document as one value, in the language that its name's ending says: JSON (as
 * config/cfg.h reads it), YAML or TOML. */
#ifndef DIALECT_SOURCE_DOCUMENT_H
#define DIALECT_SOURCE_DOCUMENT_H

#include "dialect/source/yaml.h"

enum { DOCUMENT_JSON_VALUES_MAX = 500 }; /* each is looked for in the text */

struct document {
    struct value *root; /* NULL after reporting; of several YAML documents the first */
    struct yaml yaml;   /* of YAML: all of them, and notes */
    struct cfg json;    /* of JSON */
};

bool document_is(const char *file);      /* by its ending */
bool document_is_json(const char *file); /* likewise */

/* Reads text of len bytes, or reports; `what` a reader of JSON leaves out. */
void document_read(struct document *d, struct cfg_loader *loader, const char *file,
                   const char *text, size_t len, const char *what);
void document_release(struct document *d);

#endif
