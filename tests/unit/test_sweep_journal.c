/* The journal of a sweep, shards, and what records rest on. */
#include "base/file.h"
#include "base/xmalloc.h"
#include "sweep/sweep_journal.h"
#include "sweep/sweep_point.h"
#include "sweep/sweep_run.h"

#include <CUnit/CUnit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void test_sweep_journal_register(void);

#define SWEEP                                                                       \
    "{ \"base\": { \"model\": \"bert-base-uncased\", \"cluster\": { \"instance\": " \
    "\"p3.16xlarge\", \"count\": 1 }, \"training\": { \"sequence_length\": 128, "   \
    "\"micro_batch_size\": 1, \"precision\": \"amp_fp16\" } }, \"axes\": [ { "      \
    "\"path\": \"/cluster/count\", \"from\": 1, \"to\": 10, \"step\": 1 } ], "      \
    "\"outputs\": [ \"step_time_s\", \"mfu\", \"samples_per_s\" ] }"

struct fixture {
    char dir[64];
    struct cfg_loader loader;
    struct sweep sweep;
};

static void open_fixture(struct fixture *x)
{
    strcpy(x->dir, "/tmp/smsim-journal-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(x->dir));
    char *path = xasprintf("%s/s.json", x->dir);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(SWEEP, out);
    fclose(out);
    cfg_loader_init(&x->loader);
    CU_ASSERT_EQUAL_FATAL(sweep_load(&x->sweep, &x->loader, path), 0);
    free(path);
}

static void close_fixture(struct fixture *x)
{
    char *command = xasprintf("rm -rf %s", x->dir);
    sweep_release(&x->sweep);
    cfg_loader_release(&x->loader);
    CU_ASSERT_EQUAL(system(command), 0);
    free(command);
}

static char *path_of(const struct fixture *x, const char *name)
{
    return xasprintf("%s/%s", x->dir, name);
}

static char *text_of(const struct fixture *x, const char *name)
{
    struct err err = { 0 };
    size_t len;
    char *path = path_of(x, name), *text = file_read(path, 1 << 20, &len, &err);
    free(path);
    return text ? text : xstrdup(err.text);
}

static void write_file(const struct fixture *x, const char *name, const char *text)
{
    char *path = path_of(x, name);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    free(path);
}

/* Writes records of those points of a shard; -1 where the journal is refused. */
static int write_points(struct fixture *x, struct sweep_shard shard, bool resume,
                        const int64_t *points, int n, struct err *err)
{
    struct sweep_journal j;
    if (sweep_journal_open(&j, &x->sweep, x->dir, shard, resume, err))
        return -1;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        char *line =
            xasprintf("{\"point\":%d,\"axes\":{},\"results\":{}}", (int)points[i]);
        rc = sweep_journal_add(&j, points[i], line, err);
        free(line);
    }
    sweep_journal_close(&j);
    return rc;
}

/* Shards */

static void test_shards(void)
{
    for (int64_t n = 0; n < 12; n++) {
        for (int64_t count = 1; count < 8; count++) {
            int owners[12] = { 0 };
            int64_t sum = 0;
            for (int64_t index = 1; index <= count; index++) {
                const struct sweep_shard s = { index, count };
                const int64_t size = sweep_shard_size(s, n);
                sum += size;
                for (int64_t k = 0; k < size; k++) {
                    int64_t point = sweep_shard_point(s, k);
                    CU_ASSERT_FATAL(point >= 0 && point < n);
                    CU_ASSERT(sweep_shard_has(s, point));
                    CU_ASSERT_EQUAL(sweep_shard_nth(s, point), k);
                    owners[point]++;
                }
            }
            CU_ASSERT_EQUAL(sum, n);
            for (int64_t point = 0; point < n; point++)
                CU_ASSERT_EQUAL(owners[point], 1);
        }
    }
}

/* A shard finds its points wherever they were written but in journals of its siblings,
 * which have none. */
