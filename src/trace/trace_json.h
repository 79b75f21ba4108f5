/* JSON of trace events, written to a stream through one block of memory: fast enough
 * that a run does not wait for its trace. Private to trace.c. */
#ifndef TRACE_TRACE_JSON_H
#define TRACE_TRACE_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_json {
    FILE *out;
    size_t n;       /* bytes in the block */
    int64_t events; /* begun so far */
    char block[1 << 16];
};

void trace_json_text(struct trace_json *j, const char *s); /* as it is */
void trace_json_string(struct trace_json *j, const char *s);
void trace_json_int(struct trace_json *j, int64_t v);
void trace_json_us(struct trace_json *j, int64_t t_ps);

/* "{"ph":"X","pid":1,"tid":2,"ts":3.5": an event's beginning; the caller closes it. */
void trace_json_event(struct trace_json *j, char phase, int64_t pid, int64_t tid,
                      int64_t at_ps);
void trace_json_flush(struct trace_json *j);

#endif
