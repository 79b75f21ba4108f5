/* How far results are to be trusted: distances and grades by table, ranges, files of
 * errors of measured rows that are missing, cut or wrong, and the rows that keep their range. */
#include "config/datadir.h"
#include "config/provenance.h"
#include "report/report.h"
#include "validation/quantile.h"
#include "validation/ranges.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_trust_register(void);

static const struct interval_place base = { .gpu = "A100-SXM4-80GB",
                                            .framework = "megatron-2022",
                                            .inside = FABRIC_NVSWITCH,
                                            .outside = FABRIC_INFINIBAND,
                                            .precision = OP_FP16,
                                            .mfu = 0.5,
                                            .log2_of = { 3, 3, 2, 13, 34 } };

/* A place: the base with one change. */
struct change {
    const char *gpu, *framework;
    bool lone;                                               /* one node */
    int inside, outside, sharding, precision, checkpointing; /* added */
    double more[INTERVAL_AXES];
};

static struct interval_place changed(const struct change *c)
{
    struct interval_place p = base;
    p.gpu = c->gpu ? c->gpu : p.gpu;
    p.framework = c->framework ? c->framework : p.framework;
    p.inside += c->inside;
    p.outside = c->lone ? -1 : p.outside + c->outside;
    p.sharding += c->sharding;
    p.precision += c->precision;
    p.checkpointing += c->checkpointing;
    for (int i = 0; i < INTERVAL_AXES; i++)
        p.log2_of[i] += c->more[i];
    return p;
}

