/* Checkpoints of activations in host memory, in pipelines and without. */
#include "run/run.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>

void test_offload_register(void);

#define CHECKPOINTED "/training/activation_checkpointing=\"full\" "
#define OFFLOADED CHECKPOINTED "offload_activations=true "
#define CHUNKED "schedule=\"interleaved\" virtual_stages=2 "

static const char *const pipelines[] = {
    "pipeline=4 schedule=\"gpipe\" ",
    "pipeline=4 schedule=\"1f1b\" ",
    "pipeline=2 schedule=\"1f1b\" tensor=2 ",
    "pipeline=2 " CHUNKED,
    "pipeline=4 tensor=2 " CHUNKED,
    "pipeline=4 schedule=\"zb-h1\" ",
    "pipeline=4 library=\"smp\" schedule=\"smp-simple\" ",
    "pipeline=4 library=\"smp\" schedule=\"smp-interleaved\" ",
    "pipeline=2 library=\"smp\" schedule=\"smp-interleaved\" tensor=4 ",
    "pipeline=2 schedule=\"1f1b\" sharding={" OPTIMIZER "} ",
    "pipeline=4 schedule=\"1f1b\" sharding={" FULL "} library=\"fsdp\" ",
    "pipeline=2 schedule=\"gpipe\" sharding={" FULL "} library=\"fsdp\" ",
    "pipeline=2 /training/gradient_accumulation_steps=3 ",
    "pipeline=2 /training/microbatches=1 ",
};

static void load_case(struct job *j, const char *changes, int horizon)
{
    char all[512];
    snprintf(all, sizeof(all), "%s" OFFLOADED "activation_loading_horizon=%d", changes,
             horizon);
    job_load(j, all);
}

/* Every schedule comes to its end, whatever the horizon: all ranks or one of each kind,
 * at each fidelity, each pass in detail or measured once. */
static void test_pipelines(void)
{
    static const int horizons[] = { 1, 2, 4, 8 };
    for (size_t i = 0; i < sizeof(pipelines) / sizeof(*pipelines); i++)
        for (size_t k = 0; k < sizeof(horizons) / sizeof(*horizons); k++) {
            const struct simulate_options how[] = {
                { .network = FIDELITY_FLOW },
                { .network = FIDELITY_FLOW, .unfold = true },
                { .network = FIDELITY_FLOW, .detail = true },
                { .network = FIDELITY_ANALYTIC },
                { .network = FIDELITY_CHUNK },
            };
            struct simulate_result r[5];
            struct job j;
            load_case(&j, pipelines[i], horizons[k]);
            for (int n = 0; n < 5; n++)
                job_run_as(&j, how[n], &r[n]);
            if (!job_near(r[1].step_time_s, r[0].step_time_s, 1e-9) ||
                !job_near(r[2].step_time_s, r[0].step_time_s, 1e-6))
                fprintf(stderr, "%s %d: %.12g, unfolded %.12g, in detail %.12g\n",
                        pipelines[i], horizons[k], r[0].step_time_s, r[1].step_time_s,
                        r[2].step_time_s);
            CU_ASSERT(job_near(r[1].step_time_s, r[0].step_time_s, 1e-9));
            CU_ASSERT(job_near(r[2].step_time_s, r[0].step_time_s, 1e-6));
            CU_ASSERT_EQUAL(r[1].memory.peak_B, r[0].memory.peak_B);
            CU_ASSERT_EQUAL(r[2].memory.peak_B, r[0].memory.peak_B);
            job_unload(&j);
        }
}

/* Time, and activations of the first stage, by horizon. */
static void run_case(const char *changes, int horizon, double *time_s, int64_t *held_B)
{
    struct job j;
    struct simulate_result r;
    load_case(&j, changes, horizon);
    validation_job_run(&j, &r);
    *time_s = r.step_time_s;
    *held_B = r.memory.stages[0].activations_B;
    job_unload(&j);
}

/* A longer horizon takes more memory and no more time, up to that of checkpoints that
 * stay on the GPU. */
static void test_horizon(void)
{
#define LARGE "/training/micro_batch_size=16 /model/vocab_size=256 "
    static const struct {
        const char *changes;
        bool faster; /* some load is waited for at the shortest horizon */
    } cases[] = {
        { LARGE, false },
        { LARGE "pipeline=4 schedule=\"1f1b\" ", true },
        { LARGE "pipeline=4 schedule=\"gpipe\" ", false },
        { LARGE "pipeline=2 " CHUNKED, true },
        { LARGE "pipeline=4 library=\"smp\" schedule=\"smp-interleaved\" "
                "/model/tie_word_embeddings=false ",
          true },
        { LARGE "pipeline=4 library=\"smp\" schedule=\"smp-interleaved\" ", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double first_s = 0, before_s = INFINITY, time_s;
        int64_t first_B = 0, before_B = 0, held_B;
        for (int horizon = 1; horizon <= 32; horizon++) {
            run_case(cases[i].changes, horizon, &time_s, &held_B);
            CU_ASSERT(time_s <= before_s * (1 + 1e-9));
            CU_ASSERT(held_B >= before_B);
            before_s = time_s;
            before_B = held_B;
            if (horizon == 1) {
                first_s = time_s;
                first_B = held_B;
            }
        }
        CU_ASSERT(before_B > first_B);
        CU_ASSERT(!cases[i].faster || before_s < first_s);
        struct job j;
        struct simulate_result r;
        char all[512];
        snprintf(all, sizeof(all), "%s" CHECKPOINTED, cases[i].changes);
        job_load(&j, all);
        validation_job_run(&j, &r);
        CU_ASSERT(before_s >= r.step_time_s * (1 - 1e-9));
        if (i > 0) {
            CU_ASSERT(job_near(before_s, r.step_time_s, 1e-9));
            CU_ASSERT_EQUAL(before_B, r.memory.stages[0].activations_B);
        }
        job_unload(&j);
    }
}

void test_offload_register(void)
{
    CU_pSuite s = CU_add_suite("offload", NULL, NULL);
    CU_add_test(s, "offloaded checkpoints in pipelines", test_pipelines);
    CU_add_test(s, "a longer horizon trades memory for time", test_horizon);
}
