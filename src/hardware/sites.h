/* Sites: places for hosts below the switches of a fabric, numbered from 0. Neighbours
 * share a leaf. A cluster is on the first of them, or on those that "fabric_hosts"
 * names; clusters of several jobs are on sites of one fabric.
 *
 * A fabric whose jobs are all known has whole switches: a way up is that of all sites
 * below, used or not. A job alone has the part of it that is its hosts' own. */
#ifndef HARDWARE_SITES_H
#define HARDWARE_SITES_H

#include "base/err.h"
#include "hardware/cluster.h"

enum { FABRIC_SITES_MAX = 1 << 20 };

/* Hosts of a fabric that several clusters share. */
struct fabric_sites {
    int64_t n;
    const struct instance **hosts; /* [n] the host there, or one like the others */
    int32_t rails;                 /* NICs of a host, at most */
};

/* Reads "0-3,8-11" into the cluster's sites, one for each host. 0, or -1 after
 * reporting. */
int sites_read(struct cluster *c, struct cfg_loader *loader, struct cfg text);

/* The site of a host, in rank order. */
int64_t sites_of(const struct cluster *c, int64_t host);

/* The most that any host's site is, plus 1. */
int64_t sites_end(const struct cluster *c);

/* The next free sites after `from` for a cluster that names none. */
void sites_take(struct cluster *c, struct arena *arena, int64_t from);

/* Puts clusters on one fabric, that of the first: whole switches of its tiers. They
 * must be on sites of their own; -1 through err, with *which of them is not. The
 * result lives in the arena, and is what all of them share. */
int sites_share(struct cluster *const *clusters, int32_t n, struct arena *arena,
                int32_t *which, struct err *err);

/* Whether tiers of switches act: some way up is narrower than what comes from below, and
 * hosts of the cluster are below several leaves or rails. */
bool sites_tiers_act(const struct cluster *c);

/* Whether hosts of the cluster are below several switches of the topmost tier, so that
 * they talk over the core; also without tiers. */
bool sites_meet_core(const struct cluster *c);

#endif
