/* Sweeps: what axes come to, which points are chosen, what is refused and how, and that
 * records depend neither on threads nor on what a journal had before. */
#include "base/file.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "report/figure/sweep.h"
#include "report/sweep_table.h"
#include "sweep/sweep_assumed.h"
#include "sweep/sweep_point.h"
#include "sweep/sweep_run.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

void test_sweep_register(void);

#define BASE                                                                      \
    "{ \"model\": \"bert-base-uncased\", \"cluster\": { \"instance\": "           \
    "\"p3.16xlarge\", \"count\": 1 }, \"training\": { \"sequence_length\": 128, " \
    "\"micro_batch_size\": 1, \"precision\": \"amp_fp16\" } }"
#define SWEEP(axes, rest) "{ \"base\": " BASE ", \"axes\": " axes rest " }"

struct fixture {
    char dir[64], file[80];
    struct cfg_loader loader;
    struct sweep sweep;
    struct sweep_figures *figures;
    int rc;
};

/* Loads a sweep from text, by a file in a directory of its own. */
static void open_fixture(struct fixture *x, const char *text)
{
    strcpy(x->dir, "/tmp/smsim-sweep-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(x->dir));
    snprintf(x->file, sizeof(x->file), "%s/s.json", x->dir);
    FILE *out = fopen(x->file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    cfg_loader_init(&x->loader);
    x->rc = sweep_load(&x->sweep, &x->loader, x->file);
    x->figures = figure_sweep_new(&x->sweep);
    x->rc |= figure_sweep_read(x->figures);
}

static void close_fixture(struct fixture *x)
{
    char *command = xasprintf("rm -rf %s", x->dir);
    figure_sweep_free(x->figures);
    sweep_release(&x->sweep);
    cfg_loader_release(&x->loader);
    CU_ASSERT_EQUAL(system(command), 0);
    free(command);
}

/* Axes */

static void test_axis_values(void)
{
    static const struct {
        const char *axis, *values;
    } cases[] = {
        { "\"values\": [3, \"a\", null, {\"b\": 1}]", "[3,\"a\",null,{\"b\":1}]" },
        { "\"from\": 1, \"to\": 64, \"factor\": 2", "[1,2,4,8,16,32,64]" },
        { "\"from\": 1, \"to\": 100, \"factor\": 10", "[1,10,100]" },
        { "\"from\": 64, \"to\": 20, \"factor\": 0.5", "[64.0,32.0]" },
        { "\"from\": 3, \"to\": 9, \"step\": 3", "[3,6,9]" },
        { "\"from\": 3, \"to\": 8, \"step\": 3", "[3,6]" },
        { "\"from\": 2, \"to\": -1, \"step\": -1", "[2,1,0,-1]" },
        { "\"from\": 0, \"to\": 0.3, \"step\": 0.1", "[0.0,0.1,0.2,0.3]" },
        { "\"from\": 5, \"to\": 5, \"step\": 1", "[5]" },
        { "\"from\": \"1MiB\", \"to\": \"4MiB\", \"factor\": 2",
          "[\"1MiB\",\"2MiB\",\"4MiB\"]" },
        { "\"from\": \"10us\", \"to\": \"20us\", \"step\": \"5us\"",
          "[\"10us\",\"15us\",\"20us\"]" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture x;
        char *text =
            xasprintf(SWEEP("[ { \"path\": \"/a\", %s } ]", ""), cases[i].axis);
        open_fixture(&x, text);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        char *got = json_dumps(x.sweep.fields[0].values,
                               JSON_COMPACT | JSON_REAL_PRECISION(12));
        CU_ASSERT_STRING_EQUAL(got, cases[i].values);
        free(got);
        free(text);
        close_fixture(&x);
    }
}

/* Every error, by its text after the file's name. */
static const struct {
    const char *text, *error;
} bad_files[] = {
    { "[]", ":1:1: a sweep is an object (write { \"base\": ..., \"axes\": [...] })" },
    { "{ \"axes\": [] }", ":1:1: /base: missing (give \"base\" as the name or path "
                          "of a scenario, or an "
                          "object)" },
    { "{ \"base\": 3, \"axes\": [] }",
      ":1:11: /base: should be the name or path of a scenario, or an object" },
    { "{ \"base\": {}, \"axes\": 3 }", ":1:23: /axes: should be an array of axes" },
    { "{ \"base\": {}, \"axes\": [ {} ] }",
      ":1:25: /axes/0: has no \"path\" (write \"/cluster/count\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"a\", \"values\": [1] } ] }",
      ":1:35: /axes/0/path: not a JSON pointer (write for example "
      "\"/cluster/count\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"values\": [] } ] }",
      ":1:51: /axes/0/values: should be an array of at least one value" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\" } ] }",
      ":1:25: /axes/0: has no values (write \"values\": [...], or \"from\", \"to\" "
      "and \"factor\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 1, \"to\": 2 } ] "
      "}",
      ":1:25: /axes/0: a range needs either \"step\" or \"factor\"" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 0, \"to\": 2, "
      "\"factor\": 2 } ] }",
      ":1:71: /axes/0/factor: needs \"from\" and \"to\" above 0 (take \"step\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 1, \"to\": 2, "
      "\"step\": 0 } ] }",
      ":1:69: /axes/0/step: should not be 0 (write 1)" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 3, \"to\": 2, "
      "\"step\": 1 } ] }",
      ":1:69: /axes/0/step: leads away from \"to\" (swap \"from\" and \"to\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": \"1KiB\", \"to\": "
      "\"2MiB\", \"factor\": 2 } ] }",
      ":1:63: /axes/0/to: should have the unit of \"from\"" },
    { "{ \"base\": {}, \"axes\": [ { \"zip\": [ { \"path\": \"/a\", \"values\": "
      "[1] }, "
      "{ \"path\": \"/b\", \"values\": [1, 2] } ] } ] }",
      ":1:69: /axes/0/zip/1: has 2 values where the first of its \"zip\" has 1" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"values\": [1] }, "
      "{ \"path\": \"/a\", \"values\": [1] } ] }",
      ":1:68: /axes/1/path: is the path of another axis too (keep one of them)" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 1, \"to\": 10000, "
      "\"step\": 1 }, { \"path\": \"/b\", \"from\": 1, \"to\": 10000, \"step\": 1 "
      "} ] }",
      ":1:23: /axes: make more than 10000000 points (take fewer values)" },
    { "{ \"base\": {}, \"axes\": [], \"outputs\": [\"setp_time_s\"] }",
      ":1:39: /outputs/0: \"setp_time_s\" is no result (did you mean "
      "\"step_time_s\"?)" },
    { "{ \"base\": {}, \"axes\": [], \"outputs\": [\"usd_per_step\"] }",
      ":1:39: /outputs/0: \"usd_per_step\" is no result (did you mean "
      "\"/cost/usd_per_step\"?)" },
    { "{ \"base\": {}, \"axes\": [], \"where\": [\"mfu\"] }",
      ":1:37: /where/0: has no <, <=, >, >=, == or != (write \"mfu > 0.3\")" },
    { "{ \"base\": {}, \"axes\": [], \"where\": [\"mfu > many\"] }",
      ":1:37: /where/0: compares with \"many\", which is no number (only == and != "
      "take text)" },
    { "{ \"base\": {}, \"axes\": [ 3 ] }",
      ":1:25: /axes/0: should be an axis: an object with \"path\" and \"values\"" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"zip\": [] } ] }",
      ":1:48: /axes/0/zip: is given together with \"path\" or values (keep one of "
      "them)" },
    { "{ \"base\": {}, \"axes\": [ { \"zip\": 3 } ] }",
      ":1:34: /axes/0/zip: should be an array of axes" },
    { "{ \"base\": {}, \"axes\": [ { \"zip\": [ 3 ] } ] }",
      ":1:36: /axes/0/zip/0: should be an axis: an object with \"path\"" },
    { "{ \"base\": {}, \"axes\": [ { \"zip\": [ { \"zip\": [] } ] } ] }",
      ":1:45: /axes/0/zip/0/zip: does not nest (list its axes here)" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"values\": [1], \"from\": 1 } "
      "] }",
      ":1:51: /axes/0/values: is given together with a range (keep one of them)" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": \"many\", \"to\": 2, "
      "\"step\": 1 } ] }",
      ":1:49: /axes/0/from: should be a number or a quantity (write for example 4 or "
      "\"16MiB\")" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": \"1us\", \"to\": "
      "\"2us\", \"factor\": \"2us\" } ] }",
      ":1:79: /axes/0/factor: should be a plain number" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": \"1us\", \"to\": "
      "\"2us\", \"step\": 1 } ] }",
      ":1:77: /axes/0/step: should have the unit of \"from\"" },
    { "{ \"base\": {}, \"axes\": [ { \"path\": \"/a\", \"from\": 1, \"to\": 2, "
      "\"factor\": 1 } ] }",
      ":1:71: /axes/0/factor: should be above 0, and not 1 (write 2)" },
    { "{ \"base\": {}, \"axes\": [], \"outputs\": 3 }",
      ":1:38: /outputs: should be an array of names of results" },
    { "{ \"base\": {}, \"axes\": [], \"outputs\": [\"happiness of users\"] }",
      ":1:39: /outputs/0: \"happiness of users\" is no result (take names from "
      "simulate --json, such as \"step_time_s\" or \"/memory/peak_bytes\")" },
    { "{ \"base\": {}, \"axes\": [], \"where\": 3 }",
      ":1:36: /where: should be an array of comparisons such as \"mfu > 0.3\"" },
    { "{ \"base\": {}, \"axes\": [], \"where\": [\"mfu >\"] }",
      ":1:37: /where/0: has nothing to compare with (write \"mfu > 0.3\")" },
    { "{ \"base\": {}, \"axes\": [], \"keep\": \"some\" }",
      ":1:35: /keep: \"some\" is not known (write one of \"all\", \"feasible\")" },
    { "{ \"base\": {}, \"axes\": [], \"plots\": [ { \"file\": \"a/b.svg\", "
      "\"kind\": "
      "\"line\", \"x\": \"gpus\", \"y\": \"mfu\" } ] }",
      ":1:48: /plots/0/file: should be a file name, without a directory" },
    { "{ \"base\": {}, \"axes\": [], \"plots\": [ { \"file\": \"b.svg\", \"kind\": "
      "\"heatmap\", \"x\": \"gpus\", \"y\": \"mfu\" } ] }",
      ":1:38: /plots/0: a heatmap needs a \"value\"" },
    { "{ \"base\": {}, \"axes\": [], \"plots\": [ { \"file\": \"b.svg\", \"kind\": "
      "\"band\", \"x\": \"gpus\", \"y\": [\"mfu\", \"hfu\"] } ] }",
      ":1:38: /plots/0: a band needs three names in \"y\": its lower edge, the line in "
      "it, its upper edge" },
};

static void test_bad_files(void)
{
    for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
        struct fixture x;
        open_fixture(&x, bad_files[i].text);
        CU_ASSERT_EQUAL(x.rc, -1);
        CU_ASSERT_FATAL(x.loader.diags.n_errors > 0);
        const char *error = diags_error_text(&x.loader.diags, 0) + strlen(x.file);
        CU_ASSERT_STRING_EQUAL(error, bad_files[i].error);
        if (strcmp(error, bad_files[i].error) != 0)
            fprintf(stderr, "%s\n", error);
        close_fixture(&x);
    }
}

/* As many axes as there may be, and one more. */
static void test_most_axes(void)
{
    for (int n = SWEEP_AXES_MAX; n <= SWEEP_AXES_MAX + 1; n++) {
        struct fixture x;
        struct strbuf axes;
        strbuf_init(&axes);
        for (int i = 0; i < n; i++)
            strbuf_printf(&axes, "%s{ \"path\": \"/a%d\", \"values\": [1] }",
                          i ? ", " : "", i);
        char *text = xasprintf(SWEEP("[ %s ]", ""), strbuf_get(&axes));
        open_fixture(&x, text);
        CU_ASSERT_EQUAL(x.rc, n > SWEEP_AXES_MAX ? -1 : 0);
        if (n > SWEEP_AXES_MAX)
            CU_ASSERT_PTR_NOT_NULL(
                strstr(diags_error_text(&x.loader.diags, 0), "is beyond the 32 axes"));
        free(text);
        strbuf_release(&axes);
        close_fixture(&x);
    }
}

/* The last axis is the fastest, and a zip moves together. */
static void test_order(void)
{
    struct fixture x;
    open_fixture(&x, SWEEP("[ { \"path\": \"/a\", \"values\": [1, 2] }, { \"zip\": [ "
                           "{ \"path\": \"/b\", \"values\": [3, 4, 5] }, { \"path\": "
                           "\"/c\", \"values\": [6, 7, 8] } ] } ]",
                           ""));
    static const int expected[6][3] = { { 1, 3, 6 }, { 1, 4, 7 }, { 1, 5, 8 },
                                        { 2, 3, 6 }, { 2, 4, 7 }, { 2, 5, 8 } };
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    CU_ASSERT_EQUAL_FATAL(x.sweep.n_points, 6);
    for (int64_t i = 0; i < 6; i++)
        for (int32_t k = 0; k < 3; k++)
            CU_ASSERT_EQUAL(json_integer_value(sweep_point_value(&x.sweep, k, i)),
                            expected[i][k]);
    close_fixture(&x);
}

/* Which of four points a comparison of their values lets through, as bits. */
static int bits_of(const char *values, const char *where)
{
    struct fixture x;
    int bits = 0;
    char *text = xasprintf(
        SWEEP("[ { \"path\": \"/a\", \"values\": %s } ]", ", \"where\": [ \"%s\" ]"),
        values, where);
    open_fixture(&x, text);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    for (int k = 0; k < 4; k++)
        bits |= sweep_wheres_axes(&x.sweep.wheres, &x.sweep, k) << k;
    free(text);
    close_fixture(&x);
    return bits;
}

static void test_where(void)
{
    static const char mixed[] = "[1, 2, 3, \"x\"]",
                      others[] = "[true, false, null, 2.5]";
    static const struct {
        const char *values, *where;
        int bits;
    } cases[] = {
        { mixed, "/a < 2", 1 },       { mixed, "/a <= 2", 3 },
        { mixed, "/a>2", 4 },         { mixed, "/a >= 2", 6 },
        { mixed, "/a == 2", 2 },      { mixed, "/a != 2", 8 | 5 },
        { mixed, "/a == x", 8 },      { mixed, "/a != x", 7 },
        { mixed, "/a == 'x'", 8 },    { mixed, "/a != 'x'", 7 },
        { others, "/a == true", 1 },  { others, "/a != true", 2 | 8 },
        { others, "/a == false", 2 }, { others, "/a != false", 1 | 8 },
        { others, "/a == 2.5", 8 },   { others, "/a < 3", 8 },
        { others, "/a <= 2.5", 8 },   { others, "/a != 2.5", 1 | 2 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int bits = bits_of(cases[i].values, cases[i].where);
        CU_ASSERT_EQUAL(bits, cases[i].bits);
        if (bits != cases[i].bits)
            fprintf(stderr, "%s: %d\n", cases[i].where, bits);
    }
}

/* What is tabulated where nobody says what, in its order. */
static void test_default_outputs(void)
{
    struct fixture x;
    open_fixture(&x, SWEEP("[]", ""));
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    CU_ASSERT_EQUAL(x.sweep.outputs.n, 15);
    CU_ASSERT_STRING_EQUAL(x.sweep.outputs.v[0], "step_time_s");
    CU_ASSERT_STRING_EQUAL(x.sweep.outputs.v[14], "/breakdown_s/optimizer");
    close_fixture(&x);
}

static void note_visit(void *arg, const struct scenario *s)
{
    int *visits = arg;
    visits[s->cluster.n_instances * 8 + s->training.micro_batch_size]++;
}

/* The first point, and those that differ from it on one axis, are visited once each. */
static void test_visit(void)
{
    static const char text[] =
        SWEEP("[ { \"path\": \"/cluster/count\", \"values\": [1, 2, 3] }, { \"path\": "
              "\"/training/micro_batch_size\", \"values\": [1, 2, 4] } ]",
              "");
    struct fixture x;
    int visits[40] = { 0 }, all = 0;
    open_fixture(&x, text);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    sweep_visit(&x.sweep, note_visit, visits);
    for (int i = 0; i < 40; i++)
        all += visits[i];
    CU_ASSERT_EQUAL(all, 5);
    static const int once[] = { 8 + 1, 8 + 2, 8 + 4, 16 + 1, 24 + 1 };
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(visits[once[i]], 1);
    close_fixture(&x);
}

/* Running */

/* Counts do not fit (64 sequences of 512), fail (0), or do well. */
#define GRID                                                                        \
    SWEEP("[ { \"path\": \"/cluster/count\", \"values\": [0, 1, 2] }, { \"path\": " \
          "\"/training/sequence_length\", \"values\": [128, 512] }, { \"path\": "   \
          "\"/training/micro_batch_size\", \"values\": [1, 256] } ]",               \
          ", \"keep\": \"%s\", \"outputs\": [ \"gpus\", \"/memory/fits\" ]")

static void ignore_record(void *arg, int64_t point, json_t *record)
{
    (void)arg;
    (void)point;
    (void)record;
}

static char *read_all(const char *dir, const char *name)
{
    struct err err = { 0 };
    size_t len;
    char *path = xasprintf("%s/%s", dir, name);
    char *text = file_read(path, 1 << 24, &len, &err);
    free(path);
    return text ? text : xstrdup(err.text);
}

/* The points of a sweep as JSON Lines; the caller frees it. */
static char *points_of(struct fixture *x, int jobs, bool resume, struct err *err)
{
    struct sweep_journal j;
    struct sweep_shard whole = { 1, 1 };
    struct sweep_summary sum;
    if (sweep_journal_open(&j, &x->sweep, x->dir, whole, resume, err))
        return NULL;
    struct sweep_run r = {
        .sweep = &x->sweep, .journal = &j, .shard = whole, .jobs = jobs
    };
    int rc = sweep_run(&r, err);
    if (rc == 0)
        rc = report_sweep_write(&x->sweep, &j, &sum, ignore_record, NULL, err);
    CU_ASSERT_EQUAL(rc, 0);
    sweep_summary_release(&sum);
    sweep_journal_close(&j);
    return read_all(x->dir, "points.jsonl");
}

static char *points_of_text(const char *text, int jobs)
{
    struct fixture x;
    struct err err = { 0 };
    open_fixture(&x, text);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    char *points = points_of(&x, jobs, false, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(points);
    close_fixture(&x);
    return points;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void test_points(void)
{
    static const struct {
        const char *keep;
        int written, failed, unfit;
    } cases[] = { { "all", 12, 4, 4 }, { "feasible", 8, 4, 0 } };
    for (size_t i = 0; i < 2; i++) {
        char *text = xasprintf(GRID, cases[i].keep), *one = points_of_text(text, 1),
             *four = points_of_text(text, 4);
        CU_ASSERT_STRING_EQUAL(one, four);
        CU_ASSERT_EQUAL(count(one, "\n"), cases[i].written);
        CU_ASSERT_EQUAL(count(one, "\"error\":\"scenario: /cluster/count: "),
                        cases[i].failed);
        CU_ASSERT_EQUAL(count(one, "\"/memory/fits\":false"), cases[i].unfit);
        CU_ASSERT_EQUAL(count(one,
                              "\"point\":4,\"axes\":{\"/cluster/count\":1,\"/training/"
                              "sequence_length\":128,\"/training/micro_batch_size\":1},"
                              "\"results\":{\"gpus\":8,\"/memory/fits\":true}}\n"),
                        1);
        free(text);
        free(one);
        free(four);
    }
}

/* A journal without every second record, the last one torn. */
static void tear(const char *dir)
{
    char *text = read_all(dir, "journal"), *path = xasprintf("%s/journal", dir);
    FILE *out = fopen(path, "w");
    int i = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "{\"point\":") || i++ % 2 == 0)
            fprintf(out, "%s\n", line);
    fputs("{\"point\":1,\"axes\":", out);
    fclose(out);
    free(path);
    free(text);
}

static void test_resume(void)
{
    struct fixture x;
    struct err err = { 0 };
    char *text = xasprintf(GRID, "all");
    open_fixture(&x, text);
    char *whole = points_of(&x, 2, false, &err);
    CU_ASSERT_PTR_NULL(points_of(&x, 2, false, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "journal: is there already (--resume"));
    err = (struct err) { 0 };
    tear(x.dir);
    char *resumed = points_of(&x, 2, true, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(resumed);
    CU_ASSERT_STRING_EQUAL(resumed, whole);
    char *journal = read_all(x.dir, "journal");
    CU_ASSERT_EQUAL(count(journal, "{\"point\":"), 12);
    CU_ASSERT_EQUAL(count(journal, "\n"), 13 + count(journal, "{\"input\":"));
    sweep_add_output(&x.sweep, "mfu");
    CU_ASSERT_PTR_NULL(points_of(&x, 2, true, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "journal: is of another sweep"));
    free(journal);
    free(whole);
    free(resumed);
    free(text);
    close_fixture(&x);
}

/* Figures may change when a sweep is resumed, what decides on its points may not. */
static void test_hash(void)
{
    static const struct {
        const char *text;
        bool same;
    } cases[] = {
        { SWEEP("[]", ", \"comment\": \"new\""), true },
        { SWEEP("[]", ", \"plots\": []"), true },
        { SWEEP("[]", ", \"keep\": \"feasible\""), false },
        { SWEEP("[]", ", \"where\": [ \"mfu > 1\" ]"), false },
        { SWEEP("[]", ", \"outputs\": [ \"mfu\" ]"), false },
        { SWEEP("[ { \"path\": \"/a\", \"values\": [1] } ]", ""), false },
    };
    struct fixture x, y;
    open_fixture(&x, SWEEP("[]", ""));
    CU_ASSERT_EQUAL(x.sweep.n_points, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_fixture(&y, cases[i].text);
        CU_ASSERT_EQUAL(sweep_hash(&x.sweep) == sweep_hash(&y.sweep), cases[i].same);
        close_fixture(&y);
    }
    close_fixture(&x);
}

static void test_figures(void)
{
    struct fixture x;
    struct err err = { 0 };
    open_fixture(&x,
                 SWEEP("[ { \"path\": \"/cluster/count\", \"values\": [1, 2] }, { "
                       "\"path\": \"/training/micro_batch_size\", \"values\": [1, 2] "
                       "} ]",
                       ", \"plots\": [ { \"file\": \"a.svg\", \"kind\": \"line\", "
                       "\"x\": \"gpus\", \"y\": \"mfu\", \"series\": "
                       "\"/training/micro_batch_size\" }, { \"file\": \"b.svg\", "
                       "\"kind\": \"heatmap\", \"x\": \"/cluster/count\", \"y\": "
                       "\"/training/micro_batch_size\", \"value\": \"hfu\" }, { "
                       "\"file\": \"c.svg\", \"kind\": \"band\", \"x\": \"gpus\", "
                       "\"y\": [\"mfu\", \"hfu\", \"tokens_per_s\"] } ]"));
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    json_t *record = json_pack("{s:{s:i, s:i}, s:{s:i, s:f, s:f, s:f, s:b}}", "axes",
                               "/cluster/count", 1, "/training/micro_batch_size", 2,
                               "results", "gpus", 8, "mfu", 0.5, "hfu", 0.6,
                               "tokens_per_s", 0.7, "/memory/fits", 1);
    figure_sweep_add(x.figures, 1, record);
    json_t *unfit =
        json_pack("{s:{s:i, s:i}, s:{s:i, s:f, s:f, s:b}}", "axes", "/cluster/count", 2,
                  "/training/micro_batch_size", 2, "results", "gpus", 16, "mfu", 0.5,
                  "hfu", 0.6, "/memory/fits", 0);
    figure_sweep_add(x.figures, 3, unfit);
    json_decref(unfit);
    CU_ASSERT_EQUAL(figure_sweep_write(x.figures, x.dir,
                                       (struct draw_look) { 480, 300, 1, false }, &err),
                    0);
    char *line = read_all(x.dir, "a.svg"), *heatmap = read_all(x.dir, "b.svg");
    CU_ASSERT_EQUAL(count(line, "viewBox=\"0 0 480 300\""), 1);
    CU_ASSERT_EQUAL(count(heatmap, "viewBox=\"0 0 480 300\""), 1);
    CU_ASSERT_EQUAL(count(line, "\"series-0\""), 1);
    CU_ASSERT_EQUAL(count(line, "\"series-1\""), 0);
    CU_ASSERT_EQUAL(count(heatmap, "\"cell-0-0\""), 1);
    CU_ASSERT_EQUAL(count(heatmap, ">does not fit<"), 1);
    CU_ASSERT(count(heatmap, "class=\"hatch\"") > 3);
    char *band = read_all(x.dir, "c.svg");
    CU_ASSERT_EQUAL(count(band, "class=\"band\""), 0); /* of one point */
    CU_ASSERT_EQUAL(count(band, "\"series-1\""), 1);
    CU_ASSERT_EQUAL(count(band, "\"series-2\""), 0);
    CU_ASSERT_EQUAL(count(band, " to throughput<"), 1);
    free(band);
    /* what all points have in common, and not what an axis sets */
    CU_ASSERT_EQUAL(count(line, ">Simulated: DDP over NCCL (pytorch-ddp), AMP FP16<"),
                    1);
    CU_ASSERT_EQUAL(count(line, "micro-batch"), 0);
    free(line);
    free(heatmap);
    json_decref(record);
    close_fixture(&x);
}

void test_sweep_register(void)
{
    CU_pSuite suite = CU_add_suite("sweep", NULL, NULL);
    CU_add_test(suite, "values of axes", test_axis_values);
    CU_add_test(suite, "bad files", test_bad_files);
    CU_add_test(suite, "as many axes as there may be", test_most_axes);
    CU_add_test(suite, "order of points", test_order);
    CU_add_test(suite, "comparisons", test_where);
    CU_add_test(suite, "outputs that nobody names", test_default_outputs);
    CU_add_test(suite, "points that are looked at first", test_visit);
    CU_add_test(suite, "points do not depend on threads", test_points);
    CU_add_test(suite, "resume", test_resume);
    CU_add_test(suite, "what the hash covers", test_hash);
    CU_add_test(suite, "figures", test_figures);
}
