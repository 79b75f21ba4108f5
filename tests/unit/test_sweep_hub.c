/* Which points the ranks of a sweep are given: each is done once, by others where a rank
 * is lost, and no point goes to more ranks than it may end. */
#include "base/xmalloc.h"
#include "sweep/sweep_hub.h"

#include <CUnit/CUnit.h>

void test_sweep_hub_register(void);

enum { RANKS = 5, POINTS = 1000 };

/* Points 0, 3, 6, ... as a shard may have them. */
static void make_hub(struct sweep_hub *h, int64_t n)
{
    struct sweep_todo todo = { n, xcalloc((size_t)n + 1, sizeof(*todo.points)) };
    for (int64_t i = 0; i < n; i++)
        todo.points[i] = 3 * i;
    sweep_hub_init(h, todo, RANKS);
}

/* The records of a rank's batch of n come; counts how often each is the first. */
static void take_all(struct sweep_hub *h, int rank, int64_t n, int firsts[POINTS])
{
    for (int64_t i = 0; i < n; i++) {
        int64_t point = sweep_hub_point(h, rank, i);
        CU_ASSERT_EQUAL_FATAL(point % 3, 0);
        firsts[point / 3] += sweep_hub_take(h, rank, i);
    }
}

static bool is_each_once(const int firsts[POINTS], int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (firsts[i] != 1)
            return false;
    return true;
}

/* Batches are as large as wanted at first, get smaller, and end one by one. */
static void test_batches(void)
{
    struct sweep_hub h;
    int firsts[POINTS] = { 0 };
    int64_t last = 40, n, total = 0, batches = 0;
    make_hub(&h, POINTS);
    for (int rank = 1; (n = sweep_hub_give(&h, rank, 40)) > 0; rank = rank % 4 + 1) {
        CU_ASSERT(n <= last);
        last = n;
        total += n;
        batches++;
        take_all(&h, rank, n, firsts);
    }
    CU_ASSERT_EQUAL(last, 1);
    CU_ASSERT_EQUAL(total, POINTS);
    CU_ASSERT_EQUAL(h.n_done, POINTS);
    CU_ASSERT(is_each_once(firsts, POINTS));
    CU_ASSERT(batches > 40 && batches < 90);
    sweep_hub_release(&h);
}

/* A rank is lost with what it was given: the others do that too, once. */
static void test_lost_rank(void)
{
    struct sweep_hub h;
    int firsts[POINTS] = { 0 };
    int64_t lost, n;
    make_hub(&h, POINTS);
    lost = sweep_hub_give(&h, 1, 30);
    CU_ASSERT_EQUAL(lost, 30);
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 1, 29), 87);
    for (int rank = 2; (n = sweep_hub_give(&h, rank, 30)) > 0;
         rank = rank == 4 ? 2 : rank + 1)
        take_all(&h, rank, n, firsts);
    CU_ASSERT_EQUAL(h.n_done, POINTS);
    CU_ASSERT(is_each_once(firsts, POINTS));
    /* it was slow, not lost: its records are no news */
    for (int64_t i = 0; i < lost; i++)
        CU_ASSERT(!sweep_hub_take(&h, 1, i));
    CU_ASSERT_EQUAL(h.n_done, POINTS);
    sweep_hub_release(&h);
}

/* What nobody sends goes to three ranks in all; the fewest copies go first, a quarter of
 * what is wanted at a time. */
static void test_copies(void)
{
    struct sweep_hub h;
    make_hub(&h, 12);
    CU_ASSERT_EQUAL(sweep_hub_give(&h, 1, 8), 1); /* a share of 12 among 10 */
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 1, 0), 0);
    for (int i = 1; i < 12; i++)
        CU_ASSERT_EQUAL(sweep_hub_give(&h, 2, 1), 1);
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 2, 0), 33);
    for (int i = 0; i < 6; i++) /* second copies, of two each */
        CU_ASSERT_EQUAL(sweep_hub_give(&h, 3, 8), 2);
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 3, 1), 33);
    CU_ASSERT(sweep_hub_take(&h, 3, 1));
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(sweep_hub_give(&h, 4, 8), 2);
    CU_ASSERT_EQUAL(sweep_hub_give(&h, 4, 8), 1); /* the twelfth is done */
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 4, 0), 30);
    CU_ASSERT_EQUAL(sweep_hub_give(&h, 1, 8), 0);
    CU_ASSERT_EQUAL(HUB_COPIES, 3);
    sweep_hub_release(&h);
}

/* No rank is needed for nothing; a batch may be larger than the room that it begins
 * with. */
static void test_bounds(void)
{
    struct sweep_hub h;
    make_hub(&h, 0);
    CU_ASSERT_EQUAL(sweep_hub_give(&h, 1, 8), 0);
    sweep_hub_release(&h);
    make_hub(&h, POINTS);
    CU_ASSERT_EQUAL(sweep_hub_give(&h, 1, INT64_MAX), POINTS / (2 * RANKS));
    CU_ASSERT_EQUAL(sweep_hub_point(&h, 1, 99), 297);
    sweep_hub_release(&h);
}

void test_sweep_hub_register(void)
{
    CU_pSuite suite = CU_add_suite("sweep_hub", NULL, NULL);
    CU_add_test(suite, "batches", test_batches);
    CU_add_test(suite, "a rank that is lost", test_lost_rank);
    CU_add_test(suite, "copies of points", test_copies);
    CU_add_test(suite, "none, and very many", test_bounds);
}
