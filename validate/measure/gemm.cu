/* Matrix products over a designed set of shapes: products of common models at several
 * batches, tile counts around whole waves, depths, thin ones that only read, batched
 * ones of attention, and random ones. In a shuffled order, so that a budget that runs
 * out has seen some of each. */
#include "buffer.h"
#include "product.h"
#include "product_fp8.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>

enum { SHAPES_MOST = 1024, SETS_MOST = 24, CHECKS = 6, PER_SM_DEPTHS = 5 };

static const double flops_most = 6e12; /* about 10 ms on an H100, 60 on a V100 */
static const double bytes_most = 6e9;

struct shape {
    enum product_layout layout;
    int64_t m, n, k, batch;
};

struct shapes {
    struct shape v[SHAPES_MOST];
    int n;
};

static double flops_of(const struct shape *s)
{
    return 2.0 * (double)s->m * (double)s->n * (double)s->k * (double)s->batch;
}

static double elements_of(const struct shape *s)
{
    double m = (double)s->m, n = (double)s->n, k = (double)s->k;
    return (double)s->batch * (m * k + n * k + m * n);
}

static void add(struct shapes *all, enum product_layout layout, int64_t m, int64_t n,
                int64_t k, int64_t batch)
{
    struct shape s = { layout, m, n, k, batch };
    if (all->n < SHAPES_MOST && flops_of(&s) <= flops_most &&
        4 * elements_of(&s) <= bytes_most)
        all->v[all->n++] = s;
}

/* Forward and both gradients of the products of BERT-large, GPT-2 XL, Llama 7B,
 * GPT-3. */
static void add_models(struct shapes *all)
{
    static const int64_t columns[][2] = {
        /* n, k */
        { 1024, 1024 },  { 3072, 1024 },  { 4096, 1024 },   { 1024, 4096 },
        { 1600, 1600 },  { 4800, 1600 },  { 6400, 1600 },   { 1600, 6400 },
        { 4096, 4096 },  { 12288, 4096 }, { 11008, 4096 },  { 4096, 11008 },
        { 30528, 1024 }, { 50304, 1600 }, { 12288, 12288 },
    };
    static const int64_t tokens[] = { 512, 1536, 2048, 4096, 8192, 16384 };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        for (size_t j = 0; j < sizeof(tokens) / sizeof(tokens[0]); j++) {
            int64_t n = columns[i][0], k = columns[i][1], t = tokens[j];
            add(all, PRODUCT_TN, t, n, k, 1);
            if (j % 2 == 1) {
                add(all, PRODUCT_NN, t, k, n, 1);
                add(all, PRODUCT_NT, n, k, t, 1);
            }
        }
}

/* One row of 128 x 128 tiles after the other, up to a few waves. */
static void add_waves(struct shapes *all, int64_t sms)
{
    static const int64_t depths[PER_SM_DEPTHS] = { 64, 256, 1024, 4096, 16384 };
    static const double waves[] = {
        0.25, 0.5, 0.9, 1, 1.1, 1.5, 1.95, 2.05, 3, 3.1, 4.5
    };
    for (size_t w = 0; w < sizeof(waves) / sizeof(waves[0]); w++)
        for (int d = 0; d < PER_SM_DEPTHS; d++) {
            int64_t tiles = llround(waves[w] * (double)sms);
            int64_t down = tiles < 8 ? tiles : 8;
            add(all, PRODUCT_TN, 128 * down, 128 * ((tiles + down - 1) / down),
                depths[d], 1);
        }
}

static void add_thin(struct shapes *all)
{
    static const int64_t rows[] = { 1, 8, 32, 64, 128 };
    static const int64_t square[] = { 1024, 4096, 8192, 16384 };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            add(all, PRODUCT_TN, rows[i], square[j], square[j], 1);
}

/* Scores and context, and what their gradients need. */
static void add_batched(struct shapes *all)
{
    static const int64_t lengths[] = { 128, 384, 512, 1024, 2048 };
    for (int i = 0; i < 5; i++)
        for (int64_t d = 64; d <= 128; d *= 2)
            for (int64_t heads = 16; heads <= 256; heads *= 4) {
                int64_t s = lengths[i];
                add(all, PRODUCT_TN, s, s, d, heads);
                add(all, PRODUCT_NN, s, d, s, heads);
                if (heads == 64)
                    add(all, PRODUCT_NT, s, d, s, heads);
            }
}

