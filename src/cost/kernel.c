#include "cost/kernel.h"

#include "cost/efficient.h"
#include "cost/gemm.h"

#include <math.h>

const struct kernel_share kernel_alone = { 1, 1 };

struct kernel_share kernel_overlapped(const struct gpu *gpu, struct kernel_share share,
                                      double sms, double memory_Bps)
{
    static const double memory_least = 0.1; /* of a slow GPU with fast links */
    double memory = 1 - memory_Bps / (gpu->stream_frac * gpu->hbm_Bps);
    return (struct kernel_share) {
        .sms = fmin(share.sms, 1 - sms),
        .memory = fmin(share.memory, fmax(memory, memory_least)),
    };
}

/* a / b rounded up, for whole numbers below 2^52. */
static inline double ceil_div(double a, double b)
{
    return (double)(int64_t)((a + b - 1) / b);
}

static double sms_left(const struct gpu *gpu, struct kernel_share share)
{
    double sms = floor((double)gpu->n_sms * share.sms + 1e-9);
    return sms < 1 ? 1 : sms;
}

/* Tensor cores load rows of whole pieces: 16 bytes in batches of products (attention),
 * 4 bytes in a single one. Rows of the operands and of the result are k or n long; a
 * product whose rows are not goes through slower kernels. */
bool kernel_gemm_is_aligned(enum dtype dtype, int64_t n, int64_t k, int64_t batch)
{
    enum { PIECE_B = 4, BATCH_PIECE_B = 16 };
    int64_t element_B = (int64_t)dtype_bytes(dtype);
    int64_t piece_B = batch > 1 ? BATCH_PIECE_B : PIECE_B;
    return n * element_B % piece_B == 0 && k * element_B % piece_B == 0;
}

static double misalignment(const struct gpu_gemm *p, enum dtype dtype, int64_t n,
                           int64_t k, int64_t batch)
{
    if (kernel_gemm_is_aligned(dtype, n, k, batch))
        return 1;
    return batch > 1 ? p->misaligned_batch : p->misaligned;
}

/* Of an element that a product writes: 16 bits where it reads fewer. */
static double result_B(enum dtype dtype)
{
    return fmax(dtype_element_B(dtype), 2);
}

double kernel_gemm_s(const struct gpu *gpu, enum dtype dtype, int64_t m, int64_t n,
                     int64_t k, int64_t batch, bool sustained,
                     struct kernel_share share)
{
    const struct gpu_gemm *p = &gpu->gemm[dtype];
    double clock = sustained ? p->sustained : 1;
    double slower = misalignment(p, dtype, n, k, batch);
    struct gemm g = {
        .m = (double)m,
        .n = (double)n,
        .batch = (double)batch,
        .k = k,
        .sms = sms_left(gpu, share),
        .flops = p->eta * clock * gpu->peak_flops[dtype] / (double)gpu->n_sms / slower,
        .port_Bps = p->port_Bps / slower,
        .port_gain = p->port_gain,
        .latency_s = p->latency_s,
        .hbm_Bps = p->hbm_frac * gpu->hbm_Bps * share.memory,
        .element_B = dtype_element_B(dtype),
        .result_B = result_B(dtype),
        .launch_s = p->launch_s,
        .split_s = p->split_s,
        .epilogue = p->epilogue,
        .partial_waves = p->partial_waves,
        .tiles = p->tiles ? p->tiles : gemm_tiles_of(gpu->sm_arch),
    };
    return gemm_s(&g);
}

double kernel_looped_s(const struct gpu *gpu, double alone_s)
{
    if (alone_s <= 0)
        return alone_s;
    return alone_s * (1 + gpu->loop_loss * alone_s / (alone_s + gpu->loop_half_s));
}

/* Fitted to the kernels data, which are vLLM's, with the constants of fused attention
 * below (MODEL.md, 3.13). */
double kernel_paged_s(double tokens, int64_t heads)
{
    static const double token_s = 9.6e-9, hidden_heads = 26;
    return token_s * tokens * fmax(0, 1 - (double)heads / hidden_heads);
}

