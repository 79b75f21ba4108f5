/* Whole steps: folded against unfolded, passes measured once against passes in detail,
 * and what must be conserved. */
#include "config/datadir.h"
#include "parallel/scenario.h"
#include "run/run.h"
#include "simulate/simulate.h"
#include "step/cast.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_simulate_register(void);

static const char base_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
    "'fp16',"
    "                'microbatches': 8 } }";

enum { CHANGES_MAX = 8 };

struct job {
    struct cfg_loader loader;
    struct scenario s;
};

/* `changes`: pointer=value, separated by blanks; keys of parallelism without
 * pointer. */
static void load(struct job *j, const char *changes)
{
    bench_scenario(&j->loader, &j->s, base_text, "/parallelism/", changes);
}

static void unload(struct job *j)
{
    cfg_loader_release(&j->loader);
}

static void run(struct job *j, struct simulate_options options,
                struct simulate_result *r)
{
    struct err err = { 0 };
    int rc = simulate(r, &j->loader.arena, &j->s, &options, &err);
    if (rc)
        fprintf(stderr, "simulate: %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
}

#define FULL "\"strategy\":\"full\""
#define MIXTRAL                                                           \
    "/model={\"model_type\":\"mixtral\",\"num_hidden_layers\":4,"         \
    "\"hidden_size\":512,\"num_attention_heads\":16,\"vocab_size\":8192," \
    "\"intermediate_size\":1024,\"max_position_embeddings\":256,"         \
    "\"num_local_experts\":8,\"num_experts_per_tok\":2}"

#define OPTIMIZER "\"strategy\":\"optimizer\""
#define BESIDE "overlap=true overlap_param_gather=true"
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
    "sharding={" OPTIMIZER "} " BESIDE " bucket_size=\"2MiB\"",
    "tensor=2 pipeline=2 sharding={" OPTIMIZER "} " BESIDE,
    "pipeline=2 virtual_stages=2 schedule=\"interleaved\" sharding={" OPTIMIZER
    "} " BESIDE " bucket_size=\"2MiB\" /training/gradient_accumulation_steps=6",
    "expert=4 pipeline=2 sharding={" OPTIMIZER "} " BESIDE " " MIXTRAL,
    "sharding={" FULL "}",
    "sharding={" FULL ",\"degree\":4}",
    "sharding={" FULL ",\"degree\":8} tensor=2 library=\"fsdp\"",
    "sharding={" FULL ",\"backward_prefetch\":false}",
    "sharding={" FULL ",\"prefetch\":0} /training/activation_checkpointing=\"full\"",
    "tensor=2 pipeline=2 /training/activation_checkpointing=\"selective\"",
    "/cluster/count=4 tensor=8",
    "/cluster/count=4 tensor=4 pipeline=4",
    "/cluster/count=4 sharding={" FULL ",\"degree\":8}",
    "pipeline=2 /training/gradient_accumulation_steps=6 /training/microbatches=2",
    "context=2 /training/attention=\"flash\"",
    "context=4 tensor=2 /training/attention=\"flash\"",
    "context=2 pipeline=2 context_comm=\"all-gather\" /training/attention=\"flash\"",
    "context=2",
    "context=2 tensor=2 context_comm=\"alltoall\" /training/attention=\"flash\"",
    "context=4 pipeline=2 context_comm=\"alltoall\"",
    "expert=2 " MIXTRAL,
    "expert=8 tensor=2 " MIXTRAL,
    /* groups of several kinds on the same NICs */
    "expert=4 context=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=8 context=4 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=8 sharding={" FULL ",\"prefetch\":2} " MIXTRAL,
    "expert=2 context=2 tensor=2 " FLASH " sharding={" FULL "} " MIXTRAL,
    "expert=4 tensor=2 sharding={" FULL "} " MIXTRAL,
    "expert=4 tensor=4 sequence_parallel=true " MIXTRAL,
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
    "pipeline=2 " CHECKPOINTS " sharding={" FULL ",\"reshard_after_forward\":true}",
    "pipeline=2 sharding={" FULL "} /training/gradient_accumulation_steps=6 "
    "/training/microbatches=2",
    "/cluster/count=4 expert=4 context=2 pipeline=2 " FLASH " sharding={" FULL
    "} " MIXTRAL,
    /* other machines: wires of unlike width, PCIe, sockets */
    "/cluster/instance=\"p3dn.24xlarge\" tensor=2 pipeline=2",
    "/cluster/instance=\"p3.16xlarge\" sharding={" FULL ",\"degree\":4}",
    "/cluster/instance=\"g4dn.12xlarge\" pipeline=4 placement=\"spread\"",
    "/cluster/instance=\"p5.48xlarge\" tensor=4 context=2 " FLASH " sharding={" FULL
    "}",
};

