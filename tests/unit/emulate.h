/* A file as smsim-measure would write it on a GPU that is known: kernels, launches,
 * clocks and training steps take what a profile predicts, times noise. For tests of
 * fits and of comparisons, and to show their output where there is no GPU. */
#ifndef TESTS_EMULATE_H
#define TESTS_EMULATE_H

#include "hardware/instance.h"

struct emulated_step {
    const char *model; /* of models/ */
    int64_t batch, sequence, n_gpus;
};

struct emulation {
    const struct gpu *truth;
    const struct instance *instance;
    const char *device; /* as the driver names it */
    int n_gemms, n_streams;
    double noise; /* standard deviation of the logarithm of a time */
    unsigned long seed;
    const struct emulated_step *steps;
    int n_steps;
};

/* The file's tree; the caller owns it. */
json_t *emulate(const struct emulation *e);

#endif
