#include "kineto/kineto.h"

#include "kineto/gather.h"
#include "kineto/spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double s_per_ns = 1e-9, longest_kept = 1.5;

struct kineto {
    struct gather g;
};

/* A trace at its end: what kernels of the GPU cover. */
struct reading {
    const struct gather *g;
    struct kineto_rank *to;
    struct spans compute, comm, either, any, optimizer, loading;
    int32_t device;        /* with most kernels */
    VEC(struct span) kept; /* windows of the steps that were kept */
};

bool kineto_is(const char *begin, size_t n)
{
    static const char *const words[] = { "\"traceEvents\"", "\"schemaVersion\"",
                                         "\"deviceProperties\"" };
    char head[512];
    size_t at = 0;
    while (at < n && strchr(" \t\r\n", begin[at]) && begin[at])
        at++;
    if (at == n || (begin[at] != '{' && begin[at] != '['))
        return false;
    size_t length = n - at < sizeof(head) - 1 ? n - at : sizeof(head) - 1;
    memcpy(head, begin + at, length);
    head[length] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(head, words[i]))
            return true;
    return head[0] == '[' && strstr(head, "\"ph\"");
}

struct kineto *kineto_new(void)
{
    struct kineto *k = xmalloc(sizeof(*k));
    gather_init(&k->g);
    return k;
}

void kineto_free(struct kineto *k)
{
    if (k)
        gather_release(&k->g);
    free(k);
}

void kineto_feed(struct kineto *k, const char *bytes, size_t n)
{
    gather_feed(&k->g, bytes, n);
}

/* Order ----------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct gather_kernel *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

static int by_correlation(const void *a, const void *b)
{
    const struct gather_launch *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_id(const void *a, const void *b)
{
    const struct gather_op *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_mark(const void *a, const void *b)
{
    const struct gather_mark *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct gather *g)
{
    if (g->kernels.n)
        qsort(g->kernels.v, (size_t)g->kernels.n, sizeof(*g->kernels.v), by_start);
    if (g->launches.n)
        qsort(g->launches.v, (size_t)g->launches.n, sizeof(*g->launches.v),
              by_correlation);
    if (g->ops.n)
        qsort(g->ops.v, (size_t)g->ops.n, sizeof(*g->ops.v), by_id);
    if (g->marks.n)
        qsort(g->marks.v, (size_t)g->marks.n, sizeof(*g->marks.v), by_mark);
}

static const struct gather_launch *launch_of(const struct gather *g,
                                             const struct gather_kernel *k)
{
    const struct gather_launch key = { .correlation = k->correlation };
    return g->launches.n ? bsearch(&key, g->launches.v, (size_t)g->launches.n,
                                   sizeof(key), by_correlation)
                         : NULL;
}

static const struct gather_op *op_of(const struct gather *g,
                                     const struct gather_kernel *k)
{
    const struct gather_op key = { .id = k->op };
    return g->ops.n ? bsearch(&key, g->ops.v, (size_t)g->ops.n, sizeof(key), by_id)
                    : NULL;
}

/* The GPU with most kernels: a trace of a rank has one, as a rule. */
static int32_t main_device(const struct gather *g, int64_t *n_devices)
{
    enum { DEVICES = 64 };
    int64_t counts[DEVICES] = { 0 };
    int32_t best = 0;
    *n_devices = 0;
    for (int64_t i = 0; i < g->kernels.n; i++)
        counts[(uint32_t)g->kernels.v[i].device % DEVICES]++;
    for (int32_t i = 0; i < DEVICES; i++) {
        *n_devices += counts[i] > 0;
        best = counts[i] > counts[best] ? i : best;
    }
    return best;
}

static bool is_here(const struct reading *r, const struct gather_kernel *k)
{
    return (int32_t)((uint32_t)k->device % 64) == r->device;
}

/* What is covered ------------------------------------------------------------------- */

