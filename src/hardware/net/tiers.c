#include "hardware/net/tiers.h"

#include "hardware/domain.h"
#include "hardware/sites.h"

#include <inttypes.h>
#include <stdio.h>

static int32_t most_nics(const struct cluster *c)
{
    int32_t most = c->shared ? c->shared->rails : 1;
    for (int32_t i = 0; i < c->n_groups; i++) {
        int32_t n = domain_host(c->groups[i].instance)->n_nics;
        most = n > most ? n : most;
    }
    return most;
}

int64_t net_tiers_plan(struct net_tiers *t, const struct cluster *c, int32_t first)
{
    const struct fabric *f = c->fabric;
    int64_t links = 0;
    *t = (struct net_tiers) { .n = 0 };
    if (!sites_tiers_act(c))
        return 0;
    t->n = f->tiers.n;
    t->rails = f->tiers.rails ? most_nics(c) : 1;
    for (int32_t i = 0; i < t->n; i++) {
        const int64_t hosts = f->tiers.of[i].hosts;
        const int64_t all = c->shared ? c->shared->n : sites_end(c);
        t->first[i] = (int32_t)(first + links < NET_LINKS_MAX ? first + links : 0);
        t->switches[i] = (all + hosts - 1) / hosts * (i == 0 ? t->rails : 1);
        links += 2 * t->switches[i];
    }
    return links;
}

static int32_t switch_of(const struct net_tiers *t, const struct cluster *c,
                         int32_t tier, struct net_port at)
{
    int64_t unit = at.site / c->fabric->tiers.of[tier].hosts;
    return (int32_t)(tier == 0 ? unit * t->rails + at.rail % t->rails : unit);
}

/* A tier's ways up carry what the NICs below them send, over the oversubscription. */
static void add_nic(const struct net_tiers *t, const struct cluster *c,
                    struct net_port at, double line_Bps, struct net_link *links)
{
    for (int32_t i = 0; i < t->n; i++) {
        struct net_link *up = &links[t->first[i] + 2 * switch_of(t, c, i, at)];
        const double share_Bps = line_Bps / c->fabric->tiers.of[i].oversubscription;
        for (int k = 0; k < 2; k++) {
            up[k].line_Bps += share_Bps;
            up[k].payload_Bps += share_Bps * c->fabric->efficiency;
        }
    }
}

/* What the NICs of a host send goes up from its site. */
static void add_host(const struct net_tiers *t, const struct cluster *c, int64_t site,
                     const struct instance *host, struct net_link *links)
{
    for (int32_t n = 0; n < host->n_nics; n++)
        add_nic(t, c, (struct net_port) { site, n }, host->nics[n].line_Bps, links);
}

void net_tiers_make(const struct net_tiers *t, const struct cluster *c,
                    struct net_link *links)
{
    int64_t host = 0;
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t k = 0; k < 2 * t->switches[i]; k++)
            links[t->first[i] + k] = (struct net_link) {
                .kind = NET_TIER, .copy = -1, .from = -1, .to = -1
            };
    for (int64_t k = 0; t->n > 0 && c->shared && k < c->shared->n; k++)
        add_host(t, c, k, c->shared->hosts[k], links);
    for (int32_t g = 0; g < c->n_groups && t->n > 0 && !c->shared; g++) {
        const struct cluster_group hosts = cluster_hosts(&c->groups[g]);
        for (int64_t k = 0; k < hosts.count; k++, host++)
            add_host(t, c, sites_of(c, host), hosts.instance, links);
    }
}

struct net_port net_tiers_port(const struct cluster *c, int64_t instance, int gpu)
{
    const struct cluster_group *g = c->groups;
    int64_t before = 0;
    for (; instance >= g->count; g++) {
        instance -= g->count;
        before += g->count * g->instance->n_hosts;
    }
    const int32_t nics = g->instance->n_nics / g->instance->n_hosts;
    const int32_t nic = instance_nic_of_gpu(g->instance, gpu);
    const int64_t host = before + instance * g->instance->n_hosts + nic / nics;
    return (struct net_port) { sites_of(c, host), nic % nics };
}

int net_tiers_route(const struct net_tiers *t, const struct cluster *c,
                    struct net_port from, struct net_port to, int32_t *links, bool *top)
{
    int n = 0;
    int32_t i = 0;
    for (; i < t->n; i++) {
        const int32_t a = switch_of(t, c, i, from), b = switch_of(t, c, i, to);
        if (a == b)
            break;
        links[n++] = t->first[i] + 2 * a;
        links[n++] = t->first[i] + 2 * b + 1;
    }
    *top = i == t->n;
    return n;
}

char *net_tiers_text(const struct net_tiers *t, int32_t link, char *buf, int size)
{
    int32_t i = t->n - 1;
    while (i > 0 && link < t->first[i])
        i--;
    const int32_t k = link - t->first[i];
    const char *way = k % 2 ? "down" : "up";
    if (i == 0 && t->rails > 1)
        snprintf(buf, (size_t)size, "leaf %d rail %d %s", k / 2 / t->rails,
                 k / 2 % t->rails, way);
    else if (i == 0)
        snprintf(buf, (size_t)size, "leaf %d %s", k / 2, way);
    else
        snprintf(buf, (size_t)size, "tier %d switch %d %s", i + 1, k / 2, way);
    return buf;
}
