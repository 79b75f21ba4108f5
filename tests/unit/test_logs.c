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

static void load_as(struct loaded *l, const char *name,
                    const struct samples_hints *hints)
{
    cfg_loader_init(&l->loader);
    samples_init(&l->samples, &l->loader, hints);
    l->rc = samples_load(&l->samples,
                         arena_printf(&l->loader.arena, "%s/tests/measure/%s",
                                      datadir_root(&l->loader.arena), name),
                         hints);
}

static void load(struct loaded *l, const char *name)
{
    load_as(l, name, &no_hints);
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
    { "reduce_scatter-prefix.log", NULL, 2, 1, COLL_REDUCE_SCATTER, 8, 0, 1073741824,
      4253.1 },
    { "log-v1-ms.log", "Tesla V100-SXM2-16GB", 3, 2, COLL_ALL_REDUCE, 2, 1, 67108864,
      3052 },
    { "log-bracket-prefix.log", "NVIDIA H100 80GB HBM3", 3, 0, COLL_ALL_REDUCE, 8, 2,
      65536, 52.05 },
    { "log-bracket-prefix.log", "NVIDIA H100 80GB HBM3", 3, 2, COLL_ALL_REDUCE, 8, 2,
      33554432, 402.7 },
    { "log-kubectl-crlf.log", "NVIDIA A100-SXM4-80GB", 3, 2, COLL_ALL_REDUCE, 16, 2,
      1073741824, 5120.4 },
    { "log-quoted.md", "NVIDIA H200", 2, 1, COLL_ALL_GATHER, 16, 2, 1073741824,
      3301.7 },
    { "log-rows-alone.log", NULL, 2, 1, COLL_ALLTOALL, 32, 0, 67108864, 1540.2 },
    { "log-three-runs.log", "NVIDIA H200", 2, 1, COLL_BROADCAST, 8, 1, 1073741824,
      3650.9 },
    { "log-all_gather-part.log", "Tesla V100-SXM2-32GB", 2, 1, COLL_ALL_GATHER, 4, 1,
      16777216, 190.7 },
    { "log-processes.json", "NVIDIA H100 80GB HBM3", 2, 0, COLL_REDUCE_SCATTER, 16, 2,
      1048576, 70.1 },
    /* lines of NCCL within rows; sendrecv_perf says "sum" */
    { "log-split-rows.log", "NVIDIA H200", 3, 0, COLL_ALL_REDUCE, 2, 1, 33554432, 180 },
    { "log-split-rows.log", "NVIDIA H200", 3, 1, COLL_ALL_REDUCE, 2, 1, 67108864, 340 },
    { "log-split-rows.log", "NVIDIA H200", 3, 2, COLL_SENDRECV, 3, 1, 33554432, 220 },
    { "all_reduce.json", "NVIDIA H200", 2, 1, COLL_ALL_REDUCE, 8, 2, 1073741824,
      4300.5 },
};

static void test_logs(void)
{
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct loaded l;
        load(&l, logs[i].file);
        if (l.rc)
            CU_FAIL_FATAL(diags_error_text(&l.loader.diags, 0));
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

/* GPUs that a thread launches on, where a log says so. */
static void test_launched(void)
{
    static const struct {
        const char *file;
        int64_t n;
    } of[] = { { "log-v1-ms.log", 2 },
               { "mpirun-2024.log", 1 },
               { "all_reduce.json", 1 },
               { "log-rows-alone.log", 0 } };
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        struct loaded l;
        load(&l, of[i].file);
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        const struct sample_coll *k = &l.samples.colls.v[0];
        CU_ASSERT_EQUAL(k->gpus_per_thread, of[i].n);
        CU_ASSERT_EQUAL(sample_coll_launched(k, 2), of[i].n);
        CU_ASSERT_EQUAL(sample_coll_launched(k, 1), of[i].n == 2 ? 0 : of[i].n);
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
    { "bad-cut.log", "no row of it can be read, of 1" },
    { "bad-log-agree.log", "time, size and algbw do not agree" },
    { "bad-log-list.log", "24 ranks by the list of devices, but bus over algorithm "
                          "bandwidth means 64" },
    { "bad-log-copies.log", "bad-log-copies.log:11: a rank is listed twice" },
    { "bad-log-ranks.log", "bad-log-ranks.log:7: bus over algorithm bandwidth is not" },
    { "bad-log-op.log", "the operation is unknown: all_gather or alltoall (give" },
    { "bad-log-host-time.log", "holds no measurement" },
    { "bad-log-host-time.json", "/results/0/out_of_place/cpu_time: is the host's" },
    { "bad-log-groups.log", "holds no measurement" },
    { "bad-log-utf16.log", "is no text in UTF-8" },
    { "bad-nan.log", "the time is not a positive number" },
    { "bad-foreign.log", "no measurement is in it" },
    { "bad-semicolons.csv", "parted by semicolons" },
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
        if (!strstr(diags_error_text(&l.loader.diags, 0), refused[i].says))
            CU_FAIL(diags_error_text(&l.loader.diags, 0));
        unload(&l);
    }
}

