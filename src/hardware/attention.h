/* Fused attention, forward, as a release of some software runs it on a GPU: the
 * constants of MODEL.md (3.22), fitted to measured kernels.
 *
 * Read from topologies/attention/NAME.json, NAME being the GPU's. GPU files (gpu.h) say
 * how attention runs in training; these say how benchmarks of inference software ran
 * it, with what its call adds (rotary embeddings, the cache's write). */
#ifndef HARDWARE_ATTENTION_H
#define HARDWARE_ATTENTION_H

#include "hardware/gpu.h"

struct attention {
    const char *software; /* "vllm 0.24.0" */
    const char *kernel;   /* which it calls, where that is known; NULL */
    double product_flops; /* rate of both products, of the whole GPU */
    double softmax_s;     /* of one score, on one SM */
    double tail;          /* of light and heavy rows mixed: tiles of a row of tiles */
    int64_t half_blocks;  /* head's columns from which a block has 64 queries, not 128;
                             0: none has */
    double start_s;       /* launch, fill, drain */
    double moved_Bps;     /* queries and results; nothing hides them */
    double keys_Bps; /* keys and values, with their way through a cache; 0: as those */
    double block_s;  /* of 128 queries of a head */
    double token_s;  /* of each token, whatever the heads */
};

struct attentions {
    int64_t n;
    const struct attention *v; /* in the file's order */
    const char *provenance;
};

/* What the file of a GPU's attention holds; read once per loader and shared. NULL after
 * reporting at `where` (or in the file). */
const struct attentions *attentions_get(struct cfg_loader *loader, const char *gpu,
                                        struct cfg where);

/* That of a release; of another release of the software where it has none, and else
 * the first. NULL: the file has none. */
const struct attention *attentions_find(const struct attentions *all,
                                        const char *software);

#endif
