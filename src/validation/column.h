/* Columns of a published table as a mapping names them: {COLUMN}, or {COLUMN#2} for the
 * second number within the cell's text. Names are n bytes of a longer text. */
#ifndef VALIDATION_COLUMN_H
#define VALIDATION_COLUMN_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/csv.h"

struct value_row {
    const struct csv *csv;
    int64_t row;
};

/* The column of that name; -1 where there is none. O(columns). */
int64_t column_find(const struct csv *csv, const char *name, size_t n);

/* Sets err to say that there is no such column, and which is nearest; -1. */
int column_unknown(const struct csv *csv, const char *name, size_t n, struct err *err);

/* The row's text in a column, or the part of it that the name asks for: *len bytes;
 * NULL with err set. A part that is not there is empty. */
const char *column_cell(struct value_row row, const char *name, size_t n, size_t *len,
                        struct err *err);

/* Walks a template: over text to after the next {COLUMN}, whose name it gives; NULL at
 * the end. -1 with err set where a brace is not closed. */
int column_next(const char **at, const char **name, size_t *n, struct err *err);

/* A template with the row's cells filled in, appended to b. */
int column_fill(const char *template, struct value_row row, struct strbuf *b,
                struct err *err);

#endif
