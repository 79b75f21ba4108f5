/* The error of a call: caller-owned, and the first error wins.
 *
 * Functions that can fail return 0 or -1 and take `struct err *` last, so that
 * `return err_set(err, "...")` reads as one line. What a user wrote wrongly in a file
 * is reported with its place through config/diag.h instead.
 *
 * Files of this folder:
 *     arena, xmalloc, vec, strbuf    memory, growing arrays, text
 *     err, names, units:
 *         errors; names of enum values; quantities with units
 *     mix, hash, fnv, plain, finite:
 *         keys mixed, bytes hashed; plain text; numbers that must be finite
 *     file, file_guard, ending:
 *         files; no output over an input; clean-up after signals
 *     child, clock, flow_use:
 *         other programs; wall-clock time; a plan's use of a link */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

struct err {
    bool set;
    bool fault;       /* of the program's own: no input is to blame */
    int line, column; /* of the text that was read, from 1; 0: unknown */
    int begin;        /* where in text what is wrong begins, after the name of a file */
    char text[1000];  /* one line, no newline; says what is wrong and what would do */
};

/* Records the message unless an error is recorded already; always returns -1. */
int err_set(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of a place in a text, and of a file, whose name begins the message. */
int err_set_at(struct err *err, int line, int column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int err_set_file(struct err *err, const char *file, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same where what went wrong is a fault of the program, whatever it was given; the
 * message begins with words that say so. */
int err_fault(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
