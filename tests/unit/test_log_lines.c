/* What is kept of logs: records, numbers and ranks of lines, the files of notices, and which
 * of a log's formats says its steps. */
#include "logs/logs.h"
#include "logs/steady.h"
#include "logs/text.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_log_lines_register(void);

static struct logs_record record_of(int32_t format, int64_t step, double time_s,
                                    enum logs_rate rate_of)
{
    return (struct logs_record) {
        .format = format, .step = step, .time_s = time_s, .rate_of = rate_of, .rate = 5
    };
}

/* A record has a format, and a time or a rate. */
static void test_records(void)
{
    static const struct {
        int32_t format;
        double time_s;
        enum logs_rate rate_of;
        bool kept;
    } rows[] = {
        { 0, 1, LOGS_NO_RATE, true },         { 0, NAN, LOGS_TOKENS, true },
        { 0, 1, LOGS_STEPS, true },           { 0, NAN, LOGS_NO_RATE, false },
        { -1, 1, LOGS_STEPS, false },         { -1, NAN, LOGS_TOKENS, false },
        { 0, INFINITY, LOGS_NO_RATE, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct logs l;
        struct logs_record r =
            record_of(rows[i].format, 1, rows[i].time_s, rows[i].rate_of);
        logs_init(&l);
        VEC_PUSH(&l.files, ((struct logs_file) { .name = "a.log" }));
        logs_add(&l, &r, -1);
        CU_ASSERT_EQUAL(l.records.n, rows[i].kept);
        logs_release(&l);
    }
}

/* Of a long log evenly spaced records are kept, from its first to its end. */
static void test_thinned(void)
{
    enum { N = 5 * LOGS_RECORDS_MAX / 2 };
    struct logs l;
    logs_init(&l);
    VEC_PUSH(&l.files, ((struct logs_file) { .name = "a.log" }));
    for (int64_t i = 0; i < N; i++) {
        struct logs_record r = record_of(0, i, 1, LOGS_NO_RATE);
        logs_add(&l, &r, -1);
    }
    CU_ASSERT_EQUAL(l.stride, 4);
    CU_ASSERT_EQUAL_FATAL(l.records.n, N / 4);
    for (int64_t i = 0; i < l.records.n; i++)
        if (l.records.v[i].step != 4 * i)
            CU_FAIL_FATAL("records are not evenly spaced");
    CU_ASSERT_EQUAL(l.formats[0].n_records, N);
    logs_release(&l);
}

/* The rank that a prefix names. */
static void test_ranks(void)
{
    static const struct {
        const char *line;
        int64_t rank;
    } lines[] = {
        { "[rank3]: a", 3 },
        { "[rank0]: a", 0 },
        { "0: a", 0 },
        { "[default7]:a", 7 },
        { "12: a", 12 },
        { "[1,mpirank:5,algo-1]<stdout>:a", 5 },
        { "[1,3]<stdout>:a", 3 },
        { "  [1,23]<stdout>:a", 23 },
        { "[2,3]<stdout>:a", -1 },
        { "[1,3<stdout>:a", -1 },
        { "12 a", -1 },
        { "12:a", -1 },
        { "[rank]: a", -1 },
        { "[rank1234567]: a", -1 },
        { "[rank123456]: a", 123456 },
        { "a 3: b", -1 },
        { "", -1 },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        CU_ASSERT_EQUAL(line_rank(lines[i].line), lines[i].rank);
}

/* Numbers of a line, plain and with the suffixes that people read. */
static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool human;
        double value;
        const char *rest;
    } good[] = {
        { "12", false, 12, "" },         { " : =\"-3.5x", false, -3.5, "x" },
        { "1e+3", false, 1000, "" },     { "1E-3 s", false, 0.001, " s" },
        { "2e3", false, 2000, "" },      { "2e", false, 2, "e" },
        { "2e+", false, 2, "e+" },       { "1,234,567", false, 1234567, "" },
        { "1,2345", false, 1, ",2345" }, { "1,23", false, 1, ",23" },
        { "12K", true, 12000, "K" },     { "1.5B", true, 1.5e9, "B" },
        { "12K", false, 12, "K" },       { ".5", false, 0.5, "" },
    };
    static const char *const bad[] = { "", "x", "-", ".", "e3", ",123", "1e300" };
    double v;
    const char *end;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CU_ASSERT_EQUAL(line_number(good[i].text, good[i].human, &v, &end), 0);
        CU_ASSERT_DOUBLE_EQUAL(v, good[i].value, 1e-9 * fabs(good[i].value));
        CU_ASSERT_STRING_EQUAL(end, good[i].rest);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CU_ASSERT_EQUAL(line_number(bad[i], false, &v, &end), -1);
}

