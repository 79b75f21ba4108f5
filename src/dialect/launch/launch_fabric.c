/* Lightning Fabric's starter, `fabric run` and once `lightning run model`: instances and
 * GPUs; strategy and precision are kept for the script, whose Fabric() leaves them to it
 * (lightning/fabric/cli.py, lightning 2.5). */
#include "dialect/launch/launch_starter.h"

#include "base/names.h"

#include <string.h>

const char *const launch_fabric_nodes[] = { "--num-nodes", NULL };
const char *const launch_fabric_devices[] = { "--devices", NULL };
const char *const launch_fabric_strategy[] = { "--strategy", NULL };
const char *const launch_fabric_precision[] = { "--precision", NULL };

/* "auto" and "-1" are all GPUs there are. */
static void take_devices(struct launch_context *t, const struct starter_line *l)
{
    static const char *const all[] = { "auto", "-1", NULL };
    static const char gpus_at[] = "/cluster/gpus_per_instance";
    struct starter_option g =
        launch_starter_find(l->w, l->at, l->end, launch_fabric_devices);
    bool known = g.name && g.value && !g.word->why;
    bool list = known && strchr(g.value, ',') && /* "0,1", and "0,", which is one */
                strspn(g.value, "0123456789, ") == strlen(g.value);
    int64_t n = list ? launch_devices_listed(g.value, strlen(g.value)) : 0;
    if (n > 0)
        launch_starter_set(t, gpus_at, &g, n);
    else if (!(known && names_listed(all, g.value)) &&
             !launch_starter_count(t, gpus_at, &g))
        launch_starter_one(t, gpus_at, "--devices' default", l->w[l->at].line);
}

/* Keeps an option's value for the script's Fabric(). */
static void keep(struct launch_context *t, struct value *to, const char *key,
                 const char *pointer, const struct starter_option *g)
{
    if (g->name && g->value && !g->word->why)
        value_add(t->arena, to, key, g->word->line,
                  value_new_string(t->arena, g->value, g->word->line, 0));
    else if (g->name)
        launch_add_unresolved(t, pointer, g->word->line, "fabric run: %s: %.80s",
                              g->name, g->word->why ? g->word->why : "has no value");
}

void launch_fabric_take(struct launch_context *t, const struct launch_command *c,
                        const struct starter_line *l)
{
    static const char count_at[] = "/cluster/count";
    struct starter_option n = launch_starter_find(l->w, l->at, l->end,
                                                  launch_fabric_nodes),
                          s = launch_starter_find(l->w, l->at, l->end,
                                                  launch_fabric_strategy),
                          p = launch_starter_find(l->w, l->at, l->end,
                                                  launch_fabric_precision);
    struct value *kept = value_new(t->arena, VALUE_DICT, l->w[l->at].line, 0);
    if (!launch_starter_count(t, count_at, &n))
        launch_starter_one(t, count_at, "--num-nodes' default", l->w[l->at].line);
    take_devices(t, l);
    keep(t, kept, "strategy", "/parallelism/library", &s);
    keep(t, kept, "precision", "/training/precision", &p);
    t->fabric = kept;
    (void)c;
}
