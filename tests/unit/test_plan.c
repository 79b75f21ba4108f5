/* Plans: the memory bound and the default search against simulating everything, threads,
 * and scenarios that simulate to the time of their plan. */
#include "report/plan_report.h"
#include "search/plan.h"
#include "search/plan/score.h"
#include "search/score/score.h"

#include "draw_bench.h"
#include "layout/partition.h"
#include "plan_bench.h"
#include "search/space/forms.h"
#include "search/space/layout.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_plan_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- searches --------------------------------------------------------------------- */

/* Small enough to simulate all of it. */
static const struct raw_job small[] = {
#define SMALL(m, i, n, b, s, f, ...) \
    {                                \
        m, i, n, b, s, f,            \
        {                            \
            __VA_ARGS__              \
        }                            \
    }
    SMALL("gpt2", "p3.8xlarge", "1", 16, 128, 1 << 0, NULL),
    SMALL("gpt2", "p3.8xlarge", "2", 32, 128, 1 << 0, NULL),
    SMALL("gpt2", "p3.8xlarge", "1", 16, 128, 1 << 2, NULL),
    SMALL("gpt2", "p3.8xlarge", "2", 32, 256, 1 << 2, NULL),
    SMALL("gpt2", "p3.8xlarge", "1", 16, 128, 1 << 3, "pipeline=1,2", "tensor=1,2"),
    SMALL("gpt2", "p3.8xlarge", "1", 16, 128, 1 << 4, "pipeline=1,2", "tensor=2"),
    SMALL("gpt2", "p3.8xlarge", "1", 8, 512, 1 << 4, "pipeline=1,4", "tensor=1,2"),
    SMALL("gpt2", "p3.16xlarge", "1", 16, 256, 1 << 5, "pipeline=1,2", "tensor=2"),
    SMALL("gpt2", "p3.16xlarge", "1", 16, 256, 1 << 0 | 1 << 2, NULL),
    SMALL("gpt2", "p4d.24xlarge", "1", 64, 256, 1 << 0 | 1 << 2, NULL),
    SMALL("gpt2", "p4d.24xlarge", "1..2", 64, 256, 1 << 0, NULL),
    SMALL("gpt2", "p4d.24xlarge", "2", 64, 256, 1 << 6, "tensor=1,2"),
    SMALL("gpt2-medium", "p3.8xlarge", "1", 16, 128, 1 << 0 | 1 << 1, NULL),
    SMALL("gpt2-medium", "p3.8xlarge", "1", 16, 128, 1 << 3, "pipeline=1", "tensor=1"),
    SMALL("bert-base-uncased", "p3.8xlarge", "1..2", 32, 128, 1 << 0, NULL),
    SMALL("bert-base-uncased", "p3.8xlarge", "1", 32, 128, 1 << 2, NULL),
    SMALL("bert-base-uncased", "g4dn.12xlarge", "1", 32, 128, 1 << 0 | 1 << 2, NULL),
    SMALL("bert-base-uncased", "g5.12xlarge,p3.8xlarge", "1", 32, 128, 1 << 0, NULL),
    SMALL("bert-large-uncased", "p3.16xlarge", "1", 32, 128, 1 << 0, NULL),
    SMALL("bert-large-uncased", "p3.16xlarge", "1", 32, 128, 1 << 3, "pipeline=1",
          "tensor=1"),
    SMALL("gpt2", "p3.16xlarge", "1", 16, 128, 1 << 4, "pipeline=4",
          "micro_batch_size=1,2,4", "tensor=1,2"),
    SMALL("gpt2", "p3.8xlarge", "2", 32, 128, 1 << 4, "pipeline=2", "tensor=1,4"),
    SMALL("bert-base-uncased", "p3.16xlarge", "1", 32, 128, 1 << 3, "pipeline=1,2",
          "tensor=1,2"),
    SMALL("gpt2", "p4d.24xlarge", "2", 64, 256, 1 << 2, "pipeline=1,2,4",
          "micro_batch_size=1,2"),
#undef SMALL
};
enum { N_SMALL = sizeof(small) / sizeof(small[0]) };

static void search(struct plan_outcome *out, struct planned *x, bool exhaustive)
{
    const struct plan_options o = { .simulate_most = 20, .exhaustive = exhaustive };
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(plan_search(out, &x->loader.arena, &x->job, &o, &err), 0);
}

