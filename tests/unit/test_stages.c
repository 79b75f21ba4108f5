/* Stages of pipelines: what they wait for, share, and send each other. */
#include "config/datadir.h"
#include "step/reps.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_stages_register(void);

/* Waiting for a stage that still reduces its gradients is no bubble: the same passes in
 * more replicas, over slower wires, have the same bubble, in whatever schedule. */
static void test_waits(void)
{
    static const char *const schedules[] = { "1f1b", "gpipe", "smp-interleaved",
                                             "zb-h1", "zb-v" };
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
            job_load(&j, changes);
            job_run_as(
                &j,
                (struct simulate_options) { .network = FIDELITY_FLOW, .unfold = k > 2 },
                &r[k]);
            job_unload(&j);
            CU_ASSERT(job_near(r[k].parts_s[CATEGORY_PIPELINE_BUBBLE],
                               r[0].parts_s[CATEGORY_PIPELINE_BUBBLE], 1e-9));
        }
        CU_ASSERT(r[0].parts_s[CATEGORY_PIPELINE_BUBBLE] > (i < 4 ? 1e-3 : 1e-5));
        CU_ASSERT(r[1].parts_s[CATEGORY_DATA_COMM_EXPOSED] >
                  r[0].parts_s[CATEGORY_DATA_COMM_EXPOSED] + 0.03);
    }
}

/* A V over eight nodes: no stage holds more activations than 1F1B's first, all about as
 * many, the first stage has embedding and head (the tied matrix once), and the step is
 * shorter than interleaved stages'. */
static void test_v(void)
{
    static const char *const schedules[] = { "1f1b", "interleaved", "zb-v",
                                             "dualpipe-v" };
    double step_s[4], most_B[4] = { 0 }, least_B = 1e30;
    for (int i = 0; i < 4; i++) {
        struct job j;
        struct simulate_result r;
        char changes[512];
        snprintf(changes, sizeof(changes),
                 "pipeline=8 schedule=\"%s\" virtual_stages=%d library=\"fsdp\" "
                 "/model=\"gpt2-xl\" /cluster/instance=\"p4d.24xlarge\" "
                 "/cluster/count=8 /training/microbatches=64 "
                 "/training/precision=\"bf16\" /training/sequence_length=1024",
                 schedules[i], i > 0 ? 2 : 1);
        job_load(&j, changes);
        job_run_as(&j, (struct simulate_options) { .network = FIDELITY_FLOW }, &r);
        step_s[i] = r.step_time_s;
        for (int32_t k = 0; k < r.memory.n_stages; k++) {
            double kept_B = (double)r.memory.stages[k].activations_B;
            most_B[i] = kept_B > most_B[i] ? kept_B : most_B[i];
            least_B = i == 2 && kept_B < least_B ? kept_B : least_B;
        }
        job_unload(&j);
    }
    CU_ASSERT(step_s[2] < step_s[1] && step_s[3] < step_s[1]);
    CU_ASSERT(most_B[2] < 1.15 * most_B[0] && least_B > 0.8 * most_B[2]);
    CU_ASSERT(most_B[3] < 1.3 * most_B[0] && most_B[1] > most_B[3]);
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
        validation_job_run(&j, &r);
        CU_ASSERT_EQUAL(r.memory.fits, cases[i].fits);
        job_unload(&j);
    }
}

/* Broadcasts of a stage's program: one a microbatch, in their order, each after a
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
        const struct tag *after = &p->tasks.v[t->after[0]].tag;
        CU_ASSERT_EQUAL(t->tag.number, n);
        CU_ASSERT(after->work == WORK_FORWARD && after->number == n);
        CU_ASSERT(begun <= n);
        n++;
    }
    CU_ASSERT_EQUAL(n, microbatches);
}

/* What SMP's forward returns to all ranks: nothing, a number, or the logits of every
 * microbatch. They are sent during later passes, folded and unfolded alike, and are
 * held to the end of the step. */
