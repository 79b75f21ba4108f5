/* CUDA's fp8 of four exponent bits (no infinities; largest 448), on the CPU. */
#ifndef EMULATED_CUDA_FP8_H
#define EMULATED_CUDA_FP8_H

#include "cuda_runtime.h"
#include "minifloat.h"

struct __nv_fp8_e4m3 {
    uint8_t bits;

    __nv_fp8_e4m3() = default;
    explicit __nv_fp8_e4m3(float v)
    {
        unsigned int code = minifloat_code(fminf(fabsf(v), 448), 3, -9);
        bits = (uint8_t)((signbit(v) ? 0x80 : 0) | code);
    }
    explicit operator float() const
    {
        float size = minifloat_size(bits & 0x7fu, 3, -9);
        return bits & 0x80 ? -size : size;
    }
};

#endif
