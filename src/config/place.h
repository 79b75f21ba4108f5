/* Lines and columns, found when an error is reported and not before. */
#ifndef CONFIG_PLACE_H
#define CONFIG_PLACE_H

#include "config/lenient.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
    int64_t line, column; /* from 1; columns count characters, not bytes */
};

/* The place of a byte of the text. O(offset). */
struct place place_of(const char *text, size_t offset);

/* The place of the value at a JSON pointer, or of its key; of the nearest value around
 * it when the text has none there. `read` is what lenient_read made of the text. O(len).
 */
struct place place_find(const char *text, const struct lenient *read,
                        const char *pointer, bool key);

#endif