/* The default finds what simulating everything finds. */
static void test_exhaustive(void)
{
    int narrowed = 0; /* spaces of which the default simulates a part */
    for (int i = 0; i < N_SMALL; i++) {
        struct planned x;
        struct plan_outcome fast, all;
        /* of which checkpoints of all kinds differ */
        open_job_with(&x, &small[i], "/training/attention=unfused");
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        search(&fast, &x, false);
        search(&all, &x, true);
        CU_ASSERT_FATAL(fast.n_entries > 0 && all.n_entries > 0);
        CU_ASSERT_EQUAL(fast.evaluated, all.evaluated);
        if (fast.entries[0].value != all.entries[0].value) {
            fprintf(stderr, "small space %d: %.6g s, but %.6g s is possible\n", i,
                    fast.entries[0].value, all.entries[0].value);
            CU_FAIL("the default search misses the best");
        }
        CU_ASSERT_EQUAL(all.simulated, all.feasible);
        narrowed += fast.simulated < all.simulated;
        close_job(&x);
    }
    CU_ASSERT(narrowed >= 20);
}

/* Where the search leaves a time out, the point is too large by more than the error of
 * memory, and what is said of the rest is the same. Whether it has left it out. */
static bool check_if_fits(const struct plan_job *job, const struct space_point *p,
                          const struct plan_result *whole)
{
    struct plan_result r;
    plan_point_simulate(job, p, (struct plan_point_how) { .if_fits = true }, &r);
    CU_ASSERT(r.known && r.fits == whole->fits);
    CU_ASSERT(r.timed || !(whole->fits || whole->near_limit));
    CU_ASSERT(r.peak_B == whole->peak_B || (!r.timed && r.peak_B < whole->peak_B));
    CU_ASSERT(!r.timed || r.step_time_s == whole->step_time_s);
    return !r.timed;
}

/* No point that the simulator lets fit is beyond the bound; spaces at the limit. */
static void test_bound(void)
{
    static const struct raw_job tight[] = {
        { "gpt2-large", "p3.8xlarge", "1", 32, 512, 0, { "tensor=1,2,4" } },
        { "gpt2-xl", "p3.16xlarge", "1", 32, 512, 0, { "tensor=1,2,4,8" } },
        { "gpt2-xl", "p3.16xlarge", "1", 32, 512, 1 << 5, { "tensor=1,2,4" } },
        { "bert-large-uncased", "g4dn.12xlarge", "1", 256, 512, 0, { NULL } },
        { "llama2-7b", "p4d.24xlarge", "1", 32, 2048, 0, { "tensor=1,2,4,8" } },
        { "mixtral-8x7b",
          "p5.48xlarge",
          "4",
          64,
          4096,
          1 << 4,
          { "tensor=1,4", "pipeline=2,4", "sharding=optimizer" } },
    };
    enum { EACH = 60 };
    int64_t untimed = 0;
    for (size_t i = 0; i < sizeof(tight) / sizeof(tight[0]); i++) {
        struct planned x;
        open_job(&x, &tight[i]);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        struct scorer *scorer = scorer_new(&x.job);
        int64_t n = 0, fits = 0, slices = space_slices(&x.job.space), total = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0, at = 0; k < slices; k++) {
                struct space_iter it;
                space_iter_init(&it, &x.job.space, k);
                while (space_next(&it)) {
                    struct score score;
                    struct plan_result r;
                    total += pass == 0;
                    if (pass == 0 || at++ % (total / EACH + 1) ||
                        !scorer_point(scorer, &it.p, (double)INFINITY, &score))
                        continue;
                    plan_point_simulate(&x.job, &it.p, (struct plan_point_how) { 0 },
                                        &r);
                    if (r.known && n % 4 == 0)
                        untimed += check_if_fits(&x.job, &it.p, &r);
                    n += r.known;
                    fits += r.known && r.fits;
                    if (r.known && r.fits && score.least_B > score.capacity_B) {
                        char text[300];
                        fprintf(stderr, "%s\n",
                                plan_point_text(&x.job, &it.p, text, sizeof(text)));
                        CU_FAIL("the bound rejects a plan that fits");
                    }
                    if (r.known)
                        CU_ASSERT(score.least_B <= (double)r.peak_B * 1.0001);
                }
            }
        CU_ASSERT(n > EACH / 3);
        CU_ASSERT(fits > 0);
        scorer_free(scorer);
        close_job(&x);
    }
    CU_ASSERT(untimed > 0);
}

