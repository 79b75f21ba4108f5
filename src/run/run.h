/* Runs the programs of ranks on the event engine: hosts issue tasks, streams execute
 * them in order, collectives begin when all their ranks have come and share the links
 * of one fluid network, messages go from stage to stage.
 *
 * Files of this folder:
 *     program                  tasks and streams
 *     breakdown                what a step's time is split into
 *     groups, plans:
 *         which ranks meet, where they are, the plan of their collective
 *     run*:
 *         the run; waits (run_wait); periodic pipelines (run_steady)
 *     run_others               other jobs whose flows meet those of the run
 *     coll_run, chunk, fusion  collectives at three fidelities; Horovod's cycles
 *     observe, run_observe     what observers of a run are given */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "base/err.h"
#include "engine/watch.h"
#include "run/coll_run.h"
#include "run/observe.h"
#include "run/plans.h"

/* What makes a run other than its programs say: factors (> 0) on durations. A member
 * that is NULL is 1 throughout; so is all of it in a run without. Factors of exactly 1
 * change nothing, to the picosecond. Not for the chunk fidelity. */
struct run_factors {
    const double *const *kernel; /* [n_ranks][tasks] of kernels, copies, passes */
    const double *const *host;   /* [n_ranks][tasks] of the host's time to issue them */
    /* Of the nth collective of a channel's group, whose first rank that is. */
    double (*collective)(void *arg, const struct coll_plan *plan, enum channel channel,
                         int64_t first, int32_t nth);
    void *arg; /* of collective */
};

struct run_request;

/* Another job that runs at the same time on the same fabric: its steps follow each
 * other, the first of them begun that long before the step of interest. */
struct run_other {
    const struct run_request *request; /* without others, observer, factors and watch */
    int64_t lead_ps;
};

/* What is run: ranks[i] of the job runs programs[i] (entries may be the same program;
 * in a folded run a rank represents all equal to it). */
struct run_request {
    struct plans
        plans; /* unfolded, groups other than a program's own get their plans */
    enum fidelity network;
    int64_t n_ranks;
    const struct program *const *programs;
    const int64_t *ranks;
    const struct observer *observer;   /* NULL: none */
    const struct run_factors *factors; /* NULL: none */
    bool
        time_alone; /* of the result only time, critical rank and events are asked for */
    bool links_unread;  /* neither how busy links are nor what passes them is */
    struct watch watch; /* of tasks done */
    const struct run_other *others; /* at flow fidelity; NULL: none */
    int32_t n_others;
};

struct run_result {
    double time_s; /* until the last rank's last task, repeats included */
    double parts_s
        [CATEGORY_N]; /* of the critical rank: the last to end, the lowest such */
    int64_t critical; /* index of it */
    double gpu_busy_s, host_busy_s;   /* of the critical rank */
    double nic_busy_s, nvlink_busy_s; /* of the busiest link of the kind */
    double charged_B[NET_KINDS]; /* to all links of a kind together, at flow fidelity;
                                    repeats and measured passes not counted */
    double excess_s;   /* of the fullest link, that closed forms leave out; repeats not
                        counted; at the analytic fidelity */
    double replayed_s; /* until the last event: repeats not counted */
    double wire_B;     /* over all links of the net together, repeats not counted */
    bool steady; /* periods left out are like the last that was replayed; also without
                    any, and where that is known without looking */
    uint64_t events;
};

/* Fails when a group's collective cannot be planned, or when tasks wait for each other
 * for ever (a broken program). */
int run_programs(const struct run_request *request, struct run_result *r,
                 struct err *err);

#endif