/* What is left out of a log is said, with its line; the rest is taken. */
static const struct {
    const char *file, *says;
} left_out[] = {
    { "log-three-runs.log", "log-three-runs.log:17: rows left out, 1: no operation" },
    { "log-three-runs.log", "log-three-runs.log:27: rows left out, 1: of one rank" },
    { "log-three-runs.log", "log-three-runs.log:46: rows left out, 1: cut short" },
    { "bad-log-host-time.log", "16: rows left out, 3: times of the host" },
    { "bad-log-groups.log", "10: rows left out, 3: several groups at once" },
};

static void test_left_out(void)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        struct loaded l;
        bool said = false;
        load(&l, left_out[i].file);
        for (int64_t w = 0; w < l.loader.diags.n_warnings; w++)
            said = said ||
                   strstr(diags_warning_text(&l.loader.diags, w), left_out[i].says);
        CU_ASSERT(said);
        unload(&l);
    }
}

/* What a log lacks, the caller may give; what it contradicts, not. */
static void test_hints(void)
{
    static const struct {
        const char *file;
        struct samples_hints hints;
        int rc;
        enum coll_op op;
        int64_t n_ranks, n_nodes;
    } cases[] = {
        { "bad-log-op.log", { .op = COLL_ALLTOALL }, 0, COLL_ALLTOALL, 16, 0 },
        { "bad-log-op.log", { .op = COLL_BROADCAST }, -1, 0, 0, 0 },
        { "bad-log-list.log",
          { .op = -1, .n_ranks = 64, .n_nodes = 16 },
          0,
          COLL_ALL_REDUCE,
          64,
          16 },
        /* nothing says how many: as many as are asked for, where rows may be of them */
        { "log-many-ranks.log", { .op = -1 }, -1, 0, 0, 0 },
        { "log-many-ranks.log",
          { .op = -1, .n_ranks_asked = 2400 },
          0,
          COLL_ALL_REDUCE,
          2400,
          0 },
        { "log-many-ranks.log", { .op = -1, .n_ranks_asked = 16 }, -1, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load_as(&l, cases[i].file, &cases[i].hints);
        CU_ASSERT_EQUAL_FATAL(l.rc, cases[i].rc);
        if (l.rc == 0) {
            CU_ASSERT_EQUAL(l.samples.colls.v[0].op, cases[i].op);
            CU_ASSERT_EQUAL(l.samples.colls.v[0].n_ranks, cases[i].n_ranks);
            CU_ASSERT_EQUAL(l.samples.colls.v[0].n_nodes, cases[i].n_nodes);
        }
        unload(&l);
    }
}

/* Nodes that nothing gives are as many as the ranks fill. */
static void test_place(void)
{
    struct loaded l;
    load(&l, "log-rows-alone.log");
    samples_place(&l.samples, 8);
    CU_ASSERT_EQUAL(l.samples.colls.v[0].n_nodes, 4);
    unload(&l);
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

/* silicon_nccl has rows of Hopper that name no device: they are none of B200's. */
static void test_unnamed(void)
{
    static const struct samples_hints b200 = { .device = "NVIDIA B200", .op = -1 };
    struct loaded l;
    load_as(&l, "../../validate/data/silicon_nccl.csv", &b200);
    CU_ASSERT_EQUAL_FATAL(l.rc, 0);
    CU_ASSERT_EQUAL(l.samples.colls.n, 355);
    CU_ASSERT_EQUAL_FATAL(l.samples.notes.n, 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(l.samples.notes.v[0], "90 rows name no device: left out"));
    unload(&l);
}

void test_logs_register(void)
{
    CU_pSuite suite = CU_add_suite("logs", NULL, NULL);
    CU_add_test(suite, "logs of nccl-tests", test_logs);
    CU_add_test(suite, "GPUs that a thread launches on", test_launched);
    CU_add_test(suite, "output of smsim-measure", test_measure);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "what is left out of logs", test_left_out);
    CU_add_test(suite, "what the caller knows of logs", test_hints);
    CU_add_test(suite, "nodes that nothing gives", test_place);
    CU_add_test(suite, "devices", test_devices);
    CU_add_test(suite, "rows that name no device", test_unnamed);
}
