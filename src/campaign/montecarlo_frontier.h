/* The pace of one rank that represents many equal ones: that of the slowest of them,
 * drawn at once (MODEL.md, "Uncertainty").
 *
 *   equal ranks      |k1|k2 |k3|k4  |<- sync of the group ->|k5|...
 *   the frontier     what the slowest has come to, kernel by kernel
 *
 * Between two collectives that make all equal (an interval) the frontier is the largest
 * of n independent sums: at each kernel its exact quantile, one uniform number deciding
 * on the whole interval. Groups inside which ranks are made equal more often (tensor
 * groups) add the mean and variance of their own largest at each such collective, and
 * the frontier is that of the groups.
 *
 * The same tables serve a rank drawn by itself: then every kernel or pass has a
 * factor. */
#ifndef CAMPAIGN_MONTECARLO_FRONTIER_H
#define CAMPAIGN_MONTECARLO_FRONTIER_H

#include "campaign/uncertainty.h"

/* A task that jitters. */
struct frontier_task {
    int32_t task;
    int32_t interval;
    int64_t unit;    /* kernel or pass that has a factor */
    double base_s;   /* duration in the program, of which ... */
    double time_s;   /* ... so much jitters */
    double weight;   /* executions that it represents */
    double mean, cv; /* of its own factor */
    bool in_group;   /* the inner group shares it: a pass with collectives inside */
    /* At its end, from the interval's begin: */
    double plain_s;              /* time that jitters, without jitter */
    double mean_s;               /* mean of the group's frontier, */
    double variance;             /* and its variance, ... */
    struct random_spread spread; /* ... as that of a factor of the law */
};

struct frontier_interval {
    double weight; /* executions of the whole interval */
};

/* Moments of the largest of n factors that were asked for last. */
enum { FRONTIER_KNOWN = 8 };
struct frontier_known {
    double cv, n, mean, sd;
};

struct frontier {
    struct jitter jitter;
    double n_ranks;    /* that the rank represents */
    double group;      /* ranks of an inner group; 1: there are none */
    enum channel over; /* of the inner group inside of measured passes */
    struct frontier_known known[FRONTIER_KNOWN];
    int32_t n_known;
    VEC(struct frontier_task) tasks;
    VEC(struct frontier_interval) intervals;
};

/* What jitters: kernels of the compute stream, or the host's calls. */
enum frontier_of { FRONTIER_KERNELS, FRONTIER_HOST };

void frontier_init(struct frontier *f, enum frontier_of of, const struct program *p,
                   const struct net *net, const struct groups *groups, int64_t rank,
                   double n_ranks, const struct jitter *jitter);
void frontier_release(struct frontier *f);

/* Stragglers among the ranks. */
struct frontier_slow {
    double n_ranks; /* 0: none */
    double slowdown;
};

/* Factors of all tasks of a draw, for the frontier. factors[] of tasks that do not
 * jitter are left as they are; all are 1 before. */
void frontier_draw(const struct frontier *f, struct random_stream random, uint64_t who,
                   struct frontier_slow slow, double *factors);

/* How many times as long a rank takes, and the inner group that it is in. */
struct frontier_pace {
    double rank, group;
};

/* The same for one rank alone; `group` names the inner group, which shares numbers. */
void frontier_draw_rank(const struct frontier *f, struct random_stream random,
                        uint64_t rank, uint64_t group, struct frontier_pace pace,
                        double *factors);

#endif
