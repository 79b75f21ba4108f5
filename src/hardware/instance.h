/* An instance type: GPUs, how they are wired, NICs and which GPUs they are near, host,
 * prices with their dates. Read from topologies/instances/NAME.json; a user adds an
 * instance by adding a file. */
#ifndef HARDWARE_INSTANCE_H
#define HARDWARE_INSTANCE_H

#include "config/provenance.h"
#include "hardware/fabric.h"
#include "hardware/gpu.h"

/* HOST: of one host, as files describe them; the others of an NVLink domain, too. */
enum {
    INSTANCE_HOST_GPUS_MAX = 16,
    INSTANCE_HOST_NICS_MAX = 32,
    INSTANCE_HOST_SWITCHES_MAX = 16,
    INSTANCE_HOST_NUMA_MAX = 8,
    INSTANCE_GPUS_MAX = 72,
    INSTANCE_NICS_MAX = 72,
    INSTANCE_SWITCHES_MAX = 72,
    INSTANCE_NUMA_MAX = 72,
    INSTANCE_PRICES_MAX = 16,
};

/* How instances are bought. */
enum instance_purchase {
    INSTANCE_ON_DEMAND,
    INSTANCE_SPOT,
    INSTANCE_CAPACITY_BLOCK, /* a reservation of days, paid ahead */
    INSTANCE_SAVINGS_1Y,     /* a commitment to one instance family, */
    INSTANCE_SAVINGS_3Y,     /* by the hour, nothing paid ahead */
};
extern const struct name_value instance_purchase_names[];

struct instance_price {
    enum instance_purchase purchase;
    const char *service; /* "ec2" or "sagemaker" */
    const char *date;    /* "2023-09-18", or a period */
    const char *region;
    double usd_per_hour;
    const char *source;
};

struct instance_nic {
    double line_Bps; /* one direction, all rails together */
    int32_t rails;   /* physical ports that carry each message together */
    int32_t pcie;    /* index of its PCIe switch; -1: on the root of NUMA node `numa` */
    int32_t numa;
};

struct instance {
    const char *name;    /* "p4d.24xlarge", without "ml." */
    const char *summary; /* one line for `smsim list` */
    const struct gpu *gpu;
    int32_t n_gpus;
    int32_t
        n_hosts; /* 1; of an NVLink domain (hardware/domain.h) its hosts, whose parts
                        all others are, and prices the sum of theirs */
    const struct instance
        *host;           /* of an NVLink domain: what each of them is; or NULL */
    int64_t domain_gpus; /* that NVLink joins across hosts; 0: those of one host */
    const struct fabric *domain_fabric; /* which then does it; NULL: `inside` */
    bool domain_fixed; /* the cluster says so: domains are filled, not made even */
    int64_t vcpus;
    int64_t host_memory_B;
    int32_t n_numa;
    const struct fabric *inside;  /* GPU to GPU in the node */
    const struct fabric *outside; /* node to node; NULL: a lone machine */
    /* links between two GPUs; all 0 with a switch or PCIe */
    uint8_t nvlinks[INSTANCE_HOST_GPUS_MAX][INSTANCE_HOST_GPUS_MAX];
    int32_t n_pcie; /* PCIe switches */
    int32_t pcie_numa[INSTANCE_SWITCHES_MAX];
    double pcie_Bps;        /* one direction of an x16 (or as wide as it is) port */
    double pcie_uplink_Bps; /* switch to root; equals pcie_Bps unless given */
    int32_t gpu_pcie[INSTANCE_GPUS_MAX]; /* switch of a GPU; -1: on the root */
    int32_t gpu_numa[INSTANCE_GPUS_MAX];
    int32_t n_nics;
    struct instance_nic nics[INSTANCE_NICS_MAX];
    int32_t nic_of_gpu[INSTANCE_GPUS_MAX];     /* instance_place_nics fills it in */
    double host_pinned_Bps, host_pageable_Bps; /* copy rate of one GPU, one direction */
    double host_memory_Bps; /* of the whole host, for CPU reductions */
    double socket_Bps;      /* between two NUMA nodes, one direction */
    bool socket_assumed;    /* the file does not say it */
    double storage_Bps;     /* local or network disk; 0: unknown */
    int32_t n_prices, n_offers;
    struct instance_price prices[INSTANCE_PRICES_MAX]; /* on demand */
    struct instance_price offers[INSTANCE_PRICES_MAX]; /* and otherwise */
    const char *provenance;
    enum provenance_kind provenance_kind;
};

/* Whether a name is SageMaker's ("ml.p4d.24xlarge"); the name without its "ml.". */
/* Why an instance type or accelerator that no file describes is not simulated; NULL: it is
 * not known. */
const char *instance_absent(struct cfg_loader *loader, const char *name);

bool instance_is_sagemaker(const char *name);
const char *instance_plain_name(const char *name);

/* Its prices and offers alone, of its file; texts are the file's. -1: reported. */
int instance_read_prices(struct instance *inst, struct cfg file);

/* The instance of that name ("ml." in front is cut off); read once per loader. */
const struct instance *instance_get(struct cfg_loader *loader, const char *name,
                                    struct cfg where);

/* The newest price of a service ("ec2", "sagemaker") on demand, or NULL. */
const struct instance_price *instance_price_newest(const struct instance *inst,
                                                   const char *service);

/* Whether one GPU is on the wires as any other, if its neighbours go with it: all are
 * joined by a switch or PCIe, and every PCIe switch has as many GPUs and NICs. */
bool instance_gpus_alike(const struct instance *inst);

/* The NIC nearest to a GPU: under its PCIe switch, else on its NUMA node, else any;
 * where several are as near, the GPUs that share them take them in turn. -1 without
 * NICs. Whoever changes GPUs, switches or NICs places the NICs anew. */
int32_t instance_nic_of_gpu(const struct instance *inst, int32_t gpu);
void instance_place_nics(struct instance *inst);

/* NVLinks between two GPUs: through a switch, all of a port's. 0: none. */
int64_t instance_nvlinks(const struct instance *inst, int32_t a, int32_t b);

double instance_network_Bps(const struct instance *inst); /* line rate of all NICs */

#endif
