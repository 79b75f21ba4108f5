/* An estimator: its arguments, hyperparameters and environment, and what is said of those
 * without effect. */
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/accelerate/accelerate.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/python/python.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"
#include "hardware/instance.h"
#include "scenario/nccl_environment.h"

#include <inttypes.h>
#include <string.h>

/* What should be a dictionary and is none, or has keys that are not known: {key(): 1},
 * **extra(). */
static void note_dictionary(struct launch_context *t, const struct value_item *it)
{
    if (it && it->value->kind == VALUE_DICT && it->value->gap)
        diags_add(&t->l->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_LEFT_OUT, t->l->file, it->value->gap),
                  "%s: a key or a part is not known without running it, and none of "
                  "that is taken",
                  it->key);
    if (!it || it->value->kind == VALUE_NONE || it->value->kind == VALUE_DICT)
        return;
    launch_note(t->l, it->line, DIAG_LEFT_OUT, "%s: %s; none of it is taken", it->key,
                it->value->kind == VALUE_UNKNOWN ? it->value->why
                                                 : "it is no dictionary");
}

/* Names the variables that neither NCCL nor its network reads. */
static void note_environment(struct launch_context *t, const struct value_item *env)
{
    struct launch_idle idle;
    if (!env || env->value->kind != VALUE_DICT)
        return;
    launch_idle_init(&idle, t->l, env->line, arena_printf(t->arena, "%s: ", env->key));
    for (int32_t i = 0; i < env->value->n; i++) {
        const struct value_item *it = &env->value->items[i];
        if (!launch_is_heard(t, it) && !environment_knows(it->key))
            launch_idle_add(&idle, "%.60s", it->key);
    }
    launch_idle_end(&idle);
}

/* Variables that are Accelerate's configuration. */
static void take_accelerate(struct launch_context *t, const struct value_item *env)
{
    const struct value *all = env ? env->value : NULL;
    const struct value *set = env ? accelerate_of_environment(t, all, env->line) : NULL;
    if (set)
        accelerate_settle(t, set);
    for (int32_t i = 0; set && i < all->n; i++)
        if (accelerate_has_variable(set, all->items[i].key))
            launch_hear(t, &all->items[i]);
}

/* A TensorFlow estimator whose version is in its image only. */
static void take_class(struct launch_context *t)
{
    static const char pointer[] = "/training/framework";
    struct value v = { .kind = VALUE_STRING, .line = t->call->line };
    const struct value_item from = { "TensorFlow", t->call->line, &v };
    if (strcmp(python_last_part(t->call->function), from.key) == 0 &&
        !launch_has(t, pointer))
        launch_set(t, pointer, json_string("tensorflow2"), &from);
}

/* The dictionary's reader knows PyTorch by its release, which an image may hide. */
static void warn_servers(struct launch_context *t)
{
    static const char *const torch[] = { "PyTorch", "HuggingFace", NULL };
    const char *class = python_last_part(t->call->function);
    const json_t *on = pointer_get(t->tree, "/distribution/parameter_server/enabled");
    if (json_is_true(on) && names_listed(torch, class) &&
        !launch_has(t, "/software/pytorch"))
        diags_add(&t->l->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_UNSURE, t->l->file, t->call->line),
                  "parameter_server: the container of %s starts no parameter servers; "
                  "those of TensorFlow's are simulated",
                  class);
}

/* JumpStartEstimator and ModelTrainer have one instance by default (SageMaker Python SDK
 * 2.2x, jumpstart/factory/estimator.py; 3.x, train/defaults.py). */
static void settle_count(struct launch_context *t)
{
    static const char pointer[] = "/cluster/count";
    const char *function = t->call->function;
    bool one = strcmp(python_last_part(function), "JumpStartEstimator") == 0 ||
               strstr(function, "ModelTrainer");
    struct value v = { .kind = VALUE_INT, .line = t->call->line, .integer = 1 };
    const struct value_item from = { "the SDK's default", t->call->line, &v };
    /* a recipe says how many nodes it wants */
    one = one && !value_get(t->call->arguments, "training_recipe");
    if (one && !launch_has(t, pointer) && !launch_is_unresolved(t, pointer) &&
        !launch_has(t, "/cluster/groups") &&
        !launch_is_unresolved(t, "/cluster/groups"))
        launch_set(t, pointer, json_integer(1), &from);
}

/* Without a dictionary the containers start one process on each instance
 * (sagemaker-training-toolkit, entry_point.py); JumpStart's programs and recipes start
 * theirs themselves. How many GPUs such a process uses is asked. */
