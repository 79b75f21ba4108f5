/* The table of releases: what it says agrees with the tables of other layers, and what
 * messages name is what it says. */
#include "base/strbuf.h"
#include "cost/nccl.h"
#include "scenario/releases.h"
#include "scenario/scenario.h"
#include "scenario/versions.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_releases_register(void);

/* NCCL's constants are of the releases that are said to be known. */
static void test_nccl_range(void)
{
    const char *newest = nccl_version_name(nccl_version_get(NULL));
    const char *oldest = nccl_version_name(nccl_version_get("0.1"));
    CU_ASSERT_STRING_EQUAL(newest, release_newest("nccl"));
    char range[64];
    struct arena arena;
    arena_init(&arena);
    snprintf(range, sizeof(range), "(%s to %s are)", oldest, newest);
    CU_ASSERT_PTR_NOT_NULL(strstr(release_unsure(&arena, "nccl", "99.9"), range));
    arena_release(&arena);
    CU_ASSERT_PTR_NULL(release_newest("cuda"));
}

/* A fact holds from its first release to its last, and where none is known. */
static void test_facts(void)
{
    for (int f = 0; f < RELEASE_FACTS; f++) {
        enum release_fact fact = (enum release_fact)f;
        const char *first = release_first(fact), *last = release_last(fact);
        CU_ASSERT_TRUE(release_has(fact, NULL));
        CU_ASSERT_TRUE_FATAL(first || last);
        CU_ASSERT_EQUAL(release_has(fact, "0.0.1"), !first);
        CU_ASSERT_EQUAL(release_has(fact, "999"), !last);
        CU_ASSERT_TRUE(!first || release_has(fact, first));
        CU_ASSERT_TRUE(!last || release_has(fact, last));
        CU_ASSERT_PTR_NOT_NULL(strstr(release_needs(fact), last ? last : first));
    }
}

/* What a container brings has been released; lists are in order. */
static void test_containers(void)
{
    static const char *const pytorch[] = { "1.5", "1.6",   "1.13.1", "2.0.1", "2.2.0",
                                           "2.3", "2.3.1", "2.4.1",  "2.5.1", "2.9" };
    const char *before[2] = { "0", "0" };
    for (size_t i = 0; i < sizeof(pytorch) / sizeof(pytorch[0]); i++) {
        const char *smp = release_brought("smp", pytorch[i], NULL);
        const char *hf = release_brought("transformers", pytorch[i], NULL);
        bool second = version_compare(pytorch[i], release_brought_first("smp")) >= 0;
        CU_ASSERT_EQUAL(smp != NULL, second);
        CU_ASSERT_TRUE(version_compare(hf, before[1]) >= 0);
        before[1] = hf;
        if (!smp)
            continue;
        CU_ASSERT_EQUAL(release_smp_generation(smp), 2);
        CU_ASSERT_EQUAL(version_compare(release_smp_nearest(smp), smp), 0);
        CU_ASSERT_TRUE(version_compare(smp, before[0]) >= 0);
        before[0] = smp;
    }
    CU_ASSERT_STRING_EQUAL(release_brought("python", "1.13.1", NULL), "py39");
    CU_ASSERT_STRING_EQUAL(release_brought("python", "2.2.0", NULL), "py310");
    CU_ASSERT_STRING_EQUAL(release_brought("python", "2.5.1", NULL), "py311");
}

/* New jobs' containers exist: SMP v2's is one that has it, SMP v1's is of PyTorch 1. */
static void test_defaults(void)
{
    bool exact;
    CU_ASSERT_PTR_NOT_NULL(
        release_brought("smp", release_pytorch_default(true), &exact));
    CU_ASSERT_TRUE(exact);
    CU_ASSERT_FALSE(release_has(RELEASE_PYTORCH_2, release_pytorch_default(false)));
}

/* Each message of two p4d.24xlarge names the release at which its rule ends, and the next
 * release passes. */
static void test_messages(void)
{
    static const struct {
        const char *key, *last, *next, *parameters, *text;
    } rows[] = {
        { "sagemaker_sdk", "2.199.0", "2.200.0", "'pipeline_parallel_degree': 2",
          "up to release 2.199.0" },
        { "smp", "1.14", "1.15",
          "'tensor_parallel_degree': 2, 'sharded_data_parallel_degree': 2, "
          "'prescaled_batch': True",
          "from SMP 1.15 on" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int next = 0; next < 2; next++) {
            struct cfg_loader l;
            struct scenario s;
            struct strbuf text;
            strbuf_init(&text);
            cfg_loader_init(&l);
            strbuf_printf(
                &text,
                "{ 'model': 'gpt2-xl', 'cluster': { 'instance': 'p4d.24xlarge', "
                "'count': 2 }, 'training': { 'sequence_length': 512, "
                "'micro_batch_size': 4 }, 'software': { "
                "'%s': '%s' }, 'distribution': { 'mpi': { 'enabled': True, "
                "'processes_per_host': 8 }, 'smdistributed': { 'modelparallel': { "
                "'enabled': True, 'parameters': { 'ddp': True, %s } } } } }",
                rows[i].key, next ? rows[i].next : rows[i].last, rows[i].parameters);
            int rc = scenario_read(
                &s, &l,
                cfg_parse(&l, "text", strbuf_get(&text), strlen(strbuf_get(&text))));
            CU_ASSERT_EQUAL_FATAL(rc, next ? 0 : -1);
            if (!next)
                CU_ASSERT_PTR_NOT_NULL(
                    strstr(diags_error_text(&l.diags, 0), rows[i].text));
            strbuf_release(&text);
            cfg_loader_release(&l);
        }
}

void test_releases_register(void)
{
    CU_pSuite suite = CU_add_suite("releases", NULL, NULL);
    CU_ADD_TEST(suite, test_nccl_range);
    CU_ADD_TEST(suite, test_facts);
    CU_ADD_TEST(suite, test_containers);
    CU_ADD_TEST(suite, test_defaults);
    CU_ADD_TEST(suite, test_messages);
}
