#include "kineto/reading.h"

#include <math.h>
#include <stdlib.h>

static const double s_per_ns = 1e-9;

static int by_id(const void *a, const void *b)
{
    const struct gather_op *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static const struct gather_op *op_of(const struct gather *g,
                                     const struct gather_kernel *k)
{
    const struct gather_op key = { .id = k->op };
    return g->ops.n ? bsearch(&key, g->ops.v, (size_t)g->ops.n, sizeof(key), by_id)
                    : NULL;
}

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
enum kernel_class reading_class(const struct reading *r, const struct gather_name *n,
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
        double share = reading_is_here(r, k) ? share_kept(r, k) : 0;
        if (share <= 0)
            continue;
        const struct gather_launch *l = reading_launch(g, k);
        enum kernel_class class = reading_class(r, name, l);
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

void reading_sums(struct reading *r)
{
    struct gather *g = r->g;
    if (g->ops.n)
        qsort(g->ops.v, (size_t)g->ops.n, sizeof(*g->ops.v), by_id);
    sum_kernels(r);
    if (r->to->n_kept)
        divide(r->to, (double)r->to->n_kept);
}