enum { N_MIXED = sizeof(mixed) / sizeof(*mixed) };

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

static void test_folded(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result folded, unfolded;
        load(&j, mixed[i]);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &folded);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW, .unfold = true },
            &unfolded);
        CU_ASSERT_TRUE(folded.folded && !unfolded.folded);
        CU_ASSERT_TRUE(unfolded.events > folded.events);
        if (!near(folded.step_time_s, unfolded.step_time_s, 1e-9))
            fprintf(stderr, "%s: folded %.12g, unfolded %.12g\n", mixed[i],
                    folded.step_time_s, unfolded.step_time_s);
        CU_ASSERT_TRUE(near(folded.step_time_s, unfolded.step_time_s, 1e-9));
        CU_ASSERT_EQUAL(folded.memory.peak_B, unfolded.memory.peak_B);
        unload(&j);
    }
}

/* Where stages lie unlike over instances a few ranks are all simulated; of many the
 * first of each stage stands for the others, and that is said. */
static void test_uneven(void)
{
    static const struct {
        const char *changes;
        bool folded, said;
    } cases[] = {
        { "/cluster/count=3 tensor=2 pipeline=4 placement=\"PDT\"", false, false },
        { "/cluster/count=3 pipeline=3", false, false },
        { "/cluster/count=3 sharding={" FULL ",\"degree\":3}", false, false },
        { "/cluster/count=3 pipeline=3 placement=\"spread\"", true, false },
        { "/cluster/count=3 sharding={" FULL ",\"degree\":8}", true, false },
        { "/cluster/count=12 pipeline=3", true, true },
        { "/cluster/count=12 pipeline=3 placement=\"spread\"", true, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct job j;
        struct simulate_result r;
        bool said = false;
        load(&j, cases[i].changes);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        for (int32_t k = 0; k < r.n_warnings; k++)
            said |= strstr(r.warnings[k], "neither fill instances") != NULL;
        CU_ASSERT_EQUAL(r.folded, cases[i].folded);
        CU_ASSERT_EQUAL(said, cases[i].said);
        unload(&j);
    }
}

/* Time to 1e-6: a pass in detail shares links with the messages of other stages. */
static void test_detail(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result measured, detailed;
        load(&j, mixed[i]);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &measured);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW, .detail = true },
            &detailed);
        if (!near(measured.step_time_s, detailed.step_time_s, 1e-6))
            fprintf(stderr, "%s: measured %.12g, in detail %.12g\n", mixed[i],
                    measured.step_time_s, detailed.step_time_s);
        CU_ASSERT_TRUE(near(measured.step_time_s, detailed.step_time_s, 1e-6));
        CU_ASSERT_TRUE(near(measured.executed_flops, detailed.executed_flops, 1e-12));
        for (int k = 0; k < measured.memory.n_stages; k++) {
            CU_ASSERT_EQUAL(measured.memory.stages[k].activations_B,
                            detailed.memory.stages[k].activations_B);
            CU_ASSERT_EQUAL(measured.memory.stages[k].peak_B,
                            detailed.memory.stages[k].peak_B);
        }
        unload(&j);
    }
}

