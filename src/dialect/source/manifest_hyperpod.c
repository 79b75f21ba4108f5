/* HyperPod's own files of a job: training_cfg of its CLI's first versions, which starts
 * entry_script by torchrun on Slurm and Kubernetes (sagemaker-hyperpod-recipes 1.x,
 * launcher/config_validator/type_validator.py), and config.yaml of `hyp init
 * hyp-pytorch-job` (sagemaker-hyperpod-cli 3.9, hyperpod_pytorch_job_template/v1_1). */
#include "dialect/source/manifest_hyperpod.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const struct value *v)
{
    return v && v->kind == VALUE_STRING && v->text[0];
}

/* The word that a value is on a command line; NULL: none. */
static const char *word_of(struct arena *arena, const struct value *v)
{
    switch (v->kind) {
    case VALUE_STRING:
        return v->text;
    case VALUE_INT:
        return arena_printf(arena, "%" PRId64, v->integer);
    case VALUE_REAL:
        return arena_printf(arena, "%.15g", v->real);
    case VALUE_BOOL:
        return v->integer ? "true" : "false";
    default:
        return NULL;
    }
}

static void add(struct arena *arena, struct value *list, const char *word, int64_t line)
{
    if (word && *word)
        value_add(arena, list, NULL, line, value_new_string(arena, word, line, 0));
}

/* Items of a list, each a dictionary of one option, or a word. */
static void add_arguments(struct arena *arena, struct value *list,
                          const struct value *v)
{
    for (int32_t i = 0; v && i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        if (it->key)
            add(arena, list, it->key, it->line);
        if (it->value->kind == VALUE_DICT || it->value->kind == VALUE_LIST)
            add_arguments(arena, list, it->value);
        else
            add(arena, list, word_of(arena, it->value), it->value->line);
    }
}

/* {"A": "B"} as a container's list of {name, value}. */
static struct value *environment_of(struct arena *arena, const struct value *dict)
{
    struct value *list = value_new(arena, VALUE_LIST, dict ? dict->line : 0, 0);
    for (int32_t i = 0; dict && dict->kind == VALUE_DICT && i < dict->n; i++) {
        const struct value_item *it = &dict->items[i];
        const char *text = word_of(arena, it->value);
        struct value *one = value_new(arena, VALUE_DICT, it->line, 0);
        if (!text)
            continue;
        value_add(arena, one, "name", it->line,
                  value_new_string(arena, it->key, it->line, 0));
        value_add(arena, one, "value", it->line,
                  value_new_string(arena, text, it->line, 0));
        value_add(arena, list, NULL, it->line, one);
    }
    return list;
}

static void fill(struct arena *arena, struct manifest_job *job, struct value *command,
                 const struct value *environment)
{
    struct value *c = value_new(arena, VALUE_DICT, command->line, 0);
    value_add(arena, c, "command", command->line, command);
    value_add(arena, c, "env", command->line, environment_of(arena, environment));
    job->container = c;
}

static bool take_training(struct manifest_job *job, struct arena *arena,
                          const struct value *root)
{
    const struct value *of = value_member(root, "training_cfg"),
                       *entry = value_member(of, "entry_script"),
                       *run = value_member(of, "run");
    if (!is_text(entry))
        return false;
    struct value *words = value_new(arena, VALUE_LIST, entry->line, 0);
    add(arena, words, "torchrun", entry->line);
    add(arena, words, entry->text, entry->line);
    add_arguments(arena, words, value_member(of, "script_args"));
    fill(arena, job, words, value_member(root, "env_vars"));
    job->pods = value_member(run, "nodes");
    job->gpus = value_member(run, "ntasks_per_node");
    job->instance = value_member(value_member(root, "cluster"), "instance_type");
    job->kind = "HyperPod training_cfg";
    return true;
}

/* command: a list, or its words in one string. */
static bool take_template(struct manifest_job *job, struct arena *arena,
                          const struct value *root)
{
    static const char *const own[] = { "tasks_per_node", "node_count", "replica_count",
                                       "accelerators" };
    const struct value *command = value_member(root, "command"),
                       *args = value_member(root, "args");
    bool is = false;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        is |= value_member(root, own[i]) != NULL;
    if (!is || !value_member(root, "job_name") || !value_member(root, "image"))
        return false;
    struct value *words = value_new(arena, VALUE_LIST, root->line, 0);
    const struct value *both[] = { command, args };
    for (int i = 0; i < 2; i++) {
        if (is_text(both[i])) {
            char *text = arena_strdup(arena, both[i]->text), *state = NULL;
            for (char *w = strtok_r(text, " \n\t[],'\"", &state); w;
                 w = strtok_r(NULL, " \n\t[],'\"", &state))
                add(arena, words, w, both[i]->line);
        } else {
            add_arguments(arena, words, both[i]);
        }
    }
    fill(arena, job, words, value_member(root, "environment"));
    job->pods = value_member(root, "replica_count");
    job->pods = job->pods ? job->pods : value_member(root, "node_count");
    job->gpus = value_member(root, "tasks_per_node");
    if (!job->gpus || job->gpus->kind != VALUE_INT)
        job->gpus = value_member(root, "accelerators");
    job->instance = value_member(root, "instance_type");
    job->kind = "hyp-pytorch-job";
    return words->n > 0;
}

bool manifest_hyperpod(struct manifest_job *job, struct arena *arena,
                       const struct value *root)
{
    *job = (struct manifest_job) { .kind = NULL };
    return take_training(job, arena, root) || take_template(job, arena, root);
}
