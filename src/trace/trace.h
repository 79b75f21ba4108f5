/* A step as Chrome trace events (JSON), which Perfetto and chrome://tracing open: a
 * process a rank, threads for its host and streams; passes with their kernels, or the
 * parts of a measured pass, as slices within slices; arrows of messages between stages
 * and of gradients; counters for memory and for what is busy.
 *
 * Written as the run goes on, with one small buffer, so that its length costs no
 * memory; a name that ends in ".gz" gets gzip. Times are microseconds with three
 * decimals: whole nanoseconds, as readers keep them. Two equal runs give the same bytes.
 *
 * Files of this folder:
 *     trace*   Chrome trace events
 *     chakra*  Chakra execution traces */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "base/err.h"
#include "run/observe.h"

enum { TRACE_RANKS = 64 }; /* shown, unless more or fewer are asked for */

struct trace; /* private */

/* Opens the file; the observer lives as long as the trace. At most n_ranks of the
 * simulated ranks are shown, the first ones. NULL after an error. */
struct trace *trace_new(const char *path, int64_t n_ranks, struct err *err);
const struct observer *trace_observer(const struct trace *t);

/* Closes the file, which appears whole, and frees the trace; or drops both. */
int trace_close(struct trace *t, struct err *err);
void trace_abandon(struct trace *t);

#endif
