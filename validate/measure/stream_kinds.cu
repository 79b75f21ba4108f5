/* What is measured of memory-bound kernels: launches, bytes an element, and what an
 * element of the result should be. */
#include "kernels.h"
#include "stream_kinds.h"

#include <math.h>

static void *at(const struct stream_bench *x, int which, int64_t i)
{
    int64_t set = i % x->sets;
    return (char *)x->b[which].at + set * stream_size(x) * dtype_bytes(x->dtype);
}

static double in(const struct stream_bench *x, int which, int64_t i)
{
    return buffer_expected(&x->b[which], i);
}

static int launch_copy(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_copy(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), stream_size(x));
    return 0;
}

static double expect_copy(const struct stream_bench *x, int64_t i, double)
{
    return in(x, 1, i);
}

static int launch_add(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_add(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), at(x, 2, i),
               stream_size(x));
    return 0;
}

static double expect_add(const struct stream_bench *x, int64_t i, double)
{
    return in(x, 1, i) + in(x, 2, i);
}

static int launch_gelu(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_activation(m->stream, x->dtype, KERNEL_GELU, at(x, 0, i), at(x, 1, i),
                      stream_size(x));
    return 0;
}

static double expect_gelu(const struct stream_bench *x, int64_t i, double)
{
    double v = in(x, 1, i);
    return 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
}

static int launch_gelu_bwd(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_activation_bwd(m->stream, x->dtype, KERNEL_GELU, at(x, 0, i), at(x, 1, i),
                          at(x, 2, i), stream_size(x));
    return 0;
}

static double expect_gelu_bwd(const struct stream_bench *x, int64_t i, double)
{
    double v = in(x, 2, i), a = 0.7978845608, b = 0.044715;
    double u = tanh(a * (v + b * v * v * v));
    return in(x, 1, i) *
           (0.5 * (1 + u) + 0.5 * v * (1 - u * u) * a * (1 + 3 * b * v * v));
}

static int launch_dropout(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_dropout(m->stream, x->dtype, at(x, 0, i), x->mask, at(x, 1, i), 0.1f, 17,
                   stream_size(x));
    return 0;
}

/* Zero, or scaled up. */
static double expect_dropout(const struct stream_bench *x, int64_t i, double got)
{
    return got == 0 ? 0 : in(x, 1, i) / 0.9;
}

static int launch_dropout_bwd(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_dropout_bwd(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->mask, 0.1f,
                       stream_size(x));
    return 0;
}

/* The mask keeps all. */
static double expect_dropout_bwd(const struct stream_bench *x, int64_t i, double)
{
    return in(x, 1, i) / 0.9;
}

static int launch_norm(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_norm(m->stream, x->dtype, at(x, 0, i), x->stats, at(x, 1, i), x->b[4].at,
                x->b[5].at, x->rows, x->columns);
    return 0;
}

/* Of a whole row, as softmax's below. */
static double expect_norm(const struct stream_bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns, c = i % x->columns;
    double sum = 0, squares = 0, n = (double)x->columns;
    for (int64_t k = 0; k < x->columns; k++) {
        double v = in(x, 1, row + k);
        sum += v;
        squares += v * v;
    }
    double mean = sum / n, variance = squares / n - mean * mean;
    return (in(x, 1, i) - mean) / sqrt(variance + 1e-5) * in(x, 4, c) + in(x, 5, c);
}

static int launch_norm_bwd(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_norm_bwd(m->stream, x->dtype, at(x, 0, i), x->b[4].at, x->b[5].at,
                    at(x, 1, i), at(x, 2, i), x->stats, x->b[3].at, x->partial, x->rows,
                    x->columns);
    return 0;
}

/* By the definition, with the statistics that make_side writes for every row. */
static double expect_norm_bwd(const struct stream_bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double first = 0, second = 0, n = (double)x->columns;
    for (int64_t c = 0; c < x->columns; c++) {
        double gd = in(x, 3, c) * in(x, 1, row + c);
        first += gd / n;
        second += gd * (in(x, 2, row + c) - stream_stats_mean) * stream_stats_scale / n;
    }
    double gd = in(x, 3, i % x->columns) * in(x, 1, i);
    double z = (in(x, 2, i) - stream_stats_mean) * stream_stats_scale;
    return stream_stats_scale * (gd - first - z * second);
}

static int launch_softmax(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_softmax(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), 0.125f, false,
                   x->rows, x->columns);
    return 0;
}

static double expect_softmax(const struct stream_bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double sum = 0;
    for (int64_t k = 0; k < x->columns; k++)
        sum += exp(0.125 * in(x, 1, row + k));
    return exp(0.125 * in(x, 1, i)) / sum;
}

static int launch_softmax_bwd(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_softmax_bwd(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), at(x, 2, i),
                       0.125f, x->rows, x->columns);
    return 0;
}

static double expect_softmax_bwd(const struct stream_bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double sum = 0;
    for (int64_t k = 0; k < x->columns; k++)
        sum += in(x, 1, row + k) * in(x, 2, row + k);
    return 0.125 * in(x, 2, i) * (in(x, 1, i) - sum);
}

static int launch_bias_add(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_bias_add(m->stream, x->dtype, at(x, 0, i), x->b[4].at, x->rows, x->columns);
    return 0;
}

static double expect_bias_add(const struct stream_bench *x, int64_t i, double)
{
    return in(x, 0, i) + in(x, 4, i % x->columns);
}

