/* Activation checkpoints: which layers and operators are computed again, and what is
 * kept for that. */
#ifndef STEP_PASS_RECOMPUTE_H
#define STEP_PASS_RECOMPUTE_H

#include "model/regions.h"
#include "step/stage.h"

/* Modules that are computed again within a layer's backward (model/regions.h): that of
 * a forward operator, the backward operator before which one is run again, and whether
 * an operator's out is not kept. */
int32_t recompute_region(const struct stage *stage, const struct op_block *block,
                         int32_t at);
int32_t recompute_region_user(const struct stage *stage, const struct op_block *block,
                              int32_t instance);
bool recompute_drops(const struct stage *stage, const struct op_block *block,
                     int32_t at, int32_t out);

/* Whether a forward operator is in a module that is. */
bool recompute_runs_again(const struct stage *stage, const struct op_block *block,
                          int32_t at);

/* What checkpoints by operators keep, and do not compute again. */
bool recompute_saves(const struct stage *stage, const struct op_block *block,
                     int32_t at);

/* Layers that keep one input together with layer k of a slice; 0: it is not recomputed
 * as a whole. One in so many is, counted through all chunks of the rank (MODEL.md,
 * 8.23). */
int64_t recompute_group(const struct stage *stage, struct slice slice, int64_t k);

/* Bytes of a checkpoint, and how many a chunk has. */
int64_t recompute_input_B(const struct stage *stage);
int64_t recompute_inputs(const struct stage *stage, int32_t chunk);

/* Activations that one layer of the block keeps for backward. */
int64_t recompute_kept_B(const struct stage *stage, int32_t block);

#endif