static char *json_text(struct planned *x, int threads)
{
    const struct plan_options o = { .simulate_most = 20 };
    struct plan_outcome out;
    struct err err = { 0 };
    int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    CU_ASSERT_EQUAL_FATAL(plan_search(&out, &x->loader.arena, &x->job, &o, &err), 0);
    struct plan_why why;
    plan_why(&why, &x->job, &o, &out);
    omp_set_num_threads(before);
    const struct plan_report r = {
        .job = &x->job, .options = &o, .outcome = &out, .why = &why
    };
    json_t *tree = report_plan_json(&r);
    char *text = json_dumps(tree, JSON_REAL_PRECISION(17));
    json_decref(tree);
    return text;
}

static void test_threads(void)
{
    static const struct raw_job words = {
        .model = "gpt2",
        .instances = "p3.8xlarge",
        .count = "1..2",
        .batch = 32,
        .sequence = 128,
    };
    struct planned x;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    char *one = json_text(&x, 1), *two = json_text(&x, 2), *three = json_text(&x, 3);
    CU_ASSERT_STRING_EQUAL(one, two);
    CU_ASSERT_STRING_EQUAL(one, three);
    free(one);
    free(two);
    free(three);
    close_job(&x);
}

/* Plans at the figure's edge have names, and no two the same. */
static void check_names(const char *svg)
{
    char seen[12][96];
    int n = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(svg);
    const char *end = strstr(svg, "</g>");
    for (const char *at = svg; (at = strstr(at, "</text>")) && at < end; at++) {
        const char *from = at;
        while (from[-1] != '>')
            from--;
        CU_ASSERT_FATAL(n < 12 && at - from < 96);
        snprintf(seen[n], sizeof(seen[n]), "%.*s", (int)(at - from), from);
        for (int i = 0; i < n; i++)
            CU_ASSERT_STRING_NOT_EQUAL(seen[i], seen[n]);
        n++;
    }
    CU_ASSERT_TRUE(n >= 2);
}

/* The front with its degrees and ranges, the memory there is, and what all is of. */
static void test_figure(void)
{
    static const struct raw_job words = {
        .model = "bert-large-uncased",
        .instances = "p3.16xlarge",
        .count = "2",
        .batch = 256,
        .sequence = 512,
    };
    static const char *const want[] = { ">16 GPUs<",
                                        ">not beaten; ranges<",
                                        "class=\"range\"",
                                        ">does not fit<",
                                        ">memory of a GPU<",
                                        ">Simulated: DDP",
                                        ", FP16, sequence 512<" };
    const struct plan_options o = { .simulate_most = 40 };
    struct plan_outcome out;
    struct err err = { 0 };
    struct planned x;
    char path[FIGURE_PATH_MAX];
    const struct draw_to to = { .path = path };
    figure_path(path);
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    CU_ASSERT_EQUAL_FATAL(plan_search(&out, &x.loader.arena, &x.job, &o, &err), 0);
    const struct plan_report r = { .job = &x.job, .options = &o, .outcome = &out };
    CU_ASSERT_EQUAL(figure_plan_write(&r, &to, &err), 0);
    char *text = figure_text(path);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, want[i]));
    check_names(strstr(text, "id=\"edge-labels\""));
    free(text);
    close_job(&x);
}

/* --- what a plan is written as ---------------------------------------------------- */

/* Every stack's scenario, SageMaker's dictionaries among them, takes the plan's
 * time. */
static void test_scenarios(void)
{
    for (int stack = 0; stack < SPACE_STACKS_N; stack++) {
        const struct raw_job words = { "gpt2",
                                       "p4d.24xlarge",
                                       "2",
                                       64,
                                       256,
                                       1 << stack,
                                       { "tensor=1,2", "pipeline=1,2" } };
        struct planned x;
        struct plan_outcome out;
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        search(&out, &x, false);
        CU_ASSERT_FATAL(out.n_entries > 0);
        CU_ASSERT_EQUAL(out.refused, 0);
        for (int32_t i = 0; i < out.n_entries && i < 5; i++) {
            const struct plan_entry *e = &out.entries[i];
            struct cfg_loader loader;
            struct scenario s = { 0 };
            struct simulate_result r;
            struct err err = { 0 };
            const struct simulate_options how = { .network = FIDELITY_FLOW };
            cfg_loader_init(&loader);
            json_t *tree = plan_point_json(&x.job, &e->point);
            char *text = json_dumps(tree, 0);
            struct cfg root = cfg_parse(&loader, "plan", text, strlen(text));
            CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
            CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &how, &err), 0);
            CU_ASSERT_EQUAL(r.step_time_s, e->result.step_time_s);
            CU_ASSERT_EQUAL(s.training.global_batch_size, 64);
            CU_ASSERT_EQUAL(s.parallel.tensor, e->point.v[SPACE_TENSOR]);
            CU_ASSERT_EQUAL(s.parallel.pipeline, e->point.v[SPACE_PIPELINE]);
            CU_ASSERT_EQUAL(s.parallel.data, e->point.data);
            CU_ASSERT_STRING_EQUAL(s.parallel.placement,
                                   space_placements[e->point.v[SPACE_PLACEMENT]]);
            free(text);
            json_decref(tree);
            cfg_loader_release(&loader);
        }
        close_job(&x);
    }
}

