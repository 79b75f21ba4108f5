/* Ranks and groups: the examples of the SMP documentation, and every group of every
 * placement against a brute-force search. */
#include "layout/layout.h"

#include <CUnit/CUnit.h>
#include <stdbool.h>

void test_layout_register(void);

static const char *const placements[] = { "DPT", "DTP", "PDT", "PTD", "TDP", "TPD" };
enum { PLACEMENTS_N = 6, GROUPS_N = 5, MEMBERS_MAX = 64 };

/* clang-format off */
static const struct { const char *placement; int64_t rank, d, p, t; } documented[] = {
    /* 8 ranks, degrees 2/2/2: the tables of "Ranking mechanism" */
    { "DPT", 0, 0, 0, 0 }, { "DPT", 1, 0, 0, 1 }, { "DPT", 2, 0, 1, 0 },
    { "DPT", 3, 0, 1, 1 }, { "DPT", 4, 1, 0, 0 }, { "DPT", 7, 1, 1, 1 },
    { "PTD", 1, 1, 0, 0 }, { "PTD", 2, 0, 0, 1 }, { "PTD", 3, 1, 0, 1 },
    { "PTD", 4, 0, 1, 0 },
    /* the page without a placement string shows DTP */
    { "DTP", 1, 0, 1, 0 }, { "DTP", 2, 0, 0, 1 },
};

/* 8 ranks, two partitions, no tensor parallelism. */
static const struct {
    const char *placement; enum layout_group group; int64_t rank, n, members[4];
} documented_groups[] = {
    { "TPD", LAYOUT_MP, 0, 2, { 0, 4 } }, { "TPD", LAYOUT_MP, 1, 2, { 1, 5 } },
    { "TPD", LAYOUT_MP, 6, 2, { 2, 6 } }, { "TPD", LAYOUT_MP, 7, 2, { 3, 7 } },
    { "TPD", LAYOUT_DP, 3, 4, { 0, 1, 2, 3 } }, { "TPD", LAYOUT_DP, 4, 4, { 4, 5, 6, 7 } },
    { "DPT", LAYOUT_MP, 1, 2, { 0, 1 } }, { "DPT", LAYOUT_MP, 2, 2, { 2, 3 } },
    { "DPT", LAYOUT_MP, 5, 2, { 4, 5 } }, { "DPT", LAYOUT_MP, 6, 2, { 6, 7 } },
    { "DPT", LAYOUT_DP, 0, 4, { 0, 2, 4, 6 } }, { "DPT", LAYOUT_DP, 7, 4, { 1, 3, 5, 7 } },
};
/* clang-format on */

static void test_documented_ranks(void)
{
    for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
        struct layout l;
        CU_ASSERT_EQUAL_FATAL(layout_init(&l, documented[i].placement, 2, 2, 2), 0);
        struct layout_index at = layout_index(&l, documented[i].rank);
        CU_ASSERT_EQUAL(at.d, documented[i].d);
        CU_ASSERT_EQUAL(at.p, documented[i].p);
        CU_ASSERT_EQUAL(at.t, documented[i].t);
    }
}

static void test_documented_groups(void)
{
    for (size_t i = 0; i < sizeof(documented_groups) / sizeof(documented_groups[0]);
         i++) {
        struct layout l;
        CU_ASSERT_EQUAL_FATAL(layout_init(&l, documented_groups[i].placement, 4, 2, 1),
                              0);
        enum layout_group g = documented_groups[i].group;
        CU_ASSERT_EQUAL(layout_group_size(&l, g), documented_groups[i].n);
        for (int64_t k = 0; k < documented_groups[i].n; k++)
            CU_ASSERT_EQUAL(layout_group_member(&l, g, documented_groups[i].rank, k),
                            documented_groups[i].members[k]);
    }
}

/* Whether two ranks share a group, by its definition. */
static bool together(enum layout_group g, struct layout_index a, struct layout_index b)
{
    bool d = a.d == b.d, p = a.p == b.p, t = a.t == b.t;
    switch (g) {
    case LAYOUT_TP:
        return d && p;
    case LAYOUT_PP:
        return d && t;
    case LAYOUT_RDP:
        return p && t;
    case LAYOUT_DP:
        return p;
    case LAYOUT_MP:
        return d;
    }
    return false;
}

/* The members found by asking every rank of the world. */
static int64_t members_by_search(const struct layout *l, enum layout_group g,
                                 int64_t rank, int64_t members[MEMBERS_MAX])
{
    int64_t n = 0, world = l->data * l->pipeline * l->tensor;
    for (int64_t other = 0; other < world; other++)
        if (together(g, layout_index(l, rank), layout_index(l, other)))
            members[n++] = other;
    return n;
}

