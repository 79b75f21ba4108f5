/* Partitioning: the search against brute force, D'Hondt against a known seat count,
 * each method's cut by hand, and what holds for all of them. */
#include "layout/partition.h"
#include "layout/smp_tree.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_partition_register(void);

enum { N_MAX = 12, PARTS_MAX = 13 };

/* --- segments -------------------------------------------------------------------- */

static double sum_of(const double *costs, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t i = from; i < to; i++)
        sum += costs[i];
    return sum;
}

/* The least largest sum, by trying every cut. */
static double brute_force(const double *costs, int64_t n, int64_t k)
{
    if (k == 1)
        return sum_of(costs, 0, n);
    double best = INFINITY;
    for (int64_t j = k - 1; j < n; j++)
        best = fmin(best, fmax(brute_force(costs, j, k - 1), sum_of(costs, j, n)));
    return best;
}

static void check_cut(const double *costs, int64_t n, int64_t k)
{
    int64_t ends[PARTS_MAX], from = 0;
    double most = 0;
    partition_min_max(costs, n, k, ends);
    for (int64_t i = 0; i < k; i++) {
        CU_ASSERT_TRUE(ends[i] > from);
        most = fmax(most, sum_of(costs, from, ends[i]));
        from = ends[i];
    }
    CU_ASSERT_EQUAL(from, n);
    CU_ASSERT_DOUBLE_EQUAL(most, brute_force(costs, n, k), 1e-7);
}

static void test_min_max(void)
{
    uint32_t x = 12345;
    for (int round = 0; round < 200; round++) {
        double costs[N_MAX];
        int64_t n = 1 + round % 9;
        for (int64_t i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            costs[i] = round % 3 ? (double)(x >> 24) : (double)(x >> 30);
        }
        for (int64_t k = 1; k <= n; k++)
            check_cut(costs, n, k);
    }
}

static void test_min_max_is_balanced(void)
{
    const double ones[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const int64_t want[4] = { 2, 4, 7, 10 };
    int64_t ends[4];
    partition_min_max(ones, 10, 4, ends);
    CU_ASSERT_EQUAL(memcmp(ends, want, sizeof(want)), 0);
}

/* Seats of 100,000, 80,000, 30,000 and 20,000 votes: 8 are 4, 3, 1, 0. */
static void test_dhondt(void)
{
    const double votes[4] = { 100, 80, 30, 20 };
    const int64_t want[4] = { 4, 3, 1, 0 };
    int64_t given[4];
    partition_dhondt(votes, 4, 8, given);
    CU_ASSERT_EQUAL(memcmp(given, want, sizeof(want)), 0);
}

/* --- SMP's tree ------------------------------------------------------------------- */

/* A small head after a large body falls on the first device. */
static void test_tree_head_goes_first(void)
{
    struct smp_node leaves[5] = { { .cost = 0.1 },
                                  { .cost = 0.2 },
                                  { .cost = 0.2 },
                                  { .cost = 0.2 },
                                  { .cost = 0.2 } };
    struct smp_node top[2] = { { .cost = 0.9, .children = leaves, .n_children = 5 },
                               { .cost = 0.1 } };
    struct smp_node root = { .cost = 1, .children = top, .n_children = 2 };
    const int64_t want[5] = { 0, 0, 0, 1, 1 };
    partition_tree_place(&root, 2);
    CU_ASSERT_EQUAL(top[1].device, 0);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(leaves[i].device, want[i]);
}

/* A module that outweighs the rest gets several devices, and is cut again. */
static void test_tree_recurses(void)
{
    struct smp_node inner[2] = { { .cost = 0.25 }, { .cost = 0.25 } };
    struct smp_node top[3] = { { .cost = 0.5, .children = inner, .n_children = 2 },
                               { .cost = 0.25 },
                               { .cost = 0.25 } };
    struct smp_node root = { .cost = 1, .children = top, .n_children = 3 };
    partition_tree_place(&root, 3);
    CU_ASSERT_EQUAL(inner[0].device, 0);
    CU_ASSERT_EQUAL(inner[1].device, 1);
    CU_ASSERT_EQUAL(top[1].device, 2);
    CU_ASSERT_EQUAL(top[2].device, 0); /* its segment got none */
}

/* --- methods ---------------------------------------------------------------------- */

/* An embedding without FLOPs and much memory, layers alike, a head with much of
 * both. */
static void make_modules(struct partition_module *m, int64_t layers)
{
    m[0] = (struct partition_module) { .compute = 0, .memory = 3, .parameters = 3 };
    for (int64_t i = 1; i <= layers; i++)
        m[i] = (struct partition_module) {
            .compute = 1, .memory = 1, .parameters = 1, .layer = true
        };
    m[layers + 1] =
        (struct partition_module) { .compute = 2, .memory = 3, .parameters = 3 };
}

static void test_methods(void)
{
    static const int64_t by_hand[4] = { 1, 4, 4, 1 };
    static const struct {
        enum partition_method method;
        double memory_weight;
        int64_t layers[4];
    } cases[] = {
        { PARTITION_UNIFORM, 0, { 3, 3, 2, 2 } },
        { PARTITION_TYPE, 0, { 3, 3, 3, 1 } },
        { PARTITION_TYPE_ENDS, 0, { 2, 3, 3, 2 } },
        { PARTITION_PARAMETERS, 0, { 1, 4, 4, 1 } },
        { PARTITION_SMP, 0, { 3, 3, 3, 1 } },
        { PARTITION_SMP, 1, { 1, 4, 4, 1 } },
        { PARTITION_MANUAL, 0, { 1, 4, 4, 1 } },
    };
    struct partition_module modules[N_MAX];
    make_modules(modules, 10);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct err err = { 0 };
        struct partition p;
        struct partition_request q = { .method = cases[i].method,
                                       .n_stages = 4,
                                       .n_chunks = 1,
                                       .memory_weight = cases[i].memory_weight,
                                       .layers = by_hand,
                                       .modules = modules,
                                       .n_modules = 12 };
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(partition_make(&p, &arena, &q, &err), 0);
        for (int k = 0; k < 4; k++) {
            CU_ASSERT_EQUAL(p.parts[k].n_layers, cases[i].layers[k]);
            CU_ASSERT_EQUAL(p.parts[k].has_embedding, k == 0);
            CU_ASSERT_EQUAL(p.parts[k].has_head, k == 3);
        }
        arena_release(&arena);
    }
}

