/* The machine that `nvidia-smi topo -m` shows: a matrix of how GPUs and NICs reach each
 * other.
 *
 *   X self   NV# so many NVLinks   PIX, PXB below one PCIe switch   PHB, NODE within a
 *   NUMA node   SYS (before 2017 SOC) across NUMA nodes
 *
 * GPUs and NICs that reach each other by PIX or PXB are put under one switch. */
#ifndef HARDWARE_IMPORT_SMI_H
#define HARDWARE_IMPORT_SMI_H

#include "hardware/import/import.h"

/* -1 after reporting the first thing wrong, at its line and column. */
int import_smi(struct import *im, struct cfg_loader *loader, const char *file);

#endif
