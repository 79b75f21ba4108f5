#include "buffer.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

/* A number from -1 to 1 by hashing (Wellons' lowbias32). */
static __host__ __device__ float noise(uint32_t seed, int64_t i)
{
    uint32_t x = (uint32_t)i * 0x9e3779b9u ^ (uint32_t)(i >> 32) ^ seed * 0x85ebca6bu;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return (float)(int32_t)x * (1.0f / 2147483648.0f);
}

static __global__ void fill(void *at, int64_t n, int dtype, uint32_t seed)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float v = noise(seed, i);
        if (dtype == DTYPE_FP16)
            ((__half *)at)[i] = __float2half_rn(v);
        else if (dtype == DTYPE_BF16)
            ((__nv_bfloat16 *)at)[i] = __float2bfloat16_rn(v);
        else if (dtype == DTYPE_FP8)
            ((__nv_fp8_e4m3 *)at)[i] = __nv_fp8_e4m3(v);
        else
            ((float *)at)[i] = v;
    }
}

int buffer_make(struct measure *m, struct buffer *b, enum measure_dtype dtype,
                int64_t n, uint32_t seed)
{
    b->n = n;
    b->dtype = dtype;
    b->seed = seed;
    b->at = NULL;
    TRY_CUDA(m, cudaMalloc(&b->at, (size_t)(n * dtype_bytes(dtype))));
    fill<<<2048, 256, 0, m->stream>>>(b->at, n, dtype, seed);
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

void buffer_free(struct buffer *b)
{
    cudaFree(b->at);
    b->at = NULL;
}

double buffer_expected(const struct buffer *b, int64_t i)
{
    float v = noise(b->seed, i);
    switch (b->dtype) {
    case DTYPE_FP16:
        return (double)__half2float(__float2half_rn(v));
    case DTYPE_BF16:
        return (double)__bfloat162float(__float2bfloat16_rn(v));
    case DTYPE_FP8:
        return (double)(float)__nv_fp8_e4m3(v);
    default:
        return (double)v;
    }
}

int buffer_read(struct measure *m, const struct buffer *b, int64_t i, double *value)
{
    union {
        float f;
        __half h;
        __nv_bfloat16 b;
        unsigned char bytes[4];
    } v;
    int size = dtype_bytes(b->dtype);
    TRY_CUDA(m, cudaMemcpyAsync(v.bytes, (const char *)b->at + i * size, (size_t)size,
                                cudaMemcpyDeviceToHost, m->stream));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    *value = (double)(b->dtype == DTYPE_FP16   ? __half2float(v.h)
                      : b->dtype == DTYPE_BF16 ? __bfloat162float(v.b)
                                               : v.f);
    return 0;
}

int buffer_write(struct measure *m, void *to, const void *from, size_t bytes)
{
    TRY_CUDA(m, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, m->stream));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    return 0;
}

int64_t buffer_sets(const struct measure *m, double bytes, int64_t most)
{
    double sets = 3.0 * (double)m->prop.l2CacheSize / bytes + 1;
    return sets > (double)most ? most : (int64_t)sets;
}
