/* The space of plans: the counter against brute force, the neighbours of a point, why it
 * is empty, the prices of its instances; and what is kept of a stream against sorting. */
#include "plan_bench.h"
#include "search/plan/best.h"
#include "search/plan/near.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

void test_space_register(void);

/* --- the counter ------------------------------------------------------------------ */

/* Next number of mixed radix; false after the last. */
static bool count_up(const struct space *s, struct space_point *p)
{
    for (int f = SPACE_N - 1; f >= 0; f--) {
        if (++p->at[f] < s->n[f])
            return true;
        p->at[f] = 0;
    }
    return false;
}

static void test_counter(void)
{
    static const struct raw_job words = {
        .model = "gpt2",
        .instances = "p3.8xlarge",
        .count = "1..2",
        .batch = 16,
        .sequence = 128,
        .allows = { "micro_batch_size=1,2", "pipeline=1,2,4", "virtual_stages=1,3",
                    "bucket_size=25MiB", "tensor=1,2,4" },
    };
    struct planned x;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    const struct space *s = &x.job.space;
    int64_t counted = 0, brute = 0;
    struct space_point last = { 0 }, p = { 0 };
    for (int64_t i = 0; i < space_slices(s); i++) {
        struct space_iter it;
        space_iter_init(&it, s, i);
        while (space_next(&it)) {
            if (counted++)
                CU_ASSERT_EQUAL(space_compare(&last, &it.p), -1);
            last = it.p;
        }
    }
    do {
        struct space_point q = p;
        brute += space_fill(s, &q);
    } while (count_up(s, &p));
    CU_ASSERT_EQUAL(counted, brute);
    CU_ASSERT(counted > 50);
    close_job(&x);
}

/* --- attention that is recomputed alone -------------------------------------------- */

/* DeepSpeed's pipelines are Megatron's layers with their scores in memory; its other jobs
 * are transformers' with fused attention, which has nothing to recompute so. */
static void test_split(void)
{
    static const struct raw_job words = { .model = "gpt2",
                                          .instances = "p4d.24xlarge",
                                          .count = "1",
                                          .batch = 16,
                                          .sequence = 128,
                                          .stacks = 1 << STACK_DEEPSPEED,
                                          .allows = { "pipeline=1,2", "tensor=1,2" } };
    struct planned x;
    int64_t found[SPACE_SHAPES] = { 0 };
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    for (int64_t i = 0; i < space_slices(&x.job.space); i++) {
        struct space_iter it;
        space_iter_init(&it, &x.job.space, i);
        while (space_next(&it)) {
            const int64_t *v = it.p.v;
            found[(v[SPACE_TENSOR] > 1) + 2 * (v[SPACE_PIPELINE] > 1)] +=
                v[SPACE_CHECKPOINTING] == CHECKPOINT_SELECTIVE;
        }
    }
    CU_ASSERT_EQUAL(found[0], 0);
    for (int shape = 1; shape < SPACE_SHAPES; shape++)
        CU_ASSERT(found[shape] > 0);
    close_job(&x);
}

/* --- neighbours ------------------------------------------------------------------- */

/* Each is one digit away, and is the nearest on its side that the rules allow. */
static void check_neighbour(const struct space *s, const struct space_point *from,
                            const struct plan_near *near)
{
    struct space_point q = *from;
    int step = near->point.at[near->field] > from->at[near->field] ? 1 : -1;
    for (int f = 0; f < SPACE_N; f++)
        CU_ASSERT((near->point.at[f] == from->at[f]) == (f != (int)near->field));
    for (int d = from->at[near->field] + step; d != near->point.at[near->field];
         d += step) {
        q.at[near->field] = (uint16_t)d;
        CU_ASSERT_FALSE(space_fill(s, &q));
    }
}