/* Embedding and head as layers: stages are even with them, so that those at the ends
 * have one less, or none; what does not come out even fails. */
static void test_counted_ends(void)
{
    static const struct {
        enum partition_method method;
        int64_t stages, chunks;
        int64_t layers[PARTS_MAX]; /* none: it fails */
    } cases[] = {
        { PARTITION_UNIFORM_BOTH, 4, 1, { 2, 3, 3, 2 } },
        { PARTITION_UNIFORM_BOTH, 2, 3, { 1, 2, 2, 2, 2, 1 } },
        { PARTITION_UNIFORM_BOTH, 6, 2, { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { PARTITION_UNIFORM_EMBEDDING, 11, 1, { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
        { PARTITION_UNIFORM_HEAD, 11, 1, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { PARTITION_UNIFORM_HEAD, 4, 1, { 0 } },
        { PARTITION_TYPE_ENDS, 12, 1, { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { PARTITION_TYPE_ENDS, 11, 1, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { PARTITION_TYPE_ENDS, 13, 1, { 0 } },
        { PARTITION_MANUAL, 3, 1, { 0, 10, 0 } },
        { PARTITION_MANUAL, 4, 1, { 0, 5, 0, 5 } },
    };
    struct partition_module modules[N_MAX];
    make_modules(modules, 10);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct err err = { 0 };
        struct partition p;
        int64_t parts = cases[i].stages * cases[i].chunks, sum = 0;
        double compute = 0, memory = 0;
        struct partition_request q = { .method = cases[i].method,
                                       .n_stages = cases[i].stages,
                                       .n_chunks = cases[i].chunks,
                                       .layers = cases[i].layers,
                                       .modules = modules,
                                       .n_modules = 12 };
        for (int64_t k = 0; k < parts; k++)
            sum += cases[i].layers[k];
        arena_init(&arena);
        CU_ASSERT_EQUAL(partition_make(&p, &arena, &q, &err), sum ? 0 : -1);
        for (int64_t k = 0; k < parts && sum; k++) {
            CU_ASSERT_EQUAL(p.parts[k].n_layers, cases[i].layers[k]);
            CU_ASSERT_EQUAL(p.parts[k].has_embedding, k == 0);
            CU_ASSERT_EQUAL(p.parts[k].has_head, k == parts - 1);
            compute += p.parts[k].compute;
            memory += p.parts[k].memory;
        }
        if (sum) {
            CU_ASSERT_DOUBLE_EQUAL(compute, p.compute, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(memory, p.memory, 1e-9);
        }
        if (sum && cases[i].layers[0] == 0)
            CU_ASSERT_EQUAL(p.parts[0].memory, modules[0].memory);
        arena_release(&arena);
    }
}

/* nanotron leaves a stage when its share is passed: 1.34B and 8.86B of the Ultra-Scale
 * Playbook, the head at 0.9 of its weights. The head may be alone with the loss, or one
 * stage before it. */
static void test_compute(void)
{
    static const struct {
        int64_t n_layers, stages;
        double layer, head; /* weights of their products */
        int64_t layers[32];
        int64_t on;
    } cases[] = {
        { 16, 2, 67108864, 241591910.4, { 10, 6 }, 1 },
        { 16, 4, 67108864, 241591910.4, { 5, 5, 5, 1 }, 3 },
        { 16, 8, 67108864, 241591910.4, { 3, 2, 3, 2, 3, 2, 1, 0 }, 6 },
        { 32, 4, 243269632, 483183820.8, { 9, 8, 9, 6 }, 3 },
        { 32,
          16,
          243269632,
          483183820.8,
          { 3, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 0 },
          15 },
        { 32,
          32,
          243269632,
          483183820.8,
          { 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0 },
          30 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct err err = { 0 };
        struct partition p;
        struct partition_module modules[40] = { 0 };
        int64_t n = cases[i].n_layers, sum = 0, last = cases[i].stages - 1;
        for (int64_t k = 1; k <= n; k++)
            modules[k] =
                (struct partition_module) { 2, 1, 1, cases[i].layer, true, false };
        modules[n + 1] =
            (struct partition_module) { 4, 1, 1, cases[i].head, false, false };
        modules[n + 3].compute = 1; /* cast, and loss */
        struct partition_request q = { .method = PARTITION_COMPUTE,
                                       .n_stages = cases[i].stages,
                                       .n_chunks = 1,
                                       .modules = modules,
                                       .n_modules = n + 4 };
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(partition_make(&p, &arena, &q, &err), 0);
        for (int64_t k = 0; k <= last; k++) {
            const struct partition_part *part = &p.parts[k];
            CU_ASSERT_EQUAL(part->n_layers, cases[i].layers[k]);
            CU_ASSERT_EQUAL(part->first_layer, sum);
            CU_ASSERT_EQUAL(part->has_head, k == cases[i].on);
            CU_ASSERT_EQUAL(part->has_loss, k == last);
            CU_ASSERT_DOUBLE_EQUAL(part->compute,
                                   2 * (double)part->n_layers +
                                       (k == cases[i].on ? 4 : 0) + (k == last),
                                   1e-9);
            sum += part->n_layers;
        }
        CU_ASSERT_EQUAL(sum, n);
        CU_ASSERT_EQUAL(partition_head_stage(&p), cases[i].on);
        arena_release(&arena);
    }
}

/* Sixteen stages for 16 layers: two would have no parameters. */
static void test_empty_stages(void)
{
    struct arena arena;
    struct err err = { 0 };
    struct partition p;
    struct partition_module modules[20] = { 0 };
    for (int i = 1; i <= 16; i++)
        modules[i] = (struct partition_module) { 2, 1, 1, 67108864, true, false };
    modules[17].weights = 268435456;
    struct partition_request q = { .method = PARTITION_COMPUTE,
                                   .n_stages = 16,
                                   .n_chunks = 1,
                                   .modules = modules,
                                   .n_modules = 20 };
    arena_init(&arena);
    CU_ASSERT_EQUAL(partition_make(&p, &arena, &q, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the last 3 of 16 stages"));
    modules[17].weights *= 0.9; /* two */
    CU_ASSERT_EQUAL(partition_make(&p, &arena, &q, &(struct err) { 0 }), 0);
    arena_release(&arena);
}

/* A head tied to the embedding stays on its stage where the stream may return there, in
 * all methods, which leave that stage fewer layers; else it ends the last. */
static void test_tied_head(void)
{
    static const int64_t by_hand[4] = { 1, 4, 4, 1 };
    static const struct {
        enum partition_method method;
        int64_t layers[4];
    } cases[] = {
        { PARTITION_SMP, { 1, 3, 3, 3 } },
        { PARTITION_MANUAL, { 1, 4, 4, 1 } },
        { PARTITION_UNIFORM, { 3, 3, 2, 2 } },
    };
    struct partition_module modules[N_MAX];
    make_modules(modules, 10);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct err err = { 0 };
        struct partition p;
        bool tied = i % 2 == 0;
        struct partition_request q = { .method = cases[i / 2].method,
                                       .n_stages = 4,
                                       .n_chunks = 1,
                                       .layers = by_hand,
                                       .modules = modules,
                                       .n_modules = 12,
                                       .tied = tied,
                                       .returns = true };
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(partition_make(&p, &arena, &q, &err), 0);
        CU_ASSERT_EQUAL(p.head_returns, tied);
        CU_ASSERT_EQUAL(partition_chunks(&p), 1 + tied);
        CU_ASSERT_EQUAL(partition_head_stage(&p), tied ? 0 : 3);
        double compute = 0;
        for (int k = 0; k < 4; k++) {
            CU_ASSERT_EQUAL(p.parts[k].has_head, k == (tied ? 0 : 3));
            if (tied)
                CU_ASSERT_EQUAL(p.parts[k].n_layers, cases[i / 2].layers[k]);
            compute += p.parts[k].compute;
        }
        CU_ASSERT_DOUBLE_EQUAL(compute, 12, 1e-12);
        CU_ASSERT_EQUAL(p.parts[0].compute,
                        (double)p.parts[0].n_layers + (tied ? 2 : 0));
        arena_release(&arena);
    }
}

/* Layers follow one another, each once, and costs sum to the model's. */
static void check_whole(const struct partition *p, int64_t layers, double compute,
                        double memory)
{
    int64_t next = 0;
    for (int64_t i = 0; i < p->n_stages * p->n_chunks; i++) {
        CU_ASSERT_EQUAL(p->parts[i].first_layer, next);
        CU_ASSERT_TRUE(p->parts[i].n_layers >= 1 || p->parts[i].has_embedding ||
                       p->parts[i].has_head || p->parts[i].has_loss);
        next += p->parts[i].n_layers;
        compute -= p->parts[i].compute;
        memory -= p->parts[i].memory;
    }
    CU_ASSERT_EQUAL(next, layers);
    CU_ASSERT_DOUBLE_EQUAL(compute, 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(memory, 0, 1e-9);
}

static void test_nothing_is_lost(void)
{
    struct partition_module modules[N_MAX];
    make_modules(modules, 10);
    for (int i = 0; i < 12; i++)
        modules[i].weights = modules[i].compute;
    for (int method = 0; method < PARTITION_MANUAL; method++)
        for (int64_t stages = 1; stages <= 5; stages++)
            for (int64_t chunks = 1; chunks <= 2; chunks++) {
                struct arena arena;
                struct err err = { 0 };
                struct partition p;
                struct partition_request q = { .method = (enum partition_method)method,
                                               .n_stages = stages,
                                               .n_chunks = chunks,
                                               .memory_weight = 0.2,
                                               .modules = modules,
                                               .n_modules = 12 };
                arena_init(&arena);
                if (partition_make(&p, &arena, &q, &err) == 0)
                    check_whole(&p, 10, 12, 16);
                else /* too deep a cut, and it says so */
                    CU_ASSERT_TRUE(method == PARTITION_SMP_TREE ||
                                   method == PARTITION_COMPUTE);
                arena_release(&arena);
            }
}

static void test_refused(void)
{
    static const int64_t counts[2] = { 5, 6 };
    struct partition_module modules[N_MAX];
    struct arena arena;
    struct partition p;
    struct err err = { 0 };
    make_modules(modules, 10);
    arena_init(&arena);
    struct partition_request q = { .method = PARTITION_UNIFORM,
                                   .n_stages = 11,
                                   .n_chunks = 1,
                                   .layers = counts,
                                   .modules = modules,
                                   .n_modules = 12 };
    CU_ASSERT_EQUAL(partition_make(&p, &arena, &q, &err), -1);
    CU_ASSERT_STRING_EQUAL(err.text, "11 stages are more than the model's 10 layers");
    err.set = false;
    q.method = PARTITION_MANUAL;
    q.n_stages = 2;
    CU_ASSERT_EQUAL(partition_make(&p, &arena, &q, &err), -1);
    CU_ASSERT_STRING_EQUAL(err.text,
                           "the counts of layers sum to 11, not to the model's 10");
    arena_release(&arena);
}

void test_partition_register(void)
{
    CU_pSuite suite = CU_add_suite("partition", NULL, NULL);
    CU_ADD_TEST(suite, test_min_max);
    CU_ADD_TEST(suite, test_min_max_is_balanced);
    CU_ADD_TEST(suite, test_dhondt);
    CU_ADD_TEST(suite, test_tied_head);
    CU_ADD_TEST(suite, test_tree_head_goes_first);
    CU_ADD_TEST(suite, test_tree_recurses);
    CU_ADD_TEST(suite, test_methods);
    CU_ADD_TEST(suite, test_compute);
    CU_ADD_TEST(suite, test_empty_stages);
    CU_add_test(suite, "embedding and head count as layers", test_counted_ends);
    CU_ADD_TEST(suite, test_nothing_is_lost);
    CU_ADD_TEST(suite, test_refused);
}