static void test_outputs(void)
{
    static const char *const outputs[] = { "none", "loss", "logits" };
    enum { MICROBATCHES = 8 };
    const int64_t logits_B = 2 * 256 * 8192 * 2; /* b s V at two bytes */
    double step_s[3];
    int64_t held_B[3];
    for (int i = 0; i < 3; i++) {
        struct job j;
        struct reps reps;
        struct simulate_result r[2];
        const struct reps_options how = { 0 };
        char changes[128];
        snprintf(changes, sizeof(changes),
                 "pipeline=4 schedule=\"smp-simple\" library=\"smp\" "
                 "broadcast_outputs=\"%s\"",
                 outputs[i]);
        job_load(&j, changes);
        for (int unfold = 0; unfold < 2; unfold++)
            job_run_as(&j,
                       (struct simulate_options) { .network = FIDELITY_FLOW,
                                                   .unfold = unfold },
                       &r[unfold]);
        CU_ASSERT_DOUBLE_EQUAL(r[0].step_time_s / r[1].step_time_s, 1, 1e-9);
        step_s[i] = r[0].step_time_s;
        held_B[i] = r[0].memory.stages[1].buffers_B; /* no head: it receives them */
        job_reps(&j, &how, &reps);
        for (int32_t k = 0; k < reps.n_steps; k++)
            check_broadcasts(&reps.steps[k].program, i > 0 ? MICROBATCHES : 0);
        reps_release(&reps);
        job_unload(&j);
    }
    CU_ASSERT(job_near(step_s[1], step_s[0], 1e-4));
    CU_ASSERT(step_s[2] - step_s[0] < (double)(2 * logits_B) / 200e9);
    CU_ASSERT_EQUAL(held_B[2] - held_B[0], MICROBATCHES * logits_B);
}

/* The last stage's part of SMP's broadcast begins when its passes have ended: others wait
 * for those in the bubble, and not for the links, which take the time of their bytes. */
static void test_late_broadcast(void)
{
    static const char text[] =
        "{ 'model': 'bert-large-uncased',"
        "  'cluster': { 'instance': 'g4dn.12xlarge', 'count': 1 },"
        "  'training': { 'task': 'question-answering', 'sequence_length': 384,"
        "                'micro_batch_size': 1, 'precision': 'amp_fp16' },"
        "  'distribution': { 'smdistributed': { 'modelparallel': { 'enabled': True,"
        "      'parameters': { 'microbatches': 4, 'partitions': 4, 'ddp': True,"
        "                      'pipeline': 'interleaved' } } },"
        "    'mpi': { 'enabled': True, 'processes_per_host': 4 } } }";
    const double message_B = 384 * 1024 * 4, slowest_Bps = 5e9;
    for (int unfold = 0; unfold < 2; unfold++) {
        struct simulate_result r;
        job_text_step_s(text, unfold, &r);
        CU_ASSERT(r.parts_s[CATEGORY_PIPELINE_COMM] > 0);
        CU_ASSERT(r.parts_s[CATEGORY_PIPELINE_COMM] <
                  4 * 4 * message_B / slowest_Bps); /* four ways, four microbatches */
        CU_ASSERT(r.parts_s[CATEGORY_PIPELINE_BUBBLE] >
                  10 * r.parts_s[CATEGORY_PIPELINE_COMM]);
    }
}

static int64_t embedding_sums(const char *changes)
{
    struct job j;
    struct reps reps;
    const struct reps_options how = { 0 };
    int64_t n = 0;
    job_load(&j, changes);
    job_reps(&j, &how, &reps);
    for (int32_t i = 0; i < reps.n_steps; i++)
        for (int64_t k = 0; k < reps.steps[i].program.comms.n; k++)
            n += reps.steps[i].program.comms.v[k].channel == CHANNEL_EMBEDDING;
    reps_release(&reps);
    job_unload(&j);
    return n;
}

static bool warns_of_tied(const char *changes)
{
    struct job j;
    struct simulate_result r;
    bool said = false;
    job_load(&j, changes);
    validation_job_run(&j, &r);
    for (int32_t i = 0; i < r.n_warnings; i++)
        said |= strstr(r.warnings[i].text, "copy of the tied embedding") != NULL;
    job_unload(&j);
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
    CU_ASSERT(warns_of_tied("pipeline=2 library=\"smp\""));
    CU_ASSERT(!warns_of_tied("pipeline=2 library=\"smp\" schedule=\"smp-simple\""));
    CU_ASSERT(!warns_of_tied("pipeline=2 library=\"smp\" "
                             "/training/task=\"classification\""));
}

/* Bytes of parameters that the stages have together. */
static int64_t parameters_B(const struct simulate_result *r)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < r->memory.n_stages; i++)
        sum += r->memory.stages[i].parameters_B;
    return sum;
}

/* Each stage sends each microbatch on once, the last one to the first, and back. */
static void check_returns(const struct reps *reps, int64_t microbatches)
{
    for (int32_t k = 0; k < reps->n_steps; k++) {
        const struct program *p = &reps->steps[k].program;
        int64_t sends[2] = { 0 };
        for (int64_t i = 0; i < p->tasks.n; i++) {
            const struct task *t = &p->tasks.v[i];
            if (t->comm >= 0 && p->comms.v[t->comm].channel == CHANNEL_NEXT)
                sends[0]++;
            if (t->comm >= 0 && p->comms.v[t->comm].channel == CHANNEL_BACK)
                sends[1]++;
        }
        CU_ASSERT_EQUAL(sends[0], microbatches);
        CU_ASSERT_EQUAL(sends[1], microbatches);
    }
}

