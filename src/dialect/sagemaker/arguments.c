/* An estimator's arguments and environment: a field each. */
#include "dialect/launch/entry_points.h"
#include "dialect/python/python.h"
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/trainer/trainer.h"
#include "scenario/nccl_environment.h"

#include <inttypes.h>
#include <string.h>

/* A field each --------------------------------------------------------------------- */

static void take_instance(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strncmp(text, "local", 5) == 0)
        launch_add_unresolved(t, row->pointer, it->value->line,
                              "\"%.20s\" is the machine that launches the job", text);
    else
        dialect_take_as(t, row, it, DIALECT_TEXT);
}

/* What the script trains, by its name. */
static void take_entry_point(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    if (it->value->kind != VALUE_STRING)
        launch_unresolved_item(t, row->pointer, it, "string");
    else if (!launch_is_shell(it->value->text)) /* what it starts: job_command.c */
        launch_take_entry(t, it->value->text, it);
}

/* What trains of a heterogeneous cluster is listed in the dictionary, too. */
static void take_distribution(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    json_t *tree =
        it->value->kind == VALUE_NONE ? NULL : launch_json(t, it->value, row->pointer);
    if (json_is_object(tree) && value_get(t->call->arguments, "instance_groups"))
        json_object_del(tree, "instance_groups");
    launch_set(t, row->pointer, tree, it);
}

/* A member of InstanceGroup, by its name or its place; NULL. */
static const struct value *of_group(const struct value *group, const char *name,
                                    const char *place)
{
    const struct value_item *it = value_get(group, name);
    it = it ? it : value_get(group, place);
    return it ? it->value : NULL;
}

/* InstanceGroup(name, type, count), of which the dictionary may list those that
 * train. */
static void take_groups(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    const struct value_item *how = value_get(t->call->arguments, "distribution"),
                            *some =
                                how ? value_get(how->value, "instance_groups") : NULL;
    const struct value *list = some ? some->value : it->value;
    json_t *out = json_array();
    for (int32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *group = list->items[i].value,
                           *type = of_group(group, "instance_type", "1"),
                           *count = of_group(group, "instance_count", "2");
        int64_t n;
        if (!type || type->kind != VALUE_STRING || !count || !launch_whole(count, &n))
            continue;
        json_array_append_new(out, json_pack("{s:s, s:I}", "instance", type->text,
                                             "count", (json_int_t)n));
    }
    if (list->kind == VALUE_NONE) {
        json_decref(out);
    } else if (list->kind == VALUE_LIST && list->n &&
               json_array_size(out) == (size_t)list->n) {
        launch_set(t, row->pointer, out, it);
    } else {
        json_decref(out);
        launch_unresolved_item(t, row->pointer, it, "list of InstanceGroup(...)");
    }
}

/* The digits and dots after a mark in an image's name; NULL without. */
static const char *version_after(struct arena *arena, const char *image,
                                 const char *mark)
{
    const char *at = strstr(image, mark);
    size_t n = at ? strspn(at + strlen(mark), "0123456789.") : 0;
    return n == 0 || n > 20 ? NULL : arena_strndup(arena, at + strlen(mark), n);
}

/* Of image_uris.retrieve(framework, region, version, ...), and of get_image_uri(region,
 * name) before it (SageMaker Python SDK 1.x). */
static void take_retrieved(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    const struct value *of = it->value;
    bool old = strstr(of->text, "get_image_uri") != NULL;
    const struct value_item *named = value_get(of, old ? "repo_name" : "framework"),
                            *first = value_get(of, old ? "1" : "0"),
                            *version = value_get(of, "version"),
                            *base = value_get(of, "base_framework_version");
    const struct value *name = named ? named->value : first ? first->value : NULL;
    version = version ? version : value_get(of, "2");
    const char *which = name && name->kind == VALUE_STRING ? name->text : "",
               *number = version && version->value->kind == VALUE_STRING
                             ? version->value->text
                             : NULL,
               *torch =
                   base && base->value->kind == VALUE_STRING ? base->value->text : NULL;
    if (names_listed(sagemaker_algorithms, which))
        diags_add(
            &t->l->loader->diags, launch_diag(t->l, DIAG_UNSUPPORTED, name->line, 0),
            "\"%s\" is an algorithm of SageMaker's, which is not simulated (give a "
            "file that trains a transformer)",
            which);
    else if (strcmp(which, "pytorch") == 0 && number)
        launch_set(t, row->pointer, json_string(number), it);
    else if (strcmp(which, "huggingface") == 0 && torch &&
             strncmp(torch, "pytorch", 7) == 0) {
        launch_set(t, row->pointer, json_string(torch + 7), it);
        if (number)
            launch_set(t, "/software/transformers", json_string(number), it);
    }
}

/* "…/pytorch-training:1.13.1-gpu-py39", "…:2.1.0-transformers4.36.0-gpu-py310". */
static void take_image(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    if (it->value->kind == VALUE_DICT && it->value->text) {
        take_retrieved(t, row, it);
        return;
    }
    const char *image = it->value->text ? it->value->text : "";
    const char *torch = version_after(t->arena, image, "pytorch-training:");
    const char *transformers = version_after(t->arena, image, "-transformers");
    if (torch)
        launch_set(t, row->pointer, json_string(torch), it);
    if (torch && transformers)
        launch_set(t, "/software/transformers", json_string(transformers), it);
}

