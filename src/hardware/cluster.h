/* A cluster: one or several groups of equal instances, in rank order: the GPUs of
 * instance 0 first, then those of instance 1, and so on through the groups.
 *
 * Files of this folder:
 *     gpu, dtype                       GPUs and number formats
 *     fabric, fabric_law, nccl_limits:
 *         what carries bytes, and what algorithms cost over it
 *     instance, wiring, cluster        instances, their wires, groups of them
 *     instance_own                     a known instance with changes
 *     domain                           hosts that NVLink joins to one instance
 *     sites                            which hosts of a fabric clusters are
 *     net/                             the cluster as directed links; routes
 *     import/, nccl_tree               instances from NCCL's XML and nvidia-smi topo -m
 *     instance_write                   instance files written */
#ifndef HARDWARE_CLUSTER_H
#define HARDWARE_CLUSTER_H

#include "hardware/instance.h"

enum { CLUSTER_GROUPS_MAX = 8, CLUSTER_INSTANCES_MAX = 1 << 20 };

/* The instance of a group is a host or, where NVLink joins several (hardware/domain.h),
 * such a domain: count and gpus_per_instance are then those of domains. */
struct cluster_group {
    const struct instance *instance;
    int64_t count;
    int32_t gpus_per_instance; /* processes: the first so many GPUs are used */
};

struct fabric_sites;

struct cluster {
    int32_t n_groups;
    struct cluster_group groups[CLUSTER_GROUPS_MAX];
    const struct fabric *fabric;       /* between instances */
    const int32_t *sites;              /* [n_hosts] of the fabric (hardware/sites.h);
                                          NULL: the first, in order */
    const struct fabric_sites *shared; /* with other jobs; NULL: with none */
    bool sagemaker;                    /* "ml." was written: SageMaker's prices */
    int64_t n_instances, n_gpus;       /* over all groups */
    int64_t n_hosts;                   /* instances as they are rented and started */
};

/* The group as hosts: what is rented, started and has a CPU of its own. */
struct cluster_group cluster_hosts(const struct cluster_group *g);

/* "36 x dgx-gb200", hosts of one group, into buf. */
char *cluster_group_text(const struct cluster *c, int32_t group, char *buf, int size);

/* Reads the scenario's "cluster" object. */
int cluster_read(struct cluster *c, struct cfg_loader *loader, struct cfg object);

/* What its network does during the computation of training steps, in place of what
 * benchmarks of collectives alone reach. */
void cluster_in_steps(struct cluster *c, struct cfg_loader *loader);

/* The instance alone of a "cluster" object without groups, with the object's changes
 * (hardware/instance_own.h). NULL after reporting. */
const struct instance *cluster_instance(struct cfg_loader *loader, struct cfg object);

/* Brings the fabric to a quality, as groups over the cluster's nodes get it
 * (hardware/fabric_quality.h); absent: as it is. 0, or -1 after reporting. */
int cluster_set_quality(struct cluster *c, struct cfg_loader *loader, struct cfg value);

/* Reads the command line's "p4d.24xlarge:2" ("ml." allowed, ":1" by default). */
int cluster_parse(struct cluster *c, struct cfg_loader *loader, const char *spec);

/* Whether all instances are of one group, so that they are equal by symmetry. */
bool cluster_is_uniform(const struct cluster *c);

/* Sum over groups of list prices, USD per hour; -1 with *missing naming an instance
 * without a price of that service. *date is the oldest date among them. */
int cluster_price(const struct cluster *c, double *usd_per_hour, const char **date,
                  const char **missing);

#endif