static void cover(struct reading *r)
{
    const struct gather *g = r->g;
    for (int64_t i = 0; i < g->kernels.n; i++) {
        const struct gather_kernel *k = &g->kernels.v[i];
        enum kernel_class class = g->names.v[k->name].class;
        const struct gather_launch *l = launch_of(g, k);
        int64_t end = k->start + k->length, at = l ? l->at : INT64_MIN;
        if (!is_here(r, k))
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

/* Waiting before kernels that the host launched after the one before had ended. */
static int64_t late(const struct reading *r, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (int64_t i = spans_after(&r->any, from); i < r->any.v.n; i++) {
        const struct span *x = &r->any.v.v[i];
        int64_t begin = i ? r->any.v.v[i - 1].end : from;
        begin = begin > from ? begin : from;
        int64_t end = x->start < to ? x->start : to;
        if (end > begin && x->launch != INT64_MIN && x->launch > begin)
            sum += end - begin;
        if (x->start >= to)
            break;
    }
    return sum;
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
    s->host_s = s_per_ns * (double)late(r, from, to);
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

static void find_steps(struct reading *r)
{
    const struct gather *g = r->g;
    int64_t n_gpu = 0;
    for (int64_t i = 0; i < g->marks.n; i++)
        n_gpu += g->marks.v[i].kind == MARK_GPU_STEP;
    r->to->by_host = n_gpu < 2;
    mark_steps(r, n_gpu < 2 ? MARK_STEP : MARK_GPU_STEP);
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

/* Sums of kernels ------------------------------------------------------------------- */

/* How much of a kernel is in the steps that were kept, as a share of it. */
static double share_kept(const struct reading *r, const struct gather_kernel *k)
{
    int64_t lo = 0, hi = r->kept.n, end = k->start + k->length;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (r->kept.v[mid].end > k->start)
            hi = mid;
        else
            lo = mid + 1;
    }
    if (lo == r->kept.n || r->kept.v[lo].start >= end)
        return 0;
    if (k->length == 0)
        return r->kept.v[lo].start <= k->start;
    double in = 0;
    for (; lo < r->kept.n && r->kept.v[lo].start < end; lo++) {
        const struct span *w = &r->kept.v[lo];
        int64_t from = w->start > k->start ? w->start : k->start,
                to = w->end < end ? w->end : end;
        in += to > from ? (double)(to - from) : 0;
    }
    return in / (double)k->length;
}

/* The operator whose launch is in Optimizer.step is the optimizer's, whatever its
 * kernels' names are. */
static enum kernel_class class_of(const struct reading *r, const struct gather_name *n,
                                  const struct gather_launch *l)
{
    bool computes = n->class != KERNEL_COMM && n->class != KERNEL_COPY;
    if (computes && l && spans_covered(&r->optimizer, l->at, l->at + 1))
        return KERNEL_OPTIMIZER;
    return n->class;
}

static void add_comm(struct reading *r, const struct gather_kernel *k, double share)
{
    const struct gather *g = r->g;
    int64_t end = k->start + k->length;
    double time_s = s_per_ns * (double)k->length,
           exposed_s =
               time_s - s_per_ns * (double)spans_covered(&r->compute, k->start, end);
    enum kernel_comm kind =
        k->comm >= 0 ? g->comms.v[k->comm].kind : g->names.v[k->name].comm;
    r->to->comm_s[kind] += share * time_s;
    r->to->comm_exposed_s[kind] += share * exposed_s;
    if (k->comm < 0 || share < 0.5)
        return;
    struct kineto_comm *c = &g->comms.v[k->comm];
    c->least_s = c->n == 0 || time_s < c->least_s ? time_s : c->least_s;
    c->n++;
    c->time_s += time_s;
    c->exposed_s += exposed_s;
}

static void add_product(struct kineto_rank *to, const struct gather_op *op,
                        enum kernel_format format, double time_s)
{
    struct kineto_product *p = NULL;
    for (int64_t i = 0; i < to->products.n && !p; i++) {
        struct kineto_product *x = &to->products.v[i];
        if (x->m == op->m && x->n == op->n && x->k == op->k && x->batch == op->batch &&
            x->format == format)
            p = x;
    }
    if (!p && to->products.n == KINETO_PRODUCTS_MAX)
        return;
    if (!p) {
        VEC_PUSH(&to->products, ((struct kineto_product) { .m = op->m,
                                                           .n = op->n,
                                                           .k = op->k,
                                                           .batch = op->batch,
                                                           .format = format,
                                                           .least_s = time_s }));
        p = &to->products.v[to->products.n - 1];
    }
    p->count++;
    p->time_s += time_s;
    p->least_s = time_s < p->least_s ? time_s : p->least_s;
}

/* Of the kernels of an operator, one is its product; split-K sums are left out. */
static void sum_kernels(struct reading *r)
{
    const struct gather *g = r->g;
    struct kineto_rank *to = r->to;
    double count[KERNEL_CLASSES] = { 0 };
    for (int64_t i = 0; i < g->kernels.n; i++) {
        const struct gather_kernel *k = &g->kernels.v[i];
        const struct gather_name *name = &g->names.v[k->name];
        double share = is_here(r, k) ? share_kept(r, k) : 0;
        if (share <= 0)
            continue;
        const struct gather_launch *l = launch_of(g, k);
        enum kernel_class class = class_of(r, name, l);
        double time_s = s_per_ns * (double)k->length;
        to->class_s[class] += share * time_s;
        count[class] += share;
        if (l && l->thread >= 0 && g->backward[l->thread])
            to->backward_s[class] += share * time_s;
        if (class == KERNEL_COMM)
            add_comm(r, k, share);
        if (class != KERNEL_PRODUCT)
            continue;
        const struct gather_op *op = op_of(g, k);
        to->format_s[name->format] += share * time_s;
        if (op && share >= 0.5)
            add_product(to, op, name->format, time_s);
    }
    for (int i = 0; i < KERNEL_CLASSES; i++)
        to->class_n[i] = (int64_t)llround(count[i]);
}

static void divide(struct kineto_rank *to, double by)
{
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        to->class_s[i] /= by;
        to->backward_s[i] /= by;
        to->class_n[i] = (int64_t)llround((double)to->class_n[i] / by);
    }
    for (int i = 0; i < COMM_KINDS; i++) {
        to->comm_s[i] /= by;
        to->comm_exposed_s[i] /= by;
    }
    for (int i = 0; i < KERNEL_FORMATS; i++)
        to->format_s[i] /= by;
}

/* What is given back ---------------------------------------------------------------- */

static int by_comm_time(const void *a, const void *b)
{
    double x = ((const struct kineto_comm *)a)->time_s,
           y = ((const struct kineto_comm *)b)->time_s;
    return (x < y) - (x > y);
}

static int by_product_time(const void *a, const void *b)
{
    double x = ((const struct kineto_product *)a)->time_s,
           y = ((const struct kineto_product *)b)->time_s;
    return (x < y) - (x > y);
}

/* Two threads launch: autograd's is the one on which its functions run. */
static bool tells_backward(const struct gather *g)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_threads; i++)
        n += g->backward[i];
    return n > 0 && n < g->n_threads;
}