/* The parts of the critical rank make up its step. */
static void test_parts(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct simulate_result r;
        double sum = 0;
        load(&j, mixed[i]);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        for (int k = 0; k < PART_N; k++) {
            CU_ASSERT_TRUE(r.parts_s[k] >= 0);
            sum += k == PART_DATA_COMM_HIDDEN ? 0 : r.parts_s[k];
        }
        CU_ASSERT_TRUE(near(sum, r.step_time_s, 1e-9));
        unload(&j);
    }
}

/* States on the host (MODEL.md, R8.6): the GPU lacks just what is away, and waits for
 * the copies and the host's update as the law says, where nothing hides them. */
static void test_offload(void)
{
#define GRADIENTS "library=\"deepspeed\" sharding={\"strategy\":\"gradients\""
    static const char *const changes[] = {
        GRADIENTS "}",
        GRADIENTS ",\"offload\":\"optimizer\"}",
        "sharding={" FULL "}",
        "sharding={" FULL ",\"offload\":\"parameters\"}",
    };
    struct stage_memory m[4];
    double exposed_s[4], copies_s = 0, update_s = 0;
    for (int i = 0; i < 4; i++) {
        struct job j;
        struct simulate_result r;
        load(&j, changes[i]);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        m[i] = r.memory.stages[0];
        exposed_s[i] = r.parts_s[PART_OFFLOAD_EXPOSED];
        const struct instance *host = j.s.cluster.groups[0].instance;
        double n = (double)m[0].parameters_B / 2 / 16; /* a rank's shard */
        copies_s = 2 * 2 * n / host->host_pinned_Bps;
        update_s = n * (4 + 2 * 12) * 8 / host->host_memory_Bps;
        unload(&j);
    }
    CU_ASSERT(near(exposed_s[1], copies_s + update_s, 0.01));
    CU_ASSERT(exposed_s[3] > 0.99 * update_s);
    CU_ASSERT(exposed_s[0] == 0 && exposed_s[2] == 0);
    CU_ASSERT(m[0].optimizer_B > 0 && m[1].optimizer_B == 0);
    CU_ASSERT(m[0].parameters_B == m[1].parameters_B);
    CU_ASSERT(m[2].optimizer_B > 0 && m[2].parameters_B > 0 && m[2].gradients_B > 0);
    CU_ASSERT(m[3].optimizer_B == 0 && m[3].parameters_B == 0 && m[3].gradients_B == 0);
}

/* Waiting for a stage that still reduces its gradients is no bubble: the same passes in
 * more replicas, over slower wires, have the same bubble, in whatever schedule. */
static void test_waits(void)
{
    static const char *const schedules[] = { "1f1b", "gpipe", "smp-interleaved",
                                             "zb-h1" };
    for (size_t i = 0; i < sizeof(schedules) / sizeof(*schedules); i++) {
        struct simulate_result r[6];
        for (int k = 0; k < 6; k++) {
            struct job j;
            char changes[256];
            snprintf(changes, sizeof(changes),
                     "pipeline=2 overlap=false schedule=\"%s\" %s "
                     "/cluster/instance=\"p3.16xlarge\" /cluster/count=%d "
                     "/training/gradient_clipping=1",
                     schedules[i], i == 2 ? "library=\"smp\"" : "", 1 << k % 3);
            load(&j, changes);
            run(&j,
                (struct simulate_options) { .network = FIDELITY_FLOW, .unfold = k > 2 },
                &r[k]);
            unload(&j);
            CU_ASSERT(near(r[k].parts_s[PART_PIPELINE_BUBBLE],
                           r[0].parts_s[PART_PIPELINE_BUBBLE], 1e-9));
        }
        CU_ASSERT(r[0].parts_s[PART_PIPELINE_BUBBLE] > 1e-3);
        CU_ASSERT(r[1].parts_s[PART_DATA_COMM_EXPOSED] >
                  r[0].parts_s[PART_DATA_COMM_EXPOSED] + 0.03);
    }
}

