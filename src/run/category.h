/* The parts that a step's time is split into; names are those of the JSON contract. */
#ifndef RUN_CATEGORY_H
#define RUN_CATEGORY_H

#include "base/names.h"

/* On the critical rank all but CATEGORY_DATA_COMM_HIDDEN sum to the step. */
enum category {
    CATEGORY_COMPUTE,
    CATEGORY_RECOMPUTE,
    CATEGORY_REFERENCE, /* forwards that a loss compares with: step/reference.h */
    CATEGORY_TENSOR_COMM,
    CATEGORY_PIPELINE_COMM,
    CATEGORY_PIPELINE_BUBBLE,
    CATEGORY_CONTEXT_COMM,
    CATEGORY_EXPERT_COMM,
    CATEGORY_DATA_COMM_EXPOSED,
    CATEGORY_DATA_COMM_HIDDEN,
    CATEGORY_OPTIMIZER,
    CATEGORY_OFFLOAD_EXPOSED,
    CATEGORY_INPUT_WAIT, /* for samples; 0 in the replay: see campaign/input.h */
    CATEGORY_OTHER,      /* the GPU waits for the host */
    CATEGORY_N,
};

extern const struct name_value category_names[];

/* Kernels of forward and backward passes, of all times that they are run. */
double breakdown_passes_s(const double parts_s[CATEGORY_N]);

#endif
