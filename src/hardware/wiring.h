/* The wires of an instance file: NVLink matrix, PCIe tree, NICs. Private to the reader
 * of instances. */
#ifndef HARDWARE_WIRING_H
#define HARDWARE_WIRING_H

#include "hardware/instance.h"

/* "nvlink": a matrix of link counts, n_gpus x n_gpus, symmetric. Required where the
 * fabric inside is wired link by link, refused elsewhere. */
int wiring_read_nvlink(struct instance *inst, struct cfg file, struct cfg matrix);

/* "pcie": rate, uplink, switches and roots; every GPU is in one of them. */
int wiring_read_pcie(struct instance *inst, struct cfg object);

/* "nics": rate, rails, and the switch or NUMA node of each. */
int wiring_read_nics(struct instance *inst, struct cfg array);

#endif
