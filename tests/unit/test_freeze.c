/* Layers and parts that are not trained, without adapters: counts by hand, what runs
 * backward, what is kept, what replicas reduce, what is refused. */
#include "model/freeze.h"
#include "op_bench.h"
#include "step_bench.h"

void test_freeze_register(void);

/* A Llama of 6 layers, 64 columns, 4 heads and an MLP of 192 columns. */
#define LLAMA(rest)                                                            \
    "{'model':{'model_type':'llama','num_hidden_layers':6,'hidden_size':64,"   \
    "'num_attention_heads':4,'num_key_value_heads':4,'intermediate_size':192," \
    "'vocab_size':512" rest "},"
#define JOB                                            \
    "'cluster':{'instance':'p4d.24xlarge','count':1}," \
    "'training':{'sequence_length':256,'micro_batch_size':2,'precision':'bf16'"

enum { NORMS = 2 * 64, ATTENTION = 4 * 64 * 64, MLP = 3 * 64 * 192, WORDS = 512 * 64 };
enum { LAYER = NORMS + ATTENTION + MLP };

static void read_job(struct job *j, const char *model, const char *frozen,
                     const char *rest)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s" JOB ",'frozen':%s%s}}", model, frozen, rest);
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", "");
}

static void make_list(struct op_list *list, struct job *j)
{
    struct err err = { 0 };
    struct op_settings s = scenario_op_settings(&j->s);
    CU_ASSERT_EQUAL_FATAL(op_list_make(list, &j->loader.arena, &j->s.model, &s, &err),
                          0);
}

