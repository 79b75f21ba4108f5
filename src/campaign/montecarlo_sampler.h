/* Draws of one thread: the programs of a scenario, and the factors of the draw at hand.
 * Private to montecarlo*.c. */
#ifndef CAMPAIGN_MONTECARLO_SAMPLER_H
#define CAMPAIGN_MONTECARLO_SAMPLER_H

#include "campaign/montecarlo_frontier.h"
#include "run/run.h"
#include "step/reps.h"

/* A simulated rank; folded, it represents n_ranks equal ones. */
struct sampled_rank {
    int64_t n_ranks;
    int64_t group; /* first rank of the group that shares a pass */
    const struct frontier *kernels, *host; /* NULL: nothing jitters */
    double *kernel_factors, *host_factors; /* [tasks] */
};

/* What all ranks of one program and kind have alike. */
struct sampled_program {
    const struct program *program;
    int64_t n_ranks;
    struct frontier kernels, host;
};

struct sampler {
    const struct uncertainty *u;
    const struct scenario *s;
    enum fidelity network;
    bool unfolded; /* every rank is drawn */
    bool asynchronous;
    struct arena arena;
    struct reps reps;
    VEC(struct sampled_program *) programs;
    struct sampled_rank *ranks; /* [reps.n_ranks] */
    double *slow;               /* [reps.n_ranks] stragglers among n_ranks */
    bool *group_slow;           /* [world] by first rank: one of the group is slow */
    const double **kernel_factors, **host_factors;
    struct random_stream links; /* of the draw at hand */
};

int sampler_init(struct sampler *p, const struct uncertainty *u,
                 const struct scenario *s, enum fidelity network, bool unfold,
                 struct err *err);
void sampler_release(struct sampler *p);

/* Replays the step as drawn. */
int sampler_draw(struct sampler *p, int64_t draw, double *time_s, struct err *err);

#endif
