/* Error statistics and rankings against figures worked out by hand. */
#include "validation/stats.h"

#include <CUnit/CUnit.h>
#include <math.h>

void test_stats_register(void);

static void test_errors(void)
{
    static const struct {
        int64_t n;
        double errors[5];
        struct stats s;
    } cases[] = {
        { 1, { -0.5 }, { 1, 0.5, 0.5, 0.5, -0.5 } },
        { 2, { 0.1, -0.3 }, { 2, 0.2, 0.2, 0.3, -0.1 } },
        { 5, { 0, 0.1, -0.1, 0.2, -0.7 }, { 5, 0.22, 0.1, 0.7, -0.1 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stats s = stats_of(cases[i].errors, cases[i].n);
        CU_ASSERT_EQUAL(s.n, cases[i].s.n);
        CU_ASSERT_DOUBLE_EQUAL(s.mean_abs, cases[i].s.mean_abs, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(s.median_abs, cases[i].s.median_abs, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(s.max_abs, cases[i].s.max_abs, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(s.bias, cases[i].s.bias, 1e-12);
    }
}

/* Of nothing that was compared nothing is known. */
static void test_no_errors(void)
{
    struct stats s = stats_of(NULL, 0);
    CU_ASSERT_EQUAL(s.n, 0);
    CU_ASSERT(isnan(s.mean_abs) && isnan(s.median_abs));
    CU_ASSERT(isnan(s.max_abs) && isnan(s.bias));
}

/* The alternatives of two arrays, all of which surely fit where something is predicted. */
static struct ranking order(const double *measured, const double *predicted, int64_t n)
{
    struct ranked v[9];
    for (int64_t i = 0; i < n; i++)
        v[i] = (struct ranked) { measured[i], predicted[i], predicted[i] };
    return ranking_of(v, n);
}

static void test_rankings(void)
{
    static const struct {
        int64_t n;
        double measured[5], predicted[5];
        double spearman, regret, regret_top3;
    } cases[] = {
        { 3, { 1, 2, 3 }, { 10, 20, 30 }, 1, 0, 0 },
        { 3, { 1, 2, 3 }, { 30, 20, 10 }, -1, 2.0 / 3, 0 },
        { 5, { 10, 1, 2, 3, 4 }, { 1, 5, 4, 3, 2 }, -1, 0.9, 0.7 },
        { 4,
          { 0, 5, 4, 2 },
          { 9, 8, 0, 7 },
          -0.4,
          1,
          0 }, /* the best ran out of memory */
        { 1, { 7 }, { 3 }, NAN, 0, 0 },
        { 3, { 1, 2, 4 }, { 5, 5, 5 }, NAN, 0.75, 0 }, /* the first of equals */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ranking r = order(cases[i].measured, cases[i].predicted, cases[i].n);
        CU_ASSERT_EQUAL(r.n, cases[i].n);
        if (isnan(cases[i].spearman))
            CU_ASSERT_TRUE(isnan(r.spearman))
        else
            CU_ASSERT_DOUBLE_EQUAL(r.spearman, cases[i].spearman, 1e-12)
        CU_ASSERT_DOUBLE_EQUAL(r.regret, cases[i].regret, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(r.regret_top3, cases[i].regret_top3, 1e-12);
    }
}

/* The second best measured is what no single lucky run sets. */
static void test_second_best(void)
{
    static const double measured[] = { 10, 4, 5, 0, 3 }, first[] = { 1, 9, 2, 8, 7 },
                        failed[] = { 1, 2, 3, 9, 4 };
    struct ranking r = order(measured, first, 5);
    CU_ASSERT_DOUBLE_EQUAL(r.regret, 0.6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_second, 0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_second_top3, 0.2, 1e-12);
    r = order(measured, failed, 5); /* the first choice failed: all is lost */
    CU_ASSERT_DOUBLE_EQUAL(r.regret, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_second, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_second_top3, 0, 1e-12);
}

/* Chosen is by merit, which need not be the order of predictions. */
static void test_merits(void)
{
    struct ranked v[] = {
        { 0, 9, .1 }, { 5, 8, .2 }, { 4, 7, .9 }, { 3, 0, 0 }, { 6, 0, 0 }
    };
    struct ranking r = ranking_of(v, 5);
    CU_ASSERT_DOUBLE_EQUAL(r.regret, 1 - 4 / 6.0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_top3, 1 - 5 / 6.0, 1e-12);
    v[0].merit = 1;
    r = ranking_of(v, 5);
    CU_ASSERT_DOUBLE_EQUAL(r.regret, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.regret_second_top3, 0, 1e-12);
}

/* Jobs weigh alike; one whose alternatives are all equal has no order to be right
 * about. */
static void test_mean_of_rankings(void)
{
    static const struct ranking jobs[] = {
        { 3, 1, 0, 0, 0, 0 },
        { 5, -0.5, 0.3, 0.06, 0.2, 0 },
        { 2, NAN, 0.3, 0, 0.1, 0 },
    };
    struct ranking mean = ranking_mean(jobs, 3);
    CU_ASSERT_EQUAL(mean.n, 10);
    CU_ASSERT_DOUBLE_EQUAL(mean.spearman, 0.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(mean.regret, 0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(mean.regret_top3, 0.02, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(mean.regret_second, 0.1, 1e-12);
    CU_ASSERT_TRUE(isnan(ranking_mean(jobs + 2, 1).spearman));
}

/* Whatever the numbers: three are no worse than one, and nothing beats the best. */
static void test_regret_is_ordered(void)
{
    uint64_t state = 1;
    for (int trial = 0; trial < 1000; trial++) {
        double measured[9], predicted[9];
        for (int i = 0; i < 9; i++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            measured[i] = 1 + (double)(state >> 40);
            predicted[i] = (double)(state >> 20 & 15);
        }
        struct ranking r = order(measured, predicted, 9);
        CU_ASSERT_TRUE(r.regret_top3 >= 0 && r.regret_top3 <= r.regret && r.regret < 1);
    }
}

void test_stats_register(void)
{
    CU_pSuite suite = CU_add_suite("stats", NULL, NULL);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "no errors", test_no_errors);
    CU_add_test(suite, "rankings", test_rankings);
    CU_add_test(suite, "choices by merit", test_merits);
    CU_add_test(suite, "regret against the second best", test_second_best);
    CU_add_test(suite, "mean of rankings", test_mean_of_rankings);
    CU_add_test(suite, "regret is ordered", test_regret_is_ordered);
}
