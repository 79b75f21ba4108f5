/* What the files of dialect/source/toml.h share; private to them. */
#ifndef DIALECT_SOURCE_TOML_SCAN_H
#define DIALECT_SOURCE_TOML_SCAN_H

#include "dialect/source/toml.h"

/* How a table or array came to be, which says what may still be added to it. */
enum toml_how {
    TOML_VALUE,  /* a scalar, an array in brackets, an inline table: nothing */
    TOML_PATH,   /* a table on the way of a header: its own header may follow */
    TOML_HEADER, /* [table] */
    TOML_DOTTED, /* a table on the way of a dotted key */
    TOML_TABLES, /* [[tables]] */
};

/* A value with that; the readers make no others. */
struct toml_node {
    struct value value; /* first */
    enum toml_how how;
};

struct toml_reader {
    struct arena *arena;
    const char *text, *end, *s; /* s: the next character */
    const char *line_start;
    int64_t line;
    const char *counted; /* up to here, within the line, */
    int64_t column;      /* characters were counted: that many, and 1 */
    int64_t left;        /* of TOML_VALUES_MAX */
    int depth;
    struct err *err;
};

/* At the next character; always NULL. */
void *toml_fail(struct toml_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void toml_newline(struct toml_reader *r); /* steps over one; lines are counted */
struct toml_node *toml_node(struct toml_reader *r, enum value_kind kind,
                            enum toml_how how);

/* toml_string.c: the text of a string that begins with a quote; with `lines`, also of
 * several lines. NULL after an error. */
const char *toml_string(struct toml_reader *r, bool lines);
/* toml_number.c: a number, date, Boolean; NULL after an error. */
struct value *toml_scalar(struct toml_reader *r);

#endif
