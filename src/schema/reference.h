/* What people write in files, key by key: the rows of the tables by which a file is read
 * (type, bounds, names), and what schemas/NAME.json says of each (meaning, default,
 * example). From the two come JSON Schemas, the page of all keys, and `smsim help KEY`.
 *
 *   reference.c   loads a kind of file: its tables (probe.c) with its texts
 *   probe.c       reads the files that schemas/NAME.json names, and notes every table
 *   json_schema.c a kind of file as a JSON Schema
 *   result_schema.c  commands' results as JSON Schemas
 *   key_text.c    one key as text, and the page of all keys
 *   elsewhere.c   where else a word belongs that no table has at its place
 *   dialect_page.c
 *                 the page of all options of dialects
 *
 * A pointer here has "*" for the index of an array and for a name that users choose. */
#ifndef SCHEMA_REFERENCE_H
#define SCHEMA_REFERENCE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "config/cfg.h"
#include "config/contract.h"

/* The kinds of files, as schemas/ names them; NULL ends the list. */
extern const char *const reference_kinds[];

/* One table of fields and where it is used. */
struct reference_table {
    const char *pointer;            /* of the object; "" is the root */
    const struct cfg_field *fields; /* a copy, ended by a row without a key */
};

struct reference_key {
    const char *pointer;
    const struct cfg_field *field; /* NULL: a name that users choose */
    const json_t *text;            /* borrowed; NULL: schemas/NAME.json has none */
};

struct reference {
    struct arena *arena;
    const char *kind;
    const json_t *root; /* of schemas/NAME.json, borrowed */
    const json_t *texts;
    VEC(struct reference_table) tables;
    VEC(struct reference_key) keys; /* in the order of the tables, outer ones first */
};

/* Loads a kind of file; memory lives in the loader but for what reference_release takes.
 * -1 after reporting. */
int reference_load(struct reference *r, struct cfg_loader *loader, const char *kind);
void reference_release(struct reference *r);

/* Reads the files of `probes` as their kind is read, and notes each table. */
void reference_probe(struct reference *r);

/* Adds a table unless it is known at that pointer. */
void reference_add_table(struct reference *r, const char *pointer,
                         const struct cfg_field *fields);

/* The pointer of an object as read ("/axes/0/zip/1"), as tables and texts have it. */
const char *reference_pointer(const struct reference *r, const char *pointer);

/* What schemas/NAME.json says of a key ("meaning", "default", ...); NULL: nothing. */
const char *reference_text(const struct reference_key *key, const char *what);

/* What a key is where it is not written, and the libraries that have what it sets (NULL:
 * all): as the rows of libraries say, or else schemas/NAME.json. */
const char *reference_default(const struct reference *r,
                              const struct reference_key *key);
const char *reference_libraries(const struct reference *r,
                                const struct reference_key *key);

/* The pointer of the key whose old name a key is (CFG_T_RENAMED). */
const char *reference_new_name(const struct reference *r, const char *pointer,
                               const struct cfg_field *f);

/* The last part of a pointer. */
const char *reference_name(const char *pointer);

/* Whether a word is one of those that a key takes. */
bool reference_has_value(const struct reference_key *key, const char *word);

/* Unknown keys of scenarios among the errors found so far: where no name of their own
 * section is near, and another section has that key or a key has that value, the mend says
 * so. */
void reference_elsewhere(struct cfg_loader *loader);

/* A kind of file as a JSON Schema (draft 2020-12); a new tree. */
json_t *reference_schema(const struct reference *r);

/* Results of commands, by name; NULL ends. */
extern const struct contract *const result_contracts[];

/* The name in the name of its schema, "plan" of "urn:smsim:plan:1"; its length. */
size_t result_name(const struct contract *c, const char **name);

/* A command's result as a JSON Schema; a new tree, NULL where there is none such. */
json_t *result_schema(const char *name);

/* All that is known of a key, as lines "label: text". */
void reference_key_text(struct strbuf *out, const struct reference *r,
                        const struct reference_key *key);

/* A chapter of the page of all keys, in Markdown. */
void reference_page(struct strbuf *out, const struct reference *r);

/* The page of all options of dialects, in Markdown. */
void reference_dialects(struct strbuf *out);

#endif
