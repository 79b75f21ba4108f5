/* Exports of Nsight Systems: what is read of a step, by ranges and without, of several
 * processes, and files that are none or broken. Databases are made here, by SQLite. */
#include "base/plain.h"
#include "kineto/nsight.h"
#include "logs/logs.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_nsight_register(void);

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT "
    "NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT "
    "NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
    "shortName INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT "
    "NULL, deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId "
    "INTEGER, "
    "globalPid INTEGER, bytes INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT "
    "NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER "
    "NOT NULL, text TEXT, globalTid INTEGER, textId INTEGER);"
    "INSERT INTO StringIds VALUES (1, 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n'),"
    "(2, 'flash_fwd_kernel<x>'), (3, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),"
    "(4, 'multi_tensor_apply_kernel<AdamFunctor>'), (5, 'cudaLaunchKernel_v7000'),"
    "(6, 'train_step');"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 \x1b[2J80GB');";

enum { LAYERS = 24, MICRO = 4 };
static const int64_t us = 1000, process = (int64_t)(1 << 16 | 77) << 24;

static sqlite3 *db_new(char *name)
{
    sqlite3 *db;
    int fd = mkstemp(name);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(name, &db), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;
    CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, &why), SQLITE_OK);
    if (why)
        printf("%s: %s\n", sql, why);
    sqlite3_free(why);
}

static int64_t correlation;

static void kernel(sqlite3 *db, int64_t of, int name, int64_t start, int64_t length,
                   int64_t launched)
{
    char sql[512];
    correlation++;
    snprintf(sql, sizeof(sql),
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%lld,%lld,0,1,7,%lld,%lld,"
             "%d,%d); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%lld,%lld,%lld,"
             "%lld,5);",
             (long long)start, (long long)(start + length), (long long)correlation,
             (long long)of, name, name, (long long)launched, (long long)(launched + 10),
             (long long)(of + 5), (long long)correlation);
    run(db, sql);
}

/* A step of four microbatches of 24 layers: products of 400 us and attention of 100, an
 * all-reduce of 300 us in each fourth layer that runs alone, ten kernels of the optimizer
 * of 50 us, and 1000 us in which nothing runs; its end. */
static int64_t step(sqlite3 *db, int64_t of, int64_t at, double slower)
{
    int64_t begin = at;
    for (int i = 0; i < MICRO * LAYERS; i++) {
        int64_t product = (int64_t)(400e3 * slower);
        kernel(db, of, 1, at, product, begin);
        at += product;
        kernel(db, of, 2, at, 100 * us, begin);
        at += 100 * us;
        if (i % 4 == 3) {
            kernel(db, of, 3, at, 300 * us, begin);
            at += 300 * us;
        }
    }
    for (int i = 0; i < 10; i++, at += 50 * us)
        kernel(db, of, 4, at, 50 * us, begin);
    return at + 1000 * us;
}

static const double step_s = 96 * 500e-6 + 24 * 300e-6 + 500e-6 + 1000e-6;

enum { RANGES_NONE, RANGES_TEXT, RANGES_ID };

static void fill(sqlite3 *db, int64_t of, int steps, int ranges, double slower)
{
    int64_t at = 5000 * us;
    char sql[256];
    for (int i = 0; i < steps; i++) {
        int64_t begin = at;
        at = step(db, of, at, slower);
        snprintf(sql, sizeof(sql),
                 "INSERT INTO NVTX_EVENTS VALUES (%lld,%lld,59,%s%d%s,%lld,%s)",
                 (long long)begin, (long long)at,
                 ranges == RANGES_TEXT ? "'iteration " : "NULL -- ", 40 + i,
                 ranges == RANGES_TEXT ? "'" : "\n", (long long)(of + 5),
                 ranges == RANGES_ID ? "6" : "NULL");
        run(db, sql);
        snprintf(sql, sizeof(sql),
                 "INSERT INTO NVTX_EVENTS VALUES (%lld,%lld,59,'batch_norm %d',%lld,"
                 "NULL)",
                 (long long)begin, (long long)at, i, (long long)(of + 5));
        run(db, sql);
    }
}

