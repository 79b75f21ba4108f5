/* The one reader of every file people write.
 *
 * The language is JSON plus comments (// and #, to the end of the line), trailing
 * commas, single quotes, and True/False/None, so that a dictionary pasted from a Python
 * script is read as it is. Duplicate keys, NaN and numbers beyond 64 bits are errors.
 * null means the same as an absent key.
 *
 * A `struct cfg` is a value somewhere in a loaded document, cheap to copy, and knows
 * its JSON pointer; line and column are found only when an error is reported, by
 * scanning the text again. Meaning is read through tables of fields: each row names the
 * key, the type, the member of the struct it fills, its bounds. Whatever key of an
 * object no row names is an error that suggests the nearest one ("comment" is known
 * everywhere).
 *
 * Errors and warnings go to the loader's diags; the getters return 0, or -1 after
 * reporting. Reading goes on after an error so that all of a file's are seen. All
 * memory, the strings given out included, lives until cfg_loader_release.
 *
 * Files of this folder:
 *     cfg, document, fields, scalar, set:
 *         a file as values with positions; tables of fields; --set
 *     lenient, place, pointer:
 *         lenient text as strict JSON; lines and columns; JSON pointers
 *     diag, diag_json                     what is wrong with a file
 *     contract                            members of results: written, and as a schema
 *     datadir, cache, inputs:
 *         where the data are; what was made of a file; files that were read
 *     csv, xml                            tables; NCCL's topology files */
#ifndef CONFIG_CFG_H
#define CONFIG_CFG_H

#include "base/arena.h"
#include "base/names.h"
#include "base/units.h"
#include "config/diag.h"
#include "config/inputs.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfg_doc; /* one document: its name, text and tree */

struct cfg;
struct cfg_field;

/* Notified while files are read: of each document, which it may change, and of each
 * object that a table of fields reads; `name` is the document's. */
struct cfg_watch {
    void (*loaded)(void *arg, struct cfg root, const char *name); /* NULL: not asked */
    void (*table)(void *arg, struct cfg object, const char *name,
                  const struct cfg_field *fields); /* likewise */
    void *arg;
};

struct cfg_unknown;

struct cfg_loader {
    struct arena arena;
    struct diags diags;
    struct cfg_doc *docs;          /* all documents loaded through it, newest first */
    void *cache;                   /* what was made of files, see config/cache.h */
    struct cfg_loader *shared;     /* lends what it makes of files; NULL: none */
    struct inputs inputs;          /* the files that it read itself */
    const struct cfg_watch *watch; /* NULL: nobody watches */
    struct cfg_unknown *unknown;   /* keys that no table has, newest first */
    struct cfg_owned *owned;       /* freed with it, newest first */
};

/* What is no document and not in the arena. */
struct cfg_owned {
    struct cfg_owned *next;
    void *what;
    void (*release)(void *what);
};

struct cfg {
    struct cfg_doc *doc;
    json_t *json;     /* borrowed; NULL when absent */
    const char *path; /* JSON pointer from the document's root, "" for the root */
};

/* A key that was reported, as no table of fields has it. */
struct cfg_unknown {
    struct cfg value;
    const char *what; /* the message without its place */
    bool near;        /* it names a key of the section that may be meant */
    struct cfg_unknown *next;
};

void cfg_loader_init(struct cfg_loader *loader);
void cfg_loader_release(struct cfg_loader *loader);

/* Releases `what` with the loader. */
void cfg_loader_own(struct cfg_loader *loader, void *what, void (*release)(void *what));

/* The root of a file or of text (name represents the file in messages). On failure the
 * error is reported and the value is absent. Files above 64 MiB and nesting beyond 200
 * levels are refused. */
struct cfg cfg_load(struct cfg_loader *loader, const char *file);
struct cfg cfg_parse(struct cfg_loader *loader, const char *name, const char *text,
                     size_t len);

/* The text of a value's document as it was read, and its name in messages; the text is
 * NULL where the document was made from a tree. */
const char *cfg_document_text(struct cfg c, size_t *len);
const char *cfg_document_name(struct cfg c);

/* A document made from a tree (its reference is stolen), e.g. a point of a sweep. */
struct cfg cfg_from_tree(struct cfg_loader *loader, const char *name, json_t *tree);

/* `--set POINTER=VALUE`: replaces or adds one value in the document of root. VALUE is
 * read as the language above, or taken as a string when it is not that. Parents that
 * are missing are made. Errors are reported as of "--set POINTER". */
int cfg_set(struct cfg root, const char *assignment);

bool cfg_present(struct cfg c); /* there and not null */
bool cfg_is_object(struct cfg c);
bool cfg_is_array(struct cfg c);
bool cfg_is_string(struct cfg c);
bool cfg_is_number(struct cfg c);
struct cfg cfg_get(struct cfg object, const char *key); /* absent when not there */
struct cfg cfg_at(struct cfg array, int64_t i);
int64_t cfg_len(struct cfg c); /* elements or members; 0 for anything else */

/* Walks the members of an object in the order of the file:
 *     for (void *it = cfg_first(o); it; it = cfg_next(o, it))
 *         ... cfg_key(it), cfg_member(o, it) ... */
void *cfg_first(struct cfg object);
void *cfg_next(struct cfg object, void *it);
const char *cfg_key(void *it);
struct cfg cfg_member(struct cfg object, void *it);

/* Reports "file:line:column: pointer: message" at a value (an absent value's pointer
 * still says where it was looked for; its place is that of the object around it).
 * Both return -1; cfg_error_key reports at the key instead. The message's last
 * parentheses are its mend (config/diag.h). */
