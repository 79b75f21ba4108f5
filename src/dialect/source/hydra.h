/* Documents that hydra puts together (hydra 1.3): a document's `defaults` name others,
 * which are put where their packages are; what is named later goes over what is named
 * before, and a document's own values are last, or where "_self_" is.
 * https://hydra.cc/docs/advanced/defaults_list, .../advanced/overriding_packages */
#ifndef DIALECT_SOURCE_HYDRA_H
#define DIALECT_SOURCE_HYDRA_H

#include "dialect/source/value.h"

enum { HYDRA_DEPTH_MAX = 6, HYDRA_DOCUMENTS_MAX = 200 };

struct hydra {
    struct arena *arena;
    int64_t line;  /* of what names the documents: all that is made is of it */
    int left;      /* documents that may still be read */
    int deep;      /* documents around this one */
    bool optional; /* what is looked for may be missing */
    bool follows;  /* `line` is that of each entry of the first document's */
    /* The document "a/b.yaml", interpolations as they are written, and the package that
     * its head names ("# @package a.b"), or NULL; NULL: it is not there. */
    struct value *(*open)(void *of, int64_t line, const char *name,
                          const char **package);
    /* What somebody chooses of a group; NULL: nobody does. */
    const char *(*chosen)(void *of, const char *group);
    /* Says that a document is not there. */
    void (*lost)(void *of, int64_t line, const char *name);
    void *of;
};

/* A document, whose list of defaults it loses, with all that it names. */
struct value *hydra_compose(struct hydra *h, struct value *own);

/* The package of a text's head; NULL. */
const char *hydra_package(struct arena *arena, const char *text);

/* What `from` has goes over what is in `to`, member by member. */
void hydra_merge(struct arena *arena, struct value *to, const struct value *from);

/* A member is set, be it there or not. */
void hydra_put(struct arena *arena, struct value *dict, const char *key,
               struct value *v);

/* The dictionary at "a.b" or "a/b", made where there is none; of "" the root. */
struct value *hydra_at(struct arena *arena, struct value *root, const char *path,
                       int64_t line);

#endif
