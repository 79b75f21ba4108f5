/* A point of the space as a complete scenario, and its simulation. */
#ifndef SEARCH_PLAN_POINT_H
#define SEARCH_PLAN_POINT_H

#include "search/plan/job.h"
#include "simulate/simulate.h"

/* What the simulator says of a point. */
struct plan_result {
    bool known;  /* it could be simulated */
    bool timed;  /* all of it was, not memory alone */
    bool unread; /* it could not, as a file could not be read */
    bool fits;
    bool near_limit; /* of memory: within its error */
    double step_time_s, samples_per_s, tokens_per_s, mfu, hfu;
    double range_s[2]; /* of the step time */
    double tie_error;  /* a plan this much slower may be as fast */
    int64_t peak_B, needed_B, capacity_B;
    double parts_s[CATEGORY_N];
    struct resources by;    /* what the step rests on */
    double job_s, billed_s; /* of the scenario's "job"; 0 without one */
    char why[200];          /* why it could not; "" otherwise */
};

/* A change to a loaded scenario before it is simulated: a faster network, say. */
typedef void plan_tweak(struct scenario *s, struct arena *arena, double factor);

/* A new tree: runs under `simulate` as it is. */
json_t *plan_point_json(const struct plan_job *job, const struct space_point *p);

/* Its "parallelism" in smsim's own words, whatever the dialect: a new tree. */
json_t *plan_point_parallelism(const struct space *s, const struct space_point *p);

/* How it is simulated. */
struct plan_point_how {
    plan_tweak *tweak; /* NULL: none */
    double factor;     /* of the tweak */
    bool if_fits;      /* memory alone, where the point is far too large */
};

/* Reads and simulates it. Results are the same whichever thread runs it. */
void plan_point_simulate(const struct plan_job *job, const struct space_point *p,
                         struct plan_point_how how, struct plan_result *r);

/* Price of its cluster per hour, with the job's spot discount; NAN when unknown. */
double plan_point_usd_per_hour(const struct plan_job *job, const struct space_point *p);

/* "64 x p4d.24xlarge" into buf. */
char *plan_point_cluster_text(const struct plan_job *job, const struct space_point *p,
                              char *buf, size_t size);

/* "tensor 8, pipeline 4, ..." into buf: what differs from nothing. */
char *plan_point_text(const struct plan_job *job, const struct space_point *p,
                      char *buf, size_t size);

#endif
