/* The hash by which a journal knows the sweep that it was written for. */
#include "base/fnv.h"
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

static uint64_t add(uint64_t h, const char *text)
{
    return fnv_add(fnv_add(h, text, text ? strlen(text) : 0), "\n", 1);
}

static uint64_t add_tree(uint64_t h, const json_t *tree)
{
    char *text =
        tree ? json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    h = add(h, text);
    free(text);
    return h;
}

uint64_t sweep_hash(const struct sweep *s)
{
    static const char *const keys[] = { "axes", "where", "keep", NULL };
    uint64_t h = add_tree(fnv_start, s->base);
    for (int i = 0; keys[i]; i++)
        h = add_tree(h, json_object_get(s->root.json, keys[i]));
    for (int64_t i = 0; i < s->outputs.n; i++)
        h = add(h, s->outputs.v[i]);
    return h;
}
