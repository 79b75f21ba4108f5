/* Memory-bound kernels: copies by size, and each kernel of a transformer, with results
 * checked against the host. */
#include "buffer.h"
#include "kernels.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MOST = 64, BUFFERS = 6, CHECKS = 5 };

/* A kernel over n elements (rows x columns), its buffers, and what it moves. */
struct bench {
    enum measure_dtype dtype;
    int64_t rows, columns, sets;
    struct buffer b[BUFFERS]; /* 0: the result */
    uint8_t *mask;
    int *index;
    float *stats, *partial;
    float *state[3]; /* of Adam: master, m, v */
};

static int64_t size_of(const struct bench *x)
{
    return x->rows * x->columns;
}

/* What all rows have as statistics before a kernel writes them: mean and scale of
 * norms, and the latter as the log-sum-exp of losses. */
static const float stats_mean = 0.25f, stats_scale = 1.5f;

/* The row, of `below`, that row i means: spread out, each once where that can be. */
static int64_t index_of(int64_t i, int64_t below)
{
    return (i * 7919 + 13) % below;
}

static void *at(const struct bench *x, int which, int64_t i)
{
    int64_t set = i % x->sets;
    return (char *)x->b[which].at + set * size_of(x) * dtype_bytes(x->dtype);
}

/* --- what is measured: launches, bytes an element, what an element should be ------ */

/* What element i of the result should be; `got` is what it is, for those that draw
 * lots. */
typedef double expect_fn(const struct bench *x, int64_t i, double got);

/* Where results are: buffer 0 but for sums over rows and losses. */
enum result { OF_ELEMENTS, OF_COLUMNS, OF_LOSSES };

struct kind {
    const char *name;
    launch_fn *launch;
    int inputs;        /* buffers 1..inputs */
    double narrow;     /* tensors of the format that are moved */
    double mask, wide; /* tensors of bytes, and of fp32 */
    expect_fn *expect;
    double floor; /* errors are relative to |expected| + floor */
    enum result result;
};

static double in(const struct bench *x, int which, int64_t i)
{
    return buffer_expected(&x->b[which], i);
}

static int launch_copy(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_copy(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), size_of(x));
    return 0;
}

static double expect_copy(const struct bench *x, int64_t i, double)
{
    return in(x, 1, i);
}

static int launch_add(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_add(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), at(x, 2, i), size_of(x));
    return 0;
}

static double expect_add(const struct bench *x, int64_t i, double)
{
    return in(x, 1, i) + in(x, 2, i);
}

static int launch_gelu(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_activation(m->stream, x->dtype, KERNEL_GELU, at(x, 0, i), at(x, 1, i),
                      size_of(x));
    return 0;
}

static double expect_gelu(const struct bench *x, int64_t i, double)
{
    double v = in(x, 1, i);
    return 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
}

static int launch_gelu_bwd(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_activation_bwd(m->stream, x->dtype, KERNEL_GELU, at(x, 0, i), at(x, 1, i),
                          at(x, 2, i), size_of(x));
    return 0;
}

static double expect_gelu_bwd(const struct bench *x, int64_t i, double)
{
    double v = in(x, 2, i), a = 0.7978845608, b = 0.044715;
    double u = tanh(a * (v + b * v * v * v));
    return in(x, 1, i) *
           (0.5 * (1 + u) + 0.5 * v * (1 - u * u) * a * (1 + 3 * b * v * v));
}

static int launch_dropout(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_dropout(m->stream, x->dtype, at(x, 0, i), x->mask, at(x, 1, i), 0.1f, 17,
                   size_of(x));
    return 0;
}

/* Zero, or scaled up. */
static double expect_dropout(const struct bench *x, int64_t i, double got)
{
    return got == 0 ? 0 : in(x, 1, i) / 0.9;
}

static int launch_dropout_bwd(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_dropout_bwd(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->mask, 0.1f,
                       size_of(x));
    return 0;
}

/* The mask keeps all. */
static double expect_dropout_bwd(const struct bench *x, int64_t i, double)
{
    return in(x, 1, i) / 0.9;
}

static int launch_norm(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_norm(m->stream, x->dtype, at(x, 0, i), x->stats, at(x, 1, i), x->b[4].at,
                x->b[5].at, x->rows, x->columns);
    return 0;
}

/* Of a whole row, as softmax's below. */
static double expect_norm(const struct bench *x, int64_t i, double)
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
    struct bench *x = (struct bench *)arg;
    kernel_norm_bwd(m->stream, x->dtype, at(x, 0, i), x->b[4].at, x->b[5].at,
                    at(x, 1, i), at(x, 2, i), x->stats, x->b[3].at, x->partial, x->rows,
                    x->columns);
    return 0;
}

