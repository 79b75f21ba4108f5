/* How a model is cut into pipeline stages: which modules (embedding, layers, head) each
 * stage, or each chunk of a stage with virtual stages, holds.
 *
 *     modules   e l l l l l l l l h       4 stages, 1 chunk each
 *     parts    [e l l][l l][l l][l l h]
 *
 * Modules stand in order of execution, each with its computation and its memory in any
 * unit; only shares count, so this layer needs to know nothing of time. Parts are listed
 * in order of execution: part = chunk x n_stages + stage. Every part holds at least one
 * layer, except as PARTITION_SMP_TREE and PARTITION_PARAMETERS cut. */
#ifndef PARALLEL_PARTITION_H
#define PARALLEL_PARTITION_H

#include "base/arena.h"
#include "base/err.h"
#include "parallel/scenario.h"

/* One module: the embedding, a layer, or the head. */
struct partition_module {
    double compute, memory; /* costs, each in a unit of its own */
    bool layer;             /* else an end: embedding or head */
};

struct partition_part {
    int64_t first_layer, n_layers;
    bool has_embedding, has_head;
    double compute, memory; /* sums over the part's modules */
};

struct partition {
    int64_t n_stages, n_chunks;   /* stages; chunks of each (virtual stages) */
    struct partition_part *parts; /* [n_chunks x n_stages], in order of execution */
    double compute, memory;       /* of the whole model */
};

/* Cuts `n` modules: the ends stand first and last. memory_weight and layers (of
 * PARTITION_MANUAL, [stages x chunks]) are used by the methods that have them. Fails
 * when there are fewer layers than parts, or the manual counts do not add up. Costs of
 * the search: O(n x parts x log n). */
struct partition_request {
    enum partition_method method;
    int64_t n_stages, n_chunks;
    double memory_weight;
    const int64_t *layers;
    const struct partition_module *modules;
    int64_t n_modules;
};
int partition_make(struct partition *p, struct arena *arena,
                   const struct partition_request *request, struct err *err);

/* The same for a scenario, with FLOPs as computation, and parameters' states and kept
 * activations as memory. The modules are those of the list: the blocks that are not
 * named "layer" (or end in "layer") are ends, and go with the layer next to them. */
int partition_of(struct partition *p, struct arena *arena, const struct scenario *s,
                 const struct op_list *list, struct err *err);

/* Parts of partition_make, for tests ----------------------------------------- */

/* Cuts costs[n] into k contiguous segments with the least largest sum; ends[i] is one
 * behind segment i's last. Of equals, the one whose last segments are longest. */
void partition_min_max(const double *costs, int64_t n, int64_t k, int64_t *ends);

/* Gives `devices` to n segments by D'Hondt's quotients cost / (given + 1). */
void partition_dhondt(const double *costs, int64_t n, int64_t devices, int64_t *given);

#endif