/* Scores have the profiles of what is simulated: DeepSpeed's of full sharding, a split
 * model's of Megatron-DeepSpeed, a named one throughout. */
static void test_profiles(void)
{
    static const char *const deepspeed[] = { "library=deepspeed" };
    static const struct {
        const char *set, *profiles[2][2]; /* [split][full] */
    } cases[] = {
        { NULL,
          { { "pytorch-ddp", "deepspeed-zero3-eager" },
            { "megatron-deepspeed", "megatron-deepspeed" } } },
        { "/training/framework=\"megatron-2022\"",
          { { "megatron-2022", "megatron-2022" },
            { "megatron-2022", "megatron-2022" } } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct planned x;
        const struct plan_request r = { .model = "gpt2",
                                        .instances = "p4d.24xlarge",
                                        .global_batch = 64,
                                        .sequence = 1024,
                                        .fixes = { COUNT(deepspeed), deepspeed },
                                        .sets = { cases[i].set != NULL,
                                                  &cases[i].set } };
        cfg_loader_init(&x.loader);
        CU_ASSERT_EQUAL_FATAL(plan_job_init(&x.job, &x.loader, &r), 0);
        const struct plan_stack *stack =
            &x.job.stacks[x.job.space.values[SPACE_LIBRARY][0]];
        for (int k = 0; k < 4; k++)
            CU_ASSERT_STRING_EQUAL(stack->profiles[k / 2][k % 2]->name,
                                   cases[i].profiles[k / 2][k % 2]);
        close_job(&x);
    }
}

/* --- whole jobs ------------------------------------------------------------------- */

static const char squad[] =
    "{ 'model': 'bert-base-uncased', 'cluster': { 'instance': 'p3.8xlarge' },"
    "  'training': { 'task': 'question-answering', 'sequence_length': 128,"
    "                'micro_batch_size': 8, 'precision': 'fp16', 'samples': 6400,"
    "                'epochs': 1 },"
    "  'storage': { 'mode': 'FastFile' }, 'input': { 'workers': 1, 'cpu': '20ms',"
    "               'sample': '3kB' },"
    "  'job': { 'image': '8GB', 'keep_alive': '10min', 'evaluation': { 'samples': 640 "
    "} } }";

/* Plans that text; `set` and `tokens` change it. */
static void open_squad(struct planned *x, const char *set, double tokens)
{
    static const char *const fixed[] = { "library=ddp", "micro_batch_size=8",
                                         "activation_checkpointing=none",
                                         "bucket_size=25MiB" };
    cfg_loader_init(&x->loader);
    const struct plan_request r = {
        .scenario = cfg_parse(&x->loader, "squad", squad, strlen(squad)),
        .sets = { set != NULL, &set },
        .fixes = { COUNT(fixed), fixed },
        .tokens = tokens,
    };
    x->rc = plan_job_init(&x->job, &x->loader, &r);
}

/* The best of its plans as the scenario that --emit prints, simulated as a whole. */
static struct plan_entry best_of(struct planned *x, const struct plan_options *o,
                                 struct simulate_result *step,
                                 struct campaign_result *beyond)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW };
    struct plan_outcome out;
    struct scenario s;
    struct campaign c;
    struct err err = { 0 };
    struct arena *arena = &x->loader.arena;
    CU_ASSERT_EQUAL_FATAL(plan_search(&out, arena, &x->job, o, &err), 0);
    CU_ASSERT_TRUE_FATAL(out.n_entries > 0);
    struct cfg root = cfg_from_tree(&x->loader, "plan",
                                    plan_point_json(&x->job, &out.entries[0].point));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &x->loader, root), 0);
    CU_ASSERT_EQUAL_FATAL(campaign_read(&c, &s), 0);
    CU_ASSERT_EQUAL_FATAL(simulate(step, arena, &s, &how, &err), 0);
    campaign_run(beyond, arena, &c, &s, step);
    return out.entries[0];
}

