/* Mappings of tables: values, filters, what is reported of bad ones, and runs over
 * kernels, which need no network. */
#include "base/xmalloc.h"
#include "config/pointer.h"
#include "report/report.h"
#include "validation/cell.h"
#include "validation/value.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_mapping_register(void);

static const char table[] = "gpu,m,time (us),note,oom\n"
                            "A100,1024,20,,1\n"
                            "A100,2048,100,,OOM\n"
                            "H100,1024,,slow,\n"
                            "B100,4096,30,,3\n"
                            "A100,8192,x,,4\n";

/* A file in a directory of its own; remove_file takes both away. */
static char *write_file(const char *text, const char *ending)
{
    char dir[] = "/tmp/smsim-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    char *path = xasprintf("%s/file%s", dir, ending);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static void remove_file(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    free(path);
}

static int load_with(struct mapping *m, struct cfg_loader *loader, const char *text,
                     const char *rows)
{
    char *data = write_file(rows, ".csv"), *file = write_file(text, ".json");
    cfg_loader_init(loader);
    int rc = mapping_load(m, loader, arena_strdup(&loader->arena, file), data);
    remove_file(data);
    remove_file(file);
    return rc;
}

static int load(struct mapping *m, struct cfg_loader *loader, const char *text)
{
    return load_with(m, loader, text, table);
}

/* What a value comes to for row 0 of the table, as JSON text. */
static void check_value(const struct csv *csv, const char *text, int64_t row,
                        const char *expected)
{
    struct err err = { 0 };
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    json_t *got = mapping_resolve(value, (struct value_row) { csv, row }, &err);
    char *dumped = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    CU_ASSERT_STRING_EQUAL(dumped ? dumped : err.text, expected);
    free(dumped);
    json_decref(got);
    json_decref(value);
}

static const char written[] = "shape,gpu,pp,extra\n"
                              "1024x10240x5120,NVIDIA a100-sxm4-40gb,8.0,"
                              "\"microbatches=4, active=2.0\"\n";