/* FLOPs of a step, all stages together, are the operator list's, however it is cut:
 * what is sliced over the tensor group is so on every rank. */
static void test_flops(void)
{
    static const char *const cuts[] = { "pipeline=2", "pipeline=4",
                                        "pipeline=4 schedule=\"zb-h1\"",
                                        "pipeline=4 virtual_stages=2 "
                                        "schedule=\"interleaved\"" };
    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        struct job j;
        struct simulate_result r;
        struct op_list list;
        struct err err = { 0 };
        load(&j, cuts[i]);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        struct op_settings settings = scenario_op_settings(&j.s);
        CU_ASSERT_EQUAL_FATAL(
            op_list_make(&list, &j.loader.arena, &j.s.model, &settings, &err), 0);
        double each = op_list_flops(&list, false) + op_list_flops(&list, true);
        CU_ASSERT_TRUE(near(r.executed_flops, each * 8, 1e-12));
        unload(&j);
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
static void test_allocations(void)
{
    for (int i = 0; i < N_MIXED; i++) {
        struct job j;
        struct cast cast;
        struct err err = { 0 };
        const struct cast_options how = { 0 };
        load(&j, mixed[i]);
        CU_ASSERT_EQUAL_FATAL(cast_build(&cast, &j.loader.arena, &j.s, &how, &err), 0);
        for (int32_t k = 0; k < cast.n_steps; k++) {
            const struct ledger *l = &cast.steps[k].ledger;
            CU_ASSERT_EQUAL(l->live_B[LEDGER_ACTIVATIONS], 0);
            CU_ASSERT_EQUAL(l->live_B[LEDGER_BUFFERS], buffers_before_B(l));
        }
        cast_release(&cast);
        unload(&j);
    }
}

/* AWS's reference configurations fit 40 GB; without tensor parallelism they do not, nor
 * the larger two at half their degree. */
static void test_references(void)
{
    static const struct {
        const char *file;
        int tensor; /* 0: the file's */
        bool fits;
    } cases[] = {
        { "gpt2-10b-smp-16xp4d.24xlarge", 0, true },
        { "gpt2-10b-smp-16xp4d.24xlarge", 1, false },
        { "gpt2-30b-smp-16xp4d.24xlarge", 0, true },
        { "gpt2-30b-smp-16xp4d.24xlarge", 4, false },
        { "gpt2-30b-smp-16xp4d.24xlarge", 1, false },
        { "gpt2-60b-smp-32xp4d.24xlarge", 0, true },
        { "gpt2-60b-smp-32xp4d.24xlarge", 4, false },
        { "gpt2-60b-smp-32xp4d.24xlarge", 1, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct job j;
        struct simulate_result r;
        char set[128];
        cfg_loader_init(&j.loader);
        const char *file = datadir_file(&j.loader.arena, "scenarios", cases[i].file);
        struct cfg root = cfg_load(&j.loader, file);
        snprintf(set, sizeof(set),
                 "/distribution/smdistributed/modelparallel/parameters/"
                 "tensor_parallel_degree=%d",
                 cases[i].tensor);
        if (cases[i].tensor > 0)
            CU_ASSERT_EQUAL_FATAL(cfg_set(root, set), 0);
        int rc = scenario_read(&j.s, &j.loader, root);
        if (rc)
            diags_print_errors(&j.loader.diags, stderr);
        CU_ASSERT_EQUAL_FATAL(rc, 0);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        CU_ASSERT_EQUAL(r.memory.fits, cases[i].fits);
        unload(&j);
    }
}

/* Broadcasts of a stage's program: one a microbatch, in their order, each behind a
 * kernel of that forward and before its backward. */
static void check_broadcasts(const struct program *p, int32_t microbatches)
{
    int32_t n = 0, begun = 0; /* backwards */
    for (int32_t i = 0; i < p->tasks.n; i++) {
        const struct task *t = &p->tasks.v[i];
        if (t->tag.work == WORK_BACKWARD && t->tag.number >= begun)
            begun = t->tag.number + 1;
        if (t->comm < 0 || p->comms.v[t->comm].request.op != COLL_BROADCAST)
            continue;
        const struct tag *behind = &p->tasks.v[t->after[0]].tag;
        CU_ASSERT_EQUAL(t->tag.number, n);
        CU_ASSERT(behind->work == WORK_FORWARD && behind->number == n);
        CU_ASSERT(begun <= n);
        n++;
    }
    CU_ASSERT_EQUAL(n, microbatches);
}

/* What SMP's forward returns to all ranks: nothing, a number, or the logits of every
 * microbatch. They go out beside later passes, folded and unfolded alike, and are held
 * to the end of the step. */
static void test_outputs(void)
{
    static const char *const outputs[] = { "none", "loss", "logits" };
    enum { MICROBATCHES = 8 };
    const int64_t logits_B = 2 * 256 * 8192 * 2; /* b s V at two bytes */
    double step_s[3];
    int64_t held_B[3];
    for (int i = 0; i < 3; i++) {
        struct job j;
        struct cast cast;
        struct err err = { 0 };
        struct simulate_result r[2];
        const struct cast_options how = { 0 };
        char changes[128];
        snprintf(changes, sizeof(changes),
                 "pipeline=4 schedule=\"smp-simple\" library=\"smp\" "
                 "broadcast_outputs=\"%s\"",
                 outputs[i]);
        load(&j, changes);
        for (int unfold = 0; unfold < 2; unfold++)
            run(&j,
                (struct simulate_options) { .network = FIDELITY_FLOW,
                                            .unfold = unfold },
                &r[unfold]);
        CU_ASSERT_DOUBLE_EQUAL(r[0].step_time_s / r[1].step_time_s, 1, 1e-9);
        step_s[i] = r[0].step_time_s;
        held_B[i] = r[0].memory.stages[0].buffers_B;
        CU_ASSERT_EQUAL_FATAL(cast_build(&cast, &j.loader.arena, &j.s, &how, &err), 0);
        for (int32_t k = 0; k < cast.n_steps; k++)
            check_broadcasts(&cast.steps[k].program, i > 0 ? MICROBATCHES : 0);
        cast_release(&cast);
        unload(&j);
    }
    CU_ASSERT(near(step_s[1], step_s[0], 1e-4));
    CU_ASSERT(step_s[2] - step_s[0] < (double)(2 * logits_B) / 200e9);
    CU_ASSERT_EQUAL(held_B[2] - held_B[0], MICROBATCHES * logits_B);
}

static int64_t embedding_sums(const char *changes)
{
    struct job j;
    struct cast cast;
    struct err err = { 0 };
    const struct cast_options how = { 0 };
    int64_t n = 0;
    load(&j, changes);
    CU_ASSERT_EQUAL_FATAL(cast_build(&cast, &j.loader.arena, &j.s, &how, &err), 0);
    for (int32_t i = 0; i < cast.n_steps; i++)
        for (int64_t k = 0; k < cast.steps[i].program.comms.n; k++)
            n += cast.steps[i].program.comms.v[k].channel == CHANNEL_EMBEDDING;
    cast_release(&cast);
    unload(&j);
    return n;
}

static bool warns_of_tied(const char *changes)
{
    struct job j;
    struct simulate_result r;
    bool said = false;
    load(&j, changes);
    run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
    for (int32_t i = 0; i < r.n_warnings; i++)
        said |= strstr(r.warnings[i], "copy of the tied embedding") != NULL;
    unload(&j);
    return said;
}

/* Two stages share the words where the head makes logits of them, and only there. */
static void test_tied_heads(void)
{
    CU_ASSERT_EQUAL(embedding_sums("pipeline=4"), 2);
    CU_ASSERT_EQUAL(embedding_sums("pipeline=4 /training/task=\"classification\""), 0);
    CU_ASSERT_EQUAL(embedding_sums("pipeline=4 /training/task=\"question-answering\""),
                    0);
    CU_ASSERT(!warns_of_tied("pipeline=2"));
    CU_ASSERT(warns_of_tied("pipeline=2 library=\"smp\" schedule=\"smp-simple\""));
    CU_ASSERT(!warns_of_tied("pipeline=2 library=\"smp\" schedule=\"smp-simple\" "
                             "/training/task=\"classification\""));
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

/* The step of a cast when everything takes `by` times as long. */
static double paced_s(const struct cast *cast, double by)
{
    struct arena arena;
    struct run_result r = { 0 };
    struct err err = { 0 };
    int64_t most = 0;
    for (int64_t i = 0; i < cast->n_ranks; i++)
        most = cast->programs[i]->tasks.n > most ? cast->programs[i]->tasks.n : most;
    arena_init(&arena);
    double *each = ARENA_ARRAY(&arena, most, double);
    const double **all = ARENA_ARRAY(&arena, cast->n_ranks, const double *);
    for (int64_t i = 0; i < most; i++)
        each[i] = by;
    for (int64_t i = 0; i < cast->n_ranks; i++)
        all[i] = each;
    const struct run_factors factors = { all, all, same_factor, &by };
    const struct run_request request = { .plans = { &arena, cast->net, &cast->groups },
                                         .network = FIDELITY_FLOW,
                                         .n_ranks = cast->n_ranks,
                                         .programs = cast->programs,
                                         .ranks = cast->ranks,
                                         .factors = by > 0 ? &factors : NULL };
    CU_ASSERT_EQUAL(run_programs(&request, &r, &err), 0);
    arena_release(&arena);
    return r.time_s;
}

/* Factors of 1 change nothing at all; of 2, everything is twice as long. */
static void test_factors(void)
{
    static const char *const changes[] = { "tensor=1", "tensor=2 pipeline=4",
                                           "sharding={" FULL "}" };
    for (int i = 0; i < 3; i++)
        for (int unfold = 0; unfold < 2; unfold++) {
            struct job j;
            struct cast cast;
            struct err err = { 0 };
            const struct cast_options how = { .unfold = unfold };
            load(&j, changes[i]);
            CU_ASSERT_EQUAL_FATAL(cast_build(&cast, &j.loader.arena, &j.s, &how, &err),
                                  0);
            double plain_s = paced_s(&cast, 0);
            CU_ASSERT(plain_s > 0);
            CU_ASSERT_EQUAL(paced_s(&cast, 1), plain_s);
            CU_ASSERT_DOUBLE_EQUAL(paced_s(&cast, 2) / plain_s, 2, 1e-6);
            cast_release(&cast);
            unload(&j);
        }
}

/* A sum of activations that runs beside gradients of weights is hidden, but slows them:
 * they have fewer SMs and less memory bandwidth. */
static void test_slowed(void)
{
    static const char *const frameworks[] = { "megatron-2021", "megatron-2022" };
    struct simulate_result r[2];
    for (int overlap = 0; overlap < 2; overlap++) {
        char changes[256];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=4096 /training/micro_batch_size=8 tensor=8 "
                 "/training/framework=\"%s\"",
                 frameworks[overlap]);
        load(&j, changes);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r[overlap]);
        unload(&j);
    }
    double sums = 4 * 8 + 2; /* in all layers and at the ends, a microbatch */
    double sum_s = r[0].parts_s[PART_TENSOR_COMM] / (8 * sums);
    double hidden_s = r[0].layer.backward_s - r[1].layer.backward_s;
    CU_ASSERT(hidden_s > 0.3 * 2 * sum_s);
    CU_ASSERT(hidden_s < 0.9 * 2 * sum_s);
    CU_ASSERT_DOUBLE_EQUAL(r[0].layer.forward_s, r[1].layer.forward_s, 1e-12);
}

/* The ranks of a tensor group come to a sum one after the other: each sum that is
 * waited for is that much later. The host takes no time here. */
static void test_skew(void)
{
    static const int degrees[] = { 2, 8 };
    for (int i = 0; i < 2; i++) {
        struct simulate_result r[2];
        char changes[256];
        double n = degrees[i], sums = 6 * 8 + 3, skew_s = 50e-6;
        snprintf(
            changes, sizeof(changes),
            "tensor=%d overlap=false /model/n_embd=8192 /training/micro_batch_size=16 "
            "/training/activation_checkpointing=\"full\"",
            degrees[i]);
        for (int late = 0; late < 2; late++) {
            struct job j;
            load(&j, changes);
            struct framework fw = *j.s.training.framework;
            fw.tensor_overlap = false;
            fw.host_spread = fw.host_spread_tensor = 0;
            fw.dispatch_forward_s = fw.dispatch_backward_s = fw.microbatch_s = 0;
            fw.dispatch_collective_s = fw.dispatch_wide_s = 0;
            fw.collective_skew_s = late * skew_s;
            j.s.training.framework = &fw;
            run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r[late]);
            unload(&j);
        }
        double late_s = (r[1].step_time_s - r[0].step_time_s) / (8 * sums);
        CU_ASSERT_DOUBLE_EQUAL(late_s, skew_s * sqrt(2 * log(n)), 1e-8);
    }
}

