/* Arguments of AWS's own training scripts under SMP (amazon-sagemaker-examples:
 * model_parallel_v2/shared-scripts/arguments.py, train_lib.py and train_utils.py of SMP
 * v2; model_parallel/gpt2/train.py and model_config.py of SMP v1), with the defaults
 * that those have. They go before the Trainer's, whose names mean the same else. */
#include "dialect/launch/launch_imports.h"
#include "dialect/sagemaker/sagemaker.h"

#include "config/pointer.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define PARAMETERS "/distribution/smdistributed/modelparallel/parameters"

struct smp_script {
    struct launch_context *t;
    bool v2;
    const char *type; /* of the model */
    json_t *model;
    bool open; /* a size of the model is not known */
};

/* Hyperparameters ------------------------------------------------------------------ */

static const struct value_item *find(const struct smp_script *s, const char *name)
{
    return launch_hyper(s->t, name);
}

/* What is given, or the script's default; it is heard. */
static int64_t whole(const struct smp_script *s, const char *name, int64_t otherwise)
{
    const struct value_item *it = find(s, name);
    int64_t n = otherwise;
    launch_hear(s->t, it);
    if (it && it->value->kind == VALUE_BOOL)
        return it->value->integer;
    return it && it->value->kind != VALUE_NONE && launch_whole(it->value, &n)
               ? n
               : otherwise;
}

/* Sets a field by a hyperparameter, or as its default. */
static void set(const struct smp_script *s, const char *pointer, json_t *value,
                const char *name)
{
    const struct value_item *it = find(s, name);
    struct value v = { .kind = VALUE_NONE, .line = s->t->l->line };
    const struct value_item assumed = { arena_printf(s->t->arena, "%s's default", name),
                                        v.line, &v };
    if (launch_has(s->t, pointer) || launch_is_unresolved(s->t, pointer))
        json_decref(value);
    else
        launch_set(s->t, pointer, value, it ? it : &assumed);
    launch_hear(s->t, it);
}

/* The model ------------------------------------------------------------------------ */

static void put(struct smp_script *s, const char *key, json_t *value)
{
    json_object_set_new(s->model, key, value);
}

static void size(struct smp_script *s, const char *key, const char *name,
                 int64_t otherwise)
{
    const struct value_item *it = find(s, name);
    if (it && it->value->kind == VALUE_UNKNOWN && !s->open) {
        launch_unresolved_item(s->t, "/model", it, "whole number");
        s->open = true;
    }
    if (otherwise || (it && it->value->kind != VALUE_NONE))
        put(s, key, json_integer((json_int_t)whole(s, name, otherwise)));
    launch_hear(s->t, it);
}

static void dropout(struct smp_script *s, const char *key)
{
    const struct value_item *it = find(s, key);
    double x = 0.1;
    if (it)
        launch_real(it->value, &x);
    launch_hear(s->t, it);
    put(s, key, json_real(x));
}

static void make_llama(struct smp_script *s, const char *type, const char *ffn,
                       int64_t ffn_size)
{
    put(s, "model_type", json_string(type));
    size(s, "hidden_size", "hidden_width", 768);
    size(s, "num_hidden_layers", "num_layers", 12);
    size(s, "num_attention_heads", "num_heads", 12);
    size(s, "num_key_value_heads", "num_key_value_heads", 0);
    size(s, "intermediate_size", ffn, ffn_size);
    size(s, "max_position_embeddings", "max_context_width", s->v2 ? 2048 : 1024);
    size(s, "sliding_window", "sliding_window", 0);
    put(s, "tie_word_embeddings", json_false());
    if (strcmp(type, "mistral") == 0 && !json_object_get(s->model, "sliding_window"))
        put(s, "sliding_window", json_null());
    if (strcmp(type, "mixtral") != 0)
        return;
    size(s, "num_experts_per_tok", "num_experts_per_tok", 2);
    size(s, "num_local_experts", "num_local_experts", 8);
}

static void make_neox(struct smp_script *s)
{
    put(s, "model_type", json_string("gpt_neox"));
    size(s, "hidden_size", "hidden_width", 768);
    size(s, "num_hidden_layers", "num_layers", 12);
    size(s, "num_attention_heads", "num_heads", 12);
    size(s, "max_position_embeddings", "max_context_width", s->v2 ? 2048 : 1024);
    put(s, "intermediate_size", json_integer(4 * whole(s, "hidden_width", 768)));
    put(s, "tie_word_embeddings", json_false());
}

