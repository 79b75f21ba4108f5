#include "dialect/autotrain/autotrain.h"

#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/launch_config.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

/* clang-format off */
static const struct { const char *name, *word; } renamed[] = {
    { "batch_size", "per_device_train_batch_size" }, { "gradient_accumulation", "gradient_accumulation_steps" }, { "epochs", "num_train_epochs" },
    { "optimizer", "optim" }, { "block_size", "max_seq_length" }, { "peft", "use_peft" },
};
/* Read apart. */
static const char *const apart[] = { "quantization", "mixed_precision", "disable_gradient_checkpointing", "distributed_backend", "model_max_length", NULL };
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("unsloth"), ROW_UNSIMULATED("auto_find_batch_size"), ROW_IDLE("lr"), ROW_IDLE("padding"), ROW_IDLE("scheduler"), ROW_IDLE("log"), ROW_IDLE("merge_adapter"), ROW_IDLE("dpo_beta"),
    ROW_IDLE("max_prompt_length"), ROW_IDLE("add_eos_token"), ROW_IDLE("chat_template"), ROW_IDLE("bnb_4bit_compute_dtype"), ROW_IDLE("packing"), ROW_IDLE("max_completion_length"),
    ROW_END,
};
const struct dialect_table autotrain_tables[] = {
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default defaults[] = {
    { "/training/micro_batch_size", "2", "batch_size' default" },
    { "/training/gradient_accumulation_steps", "4", "gradient_accumulation's default" },
    { "/training/sequence_length", "1024", "block_size' default" },
    { "/training/activation_checkpointing", "full", "disable_gradient_checkpointing's default" },
    { NULL, NULL, NULL },
};
static const struct peft_kind adapters = { .asks = "use_peft", .rank = 16, .alpha = 32, .dropout = 0.05, .targets = "all-linear", .from = "AutoTrain's" };
/* clang-format on */

bool autotrain_recognises(const struct dialect_input *in)
{
    const struct value_item *params = value_get(in->root, "params");
    return params && params->value->kind == VALUE_DICT && value_get(in->root, "task") &&
           value_get(in->root, "base_model") && value_get(in->root, "data");
}

/* "llm-sft": what is trained, by which trainer. */
static void take_task(struct launch_context *t, const struct value *root)
{
    const struct value_item *it = value_get(root, "task");
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "?",
               *method = strncmp(word, "llm-", 4) == 0 ? word + 4 : word;
    static const char *const texts[] = { "llm", "sft", "generic", "lm_training", NULL };
    if (names_listed(texts, method))
        launch_set(t, "/training/task", json_string("causal-lm"), it);
    else if (method == word || !trainer_take_method(t, it, method))
        trainer_refuse(t, it, word);
}

static void add_switch(struct launch_context *t, struct value *to, const char *key,
                       const struct value_item *it, bool on)
{
    value_add(t->arena, to, key, it->line, value_new_bool(t->arena, on, it->line));
}

/* Weights in 4 bits, which compute in fp16, unless said otherwise; adapters alone
 * quantize them (utils.py, get_model). */
static void add_quantized(struct launch_context *t, struct value *to,
                          const struct value *params, int64_t line)
{
    const struct value_item *it = value_get(params, "quantization");
    const struct value_item usual = { "quantization' default", line, NULL };
    const char *word = it ? launch_word(params, "quantization", "none") : "int4";
    if (!launch_is_on(params, "peft"))
        return;
    if (strcmp(word, "int4") == 0) {
        add_switch(t, to, "load_in_4bit", it ? it : &usual, true);
        value_add(t->arena, to, "bnb_4bit_compute_dtype", line,
                  value_new_string(t->arena, "float16", line, 0));
    } else if (strcmp(word, "int8") == 0)
        add_switch(t, to, "load_in_8bit", it, true);
}

/* `accelerate launch --use_deepspeed --zero_stage 3` (commands.py). */
static void add_backend(struct launch_context *t, struct value *to,
                        const struct value *params)
{
    const struct value_item *it = value_get(params, "distributed_backend");
    if (!it || strcmp(launch_word(params, "distributed_backend", "ddp"), "deepspeed"))
        return;
    struct value *section = value_new(t->arena, VALUE_DICT, it->line, 0),
                 *stage = value_new(t->arena, VALUE_INT, it->line, 0);
    stage->integer = 3;
    value_add(t->arena, section, "zero_stage", it->line, stage);
    struct value *config = accelerate_deepspeed_of(t, section, NULL, it->line);
    const char *half = launch_word(params, "mixed_precision", "");
    if (strcmp(half, "fp16") == 0 || strcmp(half, "bf16") == 0) {
        struct value *of_half = value_new(t->arena, VALUE_DICT, it->line, 0);
        add_switch(t, of_half, "enabled", it, true);
        value_add(t->arena, config, half, it->line, of_half);
    }
    value_add(t->arena, to, "deepspeed", it->line, config);
}

/* All as arguments of the Trainer. */
static struct value *arguments_of(struct launch_context *t, const struct value *root)
{
    const struct value *params = value_member(root, "params");
    const struct value_item *model = value_get(root, "base_model"),
                            *mixed = value_get(params, "mixed_precision"),
                            *off = value_get(params, "disable_gradient_checkpointing");
    const char *half = launch_word(params, "mixed_precision", "");
    struct value *all = value_new(t->arena, VALUE_DICT, root->line, 0);
    value_add(t->arena, all, "model_name_or_path", model->line, model->value);
    for (int32_t i = 0; i < params->n; i++) {
        const struct value_item *it = &params->items[i];
        const char *key = it->key;
        int64_t n;
        for (size_t k = 0; k < sizeof(renamed) / sizeof(renamed[0]); k++)
            key = strcmp(renamed[k].name, it->key) == 0 ? renamed[k].word : key;
        bool none =
            strcmp(it->key, "block_size") == 0 && launch_whole(it->value, &n) && n < 1;
        if (!names_listed(apart, it->key) && !none)
            value_add(t->arena, all, key, it->line, it->value);
    }
    add_quantized(t, all, params, model->line);
    add_backend(t, all, params);
    if (strcmp(half, "fp16") == 0 || strcmp(half, "bf16") == 0)
        add_switch(t, all, half, mixed, true);
    if (off)
        add_switch(t, all, "gradient_checkpointing", off, !launch_true(off->value));
    return all;
}

/* Names what of the keys that are read apart does nothing. */
static void note_idle(struct launch_context *t, const struct value *root)
{
    const struct value *params = value_member(root, "params");
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, root->line, "");
    if (value_get(params, "model_max_length"))
        launch_idle_add(&idle, "model_max_length");
    if (value_get(params, "quantization") && !launch_is_on(params, "peft"))
        launch_idle_add(&idle, "quantization");
    launch_idle_end(&idle);
}

void autotrain_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct trainer_kind kind = { .defaults = defaults,
                                              .tables = autotrain_tables,
                                              .peft = &adapters };
    t->l->title = "AutoTrain's configuration";
    t->l->what = "the configuration";
    t->l->line = 1;
    take_task(t, in->root);
    const struct value *all = arguments_of(t, in->root);
    const struct value_item *keep = value_get(all, "gradient_checkpointing");
    if (keep && !launch_true(keep->value))
        launch_set(t, "/training/activation_checkpointing", json_string("none"), keep);
    trainer_read_arguments(t, all, &kind);
    note_idle(t, in->root);
}
