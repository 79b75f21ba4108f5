/* The parts that a step's time is split into; names are those of the JSON contract. */
#ifndef RUN_PARTS_H
#define RUN_PARTS_H

#include "base/names.h"

/* On the critical rank all but PART_DATA_COMM_HIDDEN sum to the step. */
enum part {
    PART_COMPUTE,
    PART_RECOMPUTE,
    PART_TENSOR_COMM,
    PART_PIPELINE_COMM,
    PART_PIPELINE_BUBBLE,
    PART_CONTEXT_COMM,
    PART_EXPERT_COMM,
    PART_DATA_COMM_EXPOSED,
    PART_DATA_COMM_HIDDEN,
    PART_OPTIMIZER,
    PART_OFFLOAD_EXPOSED,
    PART_INPUT_WAIT, /* for samples; 0 in the replay: see campaign/input.h */
    PART_OTHER,      /* the GPU waits for the host */
    PART_N,
};

extern const struct name_value part_names[];

#endif
