/* What a script of Megatron-Bridge puts over its recipe: a file and words of the command,
 * by process_config_with_overrides(), or by hand between create_omegaconf_dict_config() and
 * apply_overrides() (megatron/bridge/training/utils/omegaconf_utils.py). */
#include "dialect/launch/launch_override.h"
#include "dialect/nemo/nemo.h"
#include "dialect/source/python.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

static const char by_call[] = "process_config_with_overrides",
                  by_hand[] = "create_omegaconf_dict_config";

static const struct python_call *call_of(const struct python *p, const char *name)
{
    for (int64_t i = p->calls.n; i-- > 0;)
        if (strcmp(python_last_part(p->calls.v[i].function), name) == 0)
            return &p->calls.v[i];
    return NULL;
}

/* What the script sets itself, before the call or after it. */
static struct value *part_of(struct arena *arena, const struct value *own, int64_t line,
                             bool after)
{
    struct value *part = value_new(arena, VALUE_DICT, own->line, 0);
    for (int32_t i = 0; i < own->n; i++)
        if ((own->items[i].line > line) == after)
            value_add(arena, part, own->items[i].key, own->items[i].line,
                      own->items[i].value);
    return part;
}

/* The file that the command or the script's default names. */
static void overlay_file(struct launch_context *t, const struct python_call *c,
                         struct value *facts)
{
    static const char option[] = "config_filepath";
    const struct value_item *it = value_get(c->arguments, option);
    const char *given = t->l->changes ? t->l->changes->file : NULL;
    it = it ? it : value_get(c->arguments, "1");
    if (strcmp(python_last_part(c->function), by_call) != 0)
        it = NULL; /* by hand */
    if (!given && (!it || it->value->kind == VALUE_NONE))
        return;
    bool named = it && it->value->text && !strpbrk(it->value->text, "{$");
    const char *name = given ? given : named ? it->value->text : NULL;
    const struct value *v = name ? trainer_load_next_to(t, name, c->line) : NULL;
    if (v)
        nemo_overlay(t->arena, facts, launch_flatten(t->arena, v));
    else if (name)
        launch_lost(
            t->l, name, c->line,
            "changes the recipe, and was not found (put it next to the script)");
    else
        launch_lost(t->l, option, c->line,
                    "is not known, and the file changes the recipe (write its name)");
}

void nemo_overlay_changes(struct launch_context *t, const struct python *p,
                          struct value *facts, const struct value *own)
{
    const struct python_call *called = call_of(p, by_call),
                             *c = called ? called : call_of(p, by_hand);
    const struct launch_changes *changes = t->l->changes;
    int64_t line = c ? c->line : INT64_MAX;
    nemo_overlay(t->arena, facts, part_of(t->arena, own, line, false));
    if (c)
        overlay_file(t, c, facts);
    if (c && !called && !(changes && changes->file))
        launch_note(
            t->l, line, DIAG_NOT_SIMULATED,
            "%s: a file that is put over the recipe by default is not read (give "
            "what it changes by --set)",
            by_hand);
    if (c && changes && changes->words)
        nemo_overlay(t->arena, facts, launch_flatten(t->arena, changes->words));
    nemo_overlay(t->arena, facts, part_of(t->arena, own, line, true));
}
