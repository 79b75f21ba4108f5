/* What a program trains, by its name: models/launch/entry_points.json. */
#include "config/pointer.h"
#include "dialect/launch/launch.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_entry_points_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A job of four nodes that lacks nothing, in whichever dialect. */
#define MEGATRON                                                                    \
    "torchrun --nnodes 4 --nproc_per_node 8 %s --num-layers 24 --hidden-size 1024 " \
    "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 "      \
    "--micro-batch-size 2 --global-batch-size 256 --tensor-model-parallel-size 2 %s\n"
#define TRAINER                                                          \
    "torchrun --nnodes 4 --nproc_per_node 8 %s --model_name_or_path %s " \
    "--per_device_train_batch_size 8 --max_seq_length 384 --max_steps 100\n"
#define ESTIMATOR                                                         \
    "e = HuggingFace(entry_point='%s', instance_type='ml.p4d.24xlarge', " \
    "instance_count=4, hyperparameters={'model_name_or_path': '%s', "     \
    "'per_device_train_batch_size': 8, 'max_seq_length': 384})\n"

struct read {
    struct launch l;
    struct cfg_loader loader;
    struct cfg root;
};

static void read_job(struct read *r, const char *format, const char *program,
                     const char *more)
{
    char text[1000];
    snprintf(text, sizeof(text), format, program, more);
    cfg_loader_init(&r->loader);
    r->root = launch_load_text(&r->l, &r->loader,
                               format[0] == 'e' ? "job.py" : "job.sh", text);
}

static void release(struct read *r)
{
    launch_release(&r->l);
    cfg_loader_release(&r->loader);
}

/* "=VALUE" of a field, "?" where it is asked for, "-" without. */
static const char *field_of(const struct read *r, const char *pointer)
{
    static char text[200];
    json_t *v = r->root.json ? pointer_get(r->root.json, pointer) : NULL;
    for (int64_t i = 0; i < r->l.unresolved.n; i++)
        if (strcmp(r->l.unresolved.v[i].pointer, pointer) == 0)
            return "?";
    if (!v)
        return "-";
    snprintf(text, sizeof(text), "%s",
             json_is_string(v) ? json_string_value(v)
             : json_is_true(v) ? "true"
                               : "");
    return text;
}

static bool refuses(const struct read *r)
{
    for (int64_t i = 0; i < r->loader.diags.n; i++)
        if (r->loader.diags.v[i].code == DIAG_REFUSED_KEY)
            return true;
    return false;
}

/* --- programs that train ---------------------------------------------------------- */

