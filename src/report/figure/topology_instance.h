/* One instance as the figure of a cluster draws it. Private to that figure. */
#ifndef REPORT_FIGURE_TOPOLOGY_INSTANCE_H
#define REPORT_FIGURE_TOPOLOGY_INSTANCE_H

#include "base/units.h"
#include "hardware/cluster.h"
#include "report/figure/topology_layout.h"

enum { TOPOLOGY_FOLD = 5 }; /* pixels between the sheets of a stack */

#define TOPOLOGY_GPU_FILL 0xffc6e7d9u
#define TOPOLOGY_PCIE_FILL 0xffddddddu
#define TOPOLOGY_NETWORK_FILL 0xfffbdcc4u

/* One drawn instance. */
struct topology_shown {
    struct figure_topology_layout layout;
    struct cluster_group group; /* of hosts */
    int32_t joined;             /* of them by NVLink to one domain */
    int64_t first, count;       /* the instances it represents */
};

/* A text in the middle of a box, at that height, cut to its width. */
void topology_label(struct draw *d, struct draw_box box, double y, const char *text,
                    double size, bool bold, uint32_t colour);

/* "400 Gb/s", as network cards are sold. */
const char *topology_line_rate(char buf[UNITS_TEXT_MAX], double Bps);

/* The instance with its parts and links; those of its cards go down to `network_y`,
 * where that is above 0. */
void topology_instance_draw(const struct topology_shown *s, struct draw *d,
                            double network_y);

#endif