/* By the definition, with the statistics that make_side writes for every row. */
static double expect_norm_bwd(const struct bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double first = 0, second = 0, n = (double)x->columns;
    for (int64_t c = 0; c < x->columns; c++) {
        double gd = in(x, 3, c) * in(x, 1, row + c);
        first += gd / n;
        second += gd * (in(x, 2, row + c) - stats_mean) * stats_scale / n;
    }
    double gd = in(x, 3, i % x->columns) * in(x, 1, i);
    double z = (in(x, 2, i) - stats_mean) * stats_scale;
    return stats_scale * (gd - first - z * second);
}

static int launch_softmax(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_softmax(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), 0.125f, false,
                   x->rows, x->columns);
    return 0;
}

static double expect_softmax(const struct bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double sum = 0;
    for (int64_t k = 0; k < x->columns; k++)
        sum += exp(0.125 * in(x, 1, row + k));
    return exp(0.125 * in(x, 1, i)) / sum;
}

static int launch_softmax_bwd(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_softmax_bwd(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), at(x, 2, i),
                       0.125f, x->rows, x->columns);
    return 0;
}

static double expect_softmax_bwd(const struct bench *x, int64_t i, double)
{
    int64_t row = i / x->columns * x->columns;
    double sum = 0;
    for (int64_t k = 0; k < x->columns; k++)
        sum += in(x, 1, row + k) * in(x, 2, row + k);
    return 0.125 * in(x, 2, i) * (in(x, 1, i) - sum);
}

static int launch_bias_add(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_bias_add(m->stream, x->dtype, at(x, 0, i), x->b[4].at, x->rows, x->columns);
    return 0;
}

static double expect_bias_add(const struct bench *x, int64_t i, double)
{
    return in(x, 0, i) + in(x, 4, i % x->columns);
}

static int launch_bias_grad(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_bias_grad(m->stream, x->dtype, x->b[4].at, at(x, 1, i), x->partial, x->rows,
                     x->columns);
    return 0;
}

static double expect_bias_grad(const struct bench *x, int64_t i, double)
{
    double sum = 0;
    for (int64_t row = 0; row < x->rows; row++)
        sum += in(x, 1, row * x->columns + i);
    return sum;
}

static int launch_gather(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_gather(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->index, x->rows,
                  x->columns);
    return 0;
}

static double expect_gather(const struct bench *x, int64_t i, double)
{
    int64_t row = index_of(i / x->columns, x->rows);
    return in(x, 1, row * x->columns + i % x->columns);
}

static int launch_scatter(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_scatter(m->stream, x->dtype, at(x, 0, i), at(x, 1, i), x->index, x->rows,
                   x->columns);
    return 0;
}

/* What was there, and the rows whose index is this one. */
static double expect_scatter(const struct bench *x, int64_t i, double)
{
    double sum = in(x, 0, i);
    for (int64_t row = 0; row < x->rows; row++)
        if (index_of(row, x->rows) == i / x->columns)
            sum += in(x, 1, row * x->columns + i % x->columns);
    return sum;
}

static int launch_loss(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_loss(m->stream, x->dtype, x->stats, x->stats + x->rows, at(x, 1, i),
                x->index, x->rows, x->columns, x->columns);
    return 0;
}

static double expect_loss(const struct bench *x, int64_t i, double)
{
    double sum = 0;
    for (int64_t c = 0; c < x->columns; c++)
        sum += exp(in(x, 1, i * x->columns + c));
    return log(sum) - in(x, 1, i * x->columns + index_of(i, x->columns));
}

static int launch_loss_bwd(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    kernel_loss_bwd(m->stream, x->dtype, at(x, 0, i), x->stats + x->rows, at(x, 1, i),
                    x->index, x->rows, x->columns, x->columns);
    return 0;
}

static double expect_loss_bwd(const struct bench *x, int64_t i, double)
{
    bool label = index_of(i / x->columns, x->columns) == i % x->columns;
    return (exp(in(x, 1, i) - stats_scale) - label) / (double)x->rows;
}

static int launch_adam(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    static const struct kernel_adam how = { 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, 1 };
    kernel_adam(m->stream, x->dtype, at(x, 0, i), x->state[0], x->state[1], x->state[2],
                at(x, 1, i), how, size_of(x));
    return 0;
}

/* The first step from zero moments goes by the gradient's sign alone; weights are 0. */
static double expect_adam(const struct bench *x, int64_t i, double)
{
    double g = in(x, 1, i);
    return g > 0 ? -1e-4 : g < 0 ? 1e-4 : 0;
}

