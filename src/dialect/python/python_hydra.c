/* Configurations of hydra.main (hydra 1.3): the document that a decorator names, with those
 * of its groups and the words of the command, is what the function that follows is given.
 * https://hydra.cc/docs/advanced/defaults_list, .../override_grammar/basic */
#include "dialect/python/python_builtin.h"
#include "dialect/source/yaml.h"

#include <string.h>

enum { COMPOSED_MAX = 6, BRANCHES_MAX = 200 };

struct composition {
    struct python_parser *r;
    const char *folder;
    int64_t line;
    int left; /* documents that may still be read */
    int deep; /* documents around this one */
};

static struct arena *arena_of(const struct composition *c)
{
    return c->r->p->arena;
}

/* Dictionaries ----------------------------------------------------------------------- */

static void put(struct arena *arena, struct value *dict, const char *key,
                struct value *v)
{
    const struct value_item *it = value_get(dict, key);
    if (it)
        dict->items[it - dict->items].value = v;
    else
        value_add(arena, dict, key, v->line, v);
}

/* What `from` has goes over what is there, member by member. */
static void merge(struct arena *arena, struct value *to, const struct value *from,
                  int deep)
{
    for (int32_t i = 0; i < from->n; i++) {
        const struct value_item *it = &from->items[i], *old = value_get(to, it->key);
        if (deep < YAML_DEPTH_MAX && old && old->value->kind == VALUE_DICT &&
            it->value->kind == VALUE_DICT)
            merge(arena, to->items[old - to->items].value, it->value, deep + 1);
        else
            put(arena, to, it->key, it->value);
    }
}

/* The dictionary at "a.b", made where there is none; of "" the root. */
static struct value *at_path(struct arena *arena, struct value *root, const char *path,
                             int64_t line)
{
    for (int deep = 0; *path && deep < YAML_DEPTH_MAX; deep++) {
        size_t n = strcspn(path, "./");
        const char *key = arena_strndup(arena, path, n);
        const struct value_item *it = value_get(root, key);
        struct value *next = it && it->value->kind == VALUE_DICT
                                 ? it->value
                                 : value_new(arena, VALUE_DICT, line, 0);
        put(arena, root, key, next);
        root = next;
        path += n + (path[n] != '\0');
    }
    return root;
}

/* Words of the command --------------------------------------------------------------- */

/* The key of "++a.b=1", and its value; NULL: it is none. */
static const char *word_key(struct arena *arena, const struct value *word,
                            const char **value)
{
    const char *text = word->kind == VALUE_STRING ? word->text : "";
    const char *key = text + strspn(text, "+"), *equals = strchr(key, '=');
    if (!equals || equals == key || *key == '-')
        return NULL;
    *value = equals + 1;
    return arena_strndup(arena, key, (size_t)(equals - key));
}

/* What the command chooses of a group; NULL: it does not. */
static const char *chosen(const struct composition *c, const char *group)
{
    const struct value *words = c->r->wanted->words;
    const char *value, *found = NULL;
    for (int32_t i = 1; words && i < words->n; i++) {
        const char *key = word_key(arena_of(c), words->items[i].value, &value);
        if (key && strcmp(key, group) == 0)
            found = value;
    }
    return found;
}

static bool is_group(const struct value *defaults, const char *key)
{
    for (int32_t i = 0; defaults && i < defaults->n; i++)
        if (value_get(defaults->items[i].value, key))
            return true;
    return false;
}

static void take_words(const struct composition *c, struct value *root,
                       const struct value *defaults)
{
    const struct value *words = c->r->wanted->words;
    const char *value;
    for (int32_t i = 1; words && i < words->n; i++) {
        const struct value *w = words->items[i].value;
        const char *key = word_key(arena_of(c), w, &value);
        const char *dot = key ? strrchr(key, '.') : NULL;
        if (!key || is_group(defaults, key))
            continue;
        const char *outer =
            dot ? arena_strndup(arena_of(c), key, (size_t)(dot - key)) : "";
        struct value *dict = at_path(arena_of(c), root, outer, w->line);
        put(arena_of(c), dict, dot ? dot + 1 : key,
            yaml_plain(arena_of(c), value, w->line, 0));
    }
}

/* Documents -------------------------------------------------------------------------- */

static struct value *compose(struct composition *c, const char *name);

static struct value *load(struct composition *c, const char *name)
{
    const struct python_modules *m = c->r->wanted->modules;
    size_t n = strlen(name);
    bool yaml = n > 5 && strcmp(name + n - 5, ".yaml") == 0;
    const char *slash = *c->folder ? "/" : "", *path,
               *file = arena_printf(arena_of(c), "%.200s%s%.200s%s", c->folder, slash,
                                    name, yaml ? "" : ".yaml");
    const struct value *root = m && m->document && c->left-- > 0
                                   ? m->document(m->of, arena_of(c), file, true, &path)
                                   : NULL;
    if (root && root->kind == VALUE_DICT) {
        python_note(c->r, c->line, "%.160s is read", path);
        return (struct value *)(uintptr_t)root;
    }
    python_note(c->r, c->line, "%.80s was not found next to the script", file);
    return NULL;
}

