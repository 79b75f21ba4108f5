/* The Trainer's arguments: a field each. */
#include "dialect/trainer/trainer.h"
#include "config/pointer.h"

#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "scenario/attention.h"

#include <inttypes.h>
#include <string.h>

/* A field each --------------------------------------------------------------------- */

/* The script's batch is what smp.step cuts into microbatches. */
static void take_batch(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    int64_t n, parts = t->microbatches;
    if (parts <= 1 || !launch_whole(it->value, &n) || n < 1) {
        dialect_take_as(t, row, it, DIALECT_WHOLE);
        return;
    }
    if (n % parts)
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "%s: %" PRId64 " is not divided by the %" PRId64
                              " microbatches of the dictionary",
                              it->key, n, parts);
    else
        launch_set(t, row->pointer, json_integer((json_int_t)(n / parts)), it);
}

static void take_precision(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "boolean");
    else if (!launch_switch(t, row->pointer, it, false))
        return;
    else if (t->smp_precision)
        launch_note(t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s: SMP's dictionary already converts the model", it->key);
    else
        launch_set(t, row->pointer,
                   json_sprintf("%s%s", t->converts ? "" : "amp_", row->name), it);
}

/* DDP's bucket_cap_mb, in MiB; none is PyTorch's own (transformers/training_args.py,
 * ddp_bucket_cap_mb). What shards has buckets of its own. */
static void take_bucket(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    int64_t n;
    if (it->value->kind == VALUE_NONE || launch_has(t, "/parallelism/library"))
        return;
    if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, row->pointer, it, "whole number");
    else if (n > 0)
        launch_set(t, row->pointer, json_sprintf("%" PRId64 "MiB", n), it);
}

/* Of Liger's kernels (transformers' integrations/liger.py) the loss is simulated. */
static void take_liger(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const struct value_item *some = launch_hyper(t, "liger_kernel_config"),
                            *fused = some ? value_get(some->value,
                                                      "fused_linear_cross_entropy")
                                          : NULL;
    bool kernels = fused && launch_is_off(fused->value);
    if (it->value->kind == VALUE_UNKNOWN) {
        launch_unresolved_item(t, row->pointer, it, "boolean");
    } else if (launch_true(it->value)) {
        launch_hear(t, some);
        if (!kernels)
            launch_set(t, row->pointer, json_string("liger"), it);
        launch_note(t->l, it->value->line, DIAG_LEFT_OUT,
                    "%s: Liger's %skernels of norms, "
                    "rotary embeddings and activations are not%s",
                    it->key, kernels ? "" : "loss in chunks is simulated, its ",
                    kernels ? " simulated" : "");
    }
}

/* qlora.py cuts the prompt and the answer apart and joins them (artidoro/qlora of 2023,
 * DataArguments, DataCollatorForCausalLM). */
/* Of run_seq2seq_qa.py the length at which targets are cut; of other programs, answers that
 * are looked for after the training. */
static void take_answers(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const char *task = json_string_value(pointer_get(t->tree, "/training/task"));
    int64_t n;
    if (!task || strcmp(task, "seq2seq") != 0)
        return;
    if (launch_whole(it->value, &n))
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
    else
        launch_unresolved_item(t, row->pointer, it, "whole number");
}

static void take_two_lengths(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    const struct value_item *source = launch_hyper(t, "source_max_len"),
                            *target = launch_hyper(t, "target_max_len");
    int64_t a = 1024, b = 256;
    if ((source && !launch_whole(source->value, &a)) ||
        (target && !launch_whole(target->value, &b))) {
        launch_unresolved_item(t, row->pointer, it, "whole number");
        return;
    }
    launch_hear(t, source);
    launch_hear(t, target);
    launch_set(t, row->pointer, json_integer((json_int_t)(a + b)), it);
    launch_note(
        t->l, it->line, DIAG_ASSUMED,
        "source_max_len %lld and target_max_len %lld: each sequence is taken to "
        "be of both (give --set /training/sequence_length=N for a shorter mean)",
        (long long)a, (long long)b);
}

