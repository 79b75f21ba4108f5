/* Time in which the GPU is idle since the host launched a kernel late, and what the
 * host did instead. */
#include "kineto/reading.h"

#include <stdlib.h>

const struct name_value kineto_late_names[] = {
    { "loader", LATE_LOADER },       { "synchronization", LATE_SYNC },
    { "allocator", LATE_ALLOCATOR }, { "optimizer", LATE_OPTIMIZER },
    { "launches", LATE_LAUNCHES },   { NULL, 0 },
};

static int by_start(const void *a, const void *b)
{
    const struct gather_block *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Threads that launch nothing (of loaders, of NCCL) may wait as they like. */
void reading_blocks(struct reading *r)
{
    struct gather *g = r->g;
    bool launches[64] = { false };
    for (int64_t i = 0; i < g->launches.n; i++)
        if (g->launches.v[i].thread >= 0)
            launches[g->launches.v[i].thread] = true;
    if (g->blocks.n)
        qsort(g->blocks.v, (size_t)g->blocks.n, sizeof(*g->blocks.v), by_start);
    for (int64_t i = 0; i < g->blocks.n; i++) {
        const struct gather_block *b = &g->blocks.v[i];
        if (b->thread >= 0 && launches[b->thread])
            spans_add(b->allocates ? &r->allocations : &r->syncs, b->start,
                      b->start + b->length, INT64_MIN);
    }
}

/* Whether the host was in one of these calls when the GPU fell idle, or entered it
 * within the time that a launch takes. */
static bool in_call(const struct spans *s, int64_t at)
{
    static const int64_t soon_ns = 2000;
    int64_t i = spans_after(s, at);
    return i < s->v.n && s->v.v[i].start <= at + soon_ns;
}

/* Divides a gap. What is in a call of the loader, the allocator or the optimizer is
 * theirs. Of the rest, a gap that begins while the host waits for the GPU is due to that:
 * without it the host would have been ahead. */
static void divide(const struct reading *r, struct kineto_step *s, int64_t from,
                   int64_t to)
{
    double part[KINETO_LATE] = { 0 }, left = (double)(to - from);
    const struct spans *const calls[] = {
        [LATE_LOADER] = &r->loading, [LATE_ALLOCATOR] = &r->allocations
    };
    for (int i = 0; i <= LATE_ALLOCATOR; i++) {
        double covered = calls[i] ? (double)spans_covered(calls[i], from, to) : 0;
        part[i] = covered < left ? covered : left;
        left -= part[i];
    }
    enum kineto_late rest = in_call(&r->allocations, from) ? LATE_ALLOCATOR
                            : in_call(&r->syncs, from)     ? LATE_SYNC
                                                           : LATE_LAUNCHES;
    double updates = (double)spans_covered(&r->optimizer, from, to);
    if (rest == LATE_LAUNCHES) {
        part[LATE_OPTIMIZER] = updates < left ? updates : left;
        left -= part[LATE_OPTIMIZER];
    }
    part[rest] += left;
    for (int i = 0; i < KINETO_LATE; i++)
        s->late_s[i] += 1e-9 * part[i];
}

void reading_late(const struct reading *r, struct kineto_step *s, int64_t from,
                  int64_t to)
{
    for (int64_t i = spans_after(&r->any, from); i < r->any.v.n; i++) {
        const struct span *x = &r->any.v.v[i];
        int64_t begin = i ? r->any.v.v[i - 1].end : from;
        begin = begin > from ? begin : from;
        int64_t end = x->start < to ? x->start : to;
        if (end > begin && x->launch != INT64_MIN && x->launch > begin)
            divide(r, s, begin, end);
        if (x->start >= to)
            break;
    }
    s->host_s = 0;
    for (int i = 0; i < KINETO_LATE; i++)
        s->host_s += s->late_s[i];
}