static void give(struct gather *g, struct kineto_rank *to)
{
    for (int64_t i = 0; i < g->comms.n && to->comms.n < KINETO_COMMS_MAX; i++)
        if (g->comms.v[i].n)
            VEC_PUSH(&to->comms, g->comms.v[i]);
    if (to->comms.n)
        qsort(to->comms.v, (size_t)to->comms.n, sizeof(*to->comms.v), by_comm_time);
    if (to->products.n)
        qsort(to->products.v, (size_t)to->products.n, sizeof(*to->products.v),
              by_product_time);
    to->backward = tells_backward(g);
    if (!to->backward)
        memset(to->backward_s, 0, sizeof(to->backward_s));
    memcpy(to->device, g->device, sizeof(to->device));
    memcpy(to->nccl, g->nccl, sizeof(to->nccl));
    static const char *const formats[KERNEL_FORMATS] = { "", "fp32", "tf32",
                                                         "bf16/fp16", "fp8" };
    int best = 0;
    for (int i = 1; i < KERNEL_FORMATS; i++)
        if (to->format_s[i] > (best ? to->format_s[best] : 0))
            best = i;
    strcpy(to->precision, formats[best]);
}

void kineto_end(struct kineto *k, struct kineto_rank *to)
{
    struct gather *g = &k->g;
    struct reading r = { .g = g, .to = to };
    *to = (struct kineto_rank) {
        .rank = g->rank,
        .world = g->world,
        .n_events = g->n_events,
        .n_kernels = g->kernels.n,
        .n_left_out = g->n_left_out,
        .n_names = g->names.n,
        .whole = json_events_whole(&g->json),
    };
    sort(g);
    r.device = main_device(g, &to->n_devices);
    cover(&r);
    find_steps(&r);
    keep_steps(&r);
    sum_kernels(&r);
    if (to->n_kept)
        divide(to, (double)to->n_kept);
    give(g, to);
    struct spans *const all[] = { &r.compute, &r.comm,      &r.either,
                                  &r.any,     &r.optimizer, &r.loading };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        spans_release(all[i]);
    VEC_RELEASE(&r.kept);
}

void kineto_rank_release(struct kineto_rank *r)
{
    VEC_RELEASE(&r->steps);
    VEC_RELEASE(&r->comms);
    VEC_RELEASE(&r->products);
}
