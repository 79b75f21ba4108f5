/* Models and frameworks as their files describe them. */
#include "base/xmalloc.h"
#include "config/datadir.h"
#include "model/framework.h"
#include "model/model.h"

#include <CUnit/CUnit.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_model_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct cfg parse(struct cfg_loader *loader, const char *text)
{
    return cfg_parse(loader, "f", text, strlen(text));
}

/* --- parameters ---------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t parameters; /* published, or by the formulas checked against those */
} shipped[] = {
    { "bert-base-uncased", 109482240 },
    { "bert-large-uncased", 335141888 },
    { "roberta-base", 124645632 },
    { "roberta-large", 355359744 },
    { "gpt2", 124439808 },
    { "gpt2-medium", 354823168 },
    { "gpt2-large", 774030080 },
    { "gpt2-xl", 1557611200 },
    { "gpt3-175b", 174604259328 },
    { "gpt3-13b", 12952938780 },
    { "gpt3-6.7b", 6658404352 },
    { "gpt-j-6b", 6050882784 },
    { "gpt-neox-20b", 20554567680 },
    { "llama-7b", 6738415616 },
    { "llama2-7b", 6738415616 },
    { "llama2-13b", 13015864320 },
    { "llama2-70b", 68976648192 },
    { "llama3-8b", 8030261248 },
    { "llama3-70b", 70553706496 },
    { "llama3.1-405b", 405853388800 },
    { "mixtral-8x7b", 46702792704 },
    { "t5-small", 60506624 },
    { "t5-base", 222903552 },
    { "t5-large", 737668096 },
    { "t5-3b", 2851598336 },
    { "t5-11b", 11307321344 },
    { "flan-t5-xxl", 11135332352 },
};

static void test_parameters(void)
{
    for (size_t i = 0; i < COUNT(shipped); i++) {
        struct cfg_loader loader;
        struct model m;
        cfg_loader_init(&loader);
        struct cfg c = cfg_from_tree(&loader, "test", json_string(shipped[i].name));
        CU_ASSERT_EQUAL(model_read(&m, &loader, c), 0);
        CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
        CU_ASSERT_EQUAL(model_parameters(&m), shipped[i].parameters);
        cfg_loader_release(&loader);
    }
}

/* --- what files say -------------------------------------------------------------- */

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, parse(loader, text));
}

static void test_strange_keys(void)
{
    struct cfg_loader loader;
    struct model m;
    const char *text =
        "{'model_type': 'falcon', 'num_hidden_layers': 32, 'alibi': False,"
        " 'hidden_size': 4544, 'num_attention_heads': 71, 'bias': False,"
        " 'multi_query': True, 'parallel_attn': True, 'vocab_size': 65024,"
        " 'auto_map': {'AutoConfig': 'x'}, 'apply_residual': [1, 2]}";
    CU_ASSERT_EQUAL(read_text(&m, &loader, text), 0);
    CU_ASSERT_EQUAL(loader.diags.n_errors + loader.diags.n_warnings, 0);
    CU_ASSERT_EQUAL(m.attention.kv_heads, 1);
    CU_ASSERT_EQUAL(m.mlp.width, 4 * 4544);
    CU_ASSERT_TRUE(m.norms.one && m.attention.rotary && !m.hidden_dropout);
    CU_ASSERT_EQUAL(model_parameters(&m), 6921720704); /* tiiuae/falcon-7b */
    cfg_loader_release(&loader);
}

static void test_design_inline(void)
{
    struct cfg_loader loader;
    struct model m;
    const char *text = "{'model_type': 'gpt2', 'n_layer': 96, 'n_embd': 12288,"
                       " 'n_head': 96, 'vocab_size': 50257}";
    CU_ASSERT_EQUAL(read_text(&m, &loader, text), 0);
    CU_ASSERT_STRING_EQUAL(m.name, "inline");
    CU_ASSERT_STRING_EQUAL(m.label, "gpt2-96x12288");
    CU_ASSERT_TRUE(m.ends.positions_assumed);
    CU_ASSERT_EQUAL(model_parameters(&m), 174604259328 - 1024 * 12288);
    cfg_loader_release(&loader);
}

#define BERT(rest)                                                      \
    "{'model_type': 'bert', 'num_hidden_layers': 2, 'hidden_size': 64," \
    " 'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 100" rest "}"

#define LLAMA(class)                                                          \
    "{'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 64, "     \
    "'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 512, " \
    "'architectures': [" class "]}"

