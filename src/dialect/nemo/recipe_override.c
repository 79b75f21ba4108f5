/* What a script of Megatron-Bridge puts over its recipe: a file and words of the command,
 * by process_config_with_overrides(), or by hand between create_omegaconf_dict_config() and
 * apply_overrides() (megatron/bridge/training/utils/omegaconf_utils.py). */
#include "base/names.h"
#include "dialect/launch/launch_override.h"
#include "dialect/nemo/nemo.h"
#include "dialect/python/python.h"
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

/* The file that a script without process_config_with_overrides() loads: of its own names
 * the one of a file, where one was read; *loads: whether any was. */
static const char *file_by_hand(const struct python *p, bool *loads)
{
    const char *file = NULL;
    *loads = false;
    for (int64_t i = 0; i < p->notes.n; i++)
        *loads |= strstr(p->notes.v[i].text, " is read") != NULL;
    for (int64_t i = 0; *loads && i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        bool yaml = v && v->kind == VALUE_STRING && strchr(v->text, '/') &&
                    (names_ends(v->text, ".yaml") || names_ends(v->text, ".yml"));
        file = yaml ? v->text : file;
    }
    return file;
}

/* Likewise of one with it: its argument. */
static const char *file_of_call(const struct python_call *c, bool *loads)
{
    const struct value_item *it = value_get(c->arguments, "config_filepath");
    it = it ? it : value_get(c->arguments, "1");
    *loads = it && it->value->kind != VALUE_NONE;
    bool named = *loads && it->value->text && !strpbrk(it->value->text, "{$");
    return named ? it->value->text : NULL;
}

/* The file that the command or the script's default names. */
static void overlay_file(struct launch_context *t, const struct python *p,
                         const struct python_call *c, struct value *facts)
{
    bool called = strcmp(python_last_part(c->function), by_call) == 0, loads;
    const char *name = called ? file_of_call(c, &loads) : file_by_hand(p, &loads);
    if (t->l->changes && t->l->changes->file) {
        name = t->l->changes->file;
        loads = true;
    }
    const struct value *v = name ? trainer_load_next_to(t, name, c->line) : NULL;
    if (v)
        nemo_overlay(t->arena, facts, launch_flatten(t->arena, v));
    else if (loads && name)
        launch_lost(
            t->l, name, c->line,
            "changes the recipe, and was not found (put it next to the script)");
    else if (loads)
        launch_lost(t->l, called ? by_call : by_hand, c->line,
                    "reads a file that changes the recipe, and its name is not known "
                    "(write it)");
}

void nemo_overlay_changes(struct launch_context *t, const struct python *p,
                          struct value *facts, const struct value *own)
{
    const struct python_call *called = call_of(p, by_call),
                             *c = called ? called : call_of(p, by_hand);
    const struct launch_changes *changes = t->l->changes;
    int64_t line = c ? c->line : INT64_MAX;
    if (!c && changes && changes->words && changes->words->n && !nemo_cli_main(p))
        launch_note(t->l, changes->words->line, DIAG_UNKNOWN_KEY,
                    "%.60s=... of the command: nothing is seen to take it, and it is "
                    "passed over",
                    launch_flatten(t->arena, changes->words)->items[0].key);
    nemo_overlay(t->arena, facts, part_of(t->arena, own, line, false));
    if (c)
        overlay_file(t, p, c, facts);
    if (c && changes && changes->words)
        nemo_overlay(t->arena, facts, launch_flatten(t->arena, changes->words));
    nemo_overlay(t->arena, facts, part_of(t->arena, own, line, true));
}
