/* What a cell of a published table says: a number in one of the ways in which people
 * write them, nothing, or that memory ran out. */
#ifndef VALIDATION_CELL_H
#define VALIDATION_CELL_H

#include <stdbool.h>
#include <stddef.h>

enum cell_state { CELL_NUMBER, CELL_EMPTY, CELL_OOM, CELL_TEXT };

/* "1,024", "16GB", "75 GB", "41 %", "50K" (50000) and "16 (inferred)" are numbers, of
 * which units of bytes and billions ("182B") and the remark are left to the mapping.
 * "-", "n/a", "nan", "none" and blanks are empty; "OOM" and "out of memory" may have
 * more text after them. */
enum cell_state cell_read(const char *cell, double *number);

/* The i-th number (from 1, without sign, "16.0" as "16") within a text,
 * "microbatches=4, active=2" has two: 0 and its index, or -1. */
int cell_find_number(const char *cell, int i, const char **at, size_t *n);

/* Texts that say the same: but for case and blanks at their ends, or as plain
 * numbers. */
bool cell_alike(const char *a, const char *b);

#endif
