/* How probable each hypothesis is, and what its mend would save.
 *
 *   posterior ~ prior x likelihood of the step's time, or of its parts by a trace
 *             x likelihood of memory x evidence
 *
 * The likelihoods are those of signature.h. Strengths of a hypothesis are equally
 * probable. Evidence is what logs say in words (evidence.h).
 *
 * Against them: that the run is as described, with the rest of the priors; and that
 * nothing known explains it, with a prior of 0.04, any time from a third to 30 times the
 * predicted, any memory, and any shares. Pairs have the product of their priors; the 24
 * most probable are kept. A hypothesis is left out where its job cannot be simulated, or
 * takes the same time and memory as the job itself (0.5 %).
 *
 * Hypotheses that these logs cannot separate are one class, which is known from their
 * signatures before the run is looked at (separate.c). */
#ifndef DOCTOR_EXPLAIN_H
#define DOCTOR_EXPLAIN_H

#include "base/arena.h"
#include "doctor/hypotheses.h"

enum doctor_kind { DOCTOR_HEALTHY, DOCTOR_UNKNOWN, DOCTOR_KNOWN };

struct doctor_cause {
    enum doctor_kind kind;
    const struct hypothesis *of[2]; /* the second NULL: one; both: none */
    int32_t class[2];               /* of each, the same of one */
    double strength[2];             /* the most probable */
    double step_s, allocated_B;     /* predicted with it, at that; NAN: unknown */
    double posterior, evidence;
    const char *why;    /* of the evidence; NULL: none */
    double saves_s;     /* of the measured step, by the mend */
    double usd_per_day; /* NAN: no price is known */
};

enum { DOCTOR_CAUSES_MAX = 80 };

/* Causes that these logs do not separate. */
struct doctor_class {
    enum doctor_family family; /* of the most probable */
    int32_t of[2];             /* classes of one hypothesis, or of a pair's two */
    bool apart;                /* one cause alone */
    double posterior;          /* sum of its causes */
    int32_t n;
    int32_t causes[DOCTOR_CAUSES_MAX]; /* indices, the most probable first */
};

struct doctor_causes {
    int32_t n; /* the most probable first; 0: there is no time to explain */
    struct doctor_cause of[DOCTOR_CAUSES_MAX];
    int32_t n_classes; /* likewise */
    struct doctor_class classes[DOCTOR_CAUSES_MAX];
    int64_t n_simulated;
};

/* Needs a measured time. Simulates some 30 to 150 jobs that differ; those that cannot be
 * are no error. */
void doctor_explain(struct doctor_causes *c, struct doctor_predictor *by,
                    const json_t *job, const struct doctor_view *v);

#endif