/* Input, phases and discount are those that simulating the emitted scenario gives. */
static void test_whole_job(void)
{
    const struct plan_options options = { .objective = PLAN_COST, .simulate_most = 8 };
    struct planned x;
    struct simulate_result step;
    struct campaign_result beyond;
    open_squad(&x, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    struct plan_entry e = best_of(&x, &options, &step, &beyond);
    CU_ASSERT_EQUAL(e.result.step_time_s, step.step_time_s);
    CU_ASSERT_TRUE(e.result.parts_s[CATEGORY_INPUT_WAIT] > 0);
    CU_ASSERT_DOUBLE_EQUAL(e.hours, beyond.job.hours, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.usd, beyond.job.billed_hours * e.usd_per_hour, 1e-9);
    CU_ASSERT_TRUE(e.hours > 200 * step.step_time_s / 3600 + 134.0 / 3600);
    CU_ASSERT_EQUAL(x.job.steps, 200);
    close_job(&x);

    double listed = e.usd_per_hour;
    open_squad(&x, "/job={\"spot_discount\":0.7}", 0);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    e = best_of(&x, &options, &step, &beyond);
    CU_ASSERT_DOUBLE_EQUAL(e.usd_per_hour, 0.3 * listed, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.usd, beyond.job.usd, 1e-6 * e.usd);
    close_job(&x);
}

/* --tokens is the job's length, also of the phases around it; a budget is of all of
 * it. */
static void test_job_budget(void)
{
    struct plan_options o = { .objective = PLAN_TIME, .simulate_most = 8 };
    struct planned x;
    struct simulate_result step;
    struct campaign_result beyond;
    struct plan_outcome out;
    struct err err = { 0 };
    open_squad(&x, NULL, 32 * 128 * 1000);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    CU_ASSERT_EQUAL(x.job.steps, 1000);
    struct plan_entry e = best_of(&x, &o, &step, &beyond);
    CU_ASSERT_EQUAL(beyond.job.steps, 1000);
    CU_ASSERT_DOUBLE_EQUAL(e.hours, beyond.job.hours, 1e-9);
    o.deadline_h = 1000 * step.step_time_s / 3600 + 1e-6; /* the steps alone */
    CU_ASSERT_EQUAL(plan_search(&out, &x.loader.arena, &x.job, &o, &err), 0);
    CU_ASSERT_EQUAL(out.n_entries, 0);
    CU_ASSERT_TRUE(out.n_over > 0);
    close_job(&x);
}

/* What plans do without is said; what is wrong in the sections is an error. */
static void test_job_words(void)
{
    struct planned x;
    open_squad(&x, "/uncertainty={\"compute_jitter\":{\"cv\":0.1}}", 0);
    CU_ASSERT_EQUAL(x.rc, 0);
    CU_ASSERT_PTR_NOT_NULL(plan_job_unused(&x.job));
    close_job(&x);
    open_squad(&x, "/job/keep_alive=2h", 0);
    CU_ASSERT_EQUAL(x.rc, -1);
    CU_ASSERT_TRUE(x.loader.diags.n_errors > 0);
    CU_ASSERT_PTR_NULL(plan_job_unused(&x.job));
    close_job(&x);
}

/* The scenario's own form of checkpointing is tried in libraries that have it, its layout
 * of stages in plans with as many; a method of layout where stages come out even. */
static void test_own(void)
{
    static const char text[] =
        "{ 'model': 'gpt2', 'cluster': { 'instance': 'p4d.24xlarge' },"
        "  'training': { 'sequence_length': 256, 'micro_batch_size': 1,"
        "                'global_batch_size': 64, 'precision': 'bf16',"
        "                'activation_checkpointing': { 'modules': ['mlp'] } },"
        "  'parallelism': { 'library': 'megatron', 'pipeline': 2,"
        "                   'schedule': 'interleaved', 'virtual_stages': 5,"
        "                   'partition': %s } }";
    static const struct {
        const char *partition;
        int64_t most, chunks; /* of a plan's fullest stage; 0: of any number */
    } cases[] = { { "[1,1,1,1,1,1,1,1,2,2]", 6, 5 },
                  { "[2,1,2,1,1,1,1,1,1,1]", 7, 5 },
                  { "'uniform|embedding|head'", 0, 0 } };
    for (size_t k = 0; k < COUNT(cases); k++) {
        static const char *const allows[] = { "tensor=1", "library=megatron,fsdp",
                                              "bucket_size=25MiB",
                                              "micro_batch_size=1" };
        struct planned x;
        char words[640];
        snprintf(words, sizeof(words), text, cases[k].partition);
        cfg_loader_init(&x.loader);
        struct cfg root = cfg_parse(&x.loader, "own", words, strlen(words));
        if (k == 2) /* 12 layers and two ends come out even over 14 chunks */
            cfg_set(root, "/parallelism/virtual_stages=7");
        const struct plan_request r = { .scenario = root,
                                        .allows = { COUNT(allows), allows } };
        x.rc = plan_job_init(&x.job, &x.loader, &r);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        int64_t kept = 0, forms[2] = { 0 };
        const struct space *s = &x.job.space;
        for (int64_t i = 0; i < space_slices(s); i++) {
            struct space_iter it;
            space_iter_init(&it, s, i);
            while (space_next(&it)) {
                const int64_t *v = it.p.v;
                json_t *made = plan_point_parallelism(s, &it.p);
                bool has = json_object_get(made, "partition") != NULL &&
                           !space_layout_spreads(s, &it.p);
                int64_t parts = v[SPACE_PIPELINE] * v[SPACE_VIRTUAL];
                bool even = cases[k].chunks ? parts == 10 && v[SPACE_PIPELINE] == 2
                                            : 14 % parts == 0;
                CU_ASSERT_EQUAL(has, v[SPACE_PIPELINE] > 1 && even &&
                                         (cases[k].chunks || v[SPACE_LIBRARY] == 4));
                CU_ASSERT_EQUAL((int64_t)space_layout_most(s, &it.p),
                                has ? cases[k].most : 0);
                kept += has;
                forms[v[SPACE_LIBRARY] == 4] +=
                    space_form_of(v[SPACE_CHECKPOINTING]).modules ==
                    1U << OP_REGION_MLP;
                json_decref(made);
            }
        }
        CU_ASSERT(kept > 0 && forms[1] > 0);
        CU_ASSERT_EQUAL(forms[0], 0);
        close_job(&x);
    }
}

/* Layers that do not come out even are spread: they stay as many, stages differ by one, and
 * the one with the head has no more than any other. */
static void check_spread(const struct space *s, const struct space_point *p)
{
    int64_t n = p->v[SPACE_PIPELINE], parts = n * p->v[SPACE_VIRTUAL], all = 0;
    bool folds = parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE])->folds;
    int64_t of_stage[16] = { 0 }, least = s->layers;
    json_t *made = plan_point_parallelism(s, p);
    const json_t *counts = json_object_get(made, "partition");
    CU_ASSERT_EQUAL_FATAL((int64_t)json_array_size(counts), parts);
    for (int64_t i = 0; i < parts; i++) {
        int64_t layers = json_integer_value(json_array_get(counts, (size_t)i));
        CU_ASSERT(layers > 0);
        all += layers;
        of_stage[partition_stage(n, folds, i)] += layers;
    }
    for (int64_t i = 0; i < n; i++) {
        least = of_stage[i] < least ? of_stage[i] : least;
        CU_ASSERT(of_stage[i] <= (s->layers + n - 1) / n);
    }
    CU_ASSERT_EQUAL(all, s->layers);
    CU_ASSERT(least >= s->layers / n);
    CU_ASSERT_EQUAL(of_stage[partition_stage(n, folds, parts - 1)], least);
    json_decref(made);
}

