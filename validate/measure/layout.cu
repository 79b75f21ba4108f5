/* Kernels that move: embeddings, heads, rotations. */
#include "vec8.cuh"

static __global__ void gather8(dtype_t t, void *y, const void *table, const int *index,
                               int64_t eights, int64_t row_eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    int64_t row = i / row_eights;
    struct vec8 a = vec8_load(table, index[row] * row_eights + i % row_eights, t);
    vec8_store(y, i, &a, t);
}

void kernel_gather(cudaStream_t stream, dtype_t dtype, void *y, const void *table,
                   const int *index, int64_t rows, int64_t columns)
{
    int64_t n = rows * columns;
    gather8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, table, index, n / 8,
                                              columns / 8);
}

static __device__ __forceinline__ void add_two(void *at, int64_t pair, float a, float b,
                                               dtype_t t)
{
    if (t == DTYPE_FP16) {
        atomicAdd((__half2 *)at + pair, __floats2half2_rn(a, b));
    } else if (t == DTYPE_BF16) { /* GPUs before Ampere are not given it: dtype_runs */
#if __CUDA_ARCH__ >= 800
        atomicAdd((__nv_bfloat162 *)at + pair, __floats2bfloat162_rn(a, b));
#endif
    } else {
        atomicAdd((float *)at + 2 * pair, a);
        atomicAdd((float *)at + 2 * pair + 1, b);
    }
}

static __global__ void scatter8(dtype_t t, void *dtable, const void *dy,
                                const int *index, int64_t eights, int64_t row_eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 d = vec8_load(dy, i, t);
    int64_t at = index[i / row_eights] * row_eights + i % row_eights;
#pragma unroll
    for (int k = 0; k < 4; k++)
        add_two(dtable, 4 * at + k, d.v[2 * k], d.v[2 * k + 1], t);
}

void kernel_scatter(cudaStream_t stream, dtype_t dtype, void *dtable, const void *dy,
                    const int *index, int64_t rows, int64_t columns)
{
    int64_t n = rows * columns;
    scatter8<<<blocks_of(n), 256, 0, stream>>>(dtype, dtable, dy, index, n / 8,
                                               columns / 8);
}

/* --- heads ------------------------------------------------------------------------ */

struct heads {
    int64_t s, b, heads, d8; /* d8: eights of a head */
};

/* Where eight i of [s, b, heads, d] is in [b, heads, s, d]. */
static __device__ __forceinline__ int64_t turned(struct heads h, int64_t i)
{
    int64_t d = i % h.d8, head = i / h.d8 % h.heads;
    int64_t b = i / (h.d8 * h.heads) % h.b, s = i / (h.d8 * h.heads * h.b);
    return ((b * h.heads + head) * h.s + s) * h.d8 + d;
}

static __global__ void merge8(dtype_t t, void *y, const void *x, struct heads h,
                              int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, turned(h, i), t);
    vec8_store(y, i, &a, t);
}

static __global__ void split8(dtype_t t, void *y, const void *x, struct heads h,
                              int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, i, t);
    vec8_store(y, turned(h, i), &a, t);
}

static __global__ void merge_qkv8(dtype_t t, void *y, const void *q, const void *k,
                                  const void *v, struct heads h, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    int64_t from = turned(h, i), to = i / h.d8 * 3 * h.d8 + i % h.d8;
    struct vec8 a = vec8_load(q, from, t), b = vec8_load(k, from, t);
    struct vec8 c = vec8_load(v, from, t);
    vec8_store(y, to, &a, t);
    vec8_store(y, to + h.d8, &b, t);
    vec8_store(y, to + 2 * h.d8, &c, t);
}

void kernel_merge_heads(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                        int64_t s, int64_t b, int64_t heads, int64_t d)
{
    struct heads h = { s, b, heads, d / 8 };
    int64_t n = s * b * heads * d;
    merge8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, x, h, n / 8);
}

void kernel_split_heads(cudaStream_t stream, dtype_t dtype, void *y, const void *x,
                        int64_t s, int64_t b, int64_t heads, int64_t d)
{
    struct heads h = { s, b, heads, d / 8 };
    int64_t n = s * b * heads * d;
    split8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, x, h, n / 8);
}

void kernel_merge_qkv(cudaStream_t stream, dtype_t dtype, void *y, const void *q,
                      const void *k, const void *v, int64_t s, int64_t b, int64_t heads,
                      int64_t d)
{
    struct heads h = { s, b, heads, d / 8 };
    int64_t n = s * b * heads * d;
    merge_qkv8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, q, k, v, h, n / 8);
}

/* --- rotary positions (Su et al. 2021): halves of a head turn against each other -- */

static __global__ void rope8(dtype_t t, void *qkv, float sign, struct heads h,
                             int64_t items)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= items)
        return;
    int64_t half8 = h.d8 / 2, lane = i % half8, which = i / half8 % 2;
    int64_t head = i / (2 * half8), place = head / h.heads / h.b; /* of the token */
    int64_t at = (head * 3 + which) * h.d8 + lane;
    struct vec8 a = vec8_load(qkv, at, t), b = vec8_load(qkv, at + half8, t);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float power = (float)(8 * lane + k) / (float)(4 * h.d8);
        float angle = (float)place * __powf(10000.0f, -power), s, c;
        __sincosf(angle, &s, &c);
        float left = a.v[k] * c - sign * b.v[k] * s;
        b.v[k] = b.v[k] * c + sign * a.v[k] * s;
        a.v[k] = left;
    }
    vec8_store(qkv, at, &a, t);
    vec8_store(qkv, at + half8, &b, t);
}

void kernel_rope(cudaStream_t stream, dtype_t dtype, void *qkv, bool backward,
                 int64_t s, int64_t b, int64_t heads, int64_t d)
{
    struct heads h = { s, b, heads, d / 8 };
    int64_t items = s * b * heads * (d / 8);
    rope8<<<(unsigned int)((items + 255) / 256), 256, 0, stream>>>(
        dtype, qkv, backward ? -1.0f : 1.0f, h, items);
}
