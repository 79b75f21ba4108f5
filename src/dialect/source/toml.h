/* TOML 1.0 (https://toml.io/en/v1.0.0) as values with lines and columns: tables, arrays
 * of tables, dotted keys, inline tables, all strings and numbers. Dates and times are
 * strings as they are written; inf and nan are values that are not known. */
#ifndef DIALECT_SOURCE_TOML_H
#define DIALECT_SOURCE_TOML_H

#include "base/arena.h"
#include "base/err.h"
#include "dialect/source/value.h"

enum {
    TOML_TEXT_MAX_B = 1 << 20,
    TOML_VALUES_MAX = 1 << 16,
    TOML_KEYS_MAX = 2000, /* of one table */
    TOML_DEPTH_MAX = 60,  /* of values in each other, of parts of a key */
};

/* The root table of UTF-8 text of len bytes. NULL after an error with its
 * place. */
struct value *toml_read(struct arena *arena, const char *text, size_t len,
                        struct err *err);

#endif
