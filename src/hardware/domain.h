/* NVLink domains of several hosts: the GPUs of hosts that share NVSwitches, as the 18
 * trays of a GB200 NVL72 do. To the net, to collectives and to NCCL (which takes such a
 * domain for one node) it is one instance with the GPUs, NICs and NUMA nodes of all its
 * hosts. */
#ifndef HARDWARE_DOMAIN_H
#define HARDWARE_DOMAIN_H

#include "hardware/instance.h"

/* Reads "nvlink_domain" of an instance's file or of a cluster, {"gpus", "fabric"}, into
 * the host's domain_ members; an absent one leaves them. 0, or -1 after reporting. */
int domain_read(struct instance *host, struct cfg_loader *loader, struct cfg object);

/* How `count` hosts lie in domains: so many in each of so many domains, and the rest in
 * one more. Where the cluster says how large domains are, they are filled. Else there
 * are the fewest that divide the hosts evenly, as schedulers place blocks of a job,
 * unless these are less than half full. Without a domain: 1 host in each. */
struct domain_shape {
    int64_t hosts, domains, rest;
};

struct domain_shape domain_shape_of(const struct instance *host, int64_t count);

/* The instance that `hosts` hosts are, of each of which the first `gpus` GPUs are used;
 * in the arena. `hosts` x `gpus` is at most INSTANCE_GPUS_MAX. */
const struct instance *domain_make(struct arena *arena, const struct instance *host,
                                   int64_t hosts, int32_t gpus);

/* The host of which a domain is made, or the instance itself. */
const struct instance *domain_host(const struct instance *inst);

#endif
