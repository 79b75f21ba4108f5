/* Where the parts of one instance are drawn. Private to the figure of a cluster.
 *
 *     +-- instance ------------------------------------------+
 *     |   title            arcs of NVLinks, or the NVSwitch   |
 *     |  +-- NUMA 0 ----------------+ +-- NUMA 1 ----------+  |
 *     |  | [GPU 0] [GPU 1] [GPU 2]  | |                    |  |
 *     |  | [ PCIe 0      ] [PCIe 1] | |   groups: a switch |  |
 *     |  | [NIC 0]         [NIC 1]  | |   or the host root |  |
 *     |  +--------------------------+ +--------------------+  |
 *     +------------------------------------------------------+ */
#ifndef REPORT_FIGURE_TOPOLOGY_LAYOUT_H
#define REPORT_FIGURE_TOPOLOGY_LAYOUT_H

#include "draw/draw.h"
#include "hardware/instance.h"

enum { TOPOLOGY_GROUPS_MAX = INSTANCE_SWITCHES_MAX + INSTANCE_NUMA_MAX };

/* A PCIe switch, or the root of a NUMA node, with what hangs on it. */
struct topology_group {
    int32_t pcie; /* -1: the root */
    int32_t numa;
    struct draw_box bar;
};

struct figure_topology_layout {
    const struct instance *instance;
    bool bare;             /* compact, and boxes have numbers without letters */
    bool compact;          /* for a column of a paper */
    struct draw_box frame; /* of the instance */
    struct draw_box numa[INSTANCE_NUMA_MAX];
    struct draw_box gpu[INSTANCE_GPUS_MAX];
    struct draw_box nic[INSTANCE_NICS_MAX];
    struct draw_box nvswitch; /* w 0: none */
    int32_t n_groups;
    struct topology_group groups[TOPOLOGY_GROUPS_MAX];
    int32_t gpu_group[INSTANCE_GPUS_MAX], nic_group[INSTANCE_NICS_MAX];
};

/* Lays an instance out with its top left corner there. */
void figure_topology_layout(struct figure_topology_layout *l,
                            const struct instance *inst, bool compact, double x,
                            double y);

/* Height of the arc between two places that far apart. */
double figure_topology_arc_height(double distance);

#endif
