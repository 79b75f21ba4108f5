/* Passes measured in isolation, once for all stages that are alike. */
#ifndef STEP_MEASURE_H
#define STEP_MEASURE_H

#include "step/builder.h"

/* A pass as it was measured in isolation. */
struct measured {
    bool known;
    struct pass_cost cost;
    struct ledger_change memory;
    struct late_pass ahead;
    double flops;
};

/* Set-up, when all else is planned. */
void measure_begin(struct builder *b);

/* The pass in isolation, and its index among the program's passes. */
int measure_pass(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                 const struct measured **out, int32_t *index, struct err *err);

/* What a middle layer takes, for reports and for comparison with layer benchmarks: its
 * kernels and the collectives of its tensor group, recomputation in the backward. */
int measure_layer(struct builder *b, struct err *err);

#endif
