/* The links among the parts of one instance. Private to the figure of a cluster. */
#ifndef REPORT_FIGURE_TOPOLOGY_LINKS_H
#define REPORT_FIGURE_TOPOLOGY_LINKS_H

#include "draw/legend.h"
#include "report/figure/topology_layout.h"

#define TOPOLOGY_NVLINK 0xff0072b2u
#define TOPOLOGY_PCIE 0xff8a8a8au
#define TOPOLOGY_NETWORK 0xffd55e00u

/* `name` begins every id: "i0". Each link has the id NAME-link-FROM-TO. */
void figure_topology_links(const struct figure_topology_layout *l, struct draw *d,
                           const char *name);

/* How thick a link of that bandwidth is drawn, whatever its kind. */
double figure_topology_width(double Bps);

/* Keys of the kinds of links, with their rates; the names are kept in `names`, of which
 * so many are used as it returns, at most 8. */
enum { TOPOLOGY_LEGEND_MAX = 12 };
int figure_topology_legend(const struct instance *inst, struct legend *legend,
                           char names[TOPOLOGY_LEGEND_MAX][64]);

#endif
