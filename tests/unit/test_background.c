/* Several jobs on one fabric: they meet on narrow ways, and nowhere else. */
#include "step_bench.h"

#include "hardware/sites.h"
#include "simulate/background.h"

void test_background_register(void);

#define WORK                                                                       \
    "'model':'llama3-8b','training':{'sequence_length':2048,'micro_batch_size':1," \
    "'precision':'bf16'},'parallelism':{'library':'fsdp','sharding':{'strategy':"  \
    "'full'}}"
#define PIPES                                                                      \
    "'model':'llama3-8b','training':{'sequence_length':2048,'micro_batch_size':1," \
    "'microbatches':8,'precision':'bf16'},'parallelism':{'library':'megatron',"    \
    "'pipeline':4,'tensor':8}"
#define HOSTS(n, hosts, more) \
    "'cluster':{'instance':'dgx-h100','count':" n ",'fabric_hosts':'" hosts "'" more "}"
#define LEAF(o) ",'tiers':[{'hosts':4,'oversubscription':" o "}]"

struct outcome {
    struct simulate_result r;
    int rc;
    bool noted; /* that the others are without effect */
};

static struct outcome simulated(const char *text, const struct simulate_options *how)
{
    struct job j;
    struct err err = { 0 };
    struct outcome o = { 0 };
    cfg_loader_init(&j.loader);
    struct cfg root = cfg_parse(&j.loader, "job", text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&j.s, &j.loader, root), 0);
    for (int32_t i = 0; i < j.s.n_notes; i++)
        o.noted |=
            j.s.notes[i].pointer && strcmp(j.s.notes[i].pointer, "/background") == 0;
    o.rc = simulate(&o.r, &j.loader.arena, &j.s, how, &err);
    o.r.background.jobs = NULL; /* gone with the loader */
    job_unload(&j);
    return o;
}

static struct outcome flows(const char *text)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW };
    return simulated(text, &how);
}

/* Two jobs of four nodes, each half on one leaf and half on the other. */
static void test_meet(void)
{
    static const char *const narrow[] = {
        "{" WORK
        "," HOSTS("4", "0-1,4-5", LEAF("16")) ",'background':[{" WORK
                                              "," HOSTS("4", "2-3,6-7", "") "}]}",
        "{" WORK
        "," HOSTS("4", "0-3", ",'oversubscription':16") ",'background':[{" WORK
                                                        "," HOSTS("4", "4-7", "") "}]}",
        "{" PIPES
        "," HOSTS("4", "0,4,1,5", LEAF("256")) ",'background':[{" WORK
                                               "," HOSTS("4", "2-3,6-7", "") "}]}",
    };
    for (int i = 0; i < 3; i++) {
        struct outcome o = flows(narrow[i]);
        const struct background_result *b = &o.r.background;
        CU_ASSERT_EQUAL_FATAL(o.rc, 0);
        CU_ASSERT_FALSE(o.noted);
        CU_ASSERT_EQUAL(b->n, 1);
        CU_ASSERT(o.r.step_time_s > 1.1 * b->alone_s);
        CU_ASSERT(o.r.step_time_s < 2.2 * b->alone_s);
        CU_ASSERT_DOUBLE_EQUAL(b->share, 1 - b->alone_s / o.r.step_time_s, 1e-9);
        CU_ASSERT(b->range_s[0] <= o.r.step_time_s * (1 + 1e-12) &&
                  o.r.step_time_s <= b->range_s[1] * (1 + 1e-12));
    }
}

/* On leaves of their own, and on wide ways, jobs take nothing from each other. */
static void test_apart(void)
{
    struct outcome o = flows(
        "{" WORK "," HOSTS("4", "0-3", LEAF("16")) ",'background':[{" WORK
                                                   "," HOSTS("4", "4-7", "") "}]}");
    CU_ASSERT_EQUAL(o.rc, 0);
    CU_ASSERT(o.noted);
    CU_ASSERT_EQUAL(o.r.background.n, 0);
    /* both leave their leaves, by ways of their own */
    o = flows("{" WORK "," HOSTS("4", "0-1,4-5", LEAF("16")) ",'background':[{" WORK
                                                             "," HOSTS("4", "8-9,12-13",
                                                                       "") "}]}");
    CU_ASSERT_FALSE(o.noted);
    CU_ASSERT_EQUAL(o.r.background.n, 1);
    CU_ASSERT_DOUBLE_EQUAL(o.r.step_time_s, o.r.background.alone_s,
                           1e-9 * o.r.step_time_s);
    o = flows("{" WORK
              "," HOSTS("4", "0-1,4-5", LEAF("1")) ",'background':[{" WORK
                                                   "," HOSTS("4", "2-3,6-7", "") "}]}");
    CU_ASSERT(o.noted);
}

/* More others take more; a job with nothing on the network takes nothing. */
static void test_monotone(void)
{
#define OTHER(hosts) "{" WORK "," HOSTS("4", hosts, "") "}"
#define CORE ",'oversubscription':16"
    double one =
        flows("{" WORK "," HOSTS("4", "0-3", CORE) ",'background':[" OTHER("4-7") "]}")
            .r.background.share;
    double two = flows("{" WORK "," HOSTS("4", "0-3", CORE) ",'background':[" OTHER(
                           "4-7") "," OTHER("8-11") "]}")
                     .r.background.share;
    CU_ASSERT(one > 0.05 && two > 0.05);
    struct outcome o = flows("{" WORK "," HOSTS(
        "4", "0-3", CORE) ",'background':[{" WORK "," HOSTS("1", "4", "") "}]}");
    CU_ASSERT(o.noted);
}

