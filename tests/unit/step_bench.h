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

/* The step of a job that is a text, at flow fidelity. Arrays of *r are gone. */
static inline double job_text_step_s(const char *text, bool unfold,
                                     struct simulate_result *r)
{
    struct job j;
    struct err err = { 0 };
    cfg_loader_init(&j.loader);
    struct cfg root = cfg_parse(&j.loader, "job", text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&j.s, &j.loader, root), 0);
    const struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = unfold };
    int rc = simulate(r, &j.loader.arena, &j.s, &how, &err);
    CU_ASSERT_STRING_EQUAL(err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    double s = r->step_time_s;
    job_unload(&j);
    return s;
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

/* Ranks simulated one by one, or in detail, take the time (in detail to within a share)
 * and memory of passes. `changes`: as for job_load. */
static inline void job_agrees(const char *text, const char *changes, double detailed)
{
    struct job j;
    struct simulate_result r[3];
    bench_scenario(&j.loader, &j.s, text, "/parallelism/", changes);
    for (int k = 0; k < 3; k++)
        job_run_as(&j,
                   (struct simulate_options) {
                       .network = FIDELITY_FLOW, .unfold = k == 1, .detail = k == 2 },
                   &r[k]);
    CU_ASSERT(job_near(r[1].step_time_s, r[0].step_time_s, 1e-9));
    CU_ASSERT(job_near(r[2].step_time_s, r[0].step_time_s, detailed));
    CU_ASSERT_EQUAL(r[1].memory.peak_B, r[0].memory.peak_B);
    CU_ASSERT_EQUAL(r[2].memory.peak_B, r[0].memory.peak_B);
    job_unload(&j);
}

#endif
