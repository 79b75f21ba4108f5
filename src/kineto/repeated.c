#include "kineto/reading.h"

#include <stdlib.h>

enum { LABELS_MAX = 256 };

/* Annotations of a label are steps where they cover so much of the time from the first to
 * the last, and where these cover so much of the kernels' time. */
static const double covers = 0.7, spans_of_all = 0.5;

/* Annotations of one label, in order. */
struct label {
    uint64_t hash;
    int64_t n, covered, first, end, number;
    bool apart, rises; /* none begins in the one before; their numbers grow */
};

static int by_start(const void *a, const void *b)
{
    const struct gather_named *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static struct label *label_of(struct label *all, int32_t *n, uint64_t hash)
{
    for (int32_t i = 0; i < *n; i++)
        if (all[i].hash == hash)
            return &all[i];
    if (*n == LABELS_MAX)
        return NULL;
    all[*n] = (struct label) { .hash = hash, .apart = true, .rises = true };
    return &all[(*n)++];
}

static void add(struct label *l, const struct gather_named *m)
{
    if (l->n++ == 0)
        l->first = m->start;
    else {
        l->apart = l->apart && m->start >= l->end;
        l->rises = l->rises && m->number > l->number;
    }
    l->rises = l->rises && m->number >= 0;
    l->number = m->number;
    l->end = m->start + m->length > l->end ? m->start + m->length : l->end;
    l->covered += m->length;
}

static bool is_of_steps(const struct label *l, int64_t kernels_ns)
{
    double span = (double)(l->end - l->first);
    return l->n > 1 && l->apart && (double)l->covered >= covers * span &&
           span >= spans_of_all * (double)kernels_ns;
}

static bool mark_ranges(struct gather *g, int64_t kernels_ns)
{
    struct label *all = xmalloc(LABELS_MAX * sizeof(*all)), *best = NULL;
    int32_t n = 0;
    if (g->named.n)
        qsort(g->named.v, (size_t)g->named.n, sizeof(*g->named.v), by_start);
    for (int64_t i = 0; i < g->named.n; i++) {
        struct label *l = label_of(all, &n, g->named.v[i].label);
        if (l)
            add(l, &g->named.v[i]);
    }
    for (int32_t i = 0; i < n; i++)
        if (is_of_steps(&all[i], kernels_ns) && (!best || all[i].n < best->n))
            best = &all[i];
    int64_t k = 0;
    for (int64_t i = 0; best && i < g->named.n; i++) {
        const struct gather_named *m = &g->named.v[i];
        if (m->label == best->hash)
            VEC_PUSH(&g->marks,
                     ((struct gather_mark) { MARK_STEP, m->start, m->length,
                                             best->rises ? m->number : k++ }));
    }
    free(all);
    return best != NULL;
}

static bool is_optimizer(const struct reading *r, int64_t i)
{
    const struct gather_kernel *k = &r->g->kernels.v[i];
    return r->g->names.v[k->name].class == KERNEL_OPTIMIZER && reading_is_here(r, k);
}

/* The most kernels from one of the optimizer to its next. */
static int64_t longest_apart(const struct reading *r)
{
    int64_t last = -1, longest = 0;
    for (int64_t i = 0; i < r->g->kernels.n; i++) {
        if (!is_optimizer(r, i))
            continue;
        longest = last >= 0 && i - last > longest ? i - last : longest;
        last = i;
    }
    return longest;
}

/* A step from a kernel to the one before which it ends, of the first n that were found. */
static void mark_from(struct gather *g, int64_t from, int64_t to, int64_t n)
{
    int64_t start = g->kernels.v[from].start;
    const struct gather_kernel *last = &g->kernels.v[to - 1];
    int64_t end =
        to < g->kernels.n ? g->kernels.v[to].start : last->start + last->length;
    VEC_PUSH(&g->marks, ((struct gather_mark) { MARK_STEP, start, end - start, n }));
}

/* The optimizer's kernels follow each other in a step; between those of two steps are
 * most others. A step begins with the first kernel after them. What comes after the last
 * of them is left out, as is the last step where nothing does: its end is unknown. */
static bool mark_optimizer(const struct reading *r)
{
    static const int64_t least = 16;
    int64_t longest = longest_apart(r), last = -1, begin = -1, n = 0;
    for (int64_t i = 0; i < r->g->kernels.n && longest > least; i++) {
        if (!is_optimizer(r, i))
            continue;
        if (last >= 0 && 2 * (i - last) > longest) {
            if (begin >= 0)
                mark_from(r->g, begin, last + 1, n++);
            begin = last + 1;
        }
        last = i;
    }
    if (begin >= 0 && (n == 0 || last + 1 < r->g->kernels.n))
        mark_from(r->g, begin, last + 1, n++);
    return n > 0;
}

enum kineto_marks reading_mark_repeated(struct reading *r)
{
    int64_t kernels_ns =
        r->any.v.n ? r->any.v.v[r->any.v.n - 1].end - r->any.v.v[0].start : 0;
    if (mark_ranges(r->g, kernels_ns))
        return KINETO_RANGES;
    return mark_optimizer(r) ? KINETO_OPTIMIZER : KINETO_NO_STEPS;
}
