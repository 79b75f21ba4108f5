/* What is wrong with the files a user wrote: every error with its place, not only the
 * first; at most DIAG_MAX are kept, all are counted. */
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { DIAG_MAX = 20 };

struct diags {
    struct arena arena;
    const char *errors[DIAG_MAX]; /* "file:line:column: /pointer: what (mend)" */
    const char **warnings;        /* the same without a limit, each once */
    int64_t n_errors, n_warnings;
    int64_t warnings_cap;
};

void diags_init(struct diags *d);
void diags_release(struct diags *d);

void diags_error(struct diags *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether further errors are only counted: their places need not be looked up. */
bool diags_are_full(const struct diags *d);

/* A warning said already is not said again. */
void diags_warn(struct diags *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* One line an error; says how many more there were. */
void diags_print_errors(const struct diags *d, FILE *out);

#endif
