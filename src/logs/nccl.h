/* What NCCL says of itself with NCCL_DEBUG=INFO (its src/init.cc, src/transport and
 * src/graph; the network plugin's lines begin with "NET/OFI"). Counts are of lines. */
#ifndef LOGS_NCCL_H
#define LOGS_NCCL_H

#include <stdbool.h>
#include <stdint.h>

enum logs_transport {
    LOGS_NET_OFI,
    LOGS_NET_IB,
    LOGS_NET_SOCKET,
    LOGS_NET_OTHER,
    LOGS_P2P,
    LOGS_SHM,
    LOGS_TRANSPORTS
};

enum { LOGS_NCCL_TEXT = 48 };

struct logs_nccl {
    int64_t n_lines, n_warnings;
    char version[LOGS_NCCL_TEXT];  /* "2.21.5" */
    char plugin[LOGS_NCCL_TEXT];   /* of aws-ofi-nccl; "" */
    char network[LOGS_NCCL_TEXT];  /* of "Using network" */
    char provider[LOGS_NCCL_TEXT]; /* of libfabric */
    int64_t via[LOGS_TRANSPORTS];  /* connections of channels */
    int64_t via_gdr;               /* of those over the network, with GPUDirect RDMA */
    int64_t received_gdr;          /* receivers' ends of connections with it */
    bool plugin_missing;
    int64_t n_gdr_off;     /* NICs for which it is disabled */
    int64_t nvls, no_nvls; /* GPUs that have NVLink SHARP, and that have not */
    int64_t channels;      /* of collectives; 0: not said */
    int64_t ranks, nodes;  /* of the largest communicator; 0: not said */
    int64_t nics;          /* that libfabric or verbs found; 0: not said */
};

/* True where the line is NCCL's. */
bool logs_nccl_read(struct logs_nccl *n, const char *line);

#endif
