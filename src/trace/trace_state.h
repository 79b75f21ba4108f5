/* The state of a trace being written, shared by trace.c, which is notified of the run,
 * and those that write what is seen: trace_event.c and trace_nest.c. Private to
 * these. */
#ifndef TRACE_TRACE_STATE_H
#define TRACE_TRACE_STATE_H

#include "base/file.h"
#include "trace/trace.h"
#include "trace/trace_counter.h"
#include "trace/trace_edges.h"
#include "trace/trace_json.h"

/* Threads of a rank: its host, its streams, and the buffers of fusions. */
enum {
    THREAD_HOST,
    THREAD_STREAMS,
    THREAD_BUFFERS = THREAD_STREAMS + STREAM_N,
    THREADS
};

/* The pass whose kernels are being written on the compute stream: they are within it. */
struct open_pass {
    enum work work; /* WORK_OTHER: none is open */
    int32_t number, chunk;
    bool recomputes; /* so is its recomputation */
    int64_t ended_ps;
};

struct shown {
    struct observed_rank r;
    int64_t index;
    int64_t flow;  /* message that the next kernel receives; -1: none */
    int64_t shown; /* index of its pipeline among those shown */
    const struct trace_edges *edges;
    int64_t first_edge; /* of all ranks' */
    uint8_t *begun;     /* [edges] bits: an arrow has begun */
    struct open_pass pass;
    struct trace_shares gpu, host;
    struct trace_levels memory;
    int64_t period_ps; /* end of the task that the repeated stretch begins after */
};

/* An instance that has ranks in the trace: its busiest links. */
struct shown_links {
    int64_t instance, rank; /* index of its first rank */
    struct trace_shares nic, nvlink;
};

struct trace {
    struct file_out file;
    struct observer observer;
    struct trace_json json;
    int64_t most;
    int64_t n; /* ranks shown */
    struct shown *shown;
    int64_t n_links;
    struct shown_links *links;
    int64_t n_numbers; /* of the cluster's ranks */
    bool *is_shown;    /* [n_numbers] */
    int64_t n_messages;
    uint8_t *sent; /* [shown pipelines x messages] bits: an arrow has begun */
    int64_t n_edges, n_programs;
    struct trace_edges *programs; /* [n_programs] */
    int64_t *of_stage;            /* [pipeline] how many ranks of it were simulated */
    struct groups groups;
};

/* An event of a thread of a rank: the caller closes it. */
void trace_event(struct trace *t, const struct shown *s, char phase, int thread,
                 int64_t at_ps);

/* Names and order of a rank and its threads. */
void trace_name_rank(struct trace *t, const struct shown *s);

/* A task on a thread, from its begin to its end; false where it is too short to be
 * seen. */
bool trace_complete(struct trace *t, const struct shown *s, int thread,
                    const struct observed_task *seen, const char *name);

/* Arrows of messages between stages: their begin at the sender's task where the
 * receiver is shown, too, and their end at the first kernel after the receiving. */
void trace_sends(struct trace *t, const struct shown *s,
                 const struct observed_task *seen);
void trace_receives(struct trace *t, struct shown *s, const struct observed_task *seen);

/* Arrows of gradients that end at a task, and that begin there. */
void trace_gradients(struct trace *t, struct shown *s,
                     const struct observed_task *seen);

/* Periods that were not replayed are counted where they belong. */
void trace_repeats(struct trace *t, struct shown *s, const struct observed_task *seen);

/* Slices within slices (trace_nest.c): a kernel within its pass, which is opened and
 * closed as kernels come; the parts of a pass that was measured as a whole. */
void trace_nest_kernel(struct trace *t, struct shown *s,
                       const struct observed_task *seen);
void trace_nest_parts(struct trace *t, const struct shown *s,
                      const struct observed_task *seen);
void trace_nest_end(struct trace *t, struct shown *s);

/* All counters, once the run has ended. */
void trace_count(struct trace *t);

#endif
