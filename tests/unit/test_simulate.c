/* Whole steps: folded against unfolded, passes measured once against passes in detail,
 * and what must be conserved. */
#include "op_bench.h"
#include "run/run.h"
#include "step/reps.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_simulate_register(void);

#define MIXTRAL                                                           \
    "/model={\"model_type\":\"mixtral\",\"num_hidden_layers\":4,"         \
    "\"hidden_size\":512,\"num_attention_heads\":16,\"vocab_size\":8192," \
    "\"intermediate_size\":1024,\"max_position_embeddings\":256,"         \
    "\"num_local_experts\":8,\"num_experts_per_tok\":2}"

#define OVERLAP "overlap=true overlap_param_gather=true"
#define FLASH "/training/attention=\"flash\""
#define CHECKPOINTS "/training/activation_checkpointing=\"full\""
#define OFFLOADED "offload_activations=true"

static const char *const mixed[] = {
    "tensor=2",
    "tensor=4",
    "tensor=8",
    "tensor=16",
    "tensor=2 sequence_parallel=true",
    "tensor=8 placement=\"TPD\"",
    "tensor=2 placement=\"PTD\"",
    "pipeline=2",
    "pipeline=4",
    "pipeline=8",
    "pipeline=2 placement=\"spread\"",
    "pipeline=4 placement=\"PDT\"",
    "pipeline=4 virtual_stages=2 schedule=\"interleaved\"",
    "pipeline=2 virtual_stages=4 schedule=\"interleaved\"",
    "pipeline=4 schedule=\"gpipe\"",
    "pipeline=4 schedule=\"zb-h1\"",
    "pipeline=4 schedule=\"zb-v\"",
    "pipeline=4 schedule=\"zb-v\" tensor=2 placement=\"PDT\" /training/microbatches=12",
    "pipeline=4 schedule=\"dualpipe-v\" /training/microbatches=12",
    "pipeline=2 schedule=\"dualpipe-v\" placement=\"spread\" "
    "/training/microbatches=8",
    "pipeline=2 virtual_stages=3 schedule=\"looped-bfs\"",
    "pipeline=4 virtual_stages=2 schedule=\"interleaved-zb\" tensor=2",
    "pipeline=4 schedule=\"smp-interleaved\" library=\"smp\"",
    "pipeline=2 schedule=\"smp-simple\" library=\"smp\" tensor=2",
    "pipeline=4 schedule=\"smp-interleaved\" library=\"smp\" "
    "broadcast_outputs=\"logits\"",
    "pipeline=2 placement=\"spread\" schedule=\"smp-simple\" library=\"smp\" "
    "broadcast_outputs=\"logits\" /training/gradient_clipping=1",
    "tensor=2 pipeline=2",
    "tensor=4 pipeline=2",
    "tensor=4 pipeline=4",
    "tensor=8 pipeline=2",
    "tensor=2 pipeline=4 placement=\"DTP\"",
    "tensor=2 pipeline=2 placement=\"TPD\"",
    "tensor=2 pipeline=2 sharding={\"strategy\":\"optimizer\"}",
    "sharding={\"strategy\":\"optimizer\"}",
    "sharding={\"strategy\":\"gradients\"} library=\"deepspeed\"",
    "sharding={" OPTIMIZER "} library=\"smp\"",
    "tensor=2 pipeline=2 sharding={" OPTIMIZER "} library=\"smp\" "
    "schedule=\"smp-interleaved\" /cluster/count=4",
    "sharding={" OPTIMIZER "} " OVERLAP " bucket_size=\"2MiB\"",
    "tensor=2 pipeline=2 sharding={" OPTIMIZER "} " OVERLAP,
    "pipeline=2 virtual_stages=2 schedule=\"interleaved\" sharding={" OPTIMIZER
    "} " OVERLAP " bucket_size=\"2MiB\" /training/gradient_accumulation_steps=6",
    "expert=4 pipeline=2 sharding={" OPTIMIZER "} " OVERLAP " " MIXTRAL,
    "sharding={" FULL "}",
    "sharding={" FULL ",\"degree\":4}",
    "sharding={" FULL ",\"degree\":8} tensor=2 library=\"fsdp\"",
    "sharding={" FULL ",\"backward_prefetch\":false}",
    "sharding={" FULL ",\"prefetch\":0} /training/activation_checkpointing=\"full\"",
    "tensor=2 pipeline=2 /training/activation_checkpointing=\"selective\"",
    "/cluster/count=4 tensor=8",
    "/cluster/count=4 tensor=4 pipeline=4",
    "/cluster/count=4 sharding={" FULL ",\"degree\":8}",
    "pipeline=2 library=\"ddp\" /training/gradient_accumulation_steps=6 "
    "/training/microbatches=2",
    "context=2 /training/attention=\"flash\"",
    "context=4 tensor=2 /training/attention=\"flash\"",
    "context=2 pipeline=2 context_comm=\"all-gather\" /training/attention=\"flash\"",
    "context=2",
    "context=2 tensor=2 context_comm=\"alltoall\" /training/attention=\"flash\"",
    "context=4 pipeline=2 context_comm=\"alltoall\"",
    "/cluster/count=4 context=8 context_comm=\"alltoall+ring\" context_inner=2 " FLASH,
    "/cluster/count=4 context=4 tensor=2 pipeline=2 context_comm=\"alltoall+ring\" "
    "context_inner=2 " FLASH,
    "expert=2 " MIXTRAL,
    "expert=8 tensor=2 " MIXTRAL,
    /* groups of several kinds on the same NICs */
    "expert=4 context=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=8 context=4 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=8 sharding={" FULL ",\"prefetch\":2} " MIXTRAL,
    "expert=2 context=2 tensor=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=4 tensor=2 sharding={" FULL "} " MIXTRAL,
    "expert=4 tensor=4 sequence_parallel=true " MIXTRAL,
    "expert=8 expert_tensor=1 tensor=4 sequence_parallel=true " MIXTRAL,
    "expert=8 tensor=2 expert_dispatcher=\"deepep\" " MIXTRAL,
    "/cluster/count=4 expert=8 expert_tensor=1 tensor=2 pipeline=2 "
    "sequence_parallel=true expert_dispatcher=\"deepep\" "
    "expert_overlap=\"microbatches\" /training/microbatches=4 " MIXTRAL,
    "expert=8 expert_dispatcher=\"allgather\" " MIXTRAL,
    "expert=2 expert_tensor=2 tensor=8 sequence_parallel=true sharding={" OPTIMIZER
    "} " MIXTRAL,
    "/cluster/count=4 expert=8 expert_tensor=1 tensor=2 pipeline=2 "
    "sequence_parallel=true sharding={" OPTIMIZER "} placement=\"PDT\" " MIXTRAL,
    "/cluster/count=4 expert=8 expert_tensor=1 tensor=4 context=2 " FLASH
    " sequence_parallel=true sharding={" OPTIMIZER "} " MIXTRAL,
    "expert=4 context=2 " FLASH " sharding={" OPTIMIZER "} " MIXTRAL,
    "expert=4 pipeline=2 sharding={" OPTIMIZER "} " MIXTRAL,
    "expert=2 context=2 pipeline=2 " FLASH " placement=\"spread\" " MIXTRAL,
    "/cluster/count=4 expert=8 context=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "/cluster/count=3 expert=4 context=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "/cluster/count=4 context=8 " FLASH " sharding={" FULL ",\"degree\":8}",
    "/cluster/count=4 context=2 tensor=2 " FLASH " sharding={" FULL ",\"degree\":8}",
    "/cluster/count=2 sharding={" FULL ",\"degree\":2}",
    "/cluster/count=4 sharding={" FULL ",\"degree\":16}",
    "/cluster/count=4 tensor=2 sharding={" OPTIMIZER ",\"degree\":4}",
    "sharding={" FULL ",\"hierarchical_allgather\":true} library=\"deepspeed\"",
    "tensor=2 pipeline=2 placement=\"spread\" sharding={" OPTIMIZER "}",
    "/cluster/count=4 tensor=2 pipeline=4 placement=\"spread\"",
    "/cluster/count=3 tensor=2 pipeline=4 placement=\"DPT\"",
    "/cluster/count=4 context=2 pipeline=2 placement=\"PTD\" " FLASH,
    "context=4 sharding={" FULL ",\"degree\":4} " FLASH " " CHECKPOINTS,
    "sharding={" FULL ",\"degree\":8} " CHECKPOINTS " " OFFLOADED,
    "tensor=2 pipeline=2 " CHECKPOINTS " " OFFLOADED,
    "/cluster/count=3 pipeline=3 placement=\"spread\"",
    "/cluster/count=6 pipeline=3 tensor=8",
    /* sharded parameters in pipelines */
    "sharding={" FULL ",\"offload\":\"parameters\"}",
    "sharding={" OPTIMIZER ",\"offload\":\"optimizer\"} library=\"deepspeed\"",
    "pipeline=4 sharding={" FULL "}",
    "pipeline=4 schedule=\"gpipe\" sharding={" FULL ",\"reshard_after_forward\":true}",
    "pipeline=2 tensor=2 sharding={" FULL ",\"degree\":2} placement=\"spread\"",
    "pipeline=2 virtual_stages=2 schedule=\"interleaved\" sharding={" FULL "}",
    "pipeline=2 schedule=\"zb-h1\" sharding={" FULL "}",
    "pipeline=2 schedule=\"zb-v\" sharding={" FULL "}",
    "pipeline=2 schedule=\"dualpipe-v\" sharding={" FULL
    ",\"reshard_after_forward\":true} /training/microbatches=8",
    "/cluster/count=4 expert=4 pipeline=2 schedule=\"dualpipe-v\" "
    "library=\"megatron\" expert_overlap=\"microbatches\" "
    "/training/microbatches=8 " FLASH " " MIXTRAL,
    "pipeline=2 " CHECKPOINTS " sharding={" FULL ",\"reshard_after_forward\":true}",
    "pipeline=2 sharding={" FULL "} /training/gradient_accumulation_steps=6 "
    "/training/microbatches=2",
    "/cluster/count=4 expert=4 context=2 pipeline=2 " FLASH " sharding={" FULL
    "} " MIXTRAL,
    /* other machines: PCIe, sockets */
    "/cluster/instance=\"g4dn.12xlarge\" pipeline=4 placement=\"spread\"",
    "/cluster/instance=\"p5.48xlarge\" tensor=4 context=2 " FLASH " sharding={" FULL
    "}",
};

