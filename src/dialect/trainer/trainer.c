/* The Trainer's arguments: a field each. */
#include "dialect/trainer/trainer.h"

#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "scenario/attention.h"

#include <inttypes.h>
#include <string.h>

/* A field each --------------------------------------------------------------------- */

/* As the Trainer has it: -1, the default, is none. */
static void take_positive(struct launch_context *t, const struct launch_row *row,
                          const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n) || n > 0)
        launch_take_count(t, row, it);
}

/* The script's batch is what smp.step cuts into microbatches. */
static void take_batch(struct launch_context *t, const struct launch_row *row,
                       const struct value_item *it)
{
    int64_t n, parts = t->microbatches;
    if (parts <= 1 || !launch_whole(it->value, &n) || n < 1) {
        launch_take_count(t, row, it);
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

static void take_precision(struct launch_context *t, const struct launch_row *row,
                           const struct value_item *it)
{
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "boolean");
    else if (launch_true(it->value) && t->smp_precision)
        launch_note(t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s: SMP's dictionary already converts the model", it->key);
    else if (launch_true(it->value))
        launch_set(t, row->pointer,
                   json_sprintf("%s%s", t->converts ? "" : "amp_", row->name), it);
}

static void take_norm(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it)
{
    double norm;
    if (launch_real(it->value, &norm))
        launch_set(t, row->pointer, json_real(norm), it);
    else if (it->value->kind != VALUE_NONE)
        launch_unresolved_item(t, row->pointer, it, "number");
}

/* DDP's bucket_cap_mb, in MiB; none is PyTorch's own (transformers/training_args.py,
 * ddp_bucket_cap_mb). What shards has buckets of its own. */
static void take_bucket(struct launch_context *t, const struct launch_row *row,
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

static void take_checkpointing(struct launch_context *t, const struct launch_row *row,
                               const struct value_item *it)
{
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "boolean");
    else if (launch_true(it->value))
        launch_set(t, row->pointer, json_string("full"), it);
}

static void take_optimizer(struct launch_context *t, const struct launch_row *row,
                           const struct value_item *it)
{
    static const char *const words[][2] = {
        { "adamw_bnb_8bit", "adam8bit" },
        { "adamw_8bit", "adam8bit" },
        { "paged_adamw_8bit", "adam8bit" },
        { "adafactor", "adafactor" },
        { "adam", "adam" },
        { "lamb", "lamb" },
        { "sgd", "sgd" },
    };
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(text, words[i][0], strlen(words[i][0])) != 0)
            continue;
        launch_set(t, row->pointer, json_string(words[i][1]), it);
        return;
    }
    launch_unresolved_item(t, row->pointer, it, "optimizer that is simulated");
}

/* from_pretrained's attn_implementation. */
static void take_attention(struct launch_context *t, const struct launch_row *row,
                           const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    int word;
    if (names_find(attention_words, text, &word) == 0)
        launch_set(t, row->pointer, json_string(text), it);
    else if (it->value->kind != VALUE_NONE)
        launch_unresolved_item(t, row->pointer, it, "attention that is simulated");
}

