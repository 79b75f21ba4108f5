#include "config/cache.h"

#include <string.h>

struct entry {
    struct entry *next;
    const char *kind, *name;
    const void *value;
};

bool cache_find(const struct cfg_loader *loader, const char *kind, const char *name,
                const void **value)
{
    for (const struct entry *e = loader->cache; e; e = e->next) {
        if (strcmp(e->kind, kind) == 0 && strcmp(e->name, name) == 0) {
            *value = e->value;
            return true;
        }
    }
    return false;
}

void cache_add(struct cfg_loader *loader, const char *kind, const char *name,
               const void *value)
{
    struct entry *e = ARENA_NEW(&loader->arena, struct entry);

    e->next = loader->cache;
    e->kind = kind;
    e->name = arena_strdup(&loader->arena, name);
    e->value = value;
    loader->cache = e;
}

const char *cache_basename(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    size_t n = strlen(base);

    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    return arena_strndup(arena, base, n);
}
