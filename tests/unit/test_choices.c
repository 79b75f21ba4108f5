/* Choices between measured alternatives: widths found again in rows that were made with
 * them, scores of sure and of ignorant statements, intervals of shares. */
#include "base/mix.h"
#include "risk/draw.h"
#include "validation/choices.h"

#include <CUnit/CUnit.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

void test_choices_register(void);

/* A step of that many seconds of products. */
static struct risk_plan plan_of(uint64_t key, double products_s)
{
    struct risk_plan p = { .key = key, .octaves = 1, .peak_B = 1, .capacity_B = 2 };
    p.by.s[RESOURCE_PRODUCTS] = products_s;
    return p;
}

/* Widths from rows ------------------------------------------------------------------ */

enum { SOURCES = 12, JOBS = 4, ALTERNATIVES = 10 };

/* Rows of many sources, whose resources are off by normal effects of that deviation and
 * whose plans have residuals of their own. */
static void make_rows(struct choices_rows *rows, double products, double own)
{
    struct risk_draw d;
    for (int s = 0; s < SOURCES; s++) {
        VEC_PUSH(&rows->sources, arena_printf(rows->arena, "source %d", s));
        d = risk_draw_make(77, s);
        double effect = products * d.z[RESOURCE_PRODUCTS];
        for (int i = 0; i < JOBS * ALTERNATIVES; i++) {
            double share = 0.2 + 0.06 * (i % ALTERNATIVES);
            struct risk_draw e = risk_draw_make(78 + s, i);
            struct choices_row r = { .source = s,
                                     .job = s * JOBS + i / ALTERNATIVES,
                                     .has_time = true,
                                     .has_rate = true };
            r.plan = plan_of((uint64_t)i, share);
            r.plan.by.s[RESOURCE_HOST] = 1 - share;
            r.plan.usual = 1;
            r.plan.value = 1 + 0.1 * (i % ALTERNATIVES);
            r.error = share * effect + own * e.z[RISK_MEMORY];
            r.rate_predicted = 1 / r.plan.value;
            r.rate_measured = r.rate_predicted * exp(-r.error);
            VEC_PUSH(&rows->list, r);
        }
    }
    rows->n_jobs = SOURCES * JOBS;
}

static void test_fit(void)
{
    struct arena arena;
    struct choices_rows rows;
    arena_init(&arena);
    choices_rows_init(&rows, &arena);
    make_rows(&rows, 0.2, 0.03);
    struct risk_widths w = choices_fit(&rows, -1);
    CU_ASSERT(w.resource[RESOURCE_PRODUCTS] > 0.1);
    CU_ASSERT(w.resource[RESOURCE_PRODUCTS] < 0.4);
    CU_ASSERT(w.resource[RESOURCE_HOST] < 0.06);
    CU_ASSERT(w.own > 0.022 && w.own < 0.038);
    CU_ASSERT(w.own_spread < 0.5);
    CU_ASSERT(w.slow_share < 0.05);
    /* one source does not say what systems differ by */
    rows.sources.n = 1;
    rows.list.n = JOBS * ALTERNATIVES;
    w = choices_fit(&rows, -1);
    CU_ASSERT_DOUBLE_EQUAL(w.own, risk_widths.own, 1e-12);
    choices_rows_release(&rows);
    arena_release(&arena);
}

/* Two rows a source, off by 10 and by 30 %, on either side: whatever its effect between
 * these is, the rests have a median of 0.1. The width is where the equations of EM (see
 * choices.h) stand still. */
static void test_few(void)
{
    struct arena arena;
    struct choices_rows rows;
    arena_init(&arena);
    choices_rows_init(&rows, &arena);
    for (int32_t s = 0; s < 6; s++) {
        VEC_PUSH(&rows.sources, "made");
        for (int32_t i = 0; i < 2; i++) {
            struct choices_row r = { .source = s, .job = s, .has_time = true };
            r.plan = plan_of((uint64_t)i, 1);
            r.plan.usual = 1;
            r.error = s % 2 ? 0.1 + 0.2 * i : -0.1 - 0.2 * i;
            VEC_PUSH(&rows.list, r);
        }
    }
    struct risk_widths w = choices_fit(&rows, -1);
    double variance = w.resource[RESOURCE_PRODUCTS] * w.resource[RESOURCE_PRODUCTS];
    double sure = 2 / (0.1 * 1.4826 * 0.1 * 1.4826), effect = 0, weight = 0, rest = 0;
    for (int i = 0; i < 100; i++) {
        weight = (RISK_FREEDOM + 1) / (RISK_FREEDOM + effect * effect / variance);
        rest = 1 / (sure + weight / variance);
        effect = sure * 0.2 * rest;
    }
    CU_ASSERT_DOUBLE_EQUAL(weight * (effect * effect + rest), variance, 1e-4);
    CU_ASSERT_DOUBLE_EQUAL(w.resource[RESOURCE_PRODUCTS], 0.176, 0.002);
    choices_rows_release(&rows);
    arena_release(&arena);
}