enum { N_MIXED = sizeof(mixed) / sizeof(*mixed) };

static void test_folded(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result folded, unfolded;
        job_load(&j, mixed[i]);
        validation_job_run(&j, &folded);
        job_run_as(
            &j, (struct simulate_options) { .network = FIDELITY_FLOW, .unfold = true },
            &unfolded);
        CU_ASSERT_TRUE(folded.folded && !unfolded.folded);
        CU_ASSERT_TRUE(unfolded.events > folded.events);
        if (!job_near(folded.step_time_s, unfolded.step_time_s, 1e-9))
            fprintf(stderr, "%s: folded %.12g, unfolded %.12g\n", mixed[i],
                    folded.step_time_s, unfolded.step_time_s);
        CU_ASSERT_TRUE(job_near(folded.step_time_s, unfolded.step_time_s, 1e-9));
        CU_ASSERT_EQUAL(folded.memory.peak_B, unfolded.memory.peak_B);
        job_unload(&j);
    }
}

/* Where groups lie unlike over instances or wires a few ranks are all simulated; of
 * many the first of each stage represents the others, and that is said. */
static void test_uneven(void)
{
    static const struct {
        const char *changes;
        bool folded;
        const char *said; /* NULL: nothing */
    } cases[] = {
        { "/cluster/count=3 tensor=2 pipeline=4 placement=\"PDT\"", false, NULL },
        { "/cluster/count=3 pipeline=3", false, NULL },
        { "/cluster/count=12 pipeline=3", true, "neither fill instances" },
        { "/cluster/count=3 sharding={" FULL ",\"degree\":3}", false, NULL },
        { "/cluster/count=3 pipeline=3 placement=\"spread\"", true, NULL },
        { "/cluster/count=3 sharding={" FULL ",\"degree\":8}", true, NULL },
        { "/cluster/count=72 pipeline=3", true, "neither fill instances" },
        { "/cluster/count=72 pipeline=3 placement=\"spread\"", true, NULL },
        { "/cluster/instance=\"p3dn.24xlarge\" tensor=2 pipeline=2", false, NULL },
        { "/cluster/instance=\"p3.16xlarge\" sharding={" FULL ",\"degree\":4}", false,
          NULL },
        { "/cluster/instance=\"p3.16xlarge\" sharding={" FULL "}", true, NULL },
        { "/cluster/instance=\"p3dn.24xlarge\" /cluster/count=72 tensor=2", true,
          "lie unlike on an instance's wires" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct job j;
        struct simulate_result r;
        bool said = false;
        job_load(&j, cases[i].changes);
        validation_job_run(&j, &r);
        for (int32_t k = 0; k < r.n_warnings; k++)
            said |=
                strstr(r.warnings[k].text,
                       cases[i].said ? cases[i].said : "each stage represents") != NULL;
        CU_ASSERT_EQUAL(r.folded, cases[i].folded);
        CU_ASSERT_EQUAL(said, cases[i].said != NULL);
        job_unload(&j);
    }
}

/* Time to 1e-6: a pass in detail shares links with the messages of other stages. */
static void test_detail(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result measured, detailed;
        job_load(&j, mixed[i]);
        validation_job_run(&j, &measured);
        job_run_as(
            &j, (struct simulate_options) { .network = FIDELITY_FLOW, .detail = true },
            &detailed);
        if (!job_near(measured.step_time_s, detailed.step_time_s, 1e-6))
            fprintf(stderr, "%s: measured %.12g, in detail %.12g\n", mixed[i],
                    measured.step_time_s, detailed.step_time_s);
        CU_ASSERT_TRUE(job_near(measured.step_time_s, detailed.step_time_s, 1e-6));
        CU_ASSERT_TRUE(
            job_near(measured.executed_flops, detailed.executed_flops, 1e-12));
        for (int k = 0; k < measured.memory.n_stages; k++) {
            CU_ASSERT_EQUAL(measured.memory.stages[k].activations_B,
                            detailed.memory.stages[k].activations_B);
            CU_ASSERT_EQUAL(measured.memory.stages[k].peak_B,
                            detailed.memory.stages[k].peak_B);
        }
        job_unload(&j);
    }
}