/* The document of a group's option, put where the group is. */
static void take_option(struct composition *c, struct value *to, const char *group,
                        const char *option)
{
    const char *key = group + (strncmp(group, "optional ", 9) == 0 ? 9 : 0);
    const char *at = strchr(key, '@');
    key = strncmp(key, "override ", 9) == 0 ? key + 9 : key;
    if (strncmp(key, "hydra/", 6) == 0 || strcmp(option, "null") == 0)
        return;
    const char *where = at ? at + 1 : key;
    const char *folder = at ? arena_strndup(arena_of(c), key, (size_t)(at - key)) : key;
    const char *picked = chosen(c, folder);
    struct value *v = compose(
        c, arena_printf(arena_of(c), "%s/%s", folder, picked ? picked : option));
    const char *slash = strrchr(where, '/'), *last = slash ? slash + 1 : where;
    const char *outer =
        slash ? arena_strndup(arena_of(c), where, (size_t)(slash - where)) : "";
    if (v)
        merge(arena_of(c),
              strcmp(where, "_global_") == 0 ? to
                                             : at_path(arena_of(c), to, where, c->line),
              v, 0);
    else
        put(arena_of(c), at_path(arena_of(c), to, outer, c->line), last,
            value_new_unknown(arena_of(c), c->line, 0,
                              "%.40s: %.60s of it was not found", group, option));
}

/* One of the defaults: a name, or a group with its option. false: it is "_self_". */
static bool take_default(struct composition *c, struct value *to, const struct value *d)
{
    if (d->kind == VALUE_STRING && strcmp(d->text, "_self_") == 0)
        return false;
    struct value *v = d->kind == VALUE_STRING ? compose(c, d->text) : NULL;
    if (v)
        merge(arena_of(c), to, v, 0);
    for (int32_t i = 0; d->kind == VALUE_DICT && i < d->n; i++) {
        const struct value *o = d->items[i].value;
        for (int32_t k = 0; o->kind == VALUE_LIST && k < o->n; k++)
            if (o->items[k].value->kind == VALUE_STRING)
                take_option(c, to, d->items[i].key, o->items[k].value->text);
        if (o->kind == VALUE_STRING)
            take_option(c, to, d->items[i].key, o->text);
    }
    return true;
}

/* A document with those that its defaults name; its own values are last, or where
 * "_self_" is. NULL: it is not there. */
static struct value *compose(struct composition *c, const char *name)
{
    struct value *own = c->deep < COMPOSED_MAX ? load(c, name) : NULL;
    const struct value_item *list = own ? value_get(own, "defaults") : NULL;
    if (!list || list->value->kind != VALUE_LIST)
        return own;
    const struct value *defaults = list->value;
    struct value *all = value_new(arena_of(c), VALUE_DICT, c->line, 0);
    bool taken = false;
    value_remove(own, (int32_t)(list - own->items));
    c->deep++;
    for (int32_t i = 0; i < defaults->n; i++) {
        if (take_default(c, all, defaults->items[i].value))
            continue;
        merge(arena_of(c), all, own, 0);
        taken = true;
    }
    c->deep--;
    if (!taken)
        merge(arena_of(c), all, own, 0);
    if (c->deep == 0)
        take_words(c, all, defaults);
    return all;
}

/* Leaves by their names alone, as argparse's arguments are; of those that two sections
 * have, none is known. */
static void add_leaves(struct python_parser *r, const struct value *dict, int deep)
{
    if (!r->parsed)
        r->parsed = python_new(r, VALUE_DICT, dict->line);
    for (int32_t i = 0; i < dict->n && deep < YAML_DEPTH_MAX && !r->limit; i++) {
        const struct value_item *it = &dict->items[i], *old;
        if (it->value->kind == VALUE_DICT) {
            add_leaves(r, it->value, deep + 1);
            continue;
        }
        old = value_get(r->parsed, it->key);
        if (r->parsed->n < PYTHON_ITEMS_MAX || old)
            python_put(r, r->parsed, it->key, it->line,
                       old && !python_same(old->value, it->value)
                           ? python_unknown(r, it->line, "two sections have it")
                           : it->value);
    }
}

struct value *python_hydra_main(struct python_parser *r,
                                const struct python_arguments *a)
{
    const struct value *folder = python_placed(a, a->first, "config_path"),
                       *name = python_placed(a, a->second, "config_name");
    const struct python_modules *m = r->wanted->modules;
    struct composition c = {
        .r = r, .folder = "", .line = a->line, .left = BRANCHES_MAX
    };
    if (folder && folder->kind == VALUE_STRING)
        c.folder = folder->text;
    struct value *v =
        name && name->kind == VALUE_STRING ? compose(&c, name->text) : NULL;
    if (v && !value_get(v, "defaults") && c.left == BRANCHES_MAX - 1)
        take_words(&c, v, NULL);
    if (v && m->resolve)
        m->resolve(m->of, r->p->arena, v);
    r->handed = v ? python_deep_copy(r, v)
                  : python_unknown(r, a->line, "its configuration was not found");
    if (v) {
        value_move_to(r->handed, a->line);
        add_leaves(r, r->handed, 0);
    }
    return python_unknown(r, a->line, "hydra.main() is a decorator");
}