static void test_near(void)
{
    static const struct raw_job words = {
        .model = "gpt2",
        .instances = "p3.16xlarge",
        .count = "2",
        .batch = 64,
        .sequence = 128,
        .allows = { "library=megatron", "tensor=1,2,4", "pipeline=1,2,3,4",
                    "micro_batch_size=1,2,4" },
    };
    struct planned x;
    open_job(&x, &words);
    CU_ASSERT_EQUAL_FATAL(x.rc, 0);
    const struct space *s = &x.job.space;
    int sides[2] = { 0 }, middle = 0;
    for (int64_t i = 0; i < space_slices(s); i++) {
        struct space_iter it;
        space_iter_init(&it, s, i);
        while (space_next(&it)) {
            struct plan_near near[PLAN_NEAR_MAX];
            int32_t n = plan_near(near, s, &it.p), tensors = 0;
            for (int32_t k = 0; k < n; k++) {
                check_neighbour(s, &it.p, &near[k]);
                sides[near[k].point.at[near[k].field] > it.p.at[near[k].field]]++;
                tensors += near[k].field == SPACE_TENSOR;
            }
            middle += it.p.v[SPACE_TENSOR] == 2 && tensors == 2;
        }
    }
    CU_ASSERT(sides[0] > 50 && sides[0] == sides[1]);
    CU_ASSERT(middle > 10);
    close_job(&x);
}

/* --- what is kept ----------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
    return candidate_compare(a, b);
}

static void test_best(void)
{
    enum { N = 500, KEPT = 37 };
    static struct candidate all[N];
    struct best b = { .most = KEPT }, c = { .most = KEPT };
    uint32_t random = 12345;
    for (int i = 0; i < N; i++) {
        random = random * 1664525u + 1013904223u;
        all[i] = (struct candidate) { .value = (double)(random >> 24) };
        all[i].at[0] = (uint16_t)i;
        best_offer(i % 3 ? &b : &c, &all[i]);
    }
    best_merge(&b, &c);
    best_sort(&b);
    qsort(all, N, sizeof(*all), by_order);
    CU_ASSERT_EQUAL(b.n, KEPT);
    for (int i = 0; i < KEPT; i++)
        CU_ASSERT_EQUAL(candidate_compare(&b.v[i], &all[i]), 0);
    best_release(&b);
    best_release(&c);
}

/* --- prices ----------------------------------------------------------------------- */

