#include "base/units.h"

#include <CUnit/CUnit.h>

void test_units_register(void);

static void test_quantities(void)
{
    static const struct {
        const char *text;
        enum unit_kind kind;
        double value;
    } cases[] = {
        { "8", UNIT_NONE, 8 },
        { "-.5e1", UNIT_NONE, -5 },
        { "40GiB", UNIT_BYTES, 42949672960.0 },
        { "40536MiB", UNIT_BYTES, 42505076736.0 },
        { "40 GB ", UNIT_BYTES, 40e9 },
        { "8Kib", UNIT_BYTES, 1024 },
        { "1b", UNIT_BYTES, 0.125 },
        { "5.kB", UNIT_BYTES, 5000 },
        { "17us", UNIT_SECONDS, 17e-6 },
        { "3ps", UNIT_SECONDS, 3e-12 },
        { "2min", UNIT_SECONDS, 120 },
        { "1.5h", UNIT_SECONDS, 5400 },
        { "1d", UNIT_SECONDS, 86400 },
        { "400Gb/s", UNIT_BYTES_PER_S, 50e9 },
        { "400Gbps", UNIT_BYTES_PER_S, 50e9 },
        { "1.555TB/s", UNIT_BYTES_PER_S, 1.555e12 },
        { "2GiB/s", UNIT_BYTES_PER_S, 2147483648.0 },
        { "312TFLOP/s", UNIT_FLOP_PER_S, 312e12 },
        { "1410MHz", UNIT_HERTZ, 1410e6 },
        { "0.4kW", UNIT_WATTS, 400 },
        { "31.22USD/h", UNIT_USD_PER_HOUR, 31.22 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double value = -1;
        const char *why = NULL;
        CU_ASSERT_EQUAL(units_parse(cases[i].text, cases[i].kind, &value, &why), 0);
        CU_ASSERT_EQUAL(value, cases[i].value);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *text;
        enum unit_kind kind;
        const char *why;
    } cases[] = {
        { "400", UNIT_BYTES_PER_S, "has no unit (write for example \"400Gb/s\")" },
        { "40", UNIT_BYTES, "has no unit (write for example \"40GiB\")" },
        { "", UNIT_BYTES,
          "does not begin with a number (write for example \"40GiB\")" },
        { "GiB", UNIT_BYTES,
          "does not begin with a number (write for example \"40GiB\")" },
        { "inf s", UNIT_SECONDS,
          "does not begin with a number (write for example \"17us\")" },
        { "nan", UNIT_NONE, "does not begin with a number (write for example \"8\")" },
        { "0x10B", UNIT_BYTES, "has an unknown unit (write for example \"40GiB\")" },
        { "400gb/s", UNIT_BYTES_PER_S,
          "has an unknown unit (write for example \"400Gb/s\")" },
        { "17us", UNIT_BYTES, "has an unknown unit (write for example \"40GiB\")" },
        { "17Kus", UNIT_SECONDS, "has an unknown unit (write for example \"17us\")" },
        { "1KiHz", UNIT_HERTZ, "has an unknown unit (write for example \"1410MHz\")" },
        { "1GiB x", UNIT_BYTES, "has an unknown unit (write for example \"40GiB\")" },
        { "1,000B", UNIT_BYTES, "has an unknown unit (write for example \"40GiB\")" },
        { "1e400s", UNIT_SECONDS, "is too large (write for example \"17us\")" },
        { "1e308TB", UNIT_BYTES, "is too large (write for example \"40GiB\")" },
        { "8GiB", UNIT_NONE, "takes no unit (write for example \"8\")" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double value = -1;
        const char *why = "accepted";
        CU_ASSERT_EQUAL(units_parse(cases[i].text, cases[i].kind, &value, &why), -1);
        CU_ASSERT_EQUAL(value, -1);
        CU_ASSERT_STRING_EQUAL(why, cases[i].why);
    }
}

static void test_examples_parse(void)
{
    for (int kind = UNIT_NONE; kind <= UNIT_USD_PER_HOUR; kind++) {
        double value = 0;
        const char *why;
        const char *example = units_example((enum unit_kind)kind);
        CU_ASSERT_EQUAL(units_parse(example, (enum unit_kind)kind, &value, &why), 0);
        CU_ASSERT(value > 0);
    }
}

static void test_clock(void)
{
    static const struct {
        double seconds;
        int64_t ps;
    } cases[] = {
        { 0, 0 },
        { 1, 1000000000000 },
        { 17e-6, 17000000 },
        { 1e-12, 1 },
        { 0.2e-12, 1 },
        { 1.0001e-12, 2 },
        { 1.5e-9, 1500 },
        { -1.5e-12, -1 },
        { 1e300, INT64_C(1) << 62 },
        { 0.1 + 0.2, 300000000000 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CU_ASSERT_EQUAL(units_ps(cases[i].seconds), cases[i].ps);
    CU_ASSERT_EQUAL(units_ps(-1e300), -(INT64_C(1) << 62));
    CU_ASSERT_EQUAL(units_s(2500000000000), 2.5);
    uint64_t x = 1;
    for (int i = 0; i < 10000; i++) { /* every clock value comes back */
        x = x * 6364136223846793005u + 1442695040888963407u;
        int64_t ps = (int64_t)(x >> (14 + i % 40));
        CU_ASSERT_EQUAL_FATAL(units_ps(units_s(ps)), ps);
    }
}

static void test_texts(void)
{
    static const struct {
        char *(*text)(char *, double);
        double value;
        const char *expect;
    } cases[] = {
        { units_time_text, 1.9204, "1.92 s" },
        { units_time_text, 0, "0 s" },
        { units_time_text, 17e-6, "17 us" },
        { units_time_text, 0.99996e-3, "1 ms" },
        { units_time_text, 123.4e-3, "123 ms" },
        { units_time_text, 5400, "1.5 h" },
        { units_time_text, -0.25, "-250 ms" },
        { units_bytes_text, 512, "512 B" },
        { units_bytes_text, 33715493273.0, "31.4 GiB" },
        { units_bytes_text, 1048575, "1 MiB" },
        { units_bytes_text, 1000 * 1024.0, "1000 KiB" },
        { units_rate_text, 12.5e9, "12.5 GB/s" },
        { units_rate_text, 999.7e6, "1 GB/s" },
        { units_flops_text, 312e12, "312 TFLOP/s" },
    };
    char buf[UNITS_TEXT_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CU_ASSERT_STRING_EQUAL(cases[i].text(buf, cases[i].value), cases[i].expect);
}

/* What units_text writes, units_parse reads as the same value to six digits. */
static void test_text_parses(void)
{
    for (int kind = UNIT_NONE; kind <= UNIT_USD_PER_HOUR; kind++) {
        for (double v = 1.23456e-6; v < 1e16; v *= 7.3) {
            char buf[UNITS_TEXT_MAX];
            const char *why;
            double back = 0;
            units_text(buf, (enum unit_kind)kind, v);
            CU_ASSERT_EQUAL_FATAL(units_parse(buf, (enum unit_kind)kind, &back, &why),
                                  0);
            CU_ASSERT_DOUBLE_EQUAL(back / v, 1, 1e-5);
        }
    }
}

/* No exponent where people read it. */
static void test_plain_numbers(void)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        { 0, 4, "0" },
        { 108.2149, 6, "108.215" },
        { 26374.3, 4, "26374" },
        { 1234567.8, 6, "1234568" },
        { 0.00925, 3, "0.00925" },
        { 0.0000123, 3, "0.0000123" },
        { -99999.6, 4, "-100000" },
        { 1e15, 4, "1e+15" },
        { 99.995, 3, "100" },
    };
    static const struct {
        double value;
        const char *text;
    } counts[] = { { 999, "999" },
                   { 41943, "41943" },
                   { 8388608, "8.389 million" },
                   { 2.973e8, "297.3 million" },
                   { 1.2e10, "12 billion" },
                   { 3e12, "3 trillion" } };
    char buf[UNITS_TEXT_MAX], range[UNITS_RANGE_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CU_ASSERT_STRING_EQUAL(units_number_text(buf, cases[i].value, cases[i].digits),
                               cases[i].text);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        CU_ASSERT_STRING_EQUAL(units_count_text(buf, counts[i].value), counts[i].text);
    CU_ASSERT_STRING_EQUAL(
        units_time_range_text(range, (double[]) { 50.9, 77.4 }, 60.6), "50.9-77.4");
    CU_ASSERT_STRING_EQUAL(
        units_time_range_text(range, (double[]) { 101.8, 154.8 }, 121.2), "1.7-2.58");
    CU_ASSERT_STRING_EQUAL(
        units_time_range_text(range, (double[]) { 0.843, 1.279 }, 0.902), "843-1279");
    CU_ASSERT_STRING_EQUAL(units_time_range_text(range, (double[]) { 0, 0 }, 0), "0-0");
}

void test_units_register(void)
{
    CU_pSuite suite = CU_add_suite("units", NULL, NULL);
    CU_add_test(suite, "quantities", test_quantities);
    CU_add_test(suite, "refused quantities", test_refused);
    CU_add_test(suite, "examples parse", test_examples_parse);
    CU_add_test(suite, "clock", test_clock);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "numbers without exponents", test_plain_numbers);
    CU_add_test(suite, "texts parse", test_text_parses);
}
