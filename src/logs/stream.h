/* The lines of a file, plain or gzip, one after the other. */
#ifndef LOGS_STREAM_H
#define LOGS_STREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called with each line, without its end, which the callee may change; the byte after it
 * may be written. `cut`: the line is longer than what is given. */
typedef void (*stream_take)(void *arg, char *line, size_t length, bool cut);

/* What a file without lines is given to, as a whole: `is` looks at its begin. Of an
 * array, the first that it is; `is` NULL ends it. */
struct stream_other {
    bool (*is)(const char *begin, size_t length);
    void (*take)(void *arg, const char *bytes, size_t length);
};

/* Reads a file ("-" is standard input) to its end, or gives it to `other`. A line ends
 * with "\n", "\r" or both, or with "\r" as rsyslog and JSON write it; of a longer one, `max` bytes are given. *whole is false where the text is longer than
 * STREAM_MAX_B, of which the rest is not read. -1 with err set where it cannot be read. */
#define STREAM_MAX_B (64LL << 30)
int stream_lines(const char *file, size_t max, stream_take take,
                 const struct stream_other *other, void *arg, bool *whole,
                 struct err *err);

#endif
