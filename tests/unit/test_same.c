/* One result, written in several places: text, JSON and page of `smsim simulate`, plans
 * and points of sweeps say the same numbers of the same job. Runs the program itself
 * ($SMSIM). */
#include "base/finite.h"
#include "base/units.h"
#include "campaign/campaign.h"
#include "simulate/judge.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_same_register(void);

/* Of each library; one that does not fit, one of several stages, one whose memory is
 * near the limit, one with input, job and checkpoints, one that reading warns of. */
static const char *const jobs[] = {
    "bert-large-squad-2xp3.16xlarge",
    "bert-large-squad-2xp3.16xlarge --set /training/micro_batch_size=8"
    " --set /training/global_batch_size=128",
    "bert-large-squad-2xp3.16xlarge --set /training/micro_batch_size=64"
    " --set /training/global_batch_size=1024",
    "bert-large-squad-job-2xp3.16xlarge",
    "bert-large-pretraining-4xp3dn.24xlarge-smddp",
    "gpt2-xl-smp-4xp3dn.24xlarge",
    "gpt3-175b-64xp4d.24xlarge",
    "gpt-neox-20b-12xp4d.24xlarge",
    "llama2-70b-smp2-16xp5.48xlarge",
    "roberta-large-smp-combined-p3.16xlarge",
};
enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

struct written {
    char *text, *page;
    json_t *json;
};

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    char *text = NULL;
    size_t size = 0;
    ssize_t n = getdelim(&text, &size, '\0', f);
    fclose(f);
    CU_ASSERT_TRUE_FATAL(n > 0);
    return text;
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of the program, which ends with 0 or, of a job that does not fit, with 1. */
static void run(const char *format, ...)
{
    char arguments[800], command[1000];
    const char *smsim = getenv("SMSIM");
    va_list ap;
    va_start(ap, format);
    vsnprintf(arguments, sizeof(arguments), format, ap);
    va_end(ap);
    snprintf(command, sizeof(command), "%s %s", smsim ? smsim : "build/smsim",
             arguments);
    int rc = system(command);
    CU_ASSERT_TRUE(rc == 0 || rc == 256);
}

static void name(char *path, size_t size, const char *what)
{
    snprintf(path, size, "/tmp/smsim-same-%d.%s", (int)getpid(), what);
}

static void write_all(struct written *w, const char *job)
{
    char text[64], json[64], page[64];
    name(text, sizeof(text), "txt");
    name(json, sizeof(json), "json");
    name(page, sizeof(page), "html");
    run("simulate %s --json %s --html %s > %s", job, json, page, text);
    w->text = read_all(text);
    w->page = read_all(page);
    w->json = json_load_file(json, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->json);
    remove(text);
    remove(json);
    remove(page);
}

static void written_release(struct written *w)
{
    free(w->text);
    free(w->page);
    json_decref(w->json);
}

static const json_t *at(const json_t *tree, const char *path)
{
    char copy[100], *save = NULL;
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *t = strtok_r(copy, "/", &save); t && tree;
         t = strtok_r(NULL, "/", &save))
        tree = json_is_array(tree) ? json_array_get(tree, strtoul(t, NULL, 10))
                                   : json_object_get(tree, t);
    CU_ASSERT_PTR_NOT_NULL(tree);
    return tree;
}

static double number(const json_t *tree, const char *path)
{
    const json_t *v = at(tree, path);
    CU_ASSERT_TRUE(json_is_number(v));
    return json_number_value(v);
}

