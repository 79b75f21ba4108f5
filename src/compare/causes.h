/* Which keys of a scenario are one cause of a difference. */
#ifndef COMPARE_CAUSES_H
#define COMPARE_CAUSES_H

#include "base/vec.h"
#include "compare/difference.h"

/* In the order in which they are changed. */
enum cause {
    CAUSE_MODEL,
    CAUSE_GPU, /* B's GPU in A's node; its keys are those of the node */
    CAUSE_NODE,
    CAUSE_COUNT,
    CAUSE_SEQUENCE,
    CAUSE_BATCH,
    CAUSE_PRECISION,
    CAUSE_ATTENTION,
    CAUSE_RECOMPUTATION,
    CAUSE_OPTIMIZER,
    CAUSE_ADAPTERS,
    CAUSE_TRAINING, /* what else is of the training */
    CAUSE_SOFTWARE,
    CAUSE_LIBRARY,
    CAUSE_SHARDING,
    CAUSE_DEGREES,
    CAUSE_OVERLAP, /* what else is of the parallelism */
    CAUSE_REST,
    CAUSE_N,
};

extern const char *const cause_names[CAUSE_N];

/* The keys that differ, by cause. Where one side has SageMaker's dictionary, that, the
 * degrees and the sharding are one cause: the library. */
struct causes {
    VEC(struct difference_change) of[CAUSE_N];
};

/* Strings live in the arena. */
void causes_find(struct causes *c, struct arena *arena, const json_t *a,
                 const json_t *b);
void causes_release(struct causes *c);

#endif
