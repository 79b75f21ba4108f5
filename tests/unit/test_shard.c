/* Sharded units: what FSDP moves of its own (MODEL.md, 8.17). */
#include "base/units.h"
#include "scenario/scenario.h"
#include "scenario/states.h"
#include "scenario_bench.h"
#include "step/reps.h"
#include "step/update/shard_units.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_shard_register(void);

static const char sharded[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 1024, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 512, 'resid_pdrop': 0,"
    "             'attn_pdrop': 0 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 1 },"
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 2,"
    "                'precision': 'bf16', 'framework': 'fsdp-torch2' },"
    "  'parallelism': { 'library': 'fsdp', 'sharding': { 'strategy': 'full' } } }";

struct job {
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
};

static void load(struct job *j, struct framework *fw)
{
    cfg_loader_init(&j->loader);
    struct cfg root = cfg_parse(&j->loader, "text", sharded, strlen(sharded));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&j->s, &j->loader, root), 0);
    *fw = *j->s.training.framework;
    j->s.training.framework = fw;
}

static void cast(struct job *j)
{
    struct err err = { 0 };
    const struct reps_options how = { 0 };
    CU_ASSERT_EQUAL_FATAL(reps_build(&j->reps, &j->loader.arena, &j->s, &how, &err), 0);
}

/* Built as a rank of the profile with that `bucket_copy`. */
static void build(struct job *j, struct framework *fw, double bucket_copy_B)
{
    load(j, fw);
    fw->reduction.bucket_copy_B = bucket_copy_B;
    cast(j);
}

static void release(struct job *j)
{
    reps_release(&j->reps);
    cfg_loader_release(&j->loader);
}

static double labelled_s(const struct program *p, const char *label)
{
    int64_t sum_ps = 0;
    for (int64_t i = 0; i < p->tasks.n; i++)
        if (p->tasks.v[i].tag.label && strcmp(p->tasks.v[i].tag.label, label) == 0)
            sum_ps += p->tasks.v[i].alone_ps;
    return units_s(sum_ps);
}

/* FSDP joins a unit's gradients, casts and divides them before they are scattered: so
 * many bytes for each byte scattered, of all parameters once a microbatch. */
static void test_copies(void)
{
    static const char label[] = "gradients to flat parameter";
    struct job none, some;
    struct framework fw[2];
    build(&none, &fw[0], 0);
    build(&some, &fw[1], 4.5);
    const struct gpu *gpu = some.reps.gpus[0];
    struct op_list list;
    struct err err = { 0 };
    struct op_settings settings = scenario_op_settings(&some.s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&list, &some.loader.arena, &some.s.model, &settings, &err), 0);
    double wire_B = states_wire_B(&some.s) * (double)op_list_parameters(&list);
    double expected_s = 4.5 * wire_B / (gpu->stream_frac * gpu->hbm_Bps) +
                        (8 + 1) * gpu->kernel_s; /* layers, and the root */
    double got_s = labelled_s(some.reps.programs[0], label);
    CU_ASSERT(fabs(got_s / expected_s - 1) < 1e-6);
    CU_ASSERT_EQUAL(labelled_s(none.reps.programs[0], label), 0);
    release(&none);
    release(&some);
}

/* A fp32 copy of which the 16 bits that the parameter lacks are held. */
static void test_remainders(void)
{
    struct job j;
    struct framework fw;
    build(&j, &fw, 0);
    CU_ASSERT_EQUAL(states_of(&j.s).optimizer_B * 8, 4 + 4 + 4);
    fw.gradients.master_16bit_B = 2;
    CU_ASSERT_EQUAL(states_of(&j.s).optimizer_B * 8, 2 + 4 + 4);
    release(&j);
}

/* A checkpoint that is computed again up to the last tensor needed leaves out the MLP's
 * last product, and the sum after it (MODEL.md, 8.20). */
static void test_stops(void)
{
    double flops[2], time_s[2];
    for (int stops = 0; stops < 2; stops++) {
        struct job j;
        struct framework fw;
        load(&j, &fw);
        fw.tensors.recompute_stops = stops;
        j.s.training.checkpointing = CHECKPOINT_FULL;
        cast(&j);
        flops[stops] = j.reps.steps[0].flops;
        time_s[stops] = labelled_s(j.reps.programs[0], "residual2");
        release(&j);
    }
    double tokens = 2.0 * 512, h = 1024;
    CU_ASSERT_EQUAL(flops[0] - flops[1], 8 * 2 * tokens * 4 * h * h);
    CU_ASSERT(fabs(time_s[0] / time_s[1] - 2) < 1e-9); /* forward alone is left */
}

