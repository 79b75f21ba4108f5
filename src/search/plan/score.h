/* The analytic stage of a plan: all points scored on all cores, the best of each kind
 * kept. Private to plan*.c. */
#ifndef SEARCH_PLAN_SCORE_H
#define SEARCH_PLAN_SCORE_H

#include "base/vec.h"
#include "search/plan.h"
#include "search/plan/best.h"

enum {
    KIND_SHARDINGS = 4,
    /* library, pipelined, with experts apart, sharding, whether users have it */
    KINDS = SPACE_STACKS_N * 2 * 2 * KIND_SHARDINGS * 2,
    TENSORS = 24, /* digits of the tensor degree distinguished */
    MEMORY_BINS = 12,
    CLUSTERS_MAX = 4096,
};

struct scorer;

/* What one pass over the points leaves. */
struct scored {
    int64_t evaluated, feasible;
    struct best kinds[KINDS];      /* that the estimate lets fit */
    struct best uncertain;         /* that only the bound lets fit */
    struct best bins[MEMORY_BINS]; /* fastest of those that need so much memory */
    struct best *clusters;         /* fastest of each instance, count and GPUs */
    int32_t n_clusters;
    struct best over;          /* beyond the budget: the cheapest, or the fastest */
    struct best tightest;      /* that need least memory, whether or not they fit */
    VEC(struct candidate) all; /* that memory may hold, if the space is small */
    struct scorer *scorer;     /* of one of the threads, with the tables that it made */
};

/* Of what kind a point is, 0 to KINDS - 1. */
int plan_kind(const struct space *s, const struct space_point *p);

/* The objective's value of a time and a memory; INFINITY without a price. */
double plan_value(const struct plan_job *job, const struct plan_options *o,
                  const struct space_point *p, double time_s, double memory_B);

/* Whether the search is asked to stop with what it has. */
bool plan_stopped(const struct plan_options *o);

/* Whether time and cost of the whole job keep the budget. */
bool plan_in_budget(const struct plan_options *o, double hours, double usd);

struct plan_run;

/* Scores all points, as what was simulated corrects them (`run` NULL: as they are);
 * returns false when it was stopped. */
bool plan_score_all(struct scored *out, const struct plan_job *job,
                    const struct plan_options *o, const struct plan_run *run);

/* A point as a candidate; its value is the caller's to fill, and its times are left out
 * as scorer_point has it. False: it cannot be scored. */
bool plan_candidate(struct candidate *c, struct scorer *scorer,
                    const struct space_point *p, double most_need);
void scored_release(struct scored *s);

#endif
