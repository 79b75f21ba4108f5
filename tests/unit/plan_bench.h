/* Plans' jobs from few words, for tests. */
#ifndef TESTS_PLAN_BENCH_H
#define TESTS_PLAN_BENCH_H

#include "search/plan.h"

enum { WORDS = 6 };

struct raw_job {
    const char *model, *instances, *count;
    int64_t batch, sequence;
    int stacks;
    const char *allows[WORDS];
};

struct planned {
    struct cfg_loader loader;
    struct plan_job job;
    int rc;
};

void open_job(struct planned *x, const struct raw_job *w);

/* With one value of the scenario set; NULL: none. */
void open_job_with(struct planned *x, const struct raw_job *w, const char *set);

void close_job(struct planned *x);

#endif
