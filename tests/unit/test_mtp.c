/* Multi-token prediction: parameters and FLOPs of its modules, what a pipeline's stages
 * hold, send and compute of them, and who may train them. */
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_mtp_register(void);

enum { H = 7168, V = 129280, TOKENS = 4096, STAGES = 8, EXPERTS = 256, RANKS = 32 };

/* DeepSeek-V3 on 256 H100: 16 microbatches, eight stages. */
static const char deepseek[] =
    "{ 'model': 'deepseek-v3',"
    "  'cluster': { 'instance': 'p5.48xlarge', 'count': 32 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'microbatches': 16, 'precision': 'bf16' },"
    "  'parallelism': { 'library': 'megatron', 'pipeline': 8, 'expert': 32,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

static void load(struct job *j, const char *changes)
{
    bench_scenario(&j->loader, &j->s, deepseek, "/parallelism/", changes);
}

static int64_t parameters_of(const struct scenario *s, struct arena *arena)
{
    struct op_list list;
    struct err err = { 0 };
    struct op_settings settings = scenario_op_settings(s);
    CU_ASSERT_EQUAL_FATAL(op_list_make(&list, arena, &s->model, &settings, &err), 0);
    return op_list_parameters(&list);
}

/* A module has a layer, 2 h^2 of its projection, and three norms: of DeepSeek-V3 11.6
 * of the 14 billion that its page gives, the others being embedding and head. */
static void test_parameters(void)
{
    int64_t n[3];
    double flops[3];
    for (int k = 0; k < 3; k++) {
        struct job j;
        char changes[128];
        snprintf(changes, sizeof(changes), "/training/mtp_layers=%d expert=1", k);
        load(&j, changes);
        n[k] = parameters_of(&j.s, &j.loader.arena);
        flops[k] = model_flops_per_sample(&j.s.model, TOKENS, 0, true);
        job_unload(&j);
    }
    CU_ASSERT_EQUAL(n[2] - n[1], n[1] - n[0]);
    const double ends = 2.0 * V * H;
    CU_ASSERT_DOUBLE_EQUAL((double)(n[1] - n[0]) + ends, 14e9, 0.7e9);
    /* 37 billion active ones of the model, 1.6 of the module with its logits */
    double each = (flops[1] - flops[0]) / 6 / TOKENS;
    CU_ASSERT_DOUBLE_EQUAL(flops[2] - flops[1], flops[1] - flops[0], 1e-6 * flops[0]);
    CU_ASSERT(each > 1.5e9 && each < 1.9e9);
}

/* Products of a stage's forwards and backwards that have the name. */
static int32_t count(const struct program *p, const char *name)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->tasks.n; i++)
        n += p->tasks.v[i].tag.label && strcmp(p->tasks.v[i].tag.label, name) == 0;
    return n;
}

static int64_t copies(const struct program *p)
{
    int64_t n = 0;
    for (int32_t i = 0; i < p->comms.n; i++)
        n += p->comms.v[i].channel == CHANNEL_EMBEDDING;
    return n;
}

/* Where the module is, by `mtp_part`: its layer is there, its logits with the head. The
 * stage has a copy of the embedding, summed up with the first's. */