/* The parts of the critical rank make up its step. */
static void test_parts(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result r;
        double sum = 0;
        job_load(&j, mixed[i]);
        validation_job_run(&j, &r);
        for (int k = 0; k < CATEGORY_N; k++) {
            CU_ASSERT_TRUE(r.parts_s[k] >= 0);
            sum += k == CATEGORY_DATA_COMM_HIDDEN ? 0 : r.parts_s[k];
        }
        CU_ASSERT_TRUE(job_near(sum, r.step_time_s, 1e-9));
        job_unload(&j);
    }
}

/* FLOPs of a step, all stages together, are the operator list's, however it is cut:
 * what is sliced over the tensor group is so on every rank. */
static void test_flops(void)
{
    static const char *const cuts[] = { "pipeline=2",
                                        "pipeline=4",
                                        "pipeline=4 schedule=\"zb-h1\"",
                                        "pipeline=4 schedule=\"zb-v\"",
                                        "pipeline=4 schedule=\"dualpipe-v\" "
                                        "/training/microbatches=8",
                                        "pipeline=4 virtual_stages=2 "
                                        "schedule=\"interleaved\"" };
    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        struct job j;
        struct simulate_result r;
        struct op_list list;
        struct err err = { 0 };
        job_load(&j, cuts[i]);
        validation_job_run(&j, &r);
        struct op_settings settings = scenario_op_settings(&j.s);
        CU_ASSERT_EQUAL_FATAL(
            op_list_make(&list, &j.loader.arena, &j.s.model, &settings, &err), 0);
        double each = op_list_flops(&list, false) + op_list_flops(&list, true);
        CU_ASSERT_TRUE(job_near(r.executed_flops, each * 8, 1e-12));
        job_unload(&j);
    }
}

