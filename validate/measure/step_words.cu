/* Operators that every block is made of, with the tensors of their results. */
#include "step_build.h"

struct step_op *step_sized(struct step_op *op, int64_t rows, int64_t columns)
{
    op->rows = rows;
    op->columns = columns;
    return op;
}

int step_tensor_rows(struct step_builder *b, int64_t columns)
{
    return step_tensor_16(b->p, b->rows * columns);
}

int step_linear(struct step_builder *b, const char *name, int x, int64_t weight,
                int64_t n, int64_t k)
{
    int y = step_tensor_rows(b, n);
    struct step_op *op =
        step_sized(step_add(b->p, name, STEP_LINEAR, x, y, -1), b->rows, n);
    op->depth = k;
    op->weight[0] = weight;
    return y;
}

void step_bias_add(struct step_builder *b, const char *name, int y, int64_t bias,
                   int64_t n)
{
    if (b->t->bias)
        step_sized(step_add(b->p, name, STEP_BIAS_ADD, y, -1, -1), b->rows, n)
            ->weight[0] = bias;
}

struct step_op *step_backward(struct step_op *op)
{
    op->backward = true;
    return op;
}

int step_linear_bwd(struct step_builder *b, const char *const names[3], int dy, int x,
                    int64_t weight, int64_t bias, int64_t n, int64_t k)
{
    int dx = step_tensor_rows(b, k);
    struct step_op *op = step_backward(
        step_sized(step_add(b->p, names[0], STEP_DGRAD, dy, dx, -1), b->rows, k));
    op->depth = n;
    op->weight[0] = weight;
    op = step_backward(
        step_sized(step_add(b->p, names[1], STEP_WGRAD, x, dy, -1), n, k));
    op->depth = b->rows;
    op->weight[0] = weight;
    if (b->t->bias && bias >= 0)
        step_backward(step_sized(step_add(b->p, names[2], STEP_BIAS_GRAD, dy, -1, -1),
                                 b->rows, n))
            ->weight[0] = bias;
    return dx;
}

int step_norm(struct step_builder *b, const char *name, int x, int64_t gamma,
              int64_t beta, int *stats)
{
    int y = step_tensor_rows(b, b->h);
    *stats = step_tensor(b->p, 8 * b->rows);
    struct step_op *op =
        step_sized(step_add(b->p, name, STEP_NORM, x, y, *stats), b->rows, b->h);
    op->weight[0] = gamma;
    op->weight[1] = beta;
    return y;
}

int step_norm_bwd(struct step_builder *b, const char *name, int dy, int x, int stats,
                  int64_t gamma, int64_t beta)
{
    struct step_op *op = step_backward(
        step_sized(step_add(b->p, name, STEP_NORM_BWD, dy, x, stats), b->rows, b->h));
    op->weight[0] = gamma;
    op->weight[1] = beta;
    int dx = step_tensor_rows(b, b->h);
    b->p->ops[b->p->n_ops - 1].t[3] = dx;
    return dx;
}

int step_dropout(struct step_builder *b, const char *name, int x, int64_t rows,
                 int64_t columns, float share, int *mask)
{
    *mask = -1;
    if (share <= 0)
        return x;
    int y = step_tensor_16(b->p, rows * columns);
    *mask = step_tensor(b->p, rows * columns);
    step_sized(step_add(b->p, name, STEP_DROPOUT, x, y, *mask), rows, columns);
    return y;
}

int step_dropout_bwd(struct step_builder *b, const char *name, int dy, int mask,
                     int64_t rows, int64_t columns)
{
    if (mask < 0)
        return dy;
    int dx = step_tensor_16(b->p, rows * columns);
    step_backward(step_sized(step_add(b->p, name, STEP_DROPOUT_BWD, dy, dx, mask), rows,
                             columns));
    return dx;
}

int step_sum(struct step_builder *b, const char *name, int x, int y, bool backward)
{
    int sum = step_tensor_rows(b, b->h);
    step_sized(step_add(b->p, name, STEP_ADD, x, y, sum), b->rows, b->h)->backward =
        backward;
    return sum;
}
