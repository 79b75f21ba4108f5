/* Kernels over rows: norms, softmax, biases, losses. A block has a row. */
#include "vec8.cuh"

/* Of threads_of: however a compiler uses registers, such a block can be launched. */
#define ROW_BLOCK __launch_bounds__(1024)

/* --- biases ----------------------------------------------------------------------- */

static __global__ void bias_add8(dtype_t t, void *y, const void *bias, int64_t eights,
                                 int64_t row_eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(y, i, t), b = vec8_load(bias, i % row_eights, t);
#pragma unroll
    for (int k = 0; k < 8; k++)
        a.v[k] += b.v[k];
    vec8_store(y, i, &a, t);
}

void kernel_bias_add(cudaStream_t stream, dtype_t dtype, void *y, const void *bias,
                     int64_t rows, int64_t columns)
{
    int64_t n = rows * columns;
    bias_add8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, bias, n / 8, columns / 8);
}

/* Sums over rows: every block of the grid's column x sums a part y of them, and the one
 * that comes last adds the parts up, so that one kernel does it all. */
enum { COLUMN_BLOCKS_MOST = 4096 };
static __device__ unsigned int parts_done[COLUMN_BLOCKS_MOST];

/* Whether all other parts of this block's columns are written. The counter goes round,
 * so the next kernel finds it at zero. For all threads of the block. */
static __device__ bool is_last_part(void)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(&parts_done[blockIdx.x], gridDim.y - 1) == gridDim.y - 1;
    __syncthreads();
    __threadfence();
    return last;
}

static __device__ void store_sum(dtype_t t, void *out, const float *partial, int64_t c,
                                 int64_t eights)
{
    struct vec8 sum = {};
#pragma unroll 16
    for (unsigned int i = 0; i < gridDim.y; i++) {
        struct vec8 a = vec8_load(partial, i * eights + c, DTYPE_FP32);
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum.v[k] += a.v[k];
    }
    vec8_store(out, c, &sum, t);
}

static __global__ void bias_sum(dtype_t t, void *dbias, float *partial, const void *dy,
                                int64_t rows, int64_t columns)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, eights = columns / 8;
    int64_t from = rows * blockIdx.y / gridDim.y,
            to = rows * (blockIdx.y + 1) / gridDim.y;
    struct vec8 sum = {};
    for (int64_t r = from; r < to && c < eights; r++) {
        struct vec8 d = vec8_load(dy, r * eights + c, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum.v[k] += d.v[k];
    }
    if (c < eights)
        vec8_store(partial, blockIdx.y * eights + c, &sum, DTYPE_FP32);
    if (is_last_part() && c < eights)
        store_sum(t, dbias, partial, c, eights);
}

static dim3 parts_of(int64_t columns)
{
    return dim3((unsigned int)((columns / 8 + 127) / 128), KERNEL_PARTS);
}

void kernel_bias_grad(cudaStream_t stream, dtype_t dtype, void *dbias, const void *dy,
                      float *partial, int64_t rows, int64_t columns)
{
    bias_sum<<<parts_of(columns), 128, 0, stream>>>(dtype, dbias, partial, dy, rows,
                                                    columns);
}

/* --- norms ------------------------------------------------------------------------ */

static __global__ void ROW_BLOCK norm_row(dtype_t t, void *y, float *stats,
                                          const void *x, const void *gamma,
                                          const void *beta, int64_t columns)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    float sum = 0, squares = 0;
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += a.v[k];
            squares += a.v[k] * a.v[k];
        }
    }
    float mean = beta ? block_sum(sum) / (float)columns : 0;
    float variance = block_sum(squares) / (float)columns - mean * mean;
    float scale = rsqrtf(fmaxf(variance, 0) + 1e-5f);
    if (threadIdx.x == 0) {
        stats[2 * row] = mean;
        stats[2 * row + 1] = scale;
    }
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t), g = vec8_load(gamma, i, t);
        struct vec8 b = {};
        if (beta)
            b = vec8_load(beta, i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            a.v[k] = (a.v[k] - mean) * scale * g.v[k] + b.v[k];
        vec8_store(y, row * eights + i, &a, t);
    }
}