/* Time is lost, bytes are not: what the job moves, and its memory, are as alone. */
static void test_conserved(void)
{
    struct outcome with = flows("{" WORK "," HOSTS(
        "4", "0-1,4-5", LEAF("16")) ",'background':[{" WORK
                                    "," HOSTS("4", "2-3,6-7", "") "}]}");
    struct outcome alone = flows("{" WORK "," HOSTS("4", "0-1,4-5", LEAF("16")) "}");
    CU_ASSERT_EQUAL(with.r.memory.peak_B, alone.r.memory.peak_B);
    CU_ASSERT_DOUBLE_EQUAL(with.r.executed_flops, alone.r.executed_flops, 1);
    double sum = 0;
    for (int i = 0; i < CATEGORY_N; i++)
        sum += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : with.r.parts_s[i];
    CU_ASSERT_DOUBLE_EQUAL(sum, with.r.step_time_s, 1e-6 * sum);
    CU_ASSERT_DOUBLE_EQUAL(with.r.parts_s[CATEGORY_COMPUTE],
                           alone.r.parts_s[CATEGORY_COMPUTE],
                           0.02 * alone.r.parts_s[CATEGORY_COMPUTE]);
    /* the NICs move the same bytes in more time */
    CU_ASSERT_DOUBLE_EQUAL(with.r.util_nic * with.r.step_time_s,
                           alone.r.util_nic * alone.r.step_time_s,
                           1e-3 * alone.r.step_time_s);
}

/* A job alone on sites far apart crosses switches that neighbours do not. */
static void test_sites(void)
{
    double near = flows("{" WORK "," HOSTS("4", "4-7", LEAF("16")) "}").r.step_time_s;
    double far =
        flows("{" WORK "," HOSTS("4", "0,4,8,12", LEAF("16")) "}").r.step_time_s;
    CU_ASSERT(far > 1.1 * near);
}

static void test_fidelity(void)
{
    const char *text =
        "{" WORK
        "," HOSTS("4", "0-1,4-5", LEAF("16")) ",'background':[{" WORK
                                              "," HOSTS("4", "2-3,6-7", "") "}]}";
    for (enum fidelity f = FIDELITY_ANALYTIC; f <= FIDELITY_CHUNK; f++) {
        const struct simulate_options how = { .network = f };
        CU_ASSERT_EQUAL(simulated(text, &how).rc, f == FIDELITY_FLOW ? 0 : -1);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *jobs, *says;
    } cases[] = {
        { "[]", "array of 1 to 16" },
        { "[3]", "must be a scenario" },
        { "'x'", "array of 1 to 16" },
        { "['no-such-scenario']", "no-such-scenario" },
        { "[{" WORK "," HOSTS("4", "3-6", "") "}]", "host 3 of the fabric" },
        { "[{" WORK "," HOSTS("4", "4-6", "") "}]", "names 3 hosts" },
        { "[{" WORK "," HOSTS("4", "4,5,5,6", "") "}]", "host 5 twice" },
        { "[{" WORK "," HOSTS("4", "7-4", "") "}]", "numbers and ranges" },
        { "[{" WORK "," HOSTS("4", "4-99999999999999999999", "") "}]",
          "numbers and ranges" },
        { "[{" WORK "," HOSTS("4", "4-7", ",'oversubscription':2") "}]",
          "switches are those" },
        { "[{" WORK ",'cluster':{'instance':'p4d.24xlarge','count':2}}]",
          "no one fabric" },
        { "[{" WORK "," HOSTS("4", "4-7", "") ",'background':[]}]",
          "none of their own" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[2048];
        struct job j;
        cfg_loader_init(&j.loader);
        snprintf(text, sizeof(text),
                 "{" WORK "," HOSTS("4", "0-3", "") ",'background':%s}", cases[i].jobs);
        struct cfg root = cfg_parse(&j.loader, "job", text, strlen(text));
        CU_ASSERT_EQUAL(scenario_read(&j.s, &j.loader, root), -1);
        bool said = false;
        for (int64_t k = 0; k < j.loader.diags.n_errors; k++)
            said |= strstr(diags_error_text(&j.loader.diags, k), cases[i].says) != NULL;
        CU_ASSERT_TRUE(said);
        if (!said)
            fprintf(stderr, "%s\n", cases[i].jobs);
        job_unload(&j);
    }
}

void test_background_register(void)
{
    CU_pSuite s = CU_add_suite("background", NULL, NULL);
    CU_add_test(s, "jobs meet on narrow ways", test_meet);
    CU_add_test(s, "jobs apart take nothing", test_apart);
    CU_add_test(s, "more jobs", test_monotone);
    CU_add_test(s, "bytes and memory are kept", test_conserved);
    CU_add_test(s, "sites", test_sites);
    CU_add_test(s, "fidelities", test_fidelity);
    CU_add_test(s, "what is refused", test_refused);
}
