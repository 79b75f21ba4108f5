/* SMP's tensor groups: what they put on the wire at the ends of the distributed
 * transformer and at modules that stay whole, against formulas of the sizes alone; what
 * a rank computes and holds of them; folded against unfolded. */
#include "simulate/simulate.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_smp_tensor_register(void);

static const char base_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 4, 'precision': "
    "'fp16',"
    "                'attention': 'unfused', 'microbatches': 4 },"
    "  'parallelism': { 'smp_script': { 'fused_softmax': False } },"
    "  'distribution': { 'smdistributed': { 'modelparallel': { 'enabled': True,"
    "     'parameters': { 'ddp': True, 'tensor_parallel_degree': 4 } } },"
    "     'mpi': { 'enabled': True, 'processes_per_host': 8 } } }";

enum { L = 8, H = 512, V = 8192, S = 256, B = 4, M = 4, E = 2, T = 4 };

struct job {
    struct cfg_loader loader;
    struct scenario s;
};

/* `changes`: pointer=value, or key=value of SMP's parameters, separated by blanks. */
static void load(struct job *j, const char *changes)
{
    bench_scenario(&j->loader, &j->s, base_text,
                   "/distribution/smdistributed/modelparallel/parameters/", changes);
}

static void unload(struct job *j)
{
    cfg_loader_release(&j->loader);
}

static void run(struct job *j, bool unfold, struct simulate_result *r)
{
    struct err err = { 0 };
    struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = unfold };
    CU_ASSERT_EQUAL_FATAL(simulate(r, &j->loader.arena, &j->s, &how, &err), 0);
}

/* Sizes of the collectives of one kind, over the ranks of all stages. */
static double bytes_of(const char *changes, enum channel channel, enum coll_op op)
{
    struct job j;
    load(&j, changes);
    double sum = bench_comm_B(&j.loader, &j.s, channel, op);
    unload(&j);
    return sum;
}

/* In units of the stream of all the group's tokens, of one microbatch. */
struct volumes {
    const char *changes;
    double reduced, gathered, scattered, exchanged, numbers;
};

#define WHOLE_ATTENTION "/model/n_head=2"
#define WHOLE_MLP "/model/n_inner=2050"
#define SPEED "optimize=\"speed\""
#define PRESCALED "prescaled_batch=true"

/* Numbers: sums of one fp32 number a token. Ends: gathered in one direction each by
 * ranks that hold whole streams, exchanged in both by those that hold slices. */
static void test_volumes(void)
{
    static const struct volumes cases[] = {
        { SPEED, 4 * L, 2, 0, 0, 0 },
        { SPEED " " PRESCALED, 4 * L, 2, 0, 0, 0 },
        { "", 0, 9 * L, 9 * L, 4.0 / T, 8 * L },
        { PRESCALED, 0, 9 * L + 4, 9 * L, 0, 8 * L },
        { "/parallelism/tensor_policy=\"smp-gather\"", 0, 6 * L, 4 * L, 4.0 / T,
          8 * L },
        { SPEED " " WHOLE_ATTENTION, 2 * L, 2 * L + 2, 0, 0, 0 },
        { SPEED " " PRESCALED " " WHOLE_ATTENTION, 2 * L, 2, 0, 0, 0 },
        { WHOLE_ATTENTION, 0, 5 * L, 5 * L, (4 * L + 4.0) / T, 4 * L },
        /* layers hand on what each rank brought: embedding and head take it as it is */
        { SPEED " " WHOLE_MLP, 2 * L, 2 * L, 0, 0, 0 },
        { SPEED " " WHOLE_ATTENTION " " WHOLE_MLP, 0, 0, 0, 0, 0 },
        { SPEED " /parallelism/smp_script/distribute_embedding=true", 4 * L + 2, 0, 0,
          0, 3 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct volumes *v = &cases[i];
        bool own = !strstr(v->changes, "prescaled");
        double tokens = (double)B * S * (own ? T : 1), unit = M * tokens * H * E;
        double numbers_B = M * tokens * 4 * v->numbers;
        const double expected[] = { v->reduced * unit + numbers_B, v->gathered * unit,
                                    v->scattered * unit, v->exchanged * unit };
        static const enum coll_op ops[] = { COLL_ALL_REDUCE, COLL_ALL_GATHER,
                                            COLL_REDUCE_SCATTER, COLL_ALLTOALL };
        for (int k = 0; k < 4; k++) {
            double got = bytes_of(v->changes, CHANNEL_TENSOR, ops[k]);
            if (fabs(got - expected[k]) > 1e-9 * unit)
                fprintf(stderr, "%s: op %d: %.17g for %.17g\n", v->changes, k,
                        got / unit, expected[k] / unit);
            CU_ASSERT_DOUBLE_EQUAL(got, expected[k], 1e-9 * unit);
        }
    }
}

/* Gradients are gathered after an MLP that is whole and before attention computes. */
static void test_places(void)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    int32_t n = 0;
    load(&j, SPEED " " WHOLE_MLP);
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    const struct program *p = &reps.steps[0].program;
    const char *before = "";
    for (int32_t i = 0; i < p->tasks.n; i++) {
        const struct task *t = &p->tasks.v[i];
        bool gathers = t->comm >= 0 &&
                       p->comms.v[t->comm].request.op == COLL_ALL_GATHER &&
                       t->tag.work == WORK_BACKWARD;
        if (gathers)
            CU_ASSERT_STRING_EQUAL(before, "residual2_sum_bwd");
        n += gathers;
        before = t->tag.label ? t->tag.label : before;
    }
    CU_ASSERT_EQUAL(n, M * L);
    reps_release(&reps);
    unload(&j);
}

