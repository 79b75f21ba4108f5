/* Experts of one rank, forward, as a release of some software runs them on a GPU: the
 * constants of MODEL.md (3.20), fitted to measured calls of both products, the gate
 * between them, and the permutation of tokens before and after.
 *
 * Read from topologies/experts/NAME.json, NAME being the GPU's. GPU files (gpu.h) say
 * how products run in training; these say how benchmarks of inference software ran
 * experts. */
#ifndef HARDWARE_EXPERTS_H
#define HARDWARE_EXPERTS_H

#include "hardware/product.h"

struct experts_kernel {
    const char *software; /* "vllm 0.24.0" */
    const struct product_format *format;
    double eta, port_Bps, hbm_frac, epilogue, partial_waves; /* as struct gpu_gemm */
    double start_s;      /* of all kernels together */
    double local_passes; /* over the rank's slots, as a share of the bandwidth */
    double all_passes;   /* the same over the slots of all ranks */
    double slot_s;       /* of each slot of all ranks: sorting, positions */
    double expert_s;     /* of each expert of the rank */
    double foreign;      /* share of other ranks' slots that are computed in vain */
};

struct experts_kernels {
    int64_t n;
    const struct experts_kernel *v; /* in the file's order */
    const char *provenance;
};

/* What the file of a GPU's experts holds; read once per loader and shared. NULL after
 * reporting at `where` (or in the file). */
const struct experts_kernels *experts_get(struct cfg_loader *loader, const char *gpu,
                                          struct cfg where);

/* Those of a software's release in a format; of another release where that one has
 * none, and else of any software. NULL: nobody measured the format. */
const struct experts_kernel *experts_find(const struct experts_kernels *all,
                                          const char *software, const char *format);

/* Whether experts of these sizes have a gate, where a table does not say it. */
bool experts_are_gated(int64_t hidden, int64_t ffn);

#endif
