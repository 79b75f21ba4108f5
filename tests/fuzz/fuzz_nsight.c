/* Whatever a database holds, and whichever of its bytes are wrong: reading it as an export
 * of Nsight Systems ends, times are finite and not negative, what is kept is bounded, and
 * texts and errors have no control characters. The input is SQL that makes the database;
 * after a '~', each two characters change a byte of its file. Build it with clang's
 * fuzzer, or with -DFUZZ_ALONE (fuzz_alone.h). */
#include "base/plain.h"
#include "kineto/nsight.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void take(void *arg, struct kineto_rank *r)
{
    (void)arg;
    require(plain_length(r->device, false) == strlen(r->device));
    require(r->comms.n <= KINETO_COMMS_MAX && r->steps.n <= KINETO_STEPS_MAX);
    for (int64_t i = 0; i < r->steps.n; i++) {
        const struct kineto_step *s = &r->steps.v[i];
        double sum = s->compute_s + s->exposed_s + s->copy_exposed_s + s->idle_s;
        require(isfinite(s->step_s) && s->step_s >= 0 && s->idle_s >= -1e-12);
        require(fabs(sum - s->step_s) <= 1e-6 * (1 + s->step_s));
    }
    for (int i = 0; i < KERNEL_CLASSES; i++)
        require(isfinite(r->class_s[i]) && r->class_s[i] >= 0);
    kineto_rank_release(r);
}

static int enough(void *left)
{
    return --*(int *)left <= 0;
}

/* Statements that fail are skipped, and those that run long are stopped. */
static void make(const char *name, char *sql)
{
    sqlite3 *db;
    require(sqlite3_open(name, &db) == SQLITE_OK);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    for (char *at = strtok(sql, ";"); at; at = strtok(NULL, ";")) {
        int left = 20;
        sqlite3_progress_handler(db, 1000, enough, &left);
        sqlite3_exec(db, at, NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

static void damage(const char *name, const char *bytes)
{
    FILE *f = fopen(name, "r+b");
    require(f != NULL);
    fseek(f, 0, SEEK_END);
    long size = ftell(f), at = 0;
    for (; size && bytes[0] && bytes[1]; bytes += 2) {
        at = (at * 131 + (unsigned char)bytes[0] * 61) % size;
        fseek(f, at, SEEK_SET);
        fputc(bytes[1], f);
    }
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "/tmp/smsim-fuzz-XXXXXX", *sql = malloc(size + 1);
    struct err err = { 0 };
    int fd = mkstemp(name);
    require(fd >= 0 && sql);
    close(fd);
    memcpy(sql, data, size);
    sql[size] = '\0';
    char *bytes = strchr(sql, '~');
    if (bytes)
        *bytes++ = '\0';
    make(name, sql);
    damage(name, bytes ? bytes : "");
    if (nsight_read(name, take, NULL, &err))
        require(plain_length(err.text, false) == strlen(err.text));
    unlink(name);
    free(sql);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "PRAGMA page_size=512;BEGIN;CREATE TABLE StringIds(id INTEGER PRIMARY KEY,value "
    "TEXT);CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER,end INTEGER,deviceId "
    "INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,demangledName "
    "INTEGER);CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER,end "
    "INTEGER,globalTid INTEGER,correlationId INTEGER,nameId INTEGER);CREATE TABLE "
    "NVTX_EVENTS(start INTEGER,end INTEGER,text TEXT,globalTid INTEGER,textId "
    "INTEGER);INSERT INTO StringIds VALUES(1,'gemm'),(2,'adam'),(3,'ncclAllReduce'),(4,"
    "'cudaLaunchKernel');WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r "
    "LIMIT 99) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i*100,i*100+80,0,7,i,"
    "16777216,CASE WHEN i%25=0 THEN 2 ELSE 1+2*(i%2) END FROM r;INSERT INTO "
    "CUPTI_ACTIVITY_KIND_RUNTIME VALUES(90,95,16777217,1,4);INSERT INTO NVTX_EVENTS "
    "VALUES(100,5000,'step 1',16777217,NULL),(5000,9900,'step 2',16777217,NULL);COMMIT",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start,end,globalPid);INSERT INTO "
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1,2,3),(4,9,3);CREATE TABLE "
    "TARGET_INFO_GPU(name);INSERT INTO TARGET_INFO_GPU VALUES('H100')",
};
static const char *const words[] = {
    "~",
    "~a\x01",
    "~\x40\xff",
    "\x05\x05",
    "\xff\xff",
    ";",
    "NULL",
    "-1",
    "9223372036854775807",
    "4000000000000000000",
    "1e300",
    "'\033[2J'",
    "x'00ff'",
    "zeroblob(9999)",
    "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start,2 AS end;",
    "DROP TABLE StringIds;",
    "PRAGMA writable_schema=1;",
    "UPDATE sqlite_master SET rootpage=3;",
    "UPDATE sqlite_master SET sql='x';",
    "PRAGMA encoding='UTF-16';",
    "PRAGMA journal_mode=WAL;",
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid=start*99999;",
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end=start;",
    "WITHOUT ROWID",
    "AS (1+2)",
    "INTEGER",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