/* Rows that are not whole pieces of 4 bytes (one product) or of 16 (batches). */
static void add_misaligned(struct shapes *all)
{
    static const int64_t sizes[] = { 1001, 4095, 50257 }, lengths[] = { 100, 250, 500 };
    for (int i = 0; i < 3; i++) {
        add(all, PRODUCT_TN, 2048, sizes[i], 1024, 1);
        add(all, PRODUCT_TN, 2048, 4096, sizes[i], 1);
        add(all, PRODUCT_TN, 512, sizes[i], 4096, 1);
        add(all, PRODUCT_NN, lengths[i], 64, lengths[i], 128);
        add(all, PRODUCT_TN, lengths[i], lengths[i], 64, 128);
        add(all, PRODUCT_TN, 2 * lengths[i], 2 * lengths[i] + 2, 128, 64);
    }
}

static int64_t random_size(unsigned int *seed, double lo, double hi)
{
    *seed = *seed * 1664525u + 1013904223u;
    double u = (double)(*seed >> 8) / 16777216.0;
    return (int64_t)(lo * pow(hi / lo, u) / 8) * 8;
}

static void add_random(struct shapes *all, int n)
{
    unsigned int seed = 12345;
    for (int i = 0; i < n; i++) {
        int64_t m = random_size(&seed, 64, 16384), c = random_size(&seed, 64, 16384);
        int64_t k = random_size(&seed, 64, 12288);
        add(all, (enum product_layout)(i % 3), m, c, k, 1);
    }
}

static void shuffle(struct shapes *all)
{
    unsigned int seed = 99;
    for (int i = all->n - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)((seed >> 8) % (unsigned int)(i + 1));
        struct shape s = all->v[i];
        all->v[i] = all->v[j];
        all->v[j] = s;
    }
}

/* --- one product ------------------------------------------------------------------ */

struct bench {
    struct product p;
    struct product_fp8 fp8;
    struct buffer a, b, c;
    int64_t sets;
};

static const void *at(const struct buffer *b, int64_t set, int64_t elements)
{
    return (const char *)b->at + set * elements * dtype_bytes(b->dtype);
}

static int launch(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    const struct product *p = &x->p;
    int64_t set = i % x->sets;
    const void *a = at(&x->a, set, p->m * p->k * p->batch);
    const void *b = at(&x->b, set, p->n * p->k * p->batch);
    void *c = (void *)at(&x->c, set, p->m * p->n * p->batch);
    if (p->dtype == DTYPE_FP8)
        return product_fp8_launch(m, &x->fp8, a, b, c);
    return product_launch(m, p, a, b, c);
}

/* The sum that one element of the first set should be. */
static double expected(const struct bench *x, int64_t batch, int64_t row,
                       int64_t column)
{
    const struct product *p = &x->p;
    double sum = 0;
    for (int64_t i = 0; i < p->k; i++) {
        int64_t a = p->layout == PRODUCT_NT ? i * p->m + row : row * p->k + i;
        int64_t b = p->layout == PRODUCT_TN ? column * p->k + i : i * p->n + column;
        sum += buffer_expected(&x->a, batch * p->m * p->k + a) *
               buffer_expected(&x->b, batch * p->n * p->k + b);
    }
    return sum;
}

/* Sums of k random terms are about sqrt(k)/3; results are rounded to the format. */
static int check(struct measure *m, const struct bench *x)
{
    const struct product *p = &x->p;
    double round = p->dtype == DTYPE_FP32                             ? 1e-4
                   : p->dtype == DTYPE_FP16 || p->dtype == DTYPE_TF32 ? 4e-3
                                                                      : 2e-2;
    for (int64_t i = 0; i < CHECKS; i++) {
        int64_t last = CHECKS - 1;
        int64_t row = i * (p->m - 1) / last, column = (last - i) * (p->n - 1) / last;
        int64_t batch = i * (p->batch - 1) / last;
        double got, want = expected(x, batch, row, column);
        TRY(buffer_read(m, &x->c, (batch * p->m + row) * p->n + column, &got));
        if (!(fabs(got - want) <= round * (fabs(want) + sqrt((double)p->k))))
            return measure_fail(m, "C[%lld,%lld] is %g where %g should be",
                                (long long)row, (long long)column, got, want);
    }
    return 0;
}

