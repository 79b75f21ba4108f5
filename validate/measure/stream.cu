/* Memory-bound kernels: copies by size, and each kernel of a transformer, with results
 * checked against the host. */
#include "kernels.h"
#include "stream_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MOST = 64, CHECKS = 5 };

/* As norms have them, or (mean, then log-sum-exp) all of one after all of the other. */
static int set_stats(struct measure *m, struct stream_bench *x, bool loss)
{
    size_t n = (size_t)(2 * x->rows);
    float *host = (float *)malloc(n * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    for (size_t i = 0; i < n; i++)
        host[i] =
            (loss ? i < n / 2 : i % 2 == 0) ? stream_stats_mean : stream_stats_scale;
    int rc = buffer_write(m, x->stats, host, n * sizeof(*host));
    free(host);
    return rc;
}

static bool is_loss(const struct stream_kind *k)
{
    return strncmp(k->name, "loss", 4) == 0;
}

static int make_side(struct measure *m, struct stream_bench *x,
                     const struct stream_kind *k)
{
    int64_t n = stream_size(x);
    TRY_CUDA(m, cudaMalloc((void **)&x->mask, (size_t)n));
    TRY_CUDA(m, cudaMalloc((void **)&x->index, (size_t)x->rows * sizeof(int)));
    TRY_CUDA(m, cudaMalloc((void **)&x->stats, (size_t)(2 * x->rows) * sizeof(float)));
    TRY_CUDA(m, cudaMalloc((void **)&x->partial,
                           (size_t)(2 * KERNEL_PARTS * x->columns) * sizeof(float)));
    TRY_CUDA(m, cudaMemsetAsync(x->mask, 1, (size_t)n, m->stream));
    TRY(set_stats(m, x, is_loss(k)));
    for (int i = 0; i < 3 && k->wide > 0; i++) {
        TRY_CUDA(m, cudaMalloc((void **)&x->state[i], (size_t)n * sizeof(float)));
        TRY_CUDA(m,
                 cudaMemsetAsync(x->state[i], 0, (size_t)n * sizeof(float), m->stream));
    }
    return 0;
}

static int set_index(struct measure *m, struct stream_bench *x, int64_t below)
{
    int rows = (int)x->rows;
    int *host = (int *)malloc((size_t)rows * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    for (int i = 0; i < rows; i++)
        host[i] = (int)stream_index(i, below);
    int rc = buffer_write(m, x->index, host, (size_t)rows * sizeof(*host));
    free(host);
    return rc;
}

static int make(struct measure *m, struct stream_bench *x, const struct stream_kind *k)
{
    int64_t n = stream_size(x);
    double bytes =
        (double)n * (k->narrow * dtype_bytes(x->dtype) + k->mask + 4 * k->wide);
    x->sets = k->wide > 0 ? 1 : buffer_sets(m, bytes, SETS_MOST);
    for (int i = 0; i < STREAM_BUFFERS; i++)
        if (i <= k->inputs || i >= 3)
            TRY(buffer_make(m, &x->b[i], x->dtype, i >= 3 ? x->columns : n * x->sets,
                            (uint32_t)i + 1));
    TRY(make_side(m, x, k));
    return set_index(m, x, is_loss(k) ? x->columns : x->rows);
}

static void release(struct stream_bench *x)
{
    for (int i = 0; i < STREAM_BUFFERS; i++)
        buffer_free(&x->b[i]);
    for (int i = 0; i < 3; i++)
        cudaFree(x->state[i]);
    cudaFree(x->mask);
    cudaFree(x->index);
    cudaFree(x->stats);
    cudaFree(x->partial);
}

/* Where the results of a launch on the first set are, as a buffer. */
static struct buffer result_of(const struct stream_bench *x,
                               const struct stream_kind *k)
{
    if (k->result == STREAM_ELEMENTS)
        return { x->b[0].at, stream_size(x), x->dtype, 0 };
    if (k->result == STREAM_COLUMNS)
        return { x->b[4].at, x->columns, x->dtype, 0 };
    return { x->stats, x->rows, DTYPE_FP32, 0 };
}

static int check(struct measure *m, const struct stream_bench *x,
                 const struct stream_kind *k)
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

static int run(struct measure *m, struct stream_bench *x, const struct stream_kind *k,
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

static int measure_kind(struct measure *m, const struct stream_kind *k,
                        enum measure_dtype dtype, int64_t rows, int64_t columns)
{
    struct stream_bench x = {};
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
            TRY(measure_kind(m, &stream_kinds[0], DTYPE_FP16, n / 1024, 1024));
    for (int64_t n = 1 << 20; n <= (int64_t)1 << 26; n *= 4)
        if (measure_next(m) && measure_left_s(m) > 0)
            TRY(measure_kind(m, &stream_kinds[0], DTYPE_FP32, n / 1024, 1024));
    return 0;
}

/* State that goes round in the cache would say nothing of memory. */
static bool is_too_small(const struct measure *m, const struct stream_kind *k,
                         int64_t n)
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
        for (int k = 1; k < stream_kinds_n; k++)
            if (measure_next(m) && measure_left_s(m) > 0 &&
                !is_too_small(m, &stream_kinds[k], sizes[s][0] * sizes[s][1]))
                TRY(measure_kind(m, &stream_kinds[k], dtype, sizes[s][0], sizes[s][1]));
    return 0;
}
