#include "kineto/reading.h"

#include <stdlib.h>

/* The window whose length is next to the mean of all; -1: there is none. */
static int64_t typical(const struct reading *r)
{
    int64_t best = -1, mean = 0;
    for (int64_t i = 0; i < r->kept.n; i++)
        mean += (r->kept.v[i].end - r->kept.v[i].start) / r->kept.n;
    for (int64_t i = 0; i < r->kept.n && r->to->n_kept; i++) {
        int64_t off = llabs(r->kept.v[i].end - r->kept.v[i].start - mean);
        if (best < 0 || off < llabs(r->kept.v[best].end - r->kept.v[best].start - mean))
            best = i;
    }
    return best;
}

void reading_timeline(struct reading *r)
{
    const struct gather *g = r->g;
    int64_t at = typical(r);
    if (at < 0)
        return;
    const struct span *w = &r->kept.v[at];
    r->to->tasks_s = 1e-9 * (double)(w->end - w->start);
    for (int64_t i = 0; i < g->kernels.n; i++) {
        const struct gather_kernel *k = &g->kernels.v[i];
        if (!reading_is_here(r, k) || k->start < w->start || k->start >= w->end)
            continue;
        const struct gather_name *name = &g->names.v[k->name];
        const struct gather_launch *l = reading_launch(g, k);
        struct kineto_task t = { .start = k->start - w->start,
                                 .length = k->length,
                                 .launch = l ? l->at - w->start : INT64_MIN,
                                 .stream = k->stream,
                                 .class = reading_class(r, name, l),
                                 .comm = name->comm };
        if (t.class == KERNEL_COMM && k->comm >= 0) {
            t.comm = g->comms.v[k->comm].kind;
            t.size_B = g->comms.v[k->comm].size_B;
            t.group = g->comms.v[k->comm].group;
            t.stride = g->comms.v[k->comm].stride;
        }
        VEC_PUSH(&r->to->tasks, t);
    }
}
