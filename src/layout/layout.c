#include "layout/layout.h"

#include <string.h>

int layout_init(struct layout *l, const char *placement, int64_t data, int64_t pipeline,
                int64_t tensor)
{
    *l = (struct layout) { .data = data, .pipeline = pipeline, .tensor = tensor };
    if (strlen(placement) != 3)
        return -1;
    int64_t stride = 1;
    for (int i = 2; i >= 0; i--) {
        char c = placement[i];
        int64_t *slot = c == 'D'   ? &l->stride_d
                        : c == 'P' ? &l->stride_p
                        : c == 'T' ? &l->stride_t
                                   : NULL;
        if (!slot || *slot)
            return -1;
        *slot = stride;
        stride *= c == 'D' ? data : c == 'P' ? pipeline : tensor;
    }
    return 0;
}

int64_t layout_rank(const struct layout *l, struct layout_index i)
{
    return i.d * l->stride_d + i.p * l->stride_p + i.t * l->stride_t;
}

static int64_t index_of(int64_t rank, int64_t stride, int64_t n)
{
    return n == 1 ? 0 : rank / stride % n; /* divisions are slow */
}

int64_t layout_stage(const struct layout *l, int64_t rank)
{
    return index_of(rank, l->stride_p, l->pipeline);
}

struct layout_index layout_index(const struct layout *l, int64_t rank)
{
    return (struct layout_index) { .d = index_of(rank, l->stride_d, l->data),
                                   .p = index_of(rank, l->stride_p, l->pipeline),
                                   .t = index_of(rank, l->stride_t, l->tensor) };
}

int64_t layout_group_size(const struct layout *l, enum layout_group g)
{
    switch (g) {
    case LAYOUT_TP:
        return l->tensor;
    case LAYOUT_PP:
        return l->pipeline;
    case LAYOUT_RDP:
        return l->data;
    case LAYOUT_DP:
        return l->data * l->tensor;
    case LAYOUT_MP:
        return l->pipeline * l->tensor;
    }
    return 0;
}

/* Member i of n x m ranks that spread over two letters, in order of rank: the letter of
 * the smaller stride runs fastest. */
static int64_t pair_member(int64_t n, int64_t n_stride, int64_t m, int64_t m_stride,
                           int64_t i)
{
    if (n_stride < m_stride)
        return i % n * n_stride + i / n * m_stride;
    return i % m * m_stride + i / m * n_stride;
}

int64_t layout_group_member(const struct layout *l, enum layout_group g, int64_t rank,
                            int64_t i)
{
    struct layout_index at = layout_index(l, rank);
    int64_t d = at.d * l->stride_d, p = at.p * l->stride_p, t = at.t * l->stride_t;
    switch (g) {
    case LAYOUT_TP:
        return d + p + i * l->stride_t;
    case LAYOUT_PP:
        return d + t + i * l->stride_p;
    case LAYOUT_RDP:
        return p + t + i * l->stride_d;
    case LAYOUT_DP:
        return p + pair_member(l->data, l->stride_d, l->tensor, l->stride_t, i);
    case LAYOUT_MP:
        return d + pair_member(l->pipeline, l->stride_p, l->tensor, l->stride_t, i);
    }
    return rank;
}

int64_t layout_group_rank(const struct layout *l, enum layout_group g, int64_t rank)
{
    struct layout_index at = layout_index(l, rank);
    switch (g) {
    case LAYOUT_TP:
        return at.t;
    case LAYOUT_PP:
        return at.p;
    case LAYOUT_RDP:
        return at.d;
    case LAYOUT_DP:
        return l->stride_d < l->stride_t ? at.d + at.t * l->data
                                         : at.t + at.d * l->tensor;
    case LAYOUT_MP:
        return l->stride_p < l->stride_t ? at.p + at.t * l->pipeline
                                         : at.t + at.p * l->tensor;
    }
    return 0;
}

/* Members of a run that lie within the tensor ranks of one data index. */
static int64_t run_within(const struct layout *l, int64_t n, int64_t apart)
{
    int64_t room = apart < l->tensor ? l->tensor / apart : 1;
    return n < room ? n : room;
}

bool layout_run_fits(const struct layout *l, int64_t n, int64_t apart)
{
    if (n < 1 || apart < 1 || l->tensor * l->data % (n * apart) != 0)
        return false;
    if (apart >= l->tensor)
        return apart % l->tensor == 0;
    return l->tensor % apart == 0 && n % run_within(l, n, apart) == 0 &&
           (l->tensor / apart) % run_within(l, n, apart) == 0;
}

struct layout_run layout_run_of(const struct layout *l, int64_t rank, int64_t n,
                                int64_t apart)
{
    struct layout_index at = layout_index(l, rank);
    int64_t j = at.t + at.d * l->tensor;
    int64_t first = j - j / apart % n * apart;
    struct layout_run r = { .n_t = run_within(l, n, apart) };
    at.t = first % l->tensor;
    at.d = first / l->tensor;
    r.first = layout_rank(l, at);
    r.n_d = n / r.n_t;
    r.stride_t = apart * l->stride_t;
    r.stride_d = (apart > l->tensor ? apart / l->tensor : 1) * l->stride_d;
    return r;
}

int64_t layout_run_member(const struct layout_run *r, int64_t i)
{
    return r->first + i % r->n_t * r->stride_t + i / r->n_t * r->stride_d;
}
