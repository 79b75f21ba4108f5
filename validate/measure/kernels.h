/* The memory-bound kernels of a transformer, written so that each operand moves once,
 * in loads of 16 bytes: what a good library does. Arithmetic is fp32; `dtype` is that
 * of the tensors (fp16, bf16 or fp32). Shapes follow the pointers. All launch on
 * `stream`; the caller asks cudaGetLastError. Sizes marked * must be multiples of 8. */
#ifndef SMSIM_MEASURE_KERNELS_H
#define SMSIM_MEASURE_KERNELS_H

#include "measure.h"

typedef enum measure_dtype dtype_t;

/* y = x */
void kernel_copy(cudaStream_t stream, dtype_t dtype, void *y /* [n*] */, const void *x,
                 int64_t n);
/* y = a + b */
void kernel_add(cudaStream_t stream, dtype_t dtype, void *y /* [n*] */, const void *a,
                const void *b, int64_t n);
/* y = a * b; and da = dy * b, db = dy * a */
void kernel_multiply(cudaStream_t stream, dtype_t dtype, void *y /* [n*] */,
                     const void *a, const void *b, int64_t n);
void kernel_multiply_bwd(cudaStream_t stream, dtype_t dtype, void *da /* [n*] */,
                         void *db, const void *dy, const void *a, const void *b,
                         int64_t n);

enum kernel_activation { KERNEL_GELU, KERNEL_SILU };
void kernel_activation(cudaStream_t stream, dtype_t dtype, enum kernel_activation which,
                       void *y /* [n*] */, const void *x, int64_t n);
void kernel_activation_bwd(cudaStream_t stream, dtype_t dtype,
                           enum kernel_activation which, void *dx /* [n*] */,
                           const void *dy, const void *x, int64_t n);

/* y = x * mask / (1 - p); the mask is made from (seed, element). */
void kernel_dropout(cudaStream_t stream, dtype_t dtype, void *y /* [n*] */,
                    uint8_t *mask, const void *x, float p, uint32_t seed, int64_t n);
void kernel_dropout_bwd(cudaStream_t stream, dtype_t dtype, void *dx /* [n*] */,
                        const void *dy, const uint8_t *mask, float p, int64_t n);

/* y[r, c*] += bias[c]; and dbias[c] = sum over rows of dy */
void kernel_bias_add(cudaStream_t stream, dtype_t dtype, void *y, const void *bias,
                     int64_t rows, int64_t columns);
void kernel_bias_grad(cudaStream_t stream, dtype_t dtype, void *dbias, const void *dy,
                      float *partial /* [KERNEL_PARTS, columns] */, int64_t rows,
                      int64_t columns);
enum { KERNEL_PARTS = 64 };

/* Layer norm, or RMS norm (beta NULL, no mean). stats: mean and 1/deviation of each
 * row. The gradient makes dx, and those of gamma and beta through partial sums [2 x
 * KERNEL_PARTS, columns]. */
void kernel_norm(cudaStream_t stream, dtype_t dtype, void *y, float *stats,
                 const void *x, const void *gamma, const void *beta, int64_t rows,
                 int64_t columns);
void kernel_norm_bwd(cudaStream_t stream, dtype_t dtype, void *dx, void *dgamma,
                     void *dbeta, const void *dy, const void *x, const float *stats,
                     const void *gamma, float *partial, int64_t rows, int64_t columns);

/* Over the last dimension of scores [rows, columns*], scaled; causal: row r of each
 * `columns` sees r % columns + 1 of them. */
void kernel_softmax(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                    float scale, bool causal, int64_t rows, int64_t columns);
void kernel_softmax_bwd(cudaStream_t stream, dtype_t dtype, void *dx, const void *dy,
                        const void *y, float scale, int64_t rows, int64_t columns);

/* y[r, h*] = table[index[r], h]; and dtable[index[r], h] += dy[r, h] */
void kernel_gather(cudaStream_t stream, dtype_t dtype, void *y, const void *table,
                   const int *index, int64_t rows, int64_t columns);
void kernel_scatter(cudaStream_t stream, dtype_t dtype, void *dtable, const void *dy,
                    const int *index, int64_t rows, int64_t columns);

/* Cross-entropy: loss[r] = log sum exp x[r,:] - x[r, label]; lse[r] is kept. The
 * gradient is of the mean over rows (dx may be x), columns from `words` on are
 * padding. */
void kernel_loss(cudaStream_t stream, dtype_t dtype, float *loss, float *lse,
                 const void *x, const int *labels, int64_t rows, int64_t columns,
                 int64_t words);
void kernel_loss_bwd(cudaStream_t stream, dtype_t dtype, void *dx, const float *lse,
                     const void *x, const int *labels, int64_t rows, int64_t columns,
                     int64_t words);

struct kernel_adam {
    float rate, beta1, beta2, epsilon, decay;
    int step;
};
/* 16-bit weights and gradients, fp32 master, m, v: 28 bytes an element. */
void kernel_adam(cudaStream_t stream, dtype_t dtype, void *weights /* [n*] */,
                 float *master, float *m, float *v, const void *gradients,
                 struct kernel_adam how, int64_t n);

/* [tokens, heads, 3, d] of queries, keys, values from three [heads, ..] as the products
 * of attention leave them: tokens are s x b with b fastest; x is [b x heads, s, d*]. */
void kernel_merge_heads(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                        int64_t s, int64_t b, int64_t heads, int64_t d);
void kernel_merge_qkv(cudaStream_t stream, dtype_t dtype, void *y, const void *q,
                      const void *k, const void *v, int64_t s, int64_t b, int64_t heads,
                      int64_t d);
void kernel_split_heads(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                        int64_t s, int64_t b, int64_t heads, int64_t d);

/* Turns queries and keys of qkv [s x b, heads, 3, d*] in place; backward turns back. */
void kernel_rope(cudaStream_t stream, dtype_t dtype, void *qkv, bool backward,
                 int64_t s, int64_t b, int64_t heads, int64_t d);

#endif
