#include "cmd/collective_call.h"
#include "report/text/wrap.h"

#include "scenario/releases.h"
#include "scenario/versions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The GPUs of every host of a span's instance. */
static int set_gpus(struct coll_span *span, const struct cluster_group *g,
                    const uint8_t *gpus, int32_t n, struct err *err)
{
    const int32_t hosts = g->instance->n_hosts, each = g->gpus_per_instance / hosts;
    span->n_gpus = 0;
    for (int32_t k = 0; k < hosts; k++)
        for (int32_t i = 0; i < n; i++) {
            if (hosts > 1 && gpus[i] >= each)
                return err_set(err, "--gpus: %s has %d GPUs", g->instance->name, each);
            span->gpus[span->n_gpus++] = (uint8_t)(k * each + gpus[i]);
        }
    return 0;
}

/* --gpus over every instance. */
static int read_gpus(const char *text, const struct cluster *c,
                     struct coll_group *group, struct err *err)
{
    uint8_t gpus[INSTANCE_HOST_GPUS_MAX];
    int32_t n = 0;
    for (const char *at = text; at; at++) {
        char *end;
        long gpu = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || gpu < 0 ||
            gpu >= INSTANCE_HOST_GPUS_MAX)
            return err_set(err, "--gpus: \"%s\" is no list of GPUs (write 0,1,2)",
                           text);
        if (n == INSTANCE_HOST_GPUS_MAX)
            return err_set(err, "--gpus: more than %d GPUs", INSTANCE_HOST_GPUS_MAX);
        gpus[n++] = (uint8_t)gpu;
        at = end;
        if (!*at)
            break;
    }
    for (int32_t s = 0; s < group->n_spans; s++)
        if (set_gpus(&group->spans[s], &c->groups[s], gpus, n, err))
            return -1;
    return 0;
}

static int set_fabric(struct collective_call *w, const char *name)
{
    struct cfg where = cfg_from_tree(w->loader, "--fabric", json_string(name));
    w->cluster.fabric = fabric_get(w->loader, name, where);
    if (!w->cluster.fabric)
        return -1;
    if (fabric_is_inside(w->cluster.fabric))
        return err_set(w->err, "--fabric: %s joins the GPUs of a node, not nodes",
                       name);
    return 0;
}

static int set_quality(struct collective_call *w, const char *text)
{
    char *end;
    double share = strtod(text, &end);
    bool is_share = end != text && *end == '\0' && isfinite(share);
    struct cfg value = cfg_from_tree(w->loader, "--quality",
                                     is_share ? json_real(share) : json_string(text));
    return cluster_set_quality(&w->cluster, w->loader, value);
}

static void warn_of_version(struct collective_call *w)
{
    const char *v = w->args->nccl;
    const char *unsure =
        v && version_valid(v) ? release_unsure(&w->arena, "nccl", v) : NULL;
    if (unsure)
        report_linef(stderr, "warning: --nccl: %s", unsure);
}

int collective_prepare(struct collective_call *w)
{
    warn_of_version(w);
    if (collective_sizes_read(w->args->bytes, &w->sizes, w->err) ||
        cluster_parse(&w->cluster, w->loader, w->args->cluster))
        return -1;
    if (w->args->fabric && set_fabric(w, w->args->fabric))
        return -1;
    if (w->args->quality && w->cluster.n_instances > 1 &&
        set_quality(w, w->args->quality))
        return -1;
    w->group = coll_group_world(&w->cluster);
    if (w->args->gpus && read_gpus(w->args->gpus, &w->cluster, &w->group, w->err))
        return -1;
    if (w->args->gpus_per_thread > w->group.spans[0].n_gpus)
        return err_set(
            w->err, "--gpus-per-thread: %" PRId64 ", where %d GPUs of a node take part",
            w->args->gpus_per_thread, w->group.spans[0].n_gpus);
    w->net = net_new(&w->cluster, !w->args->unfold, w->err);
    return w->net ? 0 : -1;
}

bool collective_has_network(const struct collective_call *w)
{
    return w->cluster.n_instances > 1 && w->cluster.fabric;
}
