/* A whole job: from the request for instances to the model in S3, phase by phase, each
 * with its time and whether it is billed (the scenario's "job" section; MODEL.md,
 * "Whole jobs"). Times are in seconds, of the whole cluster, whose instances run side
 * by side. */
#ifndef CAMPAIGN_JOB_H
#define CAMPAIGN_JOB_H

#include "campaign/checkpoint.h"
#include "campaign/input.h"
#include "simulate/simulate.h"

enum job_phase {
    JOB_PROVISIONING, /* instances are found and started */
    JOB_IMAGE,        /* the container's image is downloaded */
    JOB_DATA,         /* the data set is, in File mode */
    JOB_COMPILATION,  /* what precedes the first step: tracing, compiling */
    JOB_TRAINING,     /* the steps */
    JOB_EVALUATION,
    JOB_CHECKPOINTS, /* what the training waits for them */
    JOB_UPLOAD,      /* the model to S3 */
    JOB_KEEP_ALIVE,  /* the warm pool waits for another job */
    JOB_PHASES
};
extern const struct name_value job_phase_names[];

struct whole_job { /* as written */
    bool given;
    double provisioning_s;
    double warm_start_s; /* instead of it in a warm pool */
    double image_B, image_Bps;
    double compilation_s;
    bool has_compilation;                         /* written */
    int64_t evaluation_samples, evaluation_every; /* steps; 0: an epoch's, or all */
    struct checkpoint checkpoint;
    double keep_alive_s;  /* of the warm pool after the job; 0: none */
    double max_run_s;     /* SageMaker stops the job then; 0: not given */
    double spot_discount; /* of the price, 0 to 1; 0: on demand */
    int64_t trials;       /* 0: one job */
    int64_t parallel_trials;
    double stopped_share; /* of trials that are stopped early */
    double stopped_after; /* which share of the training they have then done */
};

struct trials_result {
    int64_t trials, parallel_trials, stopped;
    double hours;          /* from the first job's request to the last one's end */
    double instance_hours; /* billed: hours of all jobs times their instances */
    double usd;            /* NAN without a price */
};

struct job_result {
    bool given;
    int64_t steps, evaluations;
    double phases_s[JOB_PHASES];
    double hours, billed_hours;
    double usd;           /* NAN without a price */
    double spot_discount; /* that usd has in it */
    bool has_checkpoints;
    struct checkpoint_result checkpoint;
    struct trials_result trials; /* of none where trials.trials is 0 */
};

/* Reads the section. */
int whole_job_read(struct whole_job *job, const struct storage *st,
                   const struct scenario *s, struct cfg c);

/* All phases are, but provisioning. */
bool job_is_billed(enum job_phase phase);

/* The phases of a job whose step was simulated; its cost becomes that of the whole job.
 * The step's time has the input's wait in it already. Warns of a job that is longer
 * than it may run; the text lives in the arena. */
void whole_job_run(struct job_result *r, struct arena *arena,
                   const struct whole_job *job, const struct storage *st,
                   const struct input_result *input, const struct scenario *s,
                   struct simulate_result *step);

#endif
