/* How a model is cut into pipeline stages: which modules (embedding, layers, head) each
 * stage, or each chunk of a stage with virtual stages, holds.
 *
 *     modules   e l l l l l l l l h       4 stages, 1 chunk each
 *     parts    [e l l][l l][l l][l l h]
 *
 * Modules are in order of execution, each with its computation and its memory in any
 * unit; only shares count, so this layer needs to know nothing of time. Parts are
 * listed in order of execution: part = chunk x n_stages + stage, but of a V's second
 * chunk (n_stages - 1 - stage), so that stage 0 has the last part. The embedding is in
 * the first, the head in the last, what is no layer between them stays with the layer
 * after it. Every part holds at least one layer, but where counts are given or
 * embedding and head count as layers: a part may then have these alone, or nothing.
 * PARTITION_COMPUTE may put the head, or what comes after it, on a part of its own.
 * SMP may put the head on the first stage: one that is tied to the embedding,
 * since modules that share a parameter go to one device, and with PARTITION_SMP_TREE
 * small ones after a large container. Under SMP's schedules the stream then returns
 * there after the last layers ("head_returns"):
 *
 *     parts    [e l l, h][l l][l l][l l]      head_returns: h runs after the last l */
#ifndef LAYOUT_PARTITION_H
#define LAYOUT_PARTITION_H

#include "base/arena.h"
#include "base/err.h"
#include "layout/parallelism.h"

/* One module: the embedding, a layer, or the head. */
struct partition_module {
    double compute, memory, parameters; /* costs, each in a unit of its own */
    double weights;                     /* of its products, whole: PARTITION_COMPUTE */
    bool layer;                         /* else embedding, head or what is between */
    bool mtp; /* predicts further tokens, up to its logits: after the layers */
};

struct partition_part {
    int64_t first_layer, n_layers;
    bool has_embedding, has_head;
    bool has_mtp; /* layers that predict further tokens, whose logits the head makes */
    bool
        has_loss; /* what comes after the head; with it, but PARTITION_COMPUTE may put it
                      on the next stage */
    double compute, memory; /* sums over the part's modules */
};

struct partition {
    int64_t n_stages, n_chunks; /* stages; chunks of each (virtual stages) */
    bool head_returns;          /* the head is one more chunk, of the first stage */
    bool folds; /* every other row of parts goes from the last stage to the first */
    struct partition_part *parts; /* [n_chunks x n_stages], in order of execution */
    double compute, memory;       /* of the whole model */
};

/* What to cut, and how. memory_weight and layers (of PARTITION_MANUAL, [stages x
 * chunks]) are used by the methods that have them. */
struct partition_request {
    enum partition_method method;
    int64_t n_stages, n_chunks;
    double memory_weight;
    const int64_t *layers;
    int64_t mtp_part; /* of layers that predict further tokens, from 1; 0: the head's */
    const struct partition_module *modules;
    int64_t n_modules;
    bool tied;    /* head and embedding share their matrix: one module to SMP's tree */
    bool returns; /* the stream may go back to the first stage: SMP's schedules */
    bool folds;   /* parts lie as a V: of schedules "zb-v" and "dualpipe-v" */
};

/* Fails when there are fewer layers than parts, the manual counts do not add up, layers
 * and ends do not come out even, or the tree's cut leaves a stage without layers. O(parts^2 x log n). */
int partition_make(struct partition *p, struct arena *arena,
                   const struct partition_request *request, struct err *err);

/* How many of embedding and head the method counts as layers. */
int64_t partition_ends(enum partition_method method);

/* The most stages that so many layers can be cut into: those that embedding and head may
 * fill alone are among them. */
int64_t partition_most(enum partition_method method, int64_t layers);

/* Chunks that a stage's passes are counted by: those of its layers, and that of a head
 * to which the stream returns, which stages other than the first leave empty. */
int64_t partition_chunks(const struct partition *p);

/* Number of the part that is the stage's chunk, and the stage of a part. */
int64_t partition_part(int64_t n_stages, bool folds, int64_t stage, int64_t chunk);
int64_t partition_stage(int64_t n_stages, bool folds, int64_t part);

/* The stage that holds the head. */
int64_t partition_head_stage(const struct partition *p);

/* The stage with layers that predict further tokens, where the model has some. */
int64_t partition_mtp_stage(const struct partition *p);

/* Parts of partition_make, for tests ----------------------------------------- */

/* Cuts costs[n] (not negative) into k <= n contiguous segments with the least largest
 * sum; ends[i] is one after segment i's last. Of equal cuts the one whose last segment
 * is longest, then the same for what is in front of it: 2 2 3 3 of ten in four. */
void partition_min_max(const double *costs, int64_t n, int64_t k, int64_t *ends);

/* The same, each segment filled before the next begins: 3 3 3 1 of ten in four, as
 * DeepSpeed's partition_balanced until 2023. One item is left to each segment
 * after. */
void partition_fill_first(const double *costs, int64_t n, int64_t k, int64_t *ends);

/* Gives `devices` to n segments by D'Hondt's quotients cost / (given + 1). */
void partition_dhondt(const double *costs, int64_t n, int64_t devices, int64_t *given);

#endif