/* Buffers that live on from step to step. */
static int64_t buffers_before_B(const struct ledger *l)
{
    int64_t sum_B = 0;
    for (int64_t i = 0; i < l->n_before; i++)
        if (l->events.v[i].kind == LEDGER_BUFFERS)
            sum_B += l->events.v[i].size_B;
    return sum_B;
}

/* What a step allocates it frees: at its end there is what was there at its begin, and
 * the gradients (and the update's workspace). */
/* cuBLAS's workspaces of two threads are counted before their events come. */
static void test_allocations(void)
{
    const int64_t small_B = 2 * (2 * 4096 + 8 * 16) * 1024, large_B = 2 * 32 << 20;
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct reps reps;
        const struct reps_options how = { 0 };
        job_load(&j, mixed[i]);
        job_reps(&j, &how, &reps);
        for (int32_t k = 0; k < reps.n_steps; k++) {
            const struct ledger *l = &reps.steps[k].ledger;
            CU_ASSERT_EQUAL(l->live_B[LEDGER_ACTIVATIONS], 0);
            int64_t more_B = l->live_B[LEDGER_BUFFERS] - buffers_before_B(l);
            CU_ASSERT(more_B == 0 || more_B == small_B || more_B == large_B);
        }
        reps_release(&reps);
        job_unload(&j);
    }
}

