#include "hardware/cluster.h"

#include "base/units.h"

#include "hardware/domain.h"
#include "hardware/instance_own.h"
#include "hardware/sites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group_raw {
    const char *instance, *like; /* either */
    int64_t count, gpus;         /* 0: not given */
    struct instance_changes changes;
    struct cfg domain;
};

struct cluster_raw {
    struct group_raw group;
    struct cfg groups;
    const char *fabric;
    struct cfg quality;
    struct fabric_tiers_raw tiers;
    struct cfg sites;
};

/* The keys of a group; at the top level the same keys describe the only one. */
#define GROUP_ROWS(T, m)                                                    \
    CFG_STRING("instance", T, m instance), CFG_STRING("like", T, m like),   \
        CFG_INT("count", T, m count, 1, CLUSTER_INSTANCES_MAX),             \
        CFG_INT("gpus_per_instance", T, m gpus, 1, INSTANCE_HOST_GPUS_MAX), \
        CFG_CHILD("nvlink_domain", T, m domain), INSTANCE_CHANGES(T, m changes.)

/* What others call them. */
#define OTHER_NAMES                                                              \
    CFG_REFUSED("gpus", "write \"gpus_per_instance\" for how many are used"),    \
        CFG_REFUSED("num_gpus", "write \"gpus_per_instance\""),                  \
        CFG_REFUSED("gpus_per_node", "write \"gpus_per_instance\""),             \
        CFG_REFUSED("nodes", "write \"count\""),                                 \
        CFG_REFUSED("num_nodes", "write \"count\""),                             \
        CFG_REFUSED("bandwidth", "write \"network_bandwidth\", or \"nics\""),    \
        CFG_REFUSED("nvlink", "\"inside\" names what joins the GPUs of a node"), \
        CFG_REFUSED("nvlink_bandwidth",                                          \
                    "\"inside\" names what joins the GPUs of a node"),           \
        CFG_REFUSED("network", "write \"fabric\" for its kind, \"nics\" for "    \
                               "their number and rate"),                         \
        CFG_REFUSED("memory", "it is that of \"gpu\""),                          \
        CFG_REFUSED("cost", "write \"price\"")

static const struct cfg_field cluster_fields[] = {
    GROUP_ROWS(struct cluster_raw, group.),
    CFG_CHILD("groups", struct cluster_raw, groups),
    CFG_STRING("fabric", struct cluster_raw, fabric),
    CFG_CHILD("quality", struct cluster_raw, quality),
    FABRIC_TIER_KEYS(struct cluster_raw, tiers.),
    CFG_CHILD("fabric_hosts", struct cluster_raw, sites),
    OTHER_NAMES,
    CFG_END,
};

static const struct cfg_field group_fields[] = {
    GROUP_ROWS(struct group_raw, ),
    CFG_END,
};

/* The group's instance, with what the group changes of it. */
static const struct instance *instance_of(struct cfg_loader *loader, struct cfg object,
                                          const struct group_raw *raw)
{
    const char *name = raw->like ? raw->like : raw->instance;
    if (raw->like && raw->instance) {
        cfg_error(
            cfg_get(object, "like"), DIAG_CONTRADICTION,
            "give either \"instance\" or \"like\", not both (null leaves one out)");
        return NULL;
    }
    if (raw->like && instance_is_sagemaker(raw->like)) {
        cfg_error(cfg_get(object, "like"), DIAG_CONTRADICTION,
                  "a machine of one's own is none of SageMaker's (leave \"ml.\" out)");
        return NULL;
    }
    const struct instance *base =
        instance_get(loader, name, cfg_get(object, raw->like ? "like" : "instance"));
    const struct instance *own =
        base ? instance_own(loader, base, &raw->changes, raw->like != NULL, object)
             : NULL;
    if (!own || !cfg_present(raw->domain))
        return own;
    struct instance *joined = ARENA_NEW(&loader->arena, struct instance);
    *joined = *own;
    joined->domain_fixed = true;
    return domain_read(joined, loader, raw->domain) ? NULL : joined;
}

