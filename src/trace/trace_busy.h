/* Counters of a trace: the share of each millisecond that a GPU or its host was busy,
 * written when it changes. */
#ifndef TRACE_TRACE_BUSY_H
#define TRACE_TRACE_BUSY_H

#include "trace/trace_json.h"

struct trace_busy {
    const char *what; /* "kernels" */
    int64_t instance;
    int32_t gpu;
    int64_t window;  /* millisecond at hand */
    double busy_ps;  /* of it */
    int64_t percent; /* said last */
};

/* Busy for a share of from..to, which begins after all that was added before. */
void trace_busy_add(struct trace_busy *b, struct trace_json *j, int64_t from_ps,
                    int64_t to_ps, double share);

/* Nothing more comes. */
void trace_busy_end(struct trace_busy *b, struct trace_json *j);

#endif
