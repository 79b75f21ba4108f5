/* Time of the experts of one rank, forward, as software that was measured runs them.
 * MODEL.md (3.20). Pure functions. */
#ifndef COST_EXPERTS_H
#define COST_EXPERTS_H

#include "hardware/experts.h"
#include "model/expert_load.h"

struct experts_shape {
    int64_t hidden, width; /* width: of one expert on this rank */
    bool gated;
    double tokens;   /* of all ranks */
    int64_t experts; /* of this rank */
    struct expert_load load;
};

/* Seconds of one call: both products, the gate, and what moves tokens. */
double experts_s(const struct gpu *gpu, const struct experts_kernel *k,
                 const struct experts_shape *shape);

#endif
