/* What is emitted is read back, with what its header says lies outside, as the same job:
 * every shipped scenario and plans of 60 random spaces, in all dialects: all plans of a
 * small space, a sample of a large one. SMSIM_EMIT_ALL=1 takes all 28,000 (4 min). */
#include "config/datadir.h"
#include "emit_bench.h"
#include "sample.h"
#include "search/plan.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_emit_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PICK(rng, a) ((a)[draw((rng), COUNT(a))])

/* --- shipped scenarios ------------------------------------------------------------- */

static void test_shipped(void)
{
    struct emit_tally t = { 0 };
    struct arena arena;
    int n = 0;
    arena_init(&arena);
    for (const char **name = datadir_list(&arena, "scenarios"); *name; name++, n++) {
        struct cfg_loader loader;
        struct scenario s;
        cfg_loader_init(&loader);
        struct cfg root = datadir_load(&loader, "scenarios", *name, (struct cfg) { 0 });
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        struct emit_numbers wanted = emit_numbers(&s);
        emit_check(&t, &s, root, &wanted);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(emit_same_as(&t, "scenario"), n);
    CU_ASSERT_EQUAL(emit_same_as(&t, "sagemaker"), n - 2); /* but Megatron's */
    CU_ASSERT_EQUAL(emit_same_as(&t, "megatron"), 2);
    CU_ASSERT_EQUAL(emit_same_as(&t, "deepspeed"), 1);
    arena_release(&arena);
}

/* --- random spaces ----------------------------------------------------------------- */

static uint32_t draw(uint64_t *rng, size_t n)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*rng >> 33) % (uint32_t)n;
}

enum { WORDS = 3 };

/* Up to WORDS of the options, NULL among them left out. */
static int draw_words(uint64_t *rng, const char *const *options, size_t n,
                      const char *words[WORDS])
{
    int taken = 0;
    for (int i = 0; i < WORDS; i++) {
        words[taken] = options[draw(rng, n)];
        taken += words[taken] != NULL;
    }
    return taken;
}

/* clang-format off */
static const char *const models[] = {
    "gpt2", "gpt2-medium", "gpt2-large", "bert-large-uncased", "roberta-base", "t5-base",
    "llama2-7b", "gpt-j-6b", "gpt-neox-20b", "mixtral-8x7b", "deepseek-v2",
};
static const char *const instances[] = {
    "ml.p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "ml.p4d.24xlarge", "g5.12xlarge",
    "ml.g5.48xlarge", "p5.48xlarge", "ml.p5.48xlarge", "ml.p4d.24xlarge,p4d.24xlarge",
};
static const char *const counts[] = { "1", "2", "4", "1..4" };
static const int64_t batches[] = { 16, 24, 32, 64, 96, 128, 512 },
                     sequences[] = { 128, 384, 512, 1024, 2048 };
static const char *const fixes[] = {
    NULL, NULL, NULL, NULL, "pipeline=1", "pipeline=2", "pipeline=4", "tensor=1",
    "tensor=2", "tensor=4", "context=2", "expert=2", "expert=4", "sharding=full",
    "sharding=optimizer", "sharding=gradients", "sharding_degree=8", "offload=optimizer",
    "offload=parameters", "activation_checkpointing=full",
    "activation_checkpointing=selective", "micro_batch_size=1", "micro_batch_size=2",
    "microbatches=4", "bucket_size=10MB", "bucket_size=100MiB", "virtual_stages=2",
    "sequence_parallel=true", "schedule=1f1b", "schedule=zb-h1", "schedule=gpipe",
    "schedule=interleaved", "optimize=speed", "optimize=memory", "gpus_per_instance=4",
    "placement=cluster", "placement=PDT", "placement=spread",
};
static const char *const sets[] = {
    NULL, NULL, NULL, NULL, "/training/precision=fp16", "/training/precision=bf16",
    "/training/precision=fp32", "/training/precision=amp_fp16",
    "/training/precision=amp_bf16", "/training/precision=fp8", "/training/optimizer=lamb",
    "/training/optimizer=adafactor", "/training/optimizer=sgd",
    "/training/optimizer=adam8bit", "/training/gradient_clipping=1",
    "/training/steps=1000", "/training/attention=flash", "/training/attention=eager",
    "/training/vocab_padding=1024", "/training/framework=fsdp-torch1",
    "/training/gradient_dtype=fp32", "/training/gradient_dtype=bf16",
    "/software/pytorch=2.1.0", "/software/pytorch=1.13.1",
};
/* clang-format on */

static int open_random(struct plan_job *job, struct cfg_loader *loader, uint64_t *rng)
{
    const char *f[WORDS], *s[WORDS];
    int n_fixes = draw_words(rng, fixes, COUNT(fixes), f),
        n_sets = draw_words(rng, sets, COUNT(sets), s);
    struct plan_request r = { .model = PICK(rng, models),
                              .instances = PICK(rng, instances),
                              .count = PICK(rng, counts),
                              .global_batch = PICK(rng, batches),
                              .sequence = PICK(rng, sequences),
                              .stacks = 1 << draw(rng, SPACE_STACKS_N),
                              .fixes = { n_fixes, f },
                              .sets = { n_sets, s } };
    return plan_job_init(job, loader, &r);
}

