/* The fields of a launch script: which arguments and hyperparameters mean what. */
#include "config/datadir.h"
#include "dialect/deepspeed/deepspeed.h"
#include "scenario/attention.h"
#include "scenario/nccl_environment.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_MAX_B = 200 };

/* Names of models, tasks and data sets --------------------------------------------- */

/* The longest entry of a table that a word fits; keys may end with "*". */
static struct cfg look_up(struct launch_context *t, const char *table, const char *word)
{
    struct cfg names = cfg_get(t->names, table), best = { 0 };
    size_t longest = 0;
    for (void *it = cfg_first(names); it; it = cfg_next(names, it)) {
        const char *key = cfg_key(it);
        size_t n = strlen(key);
        bool open = n && key[n - 1] == '*';
        bool fits = open ? strncmp(key, word, n - 1) == 0 : strcmp(key, word) == 0;
        if (fits && n > longest) {
            longest = n;
            best = cfg_member(names, it);
        }
    }
    return best;
}

/* "google-bert/BERT-Large" to "bert-large", "./run_qa.sh" to "run_qa". */
static const char *plain_name(struct launch_context *t, const char *text, bool ending)
{
    const char *slash = strrchr(text, '/');
    char *name = arena_printf(t->arena, "%.*s", NAME_MAX_B, slash ? slash + 1 : text);
    char *dot = ending ? strrchr(name, '.') : NULL;
    if (dot)
        *dot = '\0';
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

static bool is_shipped(struct launch_context *t, const char *name)
{
    const char **all = datadir_list(t->arena, "models");
    while (*all && strcmp(*all, name) != 0)
        all++;
    return *all != NULL;
}

/* A field each --------------------------------------------------------------------- */

static void take_text(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it)
{
    if (it->value->kind == VALUE_STRING)
        launch_set(t, row->pointer, json_string(it->value->text), it);
    else if (it->value->kind != VALUE_NONE)
        launch_unresolved_item(t, row->pointer, it, "string");
}

static void take_instance(struct launch_context *t, const struct launch_row *row,
                          const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strncmp(text, "local", 5) == 0)
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "\"%.20s\" is the machine that launches the job", text);
    else
        take_text(t, row, it);
}

static void take_count(struct launch_context *t, const struct launch_row *row,
                       const struct value_item *it)
{
    int64_t n;
    if (it->value->kind == VALUE_NONE)
        return;
    if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, row->pointer, it, "whole number");
    else
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}

/* As the Trainer has it: -1, the default, is none. */
static void take_positive(struct launch_context *t, const struct launch_row *row,
                          const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n) || n > 0)
        take_count(t, row, it);
}

