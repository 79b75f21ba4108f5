/* Jobs whose script is SageMaker's own by recipes of HyperPod (training_recipe=, as
 * sagemaker-python-sdk 2.23x and 3.x take them). */
#include "dialect/sagemaker/sagemaker.h"

#include "base/names.h"
#include "dialect/nemo/nemo.h"
#include "dialect/peft/peft.h"
#include "dialect/python/python.h"
#include "dialect/source/document.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

enum { MERGED_MAX = 20 }; /* dictionaries in each other */

/* Recipes -------------------------------------------------------------------------- */

/* Members of `over` in place of those of the same names; dictionaries are joined. */
static void merge(struct launch_context *t, struct value *dict,
                  const struct value *over, int deep)
{
    for (int32_t i = 0; over->kind == VALUE_DICT && i < over->n && deep < MERGED_MAX;
         i++) {
        const struct value_item *it = &over->items[i];
        const struct value_item *old = value_get(dict, it->key);
        if (!old)
            value_add(t->arena, dict, it->key, it->line, it->value);
        else if (old->value->kind == VALUE_DICT && it->value->kind == VALUE_DICT)
            merge(t, old->value, it->value, deep + 1);
        else
            dict->items[old - dict->items] = *it;
    }
}

/* The recipe's document by its name, with or without its ending; NULL. */
static struct value *load(struct launch_context *t, const char *name, int64_t line)
{
    const char *file =
        document_is(name) ? name : arena_printf(t->arena, "%.200s.yaml", name);
    const char *slash = strrchr(file, '/');
    const char *places[] = {
        file,
        arena_printf(t->arena, "recipes/%s", file),
        arena_printf(t->arena, "recipes_collection/recipes/%s", file),
        slash ? slash + 1 : file,
    };
    const struct source_file *own = launch_own_file(t->l, file);
    struct value *v = NULL;
    if (own) {
        struct value text = { .kind = VALUE_STRING, .line = line, .text = own->text };
        const struct value_item it = { "training_recipe", line, &text };
        return trainer_parse_as(t, &it, ".yaml");
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !v; i++)
        v = trainer_load_next_to(t, places[i], line);
    return v;
}

static void ask(struct launch_context *t, const struct value_item *it, const char *name)
{
    static const char *const open[] = {
        "/model",
        "/training/sequence_length",
        "/training/micro_batch_size",
        "/parallelism/library",
        "/training/precision",
        PEFT_LORA,
    };
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        launch_add_unresolved(
            t, open[i], it->line,
            "%s: \"%.80s\" is not there, and decides it (put the YAML of "
            "aws/sagemaker-hyperpod-recipes next to the file)",
            it->key, name);
}

bool sagemaker_take_recipe(struct launch_context *t)
{
    const struct value_item *it = value_get(t->call->arguments, "training_recipe"),
                            *over = value_get(t->call->arguments, "recipe_overrides");
    struct launch *l = t->l;
    const char *title = l->title, *what = l->what;
    int64_t line = l->line;
    if (!it || it->value->kind == VALUE_NONE)
        return false;
    const char *name = it->value->text ? it->value->text : "";
    launch_hear(t, it);
    launch_hear(t, over);
    if (strstr(name, "nova")) {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNSUPPORTED, it->line, 0),
                  "%s: the sizes of Amazon Nova's models are not published, and it is "
                  "not simulated (give a recipe of an open model)",
                  it->key);
        return true;
    }
    struct value *root = it->value->kind == VALUE_STRING ? load(t, name, it->line)
                         : it->value->kind == VALUE_DICT ? it->value
                                                         : NULL;
    if (!root) {
        ask(t, it, name[0] ? name : "the recipe");
        return true;
    }
    if (over)
        merge(t, root, over->value, 0);
    const struct dialect_input in = { .source = DIALECT_DOCUMENT, .root = root };
    nemo_read(t, &in);
    l->title = title;
    l->what = what;
    l->line = line;
    return true;
}
