/* The best plans of a space, in stages: rules and memory bounds, analytic scores of all
 * that is left on all cores, and the simulation of the best. The ranking is the
 * simulator's. The same for any number of threads, to the byte.
 *
 *     space ---rules---> points ---least_B---> scored ---best K---> simulated ---> plans
 *
 * Some of the K are chosen for what they are (the best of each library, way of sharding
 * and cluster), so that an error of the scores that all of a kind share is found out:
 * the scores of a kind are corrected by its simulated members before the rest is
 * chosen. Beyond half of K only those are simulated whose corrected scores come to
 * within twice the scores' error of the best. */
#ifndef SEARCH_PLAN_H
#define SEARCH_PLAN_H

#include "search/plan_point.h"

#include <signal.h>

enum plan_objective { PLAN_TIME, PLAN_COST, PLAN_MEMORY };
extern const struct name_value plan_objective_names[];

struct plan_progress {
    const char *stage; /* "scoring", "simulating" */
    int64_t done, total;
};

struct plan_options {
    enum plan_objective objective;
    int32_t simulate_most; /* K */
    bool exhaustive;
    double max_cost_usd, deadline_h;   /* 0: none */
    const volatile sig_atomic_t *stop; /* set: end with the best so far; may be NULL */
    void (*progress)(void *arg, const struct plan_progress *p); /* may be NULL */
    void *progress_arg;
};

struct plan_entry {
    struct space_point point;
    double score_s, score_B; /* analytic */
    struct plan_result result;
    double usd_per_hour; /* NAN: unknown */
    double hours, usd;   /* of the whole job; NAN: unknown */
    double value;        /* of the objective */
    bool tie;            /* within the range of the best */
    bool in_budget;
    bool skipped; /* the search was stopped before it was simulated */
};

struct plan_outcome {
    double space;                      /* combinations of all values */
    int64_t evaluated;                 /* points that the rules allow */
    int64_t feasible;                  /* those whose memory bound fits */
    int64_t simulated, refused, unfit; /* of the simulated: not possible; too large */
    const char *refusal;               /* the first, of the order of points; NULL */
    int64_t near;       /* not simulated, though within the scores' error of the best */
    double score_error; /* of the scores against the simulated */
    double tie_error;   /* how far the best's range goes above it; 0: no ties */
    bool complete;      /* false: it was stopped */
    int32_t n_entries;  /* simulated that fit and keep the budget, best first */
    struct plan_entry *entries;
    int32_t n_over; /* fit, but beyond the budget; nearest first */
    struct plan_entry *over;
    bool has_nearest; /* of a space where nothing fits: what needs least memory */
    struct plan_entry nearest;
    int32_t n_tried; /* all that were simulated, in the order of points */
    struct plan_entry *tried;
};

/* Searches the job's space. Entries live in the arena. Fails when the space is empty,
 * saying which value leaves nothing. */
int plan_search(struct plan_outcome *out, struct arena *arena,
                const struct plan_job *job, const struct plan_options *o,
                struct err *err);

/* What the search simulated of a point; NULL: it did not. */
const struct plan_entry *plan_tried(const struct plan_outcome *out,
                                    const struct space_point *p);

/* Fills an entry from its point: simulated, priced, valued. */
void plan_entry_make(struct plan_entry *e, const struct plan_job *job,
                     const struct plan_options *o);

/* Why a space is empty, as an error. */
int plan_empty(const struct plan_job *job, struct err *err);

#endif
