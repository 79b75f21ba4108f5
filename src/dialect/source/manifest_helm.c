/* Values of a Helm chart that starts a training: the command is at the top or in a section
 * of usual names, as charts have it (aws-samples' pytorchjob charts of 2025; pods' own
 * "command", "args", "env" and "resources" in charts of one's own). */
#include "dialect/source/manifest_hyperpod.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static const struct value *member_of(const struct value *v, const char *const *names)
{
    const struct value *found = NULL;
    for (const char *const *n = names; v && v->kind == VALUE_DICT && !found && *n; n++)
        found = value_member(v, *n);
    return found && found->kind != VALUE_NONE ? found : NULL;
}

static const struct value *dict_of(const struct value *v, const char *name)
{
    const struct value *d = value_member(v, name);
    return d && d->kind == VALUE_DICT ? d : NULL;
}

/* Where the command is: at the top, or in a section. */
static const struct value *section_of(const struct value *root)
{
    static const char *const sections[] = { "train",   "training", "trainer",
                                            "job",     "workload", "container",
                                            "worker",  "workers",  "master",
                                            "pytorch", "main" };
    if (value_member(root, "command"))
        return root;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct value *s = dict_of(root, sections[i]);
        if (s && value_member(s, "command"))
            return s;
    }
    return NULL;
}

/* The GPUs of a pod: the section's, or the chart's. */
static const struct value *gpus_of(const struct value *v)
{
    static const char *const kinds[] = { "limits", "requests" };
    const struct value *all = dict_of(v, "resources"), *n = NULL;
    for (size_t i = 0; all && !n && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        n = value_member(dict_of(all, kinds[i]), "nvidia.com/gpu");
    return n;
}

static const struct value *first_of(const struct value *const *places,
                                    const char *const *names)
{
    const struct value *found = NULL;
    for (int i = 0; i < 3 && !found; i++)
        found = member_of(places[i], names);
    return found;
}

/* Words as the chart puts them into a shell's text, or a text that it has already. */
static void add_raw(struct strbuf *b, const struct value *words, const char *between)
{
    if (words && words->kind == VALUE_STRING)
        strbuf_printf(b, "%s%s", words->text, between);
    for (int32_t i = 0; words && words->kind == VALUE_LIST && i < words->n; i++) {
        const struct value *v = words->items[i].value;
        if (v->kind == VALUE_STRING)
            strbuf_printf(b, "%s%s", v->text, between);
        else if (v->kind == VALUE_INT)
            strbuf_printf(b, "%lld%s", (long long)v->integer, between);
    }
}

/* Whether the command is a shell with its text, which stays as it is. */
static bool is_shell(const struct value *command)
{
    const char *first = command->kind == VALUE_LIST && command->n > 1 &&
                                command->items[0].value->kind == VALUE_STRING
                            ? command->items[0].value->text
                            : "";
    size_t n = strlen(first);
    return n >= 2 && strcmp(first + n - 2, "sh") == 0;
}

static void add_text(struct arena *arena, struct value *list, const char *text,
                     int64_t line)
{
    value_add(arena, list, NULL, line, value_new_string(arena, text, line, 0));
}

/* A container's command: what the chart runs, in a shell. */
static void add_command(struct arena *arena, struct value *container,
                        const struct value *root, const struct value *section)
{
    static const char *const rest[] = { "args", "arguments", NULL };
    static const char *const first[] = { "inline_script", "inlineScript", NULL };
    static const char *const before[] = { "pre_script", "preScript", NULL };
    const struct value *command = value_member(section, "command"),
                       *args = member_of(section, rest);
    struct value *list = value_new(arena, VALUE_LIST, command->line, 0);
    struct strbuf text;
    if (is_shell(command)) {
        value_add(arena, container, "command", command->line,
                  (struct value *)(uintptr_t)command);
        if (args)
            value_add(arena, container, "args", args->line,
                      (struct value *)(uintptr_t)args);
        return;
    }
    strbuf_init(&text);
    add_raw(&text, member_of(root, first), "\n");
    add_raw(&text, member_of(root, before), "\n");
    add_raw(&text, command, " ");
    add_raw(&text, args, " ");
    add_text(arena, list, "bash", command->line);
    add_text(arena, list, "-c", command->line);
    add_text(arena, list, arena_strdup(arena, strbuf_get(&text)), command->line);
    value_add(arena, container, "command", command->line, list);
    strbuf_release(&text);
}

static void add_variable(struct arena *arena, struct value *list, const char *name,
                         const struct value *v)
{
    struct value *one = value_new(arena, VALUE_DICT, v->line, 0);
    char number[32];
    const char *text = v->kind == VALUE_STRING ? v->text : NULL;
    if (v->kind == VALUE_INT) {
        snprintf(number, sizeof(number), "%lld", (long long)v->integer);
        text = arena_strdup(arena, number);
    }
    if (!text)
        return;
    value_add(arena, one, "name", v->line, value_new_string(arena, name, v->line, 0));
    value_add(arena, one, "value", v->line, value_new_string(arena, text, v->line, 0));
    value_add(arena, list, NULL, v->line, one);
}

/* Its variables, of a list or a dictionary, and the training operator's own of an elastic
 * job (kubeflow/training-operator 1.9, PET_NNODES). */
static void add_variables(struct arena *arena, struct value *container,
                          const struct value *env, const struct value *nodes,
                          const struct value *each)
{
    struct value *list = value_new(arena, VALUE_LIST, container->line, 0);
    for (int32_t i = 0; env && i < env->n; i++) {
        const struct value *v = env->items[i].value;
        if (env->kind == VALUE_LIST)
            value_add(arena, list, NULL, v->line, (struct value *)(uintptr_t)v);
        else if (env->kind == VALUE_DICT)
            add_variable(arena, list, env->items[i].key, v);
    }
    if (nodes)
        add_variable(arena, list, "PET_NNODES", nodes);
    if (each)
        add_variable(arena, list, "PET_NPROC_PER_NODE", each);
    value_add(arena, container, "env", container->line, list);
}

bool manifest_helm(struct manifest_job *job, struct arena *arena,
                   const struct value *root)
{
    static const char *const pods[] = { "nnodes",         "num_nodes", "numNodes",
                                        "nodes",          "replicas",  "replicaCount",
                                        "workerReplicas", NULL };
    static const char *const ranks[] = { "nproc_per_node", "nprocPerNode",
                                         "gpusPerNode", "gpus_per_node", NULL };
    static const char *const types[] = { "node_type", "nodeType", "instanceType",
                                         "instance_type", NULL };
    static const char *const variables[] = { "env", "envs", "environment", NULL };
    const struct value *section = section_of(root);
    if (!section || value_member(root, "apiVersion"))
        return false;
    const struct value *const places[] = { section, dict_of(root, "resources"), root };
    const struct value *gpus = gpus_of(section), *each = first_of(places, ranks);
    gpus = gpus ? gpus : gpus_of(root);
    if (!gpus)
        return false;
    struct value *container = value_new(arena, VALUE_DICT, section->line, 0);
    add_command(arena, container, root, section);
    const struct value *nodes = first_of(places, pods);
    add_variables(arena, container, first_of(places, variables), nodes, each);
    *job = (struct manifest_job) { .kind = "Helm values",
                                   .container = container,
                                   .pods = nodes,
                                   .gpus = gpus,
                                   .instance = first_of(places, types) };
    return true;
}