static const struct {
    const char *format, *program, *more, *pointer, *value;
} trained[] = {
    { MEGATRON, "pretrain_gpt.py", "", "/training/task", "-" },
    { MEGATRON, "/opt/Megatron-LM/pretrain_gpt2.py", "", "/model/encoder", "-" },
    { MEGATRON, "pretrain_prefix_lm.py", "", "/model/model_type", "megatron" },
    { MEGATRON, "finetune_t0_non_causal_decoder.py", "", "/training/task", "-" },
    { MEGATRON, "pretrain_bert.py", "", "/model/encoder", "true" },
    { MEGATRON, "pretrain_bert.py", "", "/model/encoder_decoder", "-" },
    { MEGATRON, "../pretrain_t5.py", "", "/model/encoder_decoder", "true" },
    { MEGATRON, "pretrain_t5.py", "", "/model/encoder", "-" },
    { MEGATRON, "pretrain_mamba.py", "", "/model/hybrid_layer_pattern",
      "MMMMMMMMMMMMMMMMMMMMMMMM" },
    { MEGATRON, "pretrain_gpt.py", "", "/model/hybrid_layer_pattern", "-" },
    { MEGATRON, "pretrain_mcore_llama.py", "", "/model/model_type", "megatron" },
    { MEGATRON, "finetune_megatron_llama_withGA.py", "", "/training/task", "-" },
    { MEGATRON, "pretrain_megatron_chatglm.py", "", "/training/task", "?" },
    { MEGATRON, "train.py", "", "/training/task", "?" },
    { MEGATRON, "our_pretraining.py", "", "/training/task", "?" },
    { TRAINER, "run_clm.py", "gpt2-xl", "/training/task", "causal-lm" },
    { TRAINER, "run_clm_no_trainer.py", "gpt2-xl", "/training/task", "causal-lm" },
    { TRAINER, "run_mlm.py", "bert-large-uncased", "/training/task", "masked-lm" },
    { TRAINER, "run-qa.py", "bert-large-uncased", "/training/task",
      "question-answering" },
    { TRAINER, "run_glue.py", "bert-large-uncased", "/training/task",
      "classification" },
    { TRAINER, "run_translation.py", "t5-3b", "/training/task", "seq2seq" },
    { TRAINER, "run_summarization.py", "t5-3b", "/training/task", "seq2seq" },
    { TRAINER, "run_dpo.py", "gpt2-xl", "/training/task", "dpo" },
    { ESTIMATOR, "train_reward_model.py", "gpt2-xl", "/training/task", "reward" },
    { TRAINER, "scripts/train.py", "gpt2-xl", "/training/task", "-" },
    { TRAINER, "our_program.py", "gpt2-xl", "/training/task", "?" },
    { TRAINER, "train_using_s3_data.py", "gpt2-xl", "/training/task", "-" },
    { TRAINER, "train_and_evaluate.py", "gpt2-xl", "/training/task", "-" },
    { ESTIMATOR, "run_squad.py", "bert-large-uncased", "/training/task",
      "question-answering" },
    { ESTIMATOR, "train.py", "gpt2-xl", "/training/task", "-" },
    { ESTIMATOR, "our_program.py", "gpt2-xl", "/training/task", "?" },
};

static void test_trained(void)
{
    for (size_t i = 0; i < COUNT(trained); i++) {
        struct read r;
        read_job(&r, trained[i].format, trained[i].program, trained[i].more);
        const char *got = field_of(&r, trained[i].pointer);
        CU_ASSERT_STRING_EQUAL(got, trained[i].value);
        CU_ASSERT_FALSE(refuses(&r));
        if (strcmp(got, trained[i].value) != 0)
            fprintf(stderr, "%s %s: %s\n", trained[i].program, trained[i].pointer, got);
        release(&r);
    }
}

/* --- programs that train nothing, or what is not simulated ------------------------ */

static const char *const refused[] = {
    "pretrain_ict.py",
    "pretrain_retro.py",
    "pretrain_vlm.py",
    "pretrain_vision_classify.py",
    "pretrain_mcore_llava.py",
    "finetune_megatron_qwen_vl.py",
    "examples/multimodal/train.py",
    "../tasks/main.py",
    "tools/preprocess_data.py",
    "tools/checkpoint/convert.py",
    "merge_mp_partitions.py",
    "evaluate_bsevalharness.py",
    "run_eval.py",
    "tools/generate_samples_gpt.py",
    "tools/run_text_generation_server.py",
    "gpt_static_inference.py",
    "train_rl.py",
    "run_online_dpo.py",
    "llava/train/train_dpo.py",
    "reward_server.py",
    "ppo.py",
    "run_ppo.py",
    "train_ppo_llama.py",
};

static void test_refused(void)
{
    static const char *const formats[] = { MEGATRON, TRAINER, ESTIMATOR };
    for (size_t i = 0; i < COUNT(refused); i++)
        for (size_t j = 0; j < COUNT(formats); j++) {
            struct read r;
            read_job(&r, formats[j], refused[i], "gpt2-xl");
            CU_ASSERT_TRUE(refuses(&r));
            if (!refuses(&r))
                fprintf(stderr, "%s is not refused\n", refused[i]);
            release(&r);
        }
}