/* What softening costs a step whose host has forward's operators alone to issue. */
static double softened_s(const char *checkpointing, int layers)
{
    struct simulate_result r[2];
    char changes[256];
    snprintf(changes, sizeof(changes),
             "/model/n_embd=8192 /training/micro_batch_size=16 /model/n_layer=%d "
             "/training/activation_checkpointing=\"%s\"",
             layers, checkpointing);
    for (int soft = 0; soft < 2; soft++) {
        struct job j;
        load(&j, changes);
        struct framework fw = *j.s.training.framework;
        fw.dispatch_forward_s = 1e-6;
        fw.dispatch_backward_s = fw.microbatch_s = 0;
        fw.host_spread = soft * 10;
        j.s.training.framework = &fw;
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r[soft]);
        unload(&j);
    }
    return r[1].step_time_s - r[0].step_time_s;
}

/* The host keeps its lead from what is computed again into the backward behind it: far
 * ahead, it loses by the square of the deviation over the lead (MODEL.md 4.2), a third
 * of forward's loss where backward is twice as long. */
static void test_softened(void)
{
    double none_s =
        softened_s("none", 8) - softened_s("none", 4); /* without the ends */
    double full_s = softened_s("full", 8) - softened_s("full", 4);
    CU_ASSERT(none_s > 0);
    CU_ASSERT_DOUBLE_EQUAL(full_s / none_s, 1 + 1. / 3, 0.02);
}

