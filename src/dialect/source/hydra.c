#include "dialect/source/hydra.h"

#include "dialect/source/yaml.h"

#include <string.h>

/* Dictionaries ----------------------------------------------------------------------- */

void hydra_put(struct arena *arena, struct value *dict, const char *key,
               struct value *v)
{
    const struct value_item *it = value_get(dict, key);
    if (it)
        dict->items[it - dict->items].value = v;
    else
        value_add(arena, dict, key, v->line, v);
}

static void merge(struct arena *arena, struct value *to, const struct value *from,
                  int deep)
{
    for (int32_t i = 0; i < from->n; i++) {
        const struct value_item *it = &from->items[i], *old = value_get(to, it->key);
        bool both = old && old->value->kind == VALUE_DICT &&
                    it->value->kind == VALUE_DICT && deep < YAML_DEPTH_MAX;
        if (both)
            merge(arena, to->items[old - to->items].value, it->value, deep + 1);
        else
            hydra_put(arena, to, it->key, it->value);
    }
}

void hydra_merge(struct arena *arena, struct value *to, const struct value *from)
{
    merge(arena, to, from, 0);
}

struct value *hydra_at(struct arena *arena, struct value *root, const char *path,
                       int64_t line)
{
    for (int deep = 0; *path && deep < YAML_DEPTH_MAX; deep++) {
        size_t n = strcspn(path, "./");
        const char *key = arena_strndup(arena, path, n);
        const struct value_item *it = value_get(root, key);
        struct value *next = it && it->value->kind == VALUE_DICT
                                 ? it->value
                                 : value_new(arena, VALUE_DICT, line, 0);
        if (n)
            hydra_put(arena, root, key, next);
        root = n ? next : root;
        path += n + (path[n] != '\0');
    }
    return root;
}

const char *hydra_package(struct arena *arena, const char *text)
{
    static const char mark[] = "@package";
    while (*text == '#' || *text == '\n' || *text == '\r') {
        size_t n = strcspn(text, "\n");
        const char *at = text + strspn(text, "# \t");
        if (strncmp(at, mark, sizeof(mark) - 1) == 0) {
            at += sizeof(mark) - 1;
            at += strspn(at, " \t:");
            return arena_strndup(arena, at, strcspn(at, " \t\r\n"));
        }
        text += n + (text[n] == '\n');
    }
    return NULL;
}

/* Names ------------------------------------------------------------------------------ */

/* Where a document is: what its names are relative to, and where its values go. */
struct place {
    const char *folder, *package;
};

static const char *joined(struct hydra *h, const char *a, const char *b, char with)
{
    return *a && *b ? arena_printf(h->arena, "%.200s%c%.200s", a, with, b)
                    : arena_strdup(h->arena, *a ? a : b);
}

/* "a/b" of "a/b/c"; "" of "c". */
static const char *folder_of(struct hydra *h, const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? arena_strndup(h->arena, name, (size_t)(slash - name)) : "";
}

static bool is_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* A package as it is written: "_global_" is the root, "_group_" the document's folder. */
static const char *package_of(struct hydra *h, const char *word, const char *folder)
{
    if (strcmp(word, "_global_") == 0)
        return "";
    return strncmp(word, "_group_", 7) == 0 ? folder : arena_strdup(h->arena, word);
}

/* Documents -------------------------------------------------------------------------- */

static void put_document(struct hydra *h, struct value *root, struct value *own,
                         const struct place *at);

/* The document of a name, from the folder of the one that names it or from the root; its
 * folder goes to *folder. */
static struct value *load(struct hydra *h, const char *name, const struct place *at,
                          const char **folder, const char **package)
{
    const char *own = *name == '/' ? name + 1 : joined(h, at->folder, name, '/');
    const char *const tries[] = { own, *name == '/' ? own : name };
    for (int i = 0; i < 2; i++) {
        const char *file =
            is_file(tries[i]) ? tries[i] : arena_printf(h->arena, "%s.yaml", tries[i]);
        struct value *v = (i == 0 || strcmp(tries[0], tries[1]) != 0) && h->left-- > 0
                              ? h->open(h->of, h->line, file, package)
                              : NULL;
        *folder = folder_of(h, tries[i]);
        if (v)
            return v;
    }
    if (!h->optional)
        h->lost(h->of, h->line, name);
    return NULL;
}

/* What a document would have said is not known, where nothing else says it. */
static void put_unknown(struct hydra *h, struct value *root, const char *package,
                        const char *name)
{
    const char *last = package;
    for (const char *c = package; *c; c++)
        if (*c == '.' || *c == '/')
            last = c + 1;
    size_t n = last > package ? (size_t)(last - package - 1) : 0;
    struct value *to =
        hydra_at(h->arena, root, arena_strndup(h->arena, package, n), h->line);
    if (*last && !value_get(to, last))
        hydra_put(h->arena, to, last,
                  value_new_unknown(h->arena, h->line, 0,
                                    "%.100s of the defaults was not found", name));
}

