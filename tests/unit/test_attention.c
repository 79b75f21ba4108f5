/* Which kernel of attention a job runs that does not say: by library, release, family,
 * GPU and format; and what a job may not write. */
#include "scenario_bench.h"

#include "scenario/attention.h"
#include "simulate/fit.h"

void test_attention_register(void);

static const char job[] = /* of 32 to 64 GPUs, by the instance */
    "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'ml.p4d.24xlarge', 'count': 8 },"
    "  'training': { 'sequence_length': 512, 'micro_batch_size': 1, 'precision': "
    "'fp16' },"
    "  'parallelism': { } }";

#define ON(name) " /cluster/instance=\"" name "\""
#define MODEL(name) " /model=\"" name "\""
#define LIBRARY(name) " /parallelism/library=\"" name "\""
#define FULL " /parallelism/sharding={\"strategy\":\"full\"}"
#define FRAMEWORK(name) " /training/framework=\"" name "\""
#define TORCH(v) " /software/pytorch=\"" v "\""
#define RELEASE(v) " /software/transformers=\"" v "\""
#define PRECISION(name) " /training/precision=\"" name "\""
#define TRANSFORMERS(release) " /software/transformers=\"" release "\""
#define MASK(name) " /training/attention_mask=\"" name "\""
#define LENGTHS(name) \
    " /training/sequence_length={\"mean\":200,\"max\":512,\"padded\":\"" name "\"}"
#define ATTENTION(name) " /training/attention=\"" name "\""
#define BLOOM                                                               \
    " /model={\"model_type\":\"bloom\",\"n_layer\":4,\"hidden_size\":1024," \
    "\"n_head\":16,\"vocab_size\":8192}"

enum {
    UNFUSED = OP_ATTENTION_UNFUSED,
    SOFTMAX = OP_ATTENTION_FUSED_SOFTMAX,
    EFFICIENT = OP_ATTENTION_EFFICIENT,
    FLASH = OP_ATTENTION_FLASH,
    FLASH3 = OP_ATTENTION_FLASH3,
    CUDNN = OP_ATTENTION_CUDNN
};

