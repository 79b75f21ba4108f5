/* From the language people write (config/cfg.h) to strict JSON.
 *
 * One pass over the text checks the whole grammar and writes JSON that jansson takes as
 * it is; only duplicate keys are left for it to find. Every key, value and bracket of
 * the JSON remembers where it came from. Beyond what cfg.h says, it takes Python's
 * tuples, string escapes and spellings of numbers (1_000, .5, 5.), and refuses calls,
 * names and expressions: what only running Python could know. No recursion. */
#ifndef CONFIG_LENIENT_H
#define CONFIG_LENIENT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stddef.h>

enum {
    LENIENT_DEPTH_MAX = 200,
    LENIENT_TOKENS_MAX = 1 << 17, /* keys, values and closing brackets */
};

/* A token that begins at json in the JSON begins at text in the original. */
struct lenient_mark {
    size_t json, text;
};

struct lenient {
    struct strbuf json;
    VEC(struct lenient_mark) marks; /* both offsets rise */
};

void lenient_init(struct lenient *l);
void lenient_release(struct lenient *l);

/* Reads one value, nothing but comments around it. On failure err says what is wrong
 * and *at is the byte of the text where. */
int lenient_read(struct lenient *l, const char *text, size_t len, size_t *at,
                 struct err *err);

/* Where in the text the token began that holds this byte of the JSON; O(log tokens). */
size_t lenient_origin(const struct lenient *l, size_t json);

/* The first byte that cannot occur in a text file (NUL, or no UTF-8); len if none. */
size_t lenient_bad_byte(const char *text, size_t len);

/* Scalars (config/scalar.c): each begins at *at, appends JSON and moves *at beyond it,
 * or leaves *at where the error is. The text is NUL-terminated UTF-8. */
int lenient_string(struct strbuf *json, const char *text, size_t *at, struct err *err);
int lenient_number(struct strbuf *json, const char *text, size_t *at, struct err *err);
int lenient_word(struct strbuf *json, const char *text, size_t *at, struct err *err);

#endif