void kernel_norm(cudaStream_t stream, dtype_t dtype, void *y, float *stats,
                 const void *x, const void *gamma, const void *beta, int64_t rows,
                 int64_t columns)
{
    norm_row<<<(unsigned int)rows, threads_of(columns), 0, stream>>>(
        dtype, y, stats, x, gamma, beta, columns);
}

/* dx = scale (g dy - mean(g dy) - z mean(g dy z)), z the normalised x; without the
 * first mean where none was taken. */
static __global__ void ROW_BLOCK norm_bwd_row(dtype_t t, void *dx, const void *dy,
                                              const void *x, const float *stats,
                                              const void *gamma, bool centred,
                                              int64_t columns)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    float mean = stats[2 * row], scale = stats[2 * row + 1], first = 0, second = 0;
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 d = vec8_load(dy, row * eights + i, t), g = vec8_load(gamma, i, t);
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float gd = g.v[k] * d.v[k];
            first += gd;
            second += gd * (a.v[k] - mean) * scale;
        }
    }
    first = centred ? block_sum(first) / (float)columns : 0;
    second = block_sum(second) / (float)columns;
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 d = vec8_load(dy, row * eights + i, t), g = vec8_load(gamma, i, t);
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float z = (a.v[k] - mean) * scale;
            a.v[k] = scale * (g.v[k] * d.v[k] - first - z * second);
        }
        vec8_store(dx, row * eights + i, &a, t);
    }
}

static __global__ void norm_sums(dtype_t t, void *dgamma, void *dbeta, float *partial,
                                 const void *dy, const void *x, const float *stats,
                                 int64_t rows, int64_t columns)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, eights = columns / 8;
    int64_t from = rows * blockIdx.y / gridDim.y,
            to = rows * (blockIdx.y + 1) / gridDim.y;
    float *betas = partial + gridDim.y * columns;
    struct vec8 g = {}, b = {};
    for (int64_t r = from; r < to && c < eights; r++) {
        struct vec8 d = vec8_load(dy, r * eights + c, t),
                    a = vec8_load(x, r * eights + c, t);
        float mean = stats[2 * r], scale = stats[2 * r + 1];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            g.v[k] += d.v[k] * (a.v[k] - mean) * scale;
            b.v[k] += d.v[k];
        }
    }
    if (c < eights) {
        vec8_store(partial, blockIdx.y * eights + c, &g, DTYPE_FP32);
        vec8_store(betas, blockIdx.y * eights + c, &b, DTYPE_FP32);
    }
    if (!is_last_part() || c >= eights)
        return;
    store_sum(t, dgamma, partial, c, eights);
    if (dbeta)
        store_sum(t, dbeta, betas, c, eights);
}

void kernel_norm_bwd(cudaStream_t stream, dtype_t dtype, void *dx, void *dgamma,
                     void *dbeta, const void *dy, const void *x, const float *stats,
                     const void *gamma, float *partial, int64_t rows, int64_t columns)
{
    norm_sums<<<parts_of(columns), 128, 0, stream>>>(dtype, dgamma, dbeta, partial, dy,
                                                     x, stats, rows, columns);
    norm_bwd_row<<<(unsigned int)rows, threads_of(columns), 0, stream>>>(
        dtype, dx, dy, x, stats, gamma, dbeta != NULL, columns);
}

/* --- softmax ---------------------------------------------------------------------- */

