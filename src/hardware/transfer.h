/* Dispatch and combine of experts' tokens inside an NVLink domain, as a release of
 * DeepEP runs them on a GPU: the constants of MODEL.md (C16), fitted to measured kernels.
 *
 * Read from topologies/transfers/NAME.json, NAME being the GPU's. */
#ifndef HARDWARE_TRANSFER_H
#define HARDWARE_TRANSFER_H

#include "hardware/gpu.h"

enum transfer_kind { TRANSFER_DISPATCH, TRANSFER_COMBINE, TRANSFER_KINDS };
extern const struct name_value transfer_kind_names[];

struct transfer {
    const char *software; /* "deepep via sglang 0.5.12" */
    int kind;             /* enum transfer_kind */
    double start_s;       /* launch, barriers */
    double token_s;       /* of a token on one SM, whatever its copies */
    double token_Bps;     /* of a token's bytes on one SM, whatever its copies */
    double copy_s;        /* of each copy on one SM */
    double copy_Bps;      /* of each copy's bytes on one SM */
    double rate_Bps;      /* of all copies of a GPU together: links and memory */
};

struct transfers {
    int64_t n;
    const struct transfer *v; /* in the file's order */
    const char *provenance;
};

/* NVIDIA's Hybrid-EP: few SMs fill the links. Not measured. */
extern const struct transfer transfer_hybrid;

/* What the file of a GPU holds; read once per loader and shared. NULL after reporting
 * at `where` (or in the file). */
const struct transfers *transfers_get(struct cfg_loader *loader, const char *gpu,
                                      struct cfg where);

/* That of a release and direction; of another release where it has none. NULL: the file
 * has none of that direction. */
const struct transfer *transfers_find(const struct transfers *all, const char *software,
                                      enum transfer_kind kind);

#endif