/* Ranks that wait for each other are the program's fault, not the input's. */
static void test_fault(void)
{
    struct job j;
    struct reps reps;
    struct run_result r;
    struct err err = { 0 };
    job_load(&j, "pipeline=2");
    job_reps(&j, &(struct reps_options) { 0 }, &reps);
    struct program broken = *reps.programs[0];
    struct task first = broken.tasks.v[0];
    broken.tasks.v[0].after[0] = (int32_t)broken.tasks.n - 1; /* which comes later */
    const struct run_request request = { .plans = { &j.loader.arena, reps.net,
                                                    &reps.groups },
                                         .network = FIDELITY_FLOW,
                                         .n_ranks = reps.n_ranks,
                                         .programs = reps.programs,
                                         .ranks = reps.ranks };
    CU_ASSERT_NOT_EQUAL(run_programs(&request, &r, &err), 0);
    CU_ASSERT_TRUE(err.fault);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a fault of smsim, not of what it was "));
    broken.tasks.v[0] = first;
    err = (struct err) { 0 };
    CU_ASSERT_EQUAL(run_programs(&request, &r, &err), 0);
    CU_ASSERT_FALSE(err.fault);
    reps_release(&reps);
    job_unload(&j);
}

static double same_factor(void *arg, const struct coll_plan *plan, enum channel channel,
                          int64_t first, int32_t nth)
{
    (void)plan;
    (void)channel;
    (void)first;
    (void)nth;
    return *(double *)arg;
}

/* The step of representative ranks when everything takes `by` times as long, with nothing
 * else asked for, or all. */
