/* libsmsim: what its structs hold against its JSON and against each other, jobs from
 * names, texts, scripts and changes, and what each function refuses. tests/library.sh has
 * it linked, in C and Python. */
#include "lib/smsim.h"

#include <CUnit/CUnit.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_lib_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define LIST(...) ((const char *const[]) { __VA_ARGS__, NULL })

static const char bert[] = "bert-large-squad-2xp3.16xlarge";
static const char with_job[] = "bert-large-squad-job-2xp3.16xlarge";
static const char script[] = "scenarios/launch/bert-large-squad-smddp.py";

static struct smsim_job *job_of(const char *name, const char *const *sets)
{
    struct smsim_error error;
    struct smsim_job *job = smsim_load(name, sets, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT(error.status == SMSIM_OK && error.n_errors == 0 && !error.text[0]);
    return job;
}

static struct smsim_step *step_of(const struct smsim_job *job,
                                  const struct smsim_simulate_options *options)
{
    struct smsim_error error;
    struct smsim_step *step = smsim_simulate(job, options, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(step);
    CU_ASSERT(error.status == SMSIM_OK && error.n_errors == 0 && !error.text[0]);
    return step;
}

static json_t *tree_of(const char *text)
{
    json_t *tree = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
    return tree;
}

/* The number at "a.b" or "a". */
static double at(const json_t *tree, const char *path)
{
    char key[64];
    const char *dot = strchr(path, '.');
    snprintf(key, sizeof(key), "%.*s", dot ? (int)(dot - path) : 60, path);
    const json_t *v = json_object_get(tree, key);
    return dot                 ? at(v, dot + 1)
           : json_is_number(v) ? json_number_value(v)
                               : (double)NAN;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Steps ---------------------------------------------------------------------------- */

static void test_step(void)
{
    struct smsim_job *job = job_of(bert, NULL);
    struct smsim_step *step = step_of(job, NULL);
    json_t *tree = tree_of(step->json), *scenario = tree_of(smsim_job_json(job));
    const double batch = step->samples_per_s * step->step_time_s;
    CU_ASSERT(near(step->step_time_s, at(tree, "step_time_s")));
    CU_ASSERT(near(step->samples_per_s, at(tree, "samples_per_s")));
    CU_ASSERT(near(step->tokens_per_s, at(tree, "tokens_per_s")));
    CU_ASSERT(near(step->mfu, at(tree, "mfu")) && near(step->hfu, at(tree, "hfu")));
    CU_ASSERT(near(step->model_flops_per_gpu_s, at(tree, "model_flops_per_gpu_s")));
    CU_ASSERT(step->range_s[0] < step->step_time_s);
    CU_ASSERT(step->range_s[1] > step->step_time_s);
    CU_ASSERT(step->gpus == 16 && near(batch, 64));
    CU_ASSERT(near(step->tokens_per_s, 384 * step->samples_per_s));
    CU_ASSERT(step->fits && step->peak_bytes < step->capacity_bytes);
    CU_ASSERT(near(step->usd_per_step, step->usd_per_hour * step->step_time_s / 3600));
    CU_ASSERT(near(at(scenario, "cluster.count"), 2));
    json_decref(scenario);
    json_decref(tree);
    smsim_step_free(step);
    smsim_job_free(job);
}

/* What is not known is NAN. */
static void test_unknown(void)
{
    static const struct {
        const char *name, *set;
        bool price, length;
    } rows[] = {
        { with_job, NULL, true, true },
        { bert, "/cluster/instance=a100-40gb-4x200", false, true },
        { "gpt3-175b-64xp4d.24xlarge", NULL, true, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct smsim_job *job = job_of(rows[i].name, LIST(rows[i].set));
        struct smsim_step *step = step_of(job, NULL);
        CU_ASSERT(!isnan(step->usd_per_hour) == rows[i].price);
        CU_ASSERT(!isnan(step->usd_per_step) == rows[i].price);
        CU_ASSERT(!isnan(step->hours_per_job) == rows[i].length);
        CU_ASSERT(!isnan(step->usd_per_job) == (rows[i].price && rows[i].length));
        smsim_step_free(step);
        smsim_job_free(job);
    }
}

/* A job that does not fit is a result, whose JSON says what would make it fit. */
static void test_does_not_fit(void)
{
    struct smsim_job *job = job_of(bert, LIST("/training/micro_batch_size=64"));
    struct smsim_step *step = step_of(job, NULL);
    CU_ASSERT(!step->fits && step->peak_bytes > step->capacity_bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(step->json, "\"remedies\""));
    smsim_step_free(step);
    smsim_job_free(job);
}

static void test_options(void)
{
    static const struct smsim_simulate_options usual = { .size = sizeof(usual) },
                                               flow = { .size = sizeof(flow),
                                                        .network = "flow" },
                                               analytic = { .size = sizeof(analytic),
                                                            .network = "analytic" },
                                               unfold = { .size = sizeof(unfold),
                                                          .unfold = 1 };
    struct smsim_job *job = job_of(bert, NULL);
    struct smsim_step *none = step_of(job, NULL), *all[4];
    const struct smsim_simulate_options *const options[] = { &usual, &flow, &analytic,
                                                             &unfold };
    for (size_t i = 0; i < COUNT(options); i++)
        all[i] = step_of(job, options[i]);
    CU_ASSERT_STRING_EQUAL(none->json, all[0]->json);
    CU_ASSERT_STRING_EQUAL(none->json, all[1]->json);
    CU_ASSERT_PTR_NOT_NULL(strstr(all[2]->json, "analytic"));
    CU_ASSERT(fabs(all[2]->step_time_s / none->step_time_s - 1) < 0.05);
    CU_ASSERT(fabs(all[3]->step_time_s / none->step_time_s - 1) < 1e-3);
    CU_ASSERT(strcmp(all[3]->json, none->json) != 0);
    for (size_t i = 0; i < COUNT(options); i++)
        smsim_step_free(all[i]);
    smsim_step_free(none);
    smsim_job_free(job);
}

/* Draws are the same in any number of threads. */
static void test_threads(void)
{
    static const struct smsim_simulate_options one = { .size = sizeof(one),
                                                       .threads = 1 },
                                               two = { .size = sizeof(two),
                                                       .threads = 2 };
    struct smsim_job *job =
        job_of(bert, LIST("/uncertainty={\"samples\":20,\"compute_jitter\":{"
                          "\"distribution\":\"lognormal\",\"cv\":0.03}}"));
    struct smsim_step *a = step_of(job, &one), *b = step_of(job, &two);
    CU_ASSERT_STRING_EQUAL(a->json, b->json);
    CU_ASSERT_PTR_NOT_NULL(strstr(a->json, "\"uncertainty\""));
    smsim_step_free(a);
    smsim_step_free(b);
    smsim_job_free(job);
}

/* Jobs ----------------------------------------------------------------------------- */

static void test_same_job(void)
{
    struct smsim_error error;
    const char *const four[] = { "/cluster/count=4", NULL };
    struct smsim_job *two = job_of(bert, NULL), *set = job_of(bert, four);
    struct smsim_job *changed = smsim_changed(two, four, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(changed);
    CU_ASSERT_STRING_EQUAL(smsim_job_json(changed), smsim_job_json(set));
    CU_ASSERT_STRING_EQUAL(smsim_job_warnings(changed), smsim_job_warnings(set));
    CU_ASSERT(strcmp(smsim_job_json(two), smsim_job_json(set)) != 0);
    const char *text = smsim_job_json(two);
    struct smsim_job *parsed = smsim_parse(text, strlen(text), NULL, four, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(parsed);
    CU_ASSERT_STRING_EQUAL(smsim_job_json(parsed), smsim_job_json(set));
    struct smsim_job *again = smsim_changed(changed, LIST("/cluster/count=2"), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    CU_ASSERT_STRING_EQUAL(smsim_job_json(again), smsim_job_json(two));
    struct smsim_step *a = step_of(parsed, NULL), *b = step_of(changed, NULL);
    CU_ASSERT(a->step_time_s == b->step_time_s && a->gpus == 32 && b->gpus == 32);
    smsim_step_free(a);
    smsim_step_free(b);
    smsim_job_free(two);
    smsim_job_free(set);
    smsim_job_free(changed);
    smsim_job_free(parsed);
    smsim_job_free(again);
}

/* A launch script is the scenario that it makes, and says where it has each key from. */
static void test_script(void)
{
    struct smsim_job *job = job_of(script, LIST("/cluster/count=4"));
    struct smsim_job *less = smsim_changed(job, LIST("/cluster/count=2"), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(less);
    struct smsim_step *a = step_of(job, NULL), *b = step_of(less, NULL);
    json_t *warnings = tree_of(smsim_job_warnings(job));
    CU_ASSERT(a->gpus == 32 && b->gpus == 16);
    CU_ASSERT(json_is_array(warnings));
    json_decref(warnings);
    smsim_step_free(a);
    smsim_step_free(b);
    smsim_job_free(job);
    smsim_job_free(less);
}

/* The error that was found, with its status and place; NULL jobs. */
static void test_bad_jobs(void)
{
    static const struct {
        const char *name, *text, *set;
        int32_t status, n_errors;
        const char *said;
    } rows[] = {
        { "nobody", NULL, NULL, SMSIM_BAD_INPUT, 1, "is not in scenarios/" },
        { "bert-large-squad-2xp3.16xlarge", NULL, "/cluster/count=0", SMSIM_BAD_INPUT,
          1, "--set /cluster/count: 0 is too small" },
        { "bert-large-squad-2xp3.16xlarge", NULL, "cluster", SMSIM_BAD_INPUT, 1,
          "--set" },
        { "bert-large-squad-2xp3.16xlarge", NULL, "/job={\"steps\":1}", SMSIM_BAD_INPUT,
          1, "/job" },
        { NULL, "{", NULL, SMSIM_BAD_INPUT, 1, "scenario:1:" },
        { "mine", "{\n\"cluster\": 3}", NULL, SMSIM_BAD_INPUT, 3,
          "mine:2:12: /cluster" },
        { "scenarios/launch/nobody.py", NULL, NULL, SMSIM_BAD_INPUT, 1, "nobody.py" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct smsim_error error;
        const char *const *sets = LIST(rows[i].set);
        struct smsim_job *job = rows[i].text
                                    ? smsim_parse(rows[i].text, strlen(rows[i].text),
                                                  rows[i].name, sets, &error)
                                    : smsim_load(rows[i].name, sets, &error);
        CU_ASSERT_PTR_NULL(job);
        CU_ASSERT_EQUAL(error.status, rows[i].status);
        CU_ASSERT_EQUAL(error.n_errors, rows[i].n_errors);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, rows[i].said));
        if (!strstr(error.text, rows[i].said) || error.n_errors != rows[i].n_errors)
            fprintf(stderr, "row %zu: %d: %s\n", i, error.n_errors, error.text);
        CU_ASSERT_PTR_NULL(rows[i].text
                               ? smsim_parse(rows[i].text, strlen(rows[i].text),
                                             rows[i].name, sets, NULL)
                               : smsim_load(rows[i].name, sets, NULL));
    }
}

static void test_bad_changes(void)
{
    struct smsim_error error;
    struct smsim_job *job = job_of(bert, NULL);
    CU_ASSERT_PTR_NULL(smsim_changed(job, LIST("/cluster/count=-1"), &error));
    CU_ASSERT_EQUAL(error.status, SMSIM_BAD_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/cluster/count"));
    static const struct {
        struct smsim_simulate_options options;
        const char *said;
    } rows[] = {
        { { .size = 4 }, "options.size is not that of this struct" },
        { { .size = sizeof(rows[0].options), .network = "fast" },
          "network is none of analytic, flow and chunk: \"fast\"" },
        { { .size = sizeof(rows[0].options), .threads = -1 },
          "threads is not negative" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_PTR_NULL(smsim_simulate(job, &rows[i].options, &error));
        CU_ASSERT(error.status == SMSIM_BAD_REQUEST && error.n_errors == 1);
        CU_ASSERT_STRING_EQUAL(error.text, rows[i].said);
        CU_ASSERT_PTR_NULL(smsim_simulate(job, &rows[i].options, NULL));
    }
    smsim_job_free(job);
}

/* Plans ---------------------------------------------------------------------------- */

static struct smsim_plan_request one_gpu(const struct smsim_job *job)
{
    return (struct smsim_plan_request) { .size = sizeof(struct smsim_plan_request),
                                         .job = job,
                                         .risk = "none",
                                         .top = 2,
                                         .threads = 1 };
}

/* Each plan is one that can be simulated to the same time; the first is the best. */
static void test_plans(void)
{
    struct smsim_error error;
    struct smsim_job *job =
        job_of(bert, LIST("/cluster/instance=p3.2xlarge", "/cluster/count=1"));
    const struct smsim_plan_request request = one_gpu(job);
    struct smsim_plans *plans = smsim_plan(&request, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plans);
    CU_ASSERT(error.status == SMSIM_OK && plans->n_plans == 2);
    json_t *tree = tree_of(plans->json);
    CU_ASSERT(json_array_size(json_object_get(tree, "plans")) >= 2);
    CU_ASSERT(plans->plans[0].step_time_s <= plans->plans[1].step_time_s);
    for (int32_t i = 0; i < plans->n_plans; i++) {
        const struct smsim_plan *p = &plans->plans[i];
        struct smsim_job *planned =
            smsim_parse(p->scenario, strlen(p->scenario), "plan", NULL, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(planned);
        struct smsim_step *step = step_of(planned, NULL);
        CU_ASSERT(near(step->step_time_s, p->step_time_s));
        CU_ASSERT(near(step->samples_per_s, p->samples_per_s));
        CU_ASSERT(near(step->mfu, p->mfu));
        CU_ASSERT(step->peak_bytes == p->peak_bytes);
        CU_ASSERT(near(step->usd_per_hour, p->usd_per_hour));
        CU_ASSERT(near(step->hours_per_job, p->hours_per_job));
        CU_ASSERT(near(step->usd_per_job, p->usd_per_job));
        CU_ASSERT(near(p->usd_per_million_samples,
                       p->usd_per_hour / 3600 / p->samples_per_s * 1e6));
        CU_ASSERT(p->gpus == 1 && p->count == 1);
        CU_ASSERT_STRING_EQUAL(p->instance, "p3.2xlarge");
        smsim_step_free(step);
        smsim_job_free(planned);
    }
    json_decref(tree);
    smsim_plans_free(plans);
    smsim_job_free(job);
}

/* Of a model and instances, without a job; a budget that nothing keeps is no error. */
static void test_plan_of_model(void)
{
    struct smsim_plan_request request = { .size = sizeof(request),
                                          .model = "bert-large-uncased",
                                          .instances = "p3.2xlarge",
                                          .count = "1",
                                          .global_batch = 4,
                                          .sequence_length = 128,
                                          .tokens = 1e6,
                                          .objective = "cost",
                                          .risk = "none",
                                          .top = 1,
                                          .threads = 1 };
    struct smsim_error error;
    struct smsim_plans *plans = smsim_plan(&request, &error);
    CU_ASSERT_STRING_EQUAL(error.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(plans);
    CU_ASSERT_FATAL(plans->n_plans == 1);
    const struct smsim_plan *p = &plans->plans[0];
    CU_ASSERT(near(p->samples_per_s * p->step_time_s, 4));
    CU_ASSERT(near(p->hours_per_job, ceil(1e6 / (4 * 128)) * p->step_time_s / 3600));
    CU_ASSERT(near(p->usd_per_job, p->hours_per_job * p->usd_per_hour));
    smsim_plans_free(plans);
    request.max_cost_usd = 1e-6;
    plans = smsim_plan(&request, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plans);
    CU_ASSERT(plans->n_plans == 0 && error.status == SMSIM_OK);
    smsim_plans_free(plans);
}

static void test_bad_plans(void)
{
    enum { SIZE = sizeof(struct smsim_plan_request) };
    static const char all[] =
        "a job is missing, or model, instances, global_batch and, "
        "but for models of pictures, sequence_length";
    static const struct {
        struct smsim_plan_request request;
        bool job;
        const char *said;
    } rows[] = {
        { { .size = 8 }, true, "request.size is not that of this struct" },
        { { .size = SIZE }, false, all },
        { { .size = SIZE,
            .model = "gpt2",
            .instances = "p3.2xlarge",
            .sequence_length = 8 },
          false,
          all },
        { { .size = SIZE,
            .instances = "p3.2xlarge",
            .global_batch = 8,
            .sequence_length = 8 },
          false,
          all },
        { { .size = SIZE, .model = "gpt2" },
          true,
          "model and sequence_length are the job's to say" },
        { { .size = SIZE, .sequence_length = 8 },
          true,
          "model and sequence_length are the job's to say" },
        { { .size = SIZE, .top = -1 }, true, "top is from 1 to 100000" },
        { { .size = SIZE, .top = 100001 }, true, "top is from 1 to 100000" },
        { { .size = SIZE, .draws = 19 }, true, "draws are from 20 to 100000" },
        { { .size = SIZE, .draws = 100001 }, true, "draws are from 20 to 100000" },
        { { .size = SIZE, .global_batch = -1 },
          true,
          "global_batch, sequence_length and seed are not negative" },
        { { .size = SIZE, .seed = -1 },
          true,
          "global_batch, sequence_length and seed are not negative" },
        { { .size = SIZE, .tokens = -1 },
          true,
          "tokens, max_cost_usd and deadline_h are not negative" },
        { { .size = SIZE, .max_cost_usd = -1 },
          true,
          "tokens, max_cost_usd and deadline_h are not negative" },
        { { .size = SIZE, .deadline_h = -1 },
          true,
          "tokens, max_cost_usd and deadline_h are not negative" },
        { { .size = SIZE, .threads = -1 }, true, "threads is not negative" },
        { { .size = SIZE, .objective = "fun" }, true, "objective is unknown: \"fun\"" },
        { { .size = SIZE, .stack = "fun" }, true, "stack is unknown: \"fun\"" },
        { { .size = SIZE, .risk = "fun" }, true, "risk is unknown: \"fun\"" },
    };
    struct smsim_job *job = job_of(bert, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct smsim_error error;
        struct smsim_plan_request request = rows[i].request;
        request.job = rows[i].job ? job : NULL;
        CU_ASSERT_PTR_NULL(smsim_plan(&request, &error));
        CU_ASSERT(error.status == SMSIM_BAD_REQUEST && error.n_errors == 1);
        CU_ASSERT_STRING_EQUAL(error.text, rows[i].said);
    }
    struct smsim_error error;
    struct smsim_plan_request request = one_gpu(job);
    request.fixes = LIST("/nothing=1");
    CU_ASSERT_PTR_NULL(smsim_plan(&request, &error));
    CU_ASSERT(error.status == SMSIM_BAD_INPUT && strstr(error.text, "/nothing"));
    smsim_job_free(job);
}

/* Differences ---------------------------------------------------------------------- */

static void test_compare(void)
{
    struct smsim_error error;
    struct smsim_job *from = job_of(bert, NULL);
    struct smsim_job *to = job_of(
        bert, LIST("/cluster/instance=p3dn.24xlarge", "/training/sequence_length=128"));
    struct smsim_step *a = step_of(from, NULL), *b = step_of(to, NULL);
    struct smsim_difference *d = smsim_compare(from, to, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    double sum_s = d->from_s;
    CU_ASSERT(near(d->from_s, a->step_time_s) && near(d->to_s, b->step_time_s));
    CU_ASSERT(d->n_causes >= 2);
    for (int32_t i = 0; i < d->n_causes; i++) {
        CU_ASSERT(d->causes[i].name[0] != '\0');
        sum_s += d->causes[i].step_time_s;
    }
    CU_ASSERT(near(sum_s, d->to_s));
    CU_ASSERT_PTR_NOT_NULL(strstr(d->json, d->causes[0].name));
    smsim_difference_free(d);
    smsim_step_free(a);
    smsim_step_free(b);
    smsim_job_free(from);
    smsim_job_free(to);
}

/* The process ---------------------------------------------------------------------- */

static void test_process(void)
{
    char *data = smsim_data();
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    CU_ASSERT_STRING_EQUAL(data, getenv("SMSIM_DATA") ? getenv("SMSIM_DATA") : data);
    CU_ASSERT(smsim_version()[0] != '\0' && strchr(smsim_version(), '.'));
    smsim_free(data);
    smsim_free(NULL);
    smsim_step_free(NULL);
    smsim_plans_free(NULL);
    smsim_job_free(NULL);
    smsim_difference_free(NULL);
}

void test_lib_register(void)
{
    CU_pSuite suite = CU_add_suite("lib", NULL, NULL);
    CU_add_test(suite, "step", test_step);
    CU_add_test(suite, "unknown", test_unknown);
    CU_add_test(suite, "does not fit", test_does_not_fit);
    CU_add_test(suite, "options", test_options);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "same job", test_same_job);
    CU_add_test(suite, "script", test_script);
    CU_add_test(suite, "bad jobs", test_bad_jobs);
    CU_add_test(suite, "bad changes", test_bad_changes);
    CU_add_test(suite, "plans", test_plans);
    CU_add_test(suite, "plan of a model", test_plan_of_model);
    CU_add_test(suite, "bad plans", test_bad_plans);
    CU_add_test(suite, "compare", test_compare);
    CU_add_test(suite, "process", test_process);
}
