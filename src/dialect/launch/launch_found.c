#include "dialect/launch/launch_found.h"

#include "base/hash.h"
#include "base/strbuf.h"

#include <inttypes.h>

enum { KEPT_MAX = 1 << 16 }; /* names; what else is asked for is looked for each time */

struct kept {
    const char *key;
    struct launch_found found;
    UT_hash_handle hh;
};

struct launch_finds {
    struct kept *map;
};

void launch_init_found(struct launch *l)
{
    l->finds = ARENA_NEW(&l->loader->arena, struct launch_finds);
}

void launch_release_found(struct launch *l)
{
    if (l->finds)
        HASH_CLEAR(hh, l->finds->map);
}

static struct kept *add(struct launch_finds *finds, struct arena *arena,
                        const char *key)
{
    struct kept *k = ARENA_NEW(arena, struct kept);
    k->key = arena_strdup(arena, key);
    k->found.arena = arena;
    HASH_ADD_KEYPTR(hh, finds->map, k->key, strlen(k->key), k);
    return k;
}

struct launch_found *launch_found(const struct launch *l, struct arena *arena,
                                  const char *program, const char *name)
{
    struct launch_finds *finds = l->finds;
    struct kept *k = NULL;
    struct strbuf key;
    strbuf_init(&key);
    /* a script started by another is next to files of its own, and may write some */
    strbuf_printf(&key, "%s\n%" PRId64 "\n%s\n%s", l->where, l->n_written,
                  program ? program : "", name);
    if (finds)
        HASH_FIND(hh, finds->map, strbuf_get(&key), key.len, k);
    if (finds && !k && HASH_COUNT(finds->map) < KEPT_MAX)
        k = add(finds, &l->loader->arena, strbuf_get(&key));
    strbuf_release(&key);
    if (k)
        return &k->found;
    struct launch_found *none = ARENA_NEW(arena, struct launch_found);
    none->arena = arena;
    return none;
}