/* Of what is kept on the instance alone, nothing is uploaded on the way. */
static void take_save_steps(struct launch_context *t, const struct launch_row *row,
                            const struct value_item *it)
{
    int64_t n;
    if (launch_has(t, "/job/checkpoint") && launch_whole(it->value, &n) && n > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

static void take_workers(struct launch_context *t, const struct launch_row *row,
                         const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n))
        launch_leave_out(t, it, "whole number");
    else if (n > 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

/* clang-format off */
#define SAMPLES "/training/samples"
/* Of several rows of a field, the first that the script gives. */
const struct launch_row trainer_rows[] = {
    { "model_name_or_path",          "/model", trainer_take_model },
    { "model_name",                  "/model", trainer_take_model },
    { "model_id",                    "/model", trainer_take_model },
    { "pretrained_model_name",       "/model", trainer_take_model },
    { "model_checkpoint",            "/model", trainer_take_model },
    { "tokenizer_name",              "/model", trainer_take_model },
    { "fsdp",                        "/parallelism/library", trainer_take_fsdp },
    { "fsdp_config",                 "/training/activation_checkpointing", trainer_take_fsdp_config },
    { "deepspeed",                   "/parallelism/library", deepspeed_take_file },
    { "deepspeed_config",            "/parallelism/library", deepspeed_take_file },
    { "ddp_bucket_cap_mb",           "/parallelism/bucket_size", take_bucket },
    { "max_grad_norm",               "/training/gradient_clipping", take_norm },
    { "per_device_train_batch_size", "/training/micro_batch_size", take_batch },
    { "per_gpu_train_batch_size",    "/training/micro_batch_size", take_batch },
    { "train_batch_size",            "/training/micro_batch_size", take_batch },
    { "batch_size",                  "/training/micro_batch_size", take_batch },
    { "max_seq_length",              "/training/sequence_length", launch_take_count },
    { "max_length",                  "/training/sequence_length", launch_take_count },
    { "block_size",                  "/training/sequence_length", launch_take_count },
    { "seq_length",                  "/training/sequence_length", launch_take_count },
    { "max_context_width",           "/training/sequence_length", launch_take_count },
    { "max_source_length",           "/training/sequence_length", launch_take_count },
    { "gradient_accumulation_steps", "/training/gradient_accumulation_steps", launch_take_count },
    { "fp16",                        "/training/precision", take_precision },
    { "bf16",                        "/training/precision", take_precision },
    { "gradient_checkpointing",      "/training/activation_checkpointing", take_checkpointing },
    { "activation_checkpointing",    "/training/activation_checkpointing", take_checkpointing },
    { "optim",                       "/training/optimizer", take_optimizer },
    { "attn_implementation",         "/training/attention", take_attention },
    { "max_steps",                   "/training/steps", take_positive },
    { "num_train_epochs",            "/training/epochs", take_positive },
    { "epochs",                      "/training/epochs", take_positive },
    { "save_steps",                  "/job/checkpoint/every", take_save_steps },
    { "dataloader_num_workers",      "/input/workers", take_workers },
    { "max_train_samples",           SAMPLES, take_positive },
    { "task_name",                   SAMPLES, trainer_take_samples },
    { "dataset_config_name",         SAMPLES, trainer_take_samples },
    { "dataset_name",                SAMPLES, trainer_take_samples },
    { NULL, NULL, NULL },
};
/* clang-format on */

/* All of them ---------------------------------------------------------------------- */

void trainer_take(struct launch_context *t)
{
    launch_take_rows(t, trainer_rows, NULL);
}

/* When hyperparameters are not known as a whole, that is why these are not. */
static void doubt_hyper(struct launch_context *t)
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

void trainer_settle(struct launch_context *t)
{
    doubt_hyper(t);
    deepspeed_unresolved_autos(t);
}

/* Names the hyperparameters that no row took, or that another goes before. */
void trainer_note_unused(struct launch_context *t)
{
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, t->n_hyper ? t->hyper[0]->line : 0, "");
    for (int i = 0; i < t->n_hyper; i++)
        for (int32_t j = 0; t->hyper[i]->kind == VALUE_DICT && j < t->hyper[i]->n;
             j++) {
            const struct value_item *it = &t->hyper[i]->items[j];
            bool known = launch_is_row(trainer_rows, it->key);
            if (!launch_is_heard(t, it) && !(known && launch_is_off(it->value)))
                launch_idle_add(&idle, "%.60s", it->key);
        }
    launch_idle_end(&idle);
}

/* A command ------------------------------------------------------------------------ */

bool trainer_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "--model-name-or-path",
                                         "--per-device-train-batch-size", NULL };
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

void trainer_read(struct launch_context *t, const struct dialect_input *in)
{
    static const struct launch_row task = { "entry_point", "/training/task",
                                            trainer_take_task };
    const struct launch_command *c = in->command;
    struct value *script = launch_script_value(t->arena, c);
    const struct value_item entry = { task.name, c->command->line, script };
    task.take(t, &task, &entry);
    t->hyper[t->n_hyper++] = without_dashes(t->arena, in->root);
    trainer_take(t);
    trainer_settle(t);
    trainer_note_unused(t);
}