static const struct {
    const char *changes;
    int kernel;
} defaults[] = {
    /* GPUs and formats */
    { LIBRARY("fsdp") FULL, FLASH },
    { LIBRARY("fsdp") FULL ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("fsdp") FULL ON("ml.p3dn.24xlarge"), EFFICIENT },
    { LIBRARY("fsdp") FULL ON("ml.g4dn.12xlarge"), EFFICIENT },
    { LIBRARY("fsdp") FULL PRECISION("fp32"), EFFICIENT },
    { LIBRARY("fsdp") FULL PRECISION("tf32"), EFFICIENT },
    { LIBRARY("fsdp") FULL PRECISION("amp_bf16"), FLASH },
    { LIBRARY("fsdp") FULL ON("ml.p5.48xlarge") PRECISION("fp8"), FLASH },
    /* releases of transformers, given or by the container of PyTorch */
    { LIBRARY("fsdp") FULL RELEASE("4.35.2"), UNFUSED },
    { LIBRARY("fsdp") FULL RELEASE("4.36.0"), FLASH },
    { LIBRARY("fsdp") FULL TORCH("2.0.1"), UNFUSED },
    { LIBRARY("fsdp") FULL TORCH("2.1.0") RELEASE("4.36.0"), UNFUSED },
    { LIBRARY("fsdp") FULL TORCH("2.3.0"), FLASH },
    { LIBRARY("fsdp") FULL TORCH("1.13.1"), UNFUSED },
    { LIBRARY("fsdp") FULL TORCH("2.11.0"), FLASH }, /* A100 */
    { LIBRARY("fsdp") FULL TORCH("2.10.0") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("fsdp") FULL TORCH("2.5.0") ON("ml.p5.48xlarge"), CUDNN },
    { LIBRARY("fsdp") FULL TORCH("2.5.0"), FLASH }, /* A100 */
    { LIBRARY("fsdp") FULL TORCH("2.5.1") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("fsdp") FULL TORCH("2.5") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("fsdp") FULL TORCH("2.11.0") ON("ml.p5.48xlarge"), CUDNN },
    { LIBRARY("fsdp") FULL TORCH("2.11.0") ON("ml.p6-b200.48xlarge"), CUDNN },
    { LIBRARY("fsdp") FULL FRAMEWORK("torchtitan-2025") ON("ml.p6-b200.48xlarge"),
      CUDNN },
    { LIBRARY("fsdp") FULL FRAMEWORK("torchtitan-2025") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("fsdp") FULL FRAMEWORK("torchtitan-2025") ATTENTION("sdpa")
          ON("ml.p6-b200.48xlarge"),
      FLASH },
    { LIBRARY("fsdp") FULL TORCH("2.11.0") ON("ml.p5.48xlarge") MASK("tensor"),
      EFFICIENT },
    { LIBRARY("megatron") ATTENTION("cudnn") ON("ml.p5.48xlarge"), CUDNN },
    { LIBRARY("ddp") MODEL("bert-large-uncased") RELEASE("4.40.2"), UNFUSED },
    { LIBRARY("ddp") MODEL("bert-large-uncased") RELEASE("4.41.0"), FLASH },
    { LIBRARY("ddp") MODEL("gpt2-xl") RELEASE("4.41.2"), UNFUSED },
    { LIBRARY("horovod") MODEL("gpt2-xl"), FLASH },
    { LIBRARY("deepspeed") MODEL("gpt-neox-20b") FULL, FLASH },
    { LIBRARY("deepspeed") MODEL("gpt-neox-20b") FULL RELEASE("4.42.4"), UNFUSED },
    /* families without it */
    { LIBRARY("fsdp") MODEL("gpt-j-6b") FULL, UNFUSED },
    { LIBRARY("fsdp") MODEL("t5-3b") FULL, UNFUSED },
    { LIBRARY("fsdp") BLOOM FULL, UNFUSED },
    /* libraries with code of their own */
    { LIBRARY("megatron"), FLASH }, /* rotary positions: not of 2022 */
    { LIBRARY("megatron") MODEL("gpt2-xl"), SOFTMAX },
    { LIBRARY("megatron") MODEL("gpt2-xl") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("megatron") ON("ml.p5.48xlarge"), FLASH },
    { LIBRARY("megatron") FRAMEWORK("megatron-core"), FLASH },
    { LIBRARY("megatron") FRAMEWORK("megatron-core") ON("ml.p3dn.24xlarge"), SOFTMAX },
    { LIBRARY("megatron") FRAMEWORK("nemo") PRECISION("fp32"), SOFTMAX },
    { LIBRARY("deepspeed") " /parallelism/tensor=2", SOFTMAX },
    { FULL FRAMEWORK("torchtitan"), FLASH },
    { FULL FRAMEWORK("torchtitan") PRECISION("fp32"), EFFICIENT },
    { FULL FRAMEWORK("fsdp-torch2") ON("ml.p3dn.24xlarge"), UNFUSED },
    { MODEL("bert-large-uncased") FRAMEWORK("transformers-2021"), UNFUSED },
    { MODEL("bert-large-uncased") FRAMEWORK("tensorflow2-xla"), UNFUSED },
    /* what is written */
    { LIBRARY("fsdp") FULL ATTENTION("eager"), UNFUSED },
    { LIBRARY("fsdp") FULL ATTENTION("xformers"), EFFICIENT },
    { LIBRARY("fsdp") MODEL("gpt-j-6b") FULL ATTENTION("sdpa"), FLASH },
    { LIBRARY("fsdp") FULL ATTENTION("sdpa") ON("ml.p3dn.24xlarge"), EFFICIENT },
    { LIBRARY("megatron") ATTENTION("flash_attention_2"), FLASH },
    /* masks, which padding brings, but not of a pack or a single sequence */
    { LIBRARY("fsdp") FULL MASK("tensor"), EFFICIENT },
    { LIBRARY("fsdp") FULL LENGTHS("max"), EFFICIENT },
    { LIBRARY("fsdp") FULL LENGTHS("max") MASK("kernel"), FLASH },
    { LIBRARY("fsdp") FULL LENGTHS("packed"), FLASH },
    { LIBRARY("fsdp") FULL LENGTHS("longest"), FLASH },
    { LIBRARY("fsdp") FULL LENGTHS("longest") " /training/micro_batch_size=2",
      EFFICIENT },
    { LIBRARY("fsdp") FULL LENGTHS("max") ATTENTION("flash_attention_2"), FLASH },
    { LIBRARY("megatron") ATTENTION("flash_attention_3") ON("ml.p5.48xlarge"), FLASH3 },
    /* releases that make a mask of every batch of Llama */
    { LIBRARY("fsdp") FULL TRANSFORMERS("4.37.2"), FLASH },
    { LIBRARY("fsdp") FULL TRANSFORMERS("4.38.0"), EFFICIENT },
    { LIBRARY("fsdp") FULL TRANSFORMERS("4.39.3"), EFFICIENT },
    { LIBRARY("fsdp") FULL TRANSFORMERS("4.39.3") MASK("kernel"), FLASH },
    { LIBRARY("fsdp") FULL TRANSFORMERS("4.40.0"), FLASH },
    { LIBRARY("fsdp") MODEL("gpt-j-6b") FULL ATTENTION("sdpa") TRANSFORMERS("4.39.3"),
      FLASH },
};