/* Megatron-Core's sums pass within products, cut into pieces, unless the scenario says
 * that they do not (MODEL.md, 8.11). */
static void test_pieces(void)
{
    static const char *const says[] = { "", " overlap_tensor=false" };
    double time_s[2];
    for (int i = 0; i < 2; i++) {
        struct simulate_result r;
        char changes[256];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "tensor=2 /model/n_embd=8192 /training/micro_batch_size=16 "
                 "/training/framework=\"megatron-core\"%s",
                 says[i]);
        load(&j, changes);
        CU_ASSERT_EQUAL(j.s.parallel.tensor_hidden_frac, i ? 0 : 0.7);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        time_s[i] = r.step_time_s;
        unload(&j);
    }
    CU_ASSERT(time_s[1] > time_s[0]);
}

/* Gathers of updated parameters beside the next forward: they end with the blocks that
 * wait for them. In one bucket all of forward waits, and the step is as long as with
 * the gather behind the update; in small ones forward hides all but the first, and
 * beside them kernels are slower. */
static void test_param_gather(void)
{
    static const char *const ways[] = {
        "overlap_param_gather=false bucket_size=\"4GB\"",
        "overlap_param_gather=true bucket_size=\"4GB\"",
        "overlap_param_gather=false bucket_size=\"128MB\"",
        "overlap_param_gather=true bucket_size=\"128MB\"",
    };
    struct simulate_result r[4];
    for (int i = 0; i < 4; i++) {
        char changes[320];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=2048 /training/micro_batch_size=32 "
                 "/training/framework=\"megatron-core\" sharding={" OPTIMIZER "} %s",
                 ways[i]);
        load(&j, changes);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r[i]);
        unload(&j);
    }
    double gather_s =
        r[2].parts_s[PART_DATA_COMM_EXPOSED] - r[3].parts_s[PART_DATA_COMM_EXPOSED];
    CU_ASSERT(near(r[1].step_time_s, r[0].step_time_s, 2e-3));
    CU_ASSERT(gather_s > 5e-3);
    CU_ASSERT(r[3].step_time_s < r[2].step_time_s - 0.8 * gather_s);
    CU_ASSERT(r[3].parts_s[PART_DATA_COMM_HIDDEN] >
              r[2].parts_s[PART_DATA_COMM_HIDDEN] + 0.5 * gather_s);
}

