/* The best plans of a space, in stages: rules and memory bounds, analytic scores of all
 * that is left on all cores, and the simulation of the best. The order is the
 * simulator's (search/plan/order.h). The same for any number of threads, to the byte.
 *
 *     space ---rules---> points ---least_B---> scored ---what may win---> simulated
 *
 * Points are simulated until none is left that may be among the plans to list, under
 * the objective and the budget. Of a small space (PLAN_SMALL points) a point may as long
 * as its bounds of time and memory let it: the plans listed are those of simulating
 * everything. Of others it may as long as its score, corrected by what was simulated of
 * its kind, comes to within twice the scores' error (three times as far before half of
 * `simulate_most` are simulated); `simulate_most` at most are simulated, and n_sure says
 * how many of the ranks that leaves sure. What is far too large (simulate_runs) has no
 * time and corrects none; it counts as simulated only
 * beyond half of that number.
 *
 * Files of this folder:
 *     space/: combinations that a software stack allows; its users
 *     score/: closed-form time and memory of a point
 *     plan/choose, run, point, launch: what is simulated
 *     plan/order: the one order of plans; plan/risk: by regret, under uncertainty
 *     plan/front ... remedy: what is reported about the best plan */
#ifndef SEARCH_PLAN_H
#define SEARCH_PLAN_H

#include "risk/decides.h"
#include "risk/tries.h"
#include "search/plan/point.h"

#include <signal.h>

enum { PLAN_SMALL = 512 };

enum plan_objective { PLAN_TIME, PLAN_COST, PLAN_MEMORY };
extern const struct name_value plan_objective_names[];

struct plan_progress {
    const char *stage; /* "scoring", "simulating" */
    int64_t done, total;
};

struct plan_options {
    enum plan_objective objective;
    int32_t listed;        /* ranks that are asked for; 0: the first alone */
    int32_t simulate_most; /* of a space that is not small */
    bool exhaustive;
    double max_cost_usd, deadline_h;   /* 0: none */
    struct risk_options risk;          /* rule none: the point estimate decides */
    const volatile sig_atomic_t *stop; /* set: end with the best so far; may be NULL */
    void (*progress)(void *arg, const struct plan_progress *p); /* may be NULL */
    void *progress_arg;
};

/* What the filters say of a plan, best first; the first that any plan has is listed. */
enum plan_standing {
    PLAN_PASSES,
    PLAN_TIGHT,         /* may not fit: within the error of its memory */
    PLAN_FOREIGN,       /* of a library that the model's users do not have */
    PLAN_FOREIGN_TIGHT, /* both */
    PLAN_OVER,          /* beyond the budget */
    PLAN_TOO_LARGE,
    PLAN_UNPRICED, /* its cost is asked for, and unknown */
    PLAN_UNKNOWN,  /* it could not be simulated */
    PLAN_STANDINGS,
    PLAN_LISTED_MAX = PLAN_FOREIGN_TIGHT
};

struct plan_entry {
    struct space_point point;
    double score_s, score_B; /* analytic */
    struct plan_result result;
    double usd_per_hour; /* NAN: unknown */
    double hours, usd;   /* of the whole job; NAN: unknown */
    double value;        /* of the objective */
    enum plan_standing standing;
    double key; /* by which plans of a standing are ordered: value, excess or memory */
    bool tie;   /* within the range of the best */
    struct risk_verdict risk; /* where o->risk has a rule */
    bool in_budget;
    bool skipped; /* the search was stopped before it was simulated */
};

/* What scoring may have missed: plans that were not simulated. Of a small space, and
 * where all were simulated, none can be the best: n is 0. */
struct plan_missed {
    int64_t n;
    double nearest; /* the best of them by its score, over the best's value, - 1 */
    double largest_error; /* of the scores of those that were simulated, as corrected */
    double chance;        /* that the nearest is the best all the same */
};

struct plan_outcome {
    double space;                      /* combinations of all values */
    int64_t evaluated;                 /* points that the rules allow */
    int64_t feasible;                  /* those whose memory bound fits */
    int64_t simulated, refused, unfit; /* of the simulated: not possible; too large */
    const char *refusal;               /* the first, of the order of points; NULL */
    const char *unread;                /* why a file could not be read; NULL */
    int64_t near;   /* not simulated, though they may be among those listed */
    int32_t n_sure; /* ranks from the first on that nothing else can take */
    struct plan_missed missed;
    double score_error; /* of the scores against the simulated */
    double tie_error;   /* how far the best's range goes above it; 0: no ties */
    bool complete;      /* false: it was stopped */
    int32_t
        n_entries; /* all of one standing, best first by the rule of risk; by the mean's
                           then the next to try */
    struct plan_entry *entries;
    int32_t n_variants; /* left out: one of the entries but for placement or buckets */
    struct risk_tries tries; /* entries 0 to n - 1, of the mean's order; else n is 0 */
    struct risk_decision decides;  /* between the first and another, by o->risk */
    bool has_kept[PLAN_STANDINGS]; /* a filter keeps back what would be better */
    struct plan_entry kept[PLAN_STANDINGS];
    int32_t n_over; /* where nothing is listed: beyond the budget, nearest first */
    struct plan_entry *over;
    bool has_nearest; /* of a space where nothing fits: what needs least memory */
    struct plan_entry nearest;
    int32_t n_tried; /* all that were simulated, in the order of points */
    struct plan_entry *tried;
};

/* Searches the job's space; o->listed ranks are those of simulating everything, or the
 * outcome says how many are (n_sure). Entries live in the arena. Fails when the space is empty,
 * saying which value leaves nothing, and when a file cannot be read meanwhile. */
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
