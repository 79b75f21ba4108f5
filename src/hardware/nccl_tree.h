/* The tree of a topology file of NCCL as lists: GPUs, NICs, the outermost PCIe bridges,
 * NUMA nodes. Between hardware/import/nccl.c and nccl_tree.c. */
#ifndef HARDWARE_NCCL_TREE_H
#define HARDWARE_NCCL_TREE_H

#include "config/xml.h"
#include "hardware/import/import.h"

enum { NCCL_TOPS_MAX = 64 };

struct nccl_gpu {
    const struct xml_element *pci, *gpu; /* gpu: NULL when the file has none */
    int64_t dev;
    int32_t numa, top; /* index among the tops; -1: on the root */
    double rate_Bps;   /* 0: unknown */
};

struct nccl_tree {
    struct import *im;
    int64_t numa_ids[INSTANCE_HOST_NUMA_MAX]; /* as the file numbers them */
    int32_t numa;                             /* of the <cpu> being read, our index */
    int32_t top;                              /* the outermost bridge being read; -1 */
    int32_t n_tops;
    const struct xml_element *tops[NCCL_TOPS_MAX];
    int32_t top_numa[NCCL_TOPS_MAX];
    bool top_used[NCCL_TOPS_MAX];
    int32_t n_found;
    struct nccl_gpu found[INSTANCE_HOST_GPUS_MAX];
    bool unclassed; /* take devices without a class as GPUs */
};

/* Reads all <cpu> elements: fills the tree, and of im the NICs (pcie: the index of a
 * top), NUMA nodes, vCPUs and network. -1 after reporting. */
int import_tree_read(struct nccl_tree *t, const struct xml_element *system);

/* Payload of a device's PCIe link, one direction; 0 where the file does not say (or
 * not in words that NCCL takes: virtual machines show "Unknown", and widths such as
 * 63). */
int import_tree_link(const struct xml_element *pci, double *rate_Bps);

#endif
