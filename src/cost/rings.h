/* Rings through the GPUs of one instance, laid over its real links as NCCL's search
 * finds them. Orders are of GPU numbers. */
#ifndef COST_RINGS_H
#define COST_RINGS_H

#include "hardware/instance.h"

enum { RINGS_MAX = INSTANCE_HOST_NICS_MAX };

enum rings_kind {
    RINGS_NONE, /* one GPU */
    RINGS_WIRE, /* NVLink from GPU to GPU */
    RINGS_PORT, /* NVSwitch */
    RINGS_PCIE, /* some hop goes through PCIe */
};

struct rings {
    enum rings_kind kind;
    int32_t n;      /* directed rings, or ways through the node */
    int32_t n_gpus; /* in each */
    uint8_t order[RINGS_MAX][INSTANCE_GPUS_MAX];
};

/* Rings that stay inside. On wired GPUs: as many Hamiltonian cycles as fit on the links
 * together, each in both directions (two GPUs: one ring a link); else one through the
 * switch or PCIe. NVLink meshes of up to 8 GPUs are searched completely; larger ones as
 * far as the first few thousand cycles. */
void rings_lay_inside(const struct instance *inst, const uint8_t *gpus, int32_t n,
                      struct rings *out);

/* Ways through a node of a ring that goes on to other nodes: one for each NIC that is
 * the nearest of some GPU, in at order[0] (a GPU near it), out at the last. Every NIC
 * is entered once and left once. On wired GPUs the ways are paths that share no wire,
 * where each NIC has two GPUs and such paths exist (rings_through.c). */
void rings_lay_through(const struct instance *inst, const uint8_t *gpus, int32_t n,
                       struct rings *out);

/* The Hamiltonian path over wires whose least number of parallel links is largest; that
 * number, 0 when there is no path. */
int32_t rings_best_path(const struct instance *inst, const uint8_t *gpus, int32_t n,
                        uint8_t *order);

#endif