/* Probabilities by the law that made the rows beat both a sure and an ignorant guess,
 * and what is left out has no part in the widths. */
static void test_scores(void)
{
    struct arena arena;
    struct choices_rows rows;
    struct choices_score all = { 0 };
    arena_init(&arena);
    choices_rows_init(&rows, &arena);
    make_rows(&rows, 0.3, 0.08);
    for (int32_t s = 0; s < SOURCES; s++) {
        struct risk_widths w = choices_fit(&rows, s);
        struct choices_score one = choices_judge(&rows, s, &w);
        CU_ASSERT_EQUAL(one.n_jobs, JOBS);
        choices_add(&all, &one);
    }
    CU_ASSERT_EQUAL(all.n, SOURCES * JOBS * ALTERNATIVES);
    CU_ASSERT(all.brier < all.brier_point);
    CU_ASSERT(all.brier < all.brier_uniform);
    CU_ASSERT_DOUBLE_EQUAL(all.brier_uniform / (double)all.n_jobs, 0.9, 1e-9);
    for (int i = 0; i < CHOICES_BINS; i++) {
        double low, high;
        choices_bounds(&all.bins[i], &low, &high);
        if (all.bins[i].n >= 20)
            CU_ASSERT(all.bins[i].stated > low - 0.1 &&
                      all.bins[i].stated < high + 0.1);
    }
    struct risk_widths without = choices_fit(&rows, 3);
    for (int64_t i = 0; i < rows.list.n; i++)
        if (rows.list.v[i].source == 3)
            rows.list.v[i].error = 5;
    struct risk_widths again = choices_fit(&rows, 3);
    CU_ASSERT_EQUAL(memcmp(&without, &again, sizeof(again)), 0);
    choices_rows_release(&rows);
    arena_release(&arena);
}

/* What steps of alternatives are worth: measured in the order of their worth, they leave
 * less regret than in any order, and never more than without one. */
static void test_pilots(void)
{
    struct arena arena;
    struct choices_rows rows;
    struct choices_replay replay = { 0 };
    arena_init(&arena);
    choices_rows_init(&rows, &arena);
    make_rows(&rows, 0.3, 0.15);
    for (int32_t s = 0; s < 4; s++) {
        struct risk_widths w = choices_fit(&rows, s);
        choices_pilot(&replay, &rows, s, &w);
    }
    CU_ASSERT_EQUAL(replay.n_jobs, 4 * JOBS);
    CU_ASSERT_DOUBLE_EQUAL(replay.useful[0], replay.random[0], 1e-12);
    CU_ASSERT(replay.useful[0] > 0);
    CU_ASSERT(replay.useful[1] < replay.useful[0]);
    CU_ASSERT(replay.useful[CHOICES_PILOTS] < 0.5 * replay.useful[0]);
    for (int i = 1; i <= CHOICES_PILOTS; i++)
        CU_ASSERT(replay.useful[i] < replay.random[i]);
    /* of a job with too few alternatives to measure there is nothing to order */
    struct choices_replay none = { 0 };
    for (int64_t i = 0; i < rows.list.n; i++)
        rows.list.v[i].has_rate = i % ALTERNATIVES < CHOICES_PILOTS;
    choices_pilot(&none, &rows, 0, &risk_widths);
    CU_ASSERT_EQUAL(none.n_jobs, 0);
    choices_rows_release(&rows);
    arena_release(&arena);
}

/* A deviate of the normal law, of a number. */
static double deviate(uint64_t number)
{
    double u = ((double)(mix64(number) >> 11) + 0.5) * 0x1p-53;
    return gsl_cdf_ugaussian_Pinv(u);
}

