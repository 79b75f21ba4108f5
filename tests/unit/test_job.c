/* Whole jobs: checkpoints against arithmetic by hand, phases and trials against their
 * sums, what is refused. */
#include "base/strbuf.h"
#include "campaign/trials.h"
#include "report/figure/job.h"
#include "report/report.h"

#include "draw_bench.h"
#include "job_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_job_register(void);

/* --- checkpoints ------------------------------------------------------------- */

static struct checkpoint_result checkpoint(struct loaded *l, const char *changes,
                                           double step_s)
{
    struct checkpoint_result r;
    load_ok(l, changes);
    checkpoint_run(&r, &l->c.job.checkpoint, &l->c.storage, &l->s,
                   scenario_job_steps(&l->s), step_s);
    return r;
}

static void test_checkpoint_bytes(void)
{
    struct loaded l;
    struct checkpoint_result r = checkpoint(&l, "/job/checkpoint={\"every\":100}", 0.1);
    double n = (double)model_parameters(&l.s.model);
    CU_ASSERT_TRUE(near(r.size_B, n * (4 + 8))); /* fp32 and Adam's two moments */
    CU_ASSERT_EQUAL(r.writers, 1);
    CU_ASSERT_EQUAL(r.count, 10);
    CU_ASSERT_TRUE(near(r.write_s, r.size_B / 850e6));
    CU_ASSERT_TRUE(near(r.copy_s, r.size_B / 5.5e9));
    CU_ASSERT_TRUE(near(r.blocking_s, r.copy_s + r.write_s));
    unload(&l);
    r = checkpoint(&l, "/job/checkpoint={\"every\":100} /training/precision=\"fp16\"",
                   0.1);
    CU_ASSERT_TRUE(near(r.size_B, n * (2 + 4 + 8))); /* with master weights */
    unload(&l);
}

/* Sharded states are written by all who hold them; async ones only as far as the next
 * checkpoint comes too soon. */
static void test_checkpoint_writers(void)
{
    struct loaded l;
    struct checkpoint_result r = checkpoint(
        &l,
        "/parallelism={\"library\":\"fsdp\",\"sharding\":{\"strategy\":\"full\"}} "
        "/job/checkpoint={\"interval\":\"10s\"}",
        0.1);
    CU_ASSERT_EQUAL(r.writers, 2);
    CU_ASSERT_EQUAL(r.every, 100);
    CU_ASSERT_TRUE(near(r.write_s, r.size_B / 2 / 850e6));
    CU_ASSERT_TRUE(near(r.copy_s, r.size_B / 16 / 5.5e9));
    unload(&l);
    r = checkpoint(&l, "/job/checkpoint={\"every\":100,\"async\":true}", 0.1);
    CU_ASSERT_TRUE(near(r.blocking_s, r.copy_s));
    unload(&l);
    r = checkpoint(&l, "/job/checkpoint={\"every\":10,\"async\":true}", 0.1);
    CU_ASSERT_TRUE(near(r.blocking_s, r.copy_s + r.write_s - 1));
    unload(&l);
    r = checkpoint(&l,
                   "/storage={\"kind\":\"fsx\",\"capacity\":\"2.4TiB\","
                   "\"throughput_per_TiB\":\"250MB/s\",\"dataset\":\"1GB\"} "
                   "/job/checkpoint={\"every\":10,\"to\":\"fsx\"}",
                   0.1);
    CU_ASSERT_TRUE(near(r.write_s, r.size_B / (2.4 * 250e6)));
    unload(&l);
}

/* --- jobs -------------------------------------------------------------------- */

#define WHOLE                                                                      \
    "/job={\"provisioning\":\"100s\",\"image\":\"8GB\",\"image_rate\":\"80MB/s\"," \
    "\"compilation\":\"60s\",\"evaluation\":{\"samples\":640,\"every\":500},"      \
    "\"checkpoint\":{\"every\":500,\"throughput\":\"1GB/s\"}} "                    \
    "/storage={\"dataset\":\"50GB\"} /input={\"workers\":4} "

