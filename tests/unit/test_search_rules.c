/* The rules of the space of plans against what they are said to be, over all values of
 * small spaces; scores against simulations; what a search keeps and learns. */
#include "plan_bench.h"
#include "scenario_bench.h"
#include "search/plan/front.h"
#include "search/plan/run.h"
#include "search/score/parts.h"
#include "search/score/score.h"
#include "search/space/stacks.h"
#include "search/space/users.h"
#include "search/space/words.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_search_rules_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- rules ------------------------------------------------------------------------ */

/* The values of a point's digits, whether or not a rule allows them. */
static int64_t value(const struct space *s, const struct space_point *p,
                     enum space_field f)
{
    return s->values[f][p->at[f]];
}

static bool divides(int64_t a, int64_t b)
{
    return b % a == 0;
}

/* gpt2 has 12 layers and 12 heads, 768 and 3072 columns. */
static bool allowed_by_megatron(const struct space *s, const struct space_point *p)
{
    int64_t t = value(s, p, SPACE_TENSOR), n = value(s, p, SPACE_PIPELINE),
            v = value(s, p, SPACE_VIRTUAL), micro = value(s, p, SPACE_MICRO), world = 8;
    if (!divides(t, 12) || !divides(t * n, world) || n > 12)
        return false;
    int64_t data = world / (t * n);
    if (!divides(micro * data, s->global_batch))
        return false;
    int64_t m = s->global_batch / (micro * data);
    if (n == 1) {
        if (p->at[SPACE_SCHEDULE] != 0 || v != 1)
            return false;
    } else if (value(s, p, SPACE_SCHEDULE) == SCHEDULE_1F1B) {
        if (v != 1)
            return false;
    } else if (value(s, p, SPACE_SCHEDULE) == SCHEDULE_INTERLEAVED) {
        if (v < 2 || !divides(n * v, 12) || !divides(n, m))
            return false;
    } else {
        return false; /* Megatron-LM has no other */
    }
    if (value(s, p, SPACE_SEQUENCE) && (t == 1 || !divides(t, s->sequence)))
        return false;
    bool sharded = value(s, p, SPACE_SHARDING) == SHARDING_OPTIMIZER;
    return data > 1 || !sharded;
}

/* Of ranks that share one copy of the states, or parts of them. */
static bool allowed_by_deepspeed(const struct space *s, const struct space_point *p)
{
    int64_t micro = value(s, p, SPACE_MICRO), world = 8;
    int64_t how = value(s, p, SPACE_SHARDING), off = value(s, p, SPACE_OFFLOAD);
    if (!divides(micro * world, s->global_batch))
        return false;
    if (off == OFFLOAD_PARAMETERS)
        return how == SHARDING_FULL;
    return off == OFFLOAD_NONE || how != SHARDING_NONE;
}

/* Eager FSDP shards all, or gradients with the optimizer; all also over part of the
 * ranks. */
static bool allowed_by_fsdp(const struct space *s, const struct space_point *p)
{
    int64_t micro = value(s, p, SPACE_MICRO), d = value(s, p, SPACE_DEGREE);
    int64_t how = value(s, p, SPACE_SHARDING);
    if (!divides(micro * 8, s->global_batch) || how == SHARDING_NONE ||
        how == SHARDING_OPTIMIZER)
        return false;
    return d == 0 || (how == SHARDING_FULL && d > 1 && d < 8 && divides(d, 8));
}

/* Next number of mixed radix; false after the last. */
static bool count_up(const struct space *s, struct space_point *p)
{
    for (int f = SPACE_N - 1; f >= 0; f--) {
        if (++p->at[f] < s->n[f])
            return true;
        p->at[f] = 0;
    }
    return false;
}

#define FIELD(f) (1 << SPACE_##f)

/* The number of a point among those that differ in the fields. */
static int64_t number_of(const struct space *s, const struct space_point *p, int fields)
{
    int64_t n = 0;
    for (int f = 0; f < SPACE_N; f++)
        if (fields >> f & 1)
            n = n * s->n[f] + p->at[f];
    return n;
}

/* A combination of those fields is allowed where it is with some order of ranks, some
 * bucket and so on. */
