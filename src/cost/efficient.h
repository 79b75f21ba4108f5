/* PyTorch's memory-efficient attention: xformers' CUTLASS kernels, which SDPA takes where
 * flash-attention cannot (a mask that is a tensor, 32 bits, old GPUs). */
#ifndef COST_EFFICIENT_H
#define COST_EFFICIENT_H

#include "hardware/gpu.h"
#include "model/ops.h"

/* Its rate over flash-attention 2's, of an operator of fused attention in 16 bits from
 * sm80 on (MODEL.md, 3.29, 3.32); 1 for other kernels, and where the GPU's file has a rate
 * of its own. */
double efficient_attention_rate(const struct gpu *gpu, const struct op *op);

#endif
