/* Arithmetic over the cells of a row: "{iteration time (ms)} / 1000".
 *
 * Numbers, {COLUMN}s, + - * /, signs, parentheses, and the functions min and max (of
 * one or more), ceil and floor. The text comes from a mapping file, so nothing of it is
 * trusted: nesting is limited, and every error says at which character it is. */
#ifndef VALIDATION_EXPR_H
#define VALIDATION_EXPR_H

#include "base/err.h"

#include <stddef.h>

enum { EXPR_DEPTH_MAX = 100 };

/* The value of a column, named by n bytes of the expression: 0 and *value, or -1 with
 * err set (the place is added by the caller of it). */
typedef int expr_column_fn(void *arg, const char *name, size_t n, double *value,
                           struct err *err);

/* Whether the text is well formed and its columns are known: as expr_eval with whatever
 * values the columns give, but the values themselves cannot be wrong. */
int expr_check(const char *text, expr_column_fn *column, void *arg, struct err *err);

/* Evaluates the text; results beyond what a double holds are errors. O(length). */
int expr_eval(const char *text, expr_column_fn *column, void *arg, double *value,
              struct err *err);

#endif
