#include "dialect/launch/launch_config.h"

#include "config/datadir.h"

#include <string.h>

/* Paths ---------------------------------------------------------------------------- */

static void flatten(struct arena *arena, struct value *out, const char *path,
                    const struct value *dict)
{
    for (int32_t i = 0; i < dict->n; i++) {
        const struct value_item *it = &dict->items[i];
        bool deep = strlen(path) + strlen(it->key) > LAUNCH_PATH_MAX_B;
        const char *key =
            path[0] && !deep ? arena_printf(arena, "%s.%s", path, it->key) : it->key;
        if (it->value->kind == VALUE_DICT && it->value->n > 0 && !deep)
            flatten(arena, out, key, it->value);
        else
            value_add(arena, out, key, it->line, it->value);
    }
}

struct value *launch_flatten(struct arena *arena, const struct value *root)
{
    struct value *out = value_new(arena, VALUE_DICT, root->line, root->column);
    if (root->kind == VALUE_DICT)
        flatten(arena, out, "", root);
    return out;
}

const char *launch_word(const struct value *flat, const char *path,
                        const char *otherwise)
{
    const struct value_item *it = value_get(flat, path);
    return it && it->value->kind == VALUE_STRING ? it->value->text : otherwise;
}

/* Fields --------------------------------------------------------------------------- */

void launch_config_title(struct launch_context *t, const char *title)
{
    t->l->title = title;
    t->l->what = "the configuration";
    t->l->line = 1;
}

void launch_assume(struct launch_context *t, const char *pointer, json_t *value,
                   const char *what)
{
    struct value v = { .kind = VALUE_NONE, .line = t->l->line };
    const struct value_item from = { what, t->l->line, &v };
    const char *word = json_string_value(value);
    bool kept = t->kept && strcmp(pointer, "/training/activation_checkpointing") == 0 &&
                !(word && strcmp(word, "none") == 0);
    if (launch_has(t, pointer) || launch_is_unresolved(t, pointer)) {
        json_decref(value);
    } else if (kept) {
        json_decref(value);
        launch_set(t, pointer, json_string("none"), t->kept);
    } else {
        launch_set(t, pointer, value, &from);
    }
}

void launch_settle_item(struct launch_context *t, const char *pointer, json_t *value,
                        const struct value_item *it, const char *what)
{
    if (it)
        launch_set(t, pointer, value, it);
    else
        launch_assume(t, pointer, value, what);
    launch_hear(t, it);
}

const struct value_item *launch_find(struct launch_context *t, const struct value *flat,
                                     const char *path)
{
    const struct value_item *it = value_get(flat, path);
    launch_hear(t, it);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

struct cfg launch_flavor(struct launch_context *t, const char *framework,
                         const char *name)
{
    struct cfg all =
        datadir_load(t->l->loader, "models/launch", "flavors", (struct cfg) { 0 });
    return cfg_get(cfg_get(all, framework), name);
}
