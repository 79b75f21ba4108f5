/* Attention: a simple fused kernel (one pass over the keys with a running maximum, as
 * flash attention does, but on the ordinary cores), and the unfused chain of products
 * and softmax. The fused one says what the memory traffic of such a kernel costs; its
 * rate of arithmetic is no library's, and its rows say so. */
#include "buffer.h"
#include "kernels.h"
#include "product.h"
#include "timing.h"
#include "vec8.cuh"

#include <math.h>

enum { TILE = 32, D_MOST = 128 };

/* A block has TILE queries of one head, a warp TILE / 8 of them; lanes share the
 * columns. */
static __global__ void flash(dtype_t t, void *y, const void *q, const void *k,
                             const void *v, float scale, bool causal, int s, int d)
{
    __shared__ float keys[TILE][D_MOST], values[TILE][D_MOST];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, per_lane = d / 32;
    const int64_t base = (int64_t)blockIdx.y * s * d;
    const int first = blockIdx.x * TILE + warp * (TILE / 8);
    float query[TILE / 8][4], sum[TILE / 8][4], top[TILE / 8], total[TILE / 8];
    for (int r = 0; r < TILE / 8; r++) {
        top[r] = -INFINITY, total[r] = 0;
        for (int c = 0; c < per_lane; c++) {
            int row = first + r < s ? first + r : s - 1;
            query[r][c] =
                scale * one_load(q, base + (int64_t)row * d + c * 32 + lane, t);
            sum[r][c] = 0;
        }
    }
    int end = causal ? min(s, (int)(blockIdx.x + 1) * TILE) : s;
    for (int from = 0; from < end; from += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * d; i += blockDim.x) {
            int64_t at = base + (int64_t)min(from + i / d, s - 1) * d + i % d;
            keys[i / d][i % d] = one_load(k, at, t);
            values[i / d][i % d] = one_load(v, at, t);
        }
        __syncthreads();
        for (int r = 0; r < TILE / 8; r++)
            for (int j = 0; j < TILE; j++) {
                float dot = 0;
                for (int c = 0; c < per_lane; c++)
                    dot += query[r][c] * keys[j][c * 32 + lane];
                for (int step = 16; step; step /= 2)
                    dot += __shfl_xor_sync(0xffffffffu, dot, step);
                if (from + j >= s || (causal && from + j > first + r))
                    continue;
                float higher = fmaxf(top[r], dot), old = __expf(top[r] - higher);
                float weight = __expf(dot - higher);
                top[r] = higher;
                total[r] = total[r] * old + weight;
                for (int c = 0; c < per_lane; c++)
                    sum[r][c] = sum[r][c] * old + weight * values[j][c * 32 + lane];
            }
    }
    for (int r = 0; r < TILE / 8 && first + r < s; r++)
        for (int c = 0; c < per_lane; c++)
            one_store(y, base + (int64_t)(first + r) * d + c * 32 + lane,
                      sum[r][c] / total[r], t);
}

struct bench {
    enum measure_dtype dtype;
    int64_t s, d, heads;
    bool causal;
    struct buffer q, k, v, y, scores, probs;
};

