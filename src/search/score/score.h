/* Analytic step time and memory of points, fast enough to look at all of them.
 *
 * What does not change from point to point is in tables made once: the times and bytes
 * of a layer and of the model's ends per (stack, instance, tensor degree, microbatch,
 * context, sequence parallelism), from the operator list and the kernel model; and the
 * closed-form times of collectives per group shape, at sizes a factor of four apart. A
 * score is then some dozens of operations: pipelines by their bubble's closed form,
 * what data parallelism exposes by what backward can hide.
 *
 * `least_B` is a bound: no point whose least_B exceeds the GPU's memory fits, as the
 * simulator has it. So is `least_s`: no point is simulated to less, as its kernels
 * alone take that long. `memory_B` is the estimate. A scorer belongs to one thread; scores
 * do not depend on which. Tables are made as points ask for them. */
#ifndef SEARCH_SCORE_SCORE_H
#define SEARCH_SCORE_SCORE_H

#include "search/plan/job.h"

struct score {
    double time_s, least_s;
    double memory_B, least_B, capacity_B;
};

struct scorer;

struct scorer *scorer_new(const struct plan_job *job);
void scorer_free(struct scorer *s);

/* Times are left out (INFINITY) where least_B is too large and least_B or memory_B is more
 * than most_need GPUs have. false: the operator list cannot be made (a degree does not
 * divide the model). */
bool scorer_point(struct scorer *s, const struct space_point *p, double most_need,
                  struct score *score);

#endif
