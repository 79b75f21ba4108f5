/* Tokens of Python source: shared by the files of dialect/python/python.h alone. */
#ifndef DIALECT_PYTHON_PYTHON_LEX_H
#define DIALECT_PYTHON_PYTHON_LEX_H

#include "dialect/python/python.h"

enum python_token_kind {
    TOKEN_END,
    TOKEN_NEWLINE, /* outside brackets */
    TOKEN_NAME,
    TOKEN_INT,
    TOKEN_REAL,
    TOKEN_STRING,
    TOKEN_OTHER, /* a string or number whose value is not known: f"{x}", b"", 1j */
    TOKEN_OP,    /* operators and brackets, the longest that fits */
    TOKEN_BAD,   /* no Python, or a prompt of a notebook inside brackets */
};

struct python_token {
    enum python_token_kind kind;
    const char *s; /* in the source */
    int32_t n;     /* bytes, of names and operators */
    int64_t line;
    int64_t integer;
    double real;
    const char *text; /* of strings, decoded; of OTHER strings, as written */
    bool formatted;   /* f"{x}" */
};

/* A place in the source; copying it is going back. */
struct python_lexer {
    const char *s; /* the whole source */
    size_t i, n;
    int64_t line;
    int64_t still;    /* where all lines are; 0: where they are */
    int32_t brackets; /* open ones: newlines inside count as blanks */
    int64_t work;     /* bytes scanned in all, also again */
    struct arena *arena;
};

struct python_token python_next(struct python_lexer *lex);

/* Whether a line that begins at s is the prompt of a notebook's cell: "In [5]:",
 * "In [None]:", "Out[5]:"; its length with the colon, or 0. */
size_t python_prompt(const char *s);

/* Whether a letter, a digit or "_" of ASCII, which may go on a name. */
bool python_is_letter(char c);

bool python_is(const struct python_token *t, const char *word); /* a name or operator */

#endif
