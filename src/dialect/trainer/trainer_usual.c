/* Names of arguments that are no Trainer's, and that programs of one's own have for the
 * same: alpaca-lora's finetune.py, nanoGPT's and lit-gpt's descendants, DeepSpeed's and
 * Accelerate's examples. */
#include "dialect/trainer/trainer.h"

static const char batch_at[] = "/training/micro_batch_size",
                  global_at[] = "/training/global_batch_size";

/* "bf16" of autocast; what converts the model itself has no more than the type. */
static void take_mixed(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    static const struct dialect_word types[] = {
        { "bf16*", "bf16" },   { "bfloat16", "bf16" }, { "fp16", "fp16" },
        { "float16", "fp16" }, { "16-mixed", "fp16" }, { NULL, NULL }
    };
    struct dialect_option converted = *row;
    converted.words = types;
    if (t->smp_precision)
        launch_note(t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s: SMP's dictionary already converts the model", it->key);
    else
        dialect_take_as(t, t->converts ? &converted : row, it, DIALECT_WORD);
}

/* All that is between updates on all GPUs; where accumulation is given, that says it. */
static void take_effective(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    if (!launch_has(t, "/training/gradient_accumulation_steps") &&
        !launch_is_unresolved(t, "/training/gradient_accumulation_steps"))
        dialect_take_as(t, row, it, DIALECT_POSITIVE);
}

/* clang-format off */
static const struct dialect_word precisions[] = {
    { "bf16", "amp_bf16" }, { "fp16", "amp_fp16" }, { "bfloat16", "amp_bf16" }, { "float16", "amp_fp16" },
    { "bf16-mixed", "amp_bf16" }, { "16-mixed", "amp_fp16" }, { "amp_bf16", "amp_bf16" }, { "amp_fp16", "amp_fp16" },
    { "no", "fp32" }, { "fp32", "fp32" }, { "float32", "fp32" }, { "tf32", "tf32" }, { NULL, NULL },
};
#define MODEL(NAME) ROW(NAME, "/model", .take = trainer_take_model)
#define BATCH(NAME) ROW(NAME, batch_at, .kind = DIALECT_WHOLE)
#define LENGTH(NAME) ROW(NAME, "/training/sequence_length", .kind = DIALECT_POSITIVE)
#define MIXED(NAME) ROW(NAME, "/training/precision", .take = take_mixed, .words = precisions, .wanted = "precision that is simulated")
/* Before the Trainer's: "batch_size" next to them is another. */
const struct dialect_option trainer_batch_rows[] = {
    BATCH("micro_batch_size"), BATCH("microbatch_size"), BATCH("per_device_batch_size"), BATCH("per_gpu_batch_size"),
    BATCH("batch_size_per_gpu"), BATCH("batch_size_per_device"), BATCH("device_batch_size"), BATCH("train_micro_batch_size_per_gpu"), BATCH("micro_batch_size_per_gpu"), ROW_END,
};
const struct dialect_option trainer_usual_rows[] = {
    MODEL("base_model"), MODEL("base_model_name"), MODEL("base_model_name_or_path"), MODEL("pretrained_model_name_or_path"), MODEL("pretrained_model"),
    MODEL("pretrained_model_path"), MODEL("model_path"), MODEL("model"),
    ROW("global_batch_size", global_at, .kind = DIALECT_POSITIVE), ROW("total_batch_size", global_at, .kind = DIALECT_POSITIVE),
    ROW("effective_batch_size", global_at, .take = take_effective),
    LENGTH("sequence_length"), LENGTH("seq_len"), LENGTH("max_len"), LENGTH("context_length"), LENGTH("cutoff_len"), LENGTH("max_sequence_length"),
    ROW("gradient_accumulate_every", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("max_train_steps", "/training/steps", .kind = DIALECT_POSITIVE), ROW("train_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("num_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    MIXED("mixed_precision"), MIXED("precision"), ROW_END,
};
/* clang-format on */

void trainer_take_usual_batch(struct launch_context *t)
{
    const struct value_item *batch = launch_hyper(t, "batch_size");
    launch_take_rows(t, trainer_batch_rows, NULL);
    bool own = launch_has(t, batch_at) || launch_is_unresolved(t, batch_at);
    for (const struct dialect_option *r = trainer_batch_rows; batch && r->name; r++) {
        if (!own || !launch_hyper(t, r->name) || launch_has(t, global_at) ||
            launch_is_unresolved(t, global_at))
            continue;
        launch_hear(t, batch);
        launch_add_unresolved(
            t, global_at, batch->value->line,
            "batch_size next to %s: whether it is that of all GPUs, or "
            "of one and all steps of accumulation, is the program's "
            "own",
            r->name);
    }
}