/* clang-format off */
static const struct kind kinds[] = {
    /* name, launch, inputs, narrow, mask, wide, expect, floor, result */
    { "copy",         launch_copy,        1, 2, 0, 0, expect_copy,        1e-2, OF_ELEMENTS },
    { "residual",     launch_add,         2, 3, 0, 0, expect_add,         1e-2, OF_ELEMENTS },
    { "gelu",         launch_gelu,        1, 2, 0, 0, expect_gelu,        1e-2, OF_ELEMENTS },
    { "gelu_bwd",     launch_gelu_bwd,    2, 3, 0, 0, expect_gelu_bwd,    1e-2, OF_ELEMENTS },
    { "dropout",      launch_dropout,     1, 2, 1, 0, expect_dropout,     1e-2, OF_ELEMENTS },
    { "dropout_bwd",  launch_dropout_bwd, 1, 2, 1, 0, expect_dropout_bwd, 1e-2, OF_ELEMENTS },
    { "norm",         launch_norm,        1, 2, 0, 0, expect_norm,        1e-2, OF_ELEMENTS },
    { "norm_bwd",     launch_norm_bwd,    2, 5, 0, 0, expect_norm_bwd,    1e-1, OF_ELEMENTS },
    { "softmax",      launch_softmax,     1, 2, 0, 0, expect_softmax,     1e-4, OF_ELEMENTS },
    { "softmax_bwd",  launch_softmax_bwd, 2, 3, 0, 0, expect_softmax_bwd, 1e-1, OF_ELEMENTS },
    { "bias_add",     launch_bias_add,    0, 2, 0, 0, expect_bias_add,    1e-2, OF_ELEMENTS },
    { "bias_grad",    launch_bias_grad,   1, 1, 0, 0, expect_bias_grad,   1e-1, OF_COLUMNS },
    { "gather",       launch_gather,      1, 2, 0, 0, expect_gather,      1e-2, OF_ELEMENTS },
    { "scatter",      launch_scatter,     1, 3, 0, 0, expect_scatter,     1e-1, OF_ELEMENTS },
    { "loss",         launch_loss,        1, 1, 0, 0, expect_loss,        1e-2, OF_LOSSES },
    { "loss_bwd",     launch_loss_bwd,    1, 2, 0, 0, expect_loss_bwd,    3e-5, OF_ELEMENTS },
    { "adam",         launch_adam,        1, 2, 0, 6, expect_adam,        1e-6, OF_ELEMENTS },
};
/* clang-format on */

/* --- one kernel ------------------------------------------------------------------- */

