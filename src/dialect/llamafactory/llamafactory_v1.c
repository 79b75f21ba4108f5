/* LLaMA-Factory's v1: the same words in sections of plugins, each with a name. They are
 * read as those of before, whose names they get.
 *
 * LLaMA-Factory 0.9.6: src/llamafactory/v1/config/{model,training,data,sample}_args.py,
 * v1/core/{base_trainer,model_engine}.py, v1/plugins. */
#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llamafactory/llamafactory.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* dist_config.name: none is DDP. FSDP2 shards over all GPUs, computes in bf16 and reduces
 * in fp32 (v1/plugins/trainer_plugins/distributed/fsdp2.py). */
static void take_plugin(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    bool turbo = strcmp(word, "fsdpturbo") == 0;
    if (strcmp(word, "fsdp2") == 0 || turbo) {
        t->converts = true;
        t->l->fsdp2_line = it->line;
        launch_set(t, row->pointer, json_string("fsdp"), it);
        launch_set(t, "/training/gradient_dtype", json_string("fp32"), it);
        if (turbo)
            launch_note(t->l, it->line, DIAG_APPROXIMATE,
                        "%s: fsdpturbo is taken to be FSDP2", it->key);
    } else if (strcmp(word, "deepspeed") != 0) {
        launch_unresolved_item(t, row->pointer, it, "fsdp2, fsdpturbo or deepspeed");
    }
}

static void take_reshard(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    launch_set(t, row->pointer,
               json_string(launch_true(it->value) ? "full" : "gradients"), it);
}

static void take_offload(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    (void)row;
    if (launch_true(it->value))
        trainer_take_offload(t, it, true);
}

static void take_copies(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    int64_t n;
    (void)row;
    if (!launch_whole(it->value, &n) || n != 1)
        trainer_take_copies(t, it);
}

/* cp_mode's default is Ulysses. */
static void take_context(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    dialect_take_as(t, row, it, DIALECT_DEGREE);
    if (launch_has(t, row->pointer))
        launch_set(t, WIDE "context_comm", json_string("alltoall"), it);
}

static void take_mode(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (launch_has(t, WIDE "context") && strcmp(word, "ulysses") != 0)
        launch_unresolved_item(t, row->pointer, it, "ulysses");
}

/* "llm"; "cls" is a reward model's. */
static void take_class(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (trainer_prefers(t))
        return;
    if (strcmp(word, "llm") == 0)
        launch_set(t, row->pointer, json_string("causal-lm"), it);
    else if (strcmp(word, "cls") == 0)
        trainer_take_method(t, it, "reward");
    else
        trainer_refuse(t, it, *word ? word : "this");
}

static void take_export(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    (void)row;
    if (!launch_is_off(it->value))
        trainer_refuse(t, it, "the export of a model");
}

/* The trainer is chosen by the command; of a file alone the data's name may say it. */
static void take_data(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    (void)row;
    if (!trainer_prefers(t) && (peft_has(text, "dpo") || peft_has(text, "preference")))
        launch_add_unresolved(t, "/training/task", it->value->line,
                              "%s: the command that starts the file names the trainer, "
                              "and the data's name has pairs: dpo, reward or causal-lm",
                              it->key);
}

/* Of each update its own; AdamW without a section. */
static void take_optimizer(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    struct dialect_option as = *row;
    as.kind = DIALECT_WORD;
    as.words = trainer_optimizer_words;
    as.wanted = "optimizer that is simulated";
    dialect_take_as(t, &as, it, DIALECT_WORD);
}

/* Without what shards, "bf16" does nothing: full training goes on in fp32, and frozen
 * weights are as they are loaded. */
static void take_bf16(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    bool on = launch_true(it->value);
    if (t->adapters)
        peft_take_half(t, row, it, "bf16");
    else if (!launch_has(t, row->pointer) && !launch_is_unresolved(t, row->pointer))
        launch_set(t, row->pointer, json_string(on && t->converts ? "bf16" : "fp32"),
                   it);
    if (on && !t->adapters && !t->converts)
        launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as dist_config is not there: DDP trains in "
                    "fp32",
                    it->key);
}

