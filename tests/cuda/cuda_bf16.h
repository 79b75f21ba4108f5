/* CUDA's bfloat16, on the CPU: the upper half of an fp32. */
#ifndef EMULATED_CUDA_BF16_H
#define EMULATED_CUDA_BF16_H

#include "cuda_runtime.h"

struct __nv_bfloat16 {
    uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline float __bfloat162float(__nv_bfloat16 v)
{
    return __uint_as_float((unsigned int)v.bits << 16);
}
/* To the nearest, ties to even. */
static inline __nv_bfloat16 __float2bfloat16_rn(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    if (v != v)
        return { 0x7fff };
    return { (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) };
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return { __float2bfloat16_rn(x), __float2bfloat16_rn(y) };
}
static inline __nv_bfloat162 atomicAdd(__nv_bfloat162 *at, __nv_bfloat162 v)
{
    __nv_bfloat162 old = *at;
    *at = __floats2bfloat162_rn(__bfloat162float(old.x) + __bfloat162float(v.x),
                                __bfloat162float(old.y) + __bfloat162float(v.y));
    return old;
}

#endif
