#include "hardware/net/shape.h"

#include "base/xmalloc.h"
#include "hardware/sites.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* The copies of one group: neighbours in the numbering of copies and links. */
struct block {
    struct shape *shape;
    int64_t first_instance, n_instances;
    int64_t first_copy, n_copies;
    int32_t first_link;
};

struct net {
    struct cluster cluster;
    bool folded;
    struct block blocks[CLUSTER_GROUPS_MAX];
    int64_t n_copies;
    int32_t n_links;
    int32_t core; /* -1: none */
    struct net_tiers tiers;
    int32_t *copy_of; /* [instances] of a net with classes; NULL: one a group */
    struct net_link *links;
};

/* Numbers the classes that the block's instances have, in order of first use. */
static int64_t number_copies(struct net *net, const struct block *b, int32_t n_classes,
                             const int32_t *class_of)
{
    int32_t *number = xmalloc((size_t)n_classes * sizeof(*number));
    int32_t n = 0;

    for (int32_t k = 0; k < n_classes; k++)
        number[k] = -1;
    for (int64_t i = b->first_instance; i < b->first_instance + b->n_instances; i++) {
        int32_t k = class_of[i];

        assert(k >= 0 && k < n_classes);
        if (number[k] < 0)
            number[k] = n++;
        net->copy_of[i] = (int32_t)b->first_copy + number[k];
    }
    free(number);
    return n;
}

/* Lays out the blocks and counts the links, before any is made. */
static int64_t plan_blocks(struct net *net, int32_t n_classes, const int32_t *class_of)
{
    const struct cluster *c = &net->cluster;
    int64_t n_links = 0, instance = 0;

    for (int32_t i = 0; i < c->n_groups; i++) {
        struct block *b = &net->blocks[i];

        b->shape = xmalloc(sizeof(*b->shape));
        shape_init(b->shape, c->groups[i].instance, c->fabric);
        b->first_instance = instance;
        b->n_instances = c->groups[i].count;
        b->first_copy = net->n_copies;
        b->n_copies = net->copy_of  ? number_copies(net, b, n_classes, class_of)
                      : net->folded ? 1
                                    : b->n_instances;
        b->first_link = (int32_t)(n_links < NET_LINKS_MAX ? n_links : NET_LINKS_MAX);
        instance += b->n_instances;
        net->n_copies += b->n_copies;
        n_links += b->n_copies * b->shape->n_links;
    }
    return n_links;
}

static void copy_links(struct net *net, const struct block *b)
{
    struct net_link *to = net->links + b->first_link;

    for (int64_t copy = 0; copy < b->n_copies; copy++) {
        for (int32_t i = 0; i < b->shape->n_links; i++, to++) {
            *to = b->shape->links[i];
            to->copy = b->first_copy + copy;
        }
    }
}

/* The core carries what all nodes can send, over the oversubscription. */
static struct net_link core_link(const struct cluster *c)
{
    double line_Bps = 0;

    for (int64_t i = 0; c->shared && i < c->shared->n; i++)
        line_Bps += instance_network_Bps(c->shared->hosts[i]);
    for (int32_t i = 0; i < c->n_groups && !c->shared; i++)
        line_Bps +=
            (double)c->groups[i].count * instance_network_Bps(c->groups[i].instance);
    line_Bps /= c->fabric->oversubscription;
    return (struct net_link) {
        .kind = NET_CORE,
        .copy = -1,
        .from = SHAPE_CORE,
        .to = SHAPE_CORE,
        .line_Bps = line_Bps,
        .payload_Bps = line_Bps * c->fabric->efficiency,
    };
}

static struct net *make(const struct cluster *c, bool folded, int32_t n_classes,
                        const int32_t *class_of, struct err *err)
{
    const bool has_core = c->fabric && c->fabric->oversubscription > 1 &&
                          c->n_instances > 1 && sites_meet_core(c);
    struct net *net = xcalloc(1, sizeof(*net));

    net->cluster = *c;
    net->folded = folded;
    net->core = -1;
    if (n_classes > 1)
        net->copy_of = xmalloc((size_t)c->n_instances * sizeof(*net->copy_of));

    int64_t n_links = plan_blocks(net, n_classes, class_of);

    if (!folded && n_links <= NET_LINKS_MAX)
        n_links += net_tiers_plan(&net->tiers, c, (int32_t)n_links);
    n_links += has_core;
    if (n_links > NET_LINKS_MAX) {
        err_set(err,
                "%" PRId64 " instances have %" PRId64
                " links, too many to simulate one by one (at "
                "most %d; %s)",
                (int64_t)c->n_instances, (int64_t)n_links, NET_LINKS_MAX,
                sites_tiers_act(c) ? "leave out \"tiers\"" : "leave out --unfold");
        net_free(net);
        return NULL;
    }
    net->n_links = (int32_t)n_links;
    net->links = xcalloc((size_t)n_links, sizeof(*net->links));
    for (int32_t i = 0; i < c->n_groups; i++)
        copy_links(net, &net->blocks[i]);
    net_tiers_make(&net->tiers, c, net->links);
    if (has_core) {
        net->core = net->n_links - 1;
        net->links[net->core] = core_link(c);
    }
    return net;
}