static void test_spread(void)
{
    static const char text[] =
        "{ 'model': { 'model_type': 'gpt2', 'n_layer': 13, 'n_embd': 256, 'n_head': 4,"
        "             'vocab_size': 512, 'n_positions': 256 },"
        "  'cluster': { 'instance': 'p4d.24xlarge' },"
        "  'training': { 'sequence_length': 256, 'micro_batch_size': 1,"
        "                'global_batch_size': 64, 'precision': 'bf16' } }";
    static const char *const allows[] = { "tensor=1", "bucket_size=25MiB",
                                          "micro_batch_size=1",
                                          "library=megatron,fsdp,deepspeed" };
    struct planned x;
    cfg_loader_init(&x.loader);
    struct cfg root = cfg_parse(&x.loader, "spread", text, strlen(text));
    const struct plan_request r = { .scenario = root,
                                    .allows = { COUNT(allows), allows } };
    x.rc = plan_job_init(&x.job, &x.loader, &r);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    int64_t spread = 0, chunked = 0, folded = 0, others = 0;
    const struct space *s = &x.job.space;
    for (int64_t i = 0; i < space_slices(s); i++) {
        struct space_iter it;
        space_iter_init(&it, s, i);
        while (space_next(&it)) {
            const int64_t *v = it.p.v;
            others += v[SPACE_PIPELINE] > 1 && !space_layout_spreads(s, &it.p);
            if (!space_layout_spreads(s, &it.p))
                continue;
            check_spread(s, &it.p);
            spread++;
            chunked += v[SPACE_VIRTUAL] > 2;
            folded += parallelism_schedule((enum schedule)v[SPACE_SCHEDULE])->folds;
        }
    }
    CU_ASSERT(spread > 0 && chunked > 0 && folded > 0);
    CU_ASSERT(others > 0); /* DeepSpeed's divide their layers themselves */
    close_job(&x);
}

