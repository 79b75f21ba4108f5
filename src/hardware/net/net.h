/* The cluster as a graph of directed links, for the fluid network and for routes.
 *
 *   GPU --NVLink--> GPU                       cube mesh: one link pair per wired pair
 *   GPU --port--> NVSwitch --port--> GPU
 *   GPU --PCIe--> switch --uplink--> host --memory
 *   switch or host --PCIe--> NIC --line--> [leaf .. spine -->] core --line--> NIC
 *
 * Every link carries both its line rate and its payload capacity (line rate times the
 * fabric's efficiency, all parallel links of a pair together). A NIC's payload includes
 * host staging where the fabric lacks GPUDirect: it is that of GPU traffic.
 *
 * Folded, each group of the cluster is present once: the copy represents all, the
 * neighbour's receive links are the copy's own receive links, and traffic must be
 * counted in full by whoever uses it: the core's capacity is that of the whole cluster.
 * Unfolded, every instance is there, and building is linear in instances. */
#ifndef HARDWARE_NET_NET_H
#define HARDWARE_NET_NET_H

#include "base/err.h"
#include "hardware/cluster.h"

enum net_kind {
    NET_NVLINK, /* GPU to GPU by wire, or GPU to NVSwitch and back */
    NET_PCIE,   /* GPU or NIC to its switch or host, and back */
    NET_UPLINK, /* PCIe switch to host bridge, and back */
    NET_SOCKET, /* between NUMA nodes */
    NET_HOST,   /* host memory traffic, one per NUMA node */
    NET_NIC,    /* NIC to core, core to NIC */
    NET_TIER,   /* a leaf's or spine's way up to the next tier of switches, or down */
    NET_CORE,   /* the fabric's core, shared by all; only when oversubscribed */
    NET_KINDS
};

struct net_link {
    enum net_kind kind;
    int64_t copy;     /* instance copy it belongs to; -1: the core */
    int16_t from, to; /* vertices of that copy, see net_vertex_text; -1: the core */
    double line_Bps;
    double payload_Bps; /* what collectives and copies can use of it */
    double latency_s;
};

struct net; /* private; borrows the cluster's instances and fabric */

/* Largest unfolded net: links beyond NET_LINKS_MAX are refused through err. */
enum { NET_LINKS_MAX = 1 << 24 };

/* Where tiers of switches act (sites_tiers_act), folded or not: every instance is
 * there. */
struct net *net_new(const struct cluster *c, bool folded, struct err *err);

/* Folded, with a copy of a group for each class of its instances (those whose GPUs do
 * different work carry different traffic): class_of[instance], from 0; borrowed for the
 * call. O(instances). Classes that no instance of a group has cost nothing. */
struct net *net_new_classes(const struct cluster *c, int32_t n_classes,
                            const int32_t *class_of, struct err *err);
void net_free(struct net *net);

/* What it was made of; its links, by id, in net_n_links. */
const struct cluster *net_cluster(const struct net *net);
bool net_is_folded(const struct net *net);
int32_t net_n_links(const struct net *net);
const struct net_link *net_links(const struct net *net);

/* The copy that represents an instance of the cluster (0..n_instances-1). */
int64_t net_copy(const struct net *net, int64_t instance);
const struct instance *net_instance(const struct net *net, int64_t copy);

/* Link ids. -1 when there is no such link. */
int32_t net_port_out(const struct net *net, int64_t copy, int gpu); /* to NVSwitch */
int32_t net_port_in(const struct net *net, int64_t copy, int gpu);
int32_t net_nic_out(const struct net *net, int64_t copy, int nic);
int32_t net_nic_in(const struct net *net, int64_t copy, int nic);
int32_t net_core(const struct net *net);

/* Whether links beyond the NICs, which groups elsewhere load too, may be the slowest. */
bool net_shares_switches(const struct net *net);

/* Whether tiers of switches are there, so that it matters which instances talk. */
bool net_has_tiers(const struct net *net);

/* Links from one GPU to another, in order: by NVLink or switch where wired, else
 * through PCIe and the host; between instances through the nearest NICs. Returns the
 * number of links written (at most NET_ROUTE_MAX), or -1 when there is no path. In a
 * folded net two instances of one group have the same copy: pass different instances.
 * No link appears twice. Bytes written to host memory and read again pass NET_HOST
 * once. */
enum { NET_ROUTE_MAX = 24 };
int net_route(const struct net *net, int64_t instance_a, int gpu_a, int64_t instance_b,
              int gpu_b, int32_t links[NET_ROUTE_MAX]);

/* Links of a copy between a GPU and its host's memory, one direction. */
int net_route_host(const struct net *net, int64_t copy, int gpu, bool to_host,
                   int32_t links[NET_ROUTE_MAX]);

/* "gpu3", "nvswitch", "pcie0", "host1", "nic2", "core" into buf. */
char *net_vertex_text(int vertex, char *buf, int size);

/* "p4d.24xlarge[1]: gpu3 -> nvswitch" into buf. */
char *net_link_text(const struct net *net, int32_t link, char *buf, int size);

#endif