static double computed_s(const struct program *p)
{
    int64_t sum_ps = 0;
    for (int64_t i = 0; i < p->tasks.n; i++)
        if (p->tasks.v[i].stream == STREAM_COMPUTE && p->tasks.v[i].comm < 0)
            sum_ps += p->tasks.v[i].alone_ps;
    return units_s(sum_ps);
}

/* Ranks wait for the slowest of them in each unit, by a share of its time that grows
 * with their number beyond a node's eight (MODEL.md, 8.22). */
static void test_slowest(void)
{
    static const double beyond = 0.593435; /* sqrt(2 ln 32) - sqrt(2 ln 8) */
    double waits_s[3];
    for (int i = 0; i < 3; i++) { /* 8 ranks; 32; 32 of twice the spread */
        struct job j;
        struct framework fw;
        bench_scenario(&j.loader, &j.s, sharded, "/cluster/",
                       i ? "count=4" : "count=1");
        fw = *j.s.training.framework;
        fw.shard.unit_spread = i == 2 ? 0.06 : 0.03;
        j.s.training.framework = &fw;
        cast(&j);
        const struct program *p = j.reps.programs[0];
        waits_s[i] = labelled_s(p, "waits for the slowest rank");
        double units =
            waits_s[i] / (fw.shard.unit_spread * beyond); /* and their time */
        CU_ASSERT(i == 0 || (units > 0.5 * computed_s(p) && units < computed_s(p)));
        release(&j);
    }
    CU_ASSERT_EQUAL(waits_s[0], 0);
    CU_ASSERT(fabs(waits_s[2] / waits_s[1] - 2) < 1e-6);
}

struct spent {
    double flops;
    int64_t peak_B, left_B; /* activations: the most kept, and after the step */
};

static struct spent spent_of(struct job *j, enum checkpointing how, int64_t every)
{
    j->s.training.attention = OP_ATTENTION_FLASH;
    j->s.training.checkpointing = how;
    j->s.training.checkpoint_every = every;
    cast(j);
    const struct ledger *l = &j->reps.steps[0].ledger;
    struct spent spent = { j->reps.steps[0].flops, l->peak_activations_B,
                           l->live_B[LEDGER_ACTIVATIONS] };
    release(j);
    return spent;
}

static struct spent spent_with(enum checkpointing how, int64_t every)
{
    struct job j;
    struct framework fw;
    load(&j, &fw);
    return spent_of(&j, how, every);
}

/* Checkpoints of some layers, and of some operators of each (MODEL.md, 8.23): of 8
 * layers 4 are computed again; of a layer's four products and its attention the second
 * product is, the fourth would be after all that backward needs. */
static void test_partly(void)
{
    double tokens = 2.0 * 512, h = 1024;
    struct spent none = spent_with(CHECKPOINT_NONE, 1);
    struct spent full = spent_with(CHECKPOINT_FULL, 1);
    struct spent some = spent_with(CHECKPOINT_FULL, 2);
    struct spent part = spent_with(CHECKPOINT_OPERATORS, 1);
    CU_ASSERT_DOUBLE_EQUAL(some.flops - none.flops, (full.flops - none.flops) / 2, 1);
    CU_ASSERT_DOUBLE_EQUAL(part.flops - none.flops, 8 * 2 * tokens * h * h, 1);
    CU_ASSERT(full.peak_B < some.peak_B && some.peak_B < none.peak_B);
    CU_ASSERT(full.peak_B < part.peak_B && part.peak_B < none.peak_B);
    CU_ASSERT(none.left_B == 0 && full.left_B == 0 && some.left_B == 0);
    CU_ASSERT_EQUAL(part.left_B, 0);
}

/* A rank counts through its chunks: of four of a layer each, two have checkpoints. */
static void test_partly_of_chunks(void)
{
    static const struct {
        enum checkpointing how;
        int64_t every;
    } cases[] = { { CHECKPOINT_NONE, 1 },
                  { CHECKPOINT_FULL, 1 },
                  { CHECKPOINT_FULL, 2 } };
    double flops[3];
    for (int i = 0; i < 3; i++) {
        struct job j;
        bench_scenario(&j.loader, &j.s, bench_gpt2, "/parallelism/",
                       "library=megatron pipeline=2 virtual_stages=4 "
                       "schedule=interleaved /training/microbatches=4");
        flops[i] = spent_of(&j, cases[i].how, cases[i].every).flops;
    }
    CU_ASSERT(flops[1] > flops[0]);
    CU_ASSERT_DOUBLE_EQUAL(flops[2] - flops[0], (flops[1] - flops[0]) / 2, 1);
}

/* FSDP shards all that it wraps unless a strategy says less; DeepSpeed's ZeRO starts at
 * stage 0, and DDP has nothing to shard. */