static void near(double v, double is)
{
    CU_ASSERT_DOUBLE_EQUAL(v, is, 1e-9);
}

static void check_mean(const struct kineto_rank *r, double slower)
{
    double product_s = MICRO * LAYERS * 400e-6 * slower;
    near(r->mean.step_s, step_s + product_s - MICRO * LAYERS * 400e-6);
    near(r->mean.compute_s, product_s + MICRO * LAYERS * 100e-6 + 500e-6);
    near(r->mean.exposed_s, 24 * 300e-6);
    near(r->mean.idle_s, 1000e-6);
    near(r->class_s[KERNEL_PRODUCT], product_s);
    near(r->class_s[KERNEL_ATTENTION], MICRO * LAYERS * 100e-6);
    near(r->class_s[KERNEL_OPTIMIZER], 500e-6);
    near(r->comm_s[COMM_ALL_REDUCE], 24 * 300e-6);
    CU_ASSERT_EQUAL(r->class_n[KERNEL_PRODUCT], MICRO * LAYERS);
    CU_ASSERT_STRING_EQUAL(r->precision, "bf16/fp16");
    CU_ASSERT_TRUE(plain_length(r->device, false) == strlen(r->device));
    CU_ASSERT_PTR_NOT_NULL(strstr(r->device, "NVIDIA H100"));
}

static void read_one(struct logs *l, const char *name)
{
    struct err err = { 0 };
    logs_init(l);
    CU_ASSERT_EQUAL_FATAL(logs_read(l, name, &err), 0);
}

static void test_ranges(void)
{
    static const struct {
        int ranges, steps;
        enum kineto_marks marks;
        const char *as; /* what other versions write otherwise; NULL: nothing */
    } cases[] = {
        { RANGES_TEXT, 5, KINETO_RANGES, NULL },
        { RANGES_ID, 5, KINETO_RANGES, NULL },
        /* begin and end of two are unknown */
        { RANGES_NONE, 3, KINETO_OPTIMIZER, NULL },
        /* early 2021 */
        { RANGES_ID, 5, KINETO_RANGES,
          "UPDATE NVTX_EVENTS SET text = '' WHERE text IS NULL;"
          "ALTER TABLE TARGET_INFO_GPU RENAME TO TARGET_INFO_CUDA_GPU" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[] = "/tmp/smsim-nsight-XXXXXX";
        sqlite3 *db = db_new(name);
        struct logs l;
        run(db, "BEGIN");
        run(db, schema);
        fill(db, process, 5, cases[i].ranges, 1);
        run(db, cases[i].as ? cases[i].as : "");
        run(db, "COMMIT");
        sqlite3_close(db);
        read_one(&l, name);
        CU_ASSERT_EQUAL_FATAL(l.traces.n, 1);
        CU_ASSERT_EQUAL(l.traces.v[0].marks, cases[i].marks);
        CU_ASSERT_EQUAL_FATAL(l.traces.v[0].n_kept, cases[i].steps);
        check_mean(&l.traces.v[0], 1);
        if (cases[i].ranges == RANGES_TEXT)
            CU_ASSERT_EQUAL(l.traces.v[0].steps.v[0].number, 40);
        CU_ASSERT_EQUAL(l.records.n, cases[i].steps);
        logs_release(&l);
        unlink(name);
    }
}

/* Two processes have the same ids of launches; each is a rank. One without a kernel is
 * none. */
static void test_processes(void)
{
    char name[] = "/tmp/smsim-nsight-XXXXXX";
    sqlite3 *db = db_new(name);
    struct logs l;
    run(db, "BEGIN");
    run(db, schema);
    correlation = 0;
    fill(db, process + ((int64_t)1 << 24), 3, RANGES_TEXT, 1.5);
    correlation = 0;
    fill(db, process, 3, RANGES_TEXT, 1);
    run(db, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 1, 1358954496, "
            "8)");
    run(db, "COMMIT");
    sqlite3_close(db);
    read_one(&l, name);
    CU_ASSERT_EQUAL_FATAL(l.traces.n, 2);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(l.traces.v[i].rank, i);
        check_mean(&l.traces.v[i], i ? 1.5 : 1);
    }
    logs_release(&l);
    unlink(name);
}