static void say(struct logs *l, const char *text)
{
    char line[256];
    snprintf(line, sizeof(line), "%s", text);
    logs_line(l, line, strlen(line));
}

static void begin(struct logs *l, const char *file)
{
    VEC_PUSH(&l->files, ((struct logs_file) { .name = file }));
}

/* A notice keeps where it was first said: the file, and the line. */
static void test_places(void)
{
    struct logs l;
    logs_init(&l);
    begin(&l, "a.log");
    say(&l, "nothing");
    begin(&l, "b.log");
    say(&l, "nothing");
    say(&l, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB");
    logs_end(&l);
    CU_ASSERT_EQUAL(l.notices.of[NOTICE_OUT_OF_MEMORY].n, 1);
    CU_ASSERT_EQUAL(l.notices.of[NOTICE_OUT_OF_MEMORY].file, 1);
    CU_ASSERT_EQUAL(l.notices.of[NOTICE_OUT_OF_MEMORY].line, 2);
    say(&l, "|            CUDA OOMs: 0            |        cudaMalloc retries: 0    |");
    CU_ASSERT_EQUAL(l.notices.of[NOTICE_CACHE_FLUSH].n, 0);
    say(&l, "|            CUDA OOMs: 0            |        cudaMalloc retries: 46   |");
    say(&l, "WARNING - 2 CUDA memory allocation retries.");
    CU_ASSERT_EQUAL(l.notices.of[NOTICE_CACHE_FLUSH].n, 2);
    logs_release(&l);
}

/* Each kind of content is something that was found, alone. */
static void test_found(void)
{
    struct logs l;
    logs_init(&l);
    CU_ASSERT_FALSE(logs_found(&l));
    l.records.n = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.nccl.n_lines = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.smi.n = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.timers.n = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.allocated_B = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.reserved_B = 1;
    CU_ASSERT_TRUE(logs_found(&l));
    logs_init(&l);
    l.traces.n = 1;
    CU_ASSERT_TRUE(logs_found(&l));
}

/* Of ranks that say the same steps the first is kept, be it 0 or another; lines without a
 * rank are another's where they say a step again. */
static void test_repeated(void)
{
    static const struct {
        int64_t ranks[4], steps[4], kept;
    } cases[] = {
        { { 0, 1, 0, 1 }, { 1, 1, 2, 2 }, 2 },
        { { 1, 0, 1, 0 }, { 1, 1, 2, 2 }, 2 },
        { { 3, 0, 3, 0 }, { -1, -1, -1, -1 }, 2 },
        { { -1, -1, -1, -1 }, { 1, 1, 2, 2 }, 2 },
        { { -1, -1, -1, -1 }, { 0, 0, 1, 2 }, 3 },
        { { 0, -1, 1, 0 }, { 1, 2, 2, 3 }, 3 },
        { { -1, -1, -1, -1 }, { -1, -1, -1, -1 }, 4 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        logs_init(&l);
        begin(&l, "a.log");
        for (int k = 0; k < 4; k++) {
            struct logs_record r = record_of(0, cases[i].steps[k], 1, LOGS_NO_RATE);
            logs_add(&l, &r, cases[i].ranks[k]);
        }
        CU_ASSERT_EQUAL(l.records.n, cases[i].kept);
        CU_ASSERT_EQUAL(l.formats[0].n_ranks_left, 4 - cases[i].kept);
        logs_release(&l);
    }
}

/* Three lines of the best kind of time are enough; of two a worse kind is taken, if it
 * has three. */
static void test_enough(void)
{
    for (int n = 1; n <= 4; n++) {
        struct logs l;
        static const struct logs_step nothing = { 0, 0, 0, 0 };
        char line[128];
        logs_init(&l);
        begin(&l, "a.log");
        for (int i = 0; i < 3; i++) {
            snprintf(line, sizeof(line), " 50%%|##  | %d/1008 [00:50<00:50,  4.0s/it]",
                     504 + i);
            say(&l, line);
        }
        for (int i = 1; i <= n; i++) {
            snprintf(line, sizeof(line),
                     " iteration %d/10 | elapsed time per iteration (ms): 1900 |", i);
            say(&l, line);
        }
        logs_end(&l);
        CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &nothing).median_s,
                               n < 3 ? 4.0 : 1.9, 1e-9);
        logs_release(&l);
    }
}

/* A bar that is shown once is a bar; of several, that which is shown most, the first of
 * those that are alike. */