static void ask_processes(struct launch_context *t)
{
    static const char at[] = "/cluster/gpus_per_instance";
    const struct value *given = t->call->arguments;
    const struct value_item *entry = value_get(given, "entry_point");
    bool shell = entry && entry->value->text && launch_is_shell(entry->value->text);
    const char *name = json_string_value(pointer_get(t->tree, "/cluster/instance"));
    struct cfg_loader loader;
    if (launch_has(t, "/distribution") || launch_has(t, at) || shell || !name ||
        value_get(given, "command") || value_get(given, "training_recipe") ||
        strncmp(python_last_part(t->call->function), "JumpStart", 9) == 0 ||
        launch_is_unresolved(t, "/parallelism/library") ||
        launch_is_unresolved(t, "/distribution"))
        return;
    cfg_loader_init(&loader);
    const struct instance *inst = instance_get(&loader, name, (struct cfg) { 0 });
    int64_t gpus = t->l->gpus > 0 ? t->l->gpus : inst ? inst->n_gpus : 0;
    if (gpus > 1) { /* --set may have another instance than the script */
        launch_add_unresolved(
            t, at, t->call->line,
            "no distribution is given: SageMaker starts one process on each instance; "
            "1 is its one GPU, %d a process on each GPU, as torch_distributed starts "
            "(the Trainer's nn.DataParallel of one process is not simulated)",
            (int)gpus);
        launch_add_example(t, at, "1");
    }
    cfg_loader_release(&loader);
}

/* What SMP's dictionary says of the batch and of precision. */
static void read_smp(struct launch_context *t)
{
    json_t *smp = pointer_get(t->tree, "/distribution/smdistributed/modelparallel");
    json_t *parameters = json_object_get(smp, "parameters");
    json_t *microbatches = json_object_get(parameters, "microbatches");
    if (!json_is_true(json_object_get(smp, "enabled")))
        return;
    t->smp_precision = json_is_true(json_object_get(parameters, "fp16")) ||
                       json_is_true(json_object_get(parameters, "bf16"));
    /* torch_distributed starts SMP v2, which runs FSDP: bf16 is its MixedPrecision */
    t->converts |=
        json_is_true(pointer_get(t->tree, "/distribution/torch_distributed/enabled"));
    if (json_integer_value(microbatches) > 0)
        t->microbatches = (int64_t)json_integer_value(microbatches);
}

/* By their names alone. */
static void take_hyper(struct launch_context *t)
{
    struct sagemaker_entry entry;
    sagemaker_read_entry(t, &entry);
    sagemaker_take_adapters(t, &entry);
    if (sagemaker_is_smp_script(t))
        sagemaker_take_smp_script(t);
    t->trainer = entry.trainer && !sagemaker_is_smp_script(t);
    trainer_take(t);
    sagemaker_take_entry(t, &entry);
    bool smp = json_is_true(
        pointer_get(t->tree, "/distribution/smdistributed/modelparallel/enabled"));
    if (!smp && !sagemaker_is_smp_script(t))
        user_script_take_job_own(t,
                                 entry.name && entry.name->value->kind == VALUE_STRING
                                     ? launch_last_part(entry.name->value->text)
                                     : "the script");
}

void sagemaker_read(struct launch_context *t, const struct dialect_input *in)
{
    /* what is in them is reported apart */
    static const char *const elsewhere[] = { "hyperparameters", "source_dir",
                                             "environment", "env" };
    if (!sagemaker_find(t, in))
        return;
    const struct value *given = t->call->arguments;
    const struct value_item *env = value_get(given, "env");
    if (given->gap)
        launch_note(t->l, given->gap, DIAG_LEFT_OUT,
                    "the script leaves arguments out here");
    launch_take_rows(t, sagemaker_arguments, given);
    sagemaker_take_requirements(t);
    take_class(t);
    warn_servers(t);
    read_smp(t);
    bool whole = sagemaker_take_command(t);
    if (!whole)
        sagemaker_take_files(t);
    whole = whole || sagemaker_take_recipe(t) || sagemaker_take_program(t);
    if (!whole)
        take_hyper(t);
    user_script_take_tokenised(t, in->python, t->call->line);
    sagemaker_settle_jumpstart(t);
    settle_count(t);
    ask_processes(t);
    env = env ? env : value_get(given, "environment");
    if (env && env->value->kind == VALUE_DICT)
        launch_take_rows(t, sagemaker_environment, env->value);
    take_accelerate(t, env);
    if (!whole)
        trainer_settle(t);
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        launch_hear(t, value_get(given, elsewhere[i]));
    dialect_report(t, sagemaker_tables, "", given,
                   (struct dialect_place) { t->call->line, "", "", true });
    note_dictionary(t, env);
    note_dictionary(t, value_get(given, "hyperparameters"));
    note_environment(t, env);
    if (!whole)
        trainer_note_unused(t);
}
