/* How the ranks of a tensor group share a module of the model: which of its sizes they
 * split, which tokens each works on, and how the residual stream lies over them.
 *
 *   stream       tokens of a rank   columns of a rank
 *   SHARE_ALL    all                all         Megatron, SMP's optimize "speed"
 *   SHARE_SLICE  all                1/t         SMP's optimize "memory"
 *   SHARE_OWN    1/t                all         SMP's modules that are not distributed
 *
 * "All tokens" are those of the group's batch: op_tokens. Megatron splits every module
 * or refuses to. SMP distributes what it can
 * (smd_model_parallel_pytorch_tensor_parallel.rst of the SageMaker SDK): a module whose
 * sizes the degree does not divide stays whole. Then each rank runs it on the samples
 * that it brought; where the ranks were fed the same ones (prescaled_batch), on all of
 * them. Embedding and head stay whole unless the script asks (distribute_embedding);
 * each rank takes its samples, or its part of the sequences. */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/ops.h"

enum share_stream { SHARE_ALL, SHARE_SLICE, SHARE_OWN };

struct share {
    int64_t degree; /* over which weights and widths are split; 1: whole */
    int64_t
        tokens_over; /* ranks that the group's tokens are dealt out to; 1: each all */
    enum share_stream stream;
};

/* Of the module under the settings; sizes that SMP cannot split leave it whole.
 * O(1). */
struct share share_of(const struct model *m, const struct op_settings *s,
                      enum op_module module);

/* Of the residual stream between layers. */
enum share_stream share_between_layers(const struct model *m,
                                       const struct op_settings *s);

/* The size that the degree does not divide ("16 attention heads"), in the arena; NULL:
 * the module is distributed, or left whole for another reason. */
const char *share_obstacle(struct arena *arena, const struct model *m,
                           const struct op_settings *s, enum op_module module);

#endif
