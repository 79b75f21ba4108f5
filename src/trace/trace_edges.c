#include "trace/trace_edges.h"

#include "base/xmalloc.h"

#include <stdlib.h>

static bool is_edge(const struct program *p, const struct task *to, int32_t from)
{
    bool is_seen = to->alone_ps > 0 || to->comm >= 0 || to->pass >= 0;
    if (from < 0 || p->tasks.v[from].stream == to->stream || !is_seen)
        return false;
    return to->tag.work == WORK_BUCKET || p->tasks.v[from].tag.work == WORK_BUCKET;
}

void trace_edges_make(struct trace_edges *e, const struct program *p)
{
    int64_t n = p->tasks.n;
    *e = (struct trace_edges) { .program = p };
    e->first = xcalloc((size_t)n + 2, sizeof(*e->first));
    for (int64_t i = 0; i < n; i++) /* counted one place to the right */
        for (int k = 0; k < 2; k++)
            if (is_edge(p, &p->tasks.v[i], p->tasks.v[i].after[k]))
                e->first[p->tasks.v[i].after[k] + 2]++;
    for (int64_t i = 2; i < n + 2; i++)
        e->first[i] += e->first[i - 1];
    e->n = e->first[n + 1];
    e->targets = xcalloc((size_t)e->n + 1, sizeof(*e->targets));
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            if (is_edge(p, &p->tasks.v[i], p->tasks.v[i].after[k]))
                e->targets[e->first[p->tasks.v[i].after[k] + 1]++] = (int32_t)i;
}

void trace_edges_release(struct trace_edges *e)
{
    free(e->first);
    free(e->targets);
    *e = (struct trace_edges) { .n = 0 };
}

int32_t trace_edges_find(const struct trace_edges *e, int32_t from, int32_t to)
{
    if (from < 0)
        return -1;
    for (int32_t i = e->first[from]; i < e->first[from + 1]; i++)
        if (e->targets[i] == to)
            return i;
    return -1;
}