double kernel_stream_s(const struct gpu *gpu, double bytes, struct kernel_share share)
{
    return gpu->kernel_s + bytes / (gpu->stream_frac * gpu->hbm_Bps * share.memory);
}

/* Constants of (9), fitted to flash-attention on A100 (causal, forward, head_dim 128;
 * MODEL.md, "Kernels"). Time per thread block and the tail are taken to be
 * the same on other GPUs. */
enum { FLASH_TILE = 128, FLASH_NARROW = 64 };
static const double flash_tail = 0.485;         /* light and heavy rows mixed */
static const double flash_start_s = 6.1e-6;     /* launch, fill, drain */
static const double flash_block_s = 0.8e-6;     /* each block of 128 queries */
static const double flash_hbm_frac = 0.576;     /* 1.17 TB/s of 2.039 */
static const double flash_backward_flops = 2.5; /* over forward */

/* Pairs of 128 x 128 tiles that one sequence and head visits. */
static double flash_pairs(double rows, double columns, int64_t n, bool causal)
{
    if (n <= FLASH_NARROW)
        return 0.5 * rows;
    return causal && columns >= rows ? rows * (columns - rows) + rows * (rows + 1) / 2
                                     : rows * columns;
}

double kernel_flash_width(int64_t head_dim)
{
    bool of_256 = head_dim > 192 && head_dim <= 256;
    return of_256 ? 256 : 32 * ceil_div((double)head_dim, 32);
}

/* PyTorch's memory-efficient attention of fp32 numbers makes a product of three of tensor
 * cores, whether tf32 is allowed or not (MODEL.md, 3.27). */
static double flash_peak_flops(const struct gpu *gpu, enum dtype dtype)
{
    enum { PRODUCTS = 3 }; /* big x big, big x small, small x big */
    double tf32 = gpu->peak_flops[DTYPE_TF32];
    bool wide = dtype == DTYPE_FP32 || dtype == DTYPE_TF32;
    return wide && tf32 > 0 ? tf32 / PRODUCTS : gpu->peak_flops[dtype];
}

/* Clock of fused attention in long trainings over the cool one. */
static double flash_clock(const struct gpu *gpu, enum dtype dtype)
{
    return gpu->flash_sustained > 0 ? gpu->flash_sustained : gpu->gemm[dtype].sustained;
}

double kernel_flash_s(const struct gpu *gpu, const struct kernel_flash *k,
                      struct kernel_share share)
{
    double sms = sms_left(gpu, share), d = (double)k->head_dim, h = (double)k->heads;
    double rows = ceil_div((double)k->m, FLASH_TILE),
           columns = ceil_div((double)k->n, FLASH_TILE);
    double frac = gpu->flash_frac[GPU_FLASH_ANY][k->backward];
    double clock = k->sustained ? flash_clock(gpu, k->dtype) : 1;
    double sm_flops =
        frac * clock * flash_peak_flops(gpu, k->dtype) / (double)gpu->n_sms;
    double pair_flops = 4.0 * FLASH_TILE * FLASH_TILE * kernel_flash_width(k->head_dim);
    double pair_s = pair_flops * (k->backward ? flash_backward_flops : 1) / sm_flops;
    double busiest = h * flash_pairs(rows, columns, k->n, k->causal) / sms +
                     (k->causal ? flash_tail * columns : 0);
    double moved_B = dtype_bytes(k->dtype) * h * d * 2 * (double)(k->m + k->n) *
                     (k->backward ? 2 : 1);
    return flash_start_s + pair_s * fmax(busiest, columns) +
           moved_B / (flash_hbm_frac * gpu->hbm_Bps * share.memory) +
           flash_block_s * h * rows / sms;
}

/* A product's bias sums and the like: bytes beyond its operands, launches beyond
 * one. */
static double gemm_extra_s(const struct gpu *gpu, const struct op *op, double factor,
                           struct kernel_share share)
{
    double m = (double)op->m, n = (double)op->n, k = (double)op->k;
    double operands_B =
        (double)op->batch *
        (dtype_element_B(op->dtype) * (m * k + n * k) + result_B(op->dtype) * m * n);
    double extra_B = fmax(0, op->read_B + op->write_B - operands_B);
    double rate = gpu->stream_frac * gpu->hbm_Bps * share.memory;
    return (op->launches > 1 ? op->launches - 1 : 0) * gpu->kernel_s +
           factor * extra_B / rate;
}

