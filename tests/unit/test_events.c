/* Events of a trace as they come: what is kept of each, what one leaves to the next, and
 * the bounds of what is kept. Steps by annotations that repeat. */
#include "kineto/gather.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_events_register(void);

static void event(struct gather *g, const char *category, const char *name, int64_t ts,
                  int64_t length)
{
    struct gather_event *e = &g->event;
    gather_event_begin(e);
    e->phase = 'X';
    snprintf(e->category, sizeof(e->category), "%s", category);
    snprintf(e->name, sizeof(e->name), "%s", name);
    e->name_length = strlen(name);
    e->ts = ts;
    e->length = length;
    e->has_ts = e->has_length = true;
}

/* The same, complete. */
static void add(struct gather *g, const char *category, const char *name, int64_t ts,
                int64_t length)
{
    event(g, category, name, ts, length);
    gather_event_end(g);
}

/* A text is cut to its place, and nothing is written after it. */
static void test_keep(void)
{
    static const struct {
        const char *text, *kept;
    } cases[] = {
        { "", "" },
        { "ab", "ab" },
        { "abc", "abc" },
        { "abcd", "abc" },
        { "\x1f\x7f\x9b", "???" },
        { " ~", " ~" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[6] = "#####";
        gather_keep(out, 4, cases[i].text);
        CU_ASSERT_STRING_EQUAL(out, cases[i].kept);
        CU_ASSERT_EQUAL(out[4], '#');
    }
}

/* No text of an event is another's; the texts are those that choose its row. */
static void test_next(void)
{
    struct gather g;
    gather_init(&g);
    event(&g, "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, 10);
    strcpy(g.event.collective, "_allgather_base");
    strcpy(g.event.dtype, "Float");
    strcpy(g.event.group, "dp");
    g.event.in = g.event.out = 100;
    g.event.ranks = 8;
    gather_event_end(&g);
    event(&g, "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 10);
    g.event.in = 100;
    gather_event_end(&g);
    CU_ASSERT_EQUAL_FATAL(g.comms.n, 2);
    CU_ASSERT_EQUAL(g.comms.v[0].kind, COMM_ALL_GATHER);
    CU_ASSERT_EQUAL(g.comms.v[0].size_B, 400);
    CU_ASSERT_STRING_EQUAL(g.comms.v[0].of, "dp");
    CU_ASSERT_EQUAL(g.comms.v[1].kind, COMM_ALL_REDUCE);
    CU_ASSERT_EQUAL(g.comms.v[1].size_B, 100 * kernel_element_B(""));
    CU_ASSERT_STRING_EQUAL(g.comms.v[1].of, "");
    CU_ASSERT_EQUAL(g.comms.v[1].group, 0);
    gather_event_begin(&g.event);
    CU_ASSERT_STRING_EQUAL(g.event.category, "");
    CU_ASSERT_STRING_EQUAL(g.event.name, "");
    gather_release(&g);
}

/* What has no number is tied to nothing: a launch without a correlation is none, and
 * neither is a product without the id of its operator. Zero is a number. */
static void test_no_number(void)
{
    for (int64_t id = -1; id < 1; id++) {
        struct gather g;
        gather_init(&g);
        event(&g, "cuda_runtime", "cudaLaunchKernel", 0, 1);
        if (id == 0)
            g.event.correlation = id;
        gather_event_end(&g);
        event(&g, "cpu_op", "aten::mm", 0, 1);
        if (id == 0)
            g.event.op = id;
        g.event.n_inputs = g.event.ranks_of[0] = g.event.ranks_of[1] = 2;
        for (int i = 0; i < 2; i++)
            g.event.dims[i][0] = g.event.dims[i][1] = 3;
        gather_event_end(&g);
        CU_ASSERT_EQUAL(g.launches.n, id + 1);
        CU_ASSERT_EQUAL(g.ops.n, id + 1);
        gather_release(&g);
    }
}

/* A launch is of its thread, and a thread that autograd's engine runs in is backward's. */
static void test_threads(void)
{
    struct gather g;
    gather_init(&g);
    for (int i = 0; i < 3; i++) {
        event(&g, "cuda_runtime", "cudaLaunchKernel", i, 1);
        g.event.correlation = i;
        g.event.thread = 70 + i % 2;
        gather_event_end(&g);
    }
    event(&g, "cpu_op", "autograd::engine::evaluate_function: X", 9, 1);
    g.event.thread = 70;
    gather_event_end(&g);
    CU_ASSERT_EQUAL(g.n_threads, 2);
    CU_ASSERT_EQUAL_FATAL(g.launches.n, 3);
    CU_ASSERT_EQUAL(g.launches.v[0].thread, g.launches.v[2].thread);
    CU_ASSERT_NOT_EQUAL(g.launches.v[0].thread, g.launches.v[1].thread);
    CU_ASSERT_TRUE(g.backward[g.launches.v[0].thread]);
    CU_ASSERT_FALSE(g.backward[g.launches.v[1].thread]);
    gather_release(&g);
}

/* The number of a mark is what its name ends with. */
static void test_marks(void)
{
    static const struct {
        const char *category, *name;
        enum gather_mark_kind kind;
        int64_t number;
    } cases[] = {
        { "user_annotation", "ProfilerStep#17", MARK_STEP, 17 },
        { "user_annotation", "ProfilerStep#", MARK_STEP, 0 },
        { "gpu_user_annotation", "ProfilerStep#3", MARK_GPU_STEP, 3 },
        { "user_annotation", "Optimizer.step#AdamW.step", MARK_OPTIMIZER, 0 },
        { "cpu_op", "enumerate(DataLoader)#_Next", MARK_LOADING, 0 },
    };
    struct gather g;
    gather_init(&g);
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        add(&g, cases[i].category, cases[i].name, 5, 7);
        CU_ASSERT_EQUAL_FATAL(g.marks.n, i + 1);
        CU_ASSERT_EQUAL(g.marks.v[i].kind, cases[i].kind);
        CU_ASSERT_EQUAL(g.marks.v[i].number, cases[i].number);
        CU_ASSERT_EQUAL(g.marks.v[i].start, 5);
        CU_ASSERT_EQUAL(g.marks.v[i].length, 7);
    }
    int64_t n = g.marks.n;
    add(&g, "gpu_user_annotation", "Optimizer.step#AdamW.step", 5, 7);
    CU_ASSERT_EQUAL(g.marks.n, n);
    gather_release(&g);
}

/* A trace that has more of a kind than any run has leaves the rest out. */
static void test_bounds(void)
{
    struct gather g;
    gather_init(&g);
    for (int64_t i = 0; i < GATHER_MARKS_MAX + 2; i++)
        add(&g, "user_annotation", "Optimizer.step", i, 1);
    CU_ASSERT_EQUAL(g.marks.n, GATHER_MARKS_MAX);
    for (int64_t i = 0; i < GATHER_NAMED_MAX + 2; i++)
        add(&g, "user_annotation", "train_step", i, 1);
    CU_ASSERT_EQUAL(g.named.n, GATHER_NAMED_MAX);
    gather_release(&g);
}

/* Times of host marks whose numbers differ: one that begins before the middle of the mark
 * before it is another thread's. */
static void test_middle(void)
{
    static const struct {
        int64_t start, steps;
    } cases[] = { { 1049, 1 }, { 1050, 2 }, { 1099, 2 }, { 1100, 2 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gather g;
        struct kineto_rank r;
        gather_init(&g);
        add(&g, "kernel", "gemm", 1000, 300);
        add(&g, "user_annotation", "ProfilerStep#1", 1000, 100);
        add(&g, "user_annotation", "ProfilerStep#2", cases[i].start, 100);
        kineto_sum_up(&g, &r);
        CU_ASSERT_EQUAL(r.steps.n, cases[i].steps);
        kineto_rank_release(&r);
        gather_release(&g);
    }
}

/* Names of types as PyTorch's traces have them; nothing is said of others. */
static void test_types(void)
{
    static const struct {
        const char *dtype;
        double bytes;
    } cases[] = {
        { "BFloat16", 2 }, { "Half", 2 },          { "Float", 4 }, { "Double", 8 },
        { "Byte", 1 },     { "Char", 1 },          { "Short", 2 }, { "Int", 4 },
        { "Long", 8 },     { "Float8_e4m3fn", 1 }, { "Bool", 1 },  { "int8", 1 },
        { "uint8", 1 },    { "ComplexNone", 0 },   { "", 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CU_ASSERT_EQUAL(kernel_element_B(cases[i].dtype), cases[i].bytes);
}

/* A collective is counted in the step that has half of it; its time is of where it is. */
static void test_halves(void)
{
    static const struct {
        int64_t start, n;
        double comm_ns;
    } cases[] = { { 1949, 1, 51 }, { 1950, 1, 50 }, { 1951, 0, 49 }, { 900, 0, 0 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gather g;
        struct kineto_rank r;
        gather_init(&g);
        add(&g, "user_annotation", "ProfilerStep#1", 1000, 1000);
        add(&g, "kernel", "gemm", 1000, 900);
        add(&g, "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", cases[i].start,
            100);
        kineto_sum_up(&g, &r);
        CU_ASSERT_DOUBLE_EQUAL(r.comm_s[COMM_ALL_REDUCE], cases[i].comm_ns * 1e-9,
                               1e-15);
        CU_ASSERT_EQUAL(r.comms.n, cases[i].n);
        kineto_rank_release(&r);
        gather_release(&g);
    }
}

/* Annotations "NAME number" of 90 of each 100 ns, in this order, over as many kernels. */
static enum kineto_marks repeated(const char *name, const int *order, int n,
                                  int64_t *first)
{
    struct gather g;
    struct kineto_rank r;
    char text[64];
    gather_init(&g);
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%s %d", name, 40 + order[i]);
        add(&g, "user_annotation", text, 1000 + 100 * order[i], 90);
        add(&g, "kernel", "gemm", 1000 + 100 * order[i], 80);
    }
    kineto_sum_up(&g, &r);
    enum kineto_marks marks = r.marks;
    *first = r.steps.n == n ? r.steps.v[0].number : -1;
    kineto_rank_release(&r);
    gather_release(&g);
    return marks;
}

/* Annotations are steps in whatever order a trace has them; those of no step are not. */
static void test_order(void)
{
    static const int orders[][4] = {
        { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 }
    };
    int64_t first;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        CU_ASSERT_EQUAL(repeated("iteration", orders[i], 4, &first), KINETO_RANGES);
        CU_ASSERT_EQUAL(first, 40);
        static const char *const others[] = { "batch_norm",     "optimizer_step",
                                              "aten::step",     "batch_sampler",
                                              "zero_grad_step", "forward" };
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
            CU_ASSERT_EQUAL(repeated(others[k], orders[i], 4, &first), KINETO_NO_STEPS);
    }
}

void test_events_register(void)
{
    CU_pSuite s = CU_add_suite("events", NULL, NULL);
    CU_ADD_TEST(s, test_keep);
    CU_ADD_TEST(s, test_next);
    CU_ADD_TEST(s, test_no_number);
    CU_ADD_TEST(s, test_threads);
    CU_ADD_TEST(s, test_marks);
    CU_ADD_TEST(s, test_bounds);
    CU_ADD_TEST(s, test_middle);
    CU_ADD_TEST(s, test_types);
    CU_ADD_TEST(s, test_halves);
    CU_ADD_TEST(s, test_order);
}
