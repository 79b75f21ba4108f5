#include "kineto/reading.h"

#include <stdlib.h>

static const double s_per_ns = 1e-9, longest_kept = 1.5;

/* What is covered ------------------------------------------------------------------- */

static void cover(struct reading *r)
{
    const struct gather *g = r->g;
    for (int64_t i = 0; i < g->kernels.n; i++) {
        const struct gather_kernel *k = &g->kernels.v[i];
        enum kernel_class class = g->names.v[k->name].class;
        const struct gather_launch *l = reading_launch(g, k);
        int64_t end = k->start + k->length, at = l ? l->at : INT64_MIN;
        if (!reading_is_here(r, k))
            continue;
        spans_add(&r->any, k->start, end, at);
        if (class == KERNEL_COPY)
            continue;
        spans_add(&r->either, k->start, end, at);
        spans_add(class == KERNEL_COMM ? &r->comm : &r->compute, k->start, end, at);
    }
    for (int64_t i = 0; i < g->marks.n; i++) {
        const struct gather_mark *m = &g->marks.v[i];
        if (m->kind == MARK_OPTIMIZER || m->kind == MARK_LOADING)
            spans_add(m->kind == MARK_OPTIMIZER ? &r->optimizer : &r->loading, m->start,
                      m->start + m->length, INT64_MIN);
    }
}

static void measure(struct reading *r, struct kineto_step *s, int64_t from, int64_t to)
{
    int64_t compute = spans_covered(&r->compute, from, to),
            either = spans_covered(&r->either, from, to),
            any = spans_covered(&r->any, from, to);
    s->step_s = s_per_ns * (double)(to - from);
    s->compute_s = s_per_ns * (double)compute;
    s->comm_s = s_per_ns * (double)spans_covered(&r->comm, from, to);
    s->exposed_s = s_per_ns * (double)(either - compute);
    s->copy_exposed_s = s_per_ns * (double)(any - either);
    s->idle_s = s_per_ns * (double)(to - from - any);
    reading_late(r, s, from, to);
    s->loading_s = s_per_ns * (double)spans_covered(&r->loading, from, to);
}

/* Steps ----------------------------------------------------------------------------- */

/* Marks of the GPU are used where there are two or more. Marks of several threads have
 * the same number: the first is used. */
static void mark_steps(struct reading *r, enum gather_mark_kind kind)
{
    const struct gather *g = r->g;
    const struct gather_mark *last = NULL;
    for (int64_t i = 0; i < g->marks.n && r->to->steps.n < KINETO_STEPS_MAX; i++) {
        const struct gather_mark *m = &g->marks.v[i];
        if (m->kind != kind || m->length <= 0 || (last && m->number <= last->number))
            continue;
        if (last && m->start < last->start + last->length / 2)
            continue;
        if (last && m->number == last->number + 1)
            r->kept.v[r->kept.n - 1].end = m->start;
        VEC_PUSH(&r->kept,
                 ((struct span) { .start = m->start, .end = m->start + m->length }));
        VEC_PUSH(&r->to->steps, ((struct kineto_step) { .number = m->number }));
        last = m;
    }
}

static int64_t count_marks(const struct gather *g, enum gather_mark_kind kind)
{
    int64_t n = 0;
    for (int64_t i = 0; i < g->marks.n; i++)
        n += g->marks.v[i].kind == kind;
    return n;
}

static void find_steps(struct reading *r)
{
    bool gpu = count_marks(r->g, MARK_GPU_STEP) > 1;
    r->to->marks = gpu ? KINETO_GPU_MARKS : KINETO_HOST_MARKS;
    if (!gpu && count_marks(r->g, MARK_STEP) == 0)
        r->to->marks = reading_mark_repeated(r);
    mark_steps(r, gpu ? MARK_GPU_STEP : MARK_STEP);
    for (int64_t i = 0; i < r->to->steps.n; i++)
        measure(r, &r->to->steps.v[i], r->kept.v[i].start, r->kept.v[i].end);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_step(const struct kineto_rank *to)
{
    double *v = xmalloc((size_t)to->steps.n * sizeof(*v));
    for (int64_t i = 0; i < to->steps.n; i++)
        v[i] = to->steps.v[i].step_s;
    qsort(v, (size_t)to->steps.n, sizeof(*v), by_value);
    double median = v[to->steps.n / 2];
    free(v);
    return median;
}

static void add_step(struct kineto_step *sum, const struct kineto_step *s, double by)
{
    sum->step_s += by * s->step_s;
    sum->compute_s += by * s->compute_s;
    sum->comm_s += by * s->comm_s;
    sum->exposed_s += by * s->exposed_s;
    sum->copy_exposed_s += by * s->copy_exposed_s;
    sum->idle_s += by * s->idle_s;
    sum->host_s += by * s->host_s;
    for (int i = 0; i < KINETO_LATE; i++)
        sum->late_s[i] += by * s->late_s[i];
    sum->loading_s += by * s->loading_s;
}

/* Windows of steps that take up to 1.5 of the median's time; without a mark, the whole
 * trace is one that is no step. Steps in which nothing ran are left out. */
static void keep_steps(struct reading *r)
{
    struct kineto_rank *to = r->to;
    int64_t n = 0;
    double median = to->steps.n ? median_step(to) : 0;
    for (int64_t i = 0; i < to->steps.n; i++) {
        const struct kineto_step *s = &to->steps.v[i];
        bool ran = s->idle_s < s->step_s;
        if (s->step_s <= longest_kept * median && ran)
            r->kept.v[n++] = r->kept.v[i];
        if (s->step_s <= longest_kept * median && ran)
            add_step(&to->mean, s, 1);
    }
    r->kept.n = to->n_kept = n;
    if (n == 0 && r->any.v.n) {
        const struct span whole = { .start = r->any.v.v[0].start,
                                    .end = r->any.v.v[r->any.v.n - 1].end };
        VEC_PUSH(&r->kept, whole);
        measure(r, &to->mean, whole.start, whole.end);
        return;
    }
    struct kineto_step sum = { .number = -1 };
    if (n)
        add_step(&sum, &to->mean, 1 / (double)n);
    to->mean = sum;
}

void reading_steps(struct reading *r)
{
    cover(r);
    reading_blocks(r);
    find_steps(r);
    keep_steps(r);
}
