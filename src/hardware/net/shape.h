/* The links of one instance, as a template that every copy repeats. Private to net*.c.
 *
 * Vertices of a copy are numbered: GPUs, then the NVSwitch, PCIe switches, NUMA nodes,
 * NICs. Link ids are relative to the copy's first. */
#ifndef HARDWARE_NET_SHAPE_H
#define HARDWARE_NET_SHAPE_H

#include "hardware/net/tiers.h"

enum {
    SHAPE_NVSWITCH = INSTANCE_GPUS_MAX,
    SHAPE_PCIE,
    SHAPE_NUMA = SHAPE_PCIE + INSTANCE_SWITCHES_MAX,
    SHAPE_NIC = SHAPE_NUMA + INSTANCE_NUMA_MAX,
    SHAPE_END = SHAPE_NIC + INSTANCE_NICS_MAX,
    SHAPE_CORE = -1,
    SHAPE_LINKS_MAX = 2048,
};

/* A link and the one back: ids, -1 where there is none. */
struct shape_pair {
    int32_t out, in; /* away from the GPU or NIC, and towards it */
};

struct shape {
    const struct instance *instance;
    int32_t n_links;
    struct net_link links[SHAPE_LINKS_MAX];
    int32_t nvlink[INSTANCE_GPUS_MAX][INSTANCE_GPUS_MAX];
    struct shape_pair port[INSTANCE_GPUS_MAX]; /* GPU and NVSwitch */
    struct shape_pair pcie[INSTANCE_GPUS_MAX]; /* GPU and its switch or root */
    struct shape_pair uplink[INSTANCE_SWITCHES_MAX];
    struct shape_pair slot[INSTANCE_NICS_MAX]; /* NIC and its switch or root */
    struct shape_pair line[INSTANCE_NICS_MAX]; /* NIC and the core */
    int32_t socket[INSTANCE_NUMA_MAX][INSTANCE_NUMA_MAX];
    int32_t host[INSTANCE_NUMA_MAX];
};

/* Lays out the links of an instance; `outside` is the network, NULL for none. */
void shape_init(struct shape *s, const struct instance *inst,
                const struct fabric *outside);

/* A copy's shape, and the id of its first link. */
struct shape_place {
    const struct shape *shape;
    int32_t base;
};

/* The tiers of the net's switches. */
const struct net_tiers *shape_tiers(const struct net *net);

/* Where the links of a copy begin among those of the net. */
struct shape_place shape_place(const struct net *net, int64_t copy);

#endif
