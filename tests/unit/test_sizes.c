/* smsim collective --bytes: which sizes its words ask for, and what it says of others. */
#include "cmd/collective_call.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_sizes_register(void);

static void test_taken(void)
{
    static const struct {
        const char *text;
        double min, max, factor;
    } cases[] = {
        { NULL, 8, 0x1p30, 2 },
        { "1", 1, 1, 2 },
        { "8M", 0x1p23, 0x1p23, 2 },
        { "2K:1G", 0x1p11, 0x1p30, 2 },
        { "1T", 0x1p40, 0x1p40, 2 },
        { "1MB:1GiB:4", 1e6, 0x1p30, 4 },
        { "100:100:1.5", 100, 100, 1.5 },
        { "1PiB", 0x1p50, 0x1p50, 2 },
        { "1:1GiB:1.01", 1, 0x1p30, 1.01 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collective_sizes s;
        struct err err = { 0 };
        CU_ASSERT_EQUAL(collective_sizes_read(cases[i].text, &s, &err), 0);
        if (err.set)
            printf("%s: %s\n", cases[i].text, err.text);
        CU_ASSERT_EQUAL(s.min, cases[i].min);
        CU_ASSERT_EQUAL(s.max, cases[i].max);
        CU_ASSERT_EQUAL(s.factor, cases[i].factor);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "--bytes" },
        { "8KK", "--bytes: \"8KK\"" },
        { "K", "--bytes: \"K\"" },
        { "0.5", "is not from 1 B to 1 PiB" },
        { "0", "is not from 1 B to 1 PiB" },
        { "nan", "is not from 1 B to 1 PiB" },
        { "2PiB", "is not from 1 B to 1 PiB" },
        { "8:x", "--bytes: \"x\"" },
        { "8:", "--bytes" },
        { "9:8", "the largest size is below the smallest" },
        { "8:9:1", "the factor must be a number above 1" },
        { "8:9:inf", "the factor must be a number above 1" },
        { "8:9:nan", "the factor must be a number above 1" },
        { "8:9:", "the factor must be a number above 1" },
        { "8:9:2x", "the factor must be a number above 1" },
        { "8:9:2:3", "the factor must be a number above 1" },
        { "1:1GiB:1.002", "more than 10000 sizes" },
        { "8888888888888888888888888888888888888888888888888888888888888888888888888888"
          "8"
          "8888888888888888888888888888888888888888888888888888",
          "--bytes is too long" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collective_sizes s;
        struct err err = { 0 };
        CU_ASSERT_EQUAL(collective_sizes_read(cases[i].text, &s, &err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].says));
        if (!strstr(err.text, cases[i].says))
            printf("%s says: %s\n", cases[i].text, err.text);
    }
}

void test_sizes_register(void)
{
    CU_pSuite s = CU_add_suite("sizes", NULL, NULL);
    CU_ADD_TEST(s, test_taken);
    CU_ADD_TEST(s, test_refused);
}