static const struct rules_case {
    struct raw_job words;
    bool (*allowed)(const struct space *s, const struct space_point *p);
    int fields, least; /* combinations that are allowed, and that are not */
} rules_cases[] = {
    { { "gpt2",
        "p3.16xlarge",
        "1",
        24,
        128,
        1 << 4,
        { "tensor=1,2,3,4,5,8", "pipeline=1,2,3,4,16", "virtual_stages=1,2,3,4",
          "micro_batch_size=1,2,3,5,12", "sharding=none,optimizer" } },
      allowed_by_megatron,
      FIELD(TENSOR) | FIELD(PIPELINE) | FIELD(VIRTUAL) | FIELD(MICRO) |
          FIELD(SHARDING) | FIELD(SCHEDULE) | FIELD(SEQUENCE),
      100 },
    { { "gpt2",
        "p3.16xlarge",
        "1",
        24,
        130,
        1 << 4,
        { "tensor=1,2,4", "pipeline=1,2", "micro_batch_size=1", "sharding=none" } },
      allowed_by_megatron,
      FIELD(TENSOR) | FIELD(PIPELINE) | FIELD(SEQUENCE) | FIELD(MICRO) |
          FIELD(SHARDING) | FIELD(SCHEDULE) | FIELD(VIRTUAL),
      4 },
    { { "gpt2",
        "p3.16xlarge",
        "1",
        24,
        128,
        1 << 3,
        { "tensor=1", "pipeline=1", "micro_batch_size=1,2,3" } },
      allowed_by_deepspeed,
      FIELD(MICRO) | FIELD(SHARDING) | FIELD(OFFLOAD),
      4 },
    { { "gpt2",
        "p3.16xlarge",
        "1",
        24,
        128,
        1 << 2,
        { "tensor=1", "pipeline=1", "micro_batch_size=1,2,3",
          "sharding_degree=2,3,4,8,16" } },
      allowed_by_fsdp,
      FIELD(MICRO) | FIELD(SHARDING) | FIELD(DEGREE),
      4 },
};

static void check_rules(const struct rules_case *c, const struct space *s)
{
    int64_t n = 1;
    int allowed = 0, refused = 0;
    for (int f = 0; f < SPACE_N; f++)
        n *= c->fields >> f & 1 ? s->n[f] : 1;
    bool *is = calloc((size_t)n, sizeof(*is)), *should = calloc((size_t)n, sizeof(*is));
    struct space_point p = { 0 };
    do {
        struct space_point q = p;
        int64_t at = number_of(s, &p, c->fields);
        is[at] |= space_fill(s, &q);
        should[at] = c->allowed(s, &p);
    } while (count_up(s, &p));
    for (int64_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(is[i], should[i]);
        allowed += should[i];
        refused += !should[i];
    }
    CU_ASSERT(allowed >= c->least && refused >= c->least);
    free(is);
    free(should);
}

static void test_rules(void)
{
    for (size_t i = 0; i < COUNT(rules_cases); i++) {
        struct planned x;
        open_job(&x, &rules_cases[i].words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        check_rules(&rules_cases[i], &x.job.space);
        close_job(&x);
    }
}

/* --- scores ----------------------------------------------------------------------- */

/* How far scores are from simulations: the least and the largest of simulated over score. */
struct ratio {
    double least, most, log_sum;
};
struct ratios {
    struct ratio time, memory;
    int64_t n;
};

static void take_ratio(struct ratio *r, double ratio)
{
    r->least = fmin(r->least, ratio);
    r->most = fmax(r->most, ratio);
    r->log_sum += log(ratio);
}

/* Of about `most` points of the job, one in so many. */
static struct ratios compare_scores(struct planned *x, int64_t most)
{
    struct ratios all = { { INFINITY, 0, 0 }, { INFINITY, 0, 0 }, 0 };
    struct scorer *scorer = scorer_new(&x->job);
    const struct space *s = &x->job.space;
    int64_t total = 0, at = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < space_slices(s); k++) {
            struct space_iter it;
            space_iter_init(&it, s, k);
            while (space_next(&it)) {
                struct score score;
                struct plan_result r;
                total += pass == 0;
                if (pass == 0 || at++ % (total / most + 1) ||
                    !scorer_point(scorer, &it.p, (double)INFINITY, &score))
                    continue;
                plan_point_simulate(&x->job, &it.p, (struct plan_point_how) { 0 }, &r);
                if (!r.known)
                    continue;
                take_ratio(&all.time, r.step_time_s / score.time_s);
                take_ratio(&all.memory, (double)r.peak_B / score.memory_B);
                all.n++;
            }
        }
    scorer_free(scorer);
    return all;
}