int cfg_error(struct cfg c, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int cfg_error_key(struct cfg c, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* cfg_error, but without a place where `where` is {0}. */
int cfg_error_at(struct cfg_loader *loader, struct cfg where, enum diag_code code,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void cfg_warn(struct cfg c, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of a value, for a finding about it (config/diag.h): file, line and column,
 * or the --set it came from, and its pointer. O(text). */
struct diag cfg_diag(struct cfg c, enum diag_severity severity, enum diag_code code);

/* The line of a value of a file, from 1; 0 of a tree. O(text). */
int64_t cfg_line(struct cfg c);

/* Single values, of which an absent one is an error; *v stays as it is on failure. A
 * bound of -INFINITY or INFINITY (INT64_MIN, INT64_MAX) is none. A real that is whole
 * (4.0, 4e0) is an integer; true is no number. */
int cfg_int(struct cfg c, int64_t *v, int64_t min, int64_t max);
int cfg_real(struct cfg c, double *v, double min, double max);
int cfg_time_s(struct cfg c, double *v); /* measured: above 0, at most 1e5 s */
int cfg_bool(struct cfg c, bool *v);
/* Not empty, and without control characters, as it is printed again. */
int cfg_string(struct cfg c, const char **v);
int cfg_enum(struct cfg c, const struct name_value *names, int *v);
int cfg_quantity(struct cfg c, enum unit_kind kind, double *v, double min, double max);

enum cfg_type {
    CFG_T_INT,      /* int64_t */
    CFG_T_REAL,     /* double */
    CFG_T_BOOL,     /* bool */
    CFG_T_STRING,   /* const char * */
    CFG_T_TEXT,     /* const char *, of several lines */
    CFG_T_ENUM,     /* int, by a table of names (the member is an enum) */
    CFG_T_QUANTITY, /* double in SI, from a string with its unit */
    CFG_T_BYTES,    /* int64_t, from a string with its unit */
    CFG_T_CHILD,    /* struct cfg: kept for the caller to read; set when absent, too */
    CFG_T_REFUSED,  /* known, but not to be used: `why` says what to do instead */
    CFG_T_RENAMED,  /* the old name of the row that `why` names: read, with a warning */
};

struct cfg_field {
    const char *key;
    enum cfg_type type;
    size_t at; /* offset of the member; it keeps its value when the key is absent */
    /* offset of a bool that is set when the key is present; 0 (CFG_NO_HAS) is none, so
     * that bool cannot be the first member of its struct */
    size_t has;
    bool required;
    double min, max;                /* of numbers and quantities, in SI */
    const struct name_value *names; /* of enums */
    enum unit_kind unit;            /* of quantities */
    const char *why; /* what to do instead of a refused key; what a child should be;
                      * the new name of a renamed key */
};

#define CFG_NO_HAS 0

/* Rows of a table of fields; T is the struct, m its member, named like the key unless
 * given. Append `.required = true` or `.has = offsetof(T, has_m)` after a comma inside
 * CFG_ROW for more. */
#define CFG_ROW(k, t, T, m, ...)                                   \
    {                                                              \
        .key = (k), .type = (t), .at = offsetof(T, m), __VA_ARGS__ \
    }
#define CFG_INT(k, T, m, lo, hi) CFG_ROW(k, CFG_T_INT, T, m, .min = (lo), .max = (hi))
#define CFG_REAL(k, T, m, lo, hi) CFG_ROW(k, CFG_T_REAL, T, m, .min = (lo), .max = (hi))
#define CFG_BOOL(k, T, m) CFG_ROW(k, CFG_T_BOOL, T, m, .min = 0)
#define CFG_STRING(k, T, m) CFG_ROW(k, CFG_T_STRING, T, m, .min = 0)
#define CFG_TEXT(k, T, m) CFG_ROW(k, CFG_T_TEXT, T, m, .min = 0)
#define CFG_ENUM(k, T, m, tab) CFG_ROW(k, CFG_T_ENUM, T, m, .names = (tab))
#define CFG_QUANTITY(k, T, m, u, lo, hi) \
    CFG_ROW(k, CFG_T_QUANTITY, T, m, .unit = (u), .min = (lo), .max = (hi))
#define CFG_BYTES(k, T, m, lo, hi) \
    CFG_ROW(k, CFG_T_BYTES, T, m, .unit = UNIT_BYTES, .min = (lo), .max = (hi))
#define CFG_CHILD(k, T, m) CFG_ROW(k, CFG_T_CHILD, T, m, .min = 0)
#define CFG_REFUSED(k, text)                             \
    {                                                    \
        .key = (k), .type = CFG_T_REFUSED, .why = (text) \
    }
/* A key that has another name now. A file with the old one keeps being read as if it
 * had the new one, with a warning that names it; both at once are an error. */
#define CFG_RENAMED(old, new)                             \
    {                                                     \
        .key = (old), .type = CFG_T_RENAMED, .why = (new) \
    }
#define CFG_END     \
    {               \
        .key = NULL \
    }

/* The arena of a value's loader. */
struct arena *cfg_arena(struct cfg c);

/* Reports a key that no table has, and keeps it in the loader. */
void cfg_unknown_key(struct cfg value, const char *what, bool near);

/* What was reported of a key of the document that is, or holds, that pointer; NULL:
 * nothing. */
const char *cfg_unknown_at(struct cfg root, const char *pointer);

/* Fills *dst from an object by the table (ended by CFG_END). An absent object counts as
 * an empty one. -1 when anything was reported. */
int cfg_read(struct cfg object, const struct cfg_field *fields, void *dst);

#endif
