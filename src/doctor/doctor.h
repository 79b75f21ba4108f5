/* What logs of a run say of its job: steps as they were measured against the simulation
 * of the job, with the range that is stated of it.
 *
 * Files of this folder:
 *     predict     one simulation of a job, or of a job that differs
 *     hypotheses  what may make a run differ, a row each
 *     evidence    what logs say of them in words; evidence_network, weights
 *     signature   what is measured, and how probable it is by a prediction
 *     explain     how probable each is; tried: its state
 *     pairs       two at once
 *     separate    which of them these logs cannot separate
 *     doctor      the measured run against it
 *     contradictions  what the logs state and the job does not have
 *     bandwidth   logs of nccl-tests against the prediction */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/names.h"
#include "config/cfg.h"
#include "doctor/contradictions.h"
#include "doctor/explain.h"
#include "doctor/predict.h"
#include "logs/logs.h"
#include "logs/steady.h"

enum doctor_verdict {
    DOCTOR_NO_TIME, /* the logs have no time of a step */
    DOCTOR_NORMAL,  /* within the range of 95 % of runs */
    DOCTOR_SLOWER,
    DOCTOR_FASTER,
};
extern const struct name_value doctor_verdict_names[];

struct doctor {
    const struct logs *logs;          /* borrowed */
    struct doctor_prediction healthy; /* the job as it is described */
    struct logs_steady steady;
    enum doctor_verdict verdict;
    double ratio;                /* measured time of a step over the predicted; NAN */
    bool over_memory;            /* allocated beyond the range of the predicted peak */
    bool has_trace;              /* shares of steps are known */
    struct doctor_shares traced; /* the mean of all ranks' */
    struct doctor_contradictions other; /* than the job: GPU, ranks, sizes */
    struct doctor_causes causes;
};

/* Judges logs that were read by a job. -1 with err set where it cannot be simulated. */
int doctor_judge(struct doctor *d, struct doctor_predictor *by, const json_t *job,
                 const struct logs *logs, struct err *err);

#endif