static void test_heads(void)
{
    static const struct {
        const char *text;
        enum model_head head;
    } cases[] = {
        { BERT(""), MODEL_HEAD_MASKED_LM },
        { BERT(", 'architectures': ['BertModel']"), MODEL_HEAD_CLASS },
        { BERT(", 'architectures': []"), MODEL_HEAD_MASKED_LM },
        { BERT(", 'architectures': ['BertForPreTraining']"), MODEL_HEAD_PRETRAIN },
        { BERT(", 'architectures': ['BertForQuestionAnswering']"), MODEL_HEAD_SPAN },
        { BERT(", 'architectures': ['BertForSequenceClassification']"),
          MODEL_HEAD_CLASS },
        { BERT(", 'architectures': ['BertLMHeadModel']"), MODEL_HEAD_CAUSAL_LM },
        { LLAMA("'LlamaForCausalLM'"), MODEL_HEAD_CAUSAL_LM },
        { LLAMA("'LlamaModel'"), MODEL_HEAD_SCORE },
        { LLAMA("'LlamaModel'], 'auto_map': {'AutoModelForCausalLM': 'm.L'}, 'x': ["),
          MODEL_HEAD_CAUSAL_LM },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, cases[i].text), 0);
        CU_ASSERT_EQUAL(m.ends.head, cases[i].head);
        cfg_loader_release(&loader);
    }
}

/* A classifier on a decoder has no matrix of logits of words. */
static void test_classifier_count(void)
{
    static const char *const texts[] = { LLAMA("'LlamaForCausalLM'"),
                                         LLAMA("'LlamaForSequenceClassification'") };
    int64_t n[2];
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, texts[i]), 0);
        n[i] = model_parameters(&m);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(n[0] - n[1], 64 * 512);
}

static const struct {
    const char *text, *error;
} wrong[] = {
    { "3", "a model is a name, a path or an object" },
    { "{}", "/model_type: missing (give \"model_type\" as Hugging Face" },
    { "{'model_type': 'nobody'}", "/model_type: model_type \"nobody\" is not known" },
    { "{'model_type': 'gpt2', 'n_layers': 2, 'n_embd': 64, 'n_head': 4,"
      " 'vocab_size': 10}",
      "\"n_layer\" is missing (is \"n_layers\" meant to be it?)" },
    { "{'model_type': 'gpt2', 'n_layer': 2, 'n_embd': 64, 'n_head': 4}",
      "\"vocab_size\" is missing (a model of this model_type needs it)" },
    { BERT(", 'head_dim': 0"), "/head_dim: 0 is too small" },
    { BERT(", 'hidden_dropout_prob': 2"), "/hidden_dropout_prob: 2 is too large" },
    { BERT(", 'architectures': [3]"), "/architectures/0: 3 is not a string" },
    { "{'model_type': 't5', 'num_layers': 2, 'd_model': 64, 'num_heads': 4, 'd_kv': 16,"
      " 'd_ff': 256, 'vocab_size': 100, 'architectures': ['T5EncoderModel']}",
      "/architectures/0: \"T5EncoderModel\" is the encoder alone, which is not "
      "modelled" },
    { "{'model_type': 'bert', 'num_hidden_layers': -2, 'hidden_size': 64,"
      " 'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 100}",
      "/num_hidden_layers: -2 is too small" },
    { "{'model_type': 'gpt2', 'n_layer': 2, 'n_embd': 99999999999, 'n_head': 4,"
      " 'vocab_size': 10}",
      "/n_embd: 99999999999 is too large" },
    { "{'model_type': 'gpt2', 'n_layer': 2, 'n_embd': 5140, 'n_head': 40,"
      " 'vocab_size': 10}",
      "40 heads do not divide the hidden size 5140" },
    { "{'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 64,"
      " 'num_attention_heads': 4, 'num_key_value_heads': 3, 'intermediate_size': 256,"
      " 'vocab_size': 100}",
      "3 key-value heads do not divide 4 heads" },
};

static void test_wrong(void)
{
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL(read_text(&m, &loader, wrong[i].text), -1);
        CU_ASSERT_EQUAL(loader.diags.n_errors, 1);
        const char *error =
            loader.diags.n_errors ? diags_error_text(&loader.diags, 0) : "";
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrong[i].error));
        cfg_loader_release(&loader);
    }
}

/* --- model FLOPs ------------------------------------------------------------------ */

