/* Text wrapped between words to the width of the terminal that it goes to, or of a file. */
#ifndef REPORT_TEXT_WRAP_H
#define REPORT_TEXT_WRAP_H

#include "config/diag.h"

#include <stdio.h>

/* One line, cut between words to the columns that there are (terminal_width), the
 * further lines indented. */
void report_wrap(FILE *out, const char *first, const char *indent, const char *text);

/* A text of lines, each wrapped: a row of columns goes on under its last one, other
 * lines are indented. */
void report_lines(FILE *out, const char *text);

/* Paragraphs, whatever lines they were written in, and between them lines that begin
 * with a blank, as report_lines has them. */
void report_prose(FILE *out, const char *text);

/* A line of a list: wrapped on a terminal, whole in a file, for grep. */
void report_line(FILE *out, const char *text);
void report_linef(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warnings that a command prints, a line each, as report_line has them. */
void report_warnings(FILE *out, const struct diags *d);
/* Errors, the same; says how many more there were. */
void report_errors(FILE *out, const struct diags *d);

/* A finding, after `first`. */
void report_diag(FILE *out, const char *first, const struct diag *d);

#endif
