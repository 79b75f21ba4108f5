#include "dialect/oumi/oumi.h"

#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/source/document.h"
#include "dialect/trainer/trainer.h"

#include <string.h>
#include <strings.h>

/* "TRL_SFT" and "trl_sft": TRL's methods by what follows; "HF", "OUMI". */
static void take_trainer(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "?";
    (void)row;
    if (strcasecmp(word, "HF") == 0 || strcasecmp(word, "OUMI") == 0 ||
        strcasecmp(word, "TRL_SFT") == 0)
        launch_assume(t, "/training/task", json_string("causal-lm"), "its trainers");
    else if (strncasecmp(word, "TRL_", 4) != 0 || !trainer_take_method(t, it, word + 4))
        trainer_refuse(t, it, word);
}

static void take_fsdp(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    (void)row;
    t->l->accelerated = true;
    trainer_take_fsdp_section(t, it);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("trainer_type", "/training/task", .take = take_trainer),
    ROW("fsdp", "/parallelism/library", .take = take_fsdp),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_IDLE("adapter_model"), ROW_IDLE("tokenizer_*"), ROW_IDLE("processor_kwargs"), ROW_IDLE("load_pretrained_weights"), ROW_IDLE("trust_remote_code"),
    ROW_IDLE("chat_template*"), ROW_IDLE("device_map"), ROW_UNSIMULATED("model_kwargs"), ROW_IDLE("shard_for_eval"), ROW_IDLE("model_revision"), ROW_IDLE("tool_call_parser"),
    ROW_IDLE("gradient_checkpointing_kwargs"), ROW_IDLE("save_*"), ROW_IDLE("*_strategy"), ROW_IDLE("data_seed"), ROW_IDLE("use_deterministic"), ROW_IDLE("run_name"), ROW_IDLE("metrics_function"),
    ROW_IDLE("reward_function*"), ROW_IDLE("grpo"), ROW_IDLE("gkd"), ROW_IDLE("gold"), ROW_IDLE("dep_log_level"), ROW_IDLE("log_*"), ROW_IDLE("enable_wandb"), ROW_IDLE("enable_mlflow"),
    ROW_IDLE("enable_tensorboard"), ROW_IDLE("logging_*"), ROW_IDLE("eval_*"), ROW_IDLE("per_device_eval_batch_size"), ROW_IDLE("adam_*"), ROW_IDLE("sgd_momentum"), ROW_IDLE("include_*"),
    ROW_IDLE("try_resume_from_last_checkpoint"), ROW_IDLE("dataloader_*"), ROW_IDLE("verl_config_overrides"), ROW_IDLE("profiler"), ROW_IDLE("telemetry"), ROW_IDLE("empty_device_cache_steps"),
    ROW_IDLE("nccl_default_timeout_minutes"), ROW_IDLE("label_ignore_index"), ROW_IDLE("pack"), ROW_IDLE("mixed_precision_dtype"), ROW_IDLE("trainer_kwargs"), ROW_IDLE("q_lora*"), ROW_IDLE("peft_save_mode"),
    ROW_IDLE("ddp_find_unused_parameters"), ROW_IDLE("beta"), ROW_IDLE("loss_type"), ROW_IDLE("dataset_kwargs"), ROW_IDLE("max_prompt_length"),
    ROW_END,
};
const struct dialect_table oumi_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_preference_rows, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "", trainer_rows, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
static const struct trainer_default of_trl[] = {
    { "/training/sequence_length", "1024", "max_length's default in TRL" },
    { NULL, NULL, NULL },
};
/* Its own loop, which has no other arguments than these. */
static const struct trainer_default of_loop[] = {
    { "/training/micro_batch_size", "8", "per_device_train_batch_size' default" },
    { "/training/gradient_clipping", "1.0", "max_grad_norm's default" },
    { NULL, NULL, NULL },
};
static const struct peft_kind adapters = { .asks = "use_peft", .rank = 8, .alpha = 8, .from = "Oumi's" };
/* clang-format on */

/* Its sections; those of an evaluation or of answers have no data to train on. */
bool oumi_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "trainer_type",
                                         "enable_gradient_checkpointing",
                                         "mixed_precision_dtype", "use_peft",
                                         "trainer_kwargs" };
    const struct value_item *model = value_get(in->root, "model"),
                            *training = value_get(in->root, "training"),
                            *data = value_get(in->root, "data");
    bool marked = data && data->value->kind == VALUE_DICT &&
                  value_get(data->value, "train") &&
                  value_get(value_get(data->value, "train")->value, "datasets");
    if (!model || !training || model->value->kind != VALUE_DICT ||
        training->value->kind != VALUE_DICT || !value_get(model->value, "model_name"))
        return false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (value_get(training->value, marks[i]))
            return marked || i == 0;
    return false;
}

/* The document of -c or --config, with the command's words over it: "--model.model_name
 * X". */
static struct value *of_command(struct launch_context *t,
                                const struct launch_command *c)
{
    struct launch_named named;
    struct value *root = NULL;
    if (launch_names_document(c, &named)) {
        root = launch_open_document(t->l, c, named.text, named.word->line);
        if (!root)
            launch_lost(t->l, named.text, named.word->line,
                        "was not found (put it next to the script)");
    }
    root = root ? root : value_new(t->arena, VALUE_DICT, c->command->line, 0);
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        if (strchr(it->key, '.'))
            launch_override_value(t->arena, root, launch_argument(t->arena, it->key),
                                  it->value);
    }
    launch_interpolate(t->l, root);
    return root;
}

void oumi_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *root = in->command ? of_command(t, in->command) : in->root,
                       *all = oumi_arguments(t, root);
    const char *trainer = launch_word(all, "trainer_type", "HF");
    bool trl = strncasecmp(trainer, "TRL_", 4) == 0,
         own = strcasecmp(trainer, "OUMI") == 0;
    const struct trainer_kind kind = { .own = rows,
                                       .defaults = own   ? of_loop
                                                   : trl ? of_trl
                                                         : NULL,
                                       .tables = oumi_tables,
                                       .packing = "pack",
                                       .peft = &adapters,
                                       .loop = own };
    t->l->title = "Oumi's configuration";
    t->l->what = "the configuration";
    t->l->line = in->command ? in->command->command->line : 1;
    trainer_read_arguments(t, all, &kind);
}