/* framework_version is of the class that is called. */
static void take_framework(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    const char *function = python_last_part(t->call->function);
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "2";
    if (strcmp(function, "PyTorch") == 0)
        dialect_take_as(t, row, it, DIALECT_TEXT);
    else if (strcmp(function, "TensorFlow") == 0 ||
             strcmp(row->name, "tensorflow_version") == 0)
        launch_set(t, "/training/framework",
                   json_string(text[0] == '1' ? "tensorflow1" : "tensorflow2"), it);
}

/* Of the environment, what steers communication; and what Hugging Face's names say. */
static void take_environment(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it)
{
    const struct value *v = it->value;
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++) {
        const struct value_item *e = &v->items[i];
        const struct dialect_option inner = {
            .name = e->key,
            .pointer = launch_pointer(t, row->pointer, e->key),
            .kind = DIALECT_TEXT,
            .wanted = "string",
        };
        if (environment_knows(e->key))
            dialect_take(t, &inner, e);
    }
}

/* clang-format off */
const struct dialect_option sagemaker_arguments[] = {
    ROW("instance_type", "/cluster/instance", .take = take_instance),
    ROW("train_instance_type", "/cluster/instance", .take = take_instance),
    ROW("instance_count", "/cluster/count", .kind = DIALECT_WHOLE),
    ROW("train_instance_count", "/cluster/count", .kind = DIALECT_WHOLE),
    ROW("instance_groups", "/cluster/groups", .take = take_groups),
    ROW("process_count_per_node", "/cluster/gpus_per_instance", .kind = DIALECT_SIZE),
    ROW("distribution", "/distribution", .take = take_distribution),
    ROW("distributions", "/distribution", .take = take_distribution),
    ROW("pytorch_version", "/software/pytorch", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("transformers_version", "/software/transformers", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("framework_version", "/software/pytorch", .take = take_framework),
    ROW("tensorflow_version", "/software/pytorch", .take = take_framework),
    ROW("image_uri", "/software/pytorch", .take = take_image),
    ROW("environment", "/software/environment", .take = take_environment),
    ROW("env", "/software/environment", .take = take_environment),
    ROW("model_id", "/model", .take = sagemaker_take_jumpstart),
    ROW("model_uri", "/model", .take = sagemaker_take_model_uri),
    ROW("entry_point", "/training/task", .take = take_entry_point),
    ROW("max_run", "/job/max_run", .take = sagemaker_take_seconds),
    ROW("train_max_run", "/job/max_run", .take = sagemaker_take_seconds),
    ROW("keep_alive_period_in_seconds", "/job/keep_alive", .take = sagemaker_take_keep_alive),
    ROW("use_spot_instances", "/job/spot_discount", .take = sagemaker_take_spot),
    ROW("train_use_spot_instances", "/job/spot_discount", .take = sagemaker_take_spot),
    ROW("checkpoint_s3_uri", "/job/checkpoint/to", .take = sagemaker_take_checkpoint),
    ROW("input_mode", "/storage/mode", .take = sagemaker_take_input_mode),
    ROW("volume_size", "/storage/volume", .take = sagemaker_take_volume),
    ROW("train_volume_size", "/storage/volume", .take = sagemaker_take_volume),
    ROW_END,
};
/* What Hugging Face's containers take from the environment; after the
 * hyperparameters. */
const struct dialect_option sagemaker_environment[] = {
    ROW("HF_MODEL_ID", "/model", .take = trainer_take_model),
    ROW("HF_TASK", "/training/task", .take = trainer_take_task),
    ROW_END,
};
/* The other arguments of SageMaker's estimators (SageMaker Python SDK, estimator.py). */
static const struct dialect_option other_rows[] = {
    ROW_ACTS("command", NULL), ROW_ACTS("training_recipe", NULL), ROW_ACTS("recipe_overrides", NULL), ROW_ACTS("hyperparameters", NULL), ROW_ACTS("source_dir", NULL),
    ROW_UNSIMULATED("smp_fp8"), ROW_UNSIMULATED("compiler_config"), ROW_UNSIMULATED("encrypt_inter_container_traffic"),
    ROW_IDLE("input_data_config"), ROW_IDLE("output_data_config"), ROW_IDLE("training_mode"),
    ROW_IDLE("job_name"), ROW_IDLE("disable_output_compression"), ROW_IDLE("model_version"), ROW_IDLE("requirements"),
    ROW_IDLE("role"), ROW_IDLE("sagemaker_session"), ROW_IDLE("base_job_name"), ROW_IDLE("output_path"),
    ROW_IDLE("code_location"), ROW_IDLE("py_version"), ROW_IDLE("metric_definitions"), ROW_IDLE("tags"),
    ROW_IDLE("subnets"), ROW_IDLE("security_group_ids"), ROW_IDLE("enable_network_isolation"),
    ROW_IDLE("volume_kms_key"), ROW_IDLE("output_kms_key"), ROW_IDLE("model_channel_name"),
    ROW_IDLE("checkpoint_local_path"), ROW_IDLE("rules"), ROW_IDLE("debugger_hook_config"),
    ROW_IDLE("tensorboard_output_config"), ROW_IDLE("profiler_config"), ROW_IDLE("disable_profiler"),
    ROW_IDLE("max_wait"), ROW_IDLE("train_max_wait"), ROW_IDLE("max_retry_attempts"), ROW_IDLE("dependencies"),
    ROW_IDLE("git_config"), ROW_IDLE("container_log_level"), ROW_IDLE("enable_sagemaker_metrics"), ROW_IDLE("script_mode"),
    ROW_END,
};
const struct dialect_table sagemaker_tables[] = {
    { "", sagemaker_arguments, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", other_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { "environment", sagemaker_environment, DIALECT_UNKNOWN_IDLE },
    { NULL, NULL, DIALECT_UNKNOWN_IDLE },
};
/* clang-format on */
