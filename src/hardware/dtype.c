#include "hardware/dtype.h"

#include <assert.h>
#include <stddef.h>

const struct name_value dtype_names[] = {
    { "fp32", DTYPE_FP32 },
    { "tf32", DTYPE_TF32 },
    { "fp16", DTYPE_FP16 },
    { "bf16", DTYPE_BF16 },
    { "fp8", DTYPE_FP8 },
    { "fp8_block", DTYPE_FP8_BLOCK },
    { "mxfp8", DTYPE_MXFP8 },
    { "nvfp4", DTYPE_NVFP4 },
    { NULL, 0 },
};

/* Scales: 4 B for 128 elements of a block (DeepSeek-V3, arXiv 2412.19437, 3.3.2), 1 B
 * for 32 of MXFP8 (OCP Microscaling Formats 1.0) and for 16 of NVFP4 (NVIDIA,
 * Transformer Engine's user guide, "NVFP4"). */
static const struct {
    int bytes;
    double element_B;
    enum dtype rate;
} rows[DTYPE_N] = {
    [DTYPE_FP32] = { 4, 4, DTYPE_FP32 },
    [DTYPE_TF32] = { 4, 4, DTYPE_TF32 },
    [DTYPE_FP16] = { 2, 2, DTYPE_FP16 },
    [DTYPE_BF16] = { 2, 2, DTYPE_BF16 },
    [DTYPE_FP8] = { 1, 1, DTYPE_FP8 },
    [DTYPE_FP8_BLOCK] = { 1, 1 + 4.0 / 128, DTYPE_FP8 },
    [DTYPE_MXFP8] = { 1, 1 + 1.0 / 32, DTYPE_FP8 },
    [DTYPE_NVFP4] = { 1, 0.5 + 1.0 / 16, DTYPE_NVFP4 },
};

int dtype_bytes(enum dtype t)
{
    assert((unsigned)t < DTYPE_N);
    return rows[t].bytes;
}

double dtype_element_B(enum dtype t)
{
    assert((unsigned)t < DTYPE_N);
    return rows[t].element_B;
}

bool dtype_is_quantized(enum dtype t)
{
    return rows[t].element_B < 2;
}

enum dtype dtype_rate_of(enum dtype t)
{
    return rows[t].rate;
}
