/* Time of one operator on one GPU: launch, and the larger of arithmetic (tiles, waves,
 * splits) and memory traffic. Pure functions; no caches, no state. Equations: MODEL.md,
 * "Kernels". About 0.1 us a call for a matrix product. */
#ifndef COST_KERNEL_H
#define COST_KERNEL_H

#include "hardware/gpu.h"
#include "model/ops.h"

/* Share of the GPU left to compute kernels during communication kernels:
 * 1 when alone. */
struct kernel_share {
    double sms;    /* 0..1 */
    double memory; /* 0..1 */
};

extern const struct kernel_share kernel_alone;

/* What a communication kernel that occupies `sms` (0..1) and moves `memory_Bps` leaves
 * of the GPU, and at most `share`; MODEL.md (3.10), (3.11). */
struct kernel_share kernel_overlapped(const struct gpu *gpu, struct kernel_share share,
                                      double sms, double memory_Bps);

/* C[m,n] = A[m,k] B[k,n], `batch` of them. `sustained`: clocks of long training (false:
 * the short bursts of kernel benchmarks). Seconds. */
double kernel_gemm_s(const struct gpu *gpu, enum dtype dtype, int64_t m, int64_t n,
                     int64_t k, int64_t batch, bool sustained,
                     struct kernel_share share);

/* Whether its rows are whole pieces, so that no term of misalignment is in it. */
bool kernel_gemm_is_aligned(enum dtype dtype, int64_t n, int64_t k, int64_t batch);

/* What a kernel of `alone_s` takes when a benchmark repeats it in a loop, long enough
 * for the power limit to lower the clocks of long ones. Seconds; MODEL.md (3.12). */
double kernel_looped_s(const struct gpu *gpu, double alone_s);

/* What a server's paged cache of keys and values adds to fused attention over so many
 * tokens of `heads` heads. Seconds; MODEL.md (3.13). */
double kernel_paged_s(double tokens, int64_t heads);

/* A memory-bound kernel that moves `bytes`. */
double kernel_stream_s(const struct gpu *gpu, double bytes, struct kernel_share share);

/* Fused attention: `heads` sequences x heads of m queries over n keys of head_dim. */
struct kernel_flash {
    enum dtype dtype;
    int64_t m, n, head_dim, heads;
    bool causal, backward;
    bool sustained; /* clocks of long training, not of a short burst */
};

/* The columns that a head of so many is computed as (3.8). */
double kernel_flash_width(int64_t head_dim);

/* Seconds of it. */
double kernel_flash_s(const struct gpu *gpu, const struct kernel_flash *k,
                      struct kernel_share share);

/* One operator of the list, all its launches. `factor` scales memory-bound bytes: what
 * the framework moves over what the list counts. */
double kernel_op_s(const struct gpu *gpu, const struct op *op, double factor,
                   struct kernel_share share);

/* The version of flash-attention that the operator runs, of those whose rate on the GPU
 * is known (MODEL.md, 3.23, 3.26). */
enum gpu_flash kernel_flash_version(const struct gpu *gpu, const struct framework *fw,
                                    const struct op *op);

/* The same by a framework's profile: its bytes over the list's, its fused attention.
 * `half`: products read 16-bit numbers. */
double kernel_framework_s(const struct gpu *gpu, const struct framework *fw, bool half,
                          const struct op *op, struct kernel_share share);

#endif
