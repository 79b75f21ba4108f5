/* The input pipeline against a queue run batch by batch, storage against arithmetic by
 * hand. */
#include "job_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_input_register(void);

/* Batches as PyTorch's loader hands them out: worker i makes batches i, i + w, ..., the
 * next one as soon as its last is taken; the GPU takes them in order. The mean period
 * over the later half of n batches. */
static double queue_period(int64_t workers, double load_s, double step_s)
{
    enum { BATCHES = 4096 };
    static double taken_s[BATCHES];
    for (int64_t i = 0; i < BATCHES; i++) {
        double ready_s = (i < workers ? 0 : taken_s[i - workers]) + load_s;
        double idle_s = i == 0 ? 0 : taken_s[i - 1] + step_s;
        taken_s[i] = fmax(ready_s, idle_s);
    }
    int64_t half = BATCHES / 2 / workers * workers;
    return (taken_s[BATCHES - 1] - taken_s[BATCHES - 1 - half]) / (double)half;
}

static void test_input_queue(void)
{
    static const int64_t workers[] = { 1, 2, 3, 4, 7 };
    static const double cpus_s[] = { 1e-4, 1e-2, 0.05, 0.11, 0.3 };
    const double step_s = 0.1;
    for (size_t w = 0; w < sizeof(workers) / sizeof(*workers); w++)
        for (size_t k = 0; k < sizeof(cpus_s) / sizeof(*cpus_s); k++) {
            char changes[160];
            struct loaded l;
            struct input_result r;
            snprintf(
                changes, sizeof(changes),
                "/input/workers=%lld /input/cpu=\"%gs\" /input/device_sample=\"0B\"",
                (long long)workers[w], cpus_s[k]);
            load_ok(&l, changes);
            input_run(&r, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, step_s);
            CU_ASSERT_TRUE(r.step_s[INPUT_CPUS] <= r.step_s[INPUT_WORKERS] * 1.001);
            double period_s = queue_period(workers[w], 4 * cpus_s[k], step_s);
            CU_ASSERT_DOUBLE_EQUAL(step_s + r.wait_s, period_s, 1e-3 * period_s);
            unload(&l);
        }
}

/* 64 vCPUs less 8 processes that drive GPUs; with SMDDP 8 more that serve. */
static void test_input_cpus(void)
{
    struct loaded l;
    struct input_result r, smddp;
    load_ok(&l, "/input/workers=16 /input/cpu=\"10ms\"");
    input_run(&r, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, 1e-3);
    CU_ASSERT_TRUE(near(r.step_s[INPUT_WORKERS], 4 * 10e-3 / 16));
    CU_ASSERT_TRUE(near(r.step_s[INPUT_CPUS], 32 * 10e-3 / (64 - 8)));
    CU_ASSERT_EQUAL(r.slowest, INPUT_CPUS);
    CU_ASSERT_TRUE(r.bound && r.warning && strstr(r.warning, "vCPUs"));
    CU_ASSERT_TRUE(near(r.samples_per_s, 64 / r.step_s[INPUT_CPUS]));
    unload(&l);
    load_ok(&l, "/input/workers=16 /input/cpu=\"10ms\" /parallelism/backend=\"smddp\"");
    input_run(&smddp, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, 1e-3);
    CU_ASSERT_TRUE(near(smddp.step_s[INPUT_CPUS], 32 * 10e-3 / (64 - 16)));
    unload(&l);
    load_ok(&l, "/input/workers=16 /input/cpu=\"10ms\" /input/busy_vcpus=32");
    input_run(&r, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, 1e-3);
    CU_ASSERT_TRUE(near(r.step_s[INPUT_CPUS], 10e-3));
    unload(&l);
}

/* Without workers loading and the step follow one another; copies precede the step. */
static void test_input_serial(void)
{
    struct loaded l;
    struct input_result r;
    load_ok(&l, "/input/cpu=\"10ms\" /input/device_sample=\"55MB\"");
    input_run(&r, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, 0.5);
    CU_ASSERT_TRUE(near(r.copy_s, 4 * 55e6 / 5.5e9)); /* pageable */
    CU_ASSERT_TRUE(near(r.wait_s, r.copy_s + 4 * 10e-3));
    CU_ASSERT_TRUE(r.bound && strstr(r.warning, "/input/workers"));
    unload(&l);
    load_ok(&l, "/input/device_sample=\"55MB\" /input/pinned=true");
    input_run(&r, &l.loader.arena, &l.c.input, &l.c.storage, &l.s, 0.5);
    CU_ASSERT_TRUE(near(r.wait_s, 4 * 55e6 / 10e9));
    CU_ASSERT_FALSE(r.bound);
    unload(&l);
}