static void test_shard_reads(void)
{
    struct fixture x;
    struct err err = { 0 };
    struct sweep_journal j;
    const struct sweep_shard whole = { 1, 1 }, second = { 2, 3 }, half = { 2, 2 };
    open_fixture(&x);
    CU_ASSERT_EQUAL(write_points(&x, whole, false, (int64_t[]) { 4, 5 }, 2, &err), 0);
    CU_ASSERT_EQUAL(write_points(&x, half, false, (int64_t[]) { 7 }, 1, &err), 0);
    CU_ASSERT_EQUAL(write_points(&x, (struct sweep_shard) { 1, 3 }, false,
                                 (int64_t[]) { 0, 3 }, 2, &err),
                    0);
    CU_ASSERT_EQUAL_FATAL(sweep_journal_open(&j, &x.sweep, x.dir, second, true, &err),
                          0);
    CU_ASSERT_EQUAL(sweep_shard_size(second, j.n_points), 3);
    CU_ASSERT_FALSE(sweep_journal_has(&j, 1));
    CU_ASSERT(sweep_journal_has(&j, 4));
    CU_ASSERT(sweep_journal_has(&j, 7));
    CU_ASSERT_EQUAL(j.files.n, 3); /* its own and two others, none of a sibling */
    json_t *record = sweep_journal_get(&j, 7, &err);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(record, "point")), 7);
    json_decref(record);
    sweep_journal_close(&j);
    CU_ASSERT_EQUAL_FATAL(sweep_journal_open(&j, &x.sweep, x.dir, whole, true, &err),
                          0);
    static const bool has[10] = { true, false, false, true, true, true, false, true };
    for (int64_t i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(sweep_journal_has(&j, i), has[i]);
    sweep_journal_close(&j);
    close_fixture(&x);
}

/* What a sibling rests on is read, though its records are not: a line of it that is not
 * what was written is found. */
static void test_siblings_rest(void)
{
    struct fixture x;
    struct err err = { 0 };
    open_fixture(&x);
    CU_ASSERT_EQUAL(write_points(&x, (struct sweep_shard) { 1, 2 }, false,
                                 (int64_t[]) { 0 }, 1, &err),
                    0);
    char *text = text_of(&x, "journal-1-of-2"), *at = strstr(text, "\"hash\":\"");
    at = strstr(at + 1, "\"hash\":\""); /* of the first input, after the header's */
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at[8] = at[8] == '0' ? '1' : '0';
    write_file(&x, "journal-1-of-2", text);
    CU_ASSERT_EQUAL(
        write_points(&x, (struct sweep_shard) { 2, 2 }, true, NULL, 0, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "line 2 is not what was written"));
    free(text);
    close_fixture(&x);
}

/* The journal ------------------------------------------------------------------------ */

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* Inputs are written before the records that rest on them, each once; the file has the
 * rights that the process gives. */
static void test_written(void)
{
    struct fixture x;
    struct err err = { 0 };
    struct stat st;
    const struct sweep_shard whole = { 1, 1 };
    open_fixture(&x);
    const mode_t before = umask(022);
    CU_ASSERT_EQUAL(write_points(&x, whole, false, (int64_t[]) { 1 }, 1, &err), 0);
    umask(before);
    char *path = path_of(&x, "journal");
    CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0644);
    free(path);
    char *once = text_of(&x, "journal");
    CU_ASSERT_EQUAL(count(once, "\"kind\":\"program\""), 1);
    CU_ASSERT_EQUAL(count(once, "\"input\":\"validate/applicability.json\""), 1);
    CU_ASSERT(strstr(once, "{\"point\":1,") > strstr(once, "\"kind\":\"program\""));
    CU_ASSERT_EQUAL(write_points(&x, whole, true, (int64_t[]) { 1, 2 }, 2, &err), 0);
    char *twice = text_of(&x, "journal");
    CU_ASSERT_EQUAL(strncmp(twice, once, strlen(once)), 0);
    CU_ASSERT_EQUAL(count(twice, "{\"input\":"), count(once, "{\"input\":"));
    CU_ASSERT_EQUAL(count(twice, "{\"point\":"), 2);
    free(once);
    free(twice);
    close_fixture(&x);
}

