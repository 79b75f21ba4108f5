/* What a job's environment takes from NCCL's choice of algorithm and protocol. */
#ifndef HARDWARE_NCCL_LIMITS_H
#define HARDWARE_NCCL_LIMITS_H

#include <stdint.h>

/* NCCL's functions, in the order of enum coll_op. */
enum nccl_function {
    NCCL_ALL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_FUNCTIONS
};

/* Bits of what is left out. */
enum { NCCL_RING = 1, NCCL_TREE = 2, NCCL_NVLS = 4, NCCL_NVLS_TREE = 8 };
enum { NCCL_ALGORITHMS = NCCL_RING | NCCL_TREE | NCCL_NVLS | NCCL_NVLS_TREE };

/* All zero: NCCL chooses among all. Protocols are bits 1 << FABRIC_PROTO_*. */
struct nccl_limits {
    uint8_t no_algorithm[NCCL_FUNCTIONS], no_protocol[NCCL_FUNCTIONS];
};

#endif