struct net *net_new(const struct cluster *c, bool folded, struct err *err)
{
    return make(c, folded && !sites_tiers_act(c), 1, NULL, err);
}

struct net *net_new_classes(const struct cluster *c, int32_t n_classes,
                            const int32_t *class_of, struct err *err)
{
    return make(c, true, n_classes, class_of, err);
}

void net_free(struct net *net)
{
    if (!net)
        return;
    for (int32_t i = 0; i < net->cluster.n_groups; i++)
        free(net->blocks[i].shape);
    free(net->copy_of);
    free(net->links);
    free(net);
}

const struct cluster *net_cluster(const struct net *net)
{
    return &net->cluster;
}

bool net_is_folded(const struct net *net)
{
    return net->folded;
}

int32_t net_n_links(const struct net *net)
{
    return net->n_links;
}

const struct net_link *net_links(const struct net *net)
{
    return net->links;
}

static const struct block *block_of_copy(const struct net *net, int64_t copy)
{
    const struct block *b = net->blocks;

    assert(copy >= 0 && copy < net->n_copies);
    while (copy >= b->first_copy + b->n_copies)
        b++;
    return b;
}

static const struct block *block_of_instance(const struct net *net, int64_t instance)
{
    const struct block *b = net->blocks;

    assert(instance >= 0 && instance < net->cluster.n_instances);
    while (instance >= b->first_instance + b->n_instances)
        b++;
    return b;
}

int64_t net_copy(const struct net *net, int64_t instance)
{
    const struct block *b = block_of_instance(net, instance);

    if (net->copy_of)
        return net->copy_of[instance];
    return net->folded ? b->first_copy : b->first_copy + instance - b->first_instance;
}

const struct instance *net_instance(const struct net *net, int64_t copy)
{
    return block_of_copy(net, copy)->shape->instance;
}

struct shape_place shape_place(const struct net *net, int64_t copy)
{
    const struct block *b = block_of_copy(net, copy);
    int64_t base = b->first_link + (copy - b->first_copy) * b->shape->n_links;

    return (struct shape_place) { b->shape, (int32_t)base };
}

static int32_t link_id(struct shape_place p, int32_t relative)
{
    return relative < 0 ? -1 : p.base + relative;
}

int32_t net_port_out(const struct net *net, int64_t copy, int gpu)
{
    struct shape_place p = shape_place(net, copy);

    assert(gpu >= 0 && gpu < p.shape->instance->n_gpus);
    return link_id(p, p.shape->port[gpu].out);
}

int32_t net_port_in(const struct net *net, int64_t copy, int gpu)
{
    struct shape_place p = shape_place(net, copy);

    assert(gpu >= 0 && gpu < p.shape->instance->n_gpus);
    return link_id(p, p.shape->port[gpu].in);
}

int32_t net_nic_out(const struct net *net, int64_t copy, int nic)
{
    struct shape_place p = shape_place(net, copy);

    assert(nic >= 0 && nic < p.shape->instance->n_nics);
    return link_id(p, p.shape->line[nic].out);
}

int32_t net_nic_in(const struct net *net, int64_t copy, int nic)
{
    struct shape_place p = shape_place(net, copy);

    assert(nic >= 0 && nic < p.shape->instance->n_nics);
    return link_id(p, p.shape->line[nic].in);
}

int32_t net_core(const struct net *net)
{
    return net->core;
}

bool net_has_tiers(const struct net *net)
{
    return net->tiers.n > 0;
}

bool net_shares_switches(const struct net *net)
{
    return net->core >= 0 || net->tiers.n > 0;
}

const struct net_tiers *shape_tiers(const struct net *net)
{
    return &net->tiers;
}
