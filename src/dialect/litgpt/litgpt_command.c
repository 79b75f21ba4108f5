/* litgpt's commands: "litgpt finetune_lora NAME --config FILE --train.max_steps 10", of
 * which the words go over the file (litgpt/__main__.py, 0.4 to 0.5). */
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/litgpt/litgpt.h"

#include <string.h>

static bool is_refused(struct launch_context *t, const struct launch_command *c,
                       const char *what)
{
    if (strncmp(what, "finetune_adapter", 16) != 0)
        return false;
    diags_add(&t->l->loader->diags,
              launch_diag(t->l, DIAG_NOT_SIMULATED, c->command->line, 0),
              "litgpt %.40s: LLaMA-Adapter's prompts are not simulated (adapters of "
              "finetune_lora are)",
              what);
    return true;
}

/* The file of --config; an empty dictionary without one. */
static struct value *file_of(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--config");
    const char *name = it && it->value->kind == VALUE_STRING ? it->value->text : NULL;
    struct value *root = name ? launch_open_document(t->l, c, name, it->line) : NULL;
    if (it && !root)
        launch_lost(t->l, name ? name : "--config", it->line,
                    "was not found (put it next to the script)");
    return root ? root : value_new(t->arena, VALUE_DICT, c->command->line, 0);
}

const struct value *litgpt_arguments(struct launch_context *t,
                                     const struct launch_command *c, bool *adapts)
{
    const struct shell_word *w = c->command->words;
    int32_t sub = c->script + 1;
    const char *what = sub < c->command->n ? w[sub].text : "";
    bool pretrains = strcmp(what, "pretrain") == 0;
    *adapts = strcmp(what, "finetune") == 0 || strcmp(what, "finetune_lora") == 0;
    if (is_refused(t, c, what))
        return NULL;
    struct value *root = file_of(t, c);
    if (sub + 1 < c->command->n && w[sub + 1].text[0] != '-')
        launch_override(t->arena, root, pretrains ? "model_name" : "checkpoint_dir",
                        &w[sub + 1], w[sub + 1].text);
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        char *key = arena_strdup(t->arena, it->key);
        for (char *s = key; *s; s++)
            *s = *s == '-' && s > key + 1 ? '_' : *s;
        if (strncmp(key, "--", 2) == 0 && strcmp(key, "--config") != 0)
            launch_override_value(t->arena, root, key + 2, it->value);
    }
    return root;
}