/* model_args.py: sdpa, eager or flash_attention_2. */
static bool off_auto(const struct value *v)
{
    return launch_is_off(v) ||
           (v->kind == VALUE_STRING && strcmp(v->text, "auto") == 0);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("peft_config.export_dir", "/training/task", .take = take_export),
    ROW("train_dataset", "/training/task", .take = take_data),
    ROW("model_class", "/training/task", .take = take_class),
    ROW("dist_config.name", WIDE "library", .take = take_plugin),
    ROW("dist_config.config_file", WIDE "library", .take = deepspeed_take_file),
    ROW("dist_config.reshard_after_forward", WIDE "sharding/strategy", .take = take_reshard),
    ROW("dist_config.offload_params", WIDE "sharding/offload", .take = take_offload),
    ROW("dist_config.ep_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("mp_replicate_size", WIDE "sharding/degree", .take = take_copies),
    ROW("mp_shard_size", WIDE "sharding/degree", .kind = DIALECT_SIZE),
    ROW("cp_size", WIDE "context", .take = take_context),
    ROW("cp_mode", WIDE "context_comm", .take = take_mode),
    ROW("cutoff_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("bf16", "/training/precision", .take = take_bf16),
    ROW("optim_config.name", "/training/optimizer", .take = take_optimizer),
    ROW("enable_activation_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("max_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("flash_attn", "/training/attention", .kind = DIALECT_TEXT),
    ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("model_name_or_path", "/model", .take = trainer_take_model),
    ROW_END,
};
/* As the file has them: what is read by another name, and the rest. */
static const struct dialect_option others[] = {
    ROW_ACTS("model", "/model"),
    ROW_ACTS("peft_config.name", PEFT_LORA), ROW_ACTS("peft_config.r", PEFT_RANK), ROW_ACTS("peft_config.lora_alpha", PEFT_ALPHA), ROW_ACTS("peft_config.lora_dropout", PEFT_DROPOUT),
    ROW_ACTS("peft_config.target_modules", PEFT_TARGETS), ROW_ACTS("peft_config.modules_to_save", PEFT_TRAINED),
    ROW_ACTS("quant_config.name", PEFT_BASE), ROW_ACTS("quant_config.quantization_bit", PEFT_BASE), ROW_ACTS("quant_config.double_quantization", PEFT_DOUBLE),
    ROW_UNSIMULATED("peft_config.use_dora"), ROW("kernel_config.name", NULL, .class = DIALECT_UNSIMULATED, .off = off_auto), ROW_UNSIMULATED("kernel_config.include_kernels"),
    ROW_UNSIMULATED("dist_config.ep_dispatcher"), ROW_UNSIMULATED("full_determinism"), ROW_UNSIMULATED("batching_strategy"),
    ROW("dp_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_IDLE("kernel_config.chunk_size"), ROW_IDLE("peft_config.freeze_*"), ROW_IDLE("peft_config.cast_trainable_params_to_fp32"), ROW_IDLE("peft_config.use_rslora"), ROW_IDLE("peft_config.adapter_name_or_path"),
    ROW_IDLE("peft_config.export_*"), ROW_IDLE("peft_config.infer_dtype"), ROW_IDLE("quant_config.compute_dtype"), ROW_IDLE("quant_config.quantization_type"), ROW_IDLE("init_config*"), ROW_IDLE("dist_config.dcp_path"),
    ROW_IDLE("dist_config.pin_memory"), ROW_IDLE("optim_config.*"), ROW_IDLE("lr_scheduler_config*"), ROW_IDLE("learning_rate"), ROW_IDLE("num_train_epochs"), ROW_IDLE("batching_workers"), ROW_IDLE("dist_timeout"),
    ROW_IDLE("seed"), ROW_IDLE("resume_from_checkpoint"), ROW_IDLE("save_*"), ROW_IDLE("logging_steps"), ROW_IDLE("pref_*"), ROW_IDLE("simpo_gamma"), ROW_IDLE("dpo_label_smoothing"), ROW_IDLE("ld_alpha"), ROW_IDLE("output_dir"),
    ROW_IDLE("eval_dataset"), ROW_IDLE("sample_backend"), ROW_IDLE("max_new_tokens"), ROW_IDLE("custom_chat_template"), ROW_IDLE("trust_remote_code"), ROW_IDLE("quant_config"), ROW_IDLE("dist_config"), ROW_IDLE("peft_config"),
    ROW_IDLE("kernel_config"), ROW_IDLE("optim_config"),
    ROW_END,
};
const struct dialect_table llamafactory_v1_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* v1/config/training_args.py, model_args.py */
static const struct trainer_default defaults[] = {
    { "/training/sequence_length", "2048", "cutoff_len's default" },
    { "/training/micro_batch_size", "1", "micro_batch_size's default" },
    { "/training/activation_checkpointing", "full", "enable_activation_checkpointing's default" },
    { "/training/gradient_clipping", "1", "max_grad_norm's default" },
    { "/training/attention", "sdpa", "flash_attn's default" },
    { NULL, NULL, NULL },
};
/* v1/plugins/model_plugins/peft.py and quantization.py */
static const struct peft_kind adapters = {
    .asks = "finetuning_type", .rank = 8, .alpha = 16, .dropout = 0.05, .targets = "all-linear",
    .double_quantization = true, .from = "LLaMA-Factory's",
};
/* Names that other rows have; of those with a dot, the file's own stay as they are where they
 * are the only ones. */
static const struct { const char *own, *name; } names[] = {
    { "model", "model_name_or_path" },
    { "peft_config.name", "finetuning_type" }, { "peft_config.r", "lora_rank" }, { "peft_config.lora_alpha", "lora_alpha" },
    { "peft_config.lora_dropout", "lora_dropout" }, { "peft_config.target_modules", "lora_target" }, { "peft_config.modules_to_save", "modules_to_save" },
    { "quant_config.quantization_bit", "quantization_bit" }, { "quant_config.double_quantization", "double_quantization" }, { "peft_config.use_dora", "use_dora" },
};
/* clang-format on */

/* The file ------------------------------------------------------------------------- */

bool llamafactory_v1_is(const struct value *v)
{
    static const char *const own[] = {
        "dist_config",       "peft_config", "kernel_config",
        "quant_config",      "init_config", "optim_config",
        "batching_strategy", "model_class", "sample_backend",
        "train_dataset",     NULL
    };
    /* words of programs of one's own, which have a train_dataset, too */
    static const char *const foreign[] = { "max_seq_length", "max_length",
                                           "attn_implementation", NULL };
    const struct value_item *model = value_get(v, "model");
    /* of a JSON its keys alone are known at first */
    bool word = model && (model->value->kind == VALUE_STRING ||
                          model->value->kind == VALUE_NONE);
    for (const char *const *w = foreign; *w; w++)
        word &= value_get(v, *w) == NULL;
    for (const char *const *w = own; word && *w; w++)
        if (value_get(v, *w))
            return true;
    return false;
}

/* Of weights in 4 bits the number is a default, too (quantization_with_bnb). */
static void add_bits(struct launch_context *t, struct value *v)
{
    const struct value_item *it = value_get(v, "quant_config.name");
    const char *word = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    launch_hear(t, it);
    if (strcmp(word, "bnb") != 0 || value_get(v, "quantization_bit"))
        return;
    struct value *four = value_new(t->arena, VALUE_INT, it->line, 0);
    four->integer = 4;
    value_add(t->arena, v, "quantization_bit", it->line, four);
}

static struct value *named(struct launch_context *t, const struct value *root)
{
    struct value *v = launch_flatten(t->arena, root);
    for (int32_t i = 0; i < v->n; i++)
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
            if (strcmp(v->items[i].key, names[j].own) == 0)
                v->items[i].key = names[j].name;
    add_bits(t, v);
    return v;
}

static void take_library(struct launch_context *t, const struct value *v)
{
    bool bf16 = t->converts || t->adapters;
    if (!launch_has(t, WIDE "library") && !launch_is_unresolved(t, WIDE "library"))
        launch_assume(t, WIDE "library", json_string("ddp"),
                      "dist_config's default, DistributedDataParallel");
    if (!value_get(v, "bf16"))
        launch_assume(t, "/training/precision", json_string(bf16 ? "bf16" : "fp32"),
                      bf16 ? "bf16's default" : "DistributedDataParallel's");
}

static void note_lengths(struct launch_context *t, const struct value *v)
{
    const char *how = launch_word(v, "batching_strategy", "normal");
    const struct value_item *it = value_get(v, "batching_strategy");
    launch_hear(t, it);
    if (strncmp(how, "dynamic_", 8) == 0)
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "batching_strategy: %.30s: microbatches are taken to be filled up "
                    "to micro_batch_size times cutoff_len tokens",
                    how);
    else
        launch_note(t->l, it ? it->line : t->l->line, DIAG_ASSUMED,
                    "batching_strategy: %.20s: each sequence is taken to be of the "
                    "full length (give --set /training/sequence_length=N for a "
                    "shorter mean)",
                    how);
}

void llamafactory_v1_read(struct launch_context *t, const struct value *root)
{
    struct value *v = named(t, root);
    t->l->title = "LLaMA-Factory's v1 arguments";
    t->hyper[t->n_hyper++] = v;
    peft_take(t, &adapters);
    launch_take_rows(t, rows, v);
    launch_assume(t, "/training/task", json_string("causal-lm"),
                  "supervised fine-tuning, the command's default");
    take_library(t, v);
    trainer_take_defaults(t, defaults);
    peft_settle(t);
    trainer_settle(t);
    note_lengths(t, v);
    dialect_report(t, llamafactory_v1_tables, "", v,
                   (struct dialect_place) { v->line, "", "", true });
}
