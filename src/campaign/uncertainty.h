/* Uncertainty of a job (the scenario's "uncertainty" section): jitter and stragglers
 * make step times a distribution, failures leave part of the time to useful work. Both
 * by Monte Carlo, draw by draw, on all cores; results depend on the seed alone, not on
 * the number of threads (MODEL.md, "Uncertainty").
 *
 *   { "seed": 1, "samples": 500,
 *     "compute_jitter": { "distribution": "lognormal", "cv": 0.03, "per": "pass" },
 *     "host_jitter":    { "distribution": "gamma", "cv": 0.2 },
 *     "link_jitter":    { "distribution": "lognormal", "cv": 0.1 },
 *     "stragglers":     { "probability": 0.001, "slowdown": 1.5 },
 *     "failures":       { "mtbf_hours": 50000, "checkpoint_time_s": 60 } } */
#ifndef CAMPAIGN_UNCERTAINTY_H
#define CAMPAIGN_UNCERTAINTY_H

#include "campaign/failure.h"
#include "simulate/simulate.h"

#include <jansson.h>

enum jitter_per { /* what has a factor of its own */
                  JITTER_PER_KERNEL,
                  JITTER_PER_PASS, /* forward or backward of one microbatch */
                  JITTER_PER_STEP
};

struct jitter {
    enum random_law law;
    double cv; /* 0: none */
    enum jitter_per per;
};

struct stragglers {
    double probability; /* of a GPU, in a step */
    int64_t count;      /* of GPUs, any; 0: by probability */
    double slowdown;    /* of their kernels; 1: none */
};

enum failure_per { FAILURE_PER_GPU, FAILURE_PER_INSTANCE };

struct failures {
    bool given;
    double mtbf_hours; /* of one GPU or instance */
    enum failure_per per;
    enum failure_law law;
    double shape;
    double interval_s;   /* useful work between checkpoints; 0: the optimum */
    double checkpoint_s; /* 0: by storage_Bps, or the job's own */
    double storage_Bps;  /* that all states are written with */
    double restart_s;
    double job_hours; /* useful work of a draw; 0: the job's, or a week */
};

struct uncertainty {
    bool given;
    int64_t seed, samples;
    struct jitter compute, host, link;
    struct stragglers stragglers;
    struct failures failures;
};

struct distribution { /* of one quantity over the draws */
    double mean, sd, p5, p50, p95;
};

struct goodput_result {
    struct failure_process process;
    struct distribution steps_per_day;
    double fraction; /* of the time, that is useful: mean over the draws */
    double lost, checkpoints, restarts; /* likewise; the four sum to 1 */
    double failures_per_day;
    double expected_fraction; /* Daly's; NAN where failures are not exponential */
    double job_hours;         /* of useful work */
    int64_t gave_up;          /* draws in which the job hardly went on */
};

struct uncertainty_result {
    bool given, has_goodput;
    int64_t seed, samples;
    bool varies;   /* there is jitter, or a straggler */
    bool unfolded; /* every rank was drawn; else the largest of equal ones */
    struct distribution step_time_s;
    double slowdown;      /* mean over the step without */
    double samples_per_s; /* in the mean */
    struct goodput_result goodput;
};

/* Ranks up to which each is drawn; beyond, equal ranks are drawn by the largest of them
 * (unless every rank is asked for). */
enum { UNCERTAINTY_UNFOLDED_MAX = 32 };

/* Reads the section; absent: nothing is given. `job_saves`: the job has checkpoints of
 * its own, whose time need not be said again. Every error is reported; -1 then. */
int uncertainty_read(struct uncertainty *u, const struct scenario *s, struct cfg at,
                     bool job_saves);

/* What is drawn around. */
struct uncertainty_step {
    double time_s;  /* of the step without jitter */
    double least_s; /* that it takes whatever is drawn: it waits for input; 0: none */
    double checkpoint_s, interval_s; /* of the job's own checkpoints; 0: it has none */
};

typedef void uncertainty_progress_fn(void *arg, int64_t done, int64_t total);

struct uncertainty_draws {             /* how they are made */
    enum fidelity network;             /* analytic or flow */
    bool unfold;                       /* every rank, however many */
    int jobs;                          /* threads; 0: all */
    uncertainty_progress_fn *progress; /* NULL: none; by one thread at a time */
    void *arg;
};

/* Fails at what cannot be simulated. */
int uncertainty_run(struct uncertainty_result *r, const struct uncertainty *u,
                    const struct scenario *s, const struct uncertainty_step *step,
                    const struct uncertainty_draws *how, struct err *err);

/* A new tree; NULL where nothing is given. */
extern const struct contract_object uncertainty_contract;
json_t *uncertainty_json(const struct uncertainty_result *r);

#endif
