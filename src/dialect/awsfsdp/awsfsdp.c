#include "dialect/awsfsdp/awsfsdp.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"
#define CKPT "/training/activation_checkpointing"

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("vocab_size", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("hidden_width", "/model/hidden_size", .kind = DIALECT_SIZE),
    ROW("num_layers", "/model/num_hidden_layers", .kind = DIALECT_SIZE),
    ROW("num_heads", "/model/num_attention_heads", .kind = DIALECT_SIZE),
    ROW("max_context_width", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("train_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("max_training_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("grad_clip", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW_END,
};
/* Of the families that have them. */
static const struct dialect_option gated_rows[] = {
    ROW("num_key_value_heads", "/model/num_key_value_heads", .kind = DIALECT_SIZE),
    ROW("intermediate_size", "/model/intermediate_size", .kind = DIALECT_SIZE),
    ROW("llama_intermediate_size", "/model/intermediate_size", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("model_type", "/model/model_type"), ROW_ACTS("bf16", "/training/precision"), ROW_ACTS("activation_checkpointing", CKPT),
    ROW_ACTS("sharding_strategy", WIDE "sharding/strategy"), ROW_ACTS("cpu_offload", WIDE "sharding/offload"),
    ROW_ACTS("offload_activations", WIDE "offload_activations"), ROW_ACTS("activation_loading_horizon", WIDE "activation_loading_horizon"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW("limit_all_gathers", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_from_one),
    ROW_UNSIMULATED("profile"), ROW_UNSIMULATED("profile_nsys"), ROW_IDLE("nsys_*"), ROW_IDLE("val_batch_size"), ROW_IDLE("seed"), ROW_IDLE("same_seed"),
    ROW_IDLE("weight_decay"), ROW_IDLE("beta1"), ROW_IDLE("beta2"), ROW_IDLE("logging_freq"), ROW_IDLE("tensorboard_dir"), ROW_IDLE("*_pdrop"),
    ROW_IDLE("initializer_range"), ROW_IDLE("rotary_*"), ROW_IDLE("lr"), ROW_IDLE("lr_*"), ROW_IDLE("min_lr"), ROW_IDLE("warmup"), ROW_IDLE("plateau"),
    ROW_IDLE("dataset"), ROW_IDLE("dataset_config_name"), ROW_IDLE("tokenizer"), ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("checkpoint_*"),
    ROW_IDLE("epochs"), ROW_IDLE("validation_*"),
    ROW_END,
};
const struct dialect_table awsfsdp_tables[] = {
    { "", rows, DIALECT_UNKNOWN_IDLE },  { "", gated_rows, DIALECT_UNKNOWN_IDLE }, { "", joint, DIALECT_UNKNOWN_IDLE },
    { "", others, DIALECT_UNKNOWN_IDLE }, { NULL, NULL, DIALECT_UNKNOWN_IDLE },
};

/* train_utils.py, get_model_config(): a type has one of these words. */
static const struct family {
    const char *word, *model_type;
    bool gated; /* num_key_value_heads and intermediate_size are read */
} families[] = {
    { "gpt_neox", "gpt_neox", false }, { "llama_v2", "llama", true },  { "llama_v3", "llama", true },
    { "mixtral", "mixtral", true },    { "mistral", "mistral", true },
};
/* clang-format on */

/* Several arguments together ------------------------------------------------------- */

static bool is_on(struct launch_context *t, const struct value *c, const char *name,
                  const char *pointer, bool otherwise)
{
    const struct value_item *it = value_get(c, name);
    int64_t n = otherwise;
    launch_hear(t, it);
    if (it && it->value->kind == VALUE_BOOL)
        return it->value->integer != 0;
    if (it && !launch_whole(it->value, &n))
        launch_unresolved_item(t, pointer, it, "0 or 1");
    return n != 0;
}

static void set(struct launch_context *t, const struct value *c, const char *name,
                const char *pointer, json_t *value)
{
    const struct value_item *it = value_get(c, name);
    if (launch_is_unresolved(t, pointer))
        json_decref(value);
    else if (it)
        launch_set(t, pointer, value, it);
    else
        launch_assume(t, pointer, value, arena_printf(t->arena, "%s's default", name));
}

/* Configurations are made with ties and heads of keys as they are given: without
 * num_key_value_heads all heads have their own. */
static void take_gated(struct launch_context *t, const struct value *c,
                       const char *type)
{
    launch_take_rows(t, gated_rows, c);
    launch_assume(t, "/model/intermediate_size", json_integer(11008),
                  "intermediate_size's default");
    launch_assume(
        t, "/model/num_key_value_heads",
        json_integer((json_int_t)launch_number(t, "/model/num_attention_heads", 12)),
        "num_key_value_heads' default");
    if (strcmp(type, "mistral") == 0) /* MistralConfig's own */
        launch_assume(t, "/model/sliding_window", json_integer(4096),
                      "transformers' default");
    if (strcmp(type, "mixtral") != 0)
        return;
    launch_assume(t, "/model/num_experts_per_tok", json_integer(2), "the script's own");
    launch_assume(t, "/model/num_local_experts", json_integer(8), "the script's own");
}

static void take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "model_type");
    const char *word = launch_word(c, "model_type", it ? "" : "gpt_neox");
    const struct family *f = families,
                        *end = f + sizeof(families) / sizeof(families[0]);
    while (f < end && !strstr(word, f->word))
        f++;
    launch_hear(t, it);
    if (f == end) {
        json_object_del(t->tree, "model");
        launch_forget(t, "/model");
        launch_add_unresolved(
            t, "/model", it->line,
            "model_type: \"%.60s\" is no model of the example that is "
            "known; its config.json would do",
            word);
        return;
    }
    set(t, c, "model_type", "/model/model_type", json_string(f->model_type));
    launch_assume(t, "/model/vocab_size", json_integer(50432), "vocab_size's default");
    launch_assume(t, "/model/hidden_size", json_integer(768), "hidden_width's default");
    launch_assume(t, "/model/num_hidden_layers", json_integer(12),
                  "num_layers' default");
    launch_assume(t, "/model/num_attention_heads", json_integer(12),
                  "num_heads' default");
    launch_assume(t, "/model/tie_word_embeddings", json_false(), "the script's own");
    if (f->gated)
        take_gated(t, c, f->model_type);
    else
        launch_assume(
            t, "/model/intermediate_size",
            json_integer((json_int_t)(4 * launch_number(t, "/model/hidden_size", 768))),
            "four times hidden_width");
    launch_assume(
        t, "/model/max_position_embeddings",
        json_integer((json_int_t)launch_number(t, "/training/sequence_length", 2048)),
        "max_context_width");
}

/* Whether the program, where it is there, wraps by FSDP of before 2026, which casts what it
 * reduces, too. */
static bool is_older(struct launch_context *t)
{
    const struct launch_command *c = t->command;
    const char *text =
        c ? launch_program_text(t->l, t->arena, c->command->words[c->script].text)
          : NULL;
    return text && strstr(text, "FullyShardedDataParallel") &&
           !strstr(text, "fully_shard(");
}

/* FSDP2 reshards after forward under both words, on a mesh of one dimension, and FSDP of
 * before 2026 shards within a node by "hybrid". */
static void take_sharding(struct launch_context *t, const struct value *c)
{
    static const char at[] = WIDE "sharding/strategy";
    const struct value_item *it = value_get(c, "sharding_strategy");
    const char *word = launch_word(c, "sharding_strategy", it ? "" : "full");
    bool hybrid = strcmp(word, "hybrid") == 0;
    launch_assume(t, WIDE "library", json_string("fsdp"), "the example's FSDP");
    t->l->fsdp2_line = is_older(t) ? 0 : t->l->line;
    launch_hear(t, it);
    if (!hybrid && strcmp(word, "full") != 0) {
        launch_unresolved_item(t, at, it, "strategy of the example (full or hybrid)");
        return;
    }
    set(t, c, "sharding_strategy", at, json_string("full"));
    if (hybrid)
        trainer_take_hybrid(t, it);
    if (is_on(t, c, "cpu_offload", WIDE "sharding/offload", false))
        set(t, c, "cpu_offload", WIDE "sharding/offload", json_string("parameters"));
}

/* Parameters are cast to bf16 by FSDP, and gradients reduced in fp32. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    bool half = is_on(t, c, "bf16", "/training/precision", true);
    set(t, c, "bf16", "/training/precision", json_string(half ? "bf16" : "fp32"));
    if (half)
        launch_assume(t, "/training/gradient_dtype",
                      json_string(is_older(t) ? "bf16" : "fp32"),
                      "the example's reduce_dtype");
}

static void take_memory(struct launch_context *t, const struct value *c)
{
    const struct value_item *far = value_get(c, "activation_loading_horizon");
    bool again = is_on(t, c, "activation_checkpointing", CKPT, true),
         moved = is_on(t, c, "offload_activations", WIDE "offload_activations", false);
    set(t, c, "activation_checkpointing", CKPT, json_string(again ? "full" : "none"));
    if (moved)
        set(t, c, "offload_activations", WIDE "offload_activations", json_true());
    if (far && moved)
        launch_note(t->l, far->line, DIAG_WITHOUT_EFFECT,
                    "%s: the example does not read it", far->key);
    launch_hear(t, far);
}

/* All of it ------------------------------------------------------------------------ */

static const struct value_item *option(const struct value *root, const char *name)
{
    return value_get(root, name);
}

/* Arguments that go together nowhere else; SMP's scripts, which share them, have their
 * own. */
bool awsfsdp_recognises(const struct dialect_input *in)
{
    static const char *const smp[] = { "--use-smp-implementation",
                                       "--tensor-parallel-degree", "--shard-degree",
                                       "--use-smp-flash-attn" };
    if (in->source != DIALECT_COMMAND || !option(in->root, "--hidden-width") ||
        !option(in->root, "--num-layers"))
        return false;
    for (size_t i = 0; i < sizeof(smp) / sizeof(smp[0]); i++)
        if (option(in->root, smp[i]))
            return false;
    return option(in->root, "--max-context-width") ||
           option(in->root, "--sharding-strategy");
}

void awsfsdp_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *c = launch_arguments(t->arena, &in->command->options);
    launch_take_rows(t, rows, c);
    take_model(t, c);
    launch_assume(t, "/training/sequence_length", json_integer(2048),
                  "max_context_width's default");
    launch_assume(t, "/training/micro_batch_size", json_integer(2),
                  "train_batch_size's default");
    launch_assume(t, "/training/gradient_clipping", json_real(1),
                  "grad_clip's default");
    launch_assume(t, "/training/steps", json_integer(5000), "max_steps' default");
    launch_assume(t, "/training/optimizer", json_string("adam"), "the example's AdamW");
    launch_assume(t, "/training/task", json_string("causal-lm"), "the example's model");
    if (launch_number(t, "/training/sequence_length", 4096) != 4096)
        launch_note(t->l, t->l->line, DIAG_ASSUMED,
                    "max_context_width is taken as the length of sequences; the "
                    "example's own loader gives it no length, and joins texts to 4096 "
                    "(give --set /training/sequence_length=4096 for that)");
    take_sharding(t, c);
    take_precision(t, c);
    take_memory(t, c);
    dialect_report(t, awsfsdp_tables, "", c,
                   (struct dialect_place) { t->l->line, "", "", true });
}
