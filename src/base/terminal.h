/* The terminal that output goes to, where it goes to one. Files and pipes get the same
 * text whoever calls: no colour, and lines of TERMINAL_WIDTH columns. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum { TERMINAL_WIDTH = 88, TERMINAL_LEAST = 60, TERMINAL_MOST = 120 };

/* Columns for text: the terminal's, within TERMINAL_LEAST..TERMINAL_MOST. */
int terminal_width(FILE *out);

/* Whether it is one. */
bool terminal_is(FILE *out);

enum terminal_style {
    TERMINAL_PLAIN, /* ends the others */
    TERMINAL_STRONG,
    TERMINAL_WARNING,
    TERMINAL_WRONG,
};

/* What begins a style: "" but on a terminal that shows colour (not with NO_COLOR set,
 * https://no-color.org, nor where TERM is dumb). */
const char *terminal_style(FILE *out, enum terminal_style style);

#endif
