#include "report/topology_layout.h"

#include <math.h>

enum {
    PAD = 12,
    TITLE_H = 46,
    NUMA_TITLE_H = 20,
    BOX_W = 68,
    GPU_H = 42,
    NIC_H = 38,
    BAR_H = 24,
    STEP = 8,     /* between boxes of a row */
    ROW_GAP = 20, /* room for the links between rows */
    SWITCH_H = 30,
    SWITCH_GAP = 30,
    NUMA_W_MIN = 190, /* for its label */
};

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
static int32_t place_row(struct draw_box *boxes, const int32_t *group_of_box, int32_t n,
                         int32_t group, double x, double y, double h)
{
    int32_t k = 0;

    for (int32_t i = 0; i < n; i++)
        if (group_of_box[i] == group)
            boxes[i] = (struct draw_box) { x + k++ * (BOX_W + STEP), y, BOX_W, h };
    return k;
}

/* Places a group at x; returns its width. */
static double place_group(struct figure_topology_layout *l, int32_t group, double x,
                          double y)
{
    const struct instance *inst = l->instance;
    double bar_y = y + GPU_H + ROW_GAP;
    int32_t gpus = place_row(l->gpu, l->gpu_group, inst->n_gpus, group, x, y, GPU_H);
    int32_t nics = place_row(l->nic, l->nic_group, inst->n_nics, group, x,
                             bar_y + BAR_H + ROW_GAP, NIC_H);
    int32_t most = gpus > nics ? gpus : nics;
    double w = (most > 1 ? most : 1) * (BOX_W + STEP) - STEP;

    l->groups[group].bar = (struct draw_box) { x, bar_y, w, BAR_H };
    return w;
}

/* Places a NUMA node at x; returns its width. */
static double place_numa(struct figure_topology_layout *l, int32_t numa, double x,
                         double y)
{
    double inner = x + PAD, h = NUMA_TITLE_H + GPU_H + ROW_GAP + BAR_H + 2 * PAD - 4;

    if (l->instance->n_nics > 0)
        h += ROW_GAP + NIC_H;
    for (int32_t g = 0; g < l->n_groups; g++)
        if (l->groups[g].numa == numa)
            inner += place_group(l, g, inner, y + PAD) + 2 * STEP;
    inner = fmax(inner, x + NUMA_W_MIN - PAD + 2 * STEP);
    l->numa[numa] = (struct draw_box) { x, y, inner - 2 * STEP + PAD - x, h };
    return l->numa[numa].w;
}

/* Room above the NUMA nodes for what joins the GPUs. */
static double fabric_room(const struct instance *inst)
{
    double span = 0;

    if (inst->inside->kind == FABRIC_NVSWITCH)
        return SWITCH_H + SWITCH_GAP;
    for (int32_t i = 0; i < inst->n_gpus; i++)
        for (int32_t j = 0; j < i; j++)
            if (inst->nvlinks[i][j])
                span = fmax(span, i - j);
    return span > 0 ? figure_topology_arc_height((span + 1) * (BOX_W + STEP)) + 10 : 0;
}

void figure_topology_layout(struct figure_topology_layout *l,
                            const struct instance *inst, double x, double y)
{
    double room = fabric_room(inst), inner = x + PAD, top = y + TITLE_H + room;

    *l = (struct figure_topology_layout) { .instance = inst };
    make_groups(l);
    for (int32_t n = 0; n < inst->n_numa; n++)
        inner += place_numa(l, n, inner, top) + 2 * PAD;
    inner -= 2 * PAD;
    if (inst->inside->kind == FABRIC_NVSWITCH)
        l->nvswitch =
            (struct draw_box) { x + PAD, y + TITLE_H, inner - x - PAD, SWITCH_H };
    l->frame =
        (struct draw_box) { x, y, inner + PAD - x, top + l->numa[0].h + PAD - y };
}
