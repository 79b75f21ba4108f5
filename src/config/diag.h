/* What is wrong with the files and options a user wrote, or is to be known about them.
 * Each finding is a struct, which is formatted when it is printed: nobody reads the
 * text again. All are kept in the order in which they were found; of errors at most
 * DIAG_MAX are, all are counted. Strings live in the arena of the list. */
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { DIAG_MAX = 20 };

enum diag_severity {
    DIAG_ERROR,   /* nothing goes on with it */
    DIAG_WARNING, /* what goes on may not be what was meant */
    DIAG_NOTE     /* how something was taken */
};

/* What a finding is about; the names are stable, diag_codes has them. */
enum diag_code {
    DIAG_INVALID, /* first: no code was given; nothing that users meet has it */
    DIAG_SYNTAX,
    DIAG_UNREADABLE,
    DIAG_UNKNOWN_KEY,
    DIAG_RENAMED_KEY,
    DIAG_REFUSED_KEY,
    DIAG_MISSING,
    DIAG_WRONG_TYPE,
    DIAG_OUT_OF_RANGE,
    DIAG_UNKNOWN_NAME,
    DIAG_UNKNOWN_FORMAT,
    DIAG_CONTRADICTION,
    DIAG_REQUIRES,
    DIAG_NOT_DIVISIBLE,
    DIAG_UNSUPPORTED,
    DIAG_NO_DATA,
    DIAG_UNRESOLVED,
    DIAG_WITHOUT_EFFECT,
    DIAG_OVERRIDDEN,
    DIAG_INFERRED,
    DIAG_ASSUMED,
    DIAG_ASSUMED_LAUNCHER,
    DIAG_NEAREST_VERSION,
    DIAG_UNKNOWN_VERSION,
    DIAG_UNSURE,
    DIAG_SDK_RULE,
    DIAG_SMP_RULE,
    DIAG_LIBRARY_RULE,
    DIAG_NOT_SIMULATED,
    DIAG_APPROXIMATE,
    DIAG_STALE_GRADIENTS,
    DIAG_NO_PRICE,
    DIAG_PRICE_DATES,
    DIAG_UNMEASURED,
    DIAG_STORAGE_FULL,
    DIAG_INPUT_BOUND,
    DIAG_STOPPED,
    DIAG_LEFT_OUT,
    DIAG_IMPORTED,
    DIAG_FAILED,
    DIAG_FAULT,
    DIAG_CODES
};

struct diag_code_row {
    const char *name;    /* "unknown-key" */
    const char *meaning; /* one sentence */
};
extern const struct diag_code_row diag_codes[DIAG_CODES];
extern const char *const diag_severity_names[];

struct diag {
    enum diag_severity severity;
    enum diag_code code;
    const char *file;     /* or the document's name; NULL: about no file */
    int64_t line, column; /* from 1; 0: unknown */
    int64_t cell;        /* of a notebook, from 1, with the line in it; 0: it is none */
    const char *set;     /* of the --set that gave the value; NULL: none did */
    const char *pointer; /* JSON pointer; NULL or "": none */
    const char *text;    /* what is wrong, on one line */
    const char *mend;    /* what to do about it; NULL: nothing is said */
};

struct diags {
    struct arena arena;
    struct diag *v; /* in order */
    int64_t n, cap;
    int64_t n_errors, n_warnings; /* errors beyond DIAG_MAX are counted alone */
};

void diags_init(struct diags *d);
void diags_release(struct diags *d);

/* Adds a finding whose severity, code and place are given. The format is "what", or
 * "what (mend)": what it has in parentheses at its end is the mend; of a format "%s"
 * that is in the message. A warning found
 * already is not added again. */
void diags_add(struct diags *d, struct diag where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diags_vadd(struct diags *d, struct diag where, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* A finding in an arena, in no list: of a format, and of a message that is made. */
struct diag diag_vmake(struct arena *arena, struct diag where, const char *fmt,
                       va_list ap) __attribute__((format(printf, 3, 0)));

struct diag diag_made(struct arena *arena, struct diag where, const char *message);

/* The same of what is at no place, and of a line of a file. */
void diags_error(struct diags *d, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diags_warn(struct diags *d, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A file that could not be read, as file_read says it. */
struct err;
void diags_unreadable(struct diags *d, const char *file, const struct err *err);

struct diag diag_at_line(enum diag_severity severity, enum diag_code code,
                         const char *file, int64_t line);

/* An error that is only counted, as its place would not be shown: where diags_are_full. */
void diags_count_error(struct diags *d);
bool diags_are_full(const struct diags *d);

/* The i-th of a severity, in order; NULL beyond those kept. O(n). */
const struct diag *diags_get(const struct diags *d, enum diag_severity severity,
                             int64_t i);

/* "file:line:column: /pointer: what (mend)"; "--set /pointer: what (mend)" of what an
 * option gave; a note names its pointer alone. */
void diag_write(struct strbuf *out, const struct diag *d);
const char *diag_text(struct arena *arena, const struct diag *d);

/* The text of the i-th error or warning; "" where there is none. */
const char *diags_error_text(struct diags *d, int64_t i);
const char *diags_warning_text(struct diags *d, int64_t i);

/* {"code", "severity", "pointer", "file", "line", "column", "set", "text", "mend"}, of
 * which all but code, severity and text may be null. diag_read_json takes it back; its
 * strings are the object's, and its code is not looked up. */
extern const struct contract_object diag_contract;
json_t *diag_json(const struct diag *d);
struct diag diag_read_json(const json_t *o);

/* An array of all warnings, in order. */
json_t *diags_json(const struct diags *d);

/* One line an error; says how many more there were. */
void diags_print_errors(const struct diags *d, FILE *out);

#endif