/* Gradients of what is whole are summed over data and tensor ranks. */
static void test_gradients(void)
{
    const double ends = (double)V * H + S * H + 2 * H, mlp = 8.0 * H * H + 7 * H,
                 attention = 4.0 * H * H + 6 * H;
    CU_ASSERT_DOUBLE_EQUAL(bytes_of(SPEED, CHANNEL_WHOLE_DATA, COLL_ALL_REDUCE),
                           ends * E, 1);
    CU_ASSERT_DOUBLE_EQUAL(
        bytes_of(SPEED " " WHOLE_ATTENTION, CHANNEL_WHOLE_DATA, COLL_ALL_REDUCE),
        (ends + L * attention) * E, 1);
    CU_ASSERT_DOUBLE_EQUAL(
        bytes_of(SPEED " " WHOLE_ATTENTION, CHANNEL_DATA, COLL_ALL_REDUCE),
        L * ((mlp - 3.0 * H) / T + 3.0 * H) * E, 1);
    /* one rank for each data index, and still tensor ranks to sum over */
    CU_ASSERT_DOUBLE_EQUAL(bytes_of("/cluster/count=1 tensor_parallel_degree=8 " SPEED,
                                    CHANNEL_WHOLE_DATA, COLL_ALL_REDUCE),
                           ends * E, 1);
    CU_ASSERT_DOUBLE_EQUAL(bytes_of(SPEED " shard_optimizer_state=true",
                                    CHANNEL_WHOLE_DATA, COLL_ALL_GATHER),
                           ends * E, 1);
}

/* A rank's FLOPs do not change where it runs a whole module on its own samples; on all
 * of the group's they grow by what it no longer shares. */
static void test_flops(void)
{
    struct simulate_result shared, whole;
    struct job j;
    const double attention = (double)B * S * (8.0 * H * H + 4.0 * S * H);
    for (int prescaled = 0; prescaled < 2; prescaled++) {
        load(&j, prescaled ? PRESCALED : "");
        run(&j, false, &shared);
        unload(&j);
        load(&j, prescaled ? PRESCALED " " WHOLE_ATTENTION : WHOLE_ATTENTION);
        run(&j, false, &whole);
        double more =
            prescaled ? 3.0 * M * L * attention * (1 - 1.0 / T) / shared.executed_flops
                      : 0;
        CU_ASSERT_DOUBLE_EQUAL(whole.executed_flops / shared.executed_flops, 1 + more,
                               1e-12);
        unload(&j);
    }
}

/* The input of a layer that a checkpoint keeps: all of the stream under "speed", a
 * slice under "memory", a rank's own samples where the MLP is whole. */
