/* An estimator's arguments and environment: a field each. */
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/source/python.h"
#include "dialect/trainer/trainer.h"
#include "scenario/nccl_environment.h"

#include <inttypes.h>
#include <string.h>

/* A field each --------------------------------------------------------------------- */

static void take_instance(struct launch_context *t, const struct launch_row *row,
                          const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strncmp(text, "local", 5) == 0)
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "\"%.20s\" is the machine that launches the job", text);
    else
        launch_take_text(t, row, it);
}

static void take_distribution(struct launch_context *t, const struct launch_row *row,
                              const struct value_item *it)
{
    if (it->value->kind != VALUE_NONE)
        launch_set(t, row->pointer, launch_json(t, it->value, row->pointer), it);
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
        launch_take_text(t, row, it);
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
            launch_take_text(t, &inner, e);
    }
}

/* clang-format off */
const struct launch_row sagemaker_arguments[] = {
    { "instance_type",        "/cluster/instance", take_instance },
    { "train_instance_type",  "/cluster/instance", take_instance },
    { "instance_count",       "/cluster/count",    launch_take_count },
    { "train_instance_count", "/cluster/count",    launch_take_count },
    { "distribution",         "/distribution",     take_distribution },
    { "distributions",        "/distribution",     take_distribution },
    { "pytorch_version",      "/software/pytorch", launch_take_text },
    { "transformers_version", "/software/transformers", launch_take_text },
    { "framework_version",    "/software/pytorch", take_framework },
    { "tensorflow_version",   "/software/pytorch", take_framework },
    { "image_uri",            "/software/pytorch", take_image },
    { "environment",          "/software/environment", take_environment },
    { "env",                  "/software/environment", take_environment },
    { "entry_point",          "/training/task",    trainer_take_task },
    { "max_run",              "/job/max_run",      sagemaker_take_seconds },
    { "train_max_run",        "/job/max_run",      sagemaker_take_seconds },
    { "keep_alive_period_in_seconds", "/job/keep_alive", sagemaker_take_keep_alive },
    { "use_spot_instances",   "/job/spot_discount", sagemaker_take_spot },
    { "train_use_spot_instances", "/job/spot_discount", sagemaker_take_spot },
    { "checkpoint_s3_uri",    "/job/checkpoint/to", sagemaker_take_checkpoint },
    { "input_mode",           "/storage/mode",     sagemaker_take_input_mode },
    { "volume_size",          "/storage/volume",   sagemaker_take_volume },
    { "train_volume_size",    "/storage/volume",   sagemaker_take_volume },
    { NULL, NULL, NULL },
};
/* What Hugging Face's containers take from the environment; after the
 * hyperparameters. */
const struct launch_row sagemaker_environment[] = {
    { "HF_MODEL_ID", "/model",         trainer_take_model },
    { "HF_TASK",     "/training/task", trainer_take_task },
    { NULL, NULL, NULL },
};
/* clang-format on */