/* Numbers within texts, keys that are alike, and patterns. */
static void test_written_values(void)
{
    static const char *const cases[][2] = {
        { "{\"expr\": \"{shape#1} * {shape#3}\"}", "5242880" },
        { "{\"expr\": \"{shape#4}\", \"default\": 1}", "1" },
        { "\"{gpu#1}:{extra#2}\"", "\"100:2\"" },
        { "{\"expr\": \"{pp}\", \"map\": {\"80\": 1, \"8\": 2}}", "2" },
        { "{\"expr\": \"{gpu}\", \"map\": {\"/V100/\": 1, \"/A100.*40/\": 2, "
          "\"/A100/\": 3}}",
          "2" },
        { "{\"expr\": \"{gpu}/{pp}\", \"map\": {\"/^A100/\": 1}}",
          "the map of \"{gpu}/{pp}\" has no \"NVIDIA a100-sxm4-40gb/8.0\"" },
        { "\"{shape#0}\"",
          "the table has no column {shape#0} (did you mean {shape}?)" },
    };
    struct cfg_loader loader;
    struct csv csv;
    char *data = write_file(written, ".csv");
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(csv_load(&csv, &loader, data), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_value(&csv, cases[i][0], 0, cases[i][1]);
    cfg_loader_release(&loader);
    remove_file(data);
}

static void test_values(void)
{
    static const struct {
        const char *value;
        int64_t row;
        const char *expected;
    } cases[] = {
        { "3", 0, "3" },
        { "null", 0, "null" },
        { "\"plain\"", 0, "\"plain\"" },
        { "\"{gpu}-{m}\"", 1, "\"A100-2048\"" },
        { "\"{note}\"", 0, "null" },
        { "\"<{note}>\"", 0, "\"<>\"" },
        { "{\"expr\": \"{m} / 2\"}", 0, "512" },
        { "{\"expr\": \"{m} / 2048\"}", 0, "0.5" },
        { "{\"expr\": \"{m} / 2048\", \"unit\": \"GiB\"}", 0, "\"0.5GiB\"" },
        { "{\"expr\": \"{note}\", \"default\": 7}", 0, "7" },
        { "{\"expr\": \"{note}\", \"default\": {\"expr\": \"{m}+1\"}}", 0, "1025" },
        { "{\"expr\": \"{gpu}/{m}\", \"map\": {\"A100/1024\": [1, \"{m}\"]}}", 0,
          "[1,\"1024\"]" },
        { "{\"expr\": \"{gpu}\", \"map\": {\"X\": 1}, \"default\": null}", 0, "null" },
        { "{\"a\": {\"b\": [{\"expr\": \"{m}\"}]}}", 1, "{\"a\":{\"b\":[2048]}}" },
        { "{\"a\": {\"b\": {\"expr\": \"{gpu}\", \"map\": {\"X\": 1}}}}", 0,
          "/a/b: the map of \"{gpu}\" has no \"A100\"" },
        { "{\"expr\": \"{note}\"}", 0,
          "character 1 of \"{note}\": column {note} is empty in this row" },
        { "{\"expr\": \"{gpu}\"}", 0,
          "character 1 of \"{gpu}\": \"A100\" in column {gpu} is no number" },
        { "\"{gpus}\"", 0, "the table has no column {gpus} (did you mean {gpu}?)" },
        { "\"{gpu\"", 0, "\"{\" without \"}\" in \"{gpu\"" },
    };
    struct cfg_loader loader;
    struct csv csv;
    char *data = write_file(table, ".csv");
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(csv_load(&csv, &loader, data), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_value(&csv, cases[i].value, cases[i].row, cases[i].expected);
    cfg_loader_release(&loader);
    remove_file(data);
}

static void test_cells(void)
{
    static const struct {
        const char *cell;
        enum cell_state state;
        double number;
    } cases[] = {
        { "1024", CELL_NUMBER, 1024 },
        { " 1,048,576 ", CELL_NUMBER, 1048576 },
        { "1,024.5", CELL_NUMBER, 1024.5 },
        { "-2.5e3", CELL_NUMBER, -2500 },
        { "16GB", CELL_NUMBER, 16 },
        { "75 gb", CELL_NUMBER, 75 },
        { "182B", CELL_NUMBER, 182 },
        { "41 %", CELL_NUMBER, 41 },
        { "50K", CELL_NUMBER, 50000 },
        { "30GB (same conf as normal)", CELL_NUMBER, 30 },
        { "16 (inferred)", CELL_NUMBER, 16 },
        { "256M", CELL_TEXT, 0 }, /* 10^6 or 2^20? */
        { "1,02", CELL_TEXT, 0 },
        { "1,0245", CELL_TEXT, 0 },
        { "1e999", CELL_TEXT, 0 },
        { "3 nodes", CELL_TEXT, 0 },
        { "x", CELL_TEXT, 0 },
        { " ", CELL_EMPTY, 0 },
        { "N/A", CELL_EMPTY, 0 },
        { "-", CELL_EMPTY, 0 },
        { "nan", CELL_EMPTY, 0 },
        { "oom at 24", CELL_OOM, 0 },
        { "Out of memory", CELL_OOM, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double v = 0;
        CU_ASSERT_EQUAL(cell_read(cases[i].cell, &v), cases[i].state);
        CU_ASSERT_DOUBLE_EQUAL(v, cases[i].number, 1e-9);
    }
    CU_ASSERT_TRUE(cell_alike(" Mixed(FP16)", "mixed(fp16) "));
    CU_ASSERT_TRUE(cell_alike("8", "8.0"));
    CU_ASSERT_FALSE(cell_alike("8", "80"));
    CU_ASSERT_FALSE(cell_alike("a", "ab"));
}

static void test_pointers(void)
{
    static const struct {
        const char *pointer;
        const char *expected; /* the tree afterwards, or NULL: cannot be set */
    } cases[] = {
        { "/a/b", "{\"a\":{\"b\":9},\"l\":[0,{\"x\":1}]}" },
        { "/a/c/d", "{\"a\":{\"b\":1,\"c\":{\"d\":9}},\"l\":[0,{\"x\":1}]}" },
        { "/l/1/x", "{\"a\":{\"b\":1},\"l\":[0,{\"x\":9}]}" },
        { "/s~1~0", "{\"a\":{\"b\":1},\"l\":[0,{\"x\":1}],\"s/~\":9}" },
        { "/l/2", NULL },
        { "/l/x", NULL },
        { "/a/b/c", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };
        json_t *tree =
            json_loads("{\"a\": {\"b\": 1}, \"l\": [0, {\"x\": 1}]}", 0, NULL);
        int rc = pointer_set(tree, cases[i].pointer, json_integer(9), &err);
        char *text = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
        CU_ASSERT_EQUAL(rc, cases[i].expected ? 0 : -1);
        if (cases[i].expected) {
            CU_ASSERT_STRING_EQUAL(text, cases[i].expected);
            CU_ASSERT_EQUAL(json_integer_value(pointer_get(tree, cases[i].pointer)), 9);
        }
        free(text);
        json_decref(tree);
    }
}

#define KERNEL                                                              \
    "'source': 's', 'kernel': {'gpu': {'expr': '{gpu}', 'map': "            \
    "{'A100': 'A100-SXM4-80GB', 'H100': 'H100-SXM5-80GB'}}, 'op': 'gemm', " \
    "'dtype': 'bf16', 'm': {'expr': '{m}'}, 'n': 1024, 'k': 1024}, "

static void test_bad_mappings(void)
{
    static const struct {
        const char *text;
        const char *what; /* in the first error */
    } cases[] = {
        { "{" KERNEL "}", "nothing is measured" },
        { "{'source': 's', 'measured': {'time_s': 1}}", "needs one of" },
        { "{" KERNEL "'measured': {'time_s': '{times}'}}", "/measured/time_s: " },
        { "{" KERNEL "'measured': {'time_s': '{m} /'}}", "ends where" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'name': '{x}'}", "/name: " },
        { "{" KERNEL "'measured': {'time_s': {'expr': '{m}', 'ratio_to': 'x'}}}",
          "no variant" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'rank_by': ['z']}", "column" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'rank_by': [{'expr': '{z}'}]}",
          "column" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'bands': {'of': '{m}', 'edges': "
          "[2, 1]}}",
          "rise" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'drop': [{'column': 'note', "
          "'matches': '(', 'why': 'w'}]}",
          "regular expression" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'keep': [{'column': 'm', 'why': "
          "'w'}]}",
          "one of" },
        { "{" KERNEL "'measured': {'time_s': {'expr': '{gpu}', 'map': {'/(/': 1}}}}",
          "slashes" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'choose': {'/m': [1]}}",
          "scenarios" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'healthy': {'within': 2, 'by': "
          "['m'], 'why': 'w'}}",
          "/healthy/within" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'healthy': {'within': 0.5, 'by': "
          "['z'], 'why': 'w'}}",
          "column" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'healthy': {'within': 0.5, "
          "'why': 'w'}}",
          "array of columns" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'outdone': {'larger': 'z', 'by': "
          "['m'], 'why': 'w'}}",
          "column" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'run_states': []}",
          "is for scenarios" },
        { "{'source': 's', 'scenario': {}, 'measured': {'step_time_s': '{m}'}, "
          "'run_states': [{'set': {'training': 1}, 'chance': 0.1, 'why': 'w'}]}",
          "JSON pointer" },
        { "{'source': 's', 'scenario': {}, 'measured': {'step_time_s': '{m}'}, "
          "'run_states': [{'set': {'/training/precision': 'fp32'}, 'chance': '{z}', "
          "'why': 'w'}]}",
          "column" },
        { "{'source': 's', 'kernel': 3, 'measured': {'time_s': '{m}'}}",
          "should be an object" },
        { "{" KERNEL "'measured': []}", "{\"expr\": \"{COLUMN}\"}" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'why': 3}", "why this value" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'drop': 3}", "array of rules" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'drop': [{'column': 'z', 'below': "
          "1, 'why': 'w'}]}",
          "no column \"z\"" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'variants': 3}", "100 variants" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'variants': [{'name': 'base'}]}",
          "called so, too" },
        { "{" KERNEL
          "'measured': {'time_s': '{m}'}, 'variants': [{'name': 'v', 'set': 3}]}",
          "object of pointers" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'variants': [{'name': 'v', 'set': "
          "{'m': 1}}]}",
          "JSON pointer" },
        { "{" KERNEL
          "'measured': {'time_s': '{m}'}, 'bands': {'of': '{m}', 'edges': []}}",
          "1 to 100 rising" },
        { "{'source': 's', 'scenario': {}, 'measured': {'time_s': '{m}'}, 'choose': "
          "{'/m': 3}}",
          "values to choose from" },
        { "{'source': 's', 'scenario': {}, 'measured': {'time_s': '{m}'}, 'choose': "
          "{'/a': [1, 2, 3, 4, 5, 6, 7, 8, 9], '/b': [1, 2, 3, 4, 5, 6, 7, 8, 9], "
          "'/c': [1, 2, 3, 4, 5, 6, 7, 8, 9], '/d': [1, 2, 3, 4, 5, 6, 7, 8, 9]}}",
          "combinations" },
        { "{" KERNEL "'measured': {'time_s': '{m}'}, 'sauce': 1}", "unknown key" },
        { "[]", "object" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct mapping m;
        CU_ASSERT_EQUAL(load(&m, &loader, cases[i].text), -1);
        CU_ASSERT_FATAL(loader.diags.n_errors > 0);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), cases[i].what));
        mapping_release(&m);
        cfg_loader_release(&loader);
    }
}

static const char whole[] =
    "{" KERNEL "'name': '{gpu} {m}', "
    "'drop': [{'column': 'note', 'matches': '^slow$', 'why': 'slow'}], "
    "'measured': {'time_s': {'expr': '{time (us)} / 1e6'}}, "
    "'variants': [{'name': 'double', 'set': {'/m': {'expr': '2 * {m}'}}, "
    "  'measured': {'time_s': {'expr': '{oom}', 'ratio_to': 'base'}}}], "
    "'bands': {'of': '{m}', 'edges': [2048]}, 'tables': '{gpu}'}";

static void test_run(void)
{
    struct cfg_loader loader;
    struct mapping m;
    struct mapping_run run;
    CU_ASSERT_EQUAL_FATAL(load(&m, &loader, whole), 0);
    mapping_run(&run, &loader.arena, &m, NULL, NULL);
    CU_ASSERT_EQUAL(run.n_rows, 5);
    CU_ASSERT_EQUAL(run.n_dropped, 1);
    CU_ASSERT_EQUAL_FATAL(run.n_outcomes, 8);
    const struct mapping_outcome *o = run.outcomes;
    CU_ASSERT_STRING_EQUAL(o[0].name, "A100 1024");
    CU_ASSERT_DOUBLE_EQUAL(o[0].quantities[0].measured, 20e-6, 1e-18);
    CU_ASSERT_EQUAL(o[0].band, 0);
    CU_ASSERT_EQUAL(o[2].band, 1);
    CU_ASSERT_STRING_EQUAL(o[1].name, "A100 1024/double");
    CU_ASSERT_STRING_EQUAL(o[1].quantities[0].key, "time_s/base");
    CU_ASSERT_DOUBLE_EQUAL(o[1].quantities[0].predicted,
                           o[2].quantities[0].predicted / o[0].quantities[0].predicted,
                           1e-12);
    CU_ASSERT_TRUE(o[3].has_fits && !o[3].fits_measured && o[3].n_quantities == 0);
    CU_ASSERT_EQUAL(run.n_failed, 3); /* no B100 in the map, twice; the cell "x" */
    CU_ASSERT_PTR_NOT_NULL(strstr(o[4].error, "has no \"B100\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(o[6].error, "no number"));
    mapping_release(&m);
    cfg_loader_release(&loader);
}

/* Rows of a held-out table that served a fit are known as such; of another table nothing is
 * held out. */
static void test_fitted_rows(void)
{
    static const char *const texts[] = {
        "{" KERNEL
        "'held_out': true, 'fitted': [{'column': 'gpu', 'matches': '^A100$', "
        "'why': 'it'}], "
        "'measured': {'time_s': {'expr': '{time (us)} / 1e6'}}}",
        "{" KERNEL "'fitted': [{'column': 'gpu', 'matches': '^A100$', 'why': 'it'}], "
        "'measured': {'time_s': {'expr': '{time (us)} / 1e6'}}}",
    };
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct mapping m;
        struct mapping_run run;
        CU_ASSERT_EQUAL_FATAL(load(&m, &loader, texts[i]), 0);
        mapping_run(&run, &loader.arena, &m, NULL, NULL);
        for (int64_t k = 0; k < run.n_outcomes; k++) {
            const char *gpu = csv_cell(&m.csv, run.outcomes[k].row, 0);
            CU_ASSERT_EQUAL(run.outcomes[k].fitted, i == 0 && !strcmp(gpu, "A100"));
        }
        CU_ASSERT_TRUE(run.n_outcomes > 2);
        mapping_release(&m);
        cfg_loader_release(&loader);
    }
}

/* Two jobs of training runs: the first has an outlier, a failure that a larger run
 * outdoes, and one that is truly too large; the second a failure of what also ran. */
static const char runs[] = "job,instances,batch,status,seconds\n"
                           "a,2,4,ok,0.5\n"
                           "a,2,4,ok,2.0\n"
                           "a,2,4,failed,\n"
                           "a,2,8,ok,1.0\n"
                           "a,2,4096,failed,\n"
                           "b,4,4,ok,2.0\n"
                           "b,4,8,ok,3.0\n"
                           "b,4,8,failed,\n";
static const char runs_of_jobs[] =
    "{'source': 's', 'scenario': {'model': 'bert-large-uncased', 'cluster': "
    "{'instance': 'p3dn.24xlarge', 'count': {'expr': '{instances}'}}, 'training': "
    "{'sequence_length': 128, 'micro_batch_size': {'expr': '{batch}'}, 'precision': "
    "'amp_fp16', 'optimizer': 'adam'}}, 'rank_by': ['job', {'expr': 'min({batch}, "
    "2)'}], "
    "'measured': {'fits': {'expr': '{status}', 'map': {'ok': 1, 'failed': 0}}, "
    "'step_time_s': {'expr': '{seconds}'}}, "
    "'healthy': {'within': 0.5, 'of': '%s', 'by': ['job'], 'why': 'w'}, "
    "'outdone': {'larger': 'batch', 'by': ['job'], 'why': 'w'}, "
    "'bands': {'of': '{instances}', 'edges': [3], 'cumulative': true}}";

/* Rows against those of their group: outliers count in no error, but in the order of
 * alternatives and in verdicts on memory. */
static void test_groups(void)
{
    static const struct {
        const char *of;
        int64_t outlier;
    } cases[] = { { "best", 1 }, { "median", 1 } };
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct mapping m;
        struct mapping_run run;
        struct summary s;
        char *text = xasprintf(runs_of_jobs, cases[i].of);
        CU_ASSERT_EQUAL_FATAL(load_with(&m, &loader, text, runs), 0);
        mapping_run(&run, &loader.arena, &m, NULL, NULL);
        summary_make(&s, &loader.arena, &run);
        CU_ASSERT_EQUAL_FATAL(run.n_failed, 0);
        CU_ASSERT_EQUAL(run.n_outliers, cases[i].outlier);
        CU_ASSERT_TRUE(run.outcomes[1].outlier && !run.outcomes[0].outlier);
        CU_ASSERT_EQUAL(s.metrics.v[0].stats.n, 4);
        CU_ASSERT_EQUAL_FATAL(s.n_bands, 2);
        CU_ASSERT_EQUAL(s.bands[0].metrics.v[0].stats.n, 2); /* below 3 */
        CU_ASSERT_EQUAL(s.bands[1].metrics.v[0].stats.n, 4); /* all */
        CU_ASSERT_TRUE(isinf(s.bands[1].from) && isinf(s.bands[1].to));
        CU_ASSERT_TRUE(run.outcomes[2].outdone && !run.outcomes[4].outdone);
        CU_ASSERT_TRUE(run.outcomes[7].outdone && !run.outcomes[6].outdone);
        CU_ASSERT_EQUAL(s.verdicts.ran_fits, 5);
        CU_ASSERT_EQUAL(s.verdicts.ran_not, 0);
        CU_ASSERT_EQUAL(s.verdicts.failed_fits, 2);
        CU_ASSERT_EQUAL(s.verdicts.failed_not, 1);
        CU_ASSERT_EQUAL(s.verdicts.outdone_fits, 2);
        CU_ASSERT_STRING_EQUAL(run.outcomes[0].rank_group, "a, 2"); /* column, value */
        /* runs of one job are one alternative: of "b" a failure and a run */
        CU_ASSERT_EQUAL(s.rankings[0].n, 3);
        CU_ASSERT_EQUAL(s.rankings[1].n, 2);
        CU_ASSERT_DOUBLE_EQUAL(s.rankings[1].regret, 0, 1e-12);
        mapping_release(&m);
        cfg_loader_release(&loader);
        free(text);
    }
}

static const char runs_in_states[] =
    "{'source': 's', 'scenario': {'model': 'bert-large-uncased', 'cluster': "
    "{'instance': 'p3dn.24xlarge', 'count': {'expr': '{instances}'}}, 'training': "
    "{'sequence_length': 128, 'micro_batch_size': {'expr': '{batch}'}, 'precision': "
    "'amp_fp16', 'optimizer': 'adam'}}, 'rank_by': ['job', {'expr': 'min({batch}, "
    "2)'}], "
    "'measured': {'fits': {'expr': '{status}', 'map': {'ok': 1, 'failed': 0}}, "
    "'step_time_s': {'expr': '{seconds}'}}, "
    "'run_states': [{'set': {'/training/precision': 'fp32'}, 'chance': {'expr': "
    "'{job}', "
    "'map': {'a': 0.25}, 'default': 0}, 'why': 'w'}, {'set': "
    "{'/training/precision': 'amp_fp16'}, 'chance': {'expr': '{batch}', 'map': "
    "{'4096': 0.9}, 'default': 0.5}, 'why': 'w'}]}";

/* States that runs may have been in count in the order of alternatives alone. */
static void test_run_states(void)
{
    struct cfg_loader loader;
    struct mapping m;
    struct mapping_run run;
    CU_ASSERT_EQUAL_FATAL(load_with(&m, &loader, runs_in_states, runs), 0);
    mapping_run(&run, &loader.arena, &m, NULL, NULL);
    const struct mapping_outcome *a = &run.outcomes[0], *b = &run.outcomes[5];
    CU_ASSERT_PTR_NULL_FATAL(a->error);
    CU_ASSERT_DOUBLE_EQUAL(a->states[0].chance, 0.25, 1e-12);
    CU_ASSERT(a->states[0].times > 1.05); /* fp32 for fp16 */
    CU_ASSERT_DOUBLE_EQUAL(a->states[1].chance, 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->states[1].times, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(b->states[0].chance, 0, 1e-12);
    CU_ASSERT_PTR_NOT_NULL_FATAL(run.outcomes[4].error); /* 1.15 in all */
    CU_ASSERT_PTR_NOT_NULL(strstr(run.outcomes[4].error, "1.15"));
    mapping_release(&m);
    cfg_loader_release(&loader);
}

static char *run_to_json(int n_threads)
{
    struct cfg_loader loader;
    struct mapping m;
    struct mapping_run run;
    struct summary s;
    omp_set_num_threads(n_threads);
    CU_ASSERT_EQUAL_FATAL(load(&m, &loader, whole), 0);
    m.name = "same";
    mapping_run(&run, &loader.arena, &m, NULL, NULL);
    summary_make(&s, &loader.arena, &run);
    json_t *tree = report_validation_json(&run, &s);
    char *text = json_dumps(tree, JSON_REAL_PRECISION(12));
    json_decref(tree);
    mapping_release(&m);
    cfg_loader_release(&loader);
    return text;
}

static void test_threads_do_not_matter(void)
{
    int n_threads = omp_get_max_threads();
    char *one = run_to_json(1), *four = run_to_json(4);
    omp_set_num_threads(n_threads);
    CU_ASSERT_STRING_EQUAL(one, four);
    free(one);
    free(four);
}

void test_mapping_register(void)
{
    CU_pSuite suite = CU_add_suite("mapping", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "values as tables write them", test_written_values);
    CU_add_test(suite, "cells", test_cells);
    CU_add_test(suite, "pointers", test_pointers);
    CU_add_test(suite, "bad mappings", test_bad_mappings);
    CU_add_test(suite, "a run over kernels", test_run);
    CU_add_test(suite, "rows against those of their group", test_groups);
    CU_add_test(suite, "states that runs may have been in", test_run_states);
    CU_add_test(suite, "rows of a held-out table that served a fit", test_fitted_rows);
    CU_add_test(suite, "threads do not matter", test_threads_do_not_matter);
}
