/* Runs of the MosaicML platform (mcli): "command" and "compute" around "parameters",
 * which the command finds as /mnt/config/parameters.yaml. */
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/llmfoundry/llmfoundry.h"

#include <string.h>

enum { NODE_GPUS = 8 }; /* of the platform's nodes */

bool llmfoundry_is_run(const struct value *root)
{
    const struct value_item *command = value_get(root, "command");
    return command && command->value->text &&
           (value_get(root, "compute") || value_get(root, "integrations") ||
            value_get(root, "gpu_num")) &&
           (value_get(root, "image") || value_get(root, "parameters"));
}

/* Nodes of 8 GPUs; fewer are a part of one. */
static void take_gpus(struct launch_context *t, const struct value *root)
{
    const struct value_item *compute = value_get(root, "compute"),
                            *it = compute ? value_get(compute->value, "gpus") : NULL,
                            *type =
                                compute ? value_get(compute->value, "gpu_type") : NULL;
    int64_t n;
    it = it ? it : value_get(root, "gpu_num");
    if (!it || it->value->kind == VALUE_NONE)
        return;
    if (!launch_whole(it->value, &n) || n < 1 || (n > NODE_GPUS && n % NODE_GPUS)) {
        launch_unresolved_item(t, "/cluster/count", it, "number of GPUs in nodes of 8");
        return;
    }
    launch_set(t, "/cluster/count",
               json_integer((json_int_t)(n > NODE_GPUS ? n / NODE_GPUS : 1)), it);
    launch_set(t, "/cluster/gpus_per_instance",
               json_integer((json_int_t)(n > NODE_GPUS ? NODE_GPUS : n)), it);
    if (type && type->value->kind == VALUE_STRING)
        launch_note(t->l, type->line, DIAG_ASSUMED,
                    "%s: %.40s is asked for, in nodes of %d GPUs", type->key,
                    type->value->text, NODE_GPUS);
}

/* The last command of the text that starts a script. */
static bool last_script(struct launch_context *t, const struct shell *s,
                        struct launch_command *out)
{
    bool found = false;
    for (int64_t i = 0; i < s->commands.n; i++) {
        const struct shell_command *c = &s->commands.v[i];
        for (int32_t w = c->n; w-- > 0;) {
            size_t n = strlen(c->words[w].text);
            if (n < 4 || strcmp(c->words[w].text + n - 3, ".py") != 0 ||
                (found && launch_entry_of(t, c->words[w].text).refused))
                continue;
            *out = (struct launch_command) { .shell = s, .command = c, .script = w };
            found = true;
            break;
        }
    }
    return found;
}

static struct value *parameters_of(struct launch_context *t, const struct value *root,
                                   const struct launch_command *c, int64_t line)
{
    const struct value_item *own = value_get(root, "parameters");
    struct launch_named named = { NULL, "" };
    struct value *v = NULL;
    bool given = c->command && launch_names_document(c, &named);
    if (given && !strstr(named.text, "/mnt/config/"))
        v = launch_open_document(t->l, c, named.text, line);
    else if (own && own->value->kind == VALUE_DICT)
        v = own->value;
    if (!v)
        launch_lost(t->l, named.text, line,
                    "is no configuration next to the file, nor its parameters");
    return v;
}

struct value *llmfoundry_run(struct launch_context *t, const struct value *root)
{
    const struct value_item *it = value_get(root, "command");
    const char *text = it->value->text;
    struct shell s = { 0 };
    struct err err = { 0 };
    const struct shell_setting in = { .file = t->l->where };
    struct launch_command c = { .command = NULL };
    struct value *v = NULL;
    take_gpus(t, root);
    if (shell_read(&s, &in, t->arena, text, strlen(text), NULL, 0, &err))
        launch_lost(t->l, "command", it->line, err.text);
    else if (!last_script(t, &s, &c) && !value_get(root, "parameters"))
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_UNKNOWN_FORMAT, it->line, 0),
                  "command: it starts no training script (NAME.py)");
    else if (c.command && launch_entry_of(t, c.command->words[c.script].text).refused)
        launch_refuse_entry(t->l, c.command->words[c.script].text,
                            launch_entry_of(t, c.command->words[c.script].text).refused,
                            it->line);
    else if ((v = parameters_of(t, root, &c, it->line)) != NULL) {
        if (c.command)
            launch_take_overrides(t->arena, v, &c);
        launch_interpolate(t->l, v);
    }
    shell_release(&s);
    return v;
}