/* Fused attention in the mean layer: with a window a row of tiles visits the window's
 * columns, and one more that it begins in (MODEL.md, 3.14). */
static double op_flash_s(const struct gpu *gpu, const struct op *op,
                         struct kernel_share share)
{
    int64_t pieces = op->pieces > 1 ? op->pieces : 1, band = op->window + FLASH_TILE;
    struct kernel_flash k = { .dtype = op->dtype,
                              .m = op->m,
                              .n = op->n / pieces,
                              .head_dim = op->k,
                              .heads = op->batch,
                              .causal = op->causal,
                              .backward = op->backward,
                              .sustained = true };
    double all_s = kernel_flash_s(gpu, &k, share);
    if (op->windowed <= 0 || band >= op->n)
        return (double)pieces * all_s;
    k.n = band;
    k.causal = false;
    double band_s = kernel_flash_s(gpu, &k, share);
    return (1 - op->windowed) * all_s + op->windowed * fmin(all_s, band_s);
}

/* A kernel of a state's scan. No measurement of one is public with its sizes: Triton's
 * kernels for Mamba-2 are said to be bound by memory and latency (pytorch.org/blog,
 * "Accelerating Mamba2 with kernel fusion", 2026). So each SM is taken to move so many
 * bytes a clock. That is fitted to the rows of Nemotron 3 Nano in half of the groups of
 * megatron_bridge_performance, on H100 and GB300: a share of the memory's rate does not
 * fit both (MODEL.md, 3.20). */
static const double scan_sm_B = 3.3;
static const double scan_flops_frac = 0.12;

static double op_scan_s(const struct gpu *gpu, const struct op *op,
                        struct kernel_share share)
{
    double sms = sms_left(gpu, share);
    double clock =
        gpu->gemm[op->dtype].sustained > 0 ? gpu->gemm[op->dtype].sustained : 1;
    double flops =
        scan_flops_frac * clock * gpu->peak_flops[op->dtype] * sms / (double)gpu->n_sms;
    double Bps = fmin(scan_sm_B * gpu_clock_Hz(gpu) * sms,
                      gpu->stream_frac * gpu->hbm_Bps * share.memory);
    return fmax(1, op->launches) * gpu->kernel_s +
           fmax(flops > 0 ? op->flops / flops : 0, (op->read_B + op->write_B) / Bps);
}

static double op_gemm_s(const struct gpu *gpu, const struct op *op,
                        struct kernel_share share)
{
    int64_t times = op->serial > 1 ? op->serial : 1;
    return (double)times * kernel_gemm_s(gpu, op->dtype, op->m, op->n, op->k,
                                         op->batch / times, true, share);
}

double kernel_op_s(const struct gpu *gpu, const struct op *op, double factor,
                   struct kernel_share share)
{
    double slower = op->slower > 0 ? op->slower : 1;
    switch (op->kind) {
    case OP_GEMM:
        return slower * op_gemm_s(gpu, op, share) +
               gemm_extra_s(gpu, op, factor, share);
    case OP_FLASH:
        return op_flash_s(gpu, op, share);
    case OP_SCAN:
        return op_scan_s(gpu, op, share);
    case OP_STREAM:
        break;
    }
    double bytes = slower * factor * (op->read_B + op->write_B);
    return kernel_stream_s(gpu, bytes, share) +
           (op->launches > 1 ? op->launches - 1 : 0) * gpu->kernel_s;
}

static double traffic_factor(const struct framework *fw, bool half, const struct op *op)
{
    if (op->scores && fw->rates.score_factor > 0)
        return fw->rates.score_factor;
    if (op->scattered && fw->experts.scatter_sm_B > 0)
        return 1;
    return half ? fw->rates.stream_factor_16bit : fw->rates.stream_factor;
}

/* What SMs move in a clock; 0: as much as memory gives (MODEL.md, 3.21, R11.9). */
static double sm_bytes(const struct framework *fw, const struct op *op)
{
    return op->scattered && fw->experts.scatter_sm_B > 0 ? fw->experts.scatter_sm_B
                                                         : fw->rates.stream_sm_B;
}