static void test_defaults(void)
{
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        bench_scenario(&loader, &s, job, "", defaults[i].changes);
        CU_ASSERT_EQUAL(s.training.attention, (enum op_attention)defaults[i].kernel);
        if (s.training.attention != (enum op_attention)defaults[i].kernel)
            fprintf(stderr, "%s: %s\n", defaults[i].changes,
                    names_of(op_attention_names, (int)s.training.attention));
        cfg_loader_release(&loader);
    }
}

/* The least of what the instances have. */
static void test_unlike_instances(void)
{
    struct cfg_loader loader;
    struct scenario s;
    bench_scenario(&loader, &s, job, "",
                   MODEL("gpt2-xl")
                       LIBRARY("ddp") " /cluster={\"groups\":[{\"instance\":\"p4d."
                                      "24xlarge\",\"count\":2},{\"instance\":\"p3dn."
                                      "24xlarge\",\"count\":2}]}");
    CU_ASSERT_EQUAL(s.training.attention, OP_ATTENTION_EFFICIENT);
    cfg_loader_release(&loader);
}

static const struct {
    const char *sets[3], *part;
} refused[] = {
    { { "/training/attention=flash", "/cluster/instance=ml.p3dn.24xlarge" },
      "needs sm80, V100-SXM2-32GB is sm70" },
    { { "/training/attention=flash_attention_2", "/cluster/instance=ml.g4dn.12xlarge" },
      "needs sm80, T4 is sm75" },
    { { "/training/attention=flash", "/training/precision=fp32" }, "needs 16 bits" },
    { { "/training/attention=flash", "/model=t5-3b" }, "takes no bias" },
    { { "/training/attention=flash_attention_3" }, "is for sm90" },
    { { "/training/attention=cudnn" }, "has a rate on sm90 and sm100" },
    { { "/training/attention=sdpa", "/software/pytorch=1.13.1" }, "has no SDPA" },
    { { "/training/attention=sdpa", "/model=t5-3b" }, "learned bias" },
    { { "/training/attention=flash", "/training/attention_mask=tensor" },
      "takes no mask" },
    { { "/training/attention_mask=tensor", "/parallelism/context=2" },
      "without a mask" },
    { { "/software/transformers=new" }, "is no version" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cfg_loader loader;
        struct scenario s = { 0 };
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", job, strlen(job));
        for (int k = 0; k < 3 && refused[i].sets[k]; k++)
            CU_ASSERT_EQUAL(cfg_set(root, refused[i].sets[k]), 0);
        CU_ASSERT_EQUAL(scenario_read(&s, &loader, root), -1);
        CU_ASSERT_FATAL(loader.diags.n_errors > 0);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), refused[i].part));
        if (!strstr(diags_error_text(&loader.diags, 0), refused[i].part))
            fprintf(stderr, "%s\n", diags_error_text(&loader.diags, 0));
        cfg_loader_release(&loader);
    }
}