/* As norms have them, or (mean, then log-sum-exp) all of one after all of the other. */
static int set_stats(struct measure *m, struct bench *x, bool loss)
{
    size_t n = (size_t)(2 * x->rows);
    float *host = (float *)malloc(n * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    for (size_t i = 0; i < n; i++)
        host[i] = (loss ? i < n / 2 : i % 2 == 0) ? stats_mean : stats_scale;
    cudaError_t status =
        cudaMemcpy(x->stats, host, n * sizeof(*host), cudaMemcpyHostToDevice);
    free(host);
    TRY_CUDA(m, status);
    return 0;
}

static bool is_loss(const struct kind *k)
{
    return strncmp(k->name, "loss", 4) == 0;
}

static int make_side(struct measure *m, struct bench *x, const struct kind *k)
{
    int64_t n = size_of(x);
    TRY_CUDA(m, cudaMalloc((void **)&x->mask, (size_t)n));
    TRY_CUDA(m, cudaMalloc((void **)&x->index, (size_t)x->rows * sizeof(int)));
    TRY_CUDA(m, cudaMalloc((void **)&x->stats, (size_t)(2 * x->rows) * sizeof(float)));
    TRY_CUDA(m, cudaMalloc((void **)&x->partial,
                           (size_t)(2 * KERNEL_PARTS * x->columns) * sizeof(float)));
    TRY_CUDA(m, cudaMemset(x->mask, 1, (size_t)n));
    TRY_CUDA(m, cudaMemset(x->index, 0, (size_t)x->rows * sizeof(int)));
    TRY(set_stats(m, x, is_loss(k)));
    for (int i = 0; i < 3 && k->wide > 0; i++) {
        TRY_CUDA(m, cudaMalloc((void **)&x->state[i], (size_t)n * sizeof(float)));
        TRY_CUDA(m, cudaMemset(x->state[i], 0, (size_t)n * sizeof(float)));
    }
    return 0;
}

static int set_index(struct measure *m, struct bench *x, int64_t below)
{
    int rows = (int)x->rows;
    int *host = (int *)malloc((size_t)rows * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    for (int i = 0; i < rows; i++)
        host[i] = (int)index_of(i, below);
    cudaError_t status = cudaMemcpy(x->index, host, (size_t)rows * sizeof(*host),
                                    cudaMemcpyHostToDevice);
    free(host);
    TRY_CUDA(m, status);
    return 0;
}

static int make(struct measure *m, struct bench *x, const struct kind *k)
{
    int64_t n = size_of(x);
    double bytes =
        (double)n * (k->narrow * dtype_bytes(x->dtype) + k->mask + 4 * k->wide);
    x->sets = k->wide > 0 ? 1 : buffer_sets(m, bytes, SETS_MOST);
    for (int i = 0; i < BUFFERS; i++)
        if (i <= k->inputs || i >= 3)
            TRY(buffer_make(m, &x->b[i], x->dtype, i >= 3 ? x->columns : n * x->sets,
                            (uint32_t)i + 1));
    TRY(make_side(m, x, k));
    return set_index(m, x, is_loss(k) ? x->columns : x->rows);
}

static void release(struct bench *x)
{
    for (int i = 0; i < BUFFERS; i++)
        buffer_free(&x->b[i]);
    for (int i = 0; i < 3; i++)
        cudaFree(x->state[i]);
    cudaFree(x->mask);
    cudaFree(x->index);
    cudaFree(x->stats);
    cudaFree(x->partial);
}

/* Where the results of a launch on the first set are, as a buffer. */
static struct buffer result_of(const struct bench *x, const struct kind *k)
{
    if (k->result == OF_ELEMENTS)
        return { x->b[0].at, size_of(x), x->dtype, 0 };
    if (k->result == OF_COLUMNS)
        return { x->b[4].at, x->columns, x->dtype, 0 };
    return { x->stats, x->rows, DTYPE_FP32, 0 };
}

static int check(struct measure *m, const struct bench *x, const struct kind *k)
{
    double round = x->dtype == DTYPE_FP32   ? 1e-4
                   : x->dtype == DTYPE_FP16 ? 4e-3
                                            : 1.6e-2;
    struct buffer result = result_of(x, k);
    for (int i = 0; i < CHECKS; i++) {
        int64_t at = i * (result.n - 1) / (CHECKS - 1);
        double got;
        TRY(buffer_read(m, &result, at, &got));
        double want = k->expect(x, at, got);
        if (!(fabs(got - want) <= round * (fabs(want) + k->floor)))
            return measure_fail(m, "element %lld is %g where %g should be",
                                (long long)at, got, want);
    }
    return 0;
}

static int run(struct measure *m, struct bench *x, const struct kind *k,
               struct timing *t)
{
    TRY(make(m, x, k));
    TRY(k->launch(m, x, 0));
    TRY_CUDA(m, cudaGetLastError());
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    TRY(check(m, x, k));
    TRY(timing_run(m, k->launch, x, t));
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

static int measure_kind(struct measure *m, const struct kind *k,
                        enum measure_dtype dtype, int64_t rows, int64_t columns)
{
    struct bench x = {};
    struct timing t;
    x.dtype = dtype;
    x.rows = rows;
    x.columns = columns;
    int rc = run(m, &x, k, &t);
    double n = (double)(rows * columns);
    row_begin(m, "stream");
    row_text(m, "name", k->name);
    row_text(m, "dtype", dtype_name(dtype));
    row_int(m, "rows", rows);
    row_int(m, "columns", columns);
    row_real(m, "bytes", n * (k->narrow * dtype_bytes(dtype) + k->mask + 4 * k->wide));
    if (rc == 0)
        row_timing(m, &t);
    row_end(m);
    release(&x);
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    return 0;
}

/* Copies from 4 KiB to 1 GiB in each direction. */
int section_stream(struct measure *m)
{
    for (int64_t n = 2048; n <= (int64_t)1 << 29; n *= 2)
        if (measure_next(m) && measure_left_s(m) > 0)
            TRY(measure_kind(m, &kinds[0], DTYPE_FP16, n / 1024, 1024));
    for (int64_t n = 1 << 20; n <= (int64_t)1 << 26; n *= 4)
        if (measure_next(m) && measure_left_s(m) > 0)
            TRY(measure_kind(m, &kinds[0], DTYPE_FP32, n / 1024, 1024));
    return 0;
}

/* State that goes round in the cache would say nothing of memory. */
static bool is_too_small(const struct measure *m, const struct kind *k, int64_t n)
{
    return k->wide > 0 && 28 * n < 3 * (int64_t)m->prop.l2CacheSize;
}

/* Every kernel at activations of small and large models. */
int section_kernels(struct measure *m)
{
    static const int64_t sizes[][2] = {
        { 512, 1024 },   { 4096, 1024 }, { 2048, 4096 },
        { 16384, 4096 }, { 49152, 512 }, { 1024, 30528 },
    };
    enum measure_dtype dtype = dtype_runs(m, DTYPE_BF16) ? DTYPE_BF16 : DTYPE_FP16;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (size_t k = 1; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            if (measure_next(m) && measure_left_s(m) > 0 &&
                !is_too_small(m, &kinds[k], sizes[s][0] * sizes[s][1]))
                TRY(measure_kind(m, &kinds[k], dtype, sizes[s][0], sizes[s][1]));
    return 0;
}
