/* Functions that SageMaker's SDK runs as a training job: @remote(...), RemoteExecutor(...)
 * (sagemaker.remote_function of 2.230); and models that a script copies to a directory
 * before it loads them. */
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static const struct dialect_option rows[] = {
    ROW("instance_type", "/cluster/instance", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW("instance_count", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("nproc_per_node", "/cluster/gpus_per_instance", .kind = DIALECT_SIZE),
    ROW_END,
};
/* Of the configuration file of the SDK, which gives what the call leaves out. */
static const struct dialect_option defaults[] = {
    ROW("InstanceType", "/cluster/instance", .kind = DIALECT_TEXT, .wanted = "string"),
    ROW_END,
};

static void take_one(struct launch_context *t, const char *pointer,
                     const struct python_call *c, const char *why)
{
    struct value v = { .kind = VALUE_INT, .line = c->line };
    const struct value_item from = { why, c->line, &v };
    if (!launch_has(t, pointer) && !launch_is_unresolved(t, pointer))
        launch_set(t, pointer, json_integer(1), &from);
}

/* SageMaker: PythonSDK: Modules: RemoteFunction: of config.yaml next to the file. */
static void take_configuration(struct launch_context *t, const struct python_call *c)
{
    static const char *const path[] = { "SageMaker", "PythonSDK", "Modules",
                                        "RemoteFunction" };
    const struct value *v = trainer_load_next_to(t, "config.yaml", c->line);
    for (size_t i = 0; v && i < sizeof(path) / sizeof(path[0]); i++) {
        const struct value_item *it =
            v->kind == VALUE_DICT ? value_get(v, path[i]) : NULL;
        v = it ? it->value : NULL;
    }
    if (v && v->kind == VALUE_DICT)
        launch_take_rows(t, defaults, v);
}

bool user_script_take_remote(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_REMOTE];
    if (!c)
        return false;
    launch_take_rows(t, rows, c->arguments);
    take_configuration(t, c);
    take_one(t, "/cluster/count", c, "instance_count's default");
    if (!launch_is_on(c->arguments, "use_torchrun") &&
        !launch_is_on(c->arguments, "use_mpirun"))
        take_one(t, "/cluster/gpus_per_instance", c, "without use_torchrun");
    return true;
}

/* What snapshot_download(repo_id, local_dir=...) copies there; NULL: nothing. */
static const struct value *copied_to(const struct python *p, const char *path)
{
    for (int64_t i = p->calls.n - 1; i >= 0; i--) {
        const struct python_call *c = &p->calls.v[i];
        const struct value_item *to = value_get(c->arguments, "local_dir"),
                                *of = value_get(c->arguments, "repo_id");
        of = of ? of : value_get(c->arguments, "0");
        if (user_script_part_of(c) == SCRIPT_DOWNLOADED && to && of &&
            to->value->kind == VALUE_STRING && of->value->kind == VALUE_STRING &&
            strcmp(to->value->text, path) == 0)
            return of->value;
    }
    return NULL;
}

void user_script_name_copied(struct user_script *g, struct arena *arena)
{
    const struct value_item *it = value_get(g->words, "model_name_or_path");
    const struct value *of = it && it->value->kind == VALUE_STRING
                                 ? copied_to(g->python, it->value->text)
                                 : NULL;
    if (of)
        g->words->items[it - g->words->items].value =
            value_new_string(arena, of->text, it->line, 0);
}

void user_script_name_whisper(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    const struct value_item *it = value_get(g->words, "model_name_or_path");
    bool named = c && strcmp(python_last_part(c->function), "load_model") == 0 && it &&
                 it->value->kind == VALUE_STRING && !strchr(it->value->text, '/');
    if (named)
        g->words->items[it - g->words->items].value = value_new_string(
            arena, arena_printf(arena, "openai/whisper-%.60s", it->value->text),
            it->value->line, 0);
}
