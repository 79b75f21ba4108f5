#include "hardware/dtype.h"

#include <assert.h>
#include <stddef.h>

const struct name_value dtype_names[] = {
    { "fp32", DTYPE_FP32 }, { "tf32", DTYPE_TF32 }, { "fp16", DTYPE_FP16 },
    { "bf16", DTYPE_BF16 }, { "fp8", DTYPE_FP8 },   { NULL, 0 },
};

int dtype_bytes(enum dtype t)
{
    static const int bytes[DTYPE_N] = {
        [DTYPE_FP32] = 4, [DTYPE_TF32] = 4, [DTYPE_FP16] = 2,
        [DTYPE_BF16] = 2, [DTYPE_FP8] = 1,
    };

    assert((unsigned)t < DTYPE_N);
    return bytes[t];
}
