/* The input pipeline of a training step: samples are read from storage, prepared by
 * worker processes on the host's CPUs, and copied to the GPUs (the scenario's "input"
 * section). In steady state its slowest stage sets the pace wherever the GPUs are
 * faster (MODEL.md, "Input pipeline"). */
#ifndef CAMPAIGN_INPUT_H
#define CAMPAIGN_INPUT_H

#include "campaign/storage.h"

struct input {
    bool given;        /* "input" or "storage" is there */
    int64_t workers;   /* of each GPU's process; 0: the process itself loads */
    double cpu_s;      /* of one vCPU, to prepare a sample */
    double sample_B;   /* in storage */
    double device_B;   /* of a sample on the GPU */
    bool pinned;       /* copies start from page-locked memory */
    double busy_vcpus; /* of an instance, that preparation does not get */
};

enum input_stage {
    INPUT_WORKERS, /* the workers of a GPU, one sample after the other each */
    INPUT_CPUS,    /* the vCPUs that are left for workers */
    INPUT_STORAGE, /* what the instance reads */
    INPUT_STAGES
};
extern const struct name_value input_stage_names[];

struct input_result {
    bool given;
    double step_s[INPUT_STAGES]; /* that the stage takes for the samples of a step */
    double copy_s;               /* to the GPU, exposed */
    double wait_s;               /* that the step is longer for all this */
    double vcpus;                /* free for each GPU's process; INFINITY: unknown */
    double samples_per_s; /* that loading alone would reach; INFINITY: no limit */
    enum input_stage slowest;
    bool bound;          /* the step waits for loading */
    const char *warning; /* in the arena; NULL: none */
};

/* Reads the section. */
int input_read(struct input *in, const struct storage *st, const struct scenario *s,
               struct cfg c);

/* The pipeline during steps that take step_s alone; of instances of several
 * kinds, the slowest. */
void input_run(struct input_result *r, struct arena *arena, const struct input *in,
               const struct storage *st, const struct scenario *s, double step_s);

#endif
