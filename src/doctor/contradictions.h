/* What the logs state of the run and its job does not have: another GPU, another number
 * of ranks, other sizes. */
#ifndef DOCTOR_CONTRADICTIONS_H
#define DOCTOR_CONTRADICTIONS_H

#include "config/cfg.h"
#include "doctor/predict.h"
#include "logs/logs.h"

enum {
    DOCTOR_CONTRADICTIONS_MAX = STATEMENTS + 5,
    DOCTOR_SAID_TEXT = LOGS_DEVICE_TEXT
};

struct doctor_contradiction {
    const char *what;                                   /* "GPU", "ranks" */
    char said[DOCTOR_SAID_TEXT], has[DOCTOR_SAID_TEXT]; /* by the logs, and the job */
    struct logs_place at;                               /* line 0: not of one line */
};

struct doctor_contradictions {
    struct doctor_contradiction of[DOCTOR_CONTRADICTIONS_MAX];
    int32_t n;
};

struct doctor_contradictions doctor_contradictions(const struct logs *l,
                                                   const struct doctor_prediction *p);

/* Warns of each of a job's tree, as of the option that gave the logs. */
void doctor_contradictions_warn(struct cfg_loader *loader, const char *option,
                                const json_t *job, const struct logs *l);

#endif
