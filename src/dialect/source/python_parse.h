/* The reader of Python source between its files: lines (python.c), statements
 * (python_statement.c), expressions (python_expr.c, python_call.c) and values
 * (python_value.c). */
#ifndef DIALECT_SOURCE_PYTHON_PARSE_H
#define DIALECT_SOURCE_PYTHON_PARSE_H

#include "dialect/source/python_lex.h"

struct python_parser {
    struct python *p;
    const struct python_wanted *wanted;
    struct python_lexer lex;
    struct python_token t; /* the next one */
    const char *target;    /* what the statement assigns to, or NULL */
    const char *calling;   /* a wanted call that is being read, or NULL */
    int64_t values;        /* made so far */
    int64_t scope;         /* names from here on are this block's */
    int32_t nested;        /* expressions inside each other */
    bool prompts;          /* the text has some */
    bool quoted;           /* inside ``` of such a text */
    bool failed;           /* the statement is none */
    const char *limit;     /* a limit was reached: which; reading ends */
};

/* Tokens --------------------------------------------------------------------------- */

void python_advance(struct python_parser *r);
void python_open(struct python_parser *r); /* over an opening bracket */
void python_close(struct python_parser *r,
                  const char *bracket); /* over that, or fails */
bool python_at(const struct python_parser *r, const char *word);

/* Expressions: never NULL; r->failed when the text is none ------------------------- */

/* One value up to a comma, a closing bracket, ":", "=", ";" or the end of the line. */
struct value *python_expression(struct python_parser *r);

/* A dotted name at the token, after which the parser is. */
const char *python_path(struct python_parser *r);

/* Arguments as a dictionary; the parser is at "(". */
struct value *python_arguments(struct python_parser *r);

/* The value of a call of the function at path; the parser is at "(". */
struct value *python_call_at(struct python_parser *r, const char *path, int64_t line);

/* Over "..." and its comma, if one follows: it means items that are left out. */
bool python_gap(struct python_parser *r, struct value *v);
/* "**other", in a dictionary or a call. */
bool python_unpacked(struct python_parser *r, struct value *dict);
/* Whether another item follows a comma; anything but the closing bracket fails. */
bool python_comma(struct python_parser *r, const char *closing);
/* Whether the closing bracket is yet to come. */
bool python_goes_on(const struct python_parser *r, const char *closing);

/* Statements: r->failed when the text is none -------------------------------------- */

/* All that is on a line and in its brackets; the next token ends it. */
void python_statement(struct python_parser *r);

/* Values --------------------------------------------------------------------------- */

struct value *python_new(struct python_parser *r, enum value_kind kind, int64_t line);
struct value *python_unknown(struct python_parser *r, int64_t line, const char *fmt,
                             ...) __attribute__((format(printf, 3, 4)));
struct value *python_text(struct python_parser *r, int64_t line, const char *s);

/* Sets a member; one of that key is replaced. */
void python_put(struct python_parser *r, struct value *dict, const char *key,
                int64_t line, struct value *value);
void python_append(struct python_parser *r, struct value *list, struct value *value);
/* All members of another dictionary, or an unknown's lack of them. */
void python_merge(struct python_parser *r, struct value *dict,
                  const struct value *other);
struct value *python_copy(struct python_parser *r, const struct value *container);
struct value *python_join(struct python_parser *r, const struct value *a,
                          const struct value *b);
/* a op b, op one of + - * and / (for //), where both are whole numbers and so is what
 * comes of them; + of strings joins them. Else not known. */
struct value *python_calculate(struct python_parser *r, char op, const struct value *a,
                               const struct value *b);

/* The member that x[key] means; unknown when there is none. */
struct value *python_element(struct python_parser *r, const struct value *x,
                             const struct value *key);
/* The text of a key, NULL when it is none. */
const char *python_key(struct python_parser *r, const struct value *key);

/* From now on the value is not known, for whoever holds it. */
void python_spoil(struct python_parser *r, struct value *v, const char *why);

/* Names ---------------------------------------------------------------------------- */

void python_bind(struct python_parser *r, const char *name, struct value *v);
struct value *python_find(const struct python_parser *r, const char *name);
void python_note(struct python_parser *r, int64_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
