/* Parts of a configuration: sorting keys into them, and finding them there. */
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"

#include <string.h>

static const struct nemo_route *route_of(const struct nemo_route *routes,
                                         const char *path)
{
    const struct nemo_route *best = NULL;
    for (const struct nemo_route *r = routes; r->prefix; r++) {
        size_t len = strlen(r->prefix);
        if ((!best || len > strlen(best->prefix)) && strncmp(path, r->prefix, len) == 0)
            best = r;
    }
    return best;
}

void nemo_sort(struct nemo *n, const struct nemo_route *all, const struct value *flat)
{
    for (int i = 0; i < NEMO_PARTS; i++)
        n->part[i] = value_new(n->t->arena, VALUE_DICT, flat->line, 0);
    for (int32_t i = 0; i < flat->n; i++) {
        const struct value_item *it = &flat->items[i], *old;
        const struct nemo_route *r = route_of(all, it->key);
        enum nemo_part part = r ? r->part : NEMO_REST;
        const char *key = part == NEMO_REST ? it->key : it->key + strlen(r->prefix);
        key = strcmp(key, "@") == 0 ? "class" : key;
        struct value *in = n->part[part];
        if ((old = value_get(in, key)) != NULL)
            in->items[old - in->items] =
                (struct value_item) { key, it->line, it->value };
        else
            value_add(n->t->arena, in, key, it->line, it->value);
    }
}

const struct value_item *nemo_find(const struct nemo *n, enum nemo_part part,
                                   const char *name)
{
    const struct value_item *it = value_get(n->part[part], name);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

bool nemo_is_on(const struct nemo *n, enum nemo_part part, const char *name,
                bool otherwise)
{
    const struct value_item *it = nemo_find(n, part, name);
    launch_hear(n->t, it);
    return it ? launch_true(it->value) : otherwise;
}

const char *nemo_word(const struct nemo *n, enum nemo_part part, const char *name,
                      const char *otherwise)
{
    const struct value_item *it = nemo_find(n, part, name);
    return it && it->value->kind == VALUE_STRING ? it->value->text : otherwise;
}

void nemo_set(const struct nemo *n, const char *pointer, json_t *value,
              const struct value_item *it, const char *otherwise)
{
    launch_hear(n->t, it);
    if (!it || launch_has(n->t, pointer) || launch_is_unresolved(n->t, pointer))
        launch_assume(n->t, pointer, value, otherwise);
    else
        launch_set(n->t, pointer, value, it);
}

void nemo_take_offloaded_layers(const struct nemo *n)
{
    megatron_take_offloaded_layers(
        n->t, &(struct megatron_offload) {
                  .on = nemo_find(n, NEMO_MODEL, "cpu_offloading"),
                  .layers = nemo_find(n, NEMO_MODEL, "cpu_offloading_num_layers"),
                  .activations = nemo_find(n, NEMO_MODEL, "cpu_offloading_activations"),
                  .weights = nemo_find(n, NEMO_MODEL, "cpu_offloading_weights"),
              });
}