/* The data inside a page, a new tree; no markup is in their text. */
static json_t *data_of(const char *page)
{
    static const char from[] = "<script type=\"application/json\" id=\"data\">";
    const char *begin = strstr(page, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(begin);
    begin += strlen(from);
    const char *end = strchr(begin, '<');
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_EQUAL(strncmp(end, "</script>\n<script>\n", 19), 0);
    json_t *data = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    return data;
}

static void says(const struct written *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void says(const struct written *w, const char *format, ...)
{
    char wanted[300];
    va_list ap;
    va_start(ap, format);
    vsnprintf(wanted, sizeof(wanted), format, ap);
    va_end(ap);
    if (!strstr(w->text, wanted))
        printf("\n    not in the text: %s\n", wanted);
    CU_ASSERT_PTR_NOT_NULL(strstr(w->text, wanted));
}

static void check_speed(const struct written *w)
{
    char time[UNITS_TEXT_MAX], range[UNITS_RANGE_MAX];
    const json_t *j = w->json;
    units_time_text(time, number(j, "step_time_s"));
    units_time_range_text(range,
                          (double[]) { number(j, "range/step_time_s/0"),
                                       number(j, "range/step_time_s/1") },
                          number(j, "step_time_s"));
    says(w, "step time   %s (%s, %s)", time, range,
         json_string_value(at(j, "range/grade")));
    says(w, "throughput  %s samples/s, %s tokens/s",
         units_number_text(UNITS_BUF, number(j, "samples_per_s"), 6),
         units_number_text(UNITS_BUF, number(j, "tokens_per_s"), 6));
    says(w, "MFU %.1f %%, HFU %.1f %%", 100 * number(j, "mfu"), 100 * number(j, "hfu"));
    says(w, "Busy: GPU %.0f %%, host %.0f %%, NIC %.0f %%, NVLink %.0f %%",
         100 * number(j, "utilization/gpu"), 100 * number(j, "utilization/host"),
         100 * number(j, "utilization/nic"), 100 * number(j, "utilization/nvlink"));
}

static void check_memory(const struct written *w)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    const json_t *j = w->json;
    says(w, ": %s of %s, ", units_bytes_text(a, number(j, "memory/peak_bytes")),
         units_bytes_text(b, number(j, "memory/capacity_bytes")));
    CU_ASSERT_EQUAL(strstr(w->text, "DOES NOT FIT") != NULL,
                    json_is_false(at(j, "memory/fits")));
    CU_ASSERT_EQUAL(strstr(w->text, "near the limit") != NULL,
                    json_is_true(at(j, "memory/near_limit")));
    if (json_is_true(at(j, "memory/near_limit")))
        says(w, "near the limit: %s to %s are",
             units_bytes_text(a, number(j, "memory/range_bytes/0")),
             units_bytes_text(b, number(j, "memory/range_bytes/1")));
}

static void check_rest(const struct written *w)
{
    const json_t *j = w->json;
    says(w, "%.2f USD/h, %s USD per step, %s USD per million samples",
         number(j, "cost/usd_per_hour"),
         units_number_text(UNITS_BUF, number(j, "cost/usd_per_step"), 3),
         units_number_text(UNITS_BUF, number(j, "cost/usd_per_million_samples"), 4));
    if (json_array_size(at(j, "range/nearest")))
        says(w, "measured    nearest: %.30s",
             json_string_value(at(j, "range/nearest/0")));
    size_t n = 0;
    for (const char *p = w->text; (p = strstr(p, "\nwarning: ")); p++)
        n++;
    CU_ASSERT_EQUAL(n, json_array_size(at(j, "warnings")));
}

/* Memory over time has, at its fullest moment, the fullest stage's kinds. */
static void check_levels(const json_t *data, const json_t *result)
{
    const json_t *held = at(data, "memory/held_bytes"), *list;
    const char *kind;
    double most[400] = { 0 };
    size_t top = 0;
    char path[64];
    json_object_foreach((json_t *)held, kind, list)
    {
        CU_ASSERT_EQUAL_FATAL(json_array_size(list), 400);
        for (size_t i = 0; i < 400; i++)
            most[i] += json_number_value(json_array_get(list, i));
    }
    for (size_t i = 1; i < 400; i++)
        top = most[i] > most[top] ? i : top;
    json_int_t stage = json_integer_value(at(data, "memory/stage"));
    json_object_foreach((json_t *)held, kind, list)
    {
        snprintf(path, sizeof(path), "memory/stages/%d/%s", (int)stage, kind);
        CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_array_get(list, top)),
                               number(result, path), 1 << 21);
    }
}

/* The page has the text itself, and the JSON itself; it asks for nothing else. */
static void check_page(const struct written *w)
{
    json_t *data = data_of(w->page);
    CU_ASSERT_STRING_EQUAL(json_string_value(at(data, "text")), w->text);
    CU_ASSERT_TRUE(json_equal(at(data, "result"), w->json));
    CU_ASSERT_TRUE(json_array_size(at(data, "timeline/tracks")) >= 1);
    check_levels(data, w->json);
    CU_ASSERT_PTR_NULL(strstr(w->page, "src="));
    CU_ASSERT_PTR_NULL(strstr(w->page, "href="));
    CU_ASSERT_PTR_NULL(strstr(w->page, "@import"));
    CU_ASSERT_PTR_NULL(strstr(w->page, "innerHTML"));
    CU_ASSERT_TRUE(strlen(w->page) < 1000000);
    json_decref(data);
}

