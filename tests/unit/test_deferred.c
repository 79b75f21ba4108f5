/* Gradients of the head's matrix that a pipeline's last stage makes after all passes:
 * what runs when, what is kept meanwhile, what it saves. */
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_deferred_register(void);

enum { MICROBATCHES = 16, TENSOR = 2, WORDS = 128256, HIDDEN = 4096, TOKENS = 4096 };

/* Llama 3 8B on 16 H100: four stages, the last of which has the head. */
static void load(struct job *j, const char *changes)
{
    static const char text[] =
        "{ 'model': 'llama3-8b',"
        "  'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
        "                'microbatches': 16, 'precision': 'bf16' },"
        "  'parallelism': { 'library': 'megatron', 'pipeline': 4, 'tensor': 2,"
        "                   'sequence_parallel': true,"
        "                   'sharding': { 'strategy': 'optimizer' } } }";
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

static const struct {
    const char *changes;
    int32_t deferred;
} cases[] = {
    { "", 0 },
    { "defer_embedding_wgrad=true", MICROBATCHES },
    { "defer_embedding_wgrad=true wgrad_deferral_limit=0", MICROBATCHES },
    { "defer_embedding_wgrad=true wgrad_deferral_limit=5", 5 },
    { "defer_embedding_wgrad=true wgrad_deferral_limit=100", MICROBATCHES },
    { "defer_embedding_wgrad=true wgrad_deferral_limit=5 virtual_stages=2 "
      "schedule=\"interleaved\"",
      5 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

struct found {
    int32_t inside, after, gathers; /* products, and gathers of their inputs */
    int32_t last;                   /* task of any backward */
};

static struct found find(const struct program *p)
{
    struct found f = { 0 };
    int32_t first = INT32_MAX;
    for (int32_t i = 0; i < p->tasks.n; i++) {
        const struct task *t = &p->tasks.v[i];
        bool product = t->tag.label && strcmp(t->tag.label, "logits_wgrad") == 0;
        f.last = t->tag.work == WORK_BACKWARD ? i : f.last;
        f.inside += product && t->tag.work == WORK_BACKWARD;
        f.after += product && t->tag.work == WORK_WEIGHT;
        f.gathers += t->comm >= 0 && t->tag.work == WORK_WEIGHT &&
                     p->comms.v[t->comm].request.op == COLL_ALL_GATHER;
        if (t->tag.work == WORK_WEIGHT && i < first)
            first = i;
    }
    CU_ASSERT(first > f.last);
    return f;
}

/* The products of the first microbatches are run once each, after all passes, each with
 * a gather of its input; no other stage has any. */
static void test_order(void)
{
    double flops = 0;
    for (int i = 0; i < CASES; i++) {
        struct job j;
        struct reps reps;
        const struct reps_options how = { .detail = true };
        load(&j, cases[i].changes);
        job_reps(&j, &how, &reps);
        int32_t n = cases[i].deferred;
        for (int32_t k = 0; k < reps.n_steps; k++) {
            struct found f = find(&reps.steps[k].program);
            bool head = k == reps.n_steps - 1;
            CU_ASSERT_EQUAL(f.inside, head ? MICROBATCHES - n : 0);
            CU_ASSERT_EQUAL(f.after, head ? n : 0);
            CU_ASSERT_EQUAL(f.gathers, head ? n : 0);
        }
        double last = reps.steps[reps.n_steps - 1].flops;
        flops = i == 0 ? last : flops;
        if (!strstr(cases[i].changes, "virtual")) /* other layers */
            CU_ASSERT_DOUBLE_EQUAL(last / flops, 1, 1e-12);
        reps_release(&reps);
        job_unload(&j);
    }
}

/* Each that is put off shortens the slowest stage's turn by the product, and is kept
 * with its input and its output's gradient: 2 b s V / t and 2 b s h / t bytes. */
static void test_time_and_memory(void)
{
    const double product_s = 2.0 * WORDS / TENSOR * HIDDEN * TOKENS / 989e12;
    const int64_t kept_B = 2LL * TOKENS * (WORDS + HIDDEN) / TENSOR;
    static const int limits[] = { 0, 2, 4 };
    struct simulate_result r[3];
    struct job jobs[3];
    for (int i = 0; i < 3; i++) {
        char changes[128];
        snprintf(changes, sizeof(changes),
                 limits[i] ? "defer_embedding_wgrad=true wgrad_deferral_limit=%d" : " ",
                 limits[i]);
        load(&jobs[i], changes);
        validation_job_run(&jobs[i], &r[i]);
    }
    double saved_s[2] = { r[0].step_time_s - r[1].step_time_s,
                          r[1].step_time_s - r[2].step_time_s };
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(saved_s[i] > 2 * product_s && saved_s[i] < 2 * 2 * product_s);
        CU_ASSERT_EQUAL(r[i + 1].memory.stages[3].activations_B -
                            r[0].memory.stages[3].activations_B,
                        limits[i + 1] * kept_B);
        for (int k = 0; k < 3; k++)
            CU_ASSERT_EQUAL(r[i + 1].memory.stages[k].peak_B,
                            r[0].memory.stages[k].peak_B);
    }
    for (int i = 0; i < 3; i++)
        job_unload(&jobs[i]);
}

/* A step in detail is the step of measured passes; of chunks messages and tensor
 * collectives share links here. */
static void test_measured(void)
{
    for (int i = 0; i < CASES; i++) {
        struct job j;
        struct simulate_result r[2];
        load(&j, cases[i].changes);
        for (int detail = 0; detail < 2; detail++)
            job_run_as(&j,
                       (struct simulate_options) { .network = FIDELITY_FLOW,
                                                   .detail = detail },
                       &r[detail]);
        CU_ASSERT_DOUBLE_EQUAL(r[0].step_time_s / r[1].step_time_s, 1, 2e-3);
        CU_ASSERT_EQUAL(r[0].memory.stages[3].peak_B, r[1].memory.stages[3].peak_B);
        job_unload(&j);
    }
}

void test_deferred_register(void)
{
    CU_pSuite s = CU_add_suite("deferred", NULL, NULL);
    CU_add_test(s, "the head's gradients run after all passes", test_order);
    CU_add_test(s, "each saves its product and is kept", test_time_and_memory);
    CU_add_test(s, "deferred gradients of measured passes", test_measured);
}
