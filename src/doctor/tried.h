/* Inside explain: a hypothesis as it was tried on a job, and what all are tried with. */
#ifndef DOCTOR_TRIED_H
#define DOCTOR_TRIED_H

#include "doctor/explain.h"
#include "doctor/signature.h"

/* A hypothesis, simulated at each strength. */
struct tried {
    const struct hypothesis *h;
    int32_t n;
    double strength[HYPOTHESIS_STRENGTHS];
    double likelihood[HYPOTHESIS_STRENGTHS];
    struct doctor_prediction p[HYPOTHESIS_STRENGTHS];
    double step_s[HYPOTHESIS_STRENGTHS];
    struct doctor_signature signature[HYPOTHESIS_STRENGTHS];
    double evidence,
        odds; /* odds: before numbers, against the job as it is described */
    double posterior;
    const char *why;
    int32_t class
        ; /* of the hypotheses that these logs do not separate: its first's place */
};

struct explaining {
    struct doctor_predictor *by;
    const json_t *job;
    const struct doctor_view *view;
    struct doctor_point measured;
    struct doctor_causes *causes;
    struct tried *tried;
    int32_t n_tried;
};

/* explain.c: simulates a tree, which it takes; a cause to fill, NULL: there are enough. */
bool explain_predict(struct explaining *w, struct doctor_prediction *p, json_t *tree);
struct doctor_cause *explain_add(struct explaining *w, double posterior);

/* separate.c: sets the classes of all that were tried. */
void separate_hypotheses(struct explaining *w);

/* pairs.c: adds the pairs that explain the run best. */
void explain_pairs(struct explaining *w);

#endif