/* Narayanan 2021: 72 B s l h^2 (1 + s/6h + V/12lh). */
static void test_flops(void)
{
    struct cfg_loader loader;
    struct model m;
    cfg_loader_init(&loader);
    struct cfg c = cfg_from_tree(&loader, "test", json_string("gpt3-175b"));
    CU_ASSERT_EQUAL_FATAL(model_read(&m, &loader, c), 0);
    double s = 2048, h = 12288, l = 96, v = 50257;
    double flops = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&m, 2048, 0, false), flops,
                           1e-9 * flops);
    double half = 72 * s * l * h * h * s / (12 * h);
    CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&m, 2048, 0, true), flops - half,
                           1e-9 * flops);
    cfg_loader_release(&loader);
}

/* --- frameworks ------------------------------------------------------------------- */

/* A queue of two servers in a row: the host issues kernels at random (exponential
 * gaps of mean 1), the GPU takes the same for each; both begin together. Mean time
 * of `n`. */
static double tandem(gsl_rng *rng, int n, double gpu)
{
    enum { DRAWS = 2000 };
    double sum = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        double issued = 0, done = 0;
        for (int k = 0; k < n; k++) {
            issued += gsl_ran_exponential(rng, 1);
            done = fmax(issued, done) + gpu;
        }
        sum += done;
    }
    return sum / DRAWS;
}

/* MODEL.md 4.2: what host and GPU lose to each other is what such a queue loses. */
static void test_host_lost(void)
{
    enum { KERNELS = 1600 };
    static const double ahead[] = { -2, -0.5, 0, 0.5, 1, 2 }; /* deviations */
    double deviation = sqrt(KERNELS);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < COUNT(ahead); i++) {
        double gpu = KERNELS + ahead[i] * deviation;
        double lost = framework_host_lost_s(deviation, KERNELS, gpu);
        double queue = tandem(rng, KERNELS, gpu / KERNELS) - fmax(KERNELS, gpu);
        CU_ASSERT_DOUBLE_EQUAL(lost / deviation, queue / deviation, 0.05);
    }
    gsl_rng_free(rng);
    double near = framework_host_lost_s(1, 5, 5 + 1.001e-3); /* both branches meet */
    CU_ASSERT_DOUBLE_EQUAL(near, framework_host_lost_s(1, 5, 5 + 0.999e-3), 1e-5);
    CU_ASSERT_DOUBLE_EQUAL(framework_host_lost_s(1, 5, 105) * 2 * 100, 1, 1e-12);
    CU_ASSERT_EQUAL(framework_host_lost_s(0, 5, 5), 0);
}

