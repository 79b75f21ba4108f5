/* Configurations of hydra.main (hydra 1.3): the document that a decorator names, with those
 * of its groups and the words of the command, is what the function that follows is given.
 * https://hydra.cc/docs/advanced/defaults_list, .../override_grammar/basic */
#include "dialect/python/python_builtin.h"
#include "dialect/source/hydra.h"
#include "dialect/source/yaml.h"

#include <string.h>

struct composition {
    struct python_parser *r;
    const char *folder;
    int64_t line;
};

static struct arena *arena_of(const struct composition *c)
{
    return c->r->p->arena;
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
static const char *chosen(void *of, const char *group)
{
    const struct composition *c = of;
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
        struct value *dict = hydra_at(arena_of(c), root, outer, w->line);
        hydra_put(arena_of(c), dict, dot ? dot + 1 : key,
                  yaml_plain(arena_of(c), value, w->line, 0));
    }
}

/* Documents -------------------------------------------------------------------------- */

static struct value *open_file(void *of, int64_t line, const char *name,
                               const char **package)
{
    const struct composition *c = of;
    const struct python_modules *m = c->r->wanted->modules;
    const char *slash = *c->folder ? "/" : "", *path,
               *file =
                   arena_printf(arena_of(c), "%.200s%s%.200s", c->folder, slash, name);
    const struct value *root =
        m && m->document ? m->document(m->of, arena_of(c), file, true, &path) : NULL;
    if (!root || root->kind != VALUE_DICT)
        return NULL;
    python_note(c->r, line, "%.160s is read", path);
    *package = m->package ? m->package(m->of, arena_of(c), file) : NULL;
    return (struct value *)(uintptr_t)root;
}

static void lost(void *of, int64_t line, const char *name)
{
    const struct composition *c = of;
    python_note(c->r, line, "%.80s was not found next to the script", name);
}

/* A document by its name, with those that its defaults name and the command's words. NULL:
 * it is not there. */
static struct value *compose(struct composition *c, const char *name)
{
    size_t n = strlen(name);
    bool yaml = n > 5 && strcmp(name + n - 5, ".yaml") == 0;
    const char *package = NULL,
               *file = yaml ? name : arena_printf(arena_of(c), "%.200s.yaml", name);
    struct value *own = open_file(c, c->line, file, &package);
    if (!own) {
        lost(c, c->line, file);
        return NULL;
    }
    struct hydra h = { .arena = arena_of(c),
                       .line = c->line,
                       .left = HYDRA_DOCUMENTS_MAX,
                       .open = open_file,
                       .chosen = chosen,
                       .lost = lost,
                       .of = c };
    const struct value *defaults = value_member(own, "defaults");
    struct value *all = hydra_compose(&h, own);
    take_words(c, all, defaults && defaults->kind == VALUE_LIST ? defaults : NULL);
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
    struct composition c = { .r = r, .folder = "", .line = a->line };
    if (folder && folder->kind == VALUE_STRING)
        c.folder = folder->text;
    struct value *v =
        name && name->kind == VALUE_STRING ? compose(&c, name->text) : NULL;
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