static void check_groups(const struct layout *l, int64_t rank)
{
    for (int g = 0; g < GROUPS_N; g++) {
        int64_t members[MEMBERS_MAX];
        int64_t n = members_by_search(l, (enum layout_group)g, rank, members);
        CU_ASSERT_EQUAL_FATAL(layout_group_size(l, (enum layout_group)g), n);
        for (int64_t i = 0; i < n; i++)
            CU_ASSERT_EQUAL(layout_group_member(l, (enum layout_group)g, rank, i),
                            members[i]);
        int64_t own = layout_group_rank(l, (enum layout_group)g, rank);
        CU_ASSERT_EQUAL(layout_group_member(l, (enum layout_group)g, rank, own), rank);
    }
}

static void check_degrees(const char *placement, int64_t d, int64_t p, int64_t t)
{
    struct layout l;
    CU_ASSERT_EQUAL_FATAL(layout_init(&l, placement, d, p, t), 0);
    bool seen[MEMBERS_MAX] = { false };
    for (int64_t rank = 0; rank < d * p * t; rank++) {
        struct layout_index at = layout_index(&l, rank);
        CU_ASSERT_TRUE(at.d < d && at.p < p && at.t < t);
        CU_ASSERT_EQUAL(layout_rank(&l, at), rank);
        int64_t cell = (at.d * p + at.p) * t + at.t;
        CU_ASSERT_FALSE(seen[cell]);
        seen[cell] = true;
        check_groups(&l, rank);
    }
}

static void test_all_placements(void)
{
    for (int i = 0; i < PLACEMENTS_N; i++)
        for (int64_t d = 1; d <= 4; d++)
            for (int64_t p = 1; p <= 4; p++)
                for (int64_t t = 1; t <= 4; t++)
                    check_degrees(placements[i], d, p, t);
}

/* The right-most letter makes neighbours. */
static void test_rightmost_is_fastest(void)
{
    for (int i = 0; i < PLACEMENTS_N; i++) {
        struct layout l;
        CU_ASSERT_EQUAL_FATAL(layout_init(&l, placements[i], 3, 5, 7), 0);
        struct layout_index a = layout_index(&l, 0), b = layout_index(&l, 1);
        char last = placements[i][2];
        CU_ASSERT_EQUAL(b.d - a.d, last == 'D');
        CU_ASSERT_EQUAL(b.p - a.p, last == 'P');
        CU_ASSERT_EQUAL(b.t - a.t, last == 'T');
    }
}

static void test_bad_placements(void)
{
    static const char *const bad[] = { "",    "DP",  "DPTD", "DDT", "DPX",
                                       "dpt", "DPP", "TTT",  " DP", "cluster" };
    struct layout l;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CU_ASSERT_EQUAL(layout_init(&l, bad[i], 2, 2, 2), -1);
}

/* Runs of every shape that fits divide the ranks of each stage among them: a rank is in
 * one run alone, which all its members find, in order of tensor, then data index. */
static void check_runs(const struct layout *l, int64_t n, int64_t apart)
{
    int64_t world = l->data * l->pipeline * l->tensor;
    for (int64_t rank = 0; rank < world; rank++) {
        struct layout_run r = layout_run_of(l, rank, n, apart);
        struct layout_index own = layout_index(l, rank);
        int64_t last = -1;
        bool found = false, alike = true;
        for (int64_t i = 0; i < n; i++) {
            int64_t member = layout_run_member(&r, i);
            struct layout_index at = layout_index(l, member);
            int64_t j = at.t + at.d * l->tensor;
            alike &= at.p == own.p && (last < 0 || j == last + apart) &&
                     layout_run_of(l, member, n, apart).first == r.first;
            found |= member == rank;
            last = j;
        }
        CU_ASSERT(alike && found);
    }
}

static void test_runs(void)
{
    int64_t n_fit = 0;
    for (int k = 0; k < PLACEMENTS_N; k++)
        for (int64_t tensor = 1; tensor <= 8; tensor *= 2)
            for (int64_t n = 1; n <= 24; n += n < 4 ? 1 : 4)
                for (int64_t apart = 1; apart <= 16; apart += apart < 4 ? 1 : 4) {
                    struct layout l;
                    layout_init(&l, placements[k], 48 / tensor, 2, tensor);
                    if (!layout_run_fits(&l, n, apart))
                        continue;
                    check_runs(&l, n, apart);
                    n_fit++;
                }
    CU_ASSERT(n_fit > 200);
    struct layout l; /* 3 of tensor 4 fill no tensor group */
    layout_init(&l, "DPT", 6, 1, 4);
    CU_ASSERT_FALSE(layout_run_fits(&l, 3, 1));
    CU_ASSERT_FALSE(layout_run_fits(&l, 3, 2));
    CU_ASSERT_FALSE(layout_run_fits(&l, 5, 4));
    CU_ASSERT_TRUE(layout_run_fits(&l, 3, 4));
}

void test_layout_register(void)
{
    CU_pSuite suite = CU_add_suite("layout", NULL, NULL);
    CU_ADD_TEST(suite, test_documented_ranks);
    CU_ADD_TEST(suite, test_runs);
    CU_ADD_TEST(suite, test_documented_groups);
    CU_ADD_TEST(suite, test_all_placements);
    CU_ADD_TEST(suite, test_rightmost_is_fastest);
    CU_ADD_TEST(suite, test_bad_placements);
}