/* Each form is written as it is read. */
static void test_forms(void)
{
    static const struct {
        const char *word, *json;
    } cases[] = { { "8", "{\"group\":8}" },
                  { "every:4", "{\"every\":4}" },
                  { "block:2", "{\"block\":2}" },
                  { "contiguous", "\"contiguous\"" },
                  { "core_attn", "\"selective\"" },
                  { "moe_act+core_attn", "{\"modules\":[\"core_attn\",\"moe_act\"]}" },
                  { "every:0", NULL },
                  { "moe_act+nothing", NULL } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t v;
        int rc = space_form_read(cases[i].word, &v);
        CU_ASSERT_EQUAL_FATAL(rc, cases[i].json ? 0 : -1);
        if (rc < 0)
            continue;
        json_t *tree = space_form_json(v);
        char *text = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
        const struct space_form form = space_form_of(v);
        CU_ASSERT_STRING_EQUAL(text, cases[i].json);
        CU_ASSERT_EQUAL(space_form_value(&form), v);
        free(text);
        json_decref(tree);
    }
}

/* Where all orders of ranks are tried that Megatron-LM has, another than its own differs
 * from it; PyTorch's pipelines have one. */
static void test_placements(void)
{
    static const struct {
        int stack;
        const char *placements[3];
    } cases[] = { { 4, { "PDT", "DPT", NULL } }, { 2, { "PDT", NULL } } };
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct raw_job words = { "gpt2",
                                       "p4d.24xlarge",
                                       "2",
                                       64,
                                       256,
                                       1 << cases[k].stack,
                                       { "tensor=1", "pipeline=2" } };
        struct planned x;
        int64_t found[SPACE_PLACEMENTS] = { 0 };
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        for (int64_t i = 0; i < space_slices(&x.job.space); i++) {
            struct space_iter it;
            space_iter_init(&it, &x.job.space, i);
            while (space_next(&it))
                found[it.p.v[SPACE_PLACEMENT]]++;
        }
        for (int i = 0; i < SPACE_PLACEMENTS; i++) {
            bool expected = false;
            for (int j = 0; cases[k].placements[j]; j++)
                expected |= strcmp(cases[k].placements[j], space_placements[i]) == 0;
            CU_ASSERT_EQUAL(found[i] > 0, expected);
        }
        close_job(&x);
    }
}

/* Scores of memory of the points of one rank, in order; how many there are. */
static int64_t scores_of_one_rank(double memory_B[], int64_t most,
                                  const char *instances)
{
    const struct raw_job words = { "gpt2", instances, "1", 8, 128, 1 << 0, { NULL } };
    struct planned x;
    int64_t n = 0;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    struct scorer *scorer = scorer_new(&x.job);
    for (int64_t i = 0; i < space_slices(&x.job.space); i++) {
        struct space_iter it;
        struct score score;
        space_iter_init(&it, &x.job.space, i);
        while (space_next(&it))
            if (it.p.world == 1 && n < most &&
                scorer_point(scorer, &it.p, (double)INFINITY, &score))
                memory_B[n++] = score.memory_B;
    }
    scorer_free(scorer);
    close_job(&x);
    return n;
}

