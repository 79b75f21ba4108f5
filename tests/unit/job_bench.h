/* A job of BERT-large on two p3.16xlarge: the base of tests of jobs and their
 * input. */
#ifndef TESTS_JOB_BENCH_H
#define TESTS_JOB_BENCH_H

#include "campaign_bench.h"

#include <math.h>

static const char base_text[] =
    "{ 'model': 'bert-large-uncased',"
    "  'cluster': { 'instance': 'ml.p3.16xlarge', 'count': 2 },"
    "  'training': { 'task': 'question-answering', 'sequence_length': 384,"
    "                'micro_batch_size': 4, 'precision': 'amp_fp16',"
    "                'samples': 64000, 'epochs': 1 },"
    "  'parallelism': { 'library': 'ddp', 'backend': 'nccl' },"
    "  'job': {} }";

static inline void load(struct loaded *l, const char *changes)
{
    bench_campaign(l, base_text, changes);
}

static inline void load_ok(struct loaded *l, const char *changes)
{
    load(l, changes);
    diags_print_errors(&l->loader.diags, stderr);
    CU_ASSERT_EQUAL_FATAL(l->rc, 0);
}

static inline const struct instance *instance_of(const struct loaded *l)
{
    return l->s.cluster.groups[0].instance;
}

static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* What a step with parts of its own comes to, without a replay. */
static inline struct simulate_result step_of(double step_s)
{
    return (struct simulate_result) {
        .step_time_s = step_s,
        .samples_per_s = 64 / step_s,
        .parts_s = { [CATEGORY_COMPUTE] = 0.6 * step_s,
                     [CATEGORY_DATA_COMM_EXPOSED] = 0.3 * step_s,
                     [CATEGORY_OPTIMIZER] = 0.1 * step_s },
        .layer = { .forward_s = 1e-3, .backward_s = 2e-3 },
        .cost = { .has_price = true, .usd_per_hour = 56.304, .has_job = true },
    };
}

#endif