static void test_frameworks(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg nowhere = parse(&loader, "{}");
    const char **names = datadir_list(&loader.arena, "models/frameworks");
    int n = 0;
    for (; names[n]; n++) {
        const struct framework *fw = framework_get(&loader, names[n], nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(fw);
        CU_ASSERT_TRUE(fw->summary[0] && fw->provenance[0]);
        CU_ASSERT_TRUE(fw->host.dispatch_forward_s >= 0 &&
                       fw->host.dispatch_forward_s < 1e-3);
    }
    CU_ASSERT_TRUE(n >= 6);
    const struct framework *fw = framework_get(&loader, "pytorch-ddp", nowhere);
    CU_ASSERT_EQUAL(fw->reduction.bucket_B, 25 << 20);
    CU_ASSERT_EQUAL(fw->gradients.gradient_dtype, -1);
    CU_ASSERT_STRING_EQUAL(fw->library, "ddp");
    fw = framework_get(&loader, "smddp", nowhere);
    CU_ASSERT_STRING_EQUAL(fw->backend, "smddp");
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    CU_ASSERT_PTR_NULL(framework_get(&loader, "pytorch-dpd", nowhere));
    CU_ASSERT_EQUAL(loader.diags.n_errors, 1);
    cfg_loader_release(&loader);
}

/* A profile that was written before its keys were renamed. */
static void test_framework_renamed(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg file =
        datadir_load(&loader, "models/frameworks", "fsdp-eager", (struct cfg) { 0 });
    const struct framework *now = framework_get(&loader, "fsdp-eager", file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(now);
    static const char *const names[][2] = { { "launch_jitter", "host_spread" },
                                            { "launch_jitter_tensor",
                                              "host_spread_tensor" } };
    json_t *tree = json_deep_copy(file.json);
    for (size_t i = 0; i < COUNT(names); i++) {
        json_object_set(tree, names[i][1], json_object_get(tree, names[i][0]));
        json_object_del(tree, names[i][0]);
    }
    char *path = xasprintf("/tmp/smsim-renamed-%d.json", (int)getpid());
    CU_ASSERT_EQUAL(json_dump_file(tree, path, 0), 0);
    const struct framework *old = framework_get(&loader, path, file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(old);
    CU_ASSERT_TRUE(now->host.launch_jitter > 0 && now->host.launch_jitter_tensor > 0);
    CU_ASSERT_EQUAL(old->host.launch_jitter, now->host.launch_jitter);
    CU_ASSERT_EQUAL(old->host.launch_jitter_tensor, now->host.launch_jitter_tensor);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 2);
    unlink(path);
    free(path);
    json_decref(tree);
    cfg_loader_release(&loader);
}

static const struct framework *own_profile(struct cfg_loader *loader, const char *path,
                                           const char *text)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    return framework_get(loader, path, (struct cfg) { 0 });
}

/* Siblings are differences: members, pairs, optimizers and origins of the parent and of
 * its parent stand where the profile's own do not. */
static void test_framework_inherits(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    char *path = xasprintf("/tmp/smsim-heir-%d.json", (int)getpid());
    const struct framework *nemo =
        framework_get(&loader, "nemo-2025", (struct cfg) { 0 });
    const struct framework *heir =
        own_profile(&loader, path,
                    "{\"summary\": \"ours\", \"inherits\": \"nemo-2025\", "
                    "\"accumulate\": \"5B\", \"fused_rope\": false,"
                    "\"optimizers\": {\"lamb\": {\"bytes\": \"50B\"}},"
                    "\"provenance\": {\"logit\": \"our own\"}}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(nemo);
    CU_ASSERT_PTR_NOT_NULL_FATAL(heir);
    CU_ASSERT_EQUAL(heir->gradients.accumulate_B, 5);
    CU_ASSERT_EQUAL(heir->gradients.accumulate_16bit_B, 5); /* of the pair */
    CU_ASSERT_EQUAL(nemo->gradients.accumulate_B, 2);
    CU_ASSERT_TRUE(nemo->kernels.fused_rope && !heir->kernels.fused_rope);
    CU_ASSERT_TRUE(heir->loss.fused && heir->loss.logit_B == 10);
    CU_ASSERT_EQUAL(heir->optimizers[OPTIMIZER_ADAM].bytes,
                    nemo->optimizers[OPTIMIZER_ADAM].bytes);
    CU_ASSERT_EQUAL(heir->optimizers[OPTIMIZER_LAMB].bytes, 50);
    CU_ASSERT_EQUAL(heir->provenance_kind, nemo->provenance_kind);
    CU_ASSERT_PTR_NOT_NULL(strstr(heir->provenance, "logit: our own"));
    CU_ASSERT_PTR_NULL(strstr(heir->provenance, "logit: cross_entropy"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heir->provenance, "dummies: as megatron"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heir->provenance, "buckets: optim."));
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    unlink(path);
    free(path);
    cfg_loader_release(&loader);
}

/* Circles, and parents that are not there, are errors at "inherits". */
static void test_framework_circle(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    char *first = xasprintf("/tmp/smsim-first-%d.json", (int)getpid());
    char *second = xasprintf("/tmp/smsim-second-%d.json", (int)getpid());
    char *text = xasprintf("{\"inherits\": \"%s\"}", second);
    CU_ASSERT_PTR_NULL(own_profile(&loader, first, text));
    CU_ASSERT_EQUAL(loader.diags.n_errors, 1); /* no such file */
    free(text);
    text = xasprintf("{\"inherits\": \"%s\"}", first);
    CU_ASSERT_PTR_NULL(own_profile(&loader, second, text));
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(loader.diags.v[1].text, "inherits from itself"));
    unlink(first);
    unlink(second);
    free(text);
    free(first);
    free(second);
    cfg_loader_release(&loader);
}

void test_model_register(void)
{
    CU_pSuite suite = CU_add_suite("model", NULL, NULL);
    CU_add_test(suite, "parameters of the shipped models", test_parameters);
    CU_add_test(suite, "keys that are not ours are left alone", test_strange_keys);
    CU_add_test(suite, "a model inline", test_design_inline);
    CU_add_test(suite, "architectures choose the head", test_heads);
    CU_add_test(suite, "classifiers count without logits", test_classifier_count);
    CU_add_test(suite, "what is wrong is said", test_wrong);
    CU_add_test(suite, "model FLOPs", test_flops);
    CU_add_test(suite, "frameworks", test_frameworks);
    CU_add_test(suite, "a framework's old keys", test_framework_renamed);
    CU_add_test(suite, "a framework's parents", test_framework_inherits);
    CU_add_test(suite, "parents in a circle", test_framework_circle);
    CU_add_test(suite, "host and GPU as a queue", test_host_lost);
}
