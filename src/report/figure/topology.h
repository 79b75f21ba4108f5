/* A picture of a cluster in the manner of hwloc's lstopo: instances with their NUMA
 * nodes, PCIe switches, GPUs, NICs and NVSwitch, and the links with their rates. Of a
 * group of more than two equal instances, or of two that are too wide for a page, one
 * is drawn, as "x 64".
 *
 * Ids in SVG: i0 (the instance), i0-numa0, i0-pcie0, i0-root0 (a NUMA node's PCIe
 * root), i0-gpu3, i0-nic1, i0-nvswitch, network, and links as i0-link-gpu0-gpu3
 * (lower number first), i0-link-gpu0-nvswitch, i0-link-gpu0-pcie0,
 * i0-link-nic0-pcie0, i0-link-nic0-network, i0-link-numa0-numa1; instances are
 * counted through the cluster. */
#ifndef REPORT_FIGURE_TOPOLOGY_H
#define REPORT_FIGURE_TOPOLOGY_H

#include "base/err.h"
#include "draw/draw.h"
#include "hardware/cluster.h"

int figure_topology_write(const struct cluster *c, const struct draw_to *to,
                          struct err *err);

/* The size the figure needs, and the figure on a canvas of that size. Compact, for a
 * column of a paper, its boxes have letters and numbers that the legend explains. */
void figure_topology_size(const struct cluster *c, bool compact, double *width,
                          double *height);
void figure_topology_draw(const struct cluster *c, bool compact, struct draw *d);

#endif