/* Without backward_prefetch a unit's gather in backward comes behind the scatter of the
 * unit before, and both are waited for: two of the three times that parameters or their
 * gradients pass. Forward hides its own either way. With it gathers and scatters run
 * beside each other, too. */
static void test_backward_prefetch(void)
{
    double exposed_s[2], all_s[2], step_s[2];
    for (int ahead = 0; ahead < 2; ahead++) {
        char changes[320];
        struct job j;
        struct simulate_result r;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=2048 /training/micro_batch_size=32 library=\"fsdp\" "
                 "/training/microbatches=1 sharding={" FULL
                 ",\"backward_prefetch\":%s}",
                 ahead ? "true" : "false");
        load(&j, changes);
        run(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        exposed_s[ahead] = r.parts_s[PART_DATA_COMM_EXPOSED];
        all_s[ahead] = exposed_s[ahead] + r.parts_s[PART_DATA_COMM_HIDDEN];
        step_s[ahead] = r.step_time_s;
        unload(&j);
    }
    double waited_s = exposed_s[false] - exposed_s[true];
    CU_ASSERT(all_s[false] >= all_s[true]);
    CU_ASSERT(waited_s > 0.4 * all_s[false] && waited_s < 2.0 / 3 * all_s[false]);
    CU_ASSERT(step_s[false] - step_s[true] > 0.9 * waited_s);
}

