#include "config/cache.h"

#include "base/plain.h"

#include <string.h>

struct entry {
    struct entry *next;
    const char *kind, *name;
    const void *value;
    bool is_clean; /* nothing was reported when it was made */
};

static const struct entry *find(const struct cfg_loader *loader, const char *kind,
                                const char *name)
{
    const struct entry *e = loader->cache;
    while (e && (strcmp(e->kind, kind) != 0 || strcmp(e->name, name) != 0))
        e = e->next;
    return e;
}

bool cache_find(const struct cfg_loader *loader, const char *kind, const char *name,
                const void **value)
{
    const struct entry *e = find(loader, kind, name);
    if (e)
        *value = e->value;
    return e;
}

bool cache_holds(const struct cfg_loader *loader, const void *value)
{
    const struct entry *e = loader->cache;
    while (e && e->value != value)
        e = e->next;
    return e;
}

static struct entry *add(struct cfg_loader *loader, const char *kind, const char *name,
                         const void *value)
{
    struct entry *e = ARENA_NEW(&loader->arena, struct entry);

    e->next = loader->cache;
    e->kind = kind;
    e->name = arena_strdup(&loader->arena, name);
    e->value = value;
    loader->cache = e;
    return e;
}

void cache_add(struct cfg_loader *loader, const char *kind, const char *name,
               const void *value)
{
    add(loader, kind, name, value);
}

static const struct entry *get(struct cfg_loader *loader, const char *kind,
                               const char *name, struct cfg where, cache_make_fn *make)
{
    const struct diags *d = &loader->diags;
    int64_t reports = d->n_errors + d->n_warnings;
    const struct entry *known = find(loader, kind, name);
    if (known)
        return known;
    const void *value = make(loader, name, where);
    struct entry *made = add(loader, kind, name, value);
    made->is_clean = value && d->n_errors + d->n_warnings == reports;
    return made;
}

const void *cache_get(struct cfg_loader *loader, const char *kind, const char *name,
                      struct cfg where, cache_make_fn *make)
{
    if (loader->shared && !find(loader, kind, name)) {
        const struct entry *lent =
            get(loader->shared, kind, name, (struct cfg) { 0 }, make);
        if (lent->is_clean)
            return lent->value;
    }
    return get(loader, kind, name, where, make)->value;
}

const char *cache_basename(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    size_t n = strlen(base);

    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    char *plain = arena_strndup(arena, base, n);
    plain_make(plain); /* a file may be called anything */
    return plain;
}
