/* Branches of Python source between the files that read them; private to
 * dialect/source. */
#ifndef DIALECT_PYTHON_PYTHON_BLOCK_H
#define DIALECT_PYTHON_PYTHON_BLOCK_H

#include "dialect/python/python_parse.h"

enum { PYTHON_WHY_MAX = 160 };

/* if, elif, else under way, or cases. */
struct python_choice {
    struct python_branches branches;
    bool begun;
    int left;      /* whether no branch was taken so far; -1: not known; 1 at first */
    int64_t every; /* its condition's remainder is of that; 0, -1 as of calls */
    const char
        *condition; /* the last that is not known, as it is written; NULL: none */
    char why[PYTHON_WHY_MAX];
};

/* Over blank lines and comments to the next that says something, the lexer at its first
 * character: its column, -1 at a prompt and at the end. */
int64_t python_next_line(struct python_parser *r);
/* The suite at the parser, taken for sure (1), not (0), or perhaps (-1). */
void python_read_branch(struct python_parser *r, struct python_choice *c, int truth,
                        int64_t column);
/* After the last of them. */
void python_end_choice(struct python_parser *r, struct python_choice *c);

/* "match" subject ":" and its cases; false: the word is a name, the parser at it. */
bool python_match(struct python_parser *r, int64_t column);
/* with a as b, c: and its suite. */
void python_read_with(struct python_parser *r, int64_t column);

#endif