/* What is said of domains that nobody measured, and of those that are taken. */
static void warn_of_domains(const struct instance *domain,
                            const struct domain_shape *shape, int64_t hosts,
                            struct cfg object)
{
    const struct fabric *f = domain->inside;
    if (f->measured_gpus > 0 && domain->n_gpus > f->measured_gpus)
        cfg_warn(object, DIAG_UNMEASURED,
                 "%s was measured with up to %" PRId64
                 " GPUs: collectives over the %d of an NVLink domain are extrapolated",
                 f->name, f->measured_gpus, domain->n_gpus);
    if (domain->domain_fixed || shape->domains + (shape->rest > 0) == 1)
        return;
    cfg_warn(object, DIAG_ASSUMED,
             "the %" PRId64 " %s are taken for %" PRId64 " NVLink domains of %d GPUs%s "
             "(\"nvlink_domain\": {\"gpus\": ...} says otherwise)",
             hosts, domain->name, shape->domains, domain->n_gpus,
             shape->rest ? " and one of the rest" : "");
}

/* Hosts that NVLink joins become one instance; the rest of them a group of their own. */
static int join_hosts(struct cluster *c, struct cfg_loader *loader, struct cfg object)
{
    struct cluster_group *g = &c->groups[c->n_groups];
    const struct cluster_group hosts = *g;
    const struct domain_shape shape = domain_shape_of(g->instance, g->count);
    const int64_t many[] = { shape.hosts, shape.rest };
    if (shape.hosts <= 1)
        return 0;
    if (shape.rest && c->n_groups + 1 == CLUSTER_GROUPS_MAX)
        return cfg_error(object, DIAG_OUT_OF_RANGE,
                         "%" PRId64 " %s do not fill NVLink domains, and there are no "
                         "more groups for the rest (write a multiple of %" PRId64 ")",
                         (int64_t)hosts.count, hosts.instance->name, shape.hosts);
    for (int i = 0; i < 1 + (shape.rest > 0); i++)
        g[i] = (struct cluster_group) {
            .instance = domain_make(&loader->arena, hosts.instance, many[i],
                                    hosts.gpus_per_instance),
            .count = i ? 1 : shape.domains,
            .gpus_per_instance = (int32_t)many[i] * hosts.gpus_per_instance,
        };
    c->n_groups += shape.rest > 0;
    warn_of_domains(g->instance, &shape, hosts.count, object);
    return 0;
}

static int add_group(struct cluster *c, struct cfg_loader *loader, struct cfg object,
                     const struct group_raw *raw)
{
    struct cluster_group *g = &c->groups[c->n_groups];
    const char *name = raw->instance ? raw->instance : raw->like;

    if (c->n_groups == CLUSTER_GROUPS_MAX)
        return cfg_error(object, DIAG_OUT_OF_RANGE,
                         "more than %d groups, where NVLink domains that are not full "
                         "count as one more",
                         CLUSTER_GROUPS_MAX);
    if (!name)
        return cfg_error(object, DIAG_MISSING,
                         "\"instance\" is missing (write {\"instance\": "
                         "\"ml.p4d.24xlarge\", \"count\": 2}, or of a machine of your "
                         "own \"like\": a known instance next to what differs)");
    if (c->n_groups > 0 && instance_is_sagemaker(name) != c->sagemaker)
        return cfg_error(cfg_get(object, "instance"), DIAG_CONTRADICTION,
                         "either all instances begin with \"ml.\" or none");
    c->sagemaker = instance_is_sagemaker(name);
    g->instance = instance_of(loader, object, raw);
    if (!g->instance)
        return -1;
    g->count = raw->count ? raw->count : 1;
    g->gpus_per_instance = raw->gpus ? (int32_t)raw->gpus : g->instance->n_gpus;
    if (g->gpus_per_instance > g->instance->n_gpus)
        return cfg_error(cfg_get(object, "gpus_per_instance"), DIAG_OUT_OF_RANGE,
                         "%s has %d GPU%s (write 1 to %d)", g->instance->name,
                         g->instance->n_gpus, units_plural(g->instance->n_gpus),
                         g->instance->n_gpus);
    const int64_t hosts = g->count;
    const int32_t first = c->n_groups;
    if (join_hosts(c, loader, object))
        return -1;
    c->n_groups++;
    c->n_hosts += hosts;
    for (int32_t i = first; i < c->n_groups; i++) {
        c->n_instances += c->groups[i].count;
        c->n_gpus += c->groups[i].count * c->groups[i].gpus_per_instance;
    }
    return 0;
}

