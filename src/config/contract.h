/* Members of the objects that commands write: one table of an object is what writes it
 * and what its JSON Schema says.
 *
 * A row's value is at an offset of the struct that the object is of, or is made of that
 * struct. Its text says what it means; its key has its unit ("_s", "_bytes", "usd_"),
 * else the text does. */
#ifndef CONFIG_CONTRACT_H
#define CONFIG_CONTRACT_H

#include "base/names.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum contract_type {
    CONTRACT_REAL,           /* double; null where it is not finite */
    CONTRACT_INT64,          /* int64_t */
    CONTRACT_INT32,          /* int32_t */
    CONTRACT_COUNT,          /* int64_t from 1; 0: null */
    CONTRACT_BOOL,           /* bool */
    CONTRACT_TEXT,           /* const char *; NULL: null */
    CONTRACT_NAME,           /* an enum, or an int, by `names`; negative: null */
    CONTRACT_REALS,          /* object: double[], by `names` */
    CONTRACT_INT64S,         /* object: int64_t[], by `names` */
    CONTRACT_OBJECT,         /* object: a struct, by `of` */
    CONTRACT_LIST,           /* json_t *: an array of objects by `of`, or of `items` */
    CONTRACT_MAP,            /* json_t *: an object with keys of its own, likewise */
    CONTRACT_TREE,           /* json_t *: an object of another schema */
    CONTRACT_TEXT_OR_TREE,   /* json_t *: likewise, or a string */
    CONTRACT_NUMBER_OR_BOOL, /* json_t * */
    CONTRACT_ANY             /* json_t * */
};

enum contract_flags {
    CONTRACT_MAY_NULL = 1, /* null where it is not known */
    CONTRACT_MAY_LACK = 2, /* not there where nothing is made, or a tree is NULL */
    CONTRACT_NULL_ITEMS = 4
};

struct contract_member {
    const char *key; /* NULL ends the table */
    enum contract_type type;
    size_t at; /* of the value, in the struct */
    const char *text;
    unsigned flags;
    /* a new value, in place of the one at `at`; NULL: null, or not there */
    json_t *(*make)(const void *of_struct);
    const struct name_value *names;
    const struct contract_object *of; /* of an object; of the items of a list or map */
    enum contract_type items;         /* of a list or map without `of` */
    json_t *(*schema)(void);          /* in place of the type's own; NULL: that */
};

struct contract_object {
    const char *name; /* in "$defs"; one table each */
    const struct contract_member *rows;
};

/* A result of a command. The number after the last colon of its name rises when a member
 * is renamed or removed, or changes its type or meaning, and when a finding's code is
 * renamed; new members and codes leave it (docs/results.md). */
struct contract {
    const char *urn; /* "urn:smsim:plan:1" */
    const char *title;
    const struct contract_object *sets[2]; /* one after the other */
};

/* Rows: of a member of a struct, and of what is made. What else a row has follows:
 * `.flags = ...`. */
#define CONTRACT_AT(k, kind, tag, member, what, ...)                           \
    {                                                                          \
        .key = k, .type = CONTRACT_##kind, .at = offsetof(struct tag, member), \
        .text = what, __VA_ARGS__                                              \
    }
#define CONTRACT_MADE(k, kind, function, what, ...)                                    \
    {                                                                                  \
        .key = k, .type = CONTRACT_##kind, .make = function, .text = what, __VA_ARGS__ \
    }
#define CONTRACT_END \
    {                \
        .key = NULL  \
    }

/* New trees: an object of a struct; a member of it, which is in the table; an array of n
 * structs of a size; and a result, with the name of its schema. */
json_t *contract_json(const struct contract_object *m, const void *from);
void contract_put(json_t *object, const struct contract_object *m, const void *from);
void contract_add(json_t *object, const struct contract_object *m, const char *key,
                  json_t *value);
json_t *contract_list(const struct contract_object *m, const void *first, int64_t n,
                      size_t size);
json_t *contract_real(double v); /* null where it is not finite */
json_t *contract_result(const struct contract *c, const void *from);

/* The JSON Schema (draft 2020-12) of a result; a new tree. */
json_t *contract_schema(const struct contract *c);

#endif
