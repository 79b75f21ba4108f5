/* Training steps that were really run: what smsim-measure and pytorch_step.py wrote.
 *
 * A step of smsim-measure is a row "step", followed by a row "operator" for each name
 * of smsim's operator lists; one of PyTorch is a row "pytorch_step". Rows that were
 * recorded as failed are kept with their reason. Seconds and bytes; 0: unknown. Memory
 * lives in the loader, but for the lists. */
#ifndef VALIDATION_MEASURED_H
#define VALIDATION_MEASURED_H

#include "base/vec.h"
#include "config/cfg.h"

enum measured_program { MEASURED_OWN, MEASURED_EAGER, MEASURED_COMPILED };

struct measured_op {
    const char *name;
    bool backward;
    int64_t count; /* of a step */
    double time_s; /* of one */
};

struct measured_step {
    const char *file;
    const char *model; /* as the row names it: "bert-large-uncased" */
    struct cfg config; /* its config.json; absent: that of models/ by that name */
    struct cfg row;    /* where errors are reported */
    enum measured_program program;
    int precision, attention; /* enum op_precision, enum op_attention */
    int64_t n_gpus, batch, sequence;
    double time_s, spread;
    double compute_s; /* the step with its all-reduces left out; several GPUs */
    double update_s;
    int64_t allocated_B; /* live tensors at the peak */
    int64_t reserved_B;  /* of PyTorch's caching allocator */
    int64_t peak_B;      /* as nvidia-smi shows it */
    const char *failed;  /* why it did not run; NULL: it ran */
    VEC(struct measured_op) ops;
};

struct measured {
    VEC(struct measured_step) steps;
    VEC(const char *) failures; /* "gemm: out of memory", of sections */
    double launch_s, product_s; /* of the host: a kernel's launch, cuBLAS's call */
    bool incomplete;            /* some run did not come to its end */
};

void measured_release(struct measured *m);

/* Adds the steps of a file; a file without any is no error. -1 after reporting what is
 * wrong with a step; rows that are none at all samples_load_measure reports. */
int measured_read(struct measured *m, struct cfg_loader *loader, struct cfg root,
                  const char *file);

#endif