/* One document by its name, put at `package` unless its head names another. */
static void take(struct hydra *h, struct value *root, const char *name,
                 const struct place *at, const char *package)
{
    const char *head = NULL, *folder;
    struct value *v =
        h->deep < HYDRA_DEPTH_MAX ? load(h, name, at, &folder, &head) : NULL;
    if (!v && h->optional)
        return;
    if (!v) {
        put_unknown(h, root, package, name);
        return;
    }
    h->optional = false; /* what it names itself is not */
    const struct place place = { folder, head ? package_of(h, head, folder) : package };
    h->deep++;
    put_document(h, root, v, &place);
    h->deep--;
}

static bool skip(const char **text, const char *word)
{
    size_t n = strlen(word);
    bool has = strncmp(*text, word, n) == 0;
    *text += has ? n : 0;
    return has;
}

/* An option of a group: "db: mysql", "override db@here: mysql". */
static void take_option(struct hydra *h, struct value *root, const char *group,
                        const char *option, const struct place *at)
{
    h->optional = skip(&group, "optional ");
    skip(&group, "override ");
    const char *mark = strchr(group, '@'),
               *key = mark ? arena_strndup(h->arena, group, (size_t)(mark - group))
                           : group,
               *plain = key + (*key == '/'),
               *picked = h->chosen ? h->chosen(h->of, key) : NULL;
    const char *base = *key == '/' ? "" : at->package;
    if (strncmp(plain, "hydra/", 6) == 0 || strcmp(plain, "hydra") == 0 ||
        strcmp(option, "null") == 0)
        return;
    const char *package =
        !mark                             ? joined(h, base, plain, '.')
        : strcmp(mark + 1, "_here_") == 0 ? at->package
        : strncmp(mark + 1, "_global_", 8) == 0
            ? package_of(h, mark[9] == '.' ? mark + 10 : "_global_", "")
            : joined(h, base, mark + 1, '.');
    take(h, root, joined(h, key, picked ? picked : option, '/'), at, package);
    h->optional = false;
}

/* A name alone: its folder is its package, but of a file's name. */
static void take_name(struct hydra *h, struct value *root, const char *name,
                      const struct place *at)
{
    const char *base = *name == '/' ? "" : at->package;
    const char *folder = folder_of(h, name + (*name == '/'));
    take(h, root, name, at, is_file(name) ? base : joined(h, base, folder, '.'));
}

static void take_entry(struct hydra *h, struct value *root, const struct value *d,
                       const struct place *at)
{
    if (d->kind == VALUE_STRING)
        take_name(h, root, d->text, at);
    for (int32_t i = 0; d->kind == VALUE_DICT && i < d->n; i++) {
        const struct value *o = d->items[i].value;
        for (int32_t k = 0; o->kind == VALUE_LIST && k < o->n; k++)
            if (o->items[k].value->kind == VALUE_STRING)
                take_option(h, root, d->items[i].key, o->items[k].value->text, at);
        if (o->kind == VALUE_STRING)
            take_option(h, root, d->items[i].key, o->text, at);
    }
}

static bool is_self(const struct value *d)
{
    return d->kind == VALUE_STRING && strcmp(d->text, "_self_") == 0;
}

static void put_document(struct hydra *h, struct value *root, struct value *own,
                         const struct place *at)
{
    const struct value_item *list = value_get(own, "defaults");
    const struct value *defaults = list ? list->value : NULL;
    bool taken = false, first = h->deep == 0;
    if (list)
        value_remove(own, (int32_t)(list - own->items));
    if (defaults && defaults->kind == VALUE_STRING)
        take_entry(h, root, defaults, at);
    for (int32_t i = 0; defaults && defaults->kind == VALUE_LIST && i < defaults->n;
         i++) {
        const struct value *d = defaults->items[i].value;
        if (first && h->follows)
            h->line = d->line;
        if (!is_self(d)) {
            take_entry(h, root, d, at);
            continue;
        }
        hydra_merge(h->arena, hydra_at(h->arena, root, at->package, h->line), own);
        taken = true;
    }
    if (!taken)
        hydra_merge(h->arena, hydra_at(h->arena, root, at->package, h->line), own);
}

struct value *hydra_compose(struct hydra *h, struct value *own)
{
    struct value *all = value_new(h->arena, VALUE_DICT, own->line, 0);
    const struct place root = { "", "" };
    put_document(h, all, own, &root);
    return all;
}
