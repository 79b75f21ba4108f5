/* Muon: matrices and their products, states, owners among replicas, tensor groups. */
#include "step/stage.h"
#include "step/update/muon.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_muon_register(void);

enum { H = 4096, KV = 1024, F = 14336, V = 128256, LAYERS = 32 };

/* Llama 3 8B on 32 H100. */
static void load(struct job *j, const char *changes)
{
    static const char text[] =
        "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 4 },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
        "                'global_batch_size': 64, 'precision': 'bf16',"
        "                'optimizer': 'muon' },"
        "  'parallelism': { 'library': 'megatron', 'sharding': { 'strategy': "
        "'optimizer' } } }";
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

/* FLOPs of five iterations: 2 (2 r^2 c + r^3) each, r the shorter side. */
static double flops(double r, double c)
{
    return 5 * 2 * (2 * r * r * c + r * r * r);
}

static double layer_flops(void)
{
    return flops(H, H) * 2 + flops(KV, H) * 2 + flops(H, 2 * F) + flops(H, F);
}

/* Time of the task of a step. */
static double products_s(const struct reps *reps)
{
    const struct program *p = &reps->steps[0].program;
    double sum_s = 0;
    for (int32_t i = 0; i < p->tasks.n; i++)
        if (p->tasks.v[i].tag.label &&
            strcmp(p->tasks.v[i].tag.label, "orthogonalization") == 0)
            sum_s += (double)p->tasks.v[i].alone_ps * 1e-12;
    return sum_s;
}

static double run_s(const char *changes)
{
    struct job j;
    struct reps reps;
    const struct reps_options how = { .detail = true };
    load(&j, changes);
    job_reps(&j, &how, &reps);
    double time_s = products_s(&reps);
    reps_release(&reps);
    job_unload(&j);
    return time_s;
}

/* All 32 ranks own as many; products run at 55 to 90 % of TF32's peak. */
static void test_products(void)
{
    double all_s = run_s("sharding={\"strategy\":\"none\"}"), own_s = run_s("");
    double peak_s = LAYERS * layer_flops() / 494.7e12;
    CU_ASSERT(all_s > peak_s / 0.9 && all_s < peak_s / 0.55);
    CU_ASSERT_DOUBLE_EQUAL(all_s / own_s, 32, 1e-3);
    double fewer_s = run_s("/training/muon={\"steps\":3}");
    CU_ASSERT_DOUBLE_EQUAL(fewer_s / own_s, 0.6, 1e-3);
    /* a matrix has one owner: no rank takes less than the largest's time */
    double one_s = run_s("/cluster/count=64 /training/global_batch_size=512");
    CU_ASSERT(one_s > flops(H, 2 * F) / 494.7e12 && one_s > 2 * own_s / 16);
}

/* Whole matrices of a group of four are its ranks' each; of parts, sums of products'
 * results in between; blocks have fewer of everything. */
static void test_tensor(void)
{
    double whole_s = run_s("tensor=4");
    double parts_s = run_s("tensor=4 /training/muon={\"tensor\":\"distributed\"}");
    double blocks_s = run_s("tensor=4 /training/muon={\"tensor\":\"blockwise\"}");
    CU_ASSERT_DOUBLE_EQUAL(whole_s / run_s(""), 4, 0.05); /* a quarter of the owners */
    CU_ASSERT(parts_s < whole_s && blocks_s < whole_s);
    struct job alone;
    load(&alone, "/training/muon={\"tensor\":\"distributed\"}");
    bool said = false;
    for (int32_t i = 0; i < alone.s.n_notes; i++)
        said |= strcmp(diag_text(&alone.loader.arena, &alone.s.notes[i]),
                       "/training/muon/tensor: without effect: no tensor group divides "
                       "a matrix") == 0;
    CU_ASSERT(said);
    job_unload(&alone);
    for (int distributed = 0; distributed < 2; distributed++) {
        struct job j;
        struct reps reps;
        const struct reps_options how = { .detail = true };
        double gathered_B = 0, summed_B = 0;
        load(&j, distributed ? "tensor=4 /training/muon={\"tensor\":\"distributed\"}"
                             : "tensor=4");
        job_reps(&j, &how, &reps);
        const struct program *p = &reps.steps[0].program;
        for (int32_t i = 0; i < p->tasks.n; i++) {
            int32_t c = p->tasks.v[i].comm;
            if (c < 0 || p->tasks.v[i].tag.work != WORK_UPDATE ||
                p->comms.v[c].channel != CHANNEL_TENSOR)
                continue;
            bool gathers = p->comms.v[c].request.op == COLL_ALL_GATHER;
            *(gathers ? &gathered_B : &summed_B) += p->comms.v[c].request.size_B;
        }
        /* fp32, an eighth of the replicas' */
        double all_B = 4. * LAYERS * (2. * H * H + 2. * KV * H + 3. * F * H) / 8;
        double grams_B = 4. * LAYERS * 5 * 6 * (double)H * H / 8;
        CU_ASSERT(distributed ? gathered_B == 0 : job_near(gathered_B, all_B, 0.03));
        CU_ASSERT(distributed ? job_near(summed_B, grams_B, 0.03) : summed_B == 0);
        reps_release(&reps);
        job_unload(&j);
    }
}

/* fp32 weights and momentum of matrices; of words and norms two moments. */
static void test_memory(void)
{
    struct job j[2];
    struct simulate_result r[2];
    load(&j[0], "/training/optimizer=\"adam\"");
    load(&j[1], "");
    for (int i = 0; i < 2; i++)
        validation_job_run(&j[i], &r[i]);
    double hidden = LAYERS * (2. * H * H + 2. * KV * H + 3. * F * H);
    double adam_B = (double)r[0].memory.stages[0].optimizer_B,
           muon_B = (double)r[1].memory.stages[0].optimizer_B;
    CU_ASSERT(job_near(adam_B - muon_B, 4 * hidden / 32, 1e-3));
    CU_ASSERT(job_near(muon_B, (8 * hidden + 12 * 2. * V * H) / 32, 1e-3));
    CU_ASSERT(r[1].parts_s[CATEGORY_OPTIMIZER] > 10 * r[0].parts_s[CATEGORY_OPTIMIZER]);
    for (int i = 0; i < 2; i++)
        job_unload(&j[i]);
}

/* Experts' matrices have owners among the replicas of experts. */
static void test_experts(void)
{
    static const char text[] =
        "{ 'model': 'deepseek-v3', 'cluster': { 'instance': 'p5.48xlarge', 'count': 32 "
        "},"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
        "                'microbatches': 16, 'precision': 'bf16', 'optimizer': 'muon' "
        "},"
        "  'parallelism': { 'library': 'megatron', 'pipeline': 8,"
        "                   'sharding': { 'strategy': 'optimizer' } } }";
    double times_s[2];
    for (int i = 0; i < 2; i++) {
        struct job j;
        struct simulate_result r;
        struct reps reps;
        const struct reps_options how = { .detail = true };
        bench_scenario(&j.loader, &j.s, text, "/parallelism/",
                       i ? "expert=32" : "expert=16");
        job_reps(&j, &how, &reps);
        times_s[i] = products_s(&reps);
        reps_release(&reps);
        job_run_as(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        CU_ASSERT(r.parts_s[CATEGORY_OPTIMIZER] > 0);
        job_unload(&j);
    }
    /* half the experts a rank, half the owners */
    CU_ASSERT(job_near(times_s[0], times_s[1], 0.02));
}

static void test_fidelities(void)
{
    static const char *const changes[] = {
        "tensor=2 pipeline=2 /training/microbatches=8 "
        "/training/global_batch_size=64",
        "tensor=8 /training/muon={\"tensor\":\"distributed\"}",
        "sharding={\"strategy\":\"none\"} tensor=4",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct job j;
        struct simulate_result r[2];
        load(&j, changes[i]);
        for (int k = 0; k < 2; k++)
            job_run_as(&j,
                       (struct simulate_options) { .network = FIDELITY_FLOW,
                                                   .unfold = k == 1 },
                       &r[k]);
        CU_ASSERT(job_near(r[1].step_time_s, r[0].step_time_s, 1e-9));
        CU_ASSERT_EQUAL(r[1].memory.peak_B, r[0].memory.peak_B);
        job_unload(&j);
    }
}

static const struct {
    const char *precision, *rest, *message;
} refused[] = {
    { "fp16", "'library': 'megatron'", "loss scaling" },
    { "bf16", "'library': 'fsdp', 'sharding': { 'strategy': 'full' }", "shards" },
    { "bf16", "'library': 'deepspeed', 'sharding': { 'strategy': 'optimizer' }",
      "shards" },
    { "bf16", "'library': 'ddp', 'tensor': 2", "tensor group" },
};

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge' },"
                 "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1,"
                 "                'precision': '%s', 'optimizer': 'muon' },"
                 "  'parallelism': { %s } }",
                 refused[i].precision, refused[i].rest);
        bench_refused(text, refused[i].message);
    }
}

void test_muon_register(void)
{
    CU_pSuite s = CU_add_suite("muon", NULL, NULL);
    CU_add_test(s, "products of a rank's matrices", test_products);
    CU_add_test(s, "matrices of tensor groups", test_tensor);
    CU_add_test(s, "momentum alone, and Adam's", test_memory);
    CU_add_test(s, "matrices of experts", test_experts);
    CU_add_test(s, "one rank of each kind, and all", test_fidelities);
    CU_add_test(s, "what is refused", test_rules);
}
