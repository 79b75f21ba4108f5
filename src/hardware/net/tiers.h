/* Leaf, spine and higher switches of a fabric as links: for each switch its way up to
 * the next tier, and down. Private to net*.c; of unfolded nets alone, since hosts at the
 * edge of a switch are unlike those inside it. */
#ifndef HARDWARE_NET_TIERS_H
#define HARDWARE_NET_TIERS_H

#include "hardware/net/net.h"

struct net_tiers {
    int32_t n; /* 0: the core alone */
    int32_t
        first[FABRIC_TIERS_MAX]; /* link of the tier's first switch, up; then down */
    int64_t switches[FABRIC_TIERS_MAX]; /* of each tier */
    int32_t rails;                      /* leaf switches a unit; 1 without rails */
};

/* Counts the links of a cluster's tiers, numbering them from `first` on; 0 of fabrics
 * whose tiers do not act. */
int64_t net_tiers_plan(struct net_tiers *t, const struct cluster *c, int32_t first);

/* Fills in the links. */
void net_tiers_make(const struct net_tiers *t, const struct cluster *c,
                    struct net_link *links);

/* A NIC of a cluster, by the site of the host that has it. */
struct net_port {
    int64_t site;
    int32_t rail; /* its number among the host's NICs */
};

/* The NIC nearest to a GPU of an instance of the cluster. */
struct net_port net_tiers_port(const struct cluster *c, int64_t instance, int gpu);

/* Appends the links from one port's leaf to the other's; returns how many (at most 2
 * FABRIC_TIERS_MAX). *top is whether they pass the topmost tier's ways up. */
int net_tiers_route(const struct net_tiers *t, const struct cluster *c,
                    struct net_port from, struct net_port to, int32_t *links,
                    bool *top);

/* "leaf 3 up", "tier 2 switch 0 down" into buf. */
char *net_tiers_text(const struct net_tiers *t, int32_t link, char *buf, int size);

#endif