static int add_groups(struct cluster *c, struct cfg_loader *loader, struct cfg array)
{
    const int64_t n = cfg_len(array);

    if (!cfg_is_array(array) || n < 1 || n > CLUSTER_GROUPS_MAX)
        return cfg_error(array, DIAG_WRONG_TYPE,
                         "must be an array of 1 to %d groups "
                         "({\"instance\", \"count\"})",
                         CLUSTER_GROUPS_MAX);
    for (int64_t i = 0; i < n; i++) {
        struct group_raw raw = { 0 };

        if (instance_price_is_one(cfg_at(array, i)) ||
            cfg_read(cfg_at(array, i), group_fields, &raw) ||
            add_group(c, loader, cfg_at(array, i), &raw))
            return -1;
    }
    if (c->n_hosts > CLUSTER_INSTANCES_MAX)
        return cfg_error(array, DIAG_OUT_OF_RANGE,
                         "%" PRId64 " instances are too many (at most %d)",
                         (int64_t)c->n_hosts, CLUSTER_INSTANCES_MAX);
    return 0;
}

/* The network all groups share: the first's; sockets, where any group has no better. */
static const struct fabric *common_fabric(const struct cluster *c, struct cfg object)
{
    const struct fabric *f = c->groups[0].instance->outside;
    bool differ = false;

    for (int32_t i = 1; i < c->n_groups; i++) {
        const struct fabric *other = c->groups[i].instance->outside;

        differ = differ || other != f;
        if (f && other && other->kind == FABRIC_TCP)
            f = other;
    }
    if (differ && f)
        cfg_warn(object, DIAG_ASSUMED,
                 "the groups have different networks; %s is used between them "
                 "(\"fabric\" names another)",
                 f->name);
    return f;
}

static int check_nics(const struct cluster *c, struct cfg object)
{
    for (int32_t i = 0; i < c->n_groups && c->n_instances > 1; i++)
        if (c->groups[i].instance->n_nics == 0)
            return cfg_error(object, DIAG_UNSUPPORTED,
                             "%s has no network, so %" PRId64 " instances cannot reach "
                             "each other (use one)",
                             c->groups[i].instance->name, (int64_t)c->n_instances);
    return 0;
}

static int choose_fabric(struct cluster *c, struct cfg_loader *loader,
                         struct cfg object, const char *name)
{
    if (check_nics(c, object))
        return -1;
    if (!name) {
        c->fabric = common_fabric(c, object);
        if (!c->fabric && c->n_instances > 1)
            return cfg_error(object, DIAG_MISSING,
                             "nothing says what joins the instances (name it in "
                             "\"fabric\", e.g. \"efa-2024\")");
        return 0;
    }
    c->fabric = fabric_get(loader, name, cfg_get(object, "fabric"));
    if (!c->fabric)
        return -1;
    if (fabric_is_inside(c->fabric))
        return cfg_error(cfg_get(object, "fabric"), DIAG_UNSUPPORTED,
                         "%s joins the GPUs of a node, not nodes (write e.g. "
                         "\"efa-2024\")",
                         name);
    return 0;
}

/* The cluster's own copy of its fabric. */
static struct fabric *own_fabric(struct cluster *c, struct cfg_loader *loader)
{
    struct fabric *own = ARENA_NEW(&loader->arena, struct fabric);
    *own = *c->fabric;
    c->fabric = own;
    return own;
}

/* The fabric with the switches that the cluster says. */
static int change_tiers(struct cluster *c, struct cfg_loader *loader, struct cfg object)
{
    struct cfg first = { 0 };
    for (const char *const *key = fabric_tier_keys; *key; key++)
        if (!cfg_present(first))
            first = cfg_get(object, *key);
    if (!cfg_present(first))
        return 0;
    if (!c->fabric)
        return cfg_error(first, DIAG_UNSUPPORTED,
                         "switches are between instances, and these have no network "
                         "(leave it out)");
    return fabric_read_tiers(own_fabric(c, loader), object);
}

void cluster_in_steps(struct cluster *c, struct cfg_loader *loader)
{
    if (c->fabric && c->fabric->step_efficiency > 0) {
        struct fabric *own = own_fabric(c, loader);
        own->efficiency = own->step_efficiency;
    }
}

int cluster_set_quality(struct cluster *c, struct cfg_loader *loader, struct cfg value)
{
    if (!cfg_present(value))
        return 0;
    if (!c->fabric)
        return cfg_error(value, DIAG_UNSUPPORTED,
                         "it is that of the network, and these instances have none "
                         "(leave it out)");
    return fabric_set_quality(own_fabric(c, loader), value, c->n_instances);
}