/* A plan as a scenario, in all dialects; false: reading refuses it, so that it is never
 * listed. */
static bool check_point(struct emit_tally *t, const struct plan_job *job,
                        const struct space_point *p, const struct emit_numbers *wanted)
{
    struct cfg_loader loader;
    struct scenario s;
    cfg_loader_init(&loader);
    loader.shared = t->shared = job->loader;
    struct cfg root = cfg_from_tree(&loader, "plan", plan_point_json(job, p));
    bool read = scenario_read(&s, &loader, root) == 0;
    if (read)
        emit_check(t, &s, root, wanted);
    else
        CU_ASSERT_TRUE(loader.diags.n_errors > 0);
    cfg_loader_release(&loader);
    return read;
}

/* Each point of a small space, every so many of a large one; how many there were. */
static int check_sample(struct emit_tally *t, const struct plan_job *job)
{
    enum { WHOLE = 72, POINTS = 24 };
    struct space_iter it;
    int64_t slices = space_slices(&job->space), n = 0, k = 0;
    int checked = 0;
    for (int64_t i = 0; i < slices; i++)
        for (space_iter_init(&it, &job->space, i); space_next(&it);)
            n++;
    bool whole = n <= WHOLE || getenv("SMSIM_EMIT_ALL");
    int64_t stride = whole ? 1 : n / POINTS + 1;
    for (int64_t i = 0; i < slices; i++)
        for (space_iter_init(&it, &job->space, i); space_next(&it); k++)
            if (k % stride == 0)
                checked += check_point(t, job, &it.p, NULL);
    return checked;
}