static void check_ratio(const struct ratio *r, int64_t n, const double expected[3])
{
    const double close = 0.02,
                 got[] = { r->least, r->most, exp(r->log_sum / (double)n) };
    for (size_t i = 0; i < COUNT(got); i++) {
        bool as_expected = fabs(got[i] - expected[i]) <= close * expected[i];
        CU_ASSERT_TRUE(as_expected);
        if (!as_expected)
            fprintf(stderr, "ratio %.3f in place of %.3f\n", got[i], expected[i]);
    }
}

/* Least, largest and mean ratios are as they were when scores were last looked at: what
 * changes scores alone, or simulations alone, shows here. */
static void test_scores(void)
{
    static const struct {
        struct raw_job words;
        double time[3], memory[3];
    } cases[] = {
        { { "bert-large-uncased", "p3.16xlarge", "1..4", 64, 128, 1 << 0, { NULL } },
          { 0.990, 1.208, 1.091 },
          { 1.162, 1.191, 1.182 } },
        { { "gpt2-xl", "p4d.24xlarge", "2", 64, 1024, 1 << 2, { NULL } },
          { 0.855, 1.246, 1.018 },
          { 0.830, 2.337, 1.190 } },
        { { "gpt2-xl", "p4d.24xlarge", "2", 64, 1024, 1 << 3, { "pipeline=1" } },
          { 0.918, 1.335, 1.092 },
          { 1.012, 1.398, 1.095 } },
        { { "llama2-7b",
            "p4d.24xlarge",
            "4",
            64,
            2048,
            1 << 4,
            { "tensor=1,2,4,8", "pipeline=1,2,4", "virtual_stages=1,2" } },
          { 0.918, 1.323, 1.010 },
          { 0.899, 1.216, 1.100 } },
        { { "mixtral-8x7b",
            "p5.48xlarge",
            "4",
            64,
            4096,
            1 << 4,
            { "tensor=1,4", "pipeline=2,4", "sharding=optimizer" } },
          { 0.940, 1.182, 1.049 },
          { 0.820, 1.130, 1.032 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct planned x;
        open_job(&x, &cases[i].words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        struct ratios r = compare_scores(&x, 40);
        CU_ASSERT(r.n >= 30);
        check_ratio(&r.time, r.n, cases[i].time);
        check_ratio(&r.memory, r.n, cases[i].memory);
        close_job(&x);
    }
}

/* Ranks of a group that are so far apart, over nodes of so many GPUs: counted one by
 * one. */
static void test_groups(void)
{
    for (int64_t gpus = 1; gpus <= 16; gpus *= 2)
        for (int64_t stride = 1; stride <= 64; stride *= 2)
            for (int64_t n = 1; n <= 64; n *= 2) {
                const struct score_group g = score_group_of(n, stride, gpus);
                int64_t nodes = 0, of_first = 0;
                for (int64_t i = 0, last = -1; i < n; i++) {
                    int64_t node = i * stride / gpus;
                    nodes += node != last;
                    of_first += node == 0;
                    last = node;
                }
                CU_ASSERT_EQUAL(g.per, of_first);
                CU_ASSERT_EQUAL(g.nodes, nodes);
                if (g.per > 1)
                    CU_ASSERT_EQUAL(g.stride, stride);
            }
}

/* --- what a search learns --------------------------------------------------------- */

/* The first points of a job, as if they had been simulated to `ratio` times their score
 * and `memory` times their score's memory. */
static void make_run(struct plan_run *run, struct planned *x,
                     const struct plan_options *o, const double (*ratios)[2], int n)
{
    struct space_iter it;
    *run = (struct plan_run) { .job = &x->job, .o = o };
    space_iter_init(&it, &x->job.space, 0);
    for (int i = 0; i < n && space_next(&it); i++) {
        struct candidate c = { .time_s = 2, .memory_B = 4e9 };
        memcpy(c.at, it.p.at, sizeof(c.at));
        CU_ASSERT(plan_run_choose(run, &c));
        CU_ASSERT_FALSE(plan_run_choose(run, &c)); /* it is there */
        struct plan_result *r = &run->all.v[i].result;
        r->known = r->timed = ratios[i][0] > 0;
        r->step_time_s = ratios[i][0] * c.time_s;
        r->peak_B = (int64_t)(ratios[i][1] * c.memory_B);
    }
    CU_ASSERT_EQUAL(run->all.n, n);
}

static const struct raw_job one_kind = { "gpt2",
                                         "p3.8xlarge",
                                         "1",
                                         64,
                                         128,
                                         1 << 0,
                                         { "tensor=1", "micro_batch_size=1,2,4,8,16",
                                           "activation_checkpointing=none",
                                           "sharding=none" } };

/* Medians of what was simulated over its score, and how far the others are from it. */
static void test_learns(void)
{
    static const double ratios[][2] = {
        { 1.0, 1.2 }, { 1.5, 1.0 }, { 0, 9 }, { 1.2, 1.1 }, { 1.1, 1.5 }, { 1.3, 1.3 },
    };
    struct planned x;
    struct plan_run run;
    const struct plan_options o = { .simulate_most = 5 };
    open_job(&x, &one_kind);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    make_run(&run, &x, &o, ratios, COUNT(ratios));
    CU_ASSERT_EQUAL(plan_run_score_error(&run, 100), 0); /* nothing is learnt */
    plan_run_learn(&run);
    const struct space_point *p = &run.all.v[0].point;
    double time_s, memory_B;
    const struct candidate c = { .time_s = 10, .memory_B = 100 };
    plan_run_correct(&run, p, &c, &time_s, &memory_B);
    CU_ASSERT_DOUBLE_EQUAL(time_s, 12, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(memory_B, 120, 1e-6);
    plan_run_correct(NULL, p, &c, &time_s, &memory_B);
    CU_ASSERT_EQUAL(time_s, 10);
    CU_ASSERT_EQUAL(memory_B, 100);
    /* the largest but for one in ten: 1.5 of a median of 1.2 */
    CU_ASSERT_DOUBLE_EQUAL(plan_run_score_error(&run, 100), 1.5 / 1.2 - 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(plan_run_score_error(&run, 2.7), 1 - 1 / 1.2, 1e-9);
    CU_ASSERT_EQUAL(plan_run_score_error(&run, 1), 0);
    CU_ASSERT_DOUBLE_EQUAL(run.memory_band, 2 * (1.5 / 1.2 - 1), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(run.time_band, 0.03, 1e-12); /* no plan is the best */
    struct plan_run_odds odds = plan_run_odds(&run, 1);
    CU_ASSERT_EQUAL(odds.n, 5);
    CU_ASSERT_DOUBLE_EQUAL(odds.chance, 4 / 6.0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(odds.largest_error, 0.25, 1e-9);
    run.all.v[1].result.timed = false; /* too large: memory counts, no time */
    plan_run_learn(&run);
    CU_ASSERT_EQUAL(plan_run_odds(&run, 1).n, 4);
    CU_ASSERT_DOUBLE_EQUAL(run.memory_band, 2 * (1.5 / 1.2 - 1), 1e-9);
    VEC_RELEASE(&run.all);
    close_job(&x);
}

/* --- what a search lists ---------------------------------------------------------- */

static void test_front(void)
{
    static const struct {
        double time_s;
        int64_t peak_B;
        bool on_front;
    } cases[] = {
        { 5, 10, true },  { 1, 90, true },  { 2, 95, false }, { 3, 50, true },
        { 4, 50, false }, { 3, 60, false }, { 6, 9, true },
    };
    struct planned x;
    struct plan_entry entries[COUNT(cases)] = { 0 };
    int32_t front[COUNT(cases)];
    open_job(&x, &one_kind);
    for (size_t i = 0; i < COUNT(cases); i++) {
        entries[i].result.step_time_s = cases[i].time_s;
        entries[i].result.peak_B = cases[i].peak_B;
        entries[i].usd_per_hour = 3600 * 64;
    }
    const struct plan_outcome out = { .n_entries = COUNT(cases), .entries = entries };
    int32_t n = plan_front(front, &x.job, &out, PLAN_AXIS_MEMORY), expected = 0;
    for (int32_t i = 0; i < n; i++) {
        CU_ASSERT(cases[front[i]].on_front);
        CU_ASSERT(i == 0 || cases[front[i]].time_s > cases[front[i - 1]].time_s);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expected += cases[i].on_front;
    CU_ASSERT_EQUAL(n, expected);
    CU_ASSERT_DOUBLE_EQUAL(plan_axis_value(&x.job, &entries[0], PLAN_AXIS_COST), 5e6,
                           1e-3);
    close_job(&x);
}

/* Nothing is simulated twice; what is listed is of one standing, in order, and all of
 * that standing that was simulated. */
static void test_listed(void)
{
    static const struct raw_job jobs[] = {
        { "gpt2-xl", "p3.16xlarge", "1", 32, 512, 1 << 2 | 1 << 4, { NULL } },
        { "bert-large-uncased", "g4dn.12xlarge", "1", 64, 512, 0, { NULL } },
    };
    for (size_t i = 0; i < COUNT(jobs); i++) {
        struct planned x;
        struct plan_outcome out;
        struct err err = { 0 };
        const struct plan_options o = { .simulate_most = 30 };
        int64_t of_standing = 0;
        open_job(&x, &jobs[i]);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        CU_ASSERT_EQUAL_FATAL(plan_search(&out, &x.loader.arena, &x.job, &o, &err), 0);
        CU_ASSERT_FATAL(out.n_entries > 3);
        CU_ASSERT_EQUAL(out.n_tried, out.simulated);
        for (int32_t k = 0; k < out.n_tried; k++) {
            of_standing += out.tried[k].standing == out.entries[0].standing;
            CU_ASSERT(k == 0 ||
                      space_compare(&out.tried[k - 1].point, &out.tried[k].point) < 0);
            CU_ASSERT_PTR_EQUAL(plan_tried(&out, &out.tried[k].point), &out.tried[k]);
        }
        CU_ASSERT_EQUAL(of_standing, out.n_entries);
        for (int32_t k = 1; k < out.n_entries; k++) {
            CU_ASSERT_EQUAL(out.entries[k].standing, out.entries[0].standing);
            CU_ASSERT(out.entries[k].key >= out.entries[k - 1].key);
        }
        close_job(&x);
    }
}

/* --- jobs ------------------------------------------------------------------------- */

/* What is tried where nobody says what: micro-batches of powers of two, and one and a half
 * times those where they divide the batch; divisors of heads up to two nodes, of experts;
 * any number of stages up to the layers; contexts of long sequences alone. */
static void test_tried(void)
{
    enum { MOST = 12 };
    static const struct {
        const char *model, *instance;
        int64_t sequence;
        enum space_field field;
        int64_t expected[MOST]; /* 0 ends, but for the first */
    } cases[] = {
        { "gpt2",
          "p3.8xlarge",
          128,
          SPACE_MICRO,
          { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128 } },
        { "gpt2", "p3.8xlarge", 128, SPACE_TENSOR, { 1, 2, 3, 4, 6 } },
        { "gpt2", "p3.16xlarge", 128, SPACE_TENSOR, { 1, 2, 3, 4, 6, 12 } },
        { "gpt2",
          "p3.8xlarge",
          128,
          SPACE_PIPELINE,
          { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
        { "gpt2", "p3.8xlarge", 128, SPACE_CONTEXT, { 1 } },
        { "llama3-8b", "p4d.24xlarge", 8192, SPACE_CONTEXT, { 1, 2, 4, 8, 16, 32 } },
        { "gpt2", "p3.8xlarge", 128, SPACE_EXPERT, { 1 } },
        { "mixtral-8x7b", "p5.48xlarge", 4096, SPACE_EXPERT, { 1, 2, 4, 8 } },
        { "gpt2", "p3.8xlarge", 128, SPACE_DEGREE, { 0, 4, 8, 16, 32, 64, 128, 256 } },
        { "gpt2", "p3.8xlarge", 128, SPACE_VIRTUAL, { 1, 2, 3, 4, 6, 8, 12 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct raw_job words = {
            cases[i].model, cases[i].instance, "1", 24, cases[i].sequence, 0, { NULL }
        };
        const enum space_field f = cases[i].field;
        struct planned x;
        int32_t n = 1;
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        while (n < MOST && cases[i].expected[n])
            n++;
        CU_ASSERT_EQUAL_FATAL(x.job.space.n[f], n);
        for (int32_t k = 0; k < n; k++)
            CU_ASSERT_EQUAL(x.job.space.values[f][k], cases[i].expected[k]);
        close_job(&x);
    }
}

static void test_own_prices(void)
{
    static const struct {
        const char *price;
        bool well;
    } cases[] = {
        { "p4d.24xlarge=0", true },
        { "p4d.24xlarge=-1", false },
        { "p4d.24xlarge=1e9", false },
        { "p4d.24xlarge=2e9USD/h", false },
        { "p4d.24xlarge=-3USD/h", false },
        { "p4d.24xlarge=3EUR", false },
        { "p4d.24xlarge", false },
        { "p5.48xlarge=3", false },
        { "p4d.24xlarge=999999999", true },
        { "ml.p4d.24xlarge=7USD/h", true },
        { "p4d.24xlarge=7USD/h extra", false },
        { "p4d.24xlarge=", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *prices[] = { cases[i].price };
        const struct plan_request r = { .model = "gpt2",
                                        .instances = "p4d.24xlarge",
                                        .global_batch = 64,
                                        .sequence = 128,
                                        .prices = { 1, prices } };
        struct planned x;
        cfg_loader_init(&x.loader);
        CU_ASSERT_EQUAL(plan_job_init(&x.job, &x.loader, &r), cases[i].well ? 0 : -1);
        CU_ASSERT_EQUAL(x.loader.diags.n_errors, !cases[i].well);
        close_job(&x);
    }
}

/* What plans choose themselves is not said to be assumed. */
static void test_assumed(void)
{
    static const struct raw_job words = { "gpt2", "p4d.24xlarge", "2", 64, 128,
                                          0,      { NULL } };
    struct planned x;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    CU_ASSERT(x.job.assumed.n > 2);
    for (int32_t i = 0; i < x.job.assumed.n; i++) {
        const char *pointer = x.job.assumed.v[i].pointer;
        CU_ASSERT_STRING_NOT_EQUAL(pointer, "/training/activation_checkpointing");
        CU_ASSERT_NOT_EQUAL(strncmp(pointer, "/parallelism/", 13), 0);
    }
    CU_ASSERT(assumptions_has(&x.job.assumed, "/training/precision"));
    CU_ASSERT(assumptions_has(&x.job.assumed, "/cluster/quality"));
    close_job(&x);
}

/* --- texts and scenarios ---------------------------------------------------------- */

static void test_value_texts(void)
{
    static const struct {
        enum space_field field;
        int64_t value;
        const char *text;
    } cases[] = {
        { SPACE_INSTANCE, 0, "p3.8xlarge" },
        { SPACE_TENSOR, 8, "8" },
        { SPACE_TENSOR, 20, "20" },
        { SPACE_CHECKPOINTING, CHECKPOINT_NONE, "none" },
        { SPACE_CHECKPOINTING, CHECKPOINT_SELECTIVE, "selective" },
        { SPACE_CHECKPOINTING, CHECKPOINT_FULL, "full" },
        { SPACE_CHECKPOINTING, SPACE_GROUP + 4, "every 4 layers" },
        { SPACE_SHARDING, SHARDING_FULL, "full" },
        { SPACE_BUCKET, 25 << 20, "25 MiB" },
        { SPACE_BUCKET, 0, "0" },
        { SPACE_SEQUENCE, 1, "true" },
        { SPACE_OVERLAP, 0, "false" },
        { SPACE_LIBRARY, 4, "megatron" },
    };
    struct planned x;
    open_job(&x, &one_kind);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[60];
        space_value_text(&x.job.space, cases[i].field, cases[i].value, text,
                         sizeof(text));
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
    close_job(&x);
}

/* Overlap within products is tried with sequence parallelism, where the library's profile
 * has it and leaves it off: megatron-core on Hopper, not megatron-2022 on V100. */
static void test_overlap_is_asked(void)
{
    static const struct {
        const char *instance;
        bool tried;
    } cases[] = { { "p5.48xlarge", true }, { "p3.16xlarge", false } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct raw_job words = { "gpt2",
                                 cases[i].instance,
                                 "1",
                                 24,
                                 128,
                                 1 << 4,
                                 { "tensor=1,4", "pipeline=1", "sharding=none" } };
        struct planned x;
        int64_t n = 0;
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        for (int64_t k = 0; k < space_slices(&x.job.space); k++) {
            struct space_iter it;
            space_iter_init(&it, &x.job.space, k);
            while (space_next(&it)) {
                json_t *o = plan_point_parallelism(&x.job.space, &it.p);
                bool asked = json_is_true(json_object_get(o, "overlap_tensor"));
                CU_ASSERT_EQUAL(asked, it.p.v[SPACE_OVERLAP] == 1);
                CU_ASSERT(!asked ||
                          (it.p.v[SPACE_SEQUENCE] && it.p.v[SPACE_TENSOR] > 1));
                n += asked;
                json_decref(o);
            }
        }
        CU_ASSERT_EQUAL(n > 0, cases[i].tried);
        close_job(&x);
    }
}

static void check_scenario(struct planned *x, const struct space_point *p)
{
    struct cfg_loader loader;
    struct scenario s = { 0 };
    cfg_loader_init(&loader);
    json_t *tree = plan_point_json(&x->job, p);
    int rc = scenario_read(&s, &loader, cfg_from_tree(&loader, "scenario", tree));
    if (rc)
        fprintf(stderr, "%s\n", diags_error_text(&loader.diags, 0));
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    const struct parallelism *q = &s.parallel;
    CU_ASSERT_EQUAL(q->tensor, p->v[SPACE_TENSOR]);
    CU_ASSERT_EQUAL(q->pipeline, p->v[SPACE_PIPELINE]);
    CU_ASSERT_EQUAL(q->context, p->v[SPACE_CONTEXT]);
    CU_ASSERT_EQUAL(q->expert, p->v[SPACE_EXPERT]);
    CU_ASSERT_EQUAL(q->stages.virtual_stages, p->v[SPACE_VIRTUAL]);
    CU_ASSERT_EQUAL(q->split.sequence_parallel, p->v[SPACE_SEQUENCE] != 0);
    CU_ASSERT(!p->v[SPACE_OVERLAP] || q->split.hidden_frac > 0);
    CU_ASSERT_EQUAL(s.cluster.n_gpus, p->world);
    CU_ASSERT_EQUAL(s.training.global_batch_size, x->job.space.global_batch);
    CU_ASSERT_EQUAL(s.training.microbatches * s.training.accumulation, p->pieces);
    if (p->v[SPACE_PIPELINE] > 1)
        CU_ASSERT_EQUAL((int64_t)q->stages.schedule, p->v[SPACE_SCHEDULE]);
    if (p->v[SPACE_SHARDING] == SHARDING_FULL)
        CU_ASSERT_EQUAL((int64_t)q->shard.strategy, SHARDING_FULL);
    cfg_loader_release(&loader);
}

/* The scenario of a point has the degrees of the point, in every library's words. */
static void test_scenarios(void)
{
    static const struct raw_job jobs[] = {
        { "gpt2",
          "p3.16xlarge",
          "2",
          64,
          128,
          1 << 4,
          { "pipeline=1,2,4", "tensor=1,2", "micro_batch_size=1,2" } },
        { "gpt2",
          "ml.p3.16xlarge",
          "2",
          64,
          128,
          1 << 5,
          { "pipeline=1,2", "tensor=1,2", "micro_batch_size=1,2" } },
        { "gpt2", "ml.p4d.24xlarge", "2", 64, 128, 1 << 6, { "micro_batch_size=1,2" } },
        { "gpt2",
          "p4d.24xlarge",
          "2",
          64,
          128,
          1 << 2 | 1 << 3 | 1 << 8 | 1 << 10,
          { "micro_batch_size=1,2", "tensor=1,2", "pipeline=1,2" } },
        { "mixtral-8x7b",
          "p5.48xlarge",
          "2",
          64,
          1024,
          1 << 4,
          { "micro_batch_size=1", "tensor=1,2", "pipeline=1,2", "expert=1,4,8" } },
    };
    enum { EACH = 40 };
    for (size_t i = 0; i < COUNT(jobs); i++) {
        struct planned x;
        int64_t total = 0, at = 0, n = 0;
        open_job(&x, &jobs[i]);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0; k < space_slices(&x.job.space); k++) {
                struct space_iter it;
                space_iter_init(&it, &x.job.space, k);
                while (space_next(&it)) {
                    total += pass == 0;
                    if (pass == 0 || at++ % (total / EACH + 1))
                        continue;
                    check_scenario(&x, &it.p);
                    n++;
                }
            }
        CU_ASSERT(n > EACH / 4);
        close_job(&x);
    }
}

/* Which degrees the users of a model have: a degree or a library that they name is one
 * that they have. */
static void test_users(void)
{
    static const struct {
        enum space_field degree;
        enum space_stack_row stack;
        bool given, named, decodes, can;
    } cases[] = {
        { SPACE_CONTEXT, STACK_DDP, false, false, true, false },
        { SPACE_CONTEXT, STACK_DDP, true, false, true, true },
        { SPACE_TENSOR, STACK_FSDP, false, false, true, false },
        { SPACE_TENSOR, STACK_FSDP, true, false, true, true },
        { SPACE_PIPELINE, STACK_FSDP, false, false, true, true },
        { SPACE_PIPELINE, STACK_FSDP, false, false, false, false },
        { SPACE_PIPELINE, STACK_FSDP, true, false, false, true },
        { SPACE_MICRO, STACK_DDP, false, false, true, true },
        { SPACE_MICRO, STACK_NANOTRON, false, false, true, false },
        { SPACE_TENSOR, STACK_NANOTRON, false, true, true, true },
        { SPACE_CONTEXT, STACK_MEGATRON, false, false, true, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct model model = { .arch = cases[i].decodes ? MODEL_DECODER
                                                              : MODEL_ENCODER,
                                     .family = "gpt2" };
        struct space s = { .model = &model,
                           .script = SPACE_SCRIPT_PRETRAINING,
                           .named_stacks = (uint32_t)cases[i].named << cases[i].stack };
        struct space_point p = { .v = { [SPACE_LIBRARY] = cases[i].stack } };
        s.given[cases[i].degree] = cases[i].given;
        p.v[cases[i].degree] = 2;
        CU_ASSERT_EQUAL(space_users_can(&s, &p), cases[i].can);
    }
}

/* --- scores of layers ------------------------------------------------------------- */

static double routed_B(const char *dense)
{
    static const char text[] =
        "{ 'model': { 'model_type': 'qwen3_moe', 'num_hidden_layers': 4, "
        "'hidden_size': "
        "512, 'num_attention_heads': 8, 'num_key_value_heads': 8, 'head_dim': 64, "
        "'vocab_size': 8192, 'intermediate_size': 1024, 'moe_intermediate_size': 256, "
        "'num_experts': 8, 'num_experts_per_tok': 2, 'max_position_embeddings': 256 }, "
        "'cluster': { 'instance': 'p4d.24xlarge', 'count': 1 }, 'training': { "
        "'sequence_length': 256, 'micro_batch_size': 2, 'precision': 'bf16' } }";
    struct cfg_loader loader;
    struct scenario s;
    struct score_layer layer;
    bench_scenario_of(&loader, NULL, &s, text, "", dense);
    score_layer_make(&layer, &s, s.cluster.groups[0].instance->gpu);
    cfg_loader_release(&loader);
    return layer.routed_B;
}

/* Of layers in the mean: dense ones send no tokens to experts. */
static void test_routed(void)
{
    double all_B = routed_B("/model/mlp_only_layers=[]");
    CU_ASSERT_DOUBLE_EQUAL(all_B, 512 * 2 * 2 * 512, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(routed_B("/model/mlp_only_layers=[0]"), all_B * 3 / 4, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(routed_B("/model/mlp_only_layers=[0,1,2,3]"), 0, 1e-6);
}

void test_search_rules_register(void)
{
    CU_pSuite suite = CU_add_suite("search_rules", NULL, NULL);
    CU_add_test(suite, "rules are what they say", test_rules);
    CU_add_test(suite, "overlap within products is asked for", test_overlap_is_asked);
    CU_add_test(suite, "scores are near simulations", test_scores);
    CU_add_test(suite, "groups of scores", test_groups);
    CU_add_test(suite, "what simulations say of scores", test_learns);
    CU_add_test(suite, "the front", test_front);
    CU_add_test(suite, "what is listed", test_listed);
    CU_add_test(suite, "values that are tried", test_tried);
    CU_add_test(suite, "prices of one's own", test_own_prices);
    CU_add_test(suite, "layers that route tokens", test_routed);
    CU_add_test(suite, "what is assumed", test_assumed);
    CU_add_test(suite, "degrees that users have", test_users);
    CU_add_test(suite, "values as they are written", test_value_texts);
    CU_add_test(suite, "scenarios have the degrees of their plans", test_scenarios);
}