/* The first key in addition to "groups" that says something of the only group; absent:
 * none. */
static struct cfg lone_key(struct cfg object)
{
    for (const struct cfg_field *f = group_fields; f->key; f++)
        if (cfg_present(cfg_get(object, f->key)))
            return cfg_get(object, f->key);
    return (struct cfg) { 0 };
}

int cluster_read(struct cluster *c, struct cfg_loader *loader, struct cfg object)
{
    struct cluster_raw raw = { 0 };
    int rc;

    *c = (struct cluster) { 0 };
    if (instance_price_is_one(object) || cfg_read(object, cluster_fields, &raw))
        return -1;
    if (!cfg_present(raw.groups))
        rc = add_group(c, loader, object, &raw.group);
    else if (cfg_present(lone_key(object)))
        rc =
            cfg_error_key(lone_key(object), DIAG_CONTRADICTION,
                          "describes the only group, and there are \"groups\" (move it "
                          "into one of them, or leave it out)");
    else
        rc = add_groups(c, loader, raw.groups);
    if (rc || choose_fabric(c, loader, object, raw.fabric))
        return -1;
    if (change_tiers(c, loader, object) ||
        (cfg_present(raw.sites) && sites_read(c, loader, raw.sites)))
        return -1;
    return cluster_set_quality(c, loader, raw.quality);
}

const struct instance *cluster_instance(struct cfg_loader *loader, struct cfg object)
{
    struct cluster_raw raw = { 0 };
    if (instance_price_is_one(object) || cfg_read(object, cluster_fields, &raw))
        return NULL;
    return instance_of(loader, object, &raw.group);
}

int cluster_parse(struct cluster *c, struct cfg_loader *loader, const char *spec)
{
    const char *colon = strrchr(spec, ':');
    int64_t count = 1;

    if (colon) {
        char *end;

        errno = 0;
        count = strtoll(colon + 1, &end, 10);
        if (end == colon + 1 || *end || errno || count < 1 ||
            count > CLUSTER_INSTANCES_MAX) {
            diags_error(&loader->diags, DIAG_WRONG_TYPE,
                        "%s: the number of instances must be an integer from 1 to %d "
                        "(write \"p4d.24xlarge:2\")",
                        spec, CLUSTER_INSTANCES_MAX);
            return -1;
        }
    }

    size_t len = colon ? (size_t)(colon - spec) : strlen(spec);
    json_t *tree =
        json_pack("{s:s%, s:I}", "instance", spec, len, "count", (json_int_t)count);

    if (!tree) { /* the name is not UTF-8 */
        diags_error(&loader->diags, DIAG_WRONG_TYPE,
                    "the name of the instance is not readable text");
        return -1;
    }
    return cluster_read(c, loader, cfg_from_tree(loader, spec, tree));
}

struct cluster_group cluster_hosts(const struct cluster_group *g)
{
    return (struct cluster_group) {
        .instance = domain_host(g->instance),
        .count = g->count * g->instance->n_hosts,
        .gpus_per_instance = g->gpus_per_instance / g->instance->n_hosts,
    };
}

char *cluster_group_text(const struct cluster *c, int32_t group, char *buf, int size)
{
    const struct cluster_group g = cluster_hosts(&c->groups[group]);
    snprintf(buf, (size_t)size, "%" PRId64 " x %s%s", (int64_t)g.count,
             c->sagemaker ? "ml." : "", g.instance->name);
    return buf;
}

bool cluster_is_uniform(const struct cluster *c)
{
    return c->n_groups == 1;
}

int cluster_price(const struct cluster *c, double *usd_per_hour, const char **date,
                  const char **missing)
{
    const char *service = c->sagemaker ? "sagemaker" : "ec2";
    double sum = 0;

    *date = NULL;
    for (int32_t i = 0; i < c->n_groups; i++) {
        const struct cluster_group *g = &c->groups[i];
        const struct instance_price *p = instance_price_newest(g->instance, service);

        if (!p) {
            *missing = g->instance->name;
            return -1;
        }
        sum += (double)g->count * p->usd_per_hour;
        if (!*date || strcmp(p->date, *date) < 0)
            *date = p->date;
    }
    *usd_per_hour = sum;
    return 0;
}