static void test_stages(void)
{
    static const struct {
        const char *changes;
        int32_t layer, head;
    } cases[] = {
        { "/training/mtp_layers=1", 7, 7 },
        { "/training/mtp_layers=2", 7, 7 },
        { "/training/mtp_layers=1 partition=[9,9,9,9,9,9,7,0] mtp_part=6", 6, 7 },
        { "/training/mtp_layers=1 tensor=2 expert=16 sequence_parallel=true", 7, 7 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        struct reps reps;
        const struct reps_options how = { .detail = true };
        load(&j, cases[i].changes);
        int32_t n = 16 * (int32_t)j.s.training.mtp_layers;
        job_reps(&j, &how, &reps);
        for (int32_t k = 0; k < reps.n_steps; k++) {
            const struct program *p = &reps.steps[k].program;
            bool here = k == cases[i].layer;
            CU_ASSERT_EQUAL(count(p, "mtp_projection"), here ? n : 0);
            CU_ASSERT_EQUAL(count(p, "mtp_projection_wgrad"), here ? n : 0);
            CU_ASSERT_EQUAL(count(p, "logits"), k == cases[i].head ? 16 + n : 0);
            CU_ASSERT_EQUAL(count(p, "word_gather"), here ? n : k == 0 ? 16 : 0);
            CU_ASSERT_EQUAL(copies(p) > 0, here || k == 0);
        }
        reps_release(&reps);
        job_unload(&j);
    }
}

/* Bytes of the stage's states that come with a module: 2 a parameter, 4 of its gradient,
 * and the logits that are kept until backward: 2 s V and what the loss keeps. */
static void test_memory(void)
{
    struct job jobs[2];
    struct simulate_result r[2];
    for (int k = 0; k < 2; k++) {
        load(&jobs[k], k ? "/training/mtp_layers=1" : "/training/mtp_layers=0");
        validation_job_run(&jobs[k], &r[k]);
    }
    const double layer = 3.0 * 2048 * H * EXPERTS / RANKS + 3.0 * 2048 * H + 187e6,
                 own = layer + 2.0 * H * H + (double)V * H;
    const struct stage_memory *with = &r[1].memory.stages[STAGES - 1],
                              *without = &r[0].memory.stages[STAGES - 1];
    CU_ASSERT(
        job_near((double)(with->parameters_B - without->parameters_B), 2 * own, 0.02));
    CU_ASSERT(job_near((double)(with->gradients_B - without->gradients_B),
                       2.0 * (double)(with->parameters_B - without->parameters_B),
                       1e-3));
    CU_ASSERT(with->activations_B - without->activations_B > 2LL * TOKENS * V);
    for (int k = 0; k < STAGES - 1; k++)
        CU_ASSERT_EQUAL(r[1].memory.stages[k].peak_B, r[0].memory.stages[k].peak_B);
    CU_ASSERT(r[1].step_time_s > 1.05 * r[0].step_time_s);
    for (int k = 0; k < 2; k++)
        job_unload(&jobs[k]);
}

/* After the module the stream of each depth goes on to the head's stage. */
static void test_messages(void)
{
    struct job j;
    struct reps reps;
    const struct reps_options how = { .detail = true };
    double sent_B[STAGES] = { 0 };
    load(&j, "/training/mtp_layers=2 partition=[9,9,9,9,9,9,7,0] mtp_part=6");
    job_reps(&j, &how, &reps);
    for (int32_t k = 0; k < reps.n_steps; k++)
        for (int32_t i = 0; i < reps.steps[k].program.comms.n; i++)
            if (reps.steps[k].program.comms.v[i].channel == CHANNEL_NEXT)
                sent_B[k] = reps.steps[k].program.comms.v[i].request.size_B;
    CU_ASSERT_DOUBLE_EQUAL(sent_B[5], 2.0 * TOKENS * H, 1);
    CU_ASSERT_DOUBLE_EQUAL(sent_B[6], 3 * 2.0 * TOKENS * H, 1);
    reps_release(&reps);
    job_unload(&j);
}

static const char llama[] =
    "{ 'model': 'llama3-8b',"
    "  'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'microbatches': 8, 'precision': 'bf16', 'mtp_layers': 1 },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 2, 'pipeline': 4 } }";

/* Simulated one by one, in detail and by passes all ranks take the same time. */
static void test_fidelities(void)
{
    static const char *const changes[] = {
        "virtual_stages=1",
        "sequence_parallel=true sharding={\"strategy\":\"optimizer\"}",
        "virtual_stages=4 schedule=\"interleaved\" mtp_part=14 "
        "partition=[3,3,2,2,2,2,2,2,2,2,2,2,2,2,2,0]",
        "/training/activation_checkpointing=\"full\"",
        "schedule=\"zb-h1\"",
        "pipeline=1",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        job_agrees(llama, changes[i], 3e-3);
}

static const struct {
    const char *model, *library, *rest, *message;
} refused[] = {
    { "llama3-8b", "fsdp", "", "does not train modules that predict further tokens" },
    { "llama3-8b", "deepspeed", "", "does not train modules" },
    { "bert-large-uncased", "megatron", "", "by a decoder of words" },
    { "llama3-8b", "megatron", ",'pipeline': 4, 'mtp_part': 4", "part 4 of 4" },
    { "llama3-8b", "megatron", ",'pipeline': 4, 'mtp_part': 1",
      "part 1, which is not" },
    { "gpt2", "megatron", ",'pipeline': 4, 'mtp_part': 2", "a tied head and modules" },
};

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct simulate_result r;
        struct err err = { 0 };
        char text[1024];
        bool found = false;
        snprintf(
            text, sizeof(text),
            "{ 'model': '%s', 'cluster': { 'instance': 'p5.48xlarge', 'count': 1 },"
            "  'training': { 'sequence_length': 512, 'precision': 'bf16',"
            "                'micro_batch_size': 1, 'microbatches': 4, 'mtp_layers': 1 "
            "},"
            "  'parallelism': { 'library': '%s' %s } }",
            refused[i].model, refused[i].library, refused[i].rest);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
        const struct simulate_options how = { .network = FIDELITY_FLOW };
        int rc = scenario_read(&s, &loader, root);
        if (rc == 0)
            rc = simulate(&r, &loader.arena, &s, &how, &err);
        CU_ASSERT_EQUAL(rc, -1);
        found = strstr(err.text, refused[i].message) != NULL;
        for (int32_t k = 0; k < loader.diags.n && !found; k++)
            found = strstr(loader.diags.v[k].text, refused[i].message) != NULL;
        if (!found)
            fprintf(stderr, "not refused: %s\n", refused[i].message);

        CU_ASSERT(found);
        cfg_loader_release(&loader);
    }
}

void test_mtp_register(void)
{
    CU_pSuite s = CU_add_suite("mtp", NULL, NULL);
    CU_add_test(s, "parameters and FLOPs of a module", test_parameters);
    CU_add_test(s, "which stage has what of it", test_stages);
    CU_add_test(s, "memory of the last stage", test_memory);
    CU_add_test(s, "streams that go on to the head", test_messages);
    CU_add_test(s, "ranks, passes and operators agree", test_fidelities);
    CU_add_test(s, "what is refused", test_rules);
}