static void put_gpt(struct smp_script *s, const char *type, int64_t positions)
{
    put(s, "model_type", json_string(type));
    size(s, "n_embd", "hidden_width", 768);
    size(s, "n_layer", "num_layers", 12);
    size(s, "n_head", "num_heads", 12);
    size(s, "n_positions", "max_context_width", positions);
}

static void make_gpt2(struct smp_script *s)
{
    put_gpt(s, "gpt2", s->v2 ? 2048 : 1024);
    dropout(s, "resid_pdrop");
    dropout(s, "embd_pdrop");
    dropout(s, "attn_pdrop");
}

static void make_gptj(struct smp_script *s)
{
    put_gpt(s, "gptj", 1024);
}

static void make_bloom(struct smp_script *s)
{
    put(s, "model_type", json_string("bloom"));
    size(s, "hidden_size", "hidden_width", 768);
    size(s, "n_layer", "num_layers", 12);
    size(s, "n_head", "num_heads", 12);
}

/* tiiuae/falcon-7b's configuration with heads of its own (model_parallel/falcon):
 * those of keys are one, or as many as of queries. */
static void make_falcon(struct smp_script *s)
{
    int64_t heads = whole(s, "num_heads", 12), keys = whole(s, "num_heads_kv", 8);
    put(s, "model_type", json_string("falcon"));
    put(s, "vocab_size", json_integer(65024));
    size(s, "hidden_size", "hidden_width", 768);
    size(s, "num_hidden_layers", "num_layers", 12);
    size(s, "num_attention_heads", "num_heads", 12);
    size(s, "num_kv_heads", "num_heads_kv", 8);
    put(s, "multi_query", json_boolean(keys == 1));
    put(s, "new_decoder_architecture", json_boolean(keys != 1 && keys != heads));
    put(s, "parallel_attn", json_true());
    put(s, "alibi", json_false());
    put(s, "bias", json_false());
}

static void make_t5(struct smp_script *s)
{
    put(s, "model_type", json_string("t5"));
    size(s, "d_model", "hidden_width", 768);
    size(s, "d_ff", "intermediate_size", 2048);
    size(s, "num_layers", "num_layers", 12);
    size(s, "num_decoder_layers", "num_layers", 12);
    size(s, "num_heads", "num_heads", 12);
    put(s, "d_kv", json_integer(64));
    put(s, "feed_forward_proj", json_string("gated-gelu"));
}

/* By the words of "model_type"; false: none of them. */
static bool make_model(struct smp_script *s)
{
    size(s, "vocab_size", "vocab_size", s->v2 ? 50432 : 50264);
    if (strncmp(s->type, "llama", 5) == 0)
        make_llama(s, "llama", "llama_intermediate_size", 11008);
    else if (strcmp(s->type, "mistral") == 0 || strcmp(s->type, "mixtral") == 0)
        make_llama(s, s->type, "intermediate_size", 14336);
    else if (strcmp(s->type, "gpt_neox") == 0)
        make_neox(s);
    else if (strcmp(s->type, "gpt2") == 0)
        make_gpt2(s);
    else if (strcmp(s->type, "gptj") == 0)
        make_gptj(s);
    else if (strcmp(s->type, "bloom") == 0)
        make_bloom(s);
    else if (!s->v2 && strcmp(s->type, "falcon") == 0)
        make_falcon(s);
    else if (strcmp(s->type, "flan_t5") == 0 || strcmp(s->type, "t5") == 0)
        make_t5(s);
    else
        return false;
    return true;
}

/* A pretrained model goes before sizes (arguments.py: they are ignored then), where
 * its name is known. */
static bool take_pretrained(struct smp_script *s, bool sizes)
{
    static const char *const names[] = { "hf_pretrained_model_name_or_dir",
                                         "model_name", "model_name_or_path" };
    static const struct dialect_option row = { .name = "", .pointer = "/model" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value_item *it = find(s, names[i]);
        int64_t open = s->t->l->unresolved.n;
        if (!it || it->value->kind == VALUE_NONE)
            continue;
        trainer_take_model(s->t, &row, it);
        if (sizes && s->t->l->unresolved.n > open)
            s->t->l->unresolved.n = open;
        launch_hear(s->t, it);
        return launch_has(s->t, "/model") || !sizes;
    }
    return false;
}

/* The model of a script without --model_type: that of the configuration's class in its
 * text (amazon-sagemaker-examples, training/distributed_training/pytorch/model_parallel/
 * gpt-j). */
