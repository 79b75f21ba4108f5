/* Manifests of Kubernetes: the pods that one starts, and what a container of them runs,
 * as a shell's text.
 *
 * Any kind is read that has containers (PyTorchJob, MPIJob, Job, JobSet, Pod,
 * StatefulSet) or a trainer (TrainJob): "replicas", "parallelism" or "numNodes" around
 * them say how many, their limits how many GPUs each has. HyperPod's own files of a job
 * are read as if they were one (manifest_hyperpod.h). */
#ifndef DIALECT_SOURCE_MANIFEST_H
#define DIALECT_SOURCE_MANIFEST_H

#include "base/vec.h"
#include "dialect/source/value.h"

struct manifest_variable {
    const char *name, *value;
    int64_t line;
};

/* A number of pods or GPUs. */
struct manifest_count {
    int64_t n;        /* 0: it is not known */
    int64_t line;     /* 0: nothing says it */
    const char *open; /* what a template has for it: "$NUM_NODES"; or NULL */
};

struct manifest {
    const char *kind;  /* "PyTorchJob"; NULL: it is no manifest */
    const char *name;  /* of metadata, or NULL */
    int64_t line;      /* of the container */
    const char *shell; /* what it runs, each word on its line; NULL: no command */
    struct manifest_count pods; /* those with GPUs */
    struct manifest_count gpus; /* of each; without either: none are asked for */
    const char *other;          /* "amd.com/gpu": other devices, or NULL */
    const char *device;         /* "H100:8", as a task names it, or NULL */
    const char *instance;       /* of the node selector, or NULL */
    int64_t instance_line;
    const char *within; /* the folder next to it that it runs in, or NULL */
    VEC(struct manifest_variable) variables;
};

/* Of the documents of a file, the container that trains; kind NULL: none has any. */
void manifest_read(struct manifest *m, struct arena *arena,
                   struct value *const *documents, int64_t n);
void manifest_release(struct manifest *m);

#endif
