/* Readers of measurements: logs of nccl-tests of several versions, output of the
 * measuring program, tables; and what is refused, with its place. Files are in
 * tests/measure. */
#include "calibrate/samples.h"

#include "config/datadir.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_logs_register(void);

struct loaded {
    struct cfg_loader loader;
    struct samples samples;
    int rc;
};

static const struct samples_hints no_hints = { .op = -1 };

static void load(struct loaded *l, const char *name)
{
    cfg_loader_init(&l->loader);
    samples_init(&l->samples, &l->loader, &no_hints);
    l->rc = samples_load(&l->samples,
                         arena_printf(&l->loader.arena, "%s/tests/measure/%s",
                                      datadir_root(&l->loader.arena), name),
                         &no_hints);
}

static void unload(struct loaded *l)
{
    samples_release(&l->samples);
    cfg_loader_release(&l->loader);
}

/* What of a log is looked at: how many rows, and one of them. */
static const struct {
    const char *file, *device;
    int64_t n, at;
    enum coll_op op;
    int64_t n_ranks, n_nodes;
    double bytes, time_us;
} logs[] = {
    { "all_reduce-2020.log", "A100-SXM4-40GB", 6, 5, COLL_ALL_REDUCE, 4, 2, 1073741824,
      38210 },
    { "mpirun-2024.log", "NVIDIA H100 80GB HBM3", 6, 0, COLL_ALL_REDUCE, 8, 1, 8,
      13.02 },
    { "mpirun-2024.log", "NVIDIA H100 80GB HBM3", 6, 5, COLL_ALL_GATHER, 8, 1,
      1073741824, 4253.1 },
    { "reduce_scatter-prefix.log", NULL, 2, 1, COLL_REDUCE_SCATTER, 8, 1, 1073741824,
      4253.1 },
    { "all_reduce.json", "NVIDIA H200", 2, 1, COLL_ALL_REDUCE, 8, 2, 1073741824,
      4300.5 },
};

static void test_logs(void)
{
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct loaded l;
        load(&l, logs[i].file);
        if (l.rc)
            CU_FAIL_FATAL(l.loader.diags.errors[0]);
        CU_ASSERT_EQUAL_FATAL(l.samples.colls.n, logs[i].n);
        const struct sample_coll *k = &l.samples.colls.v[logs[i].at];
        CU_ASSERT_EQUAL(k->op, logs[i].op);
        CU_ASSERT_EQUAL(k->n_ranks, logs[i].n_ranks);
        CU_ASSERT_EQUAL(k->n_nodes, logs[i].n_nodes);
        CU_ASSERT_EQUAL(k->bytes, logs[i].bytes);
        CU_ASSERT_DOUBLE_EQUAL(k->time_s, logs[i].time_us * 1e-6, 1e-12);
        if (logs[i].device)
            CU_ASSERT_STRING_EQUAL(l.samples.device, logs[i].device);
        unload(&l);
    }
}

static void test_measure(void)
{
    struct loaded l;
    load(&l, "h200.json");
    CU_ASSERT_EQUAL_FATAL(l.rc, 0);
    const struct samples *s = &l.samples;
    CU_ASSERT_EQUAL(s->gemms.n, 1);
    CU_ASSERT_EQUAL(s->n_failed, 1);
    CU_ASSERT_EQUAL(s->streams.n, 1);
    CU_ASSERT_EQUAL(s->flashes.n, 0); /* no library's kernel */
    CU_ASSERT_EQUAL(s->links.n, 1);
    CU_ASSERT_EQUAL(s->clocks.n, 1);
    CU_ASSERT_EQUAL(s->colls.n, 1);
    CU_ASSERT_EQUAL(s->sm_arch, 90);
    CU_ASSERT_EQUAL(s->context_B, 612368384);
    CU_ASSERT_STRING_EQUAL(s->device, "NVIDIA H200");
    unload(&l);
}

/* The first error must say this. */
static const struct {
    const char *file, *says;
} refused[] = {
    { "bad-nan.json", "bad-nan.json:" },
    { "bad-cut.log", "bad-cut.log:17: the row is cut short" },
    { "bad-nan.log", "the time is not a positive number" },
    { "bad-foreign.log", "no measurement is in it" },
    { "bad-cut.json", "bad-cut.json:" },
    { "bad-format.json", "is a format not known here" },
    { "bad-time.json", "/rows/0/time_s" },
    { "bad-table.csv", "column latency_us: \"nan\" is not a positive number" },
    { "bad-columns.csv", "is no table of kernels or collectives" },
    { "no-such-file", "no-such-file" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct loaded l;
        load(&l, refused[i].file);
        CU_ASSERT_EQUAL(l.rc, -1);
        CU_ASSERT_FATAL(l.loader.diags.n_errors >= 1);
        if (!strstr(l.loader.diags.errors[0], refused[i].says))
            CU_FAIL(l.loader.diags.errors[0]);
        unload(&l);
    }
}

/* One set of measurements is of one device. */
static void test_devices(void)
{
    struct loaded l;
    load(&l, "h200.json");
    CU_ASSERT_EQUAL(samples_device(&l.samples, "NVIDIA A100-SXM4-40GB", "x"), -1);
    l.samples.filter = "H200";
    CU_ASSERT_EQUAL(samples_device(&l.samples, "NVIDIA A100-SXM4-40GB", "x"), 0);
    CU_ASSERT_EQUAL(samples_device(&l.samples, "NVIDIA H200", "x"), 1);
    unload(&l);
}

void test_logs_register(void)
{
    CU_pSuite suite = CU_add_suite("logs", NULL, NULL);
    CU_add_test(suite, "logs of nccl-tests", test_logs);
    CU_add_test(suite, "output of smsim-measure", test_measure);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "devices", test_devices);
}