/* Files that are no journal of this sweep, and what is said of each. */
static void test_refused(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "notes of a year\n",
          "journal: is no journal of smsim, and is left as it is" },
        { "{\"smsim_notes\":1}\n",
          "journal: is no journal of smsim, and is left as it is" },
        { "{\"smsim_sweep\":1,\"hash\":\"0123456789abcdef\",\"points\":10}\n",
          "journal: was written by another version of smsim" },
        { "{\"smsim_sweep\":2,\"hash\":\"0123456789abcdef\",\"points\":10}\t0\n",
          "journal: line 1 is not what was written" },
    };
    const struct sweep_shard whole = { 1, 1 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture x;
        struct err err = { 0 };
        open_fixture(&x);
        write_file(&x, "journal", cases[i].text);
        CU_ASSERT_EQUAL(write_points(&x, whole, true, NULL, 0, &err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].error));
        char *text = text_of(&x, "journal");
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
        free(text);
        close_fixture(&x);
    }
}

/* Inputs ----------------------------------------------------------------------------- */

static void test_inputs(void)
{
    struct err err = { 0 };
    struct sweep_inputs all = { 0 }, some = { 0 };
    const struct input_ref a = { INPUT_DATA, "a", 1 }, b = { INPUT_FILE, "b", 2 },
                           other = { INPUT_DATA, "a", 3 },
                           file = { INPUT_FILE, "a", 3 };
    CU_ASSERT_EQUAL(sweep_inputs_add(&some, &a, &err), 0);
    CU_ASSERT_EQUAL(sweep_inputs_add(&some, &b, &err), 0);
    CU_ASSERT_EQUAL(sweep_inputs_add(&some, &a, &err), 0);
    CU_ASSERT_EQUAL(some.list.n, 2);
    CU_ASSERT_EQUAL(sweep_inputs_add_all(&all, &some, &err), 0);
    CU_ASSERT_EQUAL_FATAL(all.list.n, 2);
    CU_ASSERT_STRING_EQUAL(all.list.v[0].name, "a");
    CU_ASSERT_STRING_EQUAL(all.list.v[1].name, "b");
    CU_ASSERT_EQUAL(sweep_inputs_add(&all, &file, &err), 0); /* of another kind */
    CU_ASSERT_EQUAL(all.list.n, 3);
    CU_ASSERT_EQUAL(sweep_inputs_add(&all, &other, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "would be mixed: a was 0000000000000001, "
                                            "is 0000000000000003"));
    sweep_inputs_release(&all);
    sweep_inputs_release(&some);
}

