/* NCCL's own estimates, by which it chooses algorithm and protocol. They are not what
 * the operation takes: MODEL.md, "Collectives", separates choice from cost. Formulas
 * and constants: NVIDIA/nccl src/graph/tuning.cc at the tags named in the table. */
#ifndef COST_NCCL_H
#define COST_NCCL_H

#include "cost/collective.h"

struct nccl_version;

/* The constants of the version at or below "2.12.12"; the newest for NULL, the oldest
 * known for anything older. NULL when the text is no version. */
const struct nccl_version *nccl_version_get(const char *version);

/* "2.12", the release whose constants they are. */
const char *nccl_version_name(const struct nccl_version *v);

/* Whether it asks a network plugin's tuner (nccl_tuner.h, from 2.19.1 on). */
bool nccl_asks_plugin(const struct nccl_version *v);

/* What the version's search believes of one NVLink. */
double nccl_link_Bps(const struct nccl_version *v, int64_t sm_arch);

/* Whether a communicator of several nodes takes twice the channels that it has, from
 * Hopper on and where one carries more than 45 GB/s (ncclTopoPostset of connect.cc: from
 * 2.18 on up to 32, from 2.21 on fewer than 16). */
bool nccl_fills_channels(const struct nccl_version *v, int32_t n_channels);

/* What a communicator allocates, when it is made, to add up in the switch of a node that
 * holds so many of its GPUs: 0 for pairs, GPUs before Hopper, and releases that allocate
 * with the first collective that needs it. */
int64_t nccl_nvls_buffers_B(const struct nccl_version *v, int64_t sm_arch,
                            int64_t n_gpus);

/* What such a communicator has for trees of each GPU's peers on other nodes: in each of its
 * channels a connection to and from the parent and the children (connectNvls and
 * ncclGetDtree of 2.18.3; transport/net.cc). Of the node that has most of them. */
int64_t nccl_nvls_trees_B(int64_t n_nodes);

/* The latency that EFA's plugin states to it; 0: none. */
double nccl_ofi_s(const struct nccl_version *v, bool gpudirect);

/* GPUs of one node that add up in the NVSwitch, at most (NCCL_MAX_NVLS_ARITY of
 * device.h: the search has no more channels); the others pull from them. */
double nccl_nvls_heads(double n_gpus);

struct nccl_case {
    enum coll_op op;
    int64_t n_ranks, n_nodes;
    double size_B;
    int32_t n_channels;    /* of the graph search, without duplicates */
    double bus_Bps;        /* of all its channels, as the search believes */
    double inside_bus_Bps; /* of one node */
    double net_latency_s;  /* as the network plugin states it */
    int64_t sm_arch;
    bool is_pcie; /* some hop inside the node is no NVLink */
};

/* Versions before 2.5 do not estimate: the protocol by size alone (2.4: LL below 64 KiB
 * a rank on rings and up to 1 MiB on trees, as its p3dn times show); -1 of those that
 * do. */
int nccl_fixed_protocol(const struct nccl_version *v, const struct nccl_case *c,
                        enum coll_algorithm algorithm);

/* A message to one peer of up to so many bytes is sent by LL, a longer one by Simple; 0
 * of versions before 2.18, which were not looked up. */
double nccl_p2p_ll_B(const struct nccl_version *v);

/* Seconds that NCCL expects of an algorithm (ring, tree, NVLS, NVLS tree) with a
 * protocol (FABRIC_PROTO_*); INFINITY of what the version does not have. */
double nccl_expect_s(const struct nccl_version *v, const struct nccl_case *c,
                     enum coll_algorithm algorithm, int protocol);

#endif