/* Markup in names and values stays text. */
static void test_markup(void)
{
    static const char evil[] = "</script><script>alert(1)</script><!--";
    struct written w;
    char scenario[64];
    name(scenario, sizeof(scenario), "evil.json");
    write_all(&w, "bert-large-squad-2xp3.16xlarge");
    json_t *first = data_of(w.page);
    json_t *s = json_deep_copy(at(first, "scenario"));
    json_decref(first);
    written_release(&w);
    json_object_set_new(s, "name", json_string(evil));
    json_object_set_new(s, "comment", json_string(evil));
    json_dump_file(s, scenario, 0);
    write_all(&w, scenario);
    json_t *data = data_of(w.page);
    CU_ASSERT_STRING_EQUAL(json_string_value(at(data, "scenario/name")), evil);
    CU_ASSERT_STRING_EQUAL(json_string_value(at(data, "result/scenario")), evil);
    CU_ASSERT_PTR_NULL(strstr(w.page, "<script>alert"));
    json_decref(data);
    json_decref(s);
    written_release(&w);
    remove(scenario);
}

static void test_writers(void)
{
    for (int i = 0; i < JOBS; i++) {
        struct written w;
        write_all(&w, jobs[i]);
        check_speed(&w);
        check_memory(&w);
        check_rest(&w);
        check_page(&w);
        written_release(&w);
    }
}

/* What a plan says of its best points is what they are simulated to be. */
static void test_plans(void)
{
    static const char *const same[][2] = {
        { "step_time_s", "step_time_s" },
        { "range_s/0", "range/step_time_s/0" },
        { "range_s/1", "range/step_time_s/1" },
        { "samples_per_s", "samples_per_s" },
        { "mfu", "mfu" },
        { "peak_bytes", "memory/peak_bytes" },
        { "usd_per_hour", "cost/usd_per_hour" },
        { "usd_per_million_samples", "cost/usd_per_million_samples" },
    };
    char plan[64], scenario[64];
    name(plan, sizeof(plan), "plan");
    name(scenario, sizeof(scenario), "one.json");
    run("plan --model gpt2-xl --instance ml.p4d.24xlarge --count 2 --global-batch 64 "
        "--sequence-length 1024 --json %s > /dev/null",
        plan);
    json_t *tree = json_load_file(plan, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
    CU_ASSERT_TRUE(json_array_size(at(tree, "plans")) >= 5);
    for (size_t i = 0; i < 5; i++) {
        struct written w;
        const json_t *one = json_array_get(at(tree, "plans"), i);
        json_dump_file(at(one, "scenario"), scenario, 0);
        write_all(&w, scenario);
        for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
            double v = number(w.json, same[k][1]);
            CU_ASSERT_DOUBLE_EQUAL(number(one, same[k][0]), v, 1e-9 * v);
        }
        CU_ASSERT_TRUE(json_equal(at(one, "breakdown_s"), at(w.json, "breakdown_s")));
        CU_ASSERT_TRUE(
            json_equal(at(one, "near_limit"), at(w.json, "memory/near_limit")));
        written_release(&w);
    }
    json_decref(tree);
    remove(plan);
    remove(scenario);
}

/* No number of a result is none: each is set to what is no number, and named. */
static void test_numbers(void)
{
    static const double wrong[] = { NAN, INFINITY, -INFINITY, -1 };
    struct simulate_result r = { .mfu = 0.4 };
    struct err none = { 0 };
    CU_ASSERT_EQUAL(judge_numbers(&r, &none), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct {
            double *at;
            const char *name;
        } numbers[] = {
            { &r.step_time_s, "step_time_s" },
            { &r.mfu, "mfu" },
            { &r.tokens_per_s, "tokens_per_s" },
            { &r.model_flops_per_gpu_s, "model_flops_per_gpu_s" },
            { &r.parts_s[CATEGORY_OPTIMIZER], "breakdown_s/optimizer" },
            { &r.cost.usd_per_job, "cost.usd_per_job" },
            { &r.layer.backward_s, "layer.backward_s" },
            { &r.range_s[1], "range_s[1]" },
        };
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            struct err err = { 0 };
            double was = *numbers[k].at;
            *numbers[k].at = wrong[i];
            CU_ASSERT_EQUAL(judge_numbers(&r, &err), -1);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, numbers[k].name));
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a fault of smsim"));
            *numbers[k].at = was;
        }
    }
}