/* Of what is kept on the instance alone, nothing is uploaded on the way. */
static void take_save_steps(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    int64_t n;
    if (launch_has(t, "/job/checkpoint") && launch_whole(it->value, &n) && n > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

/* A part of an epoch is no length that a scenario has. */
static void take_epochs(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    int64_t n;
    double x;
    bool list = it->value->kind == VALUE_LIST || /* 5,3,7 of several data sets */
                (it->value->kind == VALUE_STRING && strchr(it->value->text, ','));
    if (it->value->kind == VALUE_UNKNOWN || list ||
        (!launch_whole(it->value, &n) && launch_real(it->value, &x)))
        launch_leave_out(t, it, "whole number");
    else
        dialect_take_as(t, row, it, DIALECT_POSITIVE);
}

/* "smddp" of SageMaker's data-parallel library (AWS's guide, "Use SMDDP with the Hugging
 * Face Transformers library"); the others carry what NCCL does, or train on no GPU. */
static void take_backend(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    /* an estimator's dictionary says it, too */
    if (strcmp(word, "smddp") == 0 &&
        !pointer_get(t->tree, "/distribution/smdistributed/dataparallel"))
        launch_set(t, row->pointer, json_string(word), it);
}

static void take_workers(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n))
        launch_leave_out(t, it, "whole number");
    else if (n > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

/* Programs of one's own have words for it. */
static void take_recomputed(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    static const char *const none[] = { "none", "off", "disabled", NULL };
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strcmp(word, "full") == 0 || names_listed(none, word))
        launch_set(t, row->pointer, json_string(*word == 'f' ? "full" : "none"), it);
    else
        dialect_take_as(t, row, it, DIALECT_SWITCH);
}

/* "{"tp_size": 2}" of a command is the dictionary of a document. */
static void take_degrees(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    struct value *v = it->value->kind == VALUE_STRING && it->value->text[0] == '{'
                          ? trainer_parse(t, it)
                          : NULL;
    const struct value_item as = { it->key, it->line, v ? v : it->value };
    accelerate_take_degrees(t, row, &as);
    launch_hear(t, it);
}

/* from_pretrained(tp_plan="auto") divides the model over all processes
 * (transformers 4.57, modeling_utils.py). */
static void take_plan(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    if (it->value->kind == VALUE_NONE || launch_is_off(it->value))
        return;
    launch_hear(t, it);
    launch_add_unresolved(t, row->pointer, it->value->line,
                          "%s: the model is divided over all processes, unless a mesh "
                          "says over how many",
                          it->key);
}

/* clang-format off */
/* transformers/training_args.py, OptimizerNames (4.57, 5.0): those of which a step is
 * known; "paged" states are on the GPU unless its memory is short. Schedule-free ones keep
 * a second copy of the weights in place of the first moment (facebookresearch/
 * schedule_free, adamw_schedulefree.py: z, exp_avg_sq). The others (GaLore, APOLLO, LOMO,
 * 8-bit RMSprop, anyprecision, those of other accelerators) are asked for by name. */
const struct dialect_word trainer_optimizer_words[] = {
    { "adamw_torch", "adam" }, { "adamw_bnb_8bit", "adam8bit" }, { "adamw_8bit", "adam8bit" },
    { "paged_adamw_8bit", "adam8bit" }, { "adamw_torch_8bit", "adam8bit" }, { "adafactor*", "adafactor" },
    { "adamw_torch_fused", "adam" }, { "adamw_torch_xla", "adam" }, { "adamw_apex_fused", "adam" }, { "adamw_ort_fused", "adam" }, { "adamw_hf", "adam" },
    { "adamw", "adam" }, { "adam", "adam" }, { "paged_adamw_32bit", "adam" }, { "paged_adamw", "adam" },
    { "lamb*", "lamb" }, { "sgd_momentum", "sgd" }, { "sgd*", "sgd_plain" }, { "lion_32bit", "lion" }, { "paged_lion_32bit", "lion" }, { "paged_lion", "lion" }, { "lion_pytorch", "lion" },
    { "lion", "lion" }, { "muon", "muon" }, { "lion_8bit", "lion8bit" }, { "paged_lion_8bit", "lion8bit" }, { "lion_bnb_8bit", "lion8bit" },
    { "adamw_torch_4bit", "adam4bit" }, { "ao_adamw_4bit", "adam4bit" }, { "ao_adamw_8bit", "adam8bit" },
    { "rmsprop", "rmsprop" }, { "rmsprop_bnb", "rmsprop" }, { "rmsprop_bnb_32bit", "rmsprop" }, { "adagrad", "adagrad" },
    { "ademamix", "ademamix" }, { "paged_ademamix_32bit", "ademamix" }, { "ademamix_8bit", "ademamix8bit" }, { "paged_ademamix_8bit", "ademamix8bit" },
    { "stable_adamw", "adam" }, { "schedule_free_adamw", "adam" }, { "schedule_free_radam", "adam" }, { "schedule_free_sgd", "sgd" }, { NULL, NULL },
};
/* Written by the word that names a kernel for certain; read by attention_words. */
static const struct dialect_word attentions[] = {
    { "eager", "unfused" }, { "fused-softmax", "fused-softmax" }, { "memory-efficient", "memory-efficient" },
    { "flash_attention_2", "flash" }, { NULL, NULL },
};
#define SAMPLES "/training/samples"
/* Of several rows of a field, the first that the script gives. */
#define FROZEN_PART(NAME, PART) ROW(NAME, "/training/frozen", .take = trainer_take_frozen, .value = PART)
const struct dialect_option trainer_rows[] = {
    ROW("vision_tower", "/model", .take = trainer_take_image_tower),
    ROW("mm_vision_tower", "/model", .take = trainer_take_image_tower),
    ROW("vision_model_name_or_path", "/model", .take = trainer_take_image_tower),
    ROW("vision_path", "/model", .take = trainer_take_image_tower),
    ROW("image_tower", "/model", .take = trainer_take_image_tower),
    ROW("video_tower", "/model", .take = trainer_take_image_tower),
    ROW("speech_encoder", "/model", .take = trainer_take_image_tower),
    ROW("config_overrides", "/model", .take = trainer_take_overrides),
    ROW("config_name", "/model", .take = trainer_take_config_name),
    ROW("model_name_or_path", "/model", .take = trainer_take_model, .give = trainer_give_model),
    ROW("model_name", "/model", .take = trainer_take_model),
    ROW("model_id", "/model", .take = trainer_take_model),
    ROW("pretrained_model_name", "/model", .take = trainer_take_model),
    ROW("model_checkpoint", "/model", .take = trainer_take_model),
    ROW("bert_model", "/model", .take = trainer_take_model), /* NVIDIA's DeepLearningExamples */
    ROW("tokenizer_name", "/model", .take = trainer_take_model),
    ROW("fsdp", "/parallelism/library", .take = trainer_take_fsdp_given),
    ROW("fsdp_config", "/training/activation_checkpointing", .take = trainer_take_fsdp_config),
    ROW("deepspeed", "/parallelism/library", .take = deepspeed_take_file),
    ROW("deepspeed_config", "/parallelism/library", .take = deepspeed_take_file),
    ROW("parallelism_config", "/parallelism/tensor", .take = take_degrees),
    ROW("tp_size", "/parallelism/tensor", .kind = DIALECT_DEGREE),
    ROW("tp_plan", "/parallelism/tensor", .take = take_plan),
    ROW("seq_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("sequence_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("sequence_parallel_degree", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("context_parallel_size", "/parallelism/context", .kind = DIALECT_DEGREE),
    ROW("ddp_backend", "/parallelism/backend", .take = take_backend),
    ROW("ddp_bucket_cap_mb", "/parallelism/bucket_size", .take = take_bucket, .give = trainer_give_bucket),
    ROW("max_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM, .give = trainer_give_norm),
    ROW("per_device_train_batch_size", "/training/micro_batch_size", .take = take_batch, .kind = DIALECT_WHOLE, .written = true),
    ROW("per_gpu_train_batch_size", "/training/micro_batch_size", .take = take_batch),
    ROW("train_batch_size", "/training/micro_batch_size", .take = take_batch),
    ROW("batch_size", "/training/micro_batch_size", .take = take_batch),
    ROW("max_seq_length", "/training/sequence_length", .kind = DIALECT_WHOLE, .written = true),
    ROW("max_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("block_size", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("seq_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("max_context_width", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("max_source_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("max_target_length", "/training/decoder_length", .kind = DIALECT_WHOLE),
    ROW("max_answer_length", "/training/decoder_length", .take = take_answers),
    ROW("max_input_length", "/training/sequence_length", .kind = DIALECT_POSITIVE),
    ROW("source_max_len", "/training/sequence_length", .take = take_two_lengths),
    ROW("target_max_len", "/training/sequence_length", .take = take_two_lengths),
    ROW("model_max_length", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("max_seq_len", "/training/sequence_length", .kind = DIALECT_WHOLE),
    ROW("per_device_max_tokens", "/training/sequence_length", .kind = DIALECT_WHOLE),
    FROZEN_PART("freeze_vision_tower", "vision_tower"), FROZEN_PART("freeze_vit", "vision_tower"), FROZEN_PART("freeze_vision_encoder", "vision_tower"),
    FROZEN_PART("freeze_vision_model", "vision_tower"), FROZEN_PART("tune_mm_vision", "vision_tower"), FROZEN_PART("tune_vision_tower", "vision_tower"),
    FROZEN_PART("fix_vit", "vision_tower"), FROZEN_PART("freeze_merger", "projector"), FROZEN_PART("freeze_aligner", "projector"),
    FROZEN_PART("freeze_multi_modal_projector", "projector"), FROZEN_PART("freeze_projector", "projector"), FROZEN_PART("freeze_mlp", "projector"),
    FROZEN_PART("freeze_mm_mlp_adapter", "projector"), FROZEN_PART("tune_mm_mlp", "projector"),
    FROZEN_PART("freeze_llm", "language_model"), FROZEN_PART("freeze_language_model", "language_model"),
    FROZEN_PART("tune_mm_llm", "language_model"), FROZEN_PART("tune_language_model", "language_model"),
    ROW("tune_mm_mlp_adapter", "/training/frozen", .take = trainer_take_only), ROW("pretrain_mm_mlp_adapter_only", "/training/frozen", .take = trainer_take_only),
    ROW("only_tune_mm_mlp_adapter", "/training/frozen", .take = trainer_take_only), ROW("mm_tunable_parts", "/training/frozen", .take = trainer_take_tunable),
    ROW("torch_dtype", "/training/master_weights", .take = trainer_take_dtype, .give = peft_give_dtype),
    ROW("dtype", "/training/master_weights", .take = trainer_take_dtype),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE, .written = true),
    ROW("gradient_accumulation", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("gradient_accumulation_step", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("grad_accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("grad_accum_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("grad_accum", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("accum_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("accumulate_grad_batches", "/training/gradient_accumulation_steps", .kind = DIALECT_WHOLE),
    ROW("fp16", "/training/precision", .take = take_precision, .give = trainer_give_fp16),
    ROW("bf16", "/training/precision", .take = take_precision, .give = trainer_give_bf16),
    ROW("tf32", "/training/precision", .kind = DIALECT_OWN), ROW("allow_tf32", "/training/precision", .kind = DIALECT_OWN),
    ROW("use_liger_kernel", "/training/loss_chunks", .take = take_liger),
    ROW("use_liger", "/training/loss_chunks", .take = take_liger),
    ROW("enable_liger_kernel", "/training/loss_chunks", .take = take_liger),
    ROW("liger_kernel_config", "/training/loss_chunks", .class = DIALECT_IDLE),
    ROW("gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full", .written = true),
    ROW("activation_checkpointing", "/training/activation_checkpointing", .take = take_recomputed, .kind = DIALECT_SWITCH, .value = "full"),
    ROW("use_gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("grad_checkpoint", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("gradient_checkpoint", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("enable_gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("optim", "/training/optimizer", .kind = DIALECT_WORD, .words = trainer_optimizer_words, .wanted = "optimizer that is simulated", .written = true),
    ROW("optimizer", "/training/optimizer", .kind = DIALECT_WORD, .words = trainer_optimizer_words, .wanted = "optimizer that is simulated"),
    ROW("attn_implementation", "/training/attention", .take = trainer_take_attention, .kind = DIALECT_WORD, .words = attentions, .written = true),
    ROW("use_flash_attention_2", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash_attention_2"),
    ROW("use_flash_attention", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash_attention_2"),
    ROW("use_flash_attn", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash_attention_2"),
    ROW("flash_attn", "/training/attention", .kind = DIALECT_SWITCH, .value = "flash_attention_2"),
    ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE, .written = true),
    ROW("num_train_epochs", "/training/epochs", .take = take_epochs, .kind = DIALECT_POSITIVE, .written = true),
    ROW("num_epochs", "/training/epochs", .take = take_epochs),
    ROW("epochs", "/training/epochs", .take = take_epochs),
    ROW("epoch", "/training/epochs", .take = take_epochs),
    ROW("save_steps", "/job/checkpoint/every", .take = take_save_steps),
    ROW("dataloader_num_workers", "/input/workers", .take = take_workers, .give = trainer_give_workers),
    ROW("max_train_samples", SAMPLES, .kind = DIALECT_POSITIVE, .written = true),
    ROW("task_name", SAMPLES, .take = trainer_take_samples),
    ROW("dataset_config_name", SAMPLES, .take = trainer_take_samples),
    ROW("dataset_name", SAMPLES, .take = trainer_take_samples),
    ROW_END,
};
const struct dialect_table trainer_tables[] = {
    { "", trainer_rows, DIALECT_UNKNOWN_OPEN },
    { "", trainer_batch_rows, DIALECT_UNKNOWN_OPEN },
    { "", trainer_usual_rows, DIALECT_UNKNOWN_OPEN },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_OPEN },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_OPEN },
    { "", peft_rows, DIALECT_UNKNOWN_OPEN },
    { "fsdp_config", trainer_fsdp_config_rows, DIALECT_UNKNOWN_IDLE },
    { NULL, NULL, DIALECT_UNKNOWN_IDLE },
};
/* clang-format on */

/* All of them ---------------------------------------------------------------------- */

void trainer_take(struct launch_context *t)
{
    trainer_take_usual_batch(t);
    launch_take_rows(t, trainer_rows, NULL);
    launch_take_rows(t, trainer_usual_rows, NULL);
}

/* When hyperparameters are not known as a whole, that is why these are not. */
static void unresolve_hyper(struct launch_context *t)
{
    static const char *const pointers[] = { "/model", "/training/sequence_length",
                                            "/training/micro_batch_size" };
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value *v = t->hyper[i];
        if (v->kind != VALUE_UNKNOWN)
            continue;
        for (size_t j = 0; j < sizeof(pointers) / sizeof(pointers[0]); j++)
            if (!launch_has(t, pointers[j]) && !launch_is_unresolved(t, pointers[j]))
                launch_add_unresolved(t, pointers[j], v->line,
                                      "hyperparameters: %s, and nothing is run",
                                      v->why);
    }
}

/* What nobody converts to 16 bits is in fp32, whose products "tf32" rounds
 * (transformers/training_args.py); diffusers' scripts call it allow_tf32. */
static void settle_products(struct launch_context *t)
{
    static const char at[] = "/training/precision";
    static const char *const names[] = { "tf32", "allow_tf32", NULL };
    for (const char *const *name = names; *name; name++) {
        const struct value_item *it = launch_hyper(t, *name);
        if (!it || !launch_true(it->value) || launch_has(t, at) ||
            launch_is_unresolved(t, at))
            continue;
        launch_hear(t, it);
        launch_set(t, at, json_string("tf32"), it);
    }
}

void trainer_settle(struct launch_context *t)
{
    unresolve_hyper(t);
    settle_products(t);
    deepspeed_unresolved_autos(t);
}

/* Of hyperparameters that do nothing, also those that another goes before. */
void trainer_note_unused(struct launch_context *t)
{
    for (int i = 0; i < t->n_hyper; i++)
        dialect_report(t, trainer_tables, "", t->hyper[i],
                       (struct dialect_place) { t->hyper[i]->line, "", "", true });
}

/* A command ------------------------------------------------------------------------ */

bool trainer_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "--model-name-or-path",
                                         "--per-device-train-batch-size", NULL };
    if (in->source == DIALECT_DOCUMENT)
        return trainer_recognises_document(in);
    for (int32_t i = 0; i < in->root->n; i++)
        if (names_listed(marks, in->root->items[i].key))
            return true;
    return false;
}

/* Arguments are spelled without dashes as hyperparameters. */
static struct value *without_dashes(struct arena *arena, const struct value *options)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = *options;
    v->items = ARENA_ARRAY(arena, options->n + 1, struct value_item);
    for (int32_t i = 0; i < options->n; i++) {
        v->items[i] = options->items[i];
        v->items[i].key += 2;
    }
    return v;
}

static const char *program_of(const struct launch_command *c)
{
    return c ? c->command->words[c->script].text : "";
}

/* What the options say of adapters, over what a program that is known has of its own;
 * another whose name alone speaks of them is asked for. */
static void take_adapters(struct launch_context *t, const struct launch_command *c)
{
    enum { MOST = 100 };
    const char *name = program_of(c);
    struct cfg usual = c ? launch_entry_of(t, name).arguments : (struct cfg) { 0 };
    struct value *own = cfg_present(usual) ? value_of_json(usual, MOST, "") : NULL;
    int n = t->n_hyper;
    if (own && n < LAUNCH_HYPER_MAX) {
        value_move_to(own, c->command->line);
        t->hyper[t->n_hyper++] = own;
    }
    bool said = peft_take(t, NULL);
    if (!said && peft_is_named(name)) {
        launch_add_unresolved(t, PEFT_LORA, c->command->line,
                              "%.80s: it seems to train adapters, and nothing says "
                              "which; null is training without",
                              launch_last_part(name));
        launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
    } else if (!said && c)
        peft_ask_imported(t, name, c->command->line);
    t->n_hyper = n;
}

void trainer_read(struct launch_context *t, const struct dialect_input *in)
{
    if (in->source == DIALECT_DOCUMENT) {
        trainer_read_document(t, in);
        return;
    }
    struct value *accelerate = accelerate_take_command(t, in->command);
    struct value *options = without_dashes(t->arena, in->root);
    bool chat = trainer_chat_is(options);
    t->hyper[t->n_hyper++] = options;
    if (chat)
        trainer_take_chat(t, in->command, options);
    if (!chat)
        take_adapters(t, in->command);
    t->trainer = !chat && !trainer_is_loop(t, program_of(in->command));
    trainer_take(t);
    if (accelerate)
        accelerate_settle(t, accelerate);
    peft_settle(t);
    trainer_settle(t);
    trainer_note_unused(t);
}
