/* The law of matrix products: tiles, waves and splits of k on SMs, joined with memory
 * traffic; MODEL.md (3.1) to (3.6). Pure functions. About 0.1 us a call. */
#ifndef COST_GEMM_H
#define COST_GEMM_H

#include "hardware/gpu.h"

/* What all candidates of one product have in common. Rates are of one SM. */
struct gemm {
    double m, n, batch;
    int64_t k;
    double sms;                 /* left to this kernel */
    double flops;               /* per SM */
    double port_Bps;            /* per SM ... */
    double port_gain;           /* ... so many times at most, where others are idle */
    double latency_s;           /* of one k of a tile's loop, at least */
    double hbm_Bps;             /* of the GPU, as this kernel reaches it */
    double element_B, result_B; /* fp8 products write 16 bits */
    double launch_s, split_s, epilogue;
    double partial_waves; /* 0..1 */
    enum gemm_tiles tiles;
    /* Products of many matrices with rows of their own: tiles of 2^i rows, by i, and
     * matrices read; m counts all rows. NULL: one matrix, or `batch` alike. */
    const double *blocks;
    double groups;
};

/* Seconds of the best tile and split. */
double gemm_s(const struct gemm *g);

/* cuBLAS's tiles on an architecture, which profiles without "tiles" have. */
enum gemm_tiles gemm_tiles_of(int64_t sm_arch);

#endif
