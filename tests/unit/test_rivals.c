/* Other simulators' predictions of a table of several quantities: errors, order and
 * what is left out. */
#include "base/file.h"
#include "validation/rivals.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void test_rivals_register(void);

/* Six ways of one job on 64 GPUs, one of which ran out of memory, in two groups; two
 * rows of one name; ours are right. */
static struct mapping_outcome outcome(const char *name, double step_s, double *q)
{
    static struct mapping_quantity quantities[8][2];
    static int n;
    struct mapping_quantity *own = quantities[n++ % 8];
    bool ran = q != NULL;
    own[0] = (struct mapping_quantity) { "tokens_per_s", ran ? 1e6 / step_s : 0,
                                         1e6 / step_s };
    own[1] = (struct mapping_quantity) { "/memory/peak_bytes", ran ? *q : 0, 6e10 };
    return (struct mapping_outcome) { .name = name,
                                      .n_quantities = ran ? 2 : 0,
                                      .quantities = own,
                                      .has_fits = true,
                                      .fits_measured = ran,
                                      .fits_predicted = true,
                                      .job = n,
                                      .rank_group = "7B, 64 GPUs",
                                      .has_rate = true,
                                      .rate_measured = ran ? 1e6 / step_s / 64 : 0,
                                      .rate_predicted = 1e6 / step_s / 64,
                                      .rate = 1e6 / step_s / 64,
                                      .step_s = step_s };
}

static struct mapping_measured measured[] = {
    { "tokens_per_s", "tokens_per_s", NULL, -1 },
    { "/memory/peak_bytes", "/memory/peak_bytes", NULL, -1 },
};
static struct mapping_variant variant = { .n_measured = 2, .measured = measured };

static const struct summary_metric *metric(const struct summary *s, const char *key)
{
    for (int32_t i = 0; i < s->metrics.n; i++)
        if (strcmp(s->metrics.v[i].key, key) == 0)
            return &s->metrics.v[i];
    return NULL;
}

static int add(struct rivals *r, struct cfg_loader *loader,
               const struct mapping_run *run, const char *text)
{
    char path[] = "/tmp/smsim-rivals-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int rc = rivals_add(r, loader, &loader->arena, run, path);
    unlink(path);
    return rc;
}

static void test_join(void)
{
    double peak = 6e10;
    struct mapping_outcome outcomes[] = {
        outcome("tp1", 10, &peak), outcome("tp2", 8, &peak), outcome("tp2", 4, &peak),
        outcome("tp4", 5, &peak),  outcome("tp8", 2, NULL),
    };
    struct mapping mapping = { .name = "a table",
                               .n_variants = 1,
                               .variants = &variant };
    const struct mapping_run run = {
        .mapping = &mapping, .n_rows = 5, .n_outcomes = 5, .outcomes = outcomes
    };
    struct cfg_loader loader;
    struct rivals r = { 0 };
    cfg_loader_init(&loader);
    /* of equal names the first row takes the first; tp8, which failed, looks best */
    CU_ASSERT_EQUAL_FATAL(add(&r, &loader, &run,
                              "row,seconds,bytes\ntp2,10,\ntp2,5,3e10\ntp1,8,\n"
                              "tp4,,6e10\ntp8,1,\ntp2,7,\nelse,1,\n"),
                          0);
    CU_ASSERT_EQUAL_FATAL(r.n, 1);
    CU_ASSERT_EQUAL(r.v->n_elsewhere, 2); /* a third tp2 and one that is not there */
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(diags_warning_text(&loader.diags, 0),
               ":7: \"tp2\" is no row of a table that is left; 2 of 7 rows are none"));
    const struct summary_metric *rate = metric(&r.v->summary, "tokens_per_s"),
                                *memory = metric(&r.v->summary, "/memory/peak_bytes");
    CU_ASSERT_PTR_NOT_NULL_FATAL(rate);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    CU_ASSERT_EQUAL(rate->stats.n, 3);
    /* 8/10 - 1, 4/5 - 1 and 10/8 - 1 */
    CU_ASSERT_DOUBLE_EQUAL(rate->stats.mean_abs, (0.2 + 0.2 + 0.25) / 3, 1e-12);
    CU_ASSERT_EQUAL(memory->stats.n, 2);
    CU_ASSERT_DOUBLE_EQUAL(memory->stats.max_abs, 0.5, 1e-12);
    CU_ASSERT_EQUAL(metric(&r.v->ours, "tokens_per_s")->stats.n, 4);
    CU_ASSERT_DOUBLE_EQUAL(metric(&r.v->ours, "tokens_per_s")->stats.max_abs, 0, 0);
    /* its choice is the one that failed; of its first three, tp2 in 4 s is the best */
    CU_ASSERT_EQUAL_FATAL(r.v->summary.n_groups, 1);
    CU_ASSERT_EQUAL(r.v->summary.rankings->n, 4);
    CU_ASSERT_DOUBLE_EQUAL(r.v->summary.rankings->regret, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.v->summary.rankings->regret_top3, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(outcomes[0].quantities[0].predicted, 1e5, 1e-6); /* as was */
    cfg_loader_release(&loader);
}

/* Of a file whose rows have other names, the first is named, and what was looked for. */
static void test_elsewhere(void)
{
    struct mapping_outcome outcomes[] = { outcome("tp1", 10, NULL),
                                          outcome("tp2", 8, NULL) };
    struct mapping mapping = { .name = "a table",
                               .n_variants = 1,
                               .variants = &variant };
    const struct mapping_run run = {
        .mapping = &mapping, .n_rows = 2, .n_outcomes = 2, .outcomes = outcomes
    };
    struct cfg_loader loader;
    struct rivals r = { 0 };
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(add(&r, &loader, &run, "row,seconds\ntp=1,10\ntp=2,5\n"), 0);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(diags_warning_text(&loader.diags, 0),
               ":2: \"tp=1\" is no row of a table that is left, whose "
               "first is \"tp1\"; 2 of 2 rows are none"));
    CU_ASSERT_EQUAL(add(&r, &loader, &run, "row,seconds\ntp2,10\ntp1,5\n"), 0);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    cfg_loader_release(&loader);
}

/* Files that are wrong are reported with their line, and none is added. */
static void test_wrong(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "row,time\na,1\n", ":1: no column \"seconds\"" },
        { "seconds\n1\n", ":1: no column \"row\"" },
        { "row,seconds\na,fast\n", ":2: seconds: \"fast\" is no number above 0" },
        { "row,seconds,bytes\na,1,-5\n", ":2: bytes: \"-5\" is no number above 0" },
        { "row,seconds\na,1e999\n", "is no number above 0" },
        { "row,seconds\na,nan\n", "is no number above 0" },
    };
    struct mapping mapping = { .name = "a table",
                               .n_variants = 1,
                               .variants = &variant };
    const struct mapping_run run = { .mapping = &mapping };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct rivals r = { 0 };
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL(add(&r, &loader, &run, cases[i].text), -1);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), cases[i].said));
        cfg_loader_release(&loader);
    }
}

void test_rivals_register(void)
{
    CU_pSuite s = CU_add_suite("rivals", NULL, NULL);
    CU_add_test(s, "predictions of others are joined and ranked", test_join);
    CU_add_test(s, "rows of other names are warned of", test_elsewhere);
    CU_add_test(s, "wrong tables are refused by line", test_wrong);
}