static void test_bar(void)
{
    static const struct {
        const char *lines[3];
        double median_s;
    } cases[] = {
        { { " 50%|##  | 5/10 [00:50<00:50,  4.0s/it]" }, 4 },
        { { " 50%|##  | 5/10 [00:50<00:50,  4.0s/it]",
            " 35%|##  | 7/20 [00:50<00:50,  3.0s/it]" },
          4 },
        { { " 50%|##  | 5/10 [00:50<00:50,  4.0s/it]",
            " 35%|##  | 7/20 [00:50<00:50,  3.0s/it]",
            " 40%|##  | 8/20 [00:50<00:50,  3.0s/it]" },
          3 },
    };
    static const struct logs_step nothing = { 0, 0, 0, 0 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        logs_init(&l);
        begin(&l, "a.log");
        for (int k = 0; k < 3 && cases[i].lines[k]; k++)
            say(&l, cases[i].lines[k]);
        logs_end(&l);
        CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &nothing).median_s,
                               cases[i].median_s, 1e-9);
        logs_release(&l);
    }
}

/* Timers of 0 ms are timers; those below, or whose most is below their least, are none. */
static void test_timer_bounds(void)
{
    struct logs_timers t = { 0 };
    CU_ASSERT_TRUE(logs_timers_read(&t, "time (ms) | step: 0 | forward: 2.5"));
    CU_ASSERT_EQUAL_FATAL(t.n, 2);
    CU_ASSERT_PTR_NOT_NULL(logs_timers_get(&t, "step"));
    logs_timers_read(&t, "time (ms) | backward: -1");
    CU_ASSERT_PTR_NULL(logs_timers_get(&t, "backward"));
    logs_timers_read(&t, "(min, max) time across ranks (ms):");
    logs_timers_read(&t, "    optimizer ....: (3.00, 2.00)");
    CU_ASSERT_PTR_NULL(logs_timers_get(&t, "optimizer"));
    logs_timers_read(&t, "    gather ....: (2.00, 2.00)");
    CU_ASSERT_PTR_NOT_NULL(logs_timers_get(&t, "gather"));
}

/* Of slow steps at most the first half is warm-up. */
static void test_warm(void)
{
    struct logs l;
    logs_init(&l);
    begin(&l, "a.log");
    for (int i = 0; i < 8; i++) {
        struct logs_record r = record_of(0, i, i < 6 ? 9 - i : 1, LOGS_NO_RATE);
        logs_add(&l, &r, -1);
    }
    static const struct logs_step nothing = { 0, 0, 0, 0 };
    struct logs_steady s = logs_steady_find(&l, &nothing);
    CU_ASSERT_EQUAL(s.parts[LOGS_WARMUP].n, 4);
    logs_release(&l);
}

/* A word that ends a sentence has no dot at its end; the first that is said is kept. */
static void test_sentence(void)
{
    static const char *const lines[] = {
        "a:1:1 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)",
        "a:1:1 [0] NCCL INFO NET/OFI Selected provider is efa.",
        "a:1:1 [0] NCCL INFO NET/OFI Selected Provider is efa, found 4 nics",
        "a:1:1 [0] NCCL INFO NET/OFI Selected Provider is efa",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct logs_nccl n;
        memset(&n, 0, sizeof(n));
        CU_ASSERT_TRUE(logs_nccl_read(&n, lines[i]));
        CU_ASSERT_STRING_EQUAL(n.provider, "efa");
        logs_nccl_read(&n, "a:1:1 [0] NCCL INFO NET/OFI Selected Provider is tcp");
        CU_ASSERT_STRING_EQUAL(n.provider, "efa");
        logs_nccl_read(&n, "a:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4.");
        CU_ASSERT_STRING_EQUAL(n.version, "2.21.5");
    }
}

void test_log_lines_register(void)
{
    CU_pSuite s = CU_add_suite("log_lines", NULL, NULL);
    CU_ADD_TEST(s, test_records);
    CU_ADD_TEST(s, test_thinned);
    CU_ADD_TEST(s, test_ranks);
    CU_ADD_TEST(s, test_numbers);
    CU_ADD_TEST(s, test_places);
    CU_ADD_TEST(s, test_found);
    CU_ADD_TEST(s, test_repeated);
    CU_ADD_TEST(s, test_enough);
    CU_ADD_TEST(s, test_bar);
    CU_ADD_TEST(s, test_timer_bounds);
    CU_ADD_TEST(s, test_warm);
    CU_ADD_TEST(s, test_sentence);
}
