#include "report/figure/topology_layout.h"

#include <math.h>

/* Sizes in pixels: of pages and screens, and of a column of a paper, where boxes have
 * letters and numbers alone. */
static const struct topology_sizes {
    double pad, title_h, numa_title_h;
    double box_w, gpu_h, nic_h, bar_h;
    double step;    /* between boxes of a row */
    double row_gap; /* room for the links between rows */
    double switch_h, switch_gap;
    double numa_w; /* at least, for its label */
} sizes[] = {
    { 12, 46, 20, 68, 42, 38, 24, 8, 20, 30, 30, 190 },
    { 6, 44, 20, 27, 22, 22, 20, 3, 15, 26, 24, 138 },
    { 2, 44, 20, 16, 22, 22, 20, 2, 15, 26, 24, 0 }, /* of many GPUs: numbers alone */
};

enum { ROOMY_GPUS = 8 }; /* at most, of a column's width, to have letters */

static const struct topology_sizes *sizes_of(const struct figure_topology_layout *l)
{
    return &sizes[l->bare ? 2 : l->compact];
}

double figure_topology_arc_height(double distance)
{
    return 14 + 0.17 * fabs(distance);
}

static int32_t group_of(struct figure_topology_layout *l, int32_t pcie, int32_t numa)
{
    for (int32_t g = 0; g < l->n_groups; g++)
        if (l->groups[g].pcie == pcie && l->groups[g].numa == numa)
            return g;
    l->groups[l->n_groups] = (struct topology_group) { .pcie = pcie, .numa = numa };
    return l->n_groups++;
}

/* Switches first in each NUMA node, then its root where anything hangs on it. */
static void make_groups(struct figure_topology_layout *l)
{
    const struct instance *inst = l->instance;

    l->n_groups = 0;
    for (int32_t s = 0; s < inst->n_pcie; s++)
        group_of(l, s, inst->pcie_numa[s]);
    for (int32_t g = 0; g < inst->n_gpus; g++)
        l->gpu_group[g] = group_of(l, inst->gpu_pcie[g], inst->gpu_numa[g]);
    for (int32_t n = 0; n < inst->n_nics; n++)
        l->nic_group[n] = group_of(l, inst->nics[n].pcie, inst->nics[n].numa);
}

/* Places the members of one group in a row; returns how many there are. */
static int32_t place_row(const struct topology_sizes *z, struct draw_box *boxes,
                         const int32_t *group_of_box, int32_t n, int32_t group,
                         double x, double y, double h)
{
    int32_t k = 0;

    for (int32_t i = 0; i < n; i++)
        if (group_of_box[i] == group)
            boxes[i] =
                (struct draw_box) { x + k++ * (z->box_w + z->step), y, z->box_w, h };
    return k;
}

/* Places a group at x; returns its width. */
static double place_group(struct figure_topology_layout *l, int32_t group, double x,
                          double y)
{
    const struct topology_sizes *z = sizes_of(l);
    const struct instance *inst = l->instance;
    double bar_y = y + z->gpu_h + z->row_gap;
    int32_t gpus =
        place_row(z, l->gpu, l->gpu_group, inst->n_gpus, group, x, y, z->gpu_h);
    int32_t nics = place_row(z, l->nic, l->nic_group, inst->n_nics, group, x,
                             bar_y + z->bar_h + z->row_gap, z->nic_h);
    int32_t most = gpus > nics ? gpus : nics;
    double w = (most > 1 ? most : 1) * (z->box_w + z->step) - z->step;

    l->groups[group].bar = (struct draw_box) { x, bar_y, w, z->bar_h };
    return w;
}

/* Places a NUMA node at x; returns its width. */
static double place_numa(struct figure_topology_layout *l, int32_t numa, double x,
                         double y)
{
    const struct topology_sizes *z = sizes_of(l);
    double inner = x + z->pad;
    double h = z->numa_title_h + z->gpu_h + z->row_gap + z->bar_h + 2 * z->pad - 4;

    if (l->instance->n_nics > 0)
        h += z->row_gap + z->nic_h;
    for (int32_t g = 0; g < l->n_groups; g++)
        if (l->groups[g].numa == numa)
            inner += place_group(l, g, inner, y + z->pad) + 2 * z->step;
    inner = fmax(inner, x + z->numa_w - z->pad + 2 * z->step);
    l->numa[numa] = (struct draw_box) { x, y, inner - 2 * z->step + z->pad - x, h };
    return l->numa[numa].w;
}

/* Room above the NUMA nodes for what joins the GPUs. */
static double fabric_room(const struct topology_sizes *z, const struct instance *inst)
{
    double span = 0;

    if (inst->inside->kind == FABRIC_NVSWITCH)
        return z->switch_h + z->switch_gap;
    for (int32_t i = 0; i < inst->n_gpus; i++)
        for (int32_t j = 0; j < i; j++)
            if (inst->nvlinks[i][j])
                span = fmax(span, i - j);
    return span > 0 ? figure_topology_arc_height((span + 1) * (z->box_w + z->step)) + 10
                    : 0;
}

void figure_topology_layout(struct figure_topology_layout *l,
                            const struct instance *inst, bool compact, double x,
                            double y)
{
    *l = (struct figure_topology_layout) { .instance = inst,
                                           .compact = compact,
                                           .bare =
                                               compact && inst->n_gpus > ROOMY_GPUS };
    const struct topology_sizes *z = sizes_of(l);
    double inner = x + z->pad, top = y + z->title_h + fabric_room(z, inst);

    make_groups(l);
    for (int32_t n = 0; n < inst->n_numa; n++)
        inner += place_numa(l, n, inner, top) + 2 * z->pad;
    inner -= 2 * z->pad;
    if (inst->inside->kind == FABRIC_NVSWITCH)
        l->nvswitch = (struct draw_box) { x + z->pad, y + z->title_h,
                                          inner - x - z->pad, z->switch_h };
    l->frame =
        (struct draw_box) { x, y, inner + z->pad - x, top + l->numa[0].h + z->pad - y };
}
