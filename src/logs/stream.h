/* The lines of a file, plain or gzip, one after the other. */
#ifndef LOGS_STREAM_H
#define LOGS_STREAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Called with each line, without its end, which the callee may change; the byte after it
 * may be written. `cut`: the line is longer than what is given. */
typedef void (*stream_take)(void *arg, char *line, size_t length, bool cut);

/* Reads a file ("-" is standard input) to its end. A line ends with "\n", "\r" or both;
 * of a longer one, `max` bytes are given. *whole is false where the text is longer than
 * STREAM_MAX_B, of which the rest is not read. -1 with err set where it cannot be read. */
#define STREAM_MAX_B (64LL << 30)
int stream_lines(const char *file, size_t max, stream_take take, void *arg, bool *whole,
                 struct err *err);

#endif
