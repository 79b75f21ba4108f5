/* A small GPT-2 in eight microbatches, loaded with changes and simulated: what tests of
 * whole steps are built on. */
#ifndef TESTS_STEP_BENCH_H
#define TESTS_STEP_BENCH_H

#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <math.h>

struct job {
    struct cfg_loader loader;
    struct scenario s;
};

/* Strategies, for "sharding={" FULL "}". */
#define FULL "\"strategy\":\"full\""
#define OPTIMIZER "\"strategy\":\"optimizer\""

/* `changes`: pointer=value, separated by blanks; keys of parallelism without
 * pointer. */
static inline void job_load(struct job *j, const char *changes)
{
    static const char text[] =
        "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
        "             'vocab_size': 8192, 'n_positions': 256 },"
        "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
        "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
        "'fp16',"
        "                'microbatches': 8 } }";
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

/* What the result points to goes with it. */
static inline void job_unload(struct job *j)
{
    cfg_loader_release(&j->loader);
}

static inline void job_run_as(struct job *j, struct simulate_options options,
                              struct simulate_result *r)
{
    struct err err = { 0 };
    int rc = simulate(r, &j->loader.arena, &j->s, &options, &err);
    if (rc)
        fprintf(stderr, "simulate: %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
}

static inline void validation_job_run(struct job *j, struct simulate_result *r)
{
    job_run_as(j, (struct simulate_options) { .network = FIDELITY_FLOW }, r);
}

/* Programs and memory of its ranks. */
static inline void job_reps(struct job *j, const struct reps_options *how,
                            struct reps *reps)
{
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(reps_build(reps, &j->loader.arena, &j->s, how, &err), 0);
}

static inline bool job_near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

#endif