/* Files that a reader has to refuse, by what it says of them. */
static void test_refused(void)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        { "CREATE TABLE x (y)", "without the table CUPTI_ACTIVITY_KIND_KERNEL" },
        { "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS "
          "(SELECT "
          "1 UNION ALL SELECT start FROM r) SELECT start, start AS end FROM r",
          "without the table" },
        { "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, big AS "
          "(zeroblob(100000000)))",
          "without the table" },
        { "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER)",
          "no kernel of a GPU is in it" },
        { "PRAGMA writable_schema=1; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "
          "end); UPDATE sqlite_master SET sql='CREATE TABLE \x1b[31m (a,'",
          "cannot be read as an export" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[] = "/tmp/smsim-nsight-XXXXXX";
        sqlite3 *db = db_new(name);
        struct logs l;
        struct err err = { 0 };
        run(db, cases[i].sql);
        sqlite3_close(db);
        logs_init(&l);
        CU_ASSERT_EQUAL(logs_read(&l, name, &err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].says));
        if (!strstr(err.text, cases[i].says))
            printf("case %zu says: %s\n", i, err.text);
        CU_ASSERT_EQUAL(plain_length(err.text, false), strlen(err.text));
        logs_release(&l);
        unlink(name);
    }
}

/* Rows of wrong types are left out, and counted. A file that is cut is broken. */
static void test_wrong_rows(void)
{
    char name[] = "/tmp/smsim-nsight-XXXXXX";
    sqlite3 *db = db_new(name);
    struct logs l;
    struct err err = { 0 };
    run(db, "BEGIN");
    run(db, schema);
    fill(db, process, 5, RANGES_TEXT, 1);
    run(db, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('a', x'00', 0, 1, 7, 1, "
            "1281426685952, 1, 1), (9, 3, 0, 1, 7, 1, 1281426685952, 1, 1), (-5, 3, 0, "
            "1, 7, 1, 1281426685952, 1, 1), (9, 9223372036854775807, 0, 1, 7, 1, "
            "1281426685952, 1, 1)");
    run(db, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = (SELECT globalPid FROM "
            "CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1)");
    run(db, "COMMIT");
    sqlite3_close(db);
    read_one(&l, name);
    CU_ASSERT_EQUAL_FATAL(l.traces.n, 1);
    CU_ASSERT_EQUAL(l.traces.v[0].n_left_out, 4);
    check_mean(&l.traces.v[0], 1);
    logs_release(&l);
    CU_ASSERT_EQUAL(truncate(name, 40000), 0);
    logs_init(&l);
    CU_ASSERT_EQUAL(logs_read(&l, name, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "malformed"));
    logs_release(&l);
    unlink(name);
}

/* Names that are looked up without a key would take the square of the rows. */
static void test_no_key(void)
{
    char name[] = "/tmp/smsim-nsight-XXXXXX";
    sqlite3 *db = db_new(name);
    struct logs l;
    struct err err = { 0 };
    run(db,
        "BEGIN; CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE TABLE "
        "CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, demangledName "
        "INTEGER); WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r "
        "LIMIT 50000) INSERT INTO StringIds SELECT i, 'k' FROM r; WITH RECURSIVE "
        "r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 50000) INSERT INTO "
        "CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 60000 FROM r; COMMIT");
    sqlite3_close(db);
    logs_init(&l);
    CU_ASSERT_EQUAL(logs_read(&l, name, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "takes too long to read"));
    logs_release(&l);
    unlink(name);
}

void test_nsight_register(void)
{
    CU_pSuite s = CU_add_suite("nsight", NULL, NULL);
    CU_ADD_TEST(s, test_ranges);
    CU_ADD_TEST(s, test_processes);
    CU_ADD_TEST(s, test_refused);
    CU_ADD_TEST(s, test_wrong_rows);
    CU_ADD_TEST(s, test_no_key);
}