static void test_counts(void)
{
    static const struct {
        const char *model, *frozen;
        int64_t trained;
    } cases[] = {
        { LLAMA(""), "['layers 0-3']", 2 * LAYER + 2 * WORDS + 64 },
        { LLAMA(""), "['layer 5','layers 1-2']", 3 * LAYER + 2 * WORDS + 64 },
        { LLAMA(""), "['embeddings','head','layers 0-4']", LAYER },
        { LLAMA(""), "['embeddings','layers 0-5']", WORDS + 64 },
        { LLAMA(""), "['layers but last 2']", 2 * LAYER + 2 * WORDS + 64 },
        { LLAMA(""), "['embeddings','layers but first 1']", LAYER + WORDS + 64 },
        { LLAMA(""), "'attention'", 6 * (LAYER - ATTENTION) + 2 * WORDS + 64 },
        { LLAMA(""), "['embeddings','head','attention','norms']", 6 * MLP },
        { LLAMA(",'tie_word_embeddings':true"), "['embeddings','layers 0-3']",
          2 * LAYER + 64 },
        { LLAMA(",'tie_word_embeddings':true"), "['layers 0-3']",
          2 * LAYER + WORDS + 64 },
        /* by LLaMA-Factory's last two layers, of 218112000 each */
        { "{'model':'llama3-8b',", "['embeddings','head','layers 0-29']", 436224000 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        read_job(&j, cases[i].model, cases[i].frozen, "");
        const struct lora *l = &j.s.training.lora;
        CU_ASSERT_EQUAL(lora_parameters(&j.s.model, l), cases[i].trained);
        CU_ASSERT_EQUAL(lora_all_parameters(&j.s.model, l), j.s.model.parameters);
        job_unload(&j);
    }
}

static double backward_flops(const struct op_block *b)
{
    double sum = 0;
    for (int32_t i = 0; i < b->n_backward; i++)
        sum += b->backward[i].flops;
    return sum;
}

static double gradient_flops(const struct op_block *b)
{
    double sum = 0;
    for (int32_t i = 0; i < b->n_backward; i++)
        sum += b->backward[i].grad_n > 0 && b->backward[i].kind == OP_GEMM
                   ? b->backward[i].flops
                   : 0;
    return sum;
}

/* Frozen in the middle: gradients of inputs alone. Below the lowest that is trained:
 * nothing, and nothing is kept. */
static void test_backward(void)
{
    struct job all, middle, low;
    struct op_list lists[3];
    read_job(&all, LLAMA(""), "[]", "");
    read_job(&middle, LLAMA(""), "['layers 2-3']", "");
    read_job(&low, LLAMA(""), "['embeddings','layers 0-3']", "");
    make_list(&lists[0], &all);
    make_list(&lists[1], &middle);
    make_list(&lists[2], &low);
    double whole = backward_flops(&lists[0].blocks[1]),
           weights = gradient_flops(&lists[0].blocks[1]);
    CU_ASSERT(weights > 0.3 * whole);
    CU_ASSERT_EQUAL_FATAL(lists[1].n_blocks, 5); /* ends, and layers in three runs */
    CU_ASSERT_EQUAL(lists[1].blocks[2].repeat, 2);
    CU_ASSERT_DOUBLE_EQUAL(backward_flops(&lists[1].blocks[2]), whole - weights, 1);
    CU_ASSERT_DOUBLE_EQUAL(backward_flops(&lists[1].blocks[1]), whole, 1);
    CU_ASSERT(op_block_kept_B(&lists[1].blocks[2]) > 0);
    CU_ASSERT(op_block_kept_B(&lists[1].blocks[2]) <
              op_block_kept_B(&lists[1].blocks[1]));
    CU_ASSERT_EQUAL(lists[2].blocks[0].n_backward, 0);
    CU_ASSERT_EQUAL(lists[2].blocks[1].n_backward, 0);
    CU_ASSERT_EQUAL(lists[2].blocks[1].repeat, 4);
    CU_ASSERT_EQUAL(op_block_kept_B(&lists[2].blocks[1]), 0);
    /* the lowest layer that is trained: all gradients of weights, no sum below its norm */
    const struct op_block *lowest = &lists[2].blocks[2];
    CU_ASSERT_EQUAL(lowest->repeat, 1);
    CU_ASSERT_DOUBLE_EQUAL(gradient_flops(lowest), weights, 1);
    CU_ASSERT_EQUAL(lowest->n_backward, lists[0].blocks[1].n_backward - 1);
    CU_ASSERT(lowest->backward[lowest->n_backward - 1].grad_n > 0);
    job_unload(&all);
    job_unload(&middle);
    job_unload(&low);
}

/* What is printed as FLOPs follows: a third of the products of layers that only hand
 * gradients on, two of those below. */
static void test_flops(void)
{
    struct job j;
    read_job(&j, LLAMA(""), "['embeddings','layers 0-3']", "");
    double s = 256;
    double products = 2 * s * (ATTENTION + MLP), core = 2 * 2 * 64 * s * s;
    double less = lora_flops_per_sample(&j.s.model, &j.s.training.lora, 256, 0);
    CU_ASSERT_DOUBLE_EQUAL(less, -4 * (2 * products + 2 * core), 1e-6 * -less);
    job_unload(&j);
    read_job(&j, LLAMA(""), "['layers 0-3']", "");
    less = lora_flops_per_sample(&j.s.model, &j.s.training.lora, 256, 0);
    CU_ASSERT_DOUBLE_EQUAL(less, -4 * products, 1e-6 * -less);
    job_unload(&j);
}

/* The more is frozen, the less time, memory and traffic; states are those of what is
 * trained. */
static void test_steps(void)
{
    static const char *const frozen[] = { "[]", "['layers 0-2']",
                                          "['embeddings','layers 0-2']",
                                          "['embeddings','head','layers 0-4']" };
    static const char *const rest[] = {
        "",
        ",'activation_checkpointing':'full'",
        "},'parallelism':{'library':'fsdp','sharding':{'strategy':'full'}",
        "},'parallelism':{'library':'deepspeed','sharding':{'strategy':'optimizer'}",
        ",'microbatches':4},'parallelism':{'library':'megatron','pipeline':2",
        "},'parallelism':{'library':'deepspeed','sharding':{'strategy':'full'}"
    };
    for (size_t k = 0; k < sizeof(rest) / sizeof(rest[0]); k++) {
        double last_s = HUGE_VAL;
        int64_t last_B = INT64_MAX;
        for (size_t i = 0; i < sizeof(frozen) / sizeof(frozen[0]); i++) {
            struct simulate_result r = { 0 };
            struct job j;
            read_job(&j, LLAMA(""), frozen[i], rest[k]);
            validation_job_run(&j, &r);
            CU_ASSERT(r.step_time_s < last_s);
            CU_ASSERT(r.memory.peak_B <= last_B);
            if (i > 0)
                CU_ASSERT_EQUAL(r.trained_parameters,
                                lora_parameters(&j.s.model, &j.s.training.lora));
            last_s = r.step_time_s;
            last_B = r.memory.peak_B;
            job_unload(&j);
        }
    }
    job_agrees(LLAMA("") JOB ",'frozen':['embeddings','layers 0-3']},"
                             "'parallelism':{'library':'fsdp',"
                             "'sharding':{'strategy':'full'}}}",
               "", 0.05);
}

/* The convolutions of a sound, as model.freeze_feature_encoder() has them. */
static void test_features(void)
{
    static const char sound[] =
        "{'model':{'model_type':'wav2vec2','num_hidden_layers':2,'hidden_size':64,"
        "'num_attention_heads':4,'intermediate_size':128},";
    struct op_list list;
    struct job j;
    read_job(&j, sound, "'feature_encoder'", "");
    make_list(&list, &j);
    int64_t convolutions = 512 * (10 + 4 * 3 * 512 + 2 * 2 * 512) + 2 * 512;
    CU_ASSERT_EQUAL(lora_parameters(&j.s.model, &j.s.training.lora),
                    lora_all_parameters(&j.s.model, &j.s.training.lora) - convolutions);
    CU_ASSERT(list.blocks[0].n_backward > 0);
    for (int32_t i = 0; i < list.blocks[0].n_backward; i++)
        CU_ASSERT_NOT_EQUAL(strncmp(list.blocks[0].backward[i].name, "conv", 4), 0);
    job_unload(&j);
}

static void test_refused(void)
{
    static const struct {
        const char *frozen, *rest, *says;
    } cases[] = {
        { "['layers 0-6']", "", "of which the last is 5" },
        { "['layers 3-2']", "", "no part of a model is known" },
        { "['wings']", "", "no part of a model is known" },
        { "['embeddings','head','layers 0-5']", "", "nothing is trained" },
        { "['feature_encoder']", "", "reads no samples" },
        { "['encoder']", "", "no encoder with words of its own" },
        { "['layers 0-1']", ",'lora':{'rank':8}", "adapters freeze all" },
        { "['layers 0-1']",
          "},'parallelism':{'library':'megatron','pipeline':2,'schedule':'zb-h1'",
          "fills its bubbles" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        char text[1024];
        snprintf(text, sizeof(text), "%s" JOB ",'frozen':%s%s}}", LLAMA(""),
                 cases[i].frozen, cases[i].rest);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "job", text, strlen(text));
        CU_ASSERT_EQUAL(scenario_read(&s, &loader, root), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(diags_error_text(&loader.diags, 0), cases[i].says));
        cfg_loader_release(&loader);
    }
}

static void test_words(void)
{
    static const struct {
        const char *word;
        int rc;
        int64_t from, end;
    } cases[] = {
        { "layer 7", 0, 7, 8 },       { "layers 0-23", 0, 0, 24 },
        { "layers 3", -1, 0, 0 },     { "layer 7x", -1, 0, 0 },
        { "layers 0-3,5", -1, 0, 0 }, { "layers -1-3", -1, 0, 0 },
        { "layers but 2", -1, 0, 0 }, { "layer -1", -1, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct layer_run run = { 0 };
        CU_ASSERT_EQUAL(freeze_read_layers(cases[i].word, 32, &run), cases[i].rc);
        if (cases[i].rc == 0) {
            char buf[64];
            struct lora l = { .layers = &(struct lora_layers) { 1, &run } };
            CU_ASSERT_EQUAL(run.from, cases[i].from);
            CU_ASSERT_EQUAL(run.end, cases[i].end);
            CU_ASSERT_STRING_EQUAL(freeze_layers_word(&l, 0, buf, sizeof(buf)),
                                   cases[i].word);
        }
    }
}

void test_freeze_register(void)
{
    CU_pSuite suite = CU_add_suite("freeze", NULL, NULL);
    CU_add_test(suite, "parameters that are trained", test_counts);
    CU_add_test(suite, "what runs backward", test_backward);
    CU_add_test(suite, "FLOPs", test_flops);
    CU_add_test(suite, "steps and memory", test_steps);
    CU_add_test(suite, "convolutions over a sound", test_features);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "words of layers", test_words);
}
