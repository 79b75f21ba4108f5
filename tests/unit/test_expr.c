/* Arithmetic of mappings: values, what is wrong and where, and that no text breaks
 * it. */
#include "validation/expr.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_expr_register(void);

/* {a} is 3, {b c} is 0.5, {zero} is 0, nothing else is there. */
static int column(void *arg, const char *name, size_t n, double *v, struct err *err)
{
    static const struct {
        const char *name;
        double value;
    } columns[] = { { "a", 3 }, { "b c", 0.5 }, { "zero", 0 } };
    (void)arg;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strlen(columns[i].name) == n && strncmp(columns[i].name, name, n) == 0) {
            *v = columns[i].value;
            return 0;
        }
    return err_set(err, "no column {%.*s}", (int)n, name);
}

static void test_values(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "1", 1 },
        { " 2.5e3 ", 2500 },
        { ".5", 0.5 },
        { "1 - 2 - 3", -4 },
        { "12 / 2 / 3", 2 },
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "-2 * -3", 6 },
        { "--2", 2 },
        { "- (1 + 1)", -2 },
        { "{a} / 1000", 0.003 },
        { "{a}*{b c}", 1.5 },
        { "{a} - -{b c}", 3.5 },
        { "min({a}, 2, 5)", 2 },
        { "max(1, {a})", 3 },
        { "max(7)", 7 },
        { "ceil({a} / 2)", 2 },
        { "floor(-0.5)", -1 },
        { "ceil(max(1, {b c}) * 2.1) + min(4, 3)", 6 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };
        double v = NAN;
        CU_ASSERT_EQUAL(expr_eval(cases[i].text, column, NULL, &v, &err), 0);
        CU_ASSERT_DOUBLE_EQUAL(v, cases[i].value, 1e-12);
        CU_ASSERT_EQUAL(expr_check(cases[i].text, column, NULL, &err), 0);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *text;
        int at;           /* character */
        const char *what; /* part of the message */
    } cases[] = {
        { "", 1, "ends" },
        { "1 +", 4, "ends" },
        { "(1", 3, "\")\"" },
        { "1 2", 3, "operator" },
        { "1)", 2, "operator" },
        { "{a", 1, "without" },
        { "2 * {nope}", 5, "no column {nope}" },
        { "sqrt(4)", 1, "no such function" },
        { "min 4", 5, "\"(\"" },
        { "ceil(1, 2)", 7, "\")\"" },
        { "1 / 0", 3, "division by zero" },
        { "{a} / ({zero} * 2)", 5, "division by zero" },
        { "0x10", 1, "decimal" },
        { "1e999", 1, "too large" },
        { "1e200 * 1e200", 1, "too large" },
        { ".", 1, "no number" },
        { "nan", 1, "no such function" },
        { "* 2", 1, "should be here" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };
        char place[32];
        double v = 42;
        CU_ASSERT_EQUAL(expr_eval(cases[i].text, column, NULL, &v, &err), -1);
        CU_ASSERT_EQUAL(v, 42);
        snprintf(place, sizeof(place), "character %d of", cases[i].at);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, place));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].what));
    }
}

/* A check looks at the form alone: what one row would divide by is not its business. */
static void test_check_ignores_values(void)
{
    struct err err = { 0 };
    CU_ASSERT_EQUAL(expr_check("1 / ({a} - 3)", column, NULL, &err), 0);
    CU_ASSERT_EQUAL(expr_check("1 / {nope}", column, NULL, &err), -1);
}

static void test_depth_is_limited(void)
{
    enum { N = 100000 };
    static char text[N + 1];
    static const char starts[] = "(-";
    for (const char *c = starts; *c; c++) {
        struct err err = { 0 };
        double v;
        memset(text, *c, N);
        CU_ASSERT_EQUAL(expr_eval(text, column, NULL, &v, &err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too deep"));
    }
    struct err err = { 0 };
    double v;
    memcpy(text, "((((((((((((((((((((1))))))))))))))))))))", 42);
    CU_ASSERT_EQUAL(expr_eval(text, column, NULL, &v, &err), 0);
}

/* Every string of four of these characters is taken or refused, with a place. */
static void test_any_text(void)
{
    static const char letters[] = "1.(){}a-/,m ";
    enum { L = sizeof(letters) - 1 };
    int n_wrong = 0;
    for (int i = 0; i < L * L * L * L; i++) {
        char text[] = { letters[i % L], letters[i / L % L], letters[i / L / L % L],
                        letters[i / L / L / L], '\0' };
        struct err err = { 0 };
        double v = 0;
        int rc = expr_eval(text, column, NULL, &v, &err);
        n_wrong += rc == 0 ? !isfinite(v) || err.set
                           : strncmp(err.text, "character ", 10) != 0;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
}

void test_expr_register(void)
{
    CU_pSuite suite = CU_add_suite("expr", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "errors and their places", test_errors);
    CU_add_test(suite, "a check ignores values", test_check_ignores_values);
    CU_add_test(suite, "depth is limited", test_depth_is_limited);
    CU_add_test(suite, "any text", test_any_text);
}