/* --- what would make a job fit
 * ----------------------------------------------------- */

static const char wide[] = /* 32 GPUs; each switch is one of several that it lacks */
    "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'ml.p5.48xlarge', 'count': 4 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1, 'precision': "
    "'bf16' },"
    "  'parallelism': { 'library': 'fsdp' } }";

static const struct {
    const char *changes, *first; /* what the fastest sets; NULL: it fits */
    bool alone;                  /* nothing else makes it fit */
} unfit[] = {
    { FULL, NULL, true },
    { FULL ATTENTION("unfused"), "--set /training/attention=flash", false },
    { FULL ATTENTION("unfused") " /training/sequence_length=8192 "
                                "/training/micro_batch_size=4",
      "--set /training/activation_checkpointing=full --set /training/attention=flash",
      true }, /* no change alone, but two */
    { LIBRARY("ddp"), "--set /parallelism/library=fsdp", true },
    { FULL ON("ml.p4de.24xlarge") " /training/micro_batch_size=6",
      "--set /training/micro_batch_size=2 --set "
      "/training/gradient_accumulation_steps=3",
      false },
    { FULL ON("ml.p4de.24xlarge") " /training/micro_batch_size=24",
      "--set /training/micro_batch_size=2 --set "
      "/training/gradient_accumulation_steps=12",
      true },
    { FULL ON("ml.p4de.24xlarge") " /training/micro_batch_size=4",
      "--set /training/micro_batch_size=2 --set "
      "/training/gradient_accumulation_steps=2",
      false },
    { FULL ON("ml.p4d.24xlarge") " /training/micro_batch_size=2",
      "--set /training/activation_checkpointing=full", true },
};

static bool fits_with(const char *changes, const struct fit_remedy *x)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW };
    char all[1024], *quote;
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct err err = { 0 };
    snprintf(all, sizeof(all), "%s %s", changes, x->sets);
    while ((quote = strchr(all, '\'')))
        *quote = ' ';
    while ((quote = strstr(all, "--set")))
        memset(quote, ' ', strlen("--set"));
    bench_scenario(&loader, &s, wide, "", all);
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &how, &err), 0);
    bool same = r.memory.fits && r.memory.peak_B == x->peak_B &&
                r.step_time_s == x->step_time_s;
    cfg_loader_release(&loader);
    return same;
}

/* The scenario with the change: it fits, and is what the remedy says. */
static void test_remedies(void)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW };
    for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct simulate_result r;
        struct err err = { 0 };
        struct cfg root = bench_scenario(&loader, &s, wide, "", unfit[i].changes);
        CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &how, &err), 0);
        simulate_remedies(&r, &loader.arena, &s, root.json);
        const struct memory_result *m = &r.memory;
        CU_ASSERT_EQUAL(m->fits, unfit[i].first == NULL);
        CU_ASSERT_EQUAL_FATAL(m->n_remedies > 0, unfit[i].first != NULL);
        if (unfit[i].first)
            CU_ASSERT_EQUAL(
                strncmp(m->remedies[0].sets, unfit[i].first, strlen(unfit[i].first)),
                0);
        if (unfit[i].first)
            CU_ASSERT_EQUAL(m->n_remedies == 1, unfit[i].alone);
        for (int32_t k = 0; k < m->n_remedies; k++)
            CU_ASSERT(fits_with(unfit[i].changes, &m->remedies[k]));
        cfg_loader_release(&loader);
    }
}

void test_attention_register(void)
{
    CU_pSuite suite = CU_add_suite("attention", NULL, NULL);
    CU_ADD_TEST(suite, test_defaults);
    CU_ADD_TEST(suite, test_unlike_instances);
    CU_ADD_TEST(suite, test_refused);
    CU_ADD_TEST(suite, test_remedies);
}