/* By the law that made them as many fail as is stated, by a narrow one more. */
static void check_chances(const struct choices_rows *rows,
                          const struct risk_widths *made)
{
    struct risk_widths narrow = { .memory_own = 0.02 };
    struct choices_bin right[CHOICES_BINS] = { 0 }, sure[CHOICES_BINS] = { 0 };
    int64_t n = 0;
    for (int32_t s = 0; s < (int32_t)rows->sources.n; s++) {
        choices_judge_memory(right, rows, s, made);
        choices_judge_memory(sure, rows, s, &narrow);
    }
    for (int i = 0; i < CHOICES_BINS; i++) {
        double low, high;
        choices_bounds(&right[i], &low, &high);
        CU_ASSERT(right[i].n == 0 ||
                  (right[i].stated > low - 0.1 && right[i].stated < high + 0.1));
        n += right[i].n;
    }
    CU_ASSERT_EQUAL(n, rows->list.n - rows->list.n / (int64_t)rows->sources.n);
    CU_ASSERT((double)sure[0].n_true > 3 * sure[0].stated * (double)sure[0].n);
}

/* Sources of which only is known which of their runs failed: the law that they were made
 * with is found again. A source whose runs all ran says nothing. */
static void test_censored(void)
{
    enum { CENSORED = 20, RUNS = 80 };
    const double mean = 0.04, shared = 0.03, own = 0.05;
    struct arena arena;
    struct choices_rows rows;
    struct risk_widths w = { 0 };
    arena_init(&arena);
    choices_rows_init(&rows, &arena);
    for (int32_t s = 0; s <= CENSORED; s++) {
        VEC_PUSH(&rows.sources, "made");
        for (int32_t i = 0; i < RUNS; i++) {
            uint64_t number = (uint64_t)(s * RUNS + i);
            double need =
                mean + shared * deviate((uint64_t)s + 100000) + own * deviate(number);
            double room = 0.4 * ((double)i / RUNS - 0.4);
            bool runs = need <= room || s == CENSORED;
            struct choices_row r = { .source = s,
                                     .job = -1,
                                     .ran = runs ? CHOICES_RAN : CHOICES_FAILED };
            r.plan.peak_B = 1;
            r.plan.capacity_B = exp(room);
            VEC_PUSH(&rows.list, r);
        }
    }
    choices_fit_memory(&rows, -1, &w);
    CU_ASSERT_DOUBLE_EQUAL(w.memory_mean, mean, 0.015);
    CU_ASSERT_DOUBLE_EQUAL(w.memory_shared, shared, 0.015);
    CU_ASSERT_DOUBLE_EQUAL(w.memory_own, own, 0.015);
    check_chances(&rows, &w);
    struct risk_widths without = { 0 };
    choices_fit_memory(&rows, CENSORED, &without);
    CU_ASSERT_EQUAL(memcmp(&w, &without, sizeof(w)), 0);
    choices_rows_release(&rows);
    arena_release(&arena);
}

/* Clopper and Pearson's intervals: none of 10 is 0 to 25.9 %, 5 of 10 22.2 to 77.8 %. The
 * last is that of a Poisson law. */
static void test_bounds(void)
{
    static const struct {
        int64_t n, best;
        double low, high;
    } cases[] = { { 10, 0, 0, 0.2589 },
                  { 10, 5, 0.2224, 0.7776 },
                  { 10, 10, 0.7411, 1 },
                  { 2087, 6, 0.00125, 0.00567 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct choices_bin b = { cases[i].n, cases[i].best, 0 };
        double low, high;
        choices_bounds(&b, &low, &high);
        CU_ASSERT_DOUBLE_EQUAL(low, cases[i].low, 1e-4);
        CU_ASSERT_DOUBLE_EQUAL(high, cases[i].high, 1e-4);
    }
}

void test_choices_register(void)
{
    CU_pSuite suite = CU_add_suite("choices", NULL, NULL);
    CU_add_test(suite, "widths are found again in rows made with them", test_fit);
    CU_add_test(suite, "sources of two rows", test_few);
    CU_add_test(suite, "scores of probabilities", test_scores);
    CU_add_test(suite, "steps that are measured first", test_pilots);
    CU_add_test(suite, "memory, by runs that failed", test_censored);
    CU_add_test(suite, "intervals of shares", test_bounds);
}
