/* JSON of trace events, written to a stream through one block of memory, plain or as
 * gzip: fast enough that a run does not wait for its trace. Private to trace.c. */
#ifndef TRACE_TRACE_JSON_H
#define TRACE_TRACE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct z_stream_s;

struct trace_json {
    FILE *out;
    struct z_stream_s *packer; /* NULL: plain */
    size_t n;                  /* bytes in the block */
    int64_t events;            /* begun so far */
    char block[1 << 16];
};

/* Before the first event, and after the last; begun with `packed`, it writes gzip. */
void trace_json_begin(struct trace_json *j, FILE *out, bool packed);
void trace_json_end(struct trace_json *j);
void trace_json_release(struct trace_json *j);

void trace_json_text(struct trace_json *j, const char *s); /* as it is */
void trace_json_string(struct trace_json *j, const char *s);
void trace_json_int(struct trace_json *j, int64_t v);
/* Microseconds of the whole nanoseconds from one moment to another, so that what ends
 * with another ends with it. */
void trace_json_span_us(struct trace_json *j, int64_t from_ps, int64_t to_ps);

/* "{"ph":"X","pid":1,"tid":2,"ts":3.5": an event's beginning; the caller closes it. */
void trace_json_event(struct trace_json *j, char phase, int64_t pid, int64_t tid,
                      int64_t at_ps);

#endif