/* All that a loader has read, the first file too; and as JSON and back. */
static void test_inputs_read(void)
{
    struct err err = { 0 };
    struct cfg_loader loader;
    struct sweep_inputs read = { 0 }, back = { 0 };
    cfg_loader_init(&loader);
    inputs_note(&loader.inputs, &loader.arena, "/x/one", "1", 1);
    inputs_note(&loader.inputs, &loader.arena, "/x/two", NULL, 0);
    CU_ASSERT_EQUAL(sweep_inputs_add_read(&read, &loader.inputs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(read.list.n, 2);
    CU_ASSERT_STRING_EQUAL(read.list.v[0].name, "/x/one");
    CU_ASSERT_EQUAL(read.list.v[1].hash, INPUT_MISSING);
    for (int64_t i = 0; i < read.list.n; i++) {
        json_t *json = sweep_inputs_json(&read.list.v[i]);
        CU_ASSERT_EQUAL(sweep_inputs_add_json(&back, json, &err), 0);
        json_decref(json);
    }
    for (int64_t i = 0; i < read.list.n; i++) {
        CU_ASSERT_STRING_EQUAL(back.list.v[i].name, read.list.v[i].name);
        CU_ASSERT_EQUAL(back.list.v[i].hash, read.list.v[i].hash);
        CU_ASSERT_EQUAL(back.list.v[i].kind, read.list.v[i].kind);
    }
    CU_ASSERT_EQUAL(sweep_inputs_check(&read, "j", &err), -1); /* none is there now */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/x/one was "));
    CU_ASSERT_PTR_NULL(strstr(err.text, "/x/two"));
    sweep_inputs_release(&read);
    sweep_inputs_release(&back);
    cfg_loader_release(&loader);
}

/* Records ---------------------------------------------------------------------------- */

/* Numbers have twelve digits, of which some results need all. */
static void test_digits(void)
{
    struct fixture x;
    struct err err = { 0 };
    struct cfg_loader files;
    struct sweep_inputs inputs = { 0 };
    int longest = 0;
    open_fixture(&x);
    cfg_loader_init(&files);
    for (int64_t point = 0; point < 3; point++) {
        char *line = sweep_point_run(&x.sweep, point, &files, &inputs, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(line);
        for (char *at = strstr(line, "\"results\""); (at = strchr(at, ':')); at++) {
            char whole[40], *end;
            double value = strtod(at + 1, &end);
            snprintf(whole, sizeof(whole), "%.12g", value);
            if (end == at + 1 || !memchr(at, '.', (size_t)(end - at)))
                continue;
            CU_ASSERT_EQUAL(value, strtod(whole, NULL));
            snprintf(whole, sizeof(whole), "%.11g", value);
            longest += value != strtod(whole, NULL);
        }
        free(line);
    }
    CU_ASSERT(longest > 3);
    sweep_inputs_release(&inputs);
    cfg_loader_release(&files);
    close_fixture(&x);
}

/* A sweep that is nowhere is an error, not the end. */
static void test_no_sweep(void)
{
    struct cfg_loader loader;
    struct sweep sweep;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(sweep_load(&sweep, &loader, "no-such-sweep"), -1);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 1);
    sweep_release(&sweep);
    cfg_loader_release(&loader);
}

/* Two processes do not write one journal: the second is refused, after it has waited for
 * one that may be ending. */
static void test_locked(void)
{
    struct fixture x;
    struct err err = { 0 };
    int ready[2], end[2];
    char byte = 0;
    const struct sweep_shard whole = { 1, 1 };
    open_fixture(&x);
    CU_ASSERT_EQUAL_FATAL(write_points(&x, whole, false, NULL, 0, &err), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(ready) | pipe(end), 0);
    pid_t other = fork();
    if (other == 0) {
        struct sweep_journal j;
        close(end[1]);
        byte = sweep_journal_open(&j, &x.sweep, x.dir, whole, true, &err) ? 'n' : 'y';
        if (write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(byte, 'y');
    CU_ASSERT_EQUAL(write_points(&x, whole, true, (int64_t[]) { 1 }, 1, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is being written by another process"));
    for (int i = 0; i < 2; i++) { /* it ends with its pipe */
        close(ready[i]);
        close(end[i]);
    }
    int status;
    CU_ASSERT_EQUAL(waitpid(other, &status, 0), other);
    err = (struct err) { 0 };
    CU_ASSERT_EQUAL(write_points(&x, whole, true, (int64_t[]) { 1 }, 1, &err), 0);
    close_fixture(&x);
}

/* A disk that is full ends the sweep with an error, and what was written stays whole. */
static void test_full(void)
{
    struct fixture x;
    struct err err = { 0 };
    struct sweep_journal j;
    struct rlimit before, now;
    const struct sweep_shard whole = { 1, 1 };
    open_fixture(&x);
    CU_ASSERT_EQUAL_FATAL(sweep_journal_open(&j, &x.sweep, x.dir, whole, false, &err),
                          0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = (rlim_t)j.end + 200; /* less than a point and what it rests on */
    setrlimit(RLIMIT_FSIZE, &now);
    const struct sweep_run run = {
        .sweep = &x.sweep, .journal = &j, .shard = whole, .jobs = 2
    };
    CU_ASSERT_EQUAL(sweep_run(&run, &err), -1);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    CU_ASSERT_TRUE(err.set);
    sweep_journal_close(&j);
    err = (struct err) { 0 };
    CU_ASSERT_EQUAL(write_points(&x, whole, true, (int64_t[]) { 1 }, 1, &err), 0);
    close_fixture(&x);
}

void test_sweep_journal_register(void)
{
    CU_pSuite suite = CU_add_suite("sweep_journal", NULL, NULL);
    CU_add_test(suite, "shards share the points", test_shards);
    CU_add_test(suite, "what a shard reads", test_shard_reads);
    CU_add_test(suite, "what siblings rest on", test_siblings_rest);
    CU_add_test(suite, "what is written", test_written);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "inputs", test_inputs);
    CU_add_test(suite, "inputs of a loader", test_inputs_read);
    CU_add_test(suite, "digits of results", test_digits);
    CU_add_test(suite, "no sweep", test_no_sweep);
    CU_add_test(suite, "a journal that another process writes", test_locked);
    CU_add_test(suite, "a disk that is full", test_full);
}
