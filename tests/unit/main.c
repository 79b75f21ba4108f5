/* All unit tests: each suite is listed once, here; words name those to run. Prints failures, then CUnit's
 * summary; exits with 1 when a test failed. GSL's aborting handler is off, as in
 * main. --list prints the suites' names. */
#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define SUITES(X) \
    X(names) X(units) X(file) X(fields) X(dialect_keys) \
    X(cfg) X(csv) X(shell) X(schema) X(results) \
    X(yaml) X(toml) X(python) X(documents) \
    X(hardware) X(net) X(domain) X(tiers) X(background) X(import) \
    X(model) X(families) X(hub) X(summary) X(vision) X(contrast) X(diffusion) X(sound) X(state) X(linear) X(gemma) X(ops) X(fused) X(lora) X(freeze) X(preference) X(peft) X(recipe) X(formats) \
    X(layout) X(partition) X(distribution) X(scenario) X(releases) X(libraries) X(defaults) X(dialects) X(launch) X(programs) X(trainer_words) X(entry_points) X(megatron) X(deepspeed) \
    X(kernel) X(product) X(measured) X(experts) X(moe) X(dispatch) X(attention) \
    X(readings) \
    X(sim) X(flow) \
    X(collective) X(sizes) X(nccl) X(choose) X(chunk) X(smddp) X(servers) X(fusion) X(allocator) \
    X(schedule) X(steady) X(kept) X(simulate) X(fold) X(islands) X(environment) X(stages) X(deferred) X(mtp) X(recompute) X(graphs) X(overlap) X(offload) X(saved) X(muon) X(host) X(shard) X(conserve) X(memory) X(smp_tensor) X(traffic) \
    X(calibrate) X(samples) X(logs) X(training_logs) X(log_lines) X(kineto) X(events) X(nsight) X(trace_fit) X(pilot) X(compare) \
    X(input) X(job) X(uncertainty) \
    X(expr) X(mapping) X(cases) X(stats) X(rivals) X(trust) X(choices) \
    X(report) X(same) X(serve) X(bounded) X(watch) X(draw) X(svg) X(written) X(trace) X(chakra) X(replay) X(sweep) X(sweep_journal) X(sweep_hub) X(space) X(search_rules) X(plan) X(plan_order) X(risk) X(difference) X(doctor) X(bandwidth) X(emit) X(lib) X(smp_script)
/* clang-format on */

#define DECLARE(name) void test_##name##_register(void);
#define REGISTER(name) test_##name##_register();

SUITES(DECLARE)

static bool run(int n, char **names)
{
    bool failed = n == 0 && CU_basic_run_tests() != CUE_SUCCESS;
    for (int i = 0; i < n; i++) {
        CU_pSuite suite = CU_get_suite(names[i]);
        failed |= !suite || CU_basic_run_suite(suite) != CUE_SUCCESS;
    }
    return failed || CU_get_number_of_failures() > 0;
}

static bool list(void)
{
    for (CU_pSuite s = CU_get_registry()->pSuite; s; s = s->pNext)
        puts(s->pName);
    return false;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return EXIT_FAILURE;
    }
    SUITES(REGISTER)
    CU_basic_set_mode(CU_BRM_NORMAL);
    bool failed = CU_get_error() != CUE_SUCCESS;
    if (failed)
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
    failed |=
        argc == 2 && strcmp(argv[1], "--list") == 0 ? list() : run(argc - 1, argv + 1);
    CU_cleanup_registry();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
