/* A GPU: datasheet figures and the efficiencies kernels reach on it.
 *
 * Read from topologies/gpus/NAME.json, once per loader. Rates are SI. Efficiencies say
 * in the file what they were fitted to ("provenance"). The kernel terms are those of
 * MODEL.md, "Kernels". */
#ifndef HARDWARE_GPU_H
#define HARDWARE_GPU_H

#include "config/cfg.h"
#include "config/provenance.h"
#include "hardware/dtype.h"

/* Tiles of the output that a library's kernels make. */
enum gemm_tiles {
    GEMM_TILES_OPEN,              /* cuBLAS's of the architecture */
    GEMM_TILES_AMPERE,            /* cuBLAS: two small ones share an SM */
    GEMM_TILES_HOPPER,            /* cuBLAS, persistent */
    GEMM_TILES_CUTLASS,           /* 128 x 128 */
    GEMM_TILES_CUTLASS_ADA,       /* by rows and columns */
    GEMM_TILES_CUTLASS_HOPPER,    /* the same in clusters of 2 x 1 */
    GEMM_TILES_CUTLASS_BLACKWELL, /* the same in clusters of 2 x 2 */
    GEMM_TILES_GROUPED,           /* of many small matrices: the best of all */
    GEMM_TILES_N
};

/* How matrix products run, per number format. */
struct gpu_gemm {
    double eta; /* share of the dense peak that the main loop reaches when cool; above 1
                   where clocks are above the data sheet's */
    double
        sustained; /* clock under the power limit of long training, over the cool one */
    double port_Bps;  /* what one SM can load from L2 */
    double port_gain; /* so many times that at most, where other SMs are idle; 0: 1 */
    double hbm_frac;  /* share of the memory bandwidth */
    double launch_s;  /* launch, fill and drain of a kernel */
    double epilogue;  /* share of the output's write that nothing hides, 0..1 */
    double partial_waves; /* share of waves that need not be whole, 0..1: persistent
                             kernels (Hopper and later) have 1 */
    /* Factors of time where rows of a matrix are not aligned as tensor cores load them:
     * of one product (an odd length), and of a batch (no multiple of 16 bytes). */
    double misaligned, misaligned_batch;
    double split_s;   /* the second kernel that adds up the parts of a split k */
    double latency_s; /* of one k of a tile's loop, at least: its loads' latency */
    enum gemm_tiles tiles;
};

/* Fused attention: a kernel without a rate of its own, when cool; versions of
 * flash-attention in long trainings. */
enum gpu_flash { GPU_FLASH_ANY, GPU_FLASH_2, GPU_FLASH_3, GPU_FLASH_N };

extern const struct name_value gpu_flash_names[]; /* as keys of the file begin */

struct gpu {
    const char *name;
    int64_t sm_arch; /* 70, 75, 80, 86, 89, 90, 100 */
    int64_t n_sms;
    int64_t memory_B;  /* total that nvidia-smi shows */
    int64_t context_B; /* CUDA context and loaded kernels, as nvidia-smi shows */
    double hbm_Bps;
    int64_t l2_B;
    double tdp_w;
    double long_clock_Hz; /* SMs' in long products, of GPUs by rule; 0: not known */
    /* clock under the power limit that the machine sets, over that under the data
     * sheet's; the "sustained" have it within */
    double limit_clock;
    double peak_flops[DTYPE_N]; /* dense; 0: the GPU has no such arithmetic */
    struct gpu_gemm gemm[DTYPE_N];
    double stream_frac; /* share of hbm_Bps that memory-bound kernels reach */
    double kernel_s;    /* shortest memory-bound kernel, launch gap included */
    /* [version][backward] share of the peak that fused attention reaches; 0: not known */
    double flash_frac[GPU_FLASH_N][2];
    /* its clock under the power limit of long training, over the cool one; 0: as
     * products of its format */
    double flash_sustained;
    double loop_loss; /* a benchmark repeats one kernel: what its power limit adds to a
                           long kernel's time; 0: nothing */
    double loop_half_s;     /* length of the kernel to which it adds half of that */
    int64_t nvlink_links;   /* 0: no NVLink */
    double nvlink_Bps;      /* of one link, one direction */
    const char *provenance; /* of the efficiencies, one sentence */
    enum provenance_kind provenance_kind;
    bool by_rule; /* data sheet alone: kernels are another's (gpu_rule.h) */
};

/* The GPU of that name; read once per loader and shared. NULL after reporting at
 * `where` (or in the file). */
const struct gpu *gpu_get(struct cfg_loader *loader, const char *name,
                          struct cfg where);

/* The SMs' clock of the data sheet: the peak of fp32 over what one does in a cycle. */
double gpu_clock_Hz(const struct gpu *gpu);

#endif