static double paced_s(const struct reps *reps, double by, bool time_alone)
{
    struct arena arena;
    struct run_result r = { 0 };
    struct err err = { 0 };
    int64_t most = 0;
    for (int64_t i = 0; i < reps->n_ranks; i++)
        most = reps->programs[i]->tasks.n > most ? reps->programs[i]->tasks.n : most;
    arena_init(&arena);
    double *each = ARENA_ARRAY(&arena, most, double);
    const double **all = ARENA_ARRAY(&arena, reps->n_ranks, const double *);
    for (int64_t i = 0; i < most; i++)
        each[i] = by;
    for (int64_t i = 0; i < reps->n_ranks; i++)
        all[i] = each;
    const struct run_factors factors = { all, all, same_factor, &by };
    const struct run_request request = { .plans = { &arena, reps->net, &reps->groups },
                                         .network = FIDELITY_FLOW,
                                         .n_ranks = reps->n_ranks,
                                         .programs = reps->programs,
                                         .ranks = reps->ranks,
                                         .factors = by > 0 ? &factors : NULL,
                                         .time_alone = time_alone };
    CU_ASSERT_EQUAL(run_programs(&request, &r, &err), 0);
    arena_release(&arena);
    return r.time_s;
}

/* Factors of 1 change nothing at all, and links that never bind (run_world_drop_slack)
 * no time; of 2, everything is twice as long. */
static void test_factors(void)
{
    static const char *const changes[] = { "tensor=1", "tensor=2 pipeline=4",
                                           "sharding={" FULL "}",
                                           "tensor=4 pipeline=2 sharding={" OPTIMIZER
                                           "} virtual_stages=2 "
                                           "schedule=\"interleaved\"" };
    for (int i = 0; i < 4; i++)
        for (int unfold = 0; unfold < 2; unfold++) {
            struct job j;
            struct reps reps;
            const struct reps_options how = { .unfold = unfold };
            job_load(&j, changes[i]);
            job_reps(&j, &how, &reps);
            double plain_s = paced_s(&reps, 0, false);
            CU_ASSERT(plain_s > 0);
            CU_ASSERT_EQUAL(paced_s(&reps, 1, false), plain_s);
            CU_ASSERT_EQUAL(paced_s(&reps, 1, true), plain_s);
            CU_ASSERT_DOUBLE_EQUAL(paced_s(&reps, 2, true) / plain_s, 2, 1e-6);
            reps_release(&reps);
            job_unload(&j);
        }
}

/* Megatron adds gradients of a microbatch to sums of gradient_dtype. The wider sums take
 * longer, by as much each microbatch, and by half in the first, which writes alone:
 * 15.5 / 7.5 times as much in sixteen as in eight. */
static void test_sums(void)
{
    double wider_s[2];
    for (int more = 0; more < 2; more++) {
        double compute_s[2];
        for (int half = 0; half < 2; half++) {
            struct job j;
            struct simulate_result r;
            char changes[160];
            snprintf(changes, sizeof(changes),
                     "library=\"megatron\" /training/precision=\"bf16\" "
                     "/training/gradient_dtype=\"%s\" /training/microbatches=%d",
                     half ? "bf16" : "fp32", more ? 16 : 8);
            job_load(&j, changes);
            validation_job_run(&j, &r);
            compute_s[half] = r.parts_s[CATEGORY_COMPUTE];
            job_unload(&j);
        }
        wider_s[more] = compute_s[0] - compute_s[1];
        CU_ASSERT(wider_s[more] > 0);
    }
    CU_ASSERT_DOUBLE_EQUAL(wider_s[1] / wider_s[0], 15.5 / 7.5, 0.05);
}

void test_simulate_register(void)
{
    CU_pSuite s = CU_add_suite("simulate", NULL, NULL);
    CU_add_test(s, "a deadlock is no fault of the input", test_fault);
    CU_add_test(s, "folded and unfolded runs agree", test_folded);
    CU_add_test(s, "stages that lie unevenly", test_uneven);
    CU_add_test(s, "measured passes and passes in detail agree", test_detail);
    CU_add_test(s, "parts sum to the step", test_parts);
    CU_add_test(s, "FLOPs are those of the operator list", test_flops);
    CU_add_test(s, "activations are freed", test_allocations);
    CU_add_test(s, "durations at another pace", test_factors);
    CU_add_test(s, "sums of gradients by their type", test_sums);
}
