/* What the readers of a scenario's sections share while they read; private to
 * the files of parallel/ that read. */
#ifndef PARALLEL_READING_H
#define PARALLEL_READING_H

#include "parallel/scenario.h"

#define READING_GLOBAL_MAX 1099511627776.0 /* sequences of a global batch: 2^40 */

/* The training section as written, before defaults and arithmetic. */
struct training_words {
    struct training t;
    struct cfg checkpointing;
    int task; /* a row of the table of tasks; -1: none */
    const char *framework;
    bool has_micro, has_microbatches, has_accumulation, has_global;
    bool has_epochs, has_sequence;
};

/* What a section set, so that no other sets it again. */
struct reading {
    struct scenario *s;
    struct cfg_loader *loader;
    const char *name;
    struct cfg root, cluster, model, training, software, distribution, parallelism;
    struct training_words words;
    bool has_library;     /* written in parallelism */
    bool has_backend;     /* set by the dictionary */
    bool has_overlap;     /* written in parallelism */
    bool has_degree;      /* sharding/degree is written, or set by the dictionary */
    int64_t microbatches; /* set by the dictionary; 0: not */
    struct cfg smp;       /* parameters of SMP's dictionary; absent without */
    bool launched;        /* by SageMaker, through the dictionary */
    bool launch_simple;   /* its launcher holds NCCL to Simple whatever the network */
    bool has_cluster;     /* the cluster was read: counts and GPUs are known */
    bool has_model;
    bool has_typos; /* keys or values of training were not understood */
};

/* Notes a parameter that is accepted without effect: "/pointer: why". */
void reading_note(struct reading *r, struct cfg c, const char *why);

/* Each returns -1 after reporting. The order: distribution_read, parallelism_read,
 * training_read, parallelism_framework, training_batch, software_read. What needs the
 * model or the cluster is left out where those could not be read. */
int training_read(struct reading *r);
int training_batch(struct reading *r);
int distribution_read(struct reading *r);
int parallelism_read(struct reading *r);
int parallelism_framework(struct reading *r);
int software_read(struct reading *r);

/* Parts of parallelism_read: sharding, partition, and the arithmetic of degrees, which
 * needs the cluster. */
int sharding_read(struct reading *r, struct cfg c);
int partition_words(struct reading *r, struct cfg c);
int degrees_read(struct reading *r);

/* Rules that join sections; after training_batch, when all was read. */
int rules_check(struct reading *r);

#endif
