#include "model/recipe.h"

#include <stddef.h>

/* Norms: pytorch/csrc/extensions/normalization.cpp (delayed scaling fully fused, current
 * scaling fused with the search for the largest element, MXFP8 and NVFP4 with random
 * Hadamard transforms unfused). NVFP4's largest elements, of rows as they are and of
 * columns after the transform, are found by one kernel before the one that quantizes
 * both (csrc/quantizer.cpp, NVFP4Quantizer). Compute capabilities: pytorch/
 * quantization.py. Gathers: Megatron-Core 0.20,
 * core/distributed/param_and_grad_buffer.py: MXFP8's columns need 16 bits, so these are
 * gathered (in the gradients' buffer); NVFP4's rows are gathered as packed bytes.
 * Layers in 16 bits: core/transformer/transformer_config.py, not with delayed
 * scaling. */
static const struct op_recipe delayed = {
    .title = "FP8, a scale a tensor from steps before (delayed scaling)",
    .format = DTYPE_FP8,
    .arch_least = 89,
    .norm = RECIPE_NORM_QUANTIZES,
    .gather_B = 1,
};
static const struct op_recipe current = {
    .title = "FP8, a scale a tensor of its own (current scaling)",
    .format = DTYPE_FP8,
    .arch_least = 89,
    .search_B = 2,
    .norm = RECIPE_NORM_FINDS_LARGEST,
    .gather_B = 1,
    .mixes = true,
};
static const struct op_recipe blockwise = {
    .title = "FP8, a scale for 1 x 128 elements, of weights for 128 x 128 (blockwise)",
    .format = DTYPE_FP8_BLOCK,
    .arch_least = 90,
    .by_direction = true,
    .gather_B = 1,
    .mixes = true,
};
static const struct op_recipe mxfp8 = {
    .title = "MXFP8, a scale for 32 elements",
    .format = DTYPE_MXFP8,
    .arch_least = 100,
    .arch_below = 120,
    .by_direction = true,
    .gather_B = 2,
    .mixes = true,
};
static const struct op_recipe nvfp4 = {
    .title = "NVFP4, a scale for 16 elements and one a tensor",
    .format = DTYPE_NVFP4,
    .arch_least = 100,
    .by_direction = true,
    .search_B = 2,
    .gather_B = 0.5,
    .mixes = true,
};

static const struct op_recipe *const recipes[OP_PRECISION_N] = {
    [OP_FP8] = &delayed,         [OP_AMP_FP8] = &delayed,
    [OP_FP8_CURRENT] = &current, [OP_FP8_BLOCKWISE] = &blockwise,
    [OP_MXFP8] = &mxfp8,         [OP_NVFP4] = &nvfp4,
};

const struct op_recipe *op_recipe_of(enum op_precision p)
{
    return recipes[p];
}

const char *op_recipe_refusal(enum op_precision p, int64_t sm_arch)
{
    const struct op_recipe *r = recipes[p];
    if (!r || (sm_arch >= r->arch_least && (!r->arch_below || sm_arch < r->arch_below)))
        return NULL;
    if (r->arch_below && sm_arch >= r->arch_below)
        return "compute capability 10.x: above it Transformer Engine has no MXFP8";
    return r->arch_least >= 100  ? "compute capability 10.0 (Blackwell)"
           : r->arch_least >= 90 ? "compute capability 9.0 (Hopper)"
                                 : "compute capability 8.9 (Ada)";
}

/* Products of one scale a tensor read either order on Blackwell's data-center GPUs, rows
 * alone elsewhere (common/util/cuda_runtime.cpp and transformer_engine.cpp,
 * nvte_is_non_tn_fp8_gemm_supported). */
int op_recipe_copies(const struct op_recipe *r, int64_t sm_arch)
{
    bool either_order = (sm_arch >= 100 && sm_arch < 120) || sm_arch >= 130;
    return !r->by_direction && either_order ? 1 : 2;
}

bool op_recipe_transposes(const struct op_recipe *r, int64_t sm_arch)
{
    return !r->by_direction && op_recipe_copies(r, sm_arch) > 1;
}
