/* What of a program becomes arrows of gradients: from the kernels that complete a bucket
 * to its collective, and from that to what waits for it. */
#ifndef TRACE_TRACE_EDGES_H
#define TRACE_TRACE_EDGES_H

#include "run/program.h"

struct trace_edges {
    const struct program *program;
    int32_t n;
    int32_t *first;   /* [tasks + 1] of each task's edges: those that it begins */
    int32_t *targets; /* [n] the tasks that they end at */
};

void trace_edges_make(struct trace_edges *e, const struct program *p);
void trace_edges_release(struct trace_edges *e);

/* The edge from one task to another; -1: none. */
int32_t trace_edges_find(const struct trace_edges *e, int32_t from, int32_t to);

#endif