/* The wait is a part of the step, and rates follow. */
static void test_input_in_step(void)
{
    struct loaded l;
    struct campaign_result r;
    struct simulate_result step = step_of(0.1);
    load_ok(&l, "/input/workers=2 /input/cpu=\"100ms\" /input/device_sample=\"0B\"");
    campaign_run(&r, &l.loader.arena, &l.c, &l.s, &step);
    CU_ASSERT_TRUE(near(step.step_time_s, 0.2)); /* 4 x 100 ms by 2 */
    CU_ASSERT_TRUE(near(step.samples_per_s, 320));
    double sum_s = 0;
    for (int i = 0; i < CATEGORY_N; i++)
        sum_s += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : step.parts_s[i];
    CU_ASSERT_TRUE(near(sum_s, step.step_time_s));
    CU_ASSERT_EQUAL(step.n_warnings, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(step.warnings[0].text, "set /input/workers to 4"));
    unload(&l);
    /* more than the 7 vCPUs of a GPU would be needed */
    step = step_of(0.01);
    load_ok(&l, "/input/workers=2 /input/cpu=\"100ms\" /input/device_sample=\"0B\"");
    campaign_run(&r, &l.loader.arena, &l.c, &l.s, &step);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(step.warnings[0].text, "set /input/workers to 7, and prepare"));
    unload(&l);
}

static double read_Bps(const char *changes, double streams)
{
    struct loaded l;
    load_ok(&l, changes);
    double Bps = storage_read_Bps(&l.c.storage, &l.s, instance_of(&l), streams);
    unload(&l);
    return Bps;
}

static void test_storage_rates(void)
{
    const double MiB = 1 << 20, nic = 25e9 / 8;
    CU_ASSERT_TRUE(near(
        read_Bps("/storage={\"mode\":\"FastFile\",\"dataset\":\"1TB\"}", 8), 8 * 85e6));
    CU_ASSERT_TRUE(
        near(read_Bps("/storage={\"mode\":\"Pipe\",\"dataset\":\"1TB\"}", 1000), nic));
    CU_ASSERT_TRUE(
        near(read_Bps("/storage={\"kind\":\"fsx\",\"capacity\":\"1.2TiB\","
                      "\"throughput_per_TiB\":\"200MB/s\",\"dataset\":\"1TB\"}",
                      8),
             1.2 * 200e6 / 2));
    CU_ASSERT_TRUE(near(read_Bps("/storage={\"kind\":\"efs\",\"dataset\":\"1TB\"}", 8),
                        500 * MiB));
    CU_ASSERT_TRUE(near(read_Bps("/storage={\"kind\":\"efs\",\"dataset\":\"1TB\"} "
                                 "/cluster/count=16",
                                 8),
                        3 * 1024 * MiB / 16));
    CU_ASSERT_TRUE(
        near(read_Bps("/storage={\"kind\":\"ebs\",\"dataset\":\"1TB\"}", 8), 14e9 / 8));
    CU_ASSERT_TRUE(near(read_Bps("/storage={\"kind\":\"local\",\"dataset\":\"1TB\","
                                 "\"throughput\":\"4GB/s\"}",
                                 8),
                        4e9));
    /* downloaded: from the page cache while it fits into 488 GiB, from the disk
     * beyond */
    CU_ASSERT_TRUE(isinf(read_Bps("/storage={\"dataset\":\"400GiB\"}", 8)));
    CU_ASSERT_TRUE(near(read_Bps("/storage={\"dataset\":\"0.6TiB\"}", 8), 14e9 / 8));
    CU_ASSERT_TRUE(
        isinf(read_Bps("/storage={\"dataset\":\"0.6TiB\",\"sharded\":true}", 8)));
}

static void test_storage_download(void)
{
    struct loaded l;
    load_ok(&l, "/storage={\"dataset\":\"50GB\"}");
    CU_ASSERT_TRUE(near(storage_download_s(&l.c.storage, &l.s), 300));
    unload(&l);
    load_ok(&l, "/storage={\"dataset\":\"50GB\",\"sharded\":true}");
    CU_ASSERT_TRUE(near(storage_download_s(&l.c.storage, &l.s), 150));
    unload(&l);
    load_ok(&l, "/storage={\"dataset\":\"50GB\",\"throughput\":\"100GB/s\"}");
    CU_ASSERT_TRUE(near(storage_download_s(&l.c.storage, &l.s), 50e9 / (14e9 / 8)));
    unload(&l);
    load_ok(&l, "/storage={\"dataset\":\"50GB\",\"mode\":\"FastFile\"}");
    CU_ASSERT_EQUAL(storage_download_s(&l.c.storage, &l.s), 0);
    unload(&l);
}

void test_input_register(void)
{
    CU_pSuite suite = CU_add_suite("input", NULL, NULL);
    CU_ADD_TEST(suite, test_input_queue);
    CU_ADD_TEST(suite, test_input_cpus);
    CU_ADD_TEST(suite, test_input_serial);
    CU_ADD_TEST(suite, test_input_in_step);
    CU_ADD_TEST(suite, test_storage_rates);
    CU_ADD_TEST(suite, test_storage_download);
}