/* The factor by which SMs are slower than the memory. */
static double sm_factor(const struct gpu *gpu, const struct framework *fw,
                        const struct op *op, struct kernel_share share)
{
    if (op->kind != OP_STREAM || sm_bytes(fw, op) <= 0)
        return 1;
    double sms_Bps = sm_bytes(fw, op) * gpu_clock_Hz(gpu) * sms_left(gpu, share);
    return fmax(1, gpu->stream_frac * gpu->hbm_Bps * share.memory / sms_Bps);
}

enum gpu_flash kernel_flash_version(const struct gpu *gpu, const struct framework *fw,
                                    const struct op *op)
{
    bool third = op->flash3 || op->cudnn || fw->rates.flash3;
    if (third && gpu->flash_frac[GPU_FLASH_3][op->backward] > 0)
        return GPU_FLASH_3;
    return fw->rates.flash2 && gpu->flash_frac[GPU_FLASH_2][op->backward] > 0
               ? GPU_FLASH_2
               : GPU_FLASH_ANY;
}

/* Clock of attention that reaches so much of the peak, between its block's products, over
 * that which it keeps alone without a limit of power (MODEL.md, 3.28). */
static double flash_clock_between(const struct gpu *gpu, const struct op *op,
                                  double frac)
{
    const struct gpu_gemm *law = &gpu->gemm[op->dtype];
    if (law->eta <= 0 || law->sustained <= 0)
        return gpu->limit_clock;
    double unlimited = law->sustained / gpu->limit_clock;
    double products = op->products / (law->eta * unlimited), own = 1 / frac;
    double share = products / (products + own);
    return gpu->limit_clock / cbrt(share / pow(unlimited, 3) + 1 - share);
}

/* Backward of heads whose values have other columns than their keys (latent attention)
 * on data-centre Blackwell, over that of heads of 128 (MODEL.md, 3.31). */
static double uneven_rate(const struct gpu *gpu, const struct op *op)
{
    enum { BLACKWELL = 100, CLIENT = 120 };
    bool known = gpu->sm_arch >= BLACKWELL && gpu->sm_arch < CLIENT;
    return known && op->uneven && op->backward ? 1 / 1.17 : 1;
}

/* cuDNN's attention over that of (3.8), where the GPU's file has no rate of a third
 * version: what Transformer Engine's, which is the same, was fitted to
 * (models/frameworks/megatron-core.json; MODEL.md, 3.30). */
static const double cudnn_rate = 1.14;

/* The same on Hopper over flash-attention 3's rates (MODEL.md, 3.26). */
static double cudnn_over_flash3(const struct op *op)
{
    return op->flash3 ? 1 : op->backward ? 1.29 : 1.17;
}

/* Rate of the framework's fused attention over that of (3.8). */
static double flash_rate(const struct gpu *gpu, const struct framework *fw,
                         const struct op *op)
{
    if (op->kind != OP_FLASH)
        return 1;
    double kind = (op->sinks ? fw->rates.flash_sinks : 1) *
                  efficient_attention_rate(gpu, op) * uneven_rate(gpu, op);
    enum gpu_flash version = kernel_flash_version(gpu, fw, op);
    if (op->cudnn && version != GPU_FLASH_3)
        return kind * cudnn_rate;
    if (version == GPU_FLASH_ANY)
        return kind *
               (op->backward ? fw->rates.flash_backward : fw->rates.flash_forward);
    double any = gpu->flash_frac[GPU_FLASH_ANY][op->backward],
           own = gpu->flash_frac[version][op->backward];
    if (version == GPU_FLASH_3)
        own *= cudnn_over_flash3(op);
    return kind * own * flash_clock_between(gpu, op, own) /
           (any * flash_clock(gpu, op->dtype));
}

double kernel_framework_s(const struct gpu *gpu, const struct framework *fw, bool half,
                          const struct op *op, struct kernel_share share)
{
    double factor = traffic_factor(fw, half, op) * sm_factor(gpu, fw, op, share);
    return kernel_op_s(gpu, op, factor, share) / flash_rate(gpu, fw, op);
}
