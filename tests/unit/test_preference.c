/* Training on preferences: pairs are two sequences, reference models forwards alone; what
 * they weigh, what is refused. */
#include "step_bench.h"

void test_preference_register(void);

/* A Llama of 4 layers on one node; what comes is of the training section. */
#define JOB(training)                                                            \
    "{'model':{'model_type':'llama','num_hidden_layers':4,'hidden_size':512,"    \
    "'num_attention_heads':8,'intermediate_size':1536,'vocab_size':4096},"       \
    "'cluster':{'instance':'p4d.24xlarge','count':1},'training':"                \
    "{'sequence_length':512,'precision':'bf16','gradient_accumulation_steps':2," \
    "'micro_batch_size':" training "}}"
#define LORA ",'lora':{'rank':8}"

struct outcome {
    struct simulate_result r; /* without what it points to */
    double parameters_B;
};

static struct outcome run(const char *text, const char *changes)
{
    struct job j;
    struct outcome o;
    bench_scenario(&j.loader, &j.s, text, "/parallelism/", changes);
    validation_job_run(&j, &o.r);
    o.parameters_B = (double)o.r.memory.stages[0].parameters_B;
    job_unload(&j);
    return o;
}

static struct simulate_result result_of(const char *text, const char *changes)
{
    return run(text, changes).r;
}

static void test_pairs(void)
{
    static const char *const tasks[] = { "'orpo'", "'simpo'", "'cpo'",
                                         "'dpo','reference_model':'precomputed'" };
    struct simulate_result single = result_of(JOB("4,'task':'causal-lm'"), "");
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), JOB("2,'task':%s"), tasks[i]);
        struct simulate_result r = result_of(text, "");
        CU_ASSERT_DOUBLE_EQUAL(r.step_time_s, single.step_time_s, 0);
        CU_ASSERT_EQUAL(r.memory.peak_B, single.memory.peak_B);
        CU_ASSERT_DOUBLE_EQUAL(2 * r.samples_per_s, single.samples_per_s, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(r.tokens_per_s, single.tokens_per_s, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(r.mfu, single.mfu, 1e-12);
    }
}

/* Forwards are a third of a step's FLOPs, causal attention's apart, and run without the
 * adapters. */
static void test_forwards(void)
{
    static const char pair[] = JOB("2,'task':'orpo'"), dpo[] = JOB("2,'task':'dpo'"),
                      kto[] = JOB("4,'task':'kto'"),
                      tuned[] = JOB("2,'task':'orpo'" LORA),
                      shared[] = JOB("2,'task':'dpo'" LORA);
    struct simulate_result base = result_of(pair, ""), compared = result_of(dpo, ""),
                           unpaired = result_of(kto, "");
    CU_ASSERT_DOUBLE_EQUAL(base.parts_s[CATEGORY_REFERENCE], 0, 0);
    CU_ASSERT(job_near(compared.parts_s[CATEGORY_COMPUTE],
                       base.parts_s[CATEGORY_COMPUTE], 1e-3));
    CU_ASSERT(compared.parts_s[CATEGORY_REFERENCE] >
              0.2 * base.parts_s[CATEGORY_COMPUTE]);
    CU_ASSERT(job_near(unpaired.parts_s[CATEGORY_REFERENCE],
                       3 * compared.parts_s[CATEGORY_REFERENCE], 1e-2));
    double forward = compared.executed_flops - base.executed_flops;
    CU_ASSERT_DOUBLE_EQUAL(forward / base.executed_flops, 1.0 / 3, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(compared.mfu * compared.step_time_s,
                           base.mfu * base.step_time_s * 4 / 3, 1e-9);
    CU_ASSERT(
        job_near(unpaired.executed_flops - base.executed_flops, 3 * forward, 1e-9));
    double without =
        result_of(shared, "").executed_flops - result_of(tuned, "").executed_flops;
    CU_ASSERT(job_near(without, forward, 1e-9));
}

/* A second model weighs as the first, as much sharded; adapters need none. */
static void test_memory(void)
{
    static const char *const shardings[] = { "", "library=fsdp sharding={" FULL "}",
                                             "library=deepspeed sharding={" FULL "}",
                                             "library=deepspeed sharding={" OPTIMIZER
                                             "}" };
    for (size_t i = 0; i < sizeof(shardings) / sizeof(shardings[0]); i++) {
        struct outcome one = run(JOB("2,'task':'orpo'"), shardings[i]),
                       two = run(JOB("2,'task':'dpo'"), shardings[i]);
        CU_ASSERT(job_near(two.parameters_B, 2 * one.parameters_B, 0.02));
        CU_ASSERT(two.r.memory.peak_B > one.r.memory.peak_B);
        CU_ASSERT(two.r.step_time_s > 1.2 * one.r.step_time_s);
    }
    /* words and the head, whole from the reference's forward on */
    static const char titan[] = "library=fsdp sharding={" FULL "}";
    struct outcome one = run(JOB("2,'task':'orpo','framework':'torchtitan'"), titan),
                   two = run(JOB("2,'task':'dpo','framework':'torchtitan'"), titan);
    CU_ASSERT(two.r.memory.peak_B - one.r.memory.peak_B >
              (int64_t)one.parameters_B + 2 * 2 * 4096 * 512);
    struct outcome tuned = run(JOB("2,'task':'orpo'" LORA), ""),
                   shared = run(JOB("2,'task':'dpo'" LORA), "");
    CU_ASSERT_DOUBLE_EQUAL(tuned.parameters_B, shared.parameters_B, 0);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { JOB("2,'task':'orpo','reference_model':'separate'"), "no reference model" },
        { JOB("2,'task':'dpo','reference_model':'shared'"), "keeps its own" },
        { JOB("2,'task':'dpo'},'parallelism':{'library':'megatron','pipeline':2"),
          "not modelled in a pipeline" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        bench_refused(cases[i].text, cases[i].says);
}

void test_preference_register(void)
{
    CU_pSuite suite = CU_add_suite("preference", NULL, NULL);
    CU_add_test(suite, "pairs are two sequences", test_pairs);
    CU_add_test(suite, "forwards of the reference", test_forwards);
    CU_add_test(suite, "memory of the reference", test_memory);
    CU_add_test(suite, "what is refused", test_refused);
}