static __global__ void ROW_BLOCK softmax_row(dtype_t t, void *y, const void *x,
                                             float scale, bool causal, int64_t columns)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    int64_t seen = causal ? row % columns + 1 : columns;
    float top = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; 8 * i < seen; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (8 * i + k < seen)
                top = fmaxf(top, scale * a.v[k]);
    }
    top = block_max(top);
    for (int64_t i = threadIdx.x; 8 * i < seen; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (8 * i + k < seen)
                sum += __expf(scale * a.v[k] - top);
    }
    sum = 1 / block_sum(sum);
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 a = {};
        if (8 * i < seen)
            a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            a.v[k] = 8 * i + k < seen ? __expf(scale * a.v[k] - top) * sum : 0;
        vec8_store(y, row * eights + i, &a, t);
    }
}

void kernel_softmax(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                    float scale, bool causal, int64_t rows, int64_t columns)
{
    softmax_row<<<(unsigned int)rows, threads_of(columns), 0, stream>>>(
        dtype, y, x, scale, causal, columns);
}

static __global__ void ROW_BLOCK softmax_bwd_row(dtype_t t, void *dx, const void *dy,
                                                 const void *y, float scale,
                                                 int64_t columns)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    float sum = 0;
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 d = vec8_load(dy, row * eights + i, t);
        struct vec8 p = vec8_load(y, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += d.v[k] * p.v[k];
    }
    sum = block_sum(sum);
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 d = vec8_load(dy, row * eights + i, t);
        struct vec8 p = vec8_load(y, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++)
            d.v[k] = scale * p.v[k] * (d.v[k] - sum);
        vec8_store(dx, row * eights + i, &d, t);
    }
}

void kernel_softmax_bwd(cudaStream_t stream, dtype_t dtype, void *dx, const void *dy,
                        const void *y, float scale, int64_t rows, int64_t columns)
{
    softmax_bwd_row<<<(unsigned int)rows, threads_of(columns), 0, stream>>>(
        dtype, dx, dy, y, scale, columns);
}

/* --- cross-entropy ---------------------------------------------------------------- */

static __global__ void ROW_BLOCK loss_row(dtype_t t, float *loss, float *lse,
                                          const void *x, const int *labels,
                                          int64_t columns, int64_t words)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    float top = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t);
        float highest = top;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (8 * i + k < words)
                highest = fmaxf(highest, a.v[k]);
        sum *= __expf(top - highest); /* nothing was summed where top is -inf */
        if (top == -INFINITY)
            sum = 0;
        top = highest;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (8 * i + k < words)
                sum += __expf(a.v[k] - top);
    }
    float all = block_max(top);
    sum = block_sum(top == -INFINITY ? 0 : sum * __expf(top - all));
    if (threadIdx.x == 0) {
        lse[row] = all + logf(sum);
        loss[row] = lse[row] - one_load(x, row * columns + labels[row], t);
    }
}

void kernel_loss(cudaStream_t stream, dtype_t dtype, float *loss, float *lse,
                 const void *x, const int *labels, int64_t rows, int64_t columns,
                 int64_t words)
{
    loss_row<<<(unsigned int)rows, 1024, 0, stream>>>(dtype, loss, lse, x, labels,
                                                      columns, words);
}

static __global__ void ROW_BLOCK loss_bwd_row(dtype_t t, void *dx, const float *lse,
                                              const void *x, const int *labels,
                                              float share, int64_t columns,
                                              int64_t words)
{
    int64_t row = blockIdx.x, eights = columns / 8;
    float top = lse[row];
    int label = labels[row];
    for (int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
        struct vec8 a = vec8_load(x, row * eights + i, t);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int64_t c = 8 * i + k;
            a.v[k] =
                c < words ? share * (__expf(a.v[k] - top) - (float)(c == label)) : 0;
        }
        vec8_store(dx, row * eights + i, &a, t);
    }
}

void kernel_loss_bwd(cudaStream_t stream, dtype_t dtype, void *dx, const float *lse,
                     const void *x, const int *labels, int64_t rows, int64_t columns,
                     int64_t words)
{
    loss_bwd_row<<<(unsigned int)rows, 1024, 0, stream>>>(
        dtype, dx, lse, x, labels, 1.0f / (float)rows, columns, words);
}
