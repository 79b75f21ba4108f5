/* Tables of text: CSV with a header line, quoted fields, LF or CRLF. Blanks around a
 * cell, and at the ends of a quoted one, are none of it. */
#ifndef CONFIG_CSV_H
#define CONFIG_CSV_H

#include "config/cfg.h"

struct csv {
    const char *file;
    int64_t n_columns, n_rows;
    const char **columns;
    const char **cells; /* [n_rows][n_columns]; never NULL */
    int64_t *lines;     /* [n_rows]: line of the file at which a row begins */
};

/* Reads a table; memory lives in the loader. Rows of another width than the header,
 * empty or repeated column names, and open quotes are reported; then -1. */
int csv_load(struct csv *csv, struct cfg_loader *loader, const char *file);

/* Whether a cell is a formula to spreadsheets: it begins with = + - @, a tab or CR, and is
 * no number; or it is one with apostrophes before it. Who writes one puts an apostrophe
 * before it, which csv_load takes off. */
bool csv_is_formula(const char *cell);

int64_t csv_column(const struct csv *csv, const char *name); /* -1 when there is none */

static inline const char *csv_cell(const struct csv *csv, int64_t row, int64_t column)
{
    return csv->cells[row * csv->n_columns + column];
}

#endif