static int launch_bias_grad(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_bias_grad(m->stream, x->dtype, x->b[4].at, at(x, 1, i), x->partial, x->rows,
                     x->columns);
    return 0;
}

static double expect_bias_grad(const struct stream_bench *x, int64_t i, double)
{
    double sum = 0;
    for (int64_t row = 0; row < x->rows; row++)
        sum += in(x, 1, row * x->columns + i);
    return sum;
}

static int launch_gather(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_gather(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->index, x->rows,
                  x->columns);
    return 0;
}

static double expect_gather(const struct stream_bench *x, int64_t i, double)
{
    int64_t row = stream_index(i / x->columns, x->rows);
    return in(x, 1, row * x->columns + i % x->columns);
}

static int launch_scatter(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_scatter(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->index, x->rows,
                   x->columns);
    return 0;
}

/* What was there, and the rows whose index is this one. */
static double expect_scatter(const struct stream_bench *x, int64_t i, double)
{
    double sum = in(x, 0, i);
    for (int64_t row = 0; row < x->rows; row++)
        if (stream_index(row, x->rows) == i / x->columns)
            sum += in(x, 1, row * x->columns + i % x->columns);
    return sum;
}

static int launch_loss(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_loss(m->stream, x->dtype, x->stats, x->stats + x->rows, at(x, 1, i),
                x->index, x->rows, x->columns, x->columns);
    return 0;
}

static double expect_loss(const struct stream_bench *x, int64_t i, double)
{
    double sum = 0;
    for (int64_t c = 0; c < x->columns; c++)
        sum += exp(in(x, 1, i * x->columns + c));
    return log(sum) - in(x, 1, i * x->columns + stream_index(i, x->columns));
}

static int launch_loss_bwd(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    kernel_loss_bwd(m->stream, x->dtype, at(x, 0, i), x->stats + x->rows, at(x, 1, i),
                    x->index, x->rows, x->columns, x->columns);
    return 0;
}

static double expect_loss_bwd(const struct stream_bench *x, int64_t i, double)
{
    bool label = stream_index(i / x->columns, x->columns) == i % x->columns;
    return (exp(in(x, 1, i) - stream_stats_scale) - label) / (double)x->rows;
}

static int launch_adam(struct measure *m, void *arg, int64_t i)
{
    struct stream_bench *x = (struct stream_bench *)arg;
    static const struct kernel_adam how = { 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, 1 };
    kernel_adam(m->stream, x->dtype, at(x, 0, i), x->state[0], x->state[1], x->state[2],
                at(x, 1, i), how, stream_size(x));
    return 0;
}

/* The first step from zero moments goes by the gradient's sign alone; weights are 0. */
static double expect_adam(const struct stream_bench *x, int64_t i, double)
{
    double g = in(x, 1, i);
    return g > 0 ? -1e-4 : g < 0 ? 1e-4 : 0;
}

/* clang-format off */
const struct stream_kind stream_kinds[] = {
    /* name, launch, inputs, narrow, mask, wide, expect, floor, result */
    { "copy",         launch_copy,        1, 2, 0, 0, expect_copy,        1e-2, STREAM_ELEMENTS },
    { "residual",     launch_add,         2, 3, 0, 0, expect_add,         1e-2, STREAM_ELEMENTS },
    { "gelu",         launch_gelu,        1, 2, 0, 0, expect_gelu,        1e-2, STREAM_ELEMENTS },
    { "gelu_bwd",     launch_gelu_bwd,    2, 3, 0, 0, expect_gelu_bwd,    1e-2, STREAM_ELEMENTS },
    { "dropout",      launch_dropout,     1, 2, 1, 0, expect_dropout,     1e-2, STREAM_ELEMENTS },
    { "dropout_bwd",  launch_dropout_bwd, 1, 2, 1, 0, expect_dropout_bwd, 1e-2, STREAM_ELEMENTS },
    { "norm",         launch_norm,        1, 2, 0, 0, expect_norm,        1e-2, STREAM_ELEMENTS },
    { "norm_bwd",     launch_norm_bwd,    2, 5, 0, 0, expect_norm_bwd,    1e-1, STREAM_ELEMENTS },
    { "softmax",      launch_softmax,     1, 2, 0, 0, expect_softmax,     1e-4, STREAM_ELEMENTS },
    { "softmax_bwd",  launch_softmax_bwd, 2, 3, 0, 0, expect_softmax_bwd, 1e-1, STREAM_ELEMENTS },
    { "bias_add",     launch_bias_add,    0, 2, 0, 0, expect_bias_add,    1e-2, STREAM_ELEMENTS },
    { "bias_grad",    launch_bias_grad,   1, 1, 0, 0, expect_bias_grad,   1e-1, STREAM_COLUMNS },
    { "gather",       launch_gather,      1, 2, 0, 0, expect_gather,      1e-2, STREAM_ELEMENTS },
    { "scatter",      launch_scatter,     1, 3, 0, 0, expect_scatter,     1e-1, STREAM_ELEMENTS },
    { "loss",         launch_loss,        1, 1, 0, 0, expect_loss,        1e-2, STREAM_LOSSES },
    { "loss_bwd",     launch_loss_bwd,    1, 2, 0, 0, expect_loss_bwd,    3e-5, STREAM_ELEMENTS },
    { "adam",         launch_adam,        1, 2, 0, 6, expect_adam,        1e-6, STREAM_ELEMENTS },
};
/* clang-format on */

const int stream_kinds_n = sizeof(stream_kinds) / sizeof(stream_kinds[0]);