void test_simulate_register(void)
{
    CU_pSuite s = CU_add_suite("simulate", NULL, NULL);
    CU_add_test(s, "updated parameters are gathered beside forward", test_param_gather);
    CU_add_test(s, "backward gathers nothing ahead", test_backward_prefetch);
    CU_add_test(s, "folded and unfolded runs agree", test_folded);
    CU_add_test(s, "stages that lie unevenly", test_uneven);
    CU_add_test(s, "measured passes and passes in detail agree", test_detail);
    CU_add_test(s, "parts sum to the step", test_parts);
    CU_add_test(s, "waiting for another stage's gradients is no bubble", test_waits);
    CU_add_test(s, "FLOPs are those of the operator list", test_flops);
    CU_add_test(s, "activations are freed", test_allocations);
    CU_add_test(s, "AWS's reference configurations", test_references);
    CU_add_test(s, "ranks of a tensor group come apart", test_skew);
    CU_add_test(s, "softened with the backward behind it", test_softened);
    CU_add_test(s, "pieces within products", test_pieces);
    CU_add_test(s, "kernels beside sums of activations", test_slowed);
    CU_add_test(s, "outputs that SMP broadcasts", test_outputs);
    CU_add_test(s, "stages share words for heads of words", test_tied_heads);
    CU_add_test(s, "states on the host", test_offload);
    CU_add_test(s, "durations at another pace", test_factors);
}
