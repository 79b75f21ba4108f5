#include "search/space/own.h"

#include "scenario/libraries.h"
#include "search/space/stacks.h"

static const char *const chosen[] = { "strategy", "degree", "offload", "comment",
                                      NULL };

void space_own_read(struct space_own *o, const json_t *parallelism,
                    const struct parallelism *read)
{
    const char *library = json_string_value(json_object_get(parallelism, "library"));
    *o = (struct space_own) { .sharding = json_object_get(parallelism, "sharding") };
    const char *strategy = json_string_value(json_object_get(o->sharding, "strategy"));
    if (!library || names_find(library_names, library, &o->library) < 0)
        o->library = (int)library_of(read)->library;
    if (!strategy || names_find(parallelism_sharding_names, strategy, &o->strategy) < 0)
        o->strategy = (int)read->shard.strategy;
    o->stages = json_integer_value(json_object_get(parallelism, "pipeline")) > 1;
}

const char *space_own_key(const struct space_own *o, int32_t n, const json_t **value)
{
    json_t *sharding = (json_t *)(uintptr_t)o->sharding;
    for (void *at = json_object_iter(sharding); at;
         at = json_object_iter_next(sharding, at)) {
        const char *key = json_object_iter_key(at);
        *value = json_object_iter_value(at);
        if (!names_listed(chosen, key) && n-- == 0)
            return key;
    }
    return NULL;
}

void space_own_put(const struct space *s, const struct space_point *p, json_t *sharding)
{
    const struct space_own *o = &s->own;
    const struct space_stack *stack = &space_stacks[p->v[SPACE_LIBRARY]];
    const json_t *value;
    const char *key;
    if ((int)stack->row->library != o->library ||
        (int)p->v[SPACE_SHARDING] != o->strategy ||
        (p->v[SPACE_PIPELINE] > 1) != o->stages)
        return;
    for (int32_t n = 0; (key = space_own_key(o, n, &value)) != NULL; n++)
        json_object_set_new(sharding, key, json_deep_copy(value));
}
