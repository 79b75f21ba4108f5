/* The machine of a topology file of NCCL: what NCCL_TOPO_DUMP_FILE writes, and what
 * vendors ship for NCCL_TOPO_FILE (e.g. aws-ofi-nccl's topology/).
 *
 *   <system><cpu numaid affinity><pci busid class link_speed link_width> ...
 *     <gpu dev sm><nvlink target count tclass/></gpu>   <nic><net name speed/></nic>
 *
 * A PCIe switch is the outermost bridge below a <cpu>, with all that is under it. */
#ifndef HARDWARE_IMPORT_NCCL_H
#define HARDWARE_IMPORT_NCCL_H

#include "hardware/import/import.h"

/* -1 after reporting the first thing wrong, at its line and column. */
int import_nccl(struct import *im, struct cfg_loader *loader, const char *file);

#endif
