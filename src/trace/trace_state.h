/* The state of a trace being written, shared by trace.c, which is notified of the run,
 * and trace_event.c, which writes what is seen. Private to these. */
#ifndef TRACE_TRACE_STATE_H
#define TRACE_TRACE_STATE_H

#include "base/file.h"
#include "trace/trace.h"
#include "trace/trace_busy.h"

/* Threads of a GPU: its host, its streams, and the buffers of fusions. */
enum {
    THREAD_HOST,
    THREAD_STREAMS,
    THREAD_BUFFERS = THREAD_STREAMS + STREAM_N,
    THREADS
};

struct shown {
    struct observed_rank r;
    int64_t flow;                 /* message that the next kernel receives; -1: none */
    int64_t shown;                /* index of its pipeline among those shown */
    int64_t held_B[LEDGER_KINDS]; /* memory, as it was said last */
    struct trace_busy gpu, host;
    int64_t period_ps; /* end of the task that the repeated stretch begins after */
};

struct trace {
    struct file_out file;
    struct observer observer;
    struct trace_json json;
    int64_t most;
    int64_t n; /* ranks shown */
    struct shown *shown;
    int64_t n_numbers; /* of the cluster's ranks */
    bool *is_shown;    /* [n_numbers] */
    int64_t n_messages;
    uint8_t *sent; /* [shown pipelines x messages] bits: an arrow has begun */
    struct groups groups;
};

/* Names and order of a rank's threads, and of its instance's process when it is new. */
void trace_name_rank(struct trace *t, const struct shown *s, bool new_process);

/* The counter of memory by kind, where it differs from what was said last. */
void trace_memory(struct trace *t, struct shown *s, int64_t at_ps,
                  const int64_t held_B[LEDGER_KINDS]);

/* A task on a thread, from its begin to its end. */
void trace_complete(struct trace *t, const struct shown *s, int thread,
                    const struct observed_task *seen, const char *name);

/* Arrows of messages between stages: their begin at the sender's task where the
 * receiver is shown, too, and their end at the first kernel after the receiving. */
void trace_sends(struct trace *t, const struct shown *s,
                 const struct observed_task *seen);
void trace_receives(struct trace *t, struct shown *s, const struct observed_task *seen);

/* Periods that were not replayed are counted where they belong. */
void trace_repeats(struct trace *t, struct shown *s, const struct observed_task *seen);

#endif
