/* A machine as another program's file describes it, and how it becomes an instance.
 *
 * No such file has everything: `struct import` says what it had, and what it left
 * open is filled by import_complete from a known instance that is like it, with a note
 * of what was taken. hardware/import/nccl.h and hardware/import/smi.h read the files. */
#ifndef HARDWARE_IMPORT_IMPORT_H
#define HARDWARE_IMPORT_IMPORT_H

#include "hardware/instance.h"

/* How the GPUs are joined, as far as the file says. */
enum import_joint { IMPORT_UNKNOWN, IMPORT_NVLINK, IMPORT_NVSWITCH, IMPORT_PCIE };

enum import_network { IMPORT_ANY_NETWORK, IMPORT_ETHERNET, IMPORT_INFINIBAND };

struct import {
    const char *file, *format; /* where it comes from; "NCCL topology XML" */
    int32_t n_gpus;
    const char *gpu; /* the name of its file, by PCI device; NULL: unknown */
    int64_t sm_arch; /* 0: unknown */
    int64_t vcpus;   /* 0: unknown */
    int32_t n_numa;  /* 0: unknown */
    bool pcie_known; /* which switch each GPU is under (gpu_pcie, n_pcie) */
    enum import_joint joint;
    enum import_network network;
    uint8_t nvlinks[INSTANCE_HOST_GPUS_MAX][INSTANCE_HOST_GPUS_MAX];
    int32_t port_links; /* NVLinks of a GPU: to switches, or the most of any */
    int32_t n_pcie;
    int32_t pcie_numa[INSTANCE_HOST_SWITCHES_MAX];
    int32_t gpu_pcie[INSTANCE_HOST_GPUS_MAX], gpu_numa[INSTANCE_HOST_GPUS_MAX];
    double pcie_Bps, pcie_uplink_Bps;                 /* 0: unknown */
    int32_t n_nics;                                   /* physical, one a port */
    struct instance_nic nics[INSTANCE_HOST_NICS_MAX]; /* line_Bps 0: unknown */
};

/* What the user says of it; NULL or 0: nothing. */
struct raw_import {
    const char *name; /* its title */
    const char *like; /* the known instance that fills what the file leaves open */
    const char *gpu;  /* names of a GPU and two fabrics */
    const char *inside, *fabric;
    double nic_Bps;
};

/* Makes a whole instance of it; borrows strings of `im`, the rest is the loader's.
 * What was assumed is warned of through the loader's diags. -1 when nothing known is
 * like it, or when the words do not fit the file. */
int import_complete(struct instance *inst, const struct import *im,
                    const struct raw_import *words, struct cfg_loader *loader);

#endif
