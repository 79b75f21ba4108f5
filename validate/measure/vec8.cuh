/* Eight neighbouring numbers of a tensor as floats: one load of 16 bytes (two of fp32).
 * The format is a run-time value, equal in all threads. */
#ifndef SMSIM_MEASURE_VEC8_CUH
#define SMSIM_MEASURE_VEC8_CUH

#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct vec8 {
    float v[8];
};

static __device__ __forceinline__ float one_load(const void *x, int64_t i, dtype_t t)
{
    if (t == DTYPE_FP16)
        return __half2float(((const __half *)x)[i]);
    if (t == DTYPE_BF16)
        return __bfloat162float(((const __nv_bfloat16 *)x)[i]);
    return ((const float *)x)[i];
}

static __device__ __forceinline__ void one_store(void *x, int64_t i, float v, dtype_t t)
{
    if (t == DTYPE_FP16)
        ((__half *)x)[i] = __float2half_rn(v);
    else if (t == DTYPE_BF16)
        ((__nv_bfloat16 *)x)[i] = __float2bfloat16_rn(v);
    else
        ((float *)x)[i] = v;
}

/* `at` counts eights. */
static __device__ __forceinline__ struct vec8 vec8_load(const void *x, int64_t at,
                                                        dtype_t t)
{
    struct vec8 r;
    if (t == DTYPE_FP32) {
        float4 a = ((const float4 *)x)[2 * at], b = ((const float4 *)x)[2 * at + 1];
        r.v[0] = a.x, r.v[1] = a.y, r.v[2] = a.z, r.v[3] = a.w;
        r.v[4] = b.x, r.v[5] = b.y, r.v[6] = b.z, r.v[7] = b.w;
        return r;
    }
    uint4 w = ((const uint4 *)x)[at];
    const unsigned int words[4] = { w.x, w.y, w.z, w.w };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (t == DTYPE_BF16) {
            r.v[2 * i] = __uint_as_float(words[i] << 16);
            r.v[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
        } else {
            __half2 h = *(const __half2 *)&words[i];
            float2 f = __half22float2(h);
            r.v[2 * i] = f.x, r.v[2 * i + 1] = f.y;
        }
    }
    return r;
}

static __device__ __forceinline__ void vec8_store(void *x, int64_t at,
                                                  const struct vec8 *r, dtype_t t)
{
    if (t == DTYPE_FP32) {
        ((float4 *)x)[2 * at] = make_float4(r->v[0], r->v[1], r->v[2], r->v[3]);
        ((float4 *)x)[2 * at + 1] = make_float4(r->v[4], r->v[5], r->v[6], r->v[7]);
        return;
    }
    unsigned int words[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (t == DTYPE_BF16) {
            __nv_bfloat162 h = __floats2bfloat162_rn(r->v[2 * i], r->v[2 * i + 1]);
            words[i] = *(unsigned int *)&h;
        } else {
            __half2 h = __floats2half2_rn(r->v[2 * i], r->v[2 * i + 1]);
            words[i] = *(unsigned int *)&h;
        }
    }
    ((uint4 *)x)[at] = make_uint4(words[0], words[1], words[2], words[3]);
}

/* Sum, or largest, over a block of up to 1024 threads; all threads get it. */
static __device__ __forceinline__ float block_sum(float v)
{
    __shared__ float parts[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32,
        warps = (blockDim.x + 31) / 32;
    for (int step = 16; step; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    __syncthreads();
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    v = lane < warps ? parts[lane] : 0;
    for (int step = 16; step; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

static __device__ __forceinline__ float block_max(float v)
{
    __shared__ float parts[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32,
        warps = (blockDim.x + 31) / 32;
    for (int step = 16; step; step /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    __syncthreads();
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    v = lane < warps ? parts[lane] : -INFINITY;
    for (int step = 16; step; step /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

/* Blocks of 256 threads, a thread an eight of n; and threads for a row of columns. */
static inline unsigned int blocks_of(int64_t n)
{
    return (unsigned int)((n / 8 + 255) / 256);
}

static inline unsigned int threads_of(int64_t columns)
{
    int64_t eights = (columns + 7) / 8, threads = (eights + 31) / 32 * 32;
    return (unsigned int)(threads > 1024 ? 1024 : threads);
}

#endif
