/* Precisions of training: the formats of parameters and products. */
#include "model/ops.h"

const struct name_value op_precision_names[] = {
    { "fp32", OP_FP32 },
    { "tf32", OP_TF32 },
    { "fp16", OP_FP16 },
    { "bf16", OP_BF16 },
    { "fp8", OP_FP8 },
    { "fp8_current", OP_FP8_CURRENT },
    { "fp8_blockwise", OP_FP8_BLOCKWISE },
    { "mxfp8", OP_MXFP8 },
    { "nvfp4", OP_NVFP4 },
    { "amp_fp16", OP_AMP_FP16 },
    { "amp_bf16", OP_AMP_BF16 },
    { "amp_fp8", OP_AMP_FP8 },
    { NULL, 0 },
};

static const struct {
    bool autocast;
    enum dtype parameters, compute;
} precisions[OP_PRECISION_N] = {
    [OP_FP32] = { false, DTYPE_FP32, DTYPE_FP32 },
    [OP_TF32] = { false, DTYPE_FP32, DTYPE_TF32 },
    [OP_FP16] = { false, DTYPE_FP16, DTYPE_FP16 },
    [OP_BF16] = { false, DTYPE_BF16, DTYPE_BF16 },
    [OP_FP8] = { false, DTYPE_BF16, DTYPE_FP8 },
    [OP_FP8_CURRENT] = { false, DTYPE_BF16, DTYPE_FP8 },
    [OP_FP8_BLOCKWISE] = { false, DTYPE_BF16, DTYPE_FP8_BLOCK },
    [OP_MXFP8] = { false, DTYPE_BF16, DTYPE_MXFP8 },
    [OP_NVFP4] = { false, DTYPE_BF16, DTYPE_NVFP4 },
    [OP_AMP_FP16] = { true, DTYPE_FP32, DTYPE_FP16 },
    [OP_AMP_BF16] = { true, DTYPE_FP32, DTYPE_BF16 },
    [OP_AMP_FP8] = { true, DTYPE_FP32, DTYPE_FP8 },
};

bool op_is_autocast(enum op_precision p)
{
    return precisions[p].autocast;
}

enum dtype op_parameter_dtype(enum op_precision p)
{
    return precisions[p].parameters;
}

enum dtype op_compute_dtype(enum op_precision p)
{
    return precisions[p].compute;
}
