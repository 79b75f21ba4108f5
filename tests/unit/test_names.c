#include "base/names.h"

#include <CUnit/CUnit.h>

void test_names_register(void);

static const struct name_value links[] = {
    { "nvlink", 3 },           { "pcie", 5 }, { "ena", 7 }, { "efa", 8 }, { "nvl", 3 },
    { "micro_batch_size", 9 }, { NULL, 0 },
};

static void test_tables(void)
{
    int value = -4;
    CU_ASSERT_STRING_EQUAL(names_of(links, 5), "pcie");
    CU_ASSERT_STRING_EQUAL(names_of(links, 3), "nvlink"); /* the first of two */
    CU_ASSERT_STRING_EQUAL(names_of(links, 6), "?");
    CU_ASSERT_EQUAL(names_find(links, "nvl", &value), 0);
    CU_ASSERT_EQUAL(value, 3);
    value = -4;
    CU_ASSERT_EQUAL(names_find(links, "NVL", &value), -1);
    CU_ASSERT_EQUAL(value, -4);
}

static void test_distances(void)
{
    static const struct {
        const char *a, *b;
        int edits;
    } cases[] = {
        { "", "", 0 },           { "", "abc", 3 },           { "abc", "abc", 0 },
        { "abc", "abd", 1 },     { "abc", "ac", 1 },         { "ab", "ba", 1 },
        { "ca", "abc", 3 },      { "kitten", "sitting", 3 }, { "abcd", "badc", 2 },
        { "a cat", "a act", 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CU_ASSERT_EQUAL(names_distance(cases[i].a, cases[i].b), cases[i].edits);
        CU_ASSERT_EQUAL(names_distance(cases[i].b, cases[i].a), cases[i].edits);
    }
}

static void test_nearest(void)
{
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        { "micro_bach_size", "micro_batch_size" },
        { "microbatchsize", "micro_batch_size" },
        { "PCIE", "pcie" },
        { "pice", "pcie" },
        { "nvlnk", "nvlink" },
        { "ea", "ena" }, /* one edit from efa, too: the first of the table */
        { "ex", NULL },  /* two of three letters would change */
        { "batch", NULL },
        { "efa-2024", "efa" }, /* goes on from it */
        { "micro", "micro_batch_size" },
        { "efabric", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *found = names_nearest(links, cases[i].word);
        CU_ASSERT_STRING_EQUAL(found ? found : "none",
                               cases[i].nearest ? cases[i].nearest : "none");
    }
}

void test_names_register(void)
{
    CU_pSuite suite = CU_add_suite("names", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "distances", test_distances);
    CU_add_test(suite, "nearest", test_nearest);
}