static void test_checkpoints(void)
{
    static const struct {
        const char *changes;
        double streams;
    } cases[] = {
        { SPEED, 1 },
        { "", 1.0 / T },
        { SPEED " " WHOLE_MLP, 1.0 / T },
        { SPEED " " WHOLE_MLP " " PRESCALED, 1.0 / T }, /* of T times fewer samples */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char changes[256];
        struct job j;
        struct simulate_result r;
        snprintf(changes, sizeof(changes),
                 "%s /training/activation_checkpointing=\"full\"", cases[i].changes);
        load(&j, changes);
        run(&j, false, &r);
        CU_ASSERT_DOUBLE_EQUAL((double)r.layer.activations_B,
                               cases[i].streams * B * T * S * H * E, 0.5);
        unload(&j);
    }
}

static bool says(const struct simulate_result *r, const char *text)
{
    for (int32_t i = 0; i < r->n_warnings; i++)
        if (strstr(r->warnings[i].text, text))
            return true;
    return false;
}

static void test_notes(void)
{
    struct job j;
    struct simulate_result r;
    load(&j, WHOLE_ATTENTION);
    run(&j, false, &r);
    CU_ASSERT_TRUE(says(&r, "SMP leaves attention whole"));
    CU_ASSERT_TRUE(says(&r, "tensor degree 4 does not divide the model's 2 attention"));
    CU_ASSERT_FALSE(says(&r, "the MLP whole"));
    unload(&j);
    load(&j, WHOLE_MLP " " PRESCALED);
    run(&j, false, &r);
    CU_ASSERT_TRUE(says(&r, "SMP leaves the MLP whole"));
    CU_ASSERT_TRUE(says(&r, "computes all of it: tensor degree 4 does not divide the "
                            "model's 2050 intermediate columns"));
    unload(&j);
}

/* The note names the peak that a run of the other interpretation has. */
static void test_other_interpretation(void)
{
    struct job scatter, gather;
    struct simulate_result here, there;
    char text[64];
    load(&scatter, "/training/micro_batch_size=16");
    load(&gather, "/training/micro_batch_size=16 "
                  "/parallelism/tensor_policy=\"smp-gather\"");
    run(&scatter, false, &here);
    run(&gather, false, &there);
    CU_ASSERT_NOT_EQUAL(here.memory.peak_B, there.memory.peak_B);
    snprintf(text, sizeof(text), "the other interpretation: smp-gather, %.1f GB;",
             (double)there.memory.peak_B / 1e9);
    CU_ASSERT_TRUE(says(&here, text));
    unload(&gather);
    unload(&scatter);
}

/* Ranks of one stage and tensor index are alike: one of each represents all. */
static void test_folding(void)
{
    static const char *const cases[] = {
        "",
        SPEED,
        SPEED " " PRESCALED,
        PRESCALED " tensor_parallel_degree=8",
        WHOLE_ATTENTION,
        SPEED " " WHOLE_ATTENTION " " PRESCALED,
        SPEED " " WHOLE_MLP " shard_optimizer_state=true",
        SPEED " partitions=2 microbatches=4",
        SPEED " partitions=2 microbatches=4 " PRESCALED,
        "partitions=2 microbatches=4 " WHOLE_MLP " placement_strategy=\"spread\"",
        "partitions=4 microbatches=4 tensor_parallel_degree=2 " WHOLE_ATTENTION,
        SPEED " tensor_parallel_degree=16 " PRESCALED,
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        struct simulate_result r[2];
        load(&j, cases[i]);
        for (int unfold = 0; unfold < 2; unfold++)
            run(&j, unfold, &r[unfold]);
        double ratio = r[0].step_time_s / r[1].step_time_s;
        if (fabs(ratio - 1) > 1e-9)
            fprintf(stderr, "%s: folded %.12g of unfolded\n", cases[i], ratio);
        CU_ASSERT_DOUBLE_EQUAL(ratio, 1, 1e-9);
        CU_ASSERT_EQUAL(r[0].memory.peak_B, r[1].memory.peak_B);
        unload(&j);
    }
}

void test_smp_tensor_register(void)
{
    CU_pSuite suite = CU_add_suite("smp tensor groups", NULL, NULL);
    CU_add_test(suite, "volumes", test_volumes);
    CU_add_test(suite, "places of collectives", test_places);
    CU_add_test(suite, "gradients of what is whole", test_gradients);
    CU_add_test(suite, "FLOPs", test_flops);
    CU_add_test(suite, "checkpoints", test_checkpoints);
    CU_add_test(suite, "notes", test_notes);
    CU_add_test(suite, "the other interpretation", test_other_interpretation);
    CU_add_test(suite, "folding", test_folding);
}