static int make(struct measure *m, struct bench *x)
{
    const struct product *p = &x->p;
    int64_t a = p->m * p->k * p->batch, b = p->n * p->k * p->batch,
            c = p->m * p->n * p->batch;
    x->sets = buffer_sets(m, (double)((a + b + c) * dtype_bytes(p->dtype)), SETS_MOST);
    TRY(buffer_make(m, &x->a, p->dtype, a * x->sets, 1));
    TRY(buffer_make(m, &x->b, p->dtype, b * x->sets, 2));
    TRY(buffer_make(m, &x->c, p->dtype == DTYPE_FP8 ? DTYPE_BF16 : p->dtype,
                    c * x->sets, 3));
    if (p->dtype == DTYPE_FP8)
        TRY(product_fp8_make(m, &x->fp8, p->m, p->n, p->k));
    return 0;
}

static int run(struct measure *m, struct bench *x, struct timing *t)
{
    TRY(make(m, x));
    TRY(launch(m, x, 0));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    TRY(check(m, x));
    return timing_run(m, launch, x, t);
}

/* A row whatever happens; -1 only when the GPU is no longer usable. */
static int measure_shape(struct measure *m, const struct shape *s,
                         enum measure_dtype dtype)
{
    struct bench x = {};
    struct timing t;
    x.p.layout = s->layout;
    x.p.dtype = dtype;
    x.p.m = s->m;
    x.p.n = s->n;
    x.p.k = s->k;
    x.p.batch = s->batch;
    int rc = run(m, &x, &t);
    row_begin(m, "gemm");
    row_text(m, "dtype", dtype_name(dtype));
    row_text(m, "layout", product_layout_names[s->layout]);
    row_int(m, "m", s->m);
    row_int(m, "n", s->n);
    row_int(m, "k", s->k);
    row_int(m, "batch", s->batch);
    if (rc == 0)
        row_timing(m, &t);
    row_end(m);
    if (dtype == DTYPE_FP8)
        product_fp8_free(&x.fp8);
    buffer_free(&x.a);
    buffer_free(&x.b);
    buffer_free(&x.c);
    TRY_CUDA(m, cudaStreamSynchronize(m->stream)); /* a sticky error ends the section */
    return 0;
}

/* fp8 has one layout, sizes in sixteens, and is not batched here. */
static bool suits(const struct shape *s, enum measure_dtype dtype)
{
    return dtype != DTYPE_FP8 || (s->layout == PRODUCT_TN && s->batch == 1 &&
                                  s->m % 16 == 0 && s->n % 16 == 0 && s->k % 16 == 0);
}

int section_gemm(struct measure *m)
{
    static const struct {
        enum measure_dtype dtype;
        int every;    /* of the shapes, one in so many */
        double until; /* share of the section's time that is gone when it must stop */
    } formats[] = {
        { DTYPE_BF16, 1, 0.5 }, { DTYPE_FP16, 3, 0.65 }, { DTYPE_TF32, 5, 0.78 },
        { DTYPE_FP32, 8, 0.9 }, { DTYPE_FP8, 2, 1 },
    };
    struct shapes *all = (struct shapes *)calloc(1, sizeof(*all));
    double begun = measure_now_s(), time = m->deadline_s - begun;
    int rc = all ? 0 : measure_fail(m, "out of memory");
    if (rc == 0) {
        add_models(all);
        add_waves(all, m->prop.multiProcessorCount);
        add_thin(all);
        add_batched(all);
        add_misaligned(all);
        add_random(all, 160);
        shuffle(all);
    }
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]) && rc == 0; f++)
        for (int i = 0; i < all->n && rc == 0; i += formats[f].every)
            if (measure_next(m) && dtype_runs(m, formats[f].dtype) &&
                suits(&all->v[i], formats[f].dtype) &&
                measure_now_s() - begun < formats[f].until * time)
                rc = measure_shape(m, &all->v[i], formats[f].dtype);
    free(all);
    return rc;
}
