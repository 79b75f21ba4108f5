/* Those who watch a run: traces and figures of a step. A table of callbacks that
 * run_programs calls as things end, in the order of the clock; any may be NULL. A run
 * without an observer pays one test of a pointer.
 *
 * What is passed is borrowed for the call; what `begin` is given lives until `end`.
 * Tasks of one stream of a rank come one after the other and never overlap; neither do
 * the host's. Periods that were not replayed (struct repeat) are not seen. */
#ifndef RUN_OBSERVE_H
#define RUN_OBSERVE_H

#include "run/groups.h"

/* A simulated rank; folded, it represents all equal to it. */
struct observed_rank {
    int64_t number, instance, stage;
    int64_t pipeline; /* number of its pipeline's first rank */
    int32_t gpu;
    const struct program *program;
};

struct observed_run {
    const struct groups *groups;
    int64_t n_ranks;
    const struct observed_rank *ranks;
};

struct observed_task {
    int64_t rank; /* index of ranks */
    const struct task *task;
    int64_t begun_ps, ended_ps;
    int64_t met_ps; /* of a collective: when all had come */
};

/* Mean use of an instance's busiest links between two moments. */
struct observed_links {
    int64_t instance;
    int64_t from_ps, to_ps;
    double nic_frac, nvlink_frac;
};

struct observer {
    void *arg;
    const struct observer *next; /* gets the same; NULL: none */
    void (*begin)(void *arg, const struct observed_run *run);
    void (*task)(void *arg, const struct observed_task *t);   /* on a stream */
    void (*issued)(void *arg, const struct observed_task *t); /* by the host */
    void (*buffer)(void *arg, const struct observed_task *t,  /* of fused gradients */
                   const struct coll_plan *plan);
    void (*links)(void *arg, const struct observed_links *l);
    void (*end)(void *arg);
};

/* The index of a task in its program. */
int32_t observed_index(const struct program *p, const struct task *t);

enum { OBSERVED_NAME_MAX = 96 };

/* What people call a task: "forward 3", "softmax", "all_reduce bucket 2". */
const char *observed_name(const struct program *p, const struct task *t,
                          char name[OBSERVED_NAME_MAX]);

extern const struct name_value stream_names[];

#endif
