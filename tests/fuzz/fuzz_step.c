/* Whole scenarios, made by a table of choices from the bytes that come, are simulated, and
 * what must hold of each is checked: a job that the rules refuse says why; of the others
 * every number is finite, the parts sum to the step, a stage's memory to its peak, MFU and
 * HFU are at most 1, and all ranks simulated give what the folded ones do. Build it with
 * clang's fuzzer, or with -DFUZZ_ALONE for a main that draws: fuzz_step [SECONDS [SEED]],
 * which prints the scenario that broke a rule. */
#include "base/xmalloc.h"
#include "campaign/campaign.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLD_MOST = 64, VALUES_MAX = 12 };

/* clang-format off */
static const struct choice {
    const char *pointer;
    const char *values[VALUES_MAX]; /* "": the key is left out */
} choices[] = {
    { "/model", { "\"gpt2\"", "\"gpt2-xl\"", "\"llama2-7b\"", "\"bert-large-uncased\"", "\"t5-large\"", "\"mixtral-8x7b\"", "\"llama3-8b\"", "\"gpt3-175b\"", "\"deepseek-v3\"" } },
    { "/cluster/instance", { "\"p3.16xlarge\"", "\"p3dn.24xlarge\"", "\"p4d.24xlarge\"", "\"p5.48xlarge\"", "\"g5.48xlarge\"", "\"p3.2xlarge\"", "\"g4dn.12xlarge\"", "\"ml.p4d.24xlarge\"" } },
    { "/cluster/count", { "1", "2", "4", "8", "3", "16" } },
    { "/training/sequence_length", { "512", "1024", "128", "2048", "1", "384" } },
    { "/training/micro_batch_size", { "1", "2", "4", "3", "8" } },
    { "/training/gradient_accumulation_steps", { "", "1", "2", "4", "8", "7" } },
    { "/training/precision", { "", "\"bf16\"", "\"fp16\"", "\"fp32\"", "\"amp_fp16\"", "\"fp8\"" } },
    { "/training/optimizer", { "", "\"adam\"", "\"sgd\"", "\"adafactor\"" } },
    { "/training/activation_checkpointing", { "", "\"none\"", "\"full\"", "\"selective\"" } },
    { "/parallelism/library", { "", "\"ddp\"", "\"fsdp\"", "\"deepspeed\"", "\"megatron\"", "\"smp\"", "\"horovod\"" } },
    { "/parallelism/tensor", { "", "", "1", "2", "4", "8" } },
    { "/parallelism/pipeline", { "", "", "1", "2", "4", "8" } },
    { "/parallelism/context", { "", "", "", "2", "4" } },
    { "/parallelism/expert", { "", "", "", "2", "4", "8" } },
    { "/parallelism/sequence_parallel", { "", "", "true", "false" } },
    { "/parallelism/virtual_stages", { "", "", "", "2" } },
    { "/parallelism/schedule", { "", "", "\"gpipe\"", "\"1f1b\"", "\"interleaved\"", "\"zb-h1\"" } },
    { "/parallelism/sharding/strategy", { "", "", "\"none\"", "\"optimizer\"", "\"gradients\"", "\"full\"" } },
    { "/parallelism/sharding/offload", { "", "", "", "\"optimizer\"", "\"parameters\"" } },
    { "/parallelism/overlap", { "", "", "true", "false" } },
    { "/parallelism/placement", { "", "", "", "\"TPD\"", "\"DPT\"" } },
    { "/cluster/quality", { "", "", "\"clean\"" } },
};

/* clang-format on */

enum { N_CHOICES = sizeof(choices) / sizeof(*choices) };

static char said[4096]; /* the scenario at hand, as --set takes it */

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_step: %s does not hold of: %s\n", what, said);
    abort();
}

