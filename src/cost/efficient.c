#include "cost/efficient.h"

#include "cost/kernel.h"

#include <math.h>

enum { AMPERE = 80, NARROW = 64, WIDE = 128, OF_CLIENTS = 96 };

/* About twice as slow as flash-attention 2 (arXiv 2307.08691, 4.1). */
static const double half = 0.5;

/* Times as long where results are kept in memory, not in registers: fitted to six rows of
 * universal-llm-trainer on RTX PRO 6000 (docs/validation/published-elsewhere-7.md). */
static const double in_memory = 2.25;

/* Whether a block has 99 KiB of shared memory, and 163 and more elsewhere (CUDA's guide,
 * technical specifications by compute capability). */
static bool has_small_blocks(const struct gpu *gpu)
{
    return gpu->sm_arch == 86 || gpu->sm_arch == 89 || gpu->sm_arch >= 120;
}

/* Whether results of these columns stay in registers (generate_kernels.py: output_in_rf);
 * sm86 and sm89 have a kernel of their own for 96. */
static bool is_in_registers(const struct gpu *gpu, const struct op *op)
{
    if (op->k <= NARROW || op->k > WIDE || !op->backward || !has_small_blocks(gpu))
        return op->k <= WIDE;
    return op->k <= OF_CLIENTS && gpu->sm_arch < 120;
}

/* FLOPs over those that (3.8) counts: products whose results have the head's columns are
 * made for 64 or 128 of them at once: one of two forward, three of five backward. */
static double padding(const struct op *op)
{
    double block = op->k <= NARROW ? NARROW : WIDE,
           over = ceil((double)op->k / block) * block / kernel_flash_width(op->k);
    return op->backward ? (2 + 3 * over) / 5 : (1 + over) / 2;
}

double efficient_attention_rate(const struct gpu *gpu, const struct op *op)
{
    if (!op->efficient || gpu->sm_arch < AMPERE || dtype_bytes(op->dtype) > 2)
        return 1;
    return half / padding(op) / (is_in_registers(gpu, op) ? 1 : in_memory);
}
