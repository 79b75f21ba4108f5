/* Tasks that are started on clouds, and experiments of Beaker's (version: v2, tasks; beaker-py
 * 2, data_model/experiment_spec.py): SkyPilot's (num_nodes, resources, run; skypilot 0.10,
 * sky/task.py) and dstack's (type: task, nodes, resources, commands; dstack 0.19,
 * core/models/configurations.py). */
#include "dialect/source/manifest_hyperpod.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct value *v)
{
    return v && v->kind == VALUE_STRING ? v->text : NULL;
}

/* A command's text, whose ${...} are a shell's, whatever the document makes of them. */
static const char *command_of(const struct value *v)
{
    bool shell = v && v->kind == VALUE_UNKNOWN && v->text;
    return shell ? v->text : text_of(v);
}

static void add_text(struct arena *arena, struct value *list, const char *text,
                     int64_t line)
{
    value_add(arena, list, NULL, line, value_new_string(arena, text, line, 0));
}

/* The number after the last ":" of "H100:8", of a word with none 1; "80GB:8" likewise.
 * NULL: it is a range, or nothing says it. */
static const struct value *count_of(struct arena *arena, const struct value *v)
{
    const char *text = text_of(v), *colon = text ? strrchr(text, ':') : NULL;
    const char *number = colon ? colon + 1 : "1";
    if (v && v->kind == VALUE_INT)
        return v;
    if (v && v->kind == VALUE_DICT && value_member(v, "count"))
        return count_of(arena, value_member(v, "count"));
    if (v && v->kind == VALUE_DICT && v->n == 1 &&
        v->items[0].value->kind == VALUE_INT) /* SkyPilot: {H100: 8} */
        return v->items[0].value;
    if (!text || strspn(number, "0123456789") != strlen(number) ||
        (!colon && strstr(text, "..")))
        return NULL;
    struct value *n = value_new(arena, VALUE_INT, v->line, 0);
    n->integer = strtoll(number, NULL, 10);
    return n;
}

/* The word that names the accelerators: "H100:8", {H100: 8}, {name: H100}. */
static const struct value *device_of(struct arena *arena, const struct value *v)
{
    const struct value *name = value_member(v, "name");
    if (v && v->kind == VALUE_DICT && !name && v->n)
        return value_new_string(arena, v->items[0].key, v->items[0].line, 0);
    return name ? name : v;
}

static void set(struct arena *arena, struct value *env, const char *name,
                const struct value *v, int64_t line)
{
    const char *text = !v ? NULL
                       : v->kind == VALUE_INT
                           ? arena_printf(arena, "%" PRId64, v->integer)
                       : v->kind == VALUE_REAL ? arena_printf(arena, "%.15g", v->real)
                                               : text_of(v);
    if (!text)
        return;
    struct value *one = value_new(arena, VALUE_DICT, line, 0);
    value_add(arena, one, "name", line, value_new_string(arena, name, line, 0));
    value_add(arena, one, "value", line, value_new_string(arena, text, line, 0));
    value_add(arena, env, NULL, line, one);
}

/* {"A": "B"} or ["A=B"]. */
static void add_variables(struct arena *arena, struct value *env,
                          const struct value *of)
{
    for (int32_t i = 0; of && i < of->n; i++) {
        const struct value_item *it = &of->items[i];
        const char *text = text_of(it->value), *sign = text ? strchr(text, '=') : NULL;
        if (it->key)
            set(arena, env, it->key, it->value, it->line);
        else if (sign)
            set(arena, env, arena_strndup(arena, text, (size_t)(sign - text)),
                value_new_string(arena, sign + 1, it->value->line, 0), it->value->line);
    }
}

/* What the starter sets on each node: how many nodes and GPUs, addresses of all nodes, a
 * line each, and on the first its rank (skypilot 0.10, docs/source/running-jobs; dstack
 * 0.19, docs/reference/environment-variables). */
struct own {
    const char *nodes, *gpus, *addresses, *rank;
};

enum { ADDRESSES_MAX = 1024 };

static const struct value *addresses_of(struct arena *arena, const struct value *nodes)
{
    const char *text = "10.0.0.1";
    if (nodes->kind != VALUE_INT || nodes->integer > ADDRESSES_MAX)
        return NULL;
    for (int64_t i = 1; i < nodes->integer; i++)
        text = arena_printf(arena, "%s\n10.0.%" PRId64 ".%" PRId64, text, i / 250,
                            i % 250 + 1);
    return value_new_string(arena, text, nodes->line, 0);
}

static void fill(struct arena *arena, struct manifest_job *job, const char *text,
                 int64_t line, struct value *env, const struct own *own)
{
    struct value *c = value_new(arena, VALUE_DICT, line, 0),
                 *words = value_new(arena, VALUE_LIST, line, 0);
    struct value *one = value_new(arena, VALUE_INT, line, 0);
    one->integer = 1;
    job->pods = job->pods ? job->pods : one;
    set(arena, env, own->nodes, job->pods, line);
    set(arena, env, own->gpus, job->gpus, line);
    set(arena, env, own->addresses, addresses_of(arena, job->pods), line);
    set(arena, env, own->rank, value_new_string(arena, "0", line, 0), line);
    add_text(arena, words, "bash", line);
    add_text(arena, words, "-c", line);
    add_text(arena, words, text, line);
    value_add(arena, c, "command", line, words);
    value_add(arena, c, "env", line, env);
    job->container = c;
}