static void test_prices(void)
{
    static const struct {
        const char *instances, *price;
        bool noted;
        double usd; /* of the first, and its date */
        const char *date;
    } cases[] = {
        { "p4d.24xlarge", NULL, false, 21.957642, "2026-07-20" },
        { "ml.p4d.24xlarge", NULL, false, 37.688, "2021-2025" },
        { "p4d.24xlarge,p5.48xlarge", NULL, false, 21.957642, "2026-07-20" },
        { "p5.48xlarge,p5e.48xlarge", NULL, true, 55.04, "2026-07-20" },
        { "ml.p4de.24xlarge,ml.g5.12xlarge", NULL, false, 47.11, "2022-2025" },
        { "p4d.24xlarge", "p4d.24xlarge=10", false, 10, "yours" },
        { "p4d.24xlarge", "p4d.24xlarge=12.5USD/h", false, 12.5, "yours" },
        { "p4d.24xlarge,p5.48xlarge", "p4d.24xlarge=10", true, 10, "yours" },
        { "p4d.24xlarge,ml.p4d.24xlarge", NULL, true, 21.957642, "2026-07-20" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *prices[] = { cases[i].price };
        const struct plan_request r = { .model = "gpt2",
                                        .instances = cases[i].instances,
                                        .global_batch = 64,
                                        .sequence = 128,
                                        .prices = { cases[i].price ? 1 : 0, prices } };
        struct planned x;
        cfg_loader_init(&x.loader);
        CU_ASSERT_EQUAL(plan_job_init(&x.job, &x.loader, &r), 0);
        CU_ASSERT_EQUAL(x.job.price_note != NULL, cases[i].noted);
        const struct space_instance *first = &x.job.space.instances[0];
        CU_ASSERT_DOUBLE_EQUAL(first->usd_per_hour, cases[i].usd, 1e-9);
        CU_ASSERT_STRING_EQUAL(first->price_date, cases[i].date);
        close_job(&x);
    }
}

/* --- layers ------------------------------------------------------------------------ */

/* A decoder's layers are stages' as an encoder's are. */
static void test_layers(void)
{
    static const struct {
        const char *model;
        int64_t layers;
    } cases[] = { { "gpt2", 12 }, { "t5-small", 6 + 6 }, { "bert-large-uncased", 24 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct raw_job words = { cases[i].model, "p4d.24xlarge", "1", 64, 128, 0,
                                       { NULL } };
        struct planned x;
        open_job(&x, &words);
        CU_ASSERT_EQUAL(x.rc, 0);
        CU_ASSERT_EQUAL(x.job.space.layers, cases[i].layers);
        close_job(&x);
    }
}

/* --- what cannot be --------------------------------------------------------------- */

static void test_empty(void)
{
    static const struct {
        const char *allow, *message;
    } cases[] = {
        { "tensor=5",
          "no plan is left: tensor=5 leaves none (1 would): the rule of tensor "
          "is that it divides the GPUs, 12 attention heads, 12 key-value heads "
          "and the feed-forward width 3072, and the library has it" },
        { "micro_batch_size=7",
          "no plan is left: micro_batch_size=7 leaves none (1 would): the rule of "
          "micro_batch_size is that times the data-parallel degree it divides 16 "
          "sequences "
          "a step" },
        { "data=3",
          "no plan is left: data=3 leaves none (0 would): the rule of data is "
          "that it is what the other degrees leave of the GPUs" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct raw_job words = { "gpt2", "p3.8xlarge",      "1", 16, 128,
                                       0,      { cases[i].allow } };
        struct planned x;
        struct plan_outcome out;
        struct err err = { 0 };
        const struct plan_options o = { .simulate_most = 5 };
        open_job(&x, &words);
        CU_ASSERT_EQUAL_FATAL(x.rc, 0);
        CU_ASSERT_EQUAL(plan_search(&out, &x.loader.arena, &x.job, &o, &err), -1);
        CU_ASSERT_STRING_EQUAL(err.text, cases[i].message);
        close_job(&x);
    }
}

/* A stack is chosen by its name, in --fix as in --for; "smp" is the older one. */
static void test_stack_names(void)
{
    for (int i = 0; i < SPACE_STACKS_N; i++) {
        int row, bits;
        CU_ASSERT_EQUAL(names_find(space_stack_names, space_stacks[i].name, &row), 0);
        CU_ASSERT_EQUAL(row, i);
        CU_ASSERT_EQUAL(names_find(space_for_names, space_stacks[i].name, &bits), 0);
        CU_ASSERT_EQUAL(bits, 1 << i);
    }
    int row, bits;
    CU_ASSERT_EQUAL(names_find(space_stack_names, "smp", &row), 0);
    CU_ASSERT_STRING_EQUAL(space_stacks[row].name, "smp-v1");
    CU_ASSERT_EQUAL(names_find(space_for_names, "smp", &bits), 0);
    CU_ASSERT_EQUAL(bits, 1 << row);
}

void test_space_register(void)
{
    CU_pSuite suite = CU_add_suite("space", NULL, NULL);
    CU_add_test(suite, "the counter visits what brute force finds", test_counter);
    CU_add_test(suite, "plans that recompute attention alone", test_split);
    CU_add_test(suite, "neighbours are one value away, on both sides", test_near);
    CU_add_test(suite, "the best of a stream", test_best);
    CU_add_test(suite, "prices and their dates", test_prices);
    CU_add_test(suite, "layers of an encoder and a decoder", test_layers);
    CU_add_test(suite, "why a space is empty", test_empty);
    CU_add_test(suite, "names of stacks", test_stack_names);
}