static void test_random_spaces(void)
{
    const int most = 60 / sample_every();
    struct emit_tally t = { 0 };
    uint64_t rng = 20240915;
    int plans = 0, spaces = 0;
    for (int trial = 0; spaces < most && trial < 20 * most; trial++) {
        struct cfg_loader loader;
        struct plan_job job = { 0 };
        cfg_loader_init(&loader);
        int n = open_random(&job, &loader, &rng) == 0 ? check_sample(&t, &job) : 0;
        plans += n;
        spaces += n > 0;
        plan_job_release(&job);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(spaces, most);
    CU_ASSERT_EQUAL(emit_same_as(&t, "scenario"), plans);
    if (sample_every() > 1)
        return; /* too few spaces for shares */
    CU_ASSERT_TRUE(plans > 8 * most);
    CU_ASSERT_TRUE(emit_same_as(&t, "sagemaker") > plans / 3);
    CU_ASSERT_TRUE(emit_same_as(&t, "megatron") > most);
    CU_ASSERT_TRUE(emit_same_as(&t, "deepspeed") > most);
    CU_ASSERT_TRUE(emit_same_as(&t, "fsdp") > most / 4);
}

/* --- what plans list --------------------------------------------------------------- */

/* A listed plan is what was simulated; those of instances named "ml." are planned as
 * SageMaker starts them. */
static void test_listed_plans(void)
{
    static const char *const stacks[] = { "ddp",    "fsdp",   "deepspeed", "megatron",
                                          "smp-v1", "smp-v2", "horovod",   "smddp" };
    const struct plan_options o = { .listed = 4, .simulate_most = 4 };
    struct emit_tally t = { 0 };
    int plans = 0;
    for (size_t k = 0; k < COUNT(stacks); k++) {
        struct cfg_loader loader;
        struct plan_job job = { 0 };
        struct plan_outcome out;
        struct err err = { 0 };
        int bits = 0;
        CU_ASSERT_EQUAL_FATAL(names_find(space_for_names, stacks[k], &bits), 0);
        const struct plan_request r = { .model = "gpt2-medium",
                                        .instances = "ml.p4d.24xlarge",
                                        .count = "2",
                                        .global_batch = 64,
                                        .sequence = 512,
                                        .stacks = bits };
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(plan_job_init(&job, &loader, &r), 0);
        CU_ASSERT_EQUAL_FATAL(plan_search(&out, &loader.arena, &job, &o, &err), 0);
        for (int32_t i = 0; i < out.n_entries && i < o.listed; i++, plans++) {
            const struct plan_entry *e = &out.entries[i];
            const struct emit_numbers wanted = { .step_s = e->result.step_time_s,
                                                 .peak_B = (double)e->result.peak_B };
            CU_ASSERT_TRUE(check_point(&t, &job, &e->point, &wanted));
        }
        plan_job_release(&job);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(plans, (int)COUNT(stacks) * o.listed);
    CU_ASSERT_EQUAL(emit_same_as(&t, "scenario"), plans);
    CU_ASSERT_EQUAL(t.launchers, 0);
}

/* --- adapters ---------------------------------------------------------------------- */

/* Two instances, accumulation; the words of PEFT say it all where modules have the Llama
 * line's names, else the field is named. */
static void test_adapters(void)
{
    static const struct {
        const char *model, *lora, *rest, *dialect, *word; /* which the text has */
    } cases[] = {
        { "llama2-7b", "'rank':16,'target_modules':['q_proj','v_proj']", "",
          "sagemaker", "\"lora_target_modules\": \"q_proj,v_proj\"" },
        { "llama2-13b",
          "'rank':8,'dropout':0.05,'base':'nf4','double_quantization':true,"
          "'target_modules':'all-linear','trained':['embeddings','head']",
          "", "sagemaker", "\"lora_modules_to_save\": \"embed_tokens,lm_head\"" },
        { "llama2-7b", "'rank':4,'base':'bf16','target_modules':['o_proj','up_proj']",
          "", "sagemaker", "\"torch_dtype\": \"bfloat16\"" },
        { "gpt2-xl", "'rank':16,'base':'int8','target_modules':['c_attn']", "",
          "sagemaker", "--set '/training/lora/target_modules=" },
        { "llama2-70b", "'rank':16,'base':'nf4','target_modules':'all-linear'",
          ",'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}}", "fsdp",
          "--load_in_4bit True" },
        { "llama2-70b", "'rank':16,'target_modules':'all-linear'",
          ",'parallelism':{'library':'deepspeed','sharding':{'strategy':'full'}}",
          "deepspeed", "" },
        { "llama2-70b", "'rank':16,'target_modules':['linear_qkv']",
          ",'parallelism':{'library':'megatron','tensor':4}", "megatron",
          "--set '/training/lora=" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct emit_tally t = { 0 };
        struct cfg_loader loader;
        struct scenario s;
        struct emitted e;
        struct err err = { 0 };
        char text[1000];
        int n = 1;
        bool sharded = strstr(cases[i].rest, "parallelism") != NULL;
        snprintf(text, sizeof(text),
                 "{'model':'%s','cluster':{'instance':'ml.p4d.24xlarge','count':2},"
                 "'training':{'sequence_length':512,'micro_batch_size':2,"
                 "'gradient_accumulation_steps':4,'precision':'%s','lora':{%s}}%s}",
                 cases[i].model, sharded ? "bf16" : "amp_bf16", cases[i].lora,
                 cases[i].rest);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "a.json", text, strlen(text));
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        struct emit_numbers wanted = emit_numbers(&s);
        emit_check(&t, &s, root, &wanted);
        CU_ASSERT_EQUAL(emit_same_as(&t, "scenario"), 1);
        CU_ASSERT_EQUAL(emit_same_as(&t, cases[i].dialect), 1);
        while (strcmp(dialect_emitted(n)->emit.name, cases[i].dialect) != 0)
            n++;
        CU_ASSERT_EQUAL_FATAL(
            emit_scenario(&e, &dialect_emitted(n)->emit, &s, root, &err), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_get(&e.text), cases[i].word));
        if (!strstr(strbuf_get(&e.text), cases[i].word))
            fprintf(stderr, "%s\n%s\n", cases[i].word, strbuf_get(&e.text));
        emit_release(&e);
        cfg_loader_release(&loader);
    }
}

/* --- models ------------------------------------------------------------------------ */

/* Sizes that a Megatron script gives are not named as lost; what it cannot say is. */
static void test_models(void)
{
    static const struct {
        const char *model;
        bool lost;
    } cases[] = {
        { "meta-llama/Llama-3.1-8B", false },
        { "Qwen/Qwen3-30B-A3B", false }, /* the width of dense layers, which none is */
        { "google/gemma-2-9b", true },   /* windows of attention */
    };
    const struct dialect *megatron = NULL;
    for (int n = 1; !megatron; n++)
        if (strcmp(dialect_emitted(n)->emit.name, "megatron") == 0)
            megatron = dialect_emitted(n);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct emitted e;
        struct err err = { 0 };
        char text[400];
        snprintf(text, sizeof(text),
                 "{'model':'%s','cluster':{'instance':'p5.48xlarge','count':2},"
                 "'training':{'sequence_length':512,'micro_batch_size':1,"
                 "'precision':'bf16'},'parallelism':{'library':'megatron','tensor':2}}",
                 cases[i].model);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "a.json", text, strlen(text));
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        CU_ASSERT_EQUAL_FATAL(emit_scenario(&e, &megatron->emit, &s, root, &err), 0);
        CU_ASSERT_EQUAL(strstr(strbuf_get(&e.text), "--set /model") != NULL,
                        cases[i].lost);
        emit_release(&e);
        cfg_loader_release(&loader);
    }
}

void test_emit_register(void)
{
    CU_pSuite s = CU_add_suite("emit", NULL, NULL);
    CU_add_test(s, "shipped scenarios come back as the same job", test_shipped);
    CU_add_test(s, "plans of random spaces come back, too", test_random_spaces);
    CU_add_test(s, "adapters come back, or are named", test_adapters);
    CU_add_test(s, "models whose sizes are said are not lost", test_models);
    CU_add_test(s, "listed plans come back as simulated", test_listed_plans);
}