/* SMP keeps the head with the embedding that it is tied to: the stream returns to the
 * first stage, and the words are there once, on two nodes as within one. */
static void test_returns(void)
{
    static const char *const schedules[] = { "smp-simple", "smp-interleaved" };
    static const char *const more[] = { "", " tensor=2", " placement=\"TPD\"" };
    for (int i = 0; i < 6; i++) {
        const char *extra = more[i / 2];
        struct job j;
        struct reps reps;
        struct simulate_result r[2], copied;
        const struct reps_options how = { 0 };
        char changes[160];
        snprintf(changes, sizeof(changes),
                 "pipeline=4 library=\"smp\" schedule=\"%s\"%s", schedules[i % 2],
                 extra);
        CU_ASSERT_EQUAL(embedding_sums(changes), 0);
        job_load(&j, changes);
        for (int unfold = 0; unfold < 2; unfold++)
            job_run_as(&j,
                       (struct simulate_options) { .network = FIDELITY_FLOW,
                                                   .unfold = unfold },
                       &r[unfold]);
        CU_ASSERT_DOUBLE_EQUAL(r[0].step_time_s / r[1].step_time_s, 1, 1e-9);
        job_reps(&j, &how, &reps);
        check_returns(&reps, 8);
        reps_release(&reps);
        int64_t own_B = parameters_B(&r[0]);
        job_unload(&j);
        snprintf(changes, sizeof(changes), "pipeline=4 library=\"smp\"%s", extra);
        job_load(&j, changes);
        validation_job_run(&j, &copied);
        int64_t words_B = (int64_t)8192 * 512 * 2 / (i / 2 == 1 ? 2 : 1);
        CU_ASSERT_EQUAL(parameters_B(&copied) - own_B, words_B);
        job_unload(&j);
    }
}

/* Stages of embedding or head alone: what they hold is the whole model, once, with as
 * many FLOPs; each passes all microbatches on; as long as the layers' stages take. */
static void test_ends_alone(void)
{
    static const char *const cuts[] = { "pipeline=2", "pipeline=4 partition=[0,4,4,0]",
                                        "pipeline=4 partition=[0,8,0,0]" };
    struct simulate_result r[3];
    struct job jobs[3];
    double flops[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        struct reps reps;
        const struct reps_options how = { 0 };
        char changes[160];
        snprintf(changes, sizeof(changes),
                 "%s /training/micro_batch_size=8 library=\"megatron\" "
                 "/model/tie_word_embeddings=false",
                 cuts[i]);
        job_load(&jobs[i], changes);
        validation_job_run(&jobs[i], &r[i]);
        job_reps(&jobs[i], &how, &reps);
        for (int32_t k = 0; k < reps.n_steps; k++)
            flops[i] += reps.steps[k].flops;
        reps_release(&reps);
        CU_ASSERT(r[i].layer.forward_s > 0);
        CU_ASSERT_DOUBLE_EQUAL(flops[i] / flops[0], 1, 1e-12);
        CU_ASSERT_EQUAL(parameters_B(&r[i]), parameters_B(&r[0]));
    }
    CU_ASSERT(r[2].step_time_s > 1.2 * r[1].step_time_s);
    CU_ASSERT(r[2].memory.stages[2].parameters_B == 0);
    CU_ASSERT(r[2].parts_s[CATEGORY_PIPELINE_COMM] > 0);
    for (int i = 0; i < 3; i++)
        job_unload(&jobs[i]);
}

void test_stages_register(void)
{
    CU_pSuite s = CU_add_suite("stages", NULL, NULL);
    CU_add_test(s, "waiting for another stage's gradients is no bubble", test_waits);
    CU_add_test(s, "two chunks of a stage as a V", test_v);
    CU_add_test(s, "AWS's reference configurations", test_references);
    CU_add_test(s, "outputs that SMP broadcasts", test_outputs);
    CU_add_test(s, "waiting for outputs that SMP broadcasts", test_late_broadcast);
    CU_add_test(s, "stages share words for heads of words", test_tied_heads);
    CU_add_test(s, "stages of the ends alone", test_ends_alone);
    CU_add_test(s, "SMP's stream returns to a tied head", test_returns);
}
