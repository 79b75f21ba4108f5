/* Runs a plan on one GPU: memory, random weights and tokens, operators, Adam. */
#ifndef SMSIM_MEASURE_STEP_RUN_H
#define SMSIM_MEASURE_STEP_RUN_H

#include "step_plan.h"

struct step_run {
    const struct step_plan *plan;
    char *activations, *weights, *gradients; /* the latter two in the plan's format */
    float *master, *m, *v, *partial;
    int *index[4]; /* words, positions, types, labels */
    int step;
};

int step_run_make(struct measure *m, struct step_run *r, const struct step_plan *plan,
                  uint32_t seed);
void step_run_free(struct step_run *r);

int step_run_op(struct measure *m, struct step_run *r, const struct step_op *op);
int step_run_update(struct measure *m, struct step_run *r); /* Adam over all weights */

/* Mean loss of the last forward. */
int step_run_loss(struct measure *m, struct step_run *r, double *loss);

#endif