static const char *type_of_text(const struct smp_script *s)
{
    static const struct {
        const char *class, *type;
    } classes[] = {
        { "GPT2Config(", "gpt2" },
        { "GPTJConfig(", "gptj" },
        { "GPTNeoXConfig(", "gpt_neox" },
        { "BloomConfig(", "bloom" },
    };
    const struct value_item *it = value_get(s->t->call->arguments, "entry_point");
    const char *text = it && it->value->kind == VALUE_STRING
                           ? launch_program_text(s->t->l, s->t->arena, it->value->text)
                           : NULL;
    const char *found = NULL;
    for (size_t i = 0; text && !found && i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strstr(text, classes[i].class))
            found = classes[i].type;
    return found ? found : s->v2 ? "gpt_neox" : "gpt2";
}

/* --finetune_6b of the GPT-J script. */
static bool takes_gptj(struct smp_script *s)
{
    static const char name[] = "finetune_6b";
    const struct value_item *it = find(s, name);
    bool on = it && it->value->kind != VALUE_UNKNOWN && !launch_is_off(it->value);
    launch_hear(s->t, it);
    if (on)
        set(s, "/model", json_string("EleutherAI/gpt-j-6b"), name);
    return on;
}

static void take_model(struct smp_script *s)
{
    const struct value_item *it = find(s, "model_type");
    bool sizes = find(s, "hidden_width") && find(s, "num_layers");
    launch_hear(s->t, it);
    if (take_pretrained(s, sizes) || takes_gptj(s))
        return;
    s->type = !it                               ? type_of_text(s)
              : it->value->kind == VALUE_STRING ? it->value->text
                                                : "";
    s->model = json_object();
    if (it && it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(s->t, "/model", it, "string");
    else if (make_model(s) && !s->open)
        set(s, "/model", json_incref(s->model), sizes ? "hidden_width" : "model_type");
    else if (!s->open)
        launch_add_unresolved(s->t, "/model", it->value->line,
                              "%s: \"%.60s\" is no model of AWS's script that is "
                              "simulated; its config.json would do",
                              it->key, s->type);
    json_decref(s->model);
}

/* The step -------------------------------------------------------------------------- */

/* PyTorch's strategies, which a degree in the dictionary makes hybrid ones. */
static void take_sharding(struct smp_script *s)
{
    static const struct dialect_word words[] = {
        { "hybrid_shard", "full" }, { "_hybrid_shard_zero2", "gradients" },
        { "full_shard", "full" },   { "shard_grad_op", "gradients" },
        { "no_shard", "none" },     { NULL, NULL },
    };
    static const struct dialect_option row = {
        .pointer = "/parallelism/sharding/strategy",
        .kind = DIALECT_WORD,
        .words = words,
        .wanted = "strategy of FSDP's",
    };
    const struct value_item *it = find(s, "sharding_strategy");
    const json_t *degree = pointer_get(s->t->tree, PARAMETERS "/hybrid_shard_degree");
    const char *word =
        it && it->value->kind == VALUE_STRING ? it->value->text : "hybrid_shard";
    bool hybrid = strstr(word, "hybrid") != NULL;
    launch_hear(s->t, it);
    if (json_integer_value(degree) > 0 && !(hybrid && strstr(word, "zero2"))) {
        if (it && !hybrid)
            launch_note(s->t->l, it->line, DIAG_WITHOUT_EFFECT,
                        "%s: hybrid_shard_degree makes it hybrid_shard", it->key);
        return;
    }
    if (it)
        dialect_take(s->t, &row, it);
    struct value v = { .kind = VALUE_NONE, .line = s->t->l->line };
    const struct value_item usual = { "sharding_strategy's default", v.line, &v };
    if (hybrid && json_integer_value(degree) <= 0)
        trainer_take_hybrid(s->t, it ? it : &usual);
}

/* Without SMP's own layers the script runs without these degrees (train_lib.py). */
static void reset_degrees(struct smp_script *s)
{
    static const char *const names[] = { "tensor_parallel_degree",
                                         "expert_parallel_degree",
                                         "context_parallel_degree" };
    const struct value_item *it = find(s, "use_smp_implementation");
    json_t *parameters = pointer_get(s->t->tree, PARAMETERS);
    if (!it || whole(s, it->key, 1) != 0)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (json_integer_value(json_object_get(parameters, names[i])) <= 1)
            continue;
        json_object_set_new(parameters, names[i], json_integer(1));
        launch_note(s->t->l, it->line, DIAG_ASSUMED,
                    "%s: it is 0, with which the script takes %s to be 1", it->key,
                    names[i]);
    }
}