static int make(struct cfg root, const uint8_t *data, size_t size)
{
    size_t at = 0;
    said[0] = '\0';
    for (size_t i = 0; i < N_CHOICES; i++) {
        int32_t n = 0;
        while (n < VALUES_MAX && choices[i].values[n])
            n++;
        const char *value = choices[i].values[i < size ? data[i] % n : 0];
        char set[200];
        if (!*value)
            continue;
        snprintf(set, sizeof(set), "%s=%s", choices[i].pointer, value);
        at += (size_t)snprintf(said + at, sizeof(said) - at, " --set '%s'", set);
        if (cfg_set(root, set))
            return -1;
    }
    return 0;
}

static void check_memory(const struct simulate_result *r)
{
    for (int32_t i = 0; i < r->memory.n_stages; i++) {
        const struct stage_memory *m = &r->memory.stages[i];
        int64_t sum = m->parameters_B + m->gradients_B + m->optimizer_B +
                      m->activations_B + m->buffers_B + m->workspace_B + m->framework_B;
        require(m->peak_B > 0 && sum == m->peak_B,
                "the parts of memory sum to the peak");
    }
}

static void check_result(const struct simulate_result *r)
{
    double sum_s = 0;
    for (int i = 0; i < CATEGORY_N; i++) {
        require(isfinite(r->parts_s[i]) && r->parts_s[i] >= 0, "a part is finite");
        sum_s += i == CATEGORY_DATA_COMM_HIDDEN ? 0 : r->parts_s[i];
    }
    require(isfinite(r->step_time_s) && r->step_time_s > 0,
            "the step's time is finite");
    require(fabs(sum_s - r->step_time_s) <= 1e-9 + 1e-6 * r->step_time_s,
            "the parts sum to the step");
    require(r->mfu > 0 && r->mfu <= 1, "MFU is at most 1");
    require(r->hfu > 0 && r->hfu <= 1, "HFU is at most 1");
    require(r->samples_per_s > 0 && isfinite(r->samples_per_s), "samples/s is finite");
    require(r->range_s[0] <= r->step_time_s && r->step_time_s <= r->range_s[1],
            "the range has the step in it");
    check_memory(r);
}

static int simulate_it(struct simulate_result *r, struct cfg_loader *loader,
                       const struct scenario *s, const struct campaign *c, bool unfold)
{
    struct err err = { 0 };
    struct campaign_result beyond;
    const struct simulate_options o = { .network = FIDELITY_FLOW, .unfold = unfold };
    const struct campaign_how how = { &o, NULL, interval_table_get(loader) };
    int rc = campaign_simulate(r, &beyond, loader, c, s, &how, &err);
    require(rc == 0 || (err.set && err.text[0]), "what cannot be simulated says why");
    require(!err.fault, err.text);
    return rc;
}

static long simulated;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct campaign c;
    struct simulate_result folded, all;
    cfg_loader_init(&loader);
    struct cfg root = cfg_from_tree(&loader, "fuzz", json_object());
    bool read = make(root, data, size) == 0 && scenario_read(&s, &loader, root) == 0 &&
                campaign_read(&c, &s) == 0;
    require(read || loader.diags.n_errors > 0, "what is refused says why");
    if (read && simulate_it(&folded, &loader, &s, &c, false) == 0) {
        simulated++;
        check_result(&folded);
        bool few = scenario_world(&s) <= FOLD_MOST;
        if (few && simulate_it(&all, &loader, &s, &c, true) == 0) {
            check_result(&all);
            require(fabs(all.step_time_s - folded.step_time_s) <=
                        1e-9 * folded.step_time_s,
                    "folded is unfolded");
        }
    }
    cfg_loader_release(&loader);
    return 0;
}

#ifdef FUZZ_ALONE
#include <time.h>

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 10);
    long runs = 0;
    srand(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
    for (; time(NULL) < end; runs++) {
        uint8_t bytes[N_CHOICES];
        for (size_t i = 0; i < N_CHOICES; i++)
            bytes[i] = (uint8_t)(i > 4 && rand() % 3 ? 0 : rand() >> 8);
        LLVMFuzzerTestOneInput(bytes, sizeof(bytes));
    }
    printf("%-10s %8ld runs, %ld simulated\n", "step", runs, simulated);
    return 0;
}
#endif