/* The script's batch is what smp.step cuts into microbatches. */
static void take_batch(struct launch_context *t, const struct launch_row *row,
                       const struct value_item *it)
{
    int64_t n, parts = t->microbatches;
    if (parts <= 1 || !launch_whole(it->value, &n) || n < 1) {
        take_count(t, row, it);
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

static void take_distribution(struct launch_context *t, const struct launch_row *row,
                              const struct value_item *it)
{
    if (it->value->kind != VALUE_NONE)
        launch_set(t, row->pointer, launch_json(t, it->value, row->pointer), it);
}

static void take_model(struct launch_context *t, const struct launch_row *row,
                       const struct value_item *it)
{
    if (it->value->kind != VALUE_STRING) {
        launch_unresolved_item(t, row->pointer, it, "string");
        return;
    }
    const char *name = plain_name(t, it->value->text, false);
    struct cfg known = look_up(t, "models", name);
    const char *model = NULL;
    if (is_shipped(t, name))
        model = name;
    else if (known.json)
        cfg_string(known, &model);
    if (model)
        launch_set(t, row->pointer, json_string(model), it);
    else
        launch_add_unresolved(
            t, row->pointer, it->value->line,
            "%s: \"%.80s\" is not in models/; its config.json would do", it->key,
            it->value->text);
}

static void take_task(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it)
{
    const char *task = NULL;
    if (it->value->kind != VALUE_STRING)
        return;
    struct cfg known = look_up(t, "tasks", plain_name(t, it->value->text, true));
    if (known.json && cfg_string(known, &task) == 0)
        launch_set(t, row->pointer, json_string(task), it);
}

static void take_samples(struct launch_context *t, const struct launch_row *row,
                         const struct value_item *it)
{
    int64_t n = 0;
    if (it->value->kind != VALUE_STRING)
        return;
    struct cfg known = look_up(t, "samples", plain_name(t, it->value->text, false));
    if (known.json && cfg_int(known, &n, 1, INT64_MAX) == 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
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

/* The digits and dots behind a mark in an image's name; NULL without. */
static const char *version_behind(struct arena *arena, const char *image,
                                  const char *mark)
{
    const char *at = strstr(image, mark);
    size_t n = at ? strspn(at + strlen(mark), "0123456789.") : 0;
    return n == 0 || n > 20 ? NULL : arena_strndup(arena, at + strlen(mark), n);
}

/* "…/pytorch-training:1.13.1-gpu-py39", "…:2.1.0-transformers4.36.0-gpu-py310". */
static void take_image(struct launch_context *t, const struct launch_row *row,
                       const struct value_item *it)
{
    const char *image = it->value->text ? it->value->text : "";
    const char *torch = version_behind(t->arena, image, "pytorch-training:");
    const char *transformers = version_behind(t->arena, image, "-transformers");
    if (torch)
        launch_set(t, row->pointer, json_string(torch), it);
    if (torch && transformers)
        launch_set(t, "/software/transformers", json_string(transformers), it);
}

/* framework_version is of the class that is called. */
static void take_framework(struct launch_context *t, const struct launch_row *row,
                           const struct value_item *it)
{
    const char *function = python_last_part(t->call->function);
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "2";
    if (strcmp(function, "PyTorch") == 0)
        take_text(t, row, it);
    else if (strcmp(function, "TensorFlow") == 0)
        launch_set(t, "/training/framework",
                   json_string(text[0] == '1' ? "tensorflow1" : "tensorflow2"), it);
}

/* Of the environment, what steers communication; and what Hugging Face's names say. */
static void take_environment(struct launch_context *t, const struct launch_row *row,
                             const struct value_item *it)
{
    const struct value *v = it->value;
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++) {
        const struct value_item *e = &v->items[i];
        const struct launch_row inner = { e->key,
                                          launch_pointer(t, row->pointer, e->key),
                                          NULL };
        if (nccl_environment_knows(e->key))
            take_text(t, &inner, e);
    }
}

/* clang-format off */
#define SAMPLES "/training/samples"
const struct launch_row launch_arguments[] = {
    { "instance_type",        "/cluster/instance", take_instance },
    { "train_instance_type",  "/cluster/instance", take_instance },
    { "instance_count",       "/cluster/count",    take_count },
    { "train_instance_count", "/cluster/count",    take_count },
    { "distribution",         "/distribution",     take_distribution },
    { "distributions",        "/distribution",     take_distribution },
    { "pytorch_version",      "/software/pytorch", take_text },
    { "transformers_version", "/software/transformers", take_text },
    { "framework_version",    "/software/pytorch", take_framework },
    { "tensorflow_version",   "/software/pytorch", take_framework },
    { "image_uri",            "/software/pytorch", take_image },
    { "environment",          "/software/environment", take_environment },
    { "env",                  "/software/environment", take_environment },
    { "entry_point",          "/training/task",    take_task },
    { "max_run",              "/job/max_run",      launch_take_seconds },
    { "train_max_run",        "/job/max_run",      launch_take_seconds },
    { "keep_alive_period_in_seconds", "/job/keep_alive", launch_take_keep_alive },
    { "use_spot_instances",   "/job/spot_discount", launch_take_spot },
    { "train_use_spot_instances", "/job/spot_discount", launch_take_spot },
    { "checkpoint_s3_uri",    "/job/checkpoint/to", launch_take_checkpoint },
    { "input_mode",           "/storage/mode",     launch_take_input_mode },
    { "volume_size",          "/storage/volume",   launch_take_volume },
    { "train_volume_size",    "/storage/volume",   launch_take_volume },
    { NULL, NULL, NULL },
};
/* What Hugging Face's containers take from the environment; after the
 * hyperparameters. */
const struct launch_row launch_environment[] = {
    { "HF_MODEL_ID", "/model",         take_model },
    { "HF_TASK",     "/training/task", take_task },
    { NULL, NULL, NULL },
};
/* Of several rows of a field, the first that the script gives. */
const struct launch_row launch_hyperparameters[] = {
    { "model_name_or_path",          "/model", take_model },
    { "model_name",                  "/model", take_model },
    { "model_id",                    "/model", take_model },
    { "pretrained_model_name",       "/model", take_model },
    { "model_checkpoint",            "/model", take_model },
    { "tokenizer_name",              "/model", take_model },
    { "fsdp",                        "/parallelism/library", launch_take_fsdp },
    { "fsdp_config",                 "/training/activation_checkpointing", launch_take_fsdp_config },
    { "deepspeed",                   "/parallelism/library", launch_take_deepspeed_file },
    { "deepspeed_config",            "/parallelism/library", launch_take_deepspeed_file },
    { "ddp_bucket_cap_mb",           "/parallelism/bucket_size", take_bucket },
    { "max_grad_norm",               "/training/gradient_clipping", take_norm },
    { "per_device_train_batch_size", "/training/micro_batch_size", take_batch },
    { "per_gpu_train_batch_size",    "/training/micro_batch_size", take_batch },
    { "train_batch_size",            "/training/micro_batch_size", take_batch },
    { "batch_size",                  "/training/micro_batch_size", take_batch },
    { "max_seq_length",              "/training/sequence_length", take_count },
    { "max_length",                  "/training/sequence_length", take_count },
    { "block_size",                  "/training/sequence_length", take_count },
    { "seq_length",                  "/training/sequence_length", take_count },
    { "max_context_width",           "/training/sequence_length", take_count },
    { "max_source_length",           "/training/sequence_length", take_count },
    { "gradient_accumulation_steps", "/training/gradient_accumulation_steps", take_count },
    { "fp16",                        "/training/precision", take_precision },
    { "bf16",                        "/training/precision", take_precision },
    { "gradient_checkpointing",      "/training/activation_checkpointing", take_checkpointing },
    { "activation_checkpointing",    "/training/activation_checkpointing", take_checkpointing },
    { "optim",                       "/training/optimizer", take_optimizer },
    { "attn_implementation",         "/training/attention", take_attention },
    { "max_steps",                   "/training/steps", take_positive },
    { "num_train_epochs",            "/training/epochs", take_positive },
    { "epochs",                      "/training/epochs", take_positive },
    { "save_steps",                  "/job/checkpoint/every", launch_take_save_steps },
    { "dataloader_num_workers",      "/input/workers", launch_take_workers },
    { "max_train_samples",           SAMPLES, take_positive },
    { "task_name",                   SAMPLES, take_samples },
    { "dataset_config_name",         SAMPLES, take_samples },
    { "dataset_name",                SAMPLES, take_samples },
    { NULL, NULL, NULL },
};
/* clang-format on */