static bool take_skypilot(struct manifest_job *job, struct arena *arena,
                          const struct value *root)
{
    static const struct own own = { "SKYPILOT_NUM_NODES", "SKYPILOT_NUM_GPUS_PER_NODE",
                                    "SKYPILOT_NODE_IPS", "SKYPILOT_NODE_RANK" };
    const struct value *run = value_member(root, "run"),
                       *resources = value_member(root, "resources");
    if (!command_of(run) || !resources || resources->kind != VALUE_DICT)
        return false;
    struct value *env = value_new(arena, VALUE_LIST, run->line, 0);
    add_variables(arena, env, value_member(root, "envs"));
    job->pods = value_member(root, "num_nodes");
    job->gpus = count_of(arena, value_member(resources, "accelerators"));
    job->instance = value_member(resources, "instance_type");
    job->device = device_of(arena, value_member(resources, "accelerators"));
    job->kind = "SkyPilot task";
    const char *dir = text_of(value_member(root, "workdir")), *text = command_of(run);
    bool within = dir && *dir && *dir != '/' && *dir != '~' && !strpbrk(dir, "' \n:");
    job->within = within ? dir : NULL;
    fill(arena, job, within ? arena_printf(arena, "cd '%s'; %s", dir, text) : text,
         run->line, env, &own);
    return true;
}

static bool take_dstack(struct manifest_job *job, struct arena *arena,
                        const struct value *root)
{
    static const struct own own = { "DSTACK_NODES_NUM", "DSTACK_GPUS_PER_NODE",
                                    "DSTACK_NODES_IPS", "DSTACK_NODE_RANK" };
    static const char arguments[] = "${{ run.args }}";
    const struct value *commands = value_member(root, "commands"),
                       *type = value_member(root, "type"), *gpu;
    if (!text_of(type) || strcmp(type->text, "task") != 0 || !commands ||
        commands->kind != VALUE_LIST || !commands->n)
        return false;
    struct value *env = value_new(arena, VALUE_LIST, commands->line, 0);
    const char *text = "", *at;
    int64_t line = commands->line;
    for (int32_t i = 0; i < commands->n; i++) {
        const struct value *c = commands->items[i].value;
        const char *command = command_of(c);
        if (!command)
            continue;
        text = *text ? arena_printf(arena, "%s\n%s", text, command) : command;
        line = c->line < line ? c->line : line;
    }
    while ((at = strstr(text, arguments)) != NULL) /* what `dstack apply` is given */
        text = arena_printf(arena, "%.*s\"$@\"%s", (int)(at - text), text,
                            at + strlen(arguments));
    add_variables(arena, env, value_member(root, "env"));
    gpu = value_member(value_member(root, "resources"), "gpu");
    job->pods = value_member(root, "nodes");
    job->gpus = count_of(arena, gpu);
    job->device = device_of(arena, gpu);
    job->kind = "dstack task";
    fill(arena, job, text, line, env, &own);
    return true;
}

static void add_words(struct arena *arena, struct value *words, const struct value *of)
{
    for (int32_t i = 0; of && of->kind == VALUE_LIST && i < of->n; i++)
        if (command_of(of->items[i].value))
            add_text(arena, words, command_of(of->items[i].value),
                     of->items[i].value->line);
}

/* The first task, which each of its replicas runs on a node of its own. */
static bool take_beaker(struct manifest_job *job, struct arena *arena,
                        const struct value *root)
{
    const struct value *version = value_member(root, "version"),
                       *tasks = value_member(root, "tasks"), *task, *command,
                       *variables;
    if (!text_of(version) || *version->text != 'v' || !tasks ||
        tasks->kind != VALUE_LIST || !tasks->n)
        return false;
    task = tasks->items[0].value;
    command = value_member(task, "command");
    variables = value_member(task, "envVars");
    if (!value_member(task, "image") ||
        !value_member(value_member(task, "resources"), "gpuCount"))
        return false;
    struct value *c = value_new(arena, VALUE_DICT, task->line, 0),
                 *words = value_new(arena, VALUE_LIST, task->line, 0);
    add_words(arena, words, command);
    add_words(arena, words, value_member(task, "arguments"));
    if (!words->n)
        return false;
    value_add(arena, c, "command", words->items[0].value->line, words);
    if (variables)
        value_add(arena, c, "env", variables->line,
                  (struct value *)(uintptr_t)variables);
    job->pods = value_member(task, "replicas");
    job->gpus = value_member(value_member(task, "resources"), "gpuCount");
    job->kind = "Beaker experiment";
    job->container = c;
    return true;
}

bool manifest_cloud(struct manifest_job *job, struct arena *arena,
                    const struct value *root)
{
    *job = (struct manifest_job) { .kind = NULL };
    return take_skypilot(job, arena, root) || take_dstack(job, arena, root) ||
           take_beaker(job, arena, root);
}
