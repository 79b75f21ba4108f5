/* CUDA's 16-bit floating-point numbers, on the CPU. */
#ifndef EMULATED_CUDA_FP16_H
#define EMULATED_CUDA_FP16_H

#include "cuda_runtime.h"
#include "minifloat.h"

struct __half {
    uint16_t bits;
};
struct alignas(4) __half2 {
    __half x, y;
};

static inline __half __float2half_rn(float v)
{
    unsigned int sign = signbit(v) ? 0x8000 : 0;
    unsigned int code = v != v            ? 0x7fff
                        : fabsf(v) > 1e5f ? 0x7c00
                                          : minifloat_code(fabsf(v), 10, -24);
    return { (uint16_t)(sign | (code > 0x7c00 && v == v ? 0x7c00 : code)) };
}
static inline float __half2float(__half v)
{
    unsigned int code = v.bits & 0x7fffu;
    float size = code > 0x7c00    ? NAN
                 : code == 0x7c00 ? INFINITY
                                  : minifloat_size(code, 10, -24);
    return v.bits & 0x8000 ? -size : size;
}
static inline __half2 __floats2half2_rn(float x, float y)
{
    return { __float2half_rn(x), __float2half_rn(y) };
}
static inline float2 __half22float2(__half2 v)
{
    return { __half2float(v.x), __half2float(v.y) };
}
static inline __half2 atomicAdd(__half2 *at, __half2 v)
{
    __half2 old = *at;
    *at = __floats2half2_rn(__half2float(old.x) + __half2float(v.x),
                            __half2float(old.y) + __half2float(v.y));
    return old;
}

#endif