static void test_distances(void)
{
    static const struct {
        struct change change;
        double distance;
    } cases[] = {
        { { 0 }, 0 },
        { { .gpu = "A100-SXM4-40GB" }, 0.5 },
        { { .gpu = "A10G" }, 4 },
        { { .gpu = "H100-SXM5-80GB" }, 4 },
        { { .framework = "megatron-2021" }, 3 },
        { { .inside = 1 }, 1 },
        { { .outside = -1 }, 2 },
        { { .lone = true }, 1 },
        { { .sharding = 1 }, 1 },
        { { .precision = 1 }, 2 },
        { { .checkpointing = 1 }, 0.5 },
        { { .more = { -1 } }, 1 },
        { { .more = { 0, 2 } }, 2 },
        { { .more = { 0, 0, -2 } }, 2 },
        { { .more = { 0, 0, 0, 3 } }, 1.5 },
        { { .more = { 0, 0, 0, 0, -1 } }, 0.5 },
        { { .gpu = "H100-SXM5-80GB", .more = { 1, 1, 1, 1, 1 } }, 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct interval_place p = changed(&cases[i].change);
        CU_ASSERT_DOUBLE_EQUAL(interval_distance(&base, &p), cases[i].distance, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(interval_distance(&p, &base), cases[i].distance, 1e-12);
    }
}

/* Two cells: the base, and one of four times its nodes. */
static void test_grades(void)
{
    struct interval_cell cells[2] = {
        { base, "a", "small", 4, 0.01, -0.02, 0.04, 0 },
        { base, "b", "large", 1, 0.05, 0.05, 0.05, 0 },
    };
    cells[1].at.log2_of[INTERVAL_NODES] += 2;
    const struct interval_table table = { 2, cells };
    static const struct {
        struct change change;
        const char *without;
        enum interval_grade grade;
    } cases[] = {
        { { 0 }, NULL, INTERVAL_MEASURED },
        { { 0 }, "a", INTERVAL_EXTRAPOLATED },
        { { .more = { 2 } }, NULL, INTERVAL_MEASURED },
        { { .more = { 0, 0, 0, 1 } }, NULL, INTERVAL_MEASURED },
        { { .more = { 0, 0, 0, 2 } }, NULL, INTERVAL_EXTRAPOLATED },
        { { .more = { 1 } }, NULL, INTERVAL_INTERPOLATED },
        { { .more = { 2.4 } }, NULL, INTERVAL_INTERPOLATED },
        { { .more = { 3 } }, NULL, INTERVAL_EXTRAPOLATED },
        { { .more = { -1 } }, NULL, INTERVAL_EXTRAPOLATED },
        { { .more = { 1, 1 } }, NULL, INTERVAL_EXTRAPOLATED },
        { { .gpu = "A100-SXM4-40GB" }, NULL, INTERVAL_INTERPOLATED },
        { { .checkpointing = 1 }, NULL, INTERVAL_INTERPOLATED },
        { { .gpu = "H100-SXM5-80GB" }, NULL, INTERVAL_EXTRAPOLATED },
        { { .framework = "fsdp-torch2" }, NULL, INTERVAL_EXTRAPOLATED },
        { { .lone = true }, NULL, INTERVAL_EXTRAPOLATED },
        { { .precision = 1 }, NULL, INTERVAL_EXTRAPOLATED },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct interval_place p = changed(&cases[i].change);
        struct interval t = interval_assess(&table, &p, cases[i].without);
        CU_ASSERT_EQUAL(t.grade, cases[i].grade);
        CU_ASSERT_TRUE(t.low <= 0 && t.high >= 0);
    }
}

/* A range as logarithms of measured over predicted time. */
static void check_range(const struct interval *t, double fast, double slow)
{
    CU_ASSERT_DOUBLE_EQUAL(log1p(t->high), -fast, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(log1p(t->low), -slow, 1e-12);
}

/* What was measured nearby is narrow, but no narrower than rows there came out. All else is
 * as wide at any distance, and wider by experts of a stack that none was fitted to. */
static void test_ranges(void)
{
    const struct interval_law *law = &interval_law;
    struct interval_cell cell = { base, "a", "row", 9, 0, -0.02, 0.04, 0 };
    const struct interval_table table = { 1, &cell }, empty = { 0, NULL };
    double range_s[2];
    struct interval_place p = base;
    struct interval t = interval_assess(&table, &p, NULL);
    check_range(&t, law->measured.fast, law->measured.slow);
    CU_ASSERT_DOUBLE_EQUAL(t.tie, expm1(law->measured.slow), 1e-12);
    interval_range(&t, 2, range_s);
    CU_ASSERT_DOUBLE_EQUAL(range_s[0], 2 * exp(law->measured.fast), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(range_s[1], 2 * exp(law->measured.slow), 1e-12);
    p.experts = true;
    p.experts_fitted = true; /* what was measured has its own */
    t = interval_assess(&table, &p, NULL);
    check_range(&t, law->measured.fast, law->measured.slow + law->measured.experts);
    p.inferred = true;
    t = interval_assess(&table, &p, NULL);
    CU_ASSERT_EQUAL(t.grade, INTERVAL_INFERRED);
    check_range(&t, law->other.fast, law->other.slow);
    p.experts_fitted = false;
    t = interval_assess(&table, &p, NULL);
    check_range(&t, law->other.fast, law->other.slow + law->other.experts);
    for (int octaves = 1; octaves < 40; octaves++) { /* errors do not grow with it */
        p = base;
        p.log2_of[INTERVAL_NODES] += octaves;
        t = interval_assess(&table, &p, NULL);
        check_range(&t, law->other.fast, law->other.slow);
    }
    cell.low = -0.2;
    cell.high = 0.3;
    t = interval_assess(&table, &base, NULL);
    CU_ASSERT_DOUBLE_EQUAL(t.low, -0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.high, 0.3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.tie, 0.25, 1e-12);
    t = interval_assess(&empty, &base, NULL);
    CU_ASSERT_EQUAL(t.n_nearest, 0);
    CU_ASSERT_EQUAL(t.grade, INTERVAL_EXTRAPOLATED);
    check_range(&t, law->other.fast, law->other.slow);
    interval_range(&(struct interval) { 0 }, 1, range_s); /* never judged */
    CU_ASSERT_DOUBLE_EQUAL(range_s[0], exp(law->other.fast), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(range_s[1], exp(law->other.slow), 1e-12);
}

/* Steps that use little of the GPUs, small microbatches and guessed GPUs are less known, but
 * not where they were measured. */
static void test_range_terms(void)
{
    const struct interval_ends *o = &interval_law.other;
    struct interval_place p = base;
    double measured[2], ends[2];
    p.mfu = 0.1;
    p.log2_of[INTERVAL_TOKENS] = 10;
    p.gpu_guessed = true;
    interval_law_range(&interval_law, &p, true, measured);
    interval_law_range(&interval_law, &p, false, ends);
    CU_ASSERT_DOUBLE_EQUAL(measured[0], interval_law.measured.fast, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(measured[1], interval_law.measured.slow, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(ends[0], o->fast - 0.3 * o->fast_idle - o->fast_guessed,
                           1e-12);
    CU_ASSERT_DOUBLE_EQUAL(ends[1], o->slow + 0.3 * o->slow_idle + 3 * o->slow_small,
                           1e-12);
}

/* An end that a share s of half the runs lies beyond is half as far as that of s * s. */
static void test_range_beyond(void)
{
    const double range_s[2] = { 0.8, 1.5 };
    double to_s[2];
    struct interval t = { .grade = INTERVAL_MEASURED };
    double beyond = interval_law.measured.beyond_slow;
    interval_range_beyond(&t, 1, range_s, beyond, to_s);
    CU_ASSERT_DOUBLE_EQUAL(to_s[0], 0.8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(to_s[1], 1.5, 1e-12);
    interval_range_beyond(&t, 1, range_s, 2 * beyond * beyond, to_s);
    CU_ASSERT_DOUBLE_EQUAL(to_s[1], 1.5 * 1.5, 1e-12);
    t.grade = INTERVAL_INFERRED;
    interval_range_beyond(&t, 1, range_s, 0.1, to_s);
    CU_ASSERT_TRUE(to_s[0] > 0.8 && to_s[1] < 1.5);
}

/* Of y = z + (1 + x) u with u evenly from 0 to 1 the quantile q is z + q + q x. */
static void test_quantile_regression(void)
{
    enum { N = 4000 };
    static struct quantile_row rows[N];
    static const double shares[] = { 0.05, 0.5, 0.92 };
    for (int i = 0; i < N; i++) {
        double x = i % 4, z = i / 4 % 2, u = (i / 8 + 0.5) / (N / 8.0);
        rows[i] =
            (struct quantile_row) { { 1, x, z }, z + (1 + x) * u, 1 + i % 3 * 0.5 };
    }
    for (int k = 0; k < 3; k++) {
        double q = shares[k], b[QUANTILE_TERMS] = { 0, 0, 0, 3 };
        quantile_regress(b, rows, N, q);
        CU_ASSERT_DOUBLE_EQUAL(b[0], q, 0.005);
        CU_ASSERT_DOUBLE_EQUAL(b[1], q, 0.005);
        CU_ASSERT_DOUBLE_EQUAL(b[2], 1, 0.005);
        CU_ASSERT_EQUAL(b[3], 0); /* no row has it */
    }
}

/* The nearest come in order, of equals the first of the table. */
static void test_nearest(void)
{
    enum { CELLS = 12 };
    static const double octaves[CELLS] = { 3, 0.5, 2, 0.25, 9, 0.5, 7, 6, 5, 4, 3, 2 };
    static const int expected[INTERVAL_NEAREST] = { 3, 1, 5 };
    struct interval_cell cells[CELLS];
    for (int i = 0; i < CELLS; i++) {
        cells[i] = (struct interval_cell) { base, "a", "row", 1, 0, 0, 0, 0 };
        cells[i].at.log2_of[INTERVAL_NODES] += octaves[i];
    }
    struct interval t =
        interval_assess(&(struct interval_table) { CELLS, cells }, &base, NULL);
    CU_ASSERT_EQUAL_FATAL(t.n_nearest, INTERVAL_NEAREST);
    for (int i = 0; i < INTERVAL_NEAREST; i++)
        CU_ASSERT_PTR_EQUAL(t.nearest[i], &cells[expected[i]]);
    CU_ASSERT_DOUBLE_EQUAL(t.distance, 0.25, 1e-12);
}

/* Cells of a domain share what is compared of their kinds: the nearest is as far as if
 * each were compared alone. */
static void test_domains(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct interval_table *shipped = interval_table_get(&loader);
    CU_ASSERT_FATAL(shipped->n > 100);
    for (int32_t i = 0; i < shipped->n; i += 7) {
        struct interval_place at = shipped->cells[i].at;
        double least = INFINITY;
        at.log2_of[INTERVAL_NODES] += 0.3;
        at.checkpointing = -2;
        const char *without = i % 2 ? shipped->cells[i].source : NULL;
        for (int32_t c = 0; c < shipped->n; c++)
            if (!without || strcmp(shipped->cells[c].source, without) != 0)
                least = fmin(least, interval_distance(&at, &shipped->cells[c].at));
        CU_ASSERT_EQUAL(interval_assess(shipped, &at, without).distance, least);
    }
    cfg_loader_release(&loader);
}

/* Cells read from a text; -1 when it is refused. */
static int read_text(const char *text)
{
    char path[] = "/tmp/smsim-test-XXXXXX";
    struct interval_table table;
    struct arena arena;
    int fd = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    arena_init(&arena);
    struct inputs inputs = { 0 };
    struct err err = { 0 };
    int rc = interval_table_read(&table, &arena, path, &inputs, &err);
    CU_ASSERT_EQUAL(rc != 0, err.set);
    CU_ASSERT_EQUAL(inputs.list.n, 1);
    inputs_release(&inputs);
    int n = (int)table.n;
    CU_ASSERT_TRUE(rc == 0 || n == 0);
    arena_release(&arena);
    unlink(path);
    return rc ? -1 : n;
}

#define HEAD                                                                        \
    "{\"applicability\": [{\"source\": \"s\", \"gpu\": \"V100\", \"inside\": "      \
    "\"pcie\","                                                                     \
    "\"sharding\": \"none\", \"precision\": \"fp16\", \"checkpointing\": \"full\"," \
    "\"cells\": "
#define TAIL "}]}"

static void test_files(void)
{
    static const struct {
        const char *text;
        int n;
    } cases[] = {
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01, -0.02, 0.04, \"row\"]]" TAIL, 1 },
        { HEAD "[[2,1,1,12,28,3,0,0,0,\"a\"],[4,1,1,12,28,3,0,0,0,\"b\"]]" TAIL, 2 },
        { "", -1 },
        { "[]", -1 },
        { "{}", -1 },
        { "{\"applicability\": {}}", -1 },
        { "{\"applicability\": [{}]}", -1 },
        { "{\"applicability\": [7, null]}", -1 },
        { HEAD "[]" TAIL, -1 },
        { HEAD "{\"x\": 1}" TAIL, -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01", -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01, -0.02, 0.04]]" TAIL, -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01, -0.02, 0.04, 5]]" TAIL, -1 },
        { HEAD "[[0, 1, 1, 12.0, 28.4, 3, 0.01, -0.02, 0.04, \"r\"]]" TAIL, -1 },
        { HEAD "[[2, 1, 1, 1e9, 28.4, 3, 0.01, -0.02, 0.04, \"r\"]]" TAIL, -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 0, 0.01, -0.02, 0.04, \"r\"]]" TAIL, -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01, -1.0, 0.04, \"r\"]]" TAIL, -1 },
        { HEAD "[[2, 1, 1, 12.0, 28.4, 3, 0.01, 0.5, 0.04, \"r\"]]" TAIL, -1 },
        { HEAD "[[\"2\", 1, 1, 12.0, 28.4, 3, 0, 0, 0, \"r\"]]" TAIL, -1 },
        { HEAD "[null, true, []]" TAIL, -1 },
        { "{\"applicability\": [{\"source\": \"s\", \"gpu\": \"V100\", \"inside\": "
          "\"ether\","
          "\"cells\": [[2,1,1,12,28,3,0,0,0,\"a\"]]}]}",
          -1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CU_ASSERT_EQUAL(read_text(cases[i].text), cases[i].n);
    struct interval_table table;
    struct arena arena;
    struct inputs inputs = { 0 };
    struct err err = { 0 };
    arena_init(&arena);
    CU_ASSERT_EQUAL(
        interval_table_read(&table, &arena, "/nonexistent.json", &inputs, &err), -1);
    CU_ASSERT_EQUAL(table.n, 0);
    CU_ASSERT_EQUAL(inputs.list.v[0].hash, INPUT_MISSING);
    inputs_release(&inputs);
    arena_release(&arena);
}

static void add_table(struct applicability_rows *rows, const char *name)
{
    struct cfg_loader loader;
    struct mapping mapping;
    struct mapping_run run;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(mapping_load(&mapping, &loader, name, NULL), 0);
    mapping_run(&run, &loader.arena, &mapping, NULL, NULL);
    applicability_rows_add(rows, &run);
    mapping_release(&mapping);
    cfg_loader_release(&loader);
}

/* Real tables against the shipped cells; their own cells find the same rows. */
static void test_tables(void)
{
    static const char *const names[] = { "nvidia_bert_large_training",
                                         "korthikanti2022_end_to_end",
                                         "nemo_dgxh100_fp8" };
    struct applicability_rows rows;
    struct cfg_loader loader;
    int32_t n_lines;
    int64_t n = 0;
    cfg_loader_init(&loader);
    applicability_rows_init(&rows, &loader.arena);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_table(&rows, names[i]);
    const struct interval_table *shipped = interval_table_get(&loader);
    CU_ASSERT_TRUE(shipped->n > 0);
    CU_ASSERT_PTR_EQUAL(interval_table_get(&loader), shipped);
    struct applicability_coverage c = applicability_coverage(&rows, shipped);
    CU_ASSERT_TRUE(c.n > 100);
    CU_ASSERT_TRUE((double)c.within >= 0.75 * (double)c.n);
    const struct applicability_line *lines = applicability_lines(&rows, &n_lines);
    for (int32_t i = 0; i < n_lines; i++)
        n += lines[i].stats.n;
    CU_ASSERT_EQUAL(n, c.n);
    char path[] = "/tmp/smsim-test-XXXXXX";
    struct interval_table table;
    struct err err = { 0 };
    close(mkstemp(path));
    json_t *tree = applicability_cells(&rows);
    CU_ASSERT_EQUAL(report_applicability_write(tree, path, &err), 0);
    CU_ASSERT_EQUAL(
        interval_table_read(&table, &loader.arena, path, &loader.inputs, &err), 0);
    for (int32_t i = 0; i < table.n; i++)
        n -= table.cells[i].n;
    CU_ASSERT_EQUAL(n, 0);
    unlink(path);
    json_decref(tree);
    applicability_rows_release(&rows);
    cfg_loader_release(&loader);
}

/* Blind rows are judged by the cells, and are not among them. */
static void test_unfitted(void)
{
    struct cfg_loader loader;
    struct mapping mapping;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(mapping_load(&mapping, &loader, "published_elsewhere", NULL),
                          0);
    CU_ASSERT_TRUE(mapping.held_out);
    const struct interval_table *shipped = interval_table_get(&loader);
    for (int32_t i = 0; i < shipped->n; i++)
        CU_ASSERT_STRING_NOT_EQUAL(shipped->cells[i].source, mapping.name);
    mapping_release(&mapping);
    cfg_loader_release(&loader);
}

static void add_row(struct applicability_rows *rows, const char *source, double x)
{
    VEC_PUSH(&rows->list,
             ((struct applicability_row) {
                 .at = { .mfu = base.mfu, .log2_of = { [INTERVAL_TOKENS] = 13 } },
                 .source = source,
                 .system = source,
                 .name = "",
                 .error = expm1(-x) }));
}

/* One range for all is of the other sources' rows, each source counting alike; scores are
 * the width and ten times what lies outside. Without cells all rows are like none. */
static void test_range_scores(void)
{
    const struct interval_table none = { 0 };
    struct cfg_loader loader;
    struct applicability_rows rows;
    cfg_loader_init(&loader);
    applicability_rows_init(&rows, &loader.arena);
    for (int i = 0; i < 4; i++)
        add_row(&rows, "a", 0.1 * i);
    add_row(&rows, "b", 0.35);
    const struct applicability_rows no_rows = { .arena = &loader.arena };
    struct ranges_rows all = ranges_rows_make(&rows, &no_rows, &none);
    struct ranges r = ranges_judge(&all, false);
    const double fast = interval_law.measured.fast; /* none is faster */
    CU_ASSERT_EQUAL(ranges_judge(&all, true).n, 0);
    CU_ASSERT_EQUAL_FATAL(r.n, 2);
    CU_ASSERT_STRING_EQUAL(r.lines[1].source, "b");
    CU_ASSERT_DOUBLE_EQUAL(r.lines[1].one, 0.3 + 10 * 0.05, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[1].stated, 0.3 - fast + 10 * 0.05, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[1].as_new, r.lines[1].stated, 1e-12);
    CU_ASSERT_EQUAL(r.lines[1].within + r.lines[1].within_one, 0);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[0].within, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[0].stated, 0.35 - fast, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[0].one, 10 * (0.35 + 0.25 + 0.15 + 0.05) / 4, 1e-12);
    CU_ASSERT_EQUAL(r.all.n, 5);
    CU_ASSERT_DOUBLE_EQUAL(r.all.within, 0.5, 1e-12);
    for (int i = 0; i < 100; i++)
        add_row(&rows, "c", -1);
    all = ranges_rows_make(&rows, &no_rows, &none);
    r = ranges_judge(&all, false);
    CU_ASSERT_DOUBLE_EQUAL(r.lines[1].one, 1.3 + 10 * 0.05, 1e-9);
    applicability_rows_release(&rows);
    cfg_loader_release(&loader);
}

/* Rows whose logarithms are 0 to 0.4, and more. */
static void add_like_none(struct applicability_rows *rows, const char *system,
                          double more)
{
    for (int i = 0; i < 101; i++) {
        struct applicability_row r = { base, "s", system, "", 0 };
        r.at.framework = "of nobody";
        r.at.experts = r.at.experts_fitted = i % 2; /* no kind of its own */
        r.error = expm1(-(i * 0.004 + more));
        VEC_PUSH(&rows->list, r);
    }
}

/* The law is found again: of a measured place, of experts that something was fitted to or
 * nothing. A system left out has no part in it; a table's rows keep their grade. */
static void test_range_law(void)
{
    struct interval_cell cell = { base, "table", "row", 9, 0, 0, 0, 0 };
    const struct interval_table cells = { 1, &cell };
    struct applicability_rows tables, unfitted;
    struct arena arena;
    arena_init(&arena);
    applicability_rows_init(&tables, &arena);
    applicability_rows_init(&unfitted, &arena);
    for (int i = 0; i < 44; i++) {
        struct applicability_row r = { base, "table", "table", "", 0 };
        r.at.experts = i % 4 == 3;
        r.error = expm1(-((i / 4 - 5) * 0.02 + (r.at.experts ? 0.3 : 0)));
        VEC_PUSH(&tables.list, r);
    }
    for (int i = 0; i < 11; i++) {
        struct applicability_row r = { base, "s", "z", "", 0 };
        r.at.framework = "of nobody";
        r.at.experts = true;
        r.error = expm1(-(0.4 + i * 0.04));
        VEC_PUSH(&unfitted.list, r);
    }
    add_like_none(&unfitted, "x", 0.1);
    add_like_none(&unfitted, "y", 0);
    struct ranges_rows rows = ranges_rows_make(&tables, &unfitted, &cells);
    CU_ASSERT_TRUE(rows.v[0].measured && !rows.v[0].measured_by_others);
    CU_ASSERT_TRUE(!rows.v[44].measured && rows.v[44].unfitted);
    struct interval_law law = ranges_fit(&rows, "y");
    CU_ASSERT_DOUBLE_EQUAL(law.measured.fast, -0.08, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(law.measured.slow, 0.08, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(law.measured.experts, 0.3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(law.other.slow, 0.1 + 0.92 * 0.4, 0.005);
    CU_ASSERT_DOUBLE_EQUAL(law.other.slow + law.other.experts, 0.8, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(law.other.fast, -0.08, 1e-9); /* no narrower than measured */
    CU_ASSERT_DOUBLE_EQUAL(ranges_fit(&rows, "x").other.slow, 0.92 * 0.4, 0.005);
    CU_ASSERT_DOUBLE_EQUAL(ranges_fit(&rows, "table").measured.slow,
                           interval_law.measured.slow,
                           1e-12); /* of none, those in use */
    applicability_rows_release(&tables);
    applicability_rows_release(&unfitted);
    arena_release(&arena);
}

/* Kinds of provenance and codes of warnings grade a result; what their texts say does
 * not. */
static void test_inferred(void)
{
    static const struct {
        enum provenance_kind kind;
        enum diag_code code;
        enum interval_grade grade;
        const char *text;
    } cases[] = {
        { PROVENANCE_FITTED, DIAG_ASSUMED, INTERVAL_EXTRAPOLATED,
          "nothing was inferred" },
        { PROVENANCE_MEASURED, DIAG_NO_PRICE, INTERVAL_EXTRAPOLATED,
          "Guessed by rule" },
        { PROVENANCE_FITTED, DIAG_INFERRED, INTERVAL_INFERRED, "read from a document" },
        { PROVENANCE_INFERRED, DIAG_ASSUMED, INTERVAL_INFERRED, "fitted" },
        { PROVENANCE_TRANSFERRED, DIAG_ASSUMED, INTERVAL_INFERRED, "fitted" },
        { PROVENANCE_UNKNOWN, DIAG_ASSUMED, INTERVAL_INFERRED, "fitted" },
    };
    struct cfg_loader loader;
    struct scenario s;
    cfg_loader_init(&loader);
    struct cfg root = datadir_load(
        &loader, "scenarios", "bert-large-squad-2xp3.16xlarge-ddp", (struct cfg) { 0 });
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    struct instance instance = *s.cluster.groups[0].instance;
    struct gpu gpu = *instance.gpu;
    instance.gpu = &gpu;
    s.cluster.groups[0].instance = &instance;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct interval_table none = { 0 };
        struct diags reading;
        struct diag one = { .severity = DIAG_WARNING,
                            .code = cases[i].code,
                            .text = cases[i].text };
        gpu.provenance_kind = cases[i].kind;
        gpu.provenance = cases[i].text;
        diags_init(&reading);
        struct simulate_result r = { .n_warnings = 1, .warnings = &one };
        interval_judge(&r, &none, &reading, &s);
        CU_ASSERT_EQUAL(r.interval.grade, cases[i].grade);
        r = (struct simulate_result) { .n_warnings = 0 };
        diags_add(&reading, one, "%s", one.text);
        interval_judge(&r, &none, &reading, &s);
        CU_ASSERT_EQUAL(r.interval.grade, cases[i].grade);
        diags_release(&reading);
    }
    cfg_loader_release(&loader);
}

/* Every shipped file of hardware and frameworks says its kind; a GPU's that does not is
 * warned of. */
static void test_provenance_kinds(void)
{
    static const char *const dirs[] = { "topologies/gpus", "topologies/fabrics",
                                        "topologies/instances", "models/frameworks" };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    for (size_t d = 0; d < sizeof(dirs) / sizeof(dirs[0]); d++) {
        const char **names = datadir_list(&loader.arena, dirs[d]);
        for (int n = 0; names[n]; n++) {
            int kind = PROVENANCE_UNKNOWN;
            struct cfg file =
                datadir_load(&loader, dirs[d], names[n], (struct cfg) { 0 });
            CU_ASSERT_EQUAL(cfg_enum(cfg_get(file, "provenance_kind"),
                                     provenance_kind_names, &kind),
                            0);
            CU_ASSERT_NOT_EQUAL(kind, PROVENANCE_UNKNOWN);
        }
    }
    CU_ASSERT_EQUAL(loader.diags.n, 0);
    struct cfg own = cfg_parse(&loader, "own", "{}", 2);
    provenance_check(own, PROVENANCE_UNKNOWN);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    CU_ASSERT_EQUAL(loader.diags.v[0].code, DIAG_ASSUMED);
    cfg_loader_release(&loader);
}

/* 100 GB are expected to be 98.5 to 109.5 (MODEL.md, 14.1). */
static void test_memory(void)
{
    static const struct {
        double capacity_GB;
        bool near;
    } cases[] = { { 98.4, false }, { 98.6, true }, { 109.4, true }, { 109.6, false } };
    int64_t peak_B = 100000000000, range_B[2];
    interval_memory_range(peak_B, range_B);
    CU_ASSERT_DOUBLE_EQUAL((double)range_B[0], 98.5e9, 1);
    CU_ASSERT_DOUBLE_EQUAL((double)range_B[1], 109.5e9, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t capacity_B = (int64_t)(1e9 * cases[i].capacity_GB);
        CU_ASSERT_EQUAL(interval_memory_is_near(peak_B, capacity_B), cases[i].near);
    }
}

void test_trust_register(void)
{
    CU_pSuite suite = CU_add_suite("trust", NULL, NULL);
    CU_add_test(suite, "distances", test_distances);
    CU_add_test(suite, "grades", test_grades);
    CU_add_test(suite, "ranges", test_ranges);
    CU_add_test(suite, "range terms", test_range_terms);
    CU_add_test(suite, "ends of other shares", test_range_beyond);
    CU_add_test(suite, "quantile regression", test_quantile_regression);
    CU_add_test(suite, "held-out tables", test_unfitted);
    CU_add_test(suite, "interval scores", test_range_scores);
    CU_add_test(suite, "the law of ranges", test_range_law);
    CU_add_test(suite, "what grades as inferred", test_inferred);
    CU_add_test(suite, "kinds of provenance", test_provenance_kinds);
    CU_add_test(suite, "memory", test_memory);
    CU_add_test(suite, "nearest cells", test_nearest);
    CU_add_test(suite, "cells of a domain as each alone", test_domains);
    CU_add_test(suite, "files", test_files);
    CU_add_test(suite, "rows of real tables keep their ranges", test_tables);
}