static void test_campaign_numbers(void)
{
    struct simulate_result step = { .cost.has_price = true };
    struct campaign_result r = { .input.given = true,
                                 .job.given = true,
                                 .uncertainty = { .given = true,
                                                  .has_goodput = true } };
    struct {
        double *at;
        const char *name;
    } numbers[] = {
        { &r.input.wait_s, "input/wait_s" },
        { &r.input.step_s[INPUT_STORAGE], "input/stages_s/storage" },
        { &r.job.hours, "job/hours" },
        { &r.job.usd, "job/usd" },
        { &r.job.phases_s[JOB_UPLOAD], "job/phases/model_upload" },
        { &r.uncertainty.step_time_s.p95, "uncertainty/step_time_s.p95" },
        { &r.uncertainty.goodput.restarts, "uncertainty/goodput.restarts" },
    };
    struct err none = { 0 };
    r.input.samples_per_s = INFINITY; /* no limit */
    r.uncertainty.goodput.expected_fraction = NAN;
    CU_ASSERT_EQUAL(campaign_check(&r, &step, &none), 0);
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
        struct err err = { 0 };
        *numbers[k].at = NAN;
        CU_ASSERT_EQUAL(campaign_check(&r, &step, &err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, numbers[k].name));
        *numbers[k].at = 0;
    }
}

/* Every shipped model and a few of other families, in every format, under libraries of
 * either kind: no member of the JSON is null that should be a number, no share is over
 * 1, and the parts sum to the step. */
static void check_shares(const json_t *j)
{
    const char *key;
    json_t *v;
    double sum = 0;
    json_object_foreach(json_object_get(j, "utilization"), key, v)
        CU_ASSERT_TRUE(json_is_number(v) && json_number_value(v) <= 1 + 1e-9);
    json_object_foreach(json_object_get(j, "breakdown_s"), key, v)
    {
        CU_ASSERT_TRUE(json_is_number(v));
        sum += strcmp(key, "data_comm_hidden") == 0 ? 0 : json_number_value(v);
    }
    double step_s = number(j, "step_time_s"), mfu = number(j, "mfu");
    CU_ASSERT_DOUBLE_EQUAL(sum, step_s, 1e-6 * step_s);
    CU_ASSERT_TRUE(mfu > 0 && mfu <= 1);
    CU_ASSERT_TRUE(number(j, "hfu") > 0 && number(j, "hfu") <= 1);
    CU_ASSERT_TRUE(number(j, "model_flops_per_gpu_s") > 0);
}

static void test_windowed(void)
{
    static const char *const models[] = {
        "{\"model_type\":\"gpt_oss\",\"hidden_size\":2880,\"intermediate_size\":2880,"
        "\"num_attention_heads\":64,\"num_hidden_layers\":24,"
        "\"num_key_value_heads\":8,\"num_local_experts\":32,"
        "\"num_experts_per_tok\":4,\"vocab_size\":201088}",
        "{\"model_type\":\"mistral\",\"hidden_size\":4096,\"intermediate_size\":14336,"
        "\"num_attention_heads\":32,\"num_hidden_layers\":32,"
        "\"num_key_value_heads\":8,\"vocab_size\":32000}",
        "{\"model_type\":\"gemma2\",\"hidden_size\":2304,\"intermediate_size\":9216,"
        "\"num_attention_heads\":8,\"num_hidden_layers\":26,"
        "\"num_key_value_heads\":4,\"vocab_size\":256000}",
        "\"deepseek-v2\"",
    };
    static const char *const libraries[] = { "fsdp", "deepspeed", "ddp" };
    char in[64];
    name(in, sizeof(in), "in.json");
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
        for (size_t l = 0; l < 3; l++) {
            struct written w;
            FILE *f = fopen(in, "w");
            CU_ASSERT_PTR_NOT_NULL_FATAL(f);
            fprintf(f,
                    "{\"model\":%s,\"cluster\":{\"instance\":\"p5.48xlarge\",\"count\":"
                    "4},\"training\":{\"sequence_length\":8192,\"micro_batch_size\":1,"
                    "\"precision\":\"bf16\"},\"parallelism\":{\"library\":\"%s\"%s}}",
                    models[m], libraries[l],
                    l < 2 ? ",\"sharding\":{\"strategy\":\"full\"}" : "");
            fclose(f);
            write_all(&w, in);
            check_shares(w.json);
            written_release(&w);
        }
    remove(in);
}

void test_same_register(void)
{
    CU_pSuite suite = CU_add_suite("same", NULL, NULL);
    CU_add_test(suite, "text, JSON and page agree", test_writers);
    CU_add_test(suite, "markup in a page is text", test_markup);
    CU_add_test(suite, "plans agree with simulate", test_plans);
    CU_add_test(suite, "numbers that are none are named", test_numbers);
    CU_add_test(suite, "those of a campaign, too", test_campaign_numbers);
    CU_add_test(suite, "windows leave shares finite", test_windowed);
}