static struct job_result run(struct loaded *l, struct simulate_result *step,
                             const char *changes)
{
    struct campaign_result r;
    load_ok(l, changes);
    *step = step_of(0.1);
    campaign_run(&r, &l->loader.arena, &l->c, &l->s, step);
    return r.job;
}

/* Defaults against the log that they are fitted to: 192 s until the downloads, 234 s
 * for an image of 8.5 GB. */
static void test_defaults_of_start(void)
{
    struct loaded l;
    struct simulate_result step;
    struct job_result r = run(&l, &step, "/job={\"image\":\"8.5GB\"}");
    CU_ASSERT_TRUE(near(r.phases_s[JOB_PROVISIONING], 192));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_IMAGE], 234));
    unload(&l);
}

static void test_job_phases(void)
{
    struct loaded l;
    struct simulate_result step;
    struct job_result r = run(&l, &step, WHOLE);
    double n = (double)model_parameters(&l.s.model);
    /* the forward's third of compute, nothing of gradients and optimizer */
    double forward_s = 0.6 * 0.1 / 3;
    CU_ASSERT_EQUAL(r.steps, 1000);
    CU_ASSERT_TRUE(near(r.phases_s[JOB_PROVISIONING], 100));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_IMAGE], 100));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_DATA], 300));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_COMPILATION], 60));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_TRAINING], 1000 * step.step_time_s));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_EVALUATION], 2 * 10 * forward_s));
    CU_ASSERT_TRUE(
        near(r.phases_s[JOB_CHECKPOINTS], 2 * (n * 12 / 1e9 + n * 12 / 5.5e9)));
    CU_ASSERT_TRUE(near(r.phases_s[JOB_UPLOAD], n * 4 / 850e6));
    CU_ASSERT_EQUAL(r.phases_s[JOB_KEEP_ALIVE], 0);
    double all_s = 0;
    for (int i = 0; i < JOB_PHASES; i++)
        all_s += r.phases_s[i];
    CU_ASSERT_TRUE(near(r.hours, all_s / 3600));
    CU_ASSERT_TRUE(
        near(r.billed_hours, (all_s - 100) / 3600)); /* provisioning is free */
    CU_ASSERT_TRUE(near(r.usd, r.billed_hours * 56.304));
    CU_ASSERT_TRUE(near(step.cost.hours_per_job, r.hours));
    CU_ASSERT_TRUE(near(step.cost.usd_per_job, r.usd));
    unload(&l);
}

static void test_job_prices(void)
{
    struct loaded l;
    struct simulate_result step;
    struct job_result full = run(&l, &step, WHOLE);
    unload(&l);
    struct job_result spot = run(&l, &step, WHOLE "/job/spot_discount=0.6");
    CU_ASSERT_TRUE(near(spot.usd, 0.4 * full.usd));
    CU_ASSERT_TRUE(near(spot.hours, full.hours));
    unload(&l);
    struct job_result warm = run(&l, &step, WHOLE "/job/keep_alive=\"1h\"");
    CU_ASSERT_TRUE(near(warm.billed_hours, full.billed_hours + 1));
    CU_ASSERT_TRUE(near(warm.hours, full.hours)); /* the job itself is over */
    unload(&l);
}

/* Tracing under SMP is the user's to say; without, a warning. */
static void test_job_tracing(void)
{
    static const char *const compilations[] = { "null", "\"2min\"" };
    for (int i = 0; i < 2; i++) {
        char changes[512];
        struct loaded l;
        struct simulate_result step;
        snprintf(changes, sizeof(changes),
                 "/parallelism=null /job/compilation=%s "
                 "/distribution={\"mpi\":{\"enabled\":true,\"processes_per_host\":8},"
                 "\"smdistributed\":{\"modelparallel\":{\"enabled\":true,"
                 "\"parameters\":{\"partitions\":2,\"ddp\":true}}}}",
                 compilations[i]);
        struct job_result r = run(&l, &step, changes);
        CU_ASSERT_EQUAL(r.phases_s[JOB_COMPILATION], i ? 120 : 0);
        CU_ASSERT_EQUAL(step.n_warnings, i ? 0 : 1);
        CU_ASSERT_TRUE(i || strstr(step.warnings[0].text, "/job/compilation"));
        unload(&l);
    }
}

