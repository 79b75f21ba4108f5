/* What may make a run differ from its job as it is described: a row a hypothesis. What
 * each would do to the step is the simulation of a scenario that is changed by it, or,
 * of what no key says, a change of the step's parts. */
#ifndef DOCTOR_HYPOTHESES_H
#define DOCTOR_HYPOTHESES_H

#include "doctor/predict.h"
#include "logs/logs.h"
#include "logs/steady.h"

/* Hypotheses that a step's time does not separate; these logs may. */
enum doctor_family {
    DOCTOR_NETWORK, /* between nodes */
    DOCTOR_INSIDE,  /* between the GPUs of a node */
    DOCTOR_GPU,     /* kernels take longer */
    DOCTOR_WAIT,    /* the GPU waits for the host, data or memory */
    DOCTOR_JOB,     /* the job is another: its rows are separate */
    DOCTOR_FAMILIES
};
extern const struct name_value doctor_family_names[];

/* How a step follows from a strength. */
enum doctor_how {
    DOCTOR_BY_SCENARIO, /* simulated; the strength goes into the values */
    DOCTOR_BY_RATE,     /* likewise; Gb/s of Ethernet */
    DOCTOR_BY_COMPUTE,  /* kernels take so many times as long */
    DOCTOR_BY_OTHERS,   /* kernels of another GPU do, and this one waits for it */
    DOCTOR_BY_WAIT      /* the step waits so much of the predicted step more */
};

/* What hypotheses are judged by. */
struct doctor_view {
    const struct logs *logs;
    const struct doctor_shares *traced; /* of the logs' traces; NULL: none */
    const struct logs_steady *steady;
    const struct doctor_prediction *healthy;
};

enum { HYPOTHESIS_STRENGTHS = 10, HYPOTHESIS_CHANGES = 3 };

struct hypothesis {
    const char *name; /* of results */
    const char *text;
    enum doctor_family family;
    double prior; /* probability before the logs */
    enum doctor_how how;
    double strengths[HYPOTHESIS_STRENGTHS]; /* equally probable; 0 ends them */
    /* whether a job can have it; NULL: any */
    bool (*applies)(const struct doctor_facts *f);
    /* keys and values as JSON, "%g" of which is the strength; NULL ends them */
    struct {
        const char *pointer, *value;
    } changes[HYPOTHESIS_CHANGES];
    /* in place of changes */
    void (*change)(json_t *tree, const struct doctor_facts *f, double strength);
    /* natural logarithm of how much more probable the logs' own words are with it than
     * without; 0: they say nothing. *why says what they are */
    double (*evidence)(const struct doctor_view *v, const char **why);
    const char *check; /* how to make sure, and the mend */
};

/* Whether the batch that logs say is not the job's: one by their clock, by 10 %. */
bool doctor_other_batch(const struct logs *l, const struct doctor_prediction *p);

extern const struct hypothesis hypotheses[];
extern const int32_t n_hypotheses;

/* A copy of the job's tree, changed. */
json_t *hypothesis_apply(const struct hypothesis *h, const json_t *job,
                         const struct doctor_facts *f, double strength);

/* Whether its step is that of a scenario of its own. */
bool hypothesis_is_simulated(const struct hypothesis *h);

/* The strengths of a row: 1 where it has none. */
int32_t hypothesis_n_strengths(const struct hypothesis *h);
double hypothesis_strength(const struct hypothesis *h, int32_t i);

/* A step's time with it, after its simulation. */
double hypothesis_step_s(const struct hypothesis *h, const struct doctor_prediction *p,
                         double strength);

/* The shares of a step with it, likewise. */
struct doctor_shares hypothesis_shares(const struct hypothesis *h,
                                       const struct doctor_prediction *p,
                                       double strength);

#endif
