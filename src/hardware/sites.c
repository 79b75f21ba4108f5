#include "hardware/sites.h"

#include "base/xmalloc.h"
#include "hardware/domain.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reading -------------------------------------------------------------------------- */

/* A number of a list, past which *at goes; -1: there is none. */
static int64_t number(const char **at)
{
    int64_t n = 0;
    if (!isdigit((unsigned char)**at))
        return -1;
    for (; isdigit((unsigned char)**at); (*at)++)
        n = n < FABRIC_SITES_MAX ? n * 10 + (**at - '0') : n;
    return n;
}

static int not_a_list(struct cfg text)
{
    return cfg_error(text, DIAG_WRONG_TYPE,
                     "must be hosts of the fabric, numbers and ranges from 0 to %d "
                     "(write \"0-3,8-11\")",
                     FABRIC_SITES_MAX - 1);
}

/* "0-3,8-11" into the array; no more than `most`. The count, or -1 after reporting. */
static int64_t read_list(struct cfg text, const char *list, int32_t *sites,
                         int64_t most)
{
    int64_t n = 0;
    for (const char *at = list;; at++) {
        int64_t first = number(&at), last = first;
        if (first >= 0 && *at == '-') {
            at++;
            last = number(&at);
        }
        if (first < 0 || last < first || last >= FABRIC_SITES_MAX ||
            (*at && *at != ','))
            return not_a_list(text);
        for (int64_t site = first; site <= last; site++, n++)
            if (n < most)
                sites[n] = (int32_t)site;
        if (!*at)
            return n;
    }
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A site that is there twice; -1: none is. */
static int64_t repeated(const int32_t *sites, int64_t n)
{
    int32_t *sorted = xmalloc((size_t)n * sizeof(*sorted));
    int64_t found = -1;
    memcpy(sorted, sites, (size_t)n * sizeof(*sorted));
    qsort(sorted, (size_t)n, sizeof(*sorted), by_number);
    for (int64_t i = 1; i < n && found < 0; i++)
        if (sorted[i] == sorted[i - 1])
            found = sorted[i];
    free(sorted);
    return found;
}

int sites_read(struct cluster *c, struct cfg_loader *loader, struct cfg text)
{
    const char *list;
    if (cfg_string(text, &list))
        return -1;
    int32_t *sites = ARENA_ARRAY(&loader->arena, c->n_hosts, int32_t);
    const int64_t n = read_list(text, list, sites, c->n_hosts);
    if (n < 0)
        return -1;
    if (n != c->n_hosts)
        return cfg_error(text, DIAG_CONTRADICTION,
                         "names %" PRId64 " hosts of the fabric, and there are %" PRId64
                         " instances (name one for each)",
                         n, (int64_t)c->n_hosts);
    const int64_t twice = repeated(sites, n);
    if (twice >= 0)
        return cfg_error(text, DIAG_CONTRADICTION,
                         "names host %" PRId64 " twice (name each once)", twice);
    c->sites = sites;
    return 0;
}

/* Sites ---------------------------------------------------------------------------- */

int64_t sites_of(const struct cluster *c, int64_t host)
{
    return c->sites ? c->sites[host] : host;
}

int64_t sites_end(const struct cluster *c)
{
    int64_t end = 0;
    for (int64_t i = 0; i < c->n_hosts; i++)
        end = sites_of(c, i) >= end ? sites_of(c, i) + 1 : end;
    return end;
}

void sites_take(struct cluster *c, struct arena *arena, int64_t from)
{
    int32_t *sites = ARENA_ARRAY(arena, c->n_hosts, int32_t);
    for (int64_t i = 0; i < c->n_hosts; i++)
        sites[i] = (int32_t)(from + i);
    c->sites = sites;
}

/* Sharing -------------------------------------------------------------------------- */

static int put(struct fabric_sites *all, const struct cluster *c, struct err *err)
{
    int64_t host = 0;
    for (int32_t g = 0; g < c->n_groups; g++) {
        const struct cluster_group hosts = cluster_hosts(&c->groups[g]);
        all->rails =
            hosts.instance->n_nics > all->rails ? hosts.instance->n_nics : all->rails;
        for (int64_t k = 0; k < hosts.count; k++, host++) {
            const struct instance **at = &all->hosts[sites_of(c, host)];
            if (*at)
                return err_set(
                    err,
                    "host %" PRId64 " of the fabric is another job's, too "
                    "(\"fabric_hosts\" of their clusters say which are whose)",
                    sites_of(c, host));
            *at = hosts.instance;
        }
    }
    return 0;
}

int sites_share(struct cluster *const *clusters, int32_t n, struct arena *arena,
                int32_t *which, struct err *err)
{
    struct fabric_sites *all = ARENA_NEW(arena, struct fabric_sites);
    const struct fabric_tiers *tiers = &clusters[0]->fabric->tiers;
    const int64_t unit = tiers->n > 0 ? tiers->of[tiers->n - 1].hosts : 1;
    all->rails = 1;
    for (int32_t i = 0; i < n; i++)
        all->n = sites_end(clusters[i]) > all->n ? sites_end(clusters[i]) : all->n;
    all->n = (all->n + unit - 1) / unit * unit;
    *which = 0;
    if (all->n > FABRIC_SITES_MAX)
        return err_set(err, "the fabric has more than %d hosts", FABRIC_SITES_MAX);
    all->hosts = ARENA_ARRAY(arena, all->n, const struct instance *);
    for (; *which < n; ++*which)
        if (put(all, clusters[*which], err))
            return -1;
    const struct instance *like = cluster_hosts(&clusters[0]->groups[0]).instance;
    for (int64_t i = 0; i < all->n; i++)
        all->hosts[i] = all->hosts[i] ? all->hosts[i] : like;
    for (int32_t i = 0; i < n; i++)
        clusters[i]->shared = all;
    return 0;
}

/* What acts ------------------------------------------------------------------------ */

/* Whether all hosts of the cluster are below one switch over so many sites. */
static bool below_one(const struct cluster *c, int64_t hosts)
{
    if (!c->sites)
        return c->n_hosts <= hosts;
    for (int64_t i = 1; i < c->n_hosts; i++)
        if (c->sites[i] / hosts != c->sites[0] / hosts)
            return false;
    return true;
}

bool sites_tiers_act(const struct cluster *c)
{
    const struct fabric *f = c->fabric;
    bool narrow = false;
    if (!f || f->tiers.n == 0)
        return false;
    for (int32_t i = 0; i < f->tiers.n; i++)
        narrow |= f->tiers.of[i].oversubscription > 1;
    narrow |= f->oversubscription > 1;
    return narrow && (!below_one(c, f->tiers.of[0].hosts) || f->tiers.rails) &&
           c->n_hosts > 1;
}

bool sites_meet_core(const struct cluster *c)
{
    const struct fabric_tiers *t = &c->fabric->tiers;
    return t->n == 0 || !below_one(c, t->of[t->n - 1].hosts);
}
