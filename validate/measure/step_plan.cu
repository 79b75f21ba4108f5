#include "step_plan.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN_B = 512, ALIGN_ELEMENTS = 64 };

static void *grown(void *v, int n, int *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? 2 * *cap : 256;
    v = realloc(v, (size_t)*cap * size);
    if (!v)
        abort();
    return v;
}

int step_tensor(struct step_plan *p, int64_t size_B)
{
    p->tensors = (struct step_tensor *)grown(p->tensors, p->n_tensors, &p->cap_tensors,
                                             sizeof(*p->tensors));
    struct step_tensor *t = &p->tensors[p->n_tensors];
    t->size_B = (size_B + ALIGN_B - 1) / ALIGN_B * ALIGN_B;
    t->at_B = -1;
    t->first = t->last = -1;
    return p->n_tensors++;
}

int step_tensor_16(struct step_plan *p, int64_t elements)
{
    return step_tensor(p, 2 * elements);
}

struct step_op *step_add(struct step_plan *p, const char *name, enum step_kind kind,
                         int t0, int t1, int t2)
{
    p->ops = (struct step_op *)grown(p->ops, p->n_ops, &p->cap_ops, sizeof(*p->ops));
    struct step_op *op = &p->ops[p->n_ops++];
    memset(op, 0, sizeof(*op));
    op->name = name;
    op->kind = kind;
    for (int i = 0; i < STEP_TENSORS; i++)
        op->t[i] = -1;
    op->t[0] = t0;
    op->t[1] = t1;
    op->t[2] = t2;
    op->weight[0] = op->weight[1] = -1;
    return op;
}

int64_t step_weight(struct step_plan *p, int64_t elements, bool ones)
{
    int64_t at = p->n_weights;
    p->n_weights += (elements + ALIGN_ELEMENTS - 1) / ALIGN_ELEMENTS * ALIGN_ELEMENTS;
    if (ones) {
        p->ones =
            (int64_t *)realloc(p->ones, (size_t)(2 * p->n_ones + 2) * sizeof(*p->ones));
        if (!p->ones)
            abort();
        p->ones[2 * p->n_ones] = at;
        p->ones[2 * p->n_ones++ + 1] = elements;
    }
    return at;
}

/* --- memory ----------------------------------------------------------------------- */

static void set_lives(struct step_plan *p)
{
    for (int i = 0; i < p->n_ops; i++)
        for (int k = 0; k < STEP_TENSORS; k++) {
            int t = p->ops[i].t[k];
            if (t < 0)
                continue;
            if (p->tensors[t].first < 0)
                p->tensors[t].first = i;
            p->tensors[t].last = i;
        }
}

/* Live tensors in order of their offsets. */
struct live {
    int *v, n;
};

/* The first gap that is large enough. */
static void place(struct step_plan *p, struct live *live, int tensor)
{
    struct step_tensor *t = &p->tensors[tensor];
    int64_t at = 0;
    int i = 0;
    for (; i < live->n; i++) {
        const struct step_tensor *o = &p->tensors[live->v[i]];
        if (o->at_B - at >= t->size_B)
            break;
        at = o->at_B + o->size_B;
    }
    memmove(&live->v[i + 1], &live->v[i], (size_t)(live->n - i) * sizeof(*live->v));
    live->v[i] = tensor;
    live->n++;
    t->at_B = at;
    if (at + t->size_B > p->activations_B)
        p->activations_B = at + t->size_B;
}

static void leave(struct step_plan *p, struct live *live, int op)
{
    int kept = 0;
    for (int i = 0; i < live->n; i++)
        if (p->tensors[live->v[i]].last > op)
            live->v[kept++] = live->v[i];
    live->n = kept;
}

static void plan_memory(struct step_plan *p)
{
    struct live live = { (int *)malloc((size_t)(p->n_tensors + 1) * sizeof(int)), 0 };
    if (!live.v)
        abort();
    set_lives(p);
    for (int i = 0; i < p->n_ops; i++) {
        for (int k = 0; k < STEP_TENSORS; k++) {
            int t = p->ops[i].t[k];
            if (t >= 0 && p->tensors[t].at_B < 0)
                place(p, &live, t);
        }
        leave(p, &live, i);
    }
    free(live.v);
}

/* --- when gradients are complete: weights are used in the order of their offsets, so
 * backward completes them downwards, but for those used twice ---------------------- */

static bool makes_gradient(const struct step_op *op)
{
    return op->backward && op->weight[0] >= 0 && op->kind != STEP_DGRAD;
}

static void set_ready(struct step_plan *p)
{
    int64_t ready = p->n_weights;
    for (int i = 0; i < p->n_ops; i++) {
        int64_t open = 0; /* the highest weight whose gradient is still to be written */
        for (int k = i + 1; k < p->n_ops; k++)
            if (makes_gradient(&p->ops[k]) && p->ops[k].weight[0] >= open)
                open = p->ops[k].weight[0] + 1;
        if (p->ops[i].backward && makes_gradient(&p->ops[i]) && open < ready &&
            p->ops[i].weight[0] >= open)
            ready = p->ops[i].weight[0];
        p->ops[i].ready_from = ready;
    }
    p->ops[p->n_ops - 1].ready_from = 0;
}

int step_plan_make(struct measure *m, struct step_plan *p,
                   const struct step_model *model, enum measure_dtype dtype)
{
    memset(p, 0, sizeof(*p));
    p->model = *model;
    p->batch = m->step->batch;
    p->sequence = m->step->sequence;
    p->dtype = dtype;
    step_build(p);
    for (int i = 0; i < p->n_ops; i++)
        if (p->ops[i].columns > p->most_columns)
            p->most_columns = p->ops[i].columns;
    plan_memory(p);
    set_ready(p);
    return 0;
}

void step_plan_free(struct step_plan *p)
{
    free(p->ops);
    free(p->tensors);
    free(p->ones);
}