/* Two bars of what takes time. */
static void test_job_figure(void)
{
    struct loaded l;
    struct simulate_result step;
    char path[FIGURE_PATH_MAX];
    struct err err = { 0 };
    struct job_result r = run(&l, &step, WHOLE "/job/keep_alive=\"1h\"");
    figure_path(path);
    CU_ASSERT_EQUAL_FATAL(
        figure_job_write(&l.s, &r, &(struct draw_to) { .path = path }, &err), 0);
    char *svg = figure_text(path);
    for (int i = 0; i < JOB_PHASES; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(svg, report_phase_text((enum job_phase)i)));
    CU_ASSERT_PTR_NOT_NULL(strstr(svg, "id=\"bar-1\""));
    CU_ASSERT_PTR_NULL(strstr(svg, "bar-2"));
    free(svg);
    r.given = false;
    CU_ASSERT_EQUAL(
        figure_job_write(&l.s, &r, &(struct draw_to) { .path = "none.svg" }, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"job\" section"));
    unload(&l);
}

/* --- trials ------------------------------------------------------------------ */

static void test_trials_equal(void)
{
    struct loaded l;
    struct simulate_result step;
    for (int64_t places = 1; places <= 12; places++) {
        char changes[1024];
        snprintf(changes, sizeof(changes),
                 WHOLE "/job/trials=12 /job/parallel_trials=%lld", (long long)places);
        struct job_result r = run(&l, &step, changes);
        double rounds = ceil(12.0 / (double)places);
        CU_ASSERT_TRUE(near(r.trials.hours, rounds * r.hours));
        CU_ASSERT_TRUE(near(r.trials.instance_hours, 12 * 2 * r.billed_hours));
        CU_ASSERT_TRUE(near(r.trials.usd, 12 * r.usd));
        CU_ASSERT_EQUAL(r.trials.stopped, 0);
        unload(&l);
    }
}

static void test_trials_stopped(void)
{
    struct loaded l;
    struct simulate_result step;
    struct job_result r =
        run(&l, &step,
            WHOLE "/job/trials=10 /job/early_stopping={\"share\":0.4,\"after\":0.25}");
    double repeats_s = r.phases_s[JOB_TRAINING] + r.phases_s[JOB_EVALUATION] +
                       r.phases_s[JOB_CHECKPOINTS];
    CU_ASSERT_EQUAL(r.trials.stopped, 4);
    CU_ASSERT_TRUE(near(r.trials.hours, 10 * r.hours - 4 * 0.75 * repeats_s / 3600));
    unload(&l);
    static const double shares[] = { 0, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 1 };
    for (size_t k = 0; k < sizeof(shares) / sizeof(*shares); k++) {
        int64_t n = 0;
        for (int64_t i = 0; i < 60; i++)
            n += trials_is_stopped(shares[k], i);
        CU_ASSERT_EQUAL(n, llround(60 * shares[k]));
    }
}

/* A warm pool: one cold start a place, the others warm and without an image; each place
 * is kept once, at the end. */
static void test_trials_warm(void)
{
    struct loaded l;
    struct simulate_result step;
    struct job_result r =
        run(&l, &step,
            WHOLE "/job/trials=12 /job/parallel_trials=3 /job/keep_alive=\"30min\"");
    double saved_s = 100 - 20 + 100; /* of provisioning and image */
    CU_ASSERT_TRUE(near(r.trials.hours, 4 * r.hours - 3 * saved_s / 3600));
    double billed = 12 * (r.billed_hours - 0.5) - 9 * 100.0 / 3600 + 3 * 0.5;
    CU_ASSERT_TRUE(near(r.trials.instance_hours, 2 * billed));
    unload(&l);
}