/* One rank has a smaller context (MODEL.md, 5.4), whatever other clusters there are. */
static void test_one_rank(void)
{
    enum { MOST = 64 };
    double alone_B[MOST], among_B[MOST];
    int64_t n = scores_of_one_rank(alone_B, MOST, "p3.2xlarge");
    CU_ASSERT_FATAL(n >= 4);
    CU_ASSERT_EQUAL_FATAL(scores_of_one_rank(among_B, MOST, "p3.16xlarge,p3.2xlarge"),
                          n);
    for (int64_t i = 0; i < n; i++)
        CU_ASSERT_DOUBLE_EQUAL(alone_B[i], among_B[i], 1);
}

/* Memory and time of experts that several ranks share, before anything corrects them. */
static void test_experts(void)
{
    const struct raw_job words = { "mixtral-8x7b",
                                   "p5.48xlarge",
                                   "8",
                                   256,
                                   4096,
                                   1 << 4,
                                   { "expert=2,8", "tensor=1", "pipeline=4",
                                     "micro_batch_size=1", "sharding=optimizer",
                                     "activation_checkpointing=none,full,every:2,"
                                     "moe_act+layernorm" } };
    const double within_s = 0.15, within_B = 0.1;
    struct planned x;
    int64_t n = 0;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    struct scorer *scorer = scorer_new(&x.job);
    for (int64_t i = 0; i < space_slices(&x.job.space); i++) {
        struct space_iter it;
        struct score score;
        struct plan_result r;
        space_iter_init(&it, &x.job.space, i);
        while (space_next(&it)) {
            CU_ASSERT_FATAL(scorer_point(scorer, &it.p, (double)INFINITY, &score));
            plan_point_simulate(&x.job, &it.p, (struct plan_point_how) { 0 }, &r);
            CU_ASSERT_FATAL(r.known);
            CU_ASSERT_DOUBLE_EQUAL(score.memory_B / (double)r.peak_B, 1, within_B);
            CU_ASSERT_DOUBLE_EQUAL(score.time_s / r.step_time_s, 1, within_s);
            n++;
        }
    }
    CU_ASSERT(n >= 8);
    scorer_free(scorer);
    close_job(&x);
}

/* Of models that data parallelism alone divides, no point has other groups. */
static void test_whole(void)
{
    static const char *const models[] = { "black-forest-labs/FLUX.1-schnell",
                                          "openai/clip-vit-base-patch32" };
    for (size_t k = 0; k < COUNT(models); k++) {
        const struct raw_job words = { .model = models[k],
                                       .instances = "p5.48xlarge",
                                       .count = "2",
                                       .batch = 64,
                                       .sequence = k ? 77 : 4608,
                                       .allows = { "micro_batch_size=1,4",
                                                   "bucket_size=25MiB" } };
        struct planned x;
        int64_t points = 0;
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        for (int64_t i = 0; i < space_slices(&x.job.space); i++) {
            struct space_iter it;
            space_iter_init(&it, &x.job.space, i);
            for (; space_next(&it); points++)
                CU_ASSERT(it.p.v[SPACE_TENSOR] == 1 && it.p.v[SPACE_PIPELINE] == 1 &&
                          it.p.v[SPACE_CONTEXT] == 1);
        }
        CU_ASSERT(points > 0);
        close_job(&x);
    }
}

void test_plan_register(void)
{
    CU_pSuite suite = CU_add_suite("plan", NULL, NULL);
    CU_add_test(suite, "scores have the profiles of what is simulated", test_profiles);
    CU_add_test(suite, "the bound rejects nothing that fits", test_bound);
    CU_add_test(suite, "the default search equals the exhaustive", test_exhaustive);
    CU_add_test(suite, "the figure", test_figure);
    CU_add_test(suite, "any number of threads gives the same bytes", test_threads);
    CU_add_test(suite, "scenarios take the time of their plans", test_scenarios);
    CU_add_test(suite, "a plan's hours and cost are the whole job's", test_whole_job);
    CU_add_test(suite, "budgets are of the whole job", test_job_budget);
    CU_add_test(suite, "what of a job plans do without", test_job_words);
    CU_add_test(suite, "a scenario's own choices", test_own);
    CU_add_test(suite, "layers that do not come out even", test_spread);
    CU_add_test(suite, "forms of checkpointing", test_forms);
    CU_add_test(suite, "models that are whole", test_whole);
    CU_add_test(suite, "orders of ranks", test_placements);
    CU_add_test(suite, "scores of experts", test_experts);
    CU_add_test(suite, "a context of one rank", test_one_rank);
}
