#include "search/plan/cluster.h"

#include "hardware/instance_own.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int add_instance(struct plan_job *job, const char *name)
{
    struct space *s = &job->space;
    for (int32_t i = 0; i < s->n_instances; i++)
        if (strcmp(s->instances[i].name, name) == 0)
            return 0;
    if (s->n_instances == SPACE_INSTANCES_MAX) {
        diags_error(&job->loader->diags, DIAG_OUT_OF_RANGE, "--instance: more than %d",
                    SPACE_INSTANCES_MAX);
        return -1;
    }
    json_t *tree = json_pack("{s:s}", "instance", name);
    if (!tree) {
        diags_error(&job->loader->diags, DIAG_WRONG_TYPE,
                    "--instance: the name is not readable text");
        return -1;
    }
    struct cfg where =
        cfg_get(cfg_from_tree(job->loader, "--instance", tree), "instance");
    const struct instance *instance = instance_get(job->loader, name, where);
    if (!instance)
        return -1;
    s->instances[s->n_instances++] =
        (struct space_instance) { .name = name, .instance = instance };
    return 0;
}

int plan_read_instances(struct plan_job *job, const char *list)
{
    char *words = arena_strdup(&job->loader->arena, list), *save = NULL;
    int rc = 0;
    for (char *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save))
        rc |= add_instance(job, w);
    if (rc == 0 && job->space.n_instances == 0) {
        diags_error(&job->loader->diags, DIAG_MISSING, "--instance: names none");
        rc = -1;
    }
    return rc;
}

/* Groups that are taken as they are. Bounds are those of the largest GPU. */
static void take_groups(struct plan_job *job, const struct cluster *c, json_t *at)
{
    struct arena *arena = &job->loader->arena;
    struct space_instance *x = &job->space.instances[0];
    const char *text = "", *date, *missing;
    for (int32_t i = 0; i < c->n_groups; i++) {
        const struct cluster_group hosts = cluster_hosts(&c->groups[i]), *g = &hosts;
        text = arena_printf(arena, "%s%s%" PRId64 " x %s%s", text, i ? " + " : "",
                            (int64_t)g->count, c->sagemaker ? "ml." : "",
                            g->instance->name);
        if (g->instance->gpu->memory_B > x->instance->gpu->memory_B)
            x->instance = g->instance;
    }
    job->cluster = at;
    job->cluster_text = text;
    if (cluster_price(c, &job->cluster_usd, &date, &missing))
        job->cluster_usd = (double)NAN;
    job->space.fixed_world = c->n_gpus;
}

static bool has_changes(const json_t *cluster)
{
    bool any = json_object_get(cluster, "like") != NULL;
    for (const char *const *key = instance_change_keys; *key; key++)
        any |= json_object_get(cluster, *key) != NULL;
    return any;
}

/* What --set says of the machines holds of each that --instance names. The scenario's own
 * changes are of the machine that it names. */
int plan_change_instances(struct plan_job *job, bool given, json_t *base)
{
    json_t *at = json_object_get(base, "cluster");
    if (!has_changes(at))
        return 0;
    if (given) {
        diags_warn(
            &job->loader->diags, DIAG_WITHOUT_EFFECT,
            "--instance: what the scenario's cluster changes of its machine (gpu, "
            "nics, price, ...) is left out");
        return 0;
    }
    for (int32_t i = 0; i < job->space.n_instances; i++) {
        struct space_instance *x = &job->space.instances[i];
        json_t *tree = json_copy(at);
        json_object_set_new(tree, "instance", json_string(x->name));
        x->instance =
            cluster_instance(job->loader, cfg_from_tree(job->loader, "--set", tree));
        if (!x->instance)
            return -1;
        x->own = at;
    }
    return 0;
}

/* The cluster of the scenario: one kind of instance, or groups. */
int plan_take_cluster(struct plan_job *job, const struct scenario *s, json_t *base)
{
    const struct cluster *c = &s->cluster;
    struct space *space = &job->space;
    struct arena *arena = &job->loader->arena;
    const struct cluster_group hosts = cluster_hosts(&c->groups[0]), *g = &hosts;
    const char *name =
        arena_printf(arena, "%s%s", c->sagemaker ? "ml." : "", g->instance->name);
    json_t *at = json_object_get(base, "cluster");
    const char *written = json_string_value(json_object_get(at, "instance"));
    space->n_instances = 1;
    space->instances[0] = (struct space_instance) {
        .name = written ? arena_strdup(arena, written) : name,
        .instance = g->instance,
        .own = c->n_groups == 1 && has_changes(at) ? at : NULL,
    };
    job->fabric = c->fabric;
    job->sites = c->sites;
    job->n_sites = c->n_hosts;
    if (c->n_groups > 1)
        take_groups(job, c, at);
    const int64_t v[2] = { c->n_groups > 1 ? c->n_hosts : g->count,
                           g->gpus_per_instance };
    for (int i = 0; i < 2; i++) {
        enum space_field f = i ? SPACE_GPUS : SPACE_COUNT;
        space->values[f] = ARENA_ARRAY(arena, 1, int64_t);
        space->values[f][0] = v[i];
        space->n[f] = 1;
    }
    return 0;
}

int plan_read_count(struct plan_job *job, const char *count)
{
    char *text = arena_printf(&job->loader->arena, "count=%s", count);
    int rc = space_allow(&job->space, &job->loader->arena, &job->loader->diags,
                         "--count", text, false);
    job->space.given[SPACE_COUNT] = false; /* --fix may narrow it */
    return rc;
}