/* "a,b{c,d}": the names of an object, and of those in it; of arrays the first
 * element's. */
static void names_text(struct strbuf *b, json_t *o)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(o, key, value)
    {
        strbuf_printf(b, "%s%s", comma, key);
        comma = ",";
        value = json_is_array(value) ? json_array_get(value, 0) : value;
        if (!json_is_object(value))
            continue;
        strbuf_addstr(b, "{");
        names_text(b, value);
        strbuf_addstr(b, "}");
    }
}

static void test_json_names(void)
{
    struct loaded l;
    struct campaign_result r;
    struct simulate_result step = step_of(0.1);
    struct strbuf b;
    json_t *o = json_object();
    const struct uncertainty_draws how = { .jobs = 1 };
    struct err err = { 0 };
    load_ok(&l, WHOLE "/job/trials=2 /uncertainty={\"samples\":2,\"failures\":{}}");
    campaign_run(&r, &l.loader.arena, &l.c, &l.s, &step);
    CU_ASSERT_EQUAL_FATAL(campaign_draw(&r, &l.c, &l.s, &step, &how, &err), 0);
    campaign_json(o, &r);
    strbuf_init(&b);
    json_t *ours = json_pack("{sOsOsO}", "input", json_object_get(o, "input"), "job",
                             json_object_get(o, "job"), "uncertainty",
                             json_object_get(o, "uncertainty"));
    names_text(&b, ours);
    CU_ASSERT_STRING_EQUAL(
        strbuf_get(&b),
        "input{samples_per_s,bound,slowest,stages_s{workers,cpus,storage},copy_s,"
        "wait_s},job{steps,evaluations,phases{phase,time_s,billed},hours,billed_hours,"
        "usd,checkpoint{bytes,writers,every_steps,count,copy_s,write_s,blocking_s},"
        "trials{trials,parallel_trials,stopped,hours,instance_hours,usd}},"
        "uncertainty{seed,every_rank,step_time_s{p5,p50,p95,mean,sd,samples},slowdown,"
        "samples_per_s,goodput{steps_per_day{p5,p50,p95,mean,sd,samples},fraction,"
        "lost_work,checkpoints,restarts,expected_fraction,failures_per_day,mtbf_hours,"
        "checkpoint_interval_s,checkpoint_time_s,restart_time_s,job_hours,gave_up}}");
    json_t *phases = json_object_get(json_object_get(o, "job"), "phases");
    CU_ASSERT_EQUAL(json_array_size(phases), JOB_PHASES);
    strbuf_release(&b);
    json_decref(ours);
    json_decref(o);
    unload(&l);
}

/* A scenario without the sections has neither. */
static void test_json_none(void)
{
    struct loaded l;
    struct campaign_result r;
    struct simulate_result step = step_of(0.1);
    json_t *o = json_object();
    load_ok(&l, "/job=null");
    campaign_run(&r, &l.loader.arena, &l.c, &l.s, &step);
    campaign_json(o, &r);
    CU_ASSERT_TRUE(json_is_null(json_object_get(o, "input")));
    CU_ASSERT_TRUE(json_is_null(json_object_get(o, "job")));
    CU_ASSERT_EQUAL(step.step_time_s, 0.1);
    json_decref(o);
    unload(&l);
}

static void expect_error(const char *changes, const char *place, const char *text)
{
    struct loaded l;
    load(&l, changes);
    CU_ASSERT_EQUAL(l.rc, -1);
    CU_ASSERT_TRUE_FATAL(l.loader.diags.n_errors > 0);
    bool found = strstr(diags_error_text(&l.loader.diags, 0), place) &&
                 strstr(diags_error_text(&l.loader.diags, 0), text);
    if (!found)
        fprintf(stderr, "error: %s\n", diags_error_text(&l.loader.diags, 0));
    CU_ASSERT_TRUE(found);
    unload(&l);
}

