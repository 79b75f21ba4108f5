/* Documents whose `defaults` name others next to them, as hydra and NeMo-RL put them
 * together. */
#include "base/file.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_document.h"
#include "dialect/launch/launch_override.h"
#include "dialect/source/hydra.h"
#include "dialect/source/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 20 };

struct finding {
    struct launch *l;
    int found;
};

static struct value *open_file(void *of, int64_t line, const char *name,
                               const char **package)
{
    struct finding *f = of;
    struct arena *arena = &f->l->loader->arena;
    struct err err = { 0 };
    struct yaml y = { 0 };
    struct value *root = NULL;
    size_t len = 0;
    const char *path = source_files_next_to(arena, f->l->where, name);
    char *text = path ? file_read(path, FILE_MAX_B, &len, &err) : NULL;
    if (text && !yaml_read(&y, arena, text, len, &err) && y.documents.n &&
        y.documents.v[0]->kind == VALUE_DICT) {
        root = y.documents.v[0];
        value_move_to(root, line);
        *package = hydra_package(arena, text);
        launch_note(f->l, line, DIAG_ASSUMED, "%.160s is read", path);
        f->found++;
    }
    yaml_release(&y);
    free(text);
    return root;
}

static void lost(void *of, int64_t line, const char *name)
{
    struct finding *f = of;
    launch_note(
        f->l, line, DIAG_LEFT_OUT,
        "defaults: \"%.100s\" was not found, and what it says is not known (put "
        "it next to this file)",
        name);
}

/* Whether one of the defaults is a document, and not hydra's own. */
static bool names_some(const struct value *defaults)
{
    bool some = defaults->kind == VALUE_STRING;
    for (int32_t i = 0; defaults->kind == VALUE_LIST && i < defaults->n; i++) {
        const struct value *d = defaults->items[i].value;
        some |= d->kind == VALUE_STRING && strcmp(d->text, "_self_") != 0;
        for (int32_t k = 0; d->kind == VALUE_DICT && k < d->n; k++)
            some |= !strstr(d->items[k].key, "hydra/") &&
                    d->items[k].value->kind == VALUE_STRING;
    }
    return some;
}

/* A document that is an option of a group itself, as its parts' packages show: what the
 * group's section has is next to its own keys. */
static struct value *without_group(struct arena *arena, struct value *all,
                                   const struct value *own)
{
    const struct value_item *group = NULL;
    for (int32_t i = 0; i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        if (value_get(own, it->key))
            continue;
        if (group || it->value->kind != VALUE_DICT)
            return all;
        group = it;
    }
    bool outer = false;
    for (int32_t i = 0; group && i < group->value->n; i++)
        outer |= value_get(own, group->value->items[i].key) != NULL;
    if (!outer)
        return all;
    struct value *joined = value_new(arena, VALUE_DICT, all->line, 0);
    hydra_merge(arena, joined, group->value);
    hydra_merge(arena, joined, own);
    return joined;
}

struct value *launch_compose(struct launch *l, struct value *root)
{
    const struct value_item *list = value_get(root, "defaults");
    int64_t budget = YAML_VALUES_MAX;
    if (!list || !names_some(list->value) || dialect_composes(root))
        return root;
    struct arena *arena = &l->loader->arena;
    struct value *copy = value_copy(arena, root, &budget),
                 *own = value_copy(arena, root, &budget);
    struct finding f = { .l = l };
    struct hydra h = { .arena = arena,
                       .line = list->line,
                       .left = HYDRA_DOCUMENTS_MAX,
                       .follows = true,
                       .open = open_file,
                       .lost = lost,
                       .of = &f };
    if (!copy || !own)
        return root;
    struct value *all = hydra_compose(&h, copy);
    if (!f.found)
        return root;
    own = without_group(arena, all, own);
    launch_interpolate(l, own);
    return own;
}