static void take_precision(struct smp_script *s)
{
    bool own = whole(s, "use_smp_implementation", 1) != 0;
    const struct value_item *fp8 = find(s, "fp8");
    if (fp8 && whole(s, "fp8", 0) && own)
        set(s, "/training/precision", json_string("fp8"), "fp8");
    else if (whole(s, "bf16", 1))
        set(s, "/training/precision", json_string("bf16"), "bf16");
    else
        set(s, "/training/precision", json_string("fp32"), "bf16");
}

/* v1's strategy groups layers; v2 wraps each. */
static void take_checkpointing(struct smp_script *s)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *how = find(s, "activation_strategy");
    const char *word =
        how && how->value->kind == VALUE_STRING ? how->value->text : "each";
    bool on = whole(s, "activation_checkpointing", 1) != 0;
    launch_hear(s->t, how);
    if (on && strcmp(word, "each") != 0)
        set(s, "/parallelism/smp_script/activation_checkpointing", json_string(word),
            "activation_strategy");
    else
        set(s, at, json_string(on ? "full" : "none"), "activation_checkpointing");
}

static void take_attention(struct smp_script *s)
{
    const char *name = s->v2 ? "use_smp_flash_attn" : "flash_attention";
    if (!s->v2 && !find(s, name))
        return; /* the script falls back where the GPU has none */
    const struct value_item *it = find(s, name);
    bool on = whole(s, name, 1) != 0, t5 = s->type && strstr(s->type, "t5");
    if (on && t5)
        launch_note(s->t->l, it ? it->line : s->t->l->line, DIAG_NOT_SIMULATED,
                    "%s: flash attention of T5, which train.py has without the "
                    "positions' bias, is not simulated: it is taken to be unfused",
                    name);
    if (on && !t5)
        set(s, "/training/attention", json_string("flash"), name);
    else if (!s->v2)
        set(s, "/training/attention", json_string("unfused"), name);
}

static void take_backend(struct smp_script *s)
{
    const struct value_item *it = find(s, "distributed_backend");
    const char *word = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strcmp(word, "smddp") == 0 || strcmp(word, "nccl") == 0)
        set(s, "/parallelism/backend", json_string(word), "distributed_backend");
}

/* These models are language models, whatever the program's name says. */
static void set_task(struct smp_script *s, const char *pointer)
{
    struct value v = { .kind = VALUE_NONE, .line = s->t->l->line };
    const struct value_item assumed = { "model_type's default", v.line, &v };
    const struct value_item *it = find(s, "model_type");
    if (!launch_has(s->t, pointer))
        launch_set(s->t, pointer, json_string("causal-lm"), it ? it : &assumed);
}

bool sagemaker_is_smp_script(const struct launch_context *t)
{
    static const char *const marks[] = {
        "hidden_width",
        "max_context_width",
        "use_smp_flash_attn",
        "use_smp_implementation",
        "hf_pretrained_model_name_or_dir",
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (launch_hyper(t, marks[i]))
            return true;
    return false;
}

void sagemaker_take_smp_script(struct launch_context *t)
{
    static const char task[] = "/training/task";
    struct smp_script s = { .t = t, .v2 = t->converts };
    const struct value_item *clip = find(&s, "grad_clip");
    double norm = 1;
    take_model(&s);
    if (!s.type || !strstr(s.type, "t5"))
        set_task(&s, task);
    if (s.v2) {
        reset_degrees(&s);
        take_sharding(&s);
        take_precision(&s);
        take_backend(&s);
    }
    if (clip)
        launch_real(clip->value, &norm);
    if (s.v2 && norm > 0)
        set(&s, "/training/gradient_clipping", json_real(norm), "grad_clip");
    take_checkpointing(&s);
    take_attention(&s);
    if (!s.v2)
        set(&s, "/training/gradient_accumulation_steps",
            json_integer((json_int_t)whole(&s, "gradient_accumulation", 1)),
            "gradient_accumulation");
    if (!find(&s, "max_context_width"))
        set(&s, "/training/sequence_length", json_integer(s.v2 ? 2048 : 1024),
            "max_context_width");
    if (!find(&s, "train_batch_size") && t->microbatches == 1)
        set(&s, "/training/micro_batch_size", json_integer(s.v2 ? 2 : 4),
            "train_batch_size");
}
