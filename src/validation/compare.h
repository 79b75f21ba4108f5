/* A training step that was run, compared with the same step predicted: operator by
 * operator, and in the whole.
 *
 * The operators are those of model/ops.h under the framework profile of the program
 * that ran the step, joined to the measured ones by name. Their times are of a GPU
 * that does nothing else; the step's is the replay's. Errors are predicted /
 * measured - 1. */
#ifndef VALIDATION_COMPARE_H
#define VALIDATION_COMPARE_H

#include "hardware/instance.h"
#include "validation/measured.h"
#include "validation/stats.h"

struct compared_op {
    const char *name;
    bool backward;
    int64_t count;                  /* of a step */
    double measured_s, predicted_s; /* of one; 0: that side does not have it */
};

struct compared { /* seconds or bytes; 0: not measured, or nothing of it */
    double measured, predicted;
};

struct comparison {
    const struct measured_step *step;
    const char *framework;   /* profile that it was predicted with */
    const char *error;       /* why it could not be predicted; NULL: it was */
    struct compared_op *ops; /* forward, then backward, in order of the measurement */
    int32_t n_ops;
    struct compared forward, backward, update; /* kernels, one after the other */
    struct compared communication;             /* exposed */
    struct compared time;                      /* of the step */
    struct compared memory;   /* as nvidia-smi shows it; of PyTorch: live tensors */
    struct compared reserved; /* PyTorch's allocator */
    struct stats stats;       /* of operators that both have */
    double misplaced;         /* their |predicted - measured| over their time */
};

/* What the step is predicted on. */
struct compare_on {
    const struct gpu *gpu;
    const struct instance *instance; /* whose GPUs are taken to be `gpu` */
    double launch_s, product_s;      /* of the host, measured; 0: the profile's */
};

/* The error of a pair; NAN unless both are there. */
double compared_error(struct compared c);

/* Predicts and compares. Memory lives in the arena; what could not be predicted is said
 * in c->error. */
void compare_step(struct comparison *c, struct arena *arena,
                  const struct measured_step *step, const struct compare_on *on);

/* All steps of some files, what they were predicted on, and how far off they are. */
struct comparisons {
    const char *file, *device, *date, *driver; /* of the first; NULL: unknown */
    const char *gpu, *instance; /* names of the profile and of the machine */
    bool instance_named;        /* by the user */
    int64_t
        n_kernels; /* the profile was fitted to so many of the files'; 0: it was not */
    const struct measured *measured;
    struct comparison *v;
    int64_t n, n_unpredicted;
    struct stats operators, steps, memory; /* of all */
};

/* The statistics, from what the comparisons hold. */
void compare_sum(struct comparisons *all);

/* The instance to take where none is named: the smallest shipped one of at least n GPUs
 * that has the GPU of that name, else of any. NULL after reporting. */
const struct instance *compare_instance(struct cfg_loader *loader, const char *gpu,
                                        int64_t n_gpus);

#endif