static void test_errors(void)
{
    expect_error("/training/samples=null /training/epochs=null",
                 "/job: ", "/training/steps");
    expect_error("/storage={\"mode\":\"File\"}", "/storage/dataset: ", "missing");
    expect_error("/storage={\"mode\":\"Pipe\"}", "/storage: ", "/input/sample");
    expect_error("/storage={\"kind\":\"fsx\",\"dataset\":\"1TB\"}",
                 "/storage: ", "throughput_per_TiB");
    expect_error("/job={\"keep_alive\":\"1h\",\"spot_discount\":0.5}",
                 "/job/keep_alive: ", "spot");
    expect_error("/job/keep_alive=\"2h\"", "/job/keep_alive: ", "too large");
    expect_error("/job/max_run=\"29d\"", "/job/max_run: ", "too large");
    expect_error("/storage={\"mode\":\"FastFile\",\"volume\":\"30GB\"}",
                 "/storage/volume: ", "only what is downloaded");
    expect_error(
        "/job/keep_alive=\"1h\" /cluster={\"groups\":[{\"instance\":\"ml.p3.16xlarge\","
        "\"count\":1},{\"instance\":\"ml.p3dn.24xlarge\",\"count\":1}]}",
        "/job/keep_alive: ", "one kind");
    expect_error("/job={\"trials\":2,\"parallel_trials\":3}",
                 "/job/parallel_trials: ", "write 2 or less");
    expect_error("/input/busy_vcpus=64", "/input/busy_vcpus: ", "p3.16xlarge");
}

/* A job that is stopped before its end, and data that the volume does not hold. */
static void test_limits(void)
{
    static const struct {
        const char *changes, *text; /* NULL: no warning */
    } cases[] = {
        { WHOLE "/job/max_run=\"1d\"", NULL },
        { WHOLE "/job/max_run=\"60s\"", "raise /job/max_run" },
        { "/storage={\"dataset\":\"50GB\",\"volume\":\"60GB\"}", NULL },
        { "/storage={\"dataset\":\"50GB\",\"volume\":\"30GB\"}",
          "to a volume of 27.9 GiB" },
        { "/storage={\"dataset\":\"50GB\",\"volume\":\"30GB\",\"sharded\":true}",
          NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        struct simulate_result step = step_of(0.5);
        struct campaign_result r;
        load_ok(&l, cases[i].changes);
        campaign_run(&r, &l.loader.arena, &l.c, &l.s, &step);
        struct diags *d = &l.loader.diags;
        const char *said = step.n_warnings ? step.warnings[0].text
                           : d->n_warnings ? diags_warning_text(d, 0)
                                           : "";
        CU_ASSERT_TRUE(cases[i].text ? strstr(said, cases[i].text) != NULL : !*said);
        unload(&l);
    }
}

void test_job_register(void)
{
    CU_pSuite suite = CU_add_suite("job", NULL, NULL);
    CU_ADD_TEST(suite, test_checkpoint_bytes);
    CU_ADD_TEST(suite, test_checkpoint_writers);
    CU_ADD_TEST(suite, test_job_phases);
    CU_ADD_TEST(suite, test_job_prices);
    CU_ADD_TEST(suite, test_job_tracing);
    CU_ADD_TEST(suite, test_job_figure);
    CU_ADD_TEST(suite, test_trials_equal);
    CU_ADD_TEST(suite, test_trials_stopped);
    CU_ADD_TEST(suite, test_trials_warm);
    CU_ADD_TEST(suite, test_json_names);
    CU_ADD_TEST(suite, test_json_none);
    CU_ADD_TEST(suite, test_errors);
    CU_ADD_TEST(suite, test_limits);
    CU_ADD_TEST(suite, test_defaults_of_start);
}