/* Of several commands the one that trains is taken, and the others are named. */
static void test_among_others(void)
{
    struct read r;
    read_job(
        &r,
        "python tools/preprocess_data.py --input a.json --vocab-size 50257\n" MEGATRON
        "python tasks/main.py --num-layers 12 --hidden-size 768 "
        "--micro-batch-size 4\n",
        "pretrain_bert.py", "");
    CU_ASSERT_FALSE(refuses(&r));
    CU_ASSERT_STRING_EQUAL(field_of(&r, "/model/encoder"), "true");
    CU_ASSERT_EQUAL(json_integer_value(pointer_get(r.root.json, "/model/num_layers")),
                    24);
    bool named = false;
    for (int64_t i = 0; i < r.l.notes.n; i++)
        named |= strstr(r.l.notes.v[i].text, "preprocess_data.py") != NULL;
    CU_ASSERT_TRUE(named);
    release(&r);
}

/* The task of an unknown program with Megatron's arguments says what it builds. */
static void test_given_task(void)
{
    static const struct {
        const char *task, *pointer, *value;
    } cases[] = {
        { "causal-lm", "/model/encoder", "-" },
        { "masked-lm", "/model/encoder", "true" },
        { "seq2seq", "/model/encoder_decoder", "true" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read r;
        read_job(&r, MEGATRON, "our_program.py", "");
        json_object_set_new(json_object_get(r.root.json, "training"), "task",
                            json_string(cases[i].task));
        json_object_set_new(json_object_get(r.root.json, "cluster"), "instance",
                            json_string("ml.p4d.24xlarge"));
        CU_ASSERT_EQUAL(launch_complete(&r.l, r.root), 0);
        r.l.unresolved.n = 0;
        CU_ASSERT_STRING_EQUAL(field_of(&r, cases[i].pointer), cases[i].value);
        release(&r);
    }
}

/* Lengths that no option gives: the program's, of at most the model's positions; those
 * of pictures are the model's. */
static void test_lengths(void)
{
    static const struct {
        const char *program, *model;
        int64_t length; /* 0: asked for */
        const char *part;
    } cases[] = {
        { "run_qa.py", "bert-base-uncased", 384, "" },
        { "run_glue.py", "roberta-base", 128, "" },
        { "run_clm.py", "EleutherAI/gpt-neo-1.3B", 1024, "" },
        { "run_clm.py", "openai-community/gpt2", 1024, "" },
        { "run_mlm.py", "bert-large-uncased", 512, "" },
        { "run_summarization.py", "facebook/bart-base", 1024, "" },
        { "train.py", "bert-base-uncased", 0, "how long sequences are" },
        { "train.py", "google/vit-base-patch16-224", 197, "" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct launch l;
        struct cfg_loader loader;
        char text[600];
        snprintf(
            text, sizeof(text),
            "e = HuggingFace(entry_point='%s', instance_type='ml.p4d.24xlarge', "
            "instance_count=4, distribution={'torch_distributed': {'enabled': True}}, "
            "hyperparameters={'model_name_or_path': '%s', "
            "'per_device_train_batch_size': 8})\n",
            cases[i].program, cases[i].model);
        cfg_loader_init(&loader);
        struct cfg root = launch_load_text(&l, &loader, "job.py", text);
        CU_ASSERT_EQUAL(launch_complete(&l, root), cases[i].length ? 0 : -1);
        json_t *n = pointer_get(root.json, "/training/sequence_length");
        CU_ASSERT_EQUAL(json_integer_value(n), cases[i].length);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, cases[i].length ? 0 : 1);
        if (!cases[i].length)
            CU_ASSERT_PTR_NOT_NULL(
                strstr(diags_error_text(&loader.diags, 0), cases[i].part));
        launch_release(&l);
        cfg_loader_release(&loader);
    }
}

void test_entry_points_register(void)
{
    CU_pSuite suite = CU_add_suite("entry_points", NULL, NULL);
    CU_add_test(suite, "lengths", test_lengths);
    CU_add_test(suite, "programs that train", test_trained);
    CU_add_test(suite, "programs that are refused", test_refused);
    CU_add_test(suite, "among other commands", test_among_others);
    CU_add_test(suite, "a task that is given", test_given_task);
}