static int launch_flash(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    dim3 grid((unsigned int)((x->s + TILE - 1) / TILE), (unsigned int)x->heads);
    (void)i;
    flash<<<grid, 256, 0, m->stream>>>(x->dtype, x->y.at, x->q.at, x->k.at, x->v.at,
                                       1 / sqrtf((float)x->d), x->causal, (int)x->s,
                                       (int)x->d);
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

static int launch_unfused(struct measure *m, void *arg, int64_t i)
{
    struct bench *x = (struct bench *)arg;
    struct product p = {};
    (void)i;
    p.layout = PRODUCT_TN;
    p.dtype = x->dtype;
    p.m = p.n = x->s;
    p.k = x->d;
    p.batch = x->heads;
    TRY(product_launch(m, &p, x->q.at, x->k.at, x->scores.at));
    kernel_softmax(m->stream, x->dtype, x->probs.at, x->scores.at,
                   1 / sqrtf((float)x->d), x->causal, x->heads * x->s, x->s);
    p.layout = PRODUCT_NN;
    p.n = x->d;
    p.k = x->s;
    return product_launch(m, &p, x->probs.at, x->v.at, x->y.at);
}

/* Element (row, column) of the first head, by the definition. */
static double expected(const struct bench *x, int64_t row, int64_t column)
{
    int64_t seen = x->causal ? row + 1 : x->s;
    double total = 0, sum = 0, scale = 1 / sqrt((double)x->d);
    for (int64_t j = 0; j < seen; j++) {
        double dot = 0;
        for (int64_t c = 0; c < x->d; c++)
            dot += buffer_expected(&x->q, row * x->d + c) *
                   buffer_expected(&x->k, j * x->d + c);
        double weight = exp(scale * dot);
        total += weight;
        sum += weight * buffer_expected(&x->v, j * x->d + column);
    }
    return sum / total;
}

static int check(struct measure *m, const struct bench *x)
{
    for (int i = 0; i < 4; i++) {
        int64_t row = i * (x->s - 1) / 3, column = (3 - i) * (x->d - 1) / 3;
        double got, want = expected(x, row, column);
        TRY(buffer_read(m, &x->y, row * x->d + column, &got));
        if (!(fabs(got - want) <= 0.02 * (fabs(want) + 0.2)))
            return measure_fail(m, "y[%lld,%lld] is %g where %g should be",
                                (long long)row, (long long)column, got, want);
    }
    return 0;
}

static int run(struct measure *m, struct bench *x, launch_fn *launch, struct timing *t)
{
    int64_t n = x->heads * x->s * x->d, pairs = x->heads * x->s * x->s;
    TRY(buffer_make(m, &x->q, x->dtype, n, 1));
    TRY(buffer_make(m, &x->k, x->dtype, n, 2));
    TRY(buffer_make(m, &x->v, x->dtype, n, 3));
    TRY(buffer_make(m, &x->y, x->dtype, n, 4));
    if (launch == launch_unfused) {
        TRY(buffer_make(m, &x->scores, x->dtype, pairs, 5));
        TRY(buffer_make(m, &x->probs, x->dtype, pairs, 6));
    }
    TRY(launch(m, x, 0));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    TRY(check(m, x));
    return timing_run(m, launch, x, t);
}

static int measure_attention(struct measure *m, bool fused, bool causal, int64_t s,
                             int64_t d, int64_t heads)
{
    struct bench x = {};
    struct timing t;
    x.dtype = dtype_runs(m, DTYPE_BF16) ? DTYPE_BF16 : DTYPE_FP16;
    x.s = s;
    x.d = d;
    x.heads = heads;
    x.causal = causal;
    int rc = run(m, &x, fused ? launch_flash : launch_unfused, &t);
    row_begin(m, fused ? "flash" : "attention_unfused");
    row_text(m, "dtype", dtype_name(x.dtype));
    row_int(m, "queries", s);
    row_int(m, "keys", s);
    row_int(m, "head_dim", d);
    row_int(m, "heads", heads);
    row_flag(m, "causal", causal);
    row_flag(m, "backward", false);
    row_flag(m, "library", false);
    if (rc == 0)
        row_timing(m, &t);
    row_end(m);
    struct buffer *all[] = { &x.q, &x.k, &x.v, &x.y, &x.scores, &x.probs };
    for (int i = 0; i < 6; i++)
        buffer_free(all[i]);
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    return 0;
}

int section_attention(struct measure *m)
{
    static const int64_t lengths[] = { 128, 384, 512, 1024, 2048, 4096 };
    for (int i = 0; i < 6; i++)
        for (int64_t d = 64; d <= 128; d *= 2)
            for (int kind = 0; kind < 4; kind++)
                if (measure_next(m) && measure_left_s(m) > 0)
                    TRY(measure_attention(m, kind / 2, kind % 2, lengths[i], d,
                                          lengths[i] > 1024 ? 32 : 128));
    return 0;
}
