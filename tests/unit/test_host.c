/* The host beside the GPU: what a small step costs when kernels are launched one by
 * one, by generated code, or as captured graphs. */
#include "scenario_bench.h"
#include "simulate/simulate.h"

void test_host_register(void);

static double part_s(const char *framework, enum part part)
{
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct simulate_options options = { 0 };
    struct err err = { 0 };
    char changes[160];
    snprintf(changes, sizeof(changes),
             "/cluster/count=1 /parallelism/library=ddp /training/micro_batch_size=1 "
             "/training/framework=%s",
             framework);
    bench_scenario(&loader, &s, bench_gpt2, "/parallelism/", changes);
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &options, &err), 0);
    double time_s = r.parts_s[part];
    cfg_loader_release(&loader);
    return time_s;
}

/* Graphs have the compiled kernels, and wait for the host only at the optimizer, whose
 * lists take it a millisecond. */
static void test_graphs(void)
{
    const double optimizer_s = 1e-3;
    double eager_s = part_s("pytorch2-fused", PART_OTHER) - optimizer_s,
           compiled_s = part_s("pytorch2-compiled", PART_OTHER) - optimizer_s,
           graphs_s = part_s("pytorch2-graphs", PART_OTHER) - optimizer_s;
    CU_ASSERT_TRUE(compiled_s < 0.5 * eager_s);
    CU_ASSERT_TRUE(graphs_s > 0 && graphs_s < 0.1 * compiled_s);
    CU_ASSERT_DOUBLE_EQUAL(part_s("pytorch2-graphs", PART_COMPUTE),
                           part_s("pytorch2-compiled", PART_COMPUTE), 1e-9);
}

void test_host_register(void)
{
    CU_pSuite suite = CU_add_suite("host", NULL, NULL);
    CU_add_test(suite, "graphs", test_graphs);
}