static void test_unsaid(void)
{
    static const struct {
        const char *parallelism;
        enum sharding sharding;
    } cases[] = {
        { "{ 'library': 'fsdp' }", SHARDING_FULL },
        { "{ 'library': 'fsdp', 'sharding': { 'degree': 4 } }", SHARDING_FULL },
        { "{ 'library': 'fsdp', 'sharding': { 'strategy': 'none' } }", SHARDING_NONE },
        { "{ 'library': 'deepspeed' }", SHARDING_NONE },
        { "{ 'library': 'ddp' }", SHARDING_NONE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cfg_loader loader;
        struct scenario s;
        char text[400];
        snprintf(text, sizeof(text),
                 "{ 'model': 'gpt2', 'cluster': { 'instance': 'p4d.24xlarge' },"
                 "  'training': { 'sequence_length': 512, 'micro_batch_size': 2 },"
                 "  'parallelism': %s }",
                 cases[i].parallelism);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
        CU_ASSERT_EQUAL(scenario_read(&s, &loader, root), 0);
        CU_ASSERT_EQUAL(s.parallel.shard.strategy, cases[i].sharding);
        cfg_loader_release(&loader);
    }
}

/* DeepSpeed gathers each tensor by itself: ahead of its use where the one before it, of
 * the block before for the first, leaves room among the live parameters. Recomputation
 * finds those that are needed again too late to be kept (MODEL.md, R8.1). */
static void test_tensors(void)
{
    struct op_param params[] = { { .elements = 10 },
                                 { .elements = 200 },
                                 { .elements = 5 }, /* small: it stays whole */
                                 { .elements = 30 },
                                 { .elements = 40 } };
    struct op_block block = {
        .name = "layer", .repeat = 1, .params = params, .n_params = 5, .n_backward = 1
    };
    struct slice slice = { .block = 0, .repeat = 1 };
    struct chunk_slices chunk = { 1, &slice };
    struct units u = { 0 };
    struct job j;
    struct framework fw;
    load(&j, &fw);
    fw.shard.tensors = true;
    fw.shard.synchronous = false;
    j.s.training.checkpointing = CHECKPOINT_FULL;
    j.s.parallel.shard.prefetch = 1;
    j.s.parallel.shard.live_elements = 100;
    j.s.parallel.shard.reuse_elements = 80;
    j.s.parallel.shard.persistence_elements = 5;
    j.s.parallel.shard.bucket_elements = 50;
    const struct stage stage = { .arena = &j.loader.arena,
                                 .s = &j.s,
                                 .fw = &fw,
                                 .list = { .blocks = &block, .n_blocks = 1 },
                                 .chunks = &chunk };
    shard_units_list(&stage, 0, &u);
    CU_ASSERT_EQUAL_FATAL(u.n, 2); /* the root is empty */
    const struct unit *v = &u.v[1];
    CU_ASSERT_EQUAL(v->tensors, 4);
    CU_ASSERT_EQUAL(v->elements, 280);
    CU_ASSERT_EQUAL(v->summed, 285);
    CU_ASSERT_EQUAL(v->first[AHEAD].n, 3);
    CU_ASSERT_EQUAL(v->first[AHEAD].elements, 10 + 200 + 40);
    CU_ASSERT_EQUAL(v->first[IN_THE_OPEN].n, 1);
    CU_ASSERT_EQUAL(v->first[IN_THE_OPEN].elements, 30);
    CU_ASSERT_EQUAL(v->again[IN_THE_OPEN].n, 1); /* 200 are in use after it */
    CU_ASSERT_EQUAL(v->again[IN_THE_OPEN].elements, 10);
    CU_ASSERT_EQUAL(v->again[AHEAD].n, 1); /* twice 40 after the third are kept */
    CU_ASSERT_EQUAL(v->again[AHEAD].elements, 200);
    CU_ASSERT_EQUAL(v->live, 200 + 10);
    CU_ASSERT_EQUAL(v->held, 200);
    cfg_loader_release(&j.loader);
}

void test_shard_register(void)
{
    CU_pSuite s = CU_add_suite("shard", NULL, NULL);
    CU_add_test(s, "FSDP's copies of gradients", test_copies);
    CU_add_test(s, "strategies left unsaid", test_unsaid);
    CU_add_test(s, "tensors that are gathered by themselves", test_tensors);
    CU_add_test(s, "remainders of fp32 parameters", test_remainders);
    CU_add_test(s, "waits for the slowest rank", test_slowest);
    CU_add_test(s, "recomputation that stops early", test_stops);
    CU_add_test(s, "checkpoints of some layers and operators", test_partly);
    CU_add_test(s, "checkpoints of some layers, over chunks", test_partly_of_chunks);
}
