#include "report/figure/topology_links.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

double figure_topology_width(double Bps)
{
    const double unit_Bps = 20e9, thinnest = 0.8, thickest = 8;

    return fmin(fmax(1.2 * sqrt(Bps / unit_Bps), thinnest), thickest);
}

static double nvlink_width(const struct instance *inst, int64_t links)
{
    return figure_topology_width((double)links * inst->gpu->nvlink_Bps);
}

/* Where on GPU a's upper edge the arc to GPU b ends: arcs of one GPU do not cross, as
 * the nearest partners are outermost. */
static double arc_end(const struct figure_topology_layout *l, int32_t a, int32_t b)
{
    int32_t left = 0, right = 0, place = 0;

    for (int32_t k = 0; k < l->instance->n_gpus; k++) {
        if (!l->instance->nvlinks[a][k] || k == a)
            continue;
        left += k < a;
        right += k > a;
        if ((k < a) == (b < a) && k > b)
            place++;
    }
    if (b > a) /* the farthest of the right-hand partners comes first */
        place += left;
    return l->gpu[a].x + l->gpu[a].w * (place + 1.0) / (left + right + 1.0);
}

static void rate_tip(char *buf, size_t size, const char *what, int64_t links,
                     double Bps)
{
    char rate[UNITS_TEXT_MAX];

    units_rate_text(rate, Bps);
    if (links > 1)
        snprintf(buf, size, "%" PRId64 " %ss, %s each way", (int64_t)links, what, rate);
    else
        snprintf(buf, size, "%s, %s each way", what, rate);
}

static void draw_arc(const struct figure_topology_layout *l, struct draw *d,
                     const char *name, int32_t a, int32_t b)
{
    const struct instance *inst = l->instance;
    double x0 = arc_end(l, a, b), x1 = arc_end(l, b, a), y0 = l->gpu[a].y,
           y1 = l->gpu[b].y;
    double up = figure_topology_arc_height(x1 - x0) * 4 / 3 + 12;
    int64_t links = inst->nvlinks[a][b];
    char id[64], tip[96];

    snprintf(id, sizeof(id), "%s-link-gpu%d-gpu%d", name, a, b);
    rate_tip(tip, sizeof(tip), "NVLink", links, (double)links * inst->gpu->nvlink_Bps);
    draw_curve(d,
               (struct draw_point[]) { { x0, y0 },
                                       { x0 + (x1 - x0) * 0.12, y0 - up },
                                       { x1 - (x1 - x0) * 0.12, y1 - up },
                                       { x1, y1 } },
               &(struct draw_style) { .id = id,
                                      .cls = "link nvlink",
                                      .tip = tip,
                                      .stroke = TOPOLOGY_NVLINK,
                                      .width = nvlink_width(inst, links) });
}

static void straight(struct draw *d, const char *id, const char *cls, const char *tip,
                     struct draw_point from, struct draw_point to, uint32_t colour,
                     double width)
{
    draw_line(d, from.x, from.y, to.x, to.y,
              &(struct draw_style) {
                  .id = id, .cls = cls, .tip = tip, .stroke = colour, .width = width });
}

static void draw_nvlinks(const struct figure_topology_layout *l, struct draw *d,
                         const char *name)
{
    const struct instance *inst = l->instance;
    char id[64], tip[96];

    for (int32_t a = 0; a < inst->n_gpus; a++)
        for (int32_t b = a + 1; b < inst->n_gpus; b++)
            if (inst->nvlinks[a][b])
                draw_arc(l, d, name, a, b);
    for (int32_t a = 0; l->nvswitch.w > 0 && a < inst->n_gpus; a++) {
        double x = l->gpu[a].x + l->gpu[a].w / 2;
        snprintf(id, sizeof(id), "%s-link-gpu%d-nvswitch", name, a);
        rate_tip(tip, sizeof(tip), "NVLink", inst->gpu->nvlink_links,
                 (double)inst->gpu->nvlink_links * inst->gpu->nvlink_Bps);
        straight(d, id, "link nvlink", tip,
                 (struct draw_point) { x, l->nvswitch.y + l->nvswitch.h },
                 (struct draw_point) { x, l->gpu[a].y }, TOPOLOGY_NVLINK,
                 nvlink_width(inst, inst->gpu->nvlink_links));
    }
}

/* A link straight down, from the upper box to the lower one, at the narrower's
 * middle. */
static void draw_down(struct draw *d, const char *id, const char *tip, double width,
                      struct draw_box upper, struct draw_box lower)
{
    struct draw_box narrow = upper.w < lower.w ? upper : lower;
    double x = narrow.x + narrow.w / 2;

    straight(d, id, "link pcie", tip, (struct draw_point) { x, upper.y + upper.h },
             (struct draw_point) { x, lower.y }, TOPOLOGY_PCIE, width);
}

static void bar_name(const struct topology_group *g, char *buf, size_t size)
{
    if (g->pcie >= 0)
        snprintf(buf, size, "pcie%d", g->pcie);
    else
        snprintf(buf, size, "root%d", g->numa);
}

/* What no file gives is thin and dashed: it is no bandwidth. */
static double socket_width(const struct instance *inst)
{
    return inst->socket_assumed ? 1 : figure_topology_width(inst->socket_Bps);
}

static void socket_text(char *buf, size_t size, const struct instance *inst)
{
    char rate[UNITS_TEXT_MAX];

    units_rate_text(rate, inst->socket_Bps);
    snprintf(buf, size,
             inst->socket_assumed ? "socket link, rate not known (%s assumed)"
                                  : "socket link, %s each way",
             rate);
}

static void draw_socket(const struct figure_topology_layout *l, struct draw *d,
                        const char *name, int32_t n)
{
    const struct instance *inst = l->instance;
    struct draw_box a = l->numa[n - 1], b = l->numa[n];
    char id[80], tip[96];

    snprintf(id, sizeof(id), "%s-link-numa%d-numa%d", name, n - 1, n);
    socket_text(tip, sizeof(tip), inst);
    draw_line(
        d, a.x + a.w, a.y + a.h - 12, b.x, b.y + b.h - 12,
        &(struct draw_style) { .id = id,
                               .cls = "link socket",
                               .tip = tip,
                               .stroke = TOPOLOGY_PCIE,
                               .dash = inst->socket_assumed ? DRAW_DOTTED : DRAW_SOLID,
                               .width = socket_width(inst) });
}

void figure_topology_links(const struct figure_topology_layout *l, struct draw *d,
                           const char *name)
{
    const struct instance *inst = l->instance;
    char id[80], bar[24], tip[96];

    draw_nvlinks(l, d, name);
    rate_tip(tip, sizeof(tip), "PCIe", 1, inst->pcie_Bps);
    for (int32_t a = 0; a < inst->n_gpus; a++) {
        const struct topology_group *g = &l->groups[l->gpu_group[a]];
        bar_name(g, bar, sizeof(bar));
        snprintf(id, sizeof(id), "%s-link-gpu%d-%s", name, a, bar);
        draw_down(d, id, tip, figure_topology_width(inst->pcie_Bps), l->gpu[a], g->bar);
    }
    for (int32_t n = 0; n < inst->n_nics; n++) {
        const struct topology_group *g = &l->groups[l->nic_group[n]];
        bar_name(g, bar, sizeof(bar));
        snprintf(id, sizeof(id), "%s-link-nic%d-%s", name, n, bar);
        draw_down(d, id, tip, figure_topology_width(inst->pcie_Bps), g->bar, l->nic[n]);
    }
    for (int32_t n = 1; n < inst->n_numa; n++)
        draw_socket(l, d, name, n);
}

static bool has_pairs(const struct instance *inst, int links)
{
    for (int32_t a = 0; a < inst->n_gpus; a++)
        for (int32_t b = 0; b < a; b++)
            if (inst->nvlinks[a][b] == links)
                return true;
    return false;
}

static void add_key(struct legend *legend, const char *name, uint32_t colour,
                    double width, enum draw_dash dash)
{
    legend_add(legend, (struct legend_item) { .name = name,
                                              .key = LEGEND_LINE,
                                              .colour = colour,
                                              .dash = dash,
                                              .width = width });
}

int figure_topology_legend(const struct instance *inst, struct legend *legend,
                           char names[TOPOLOGY_LEGEND_MAX][64])
{
    char rate[UNITS_TEXT_MAX];
    int used = 0;

    for (int n = 1; n <= UINT8_MAX && used < 4; n++) {
        if (!has_pairs(inst, n))
            continue;
        units_rate_text(rate, n * inst->gpu->nvlink_Bps);
        snprintf(names[used], sizeof(names[used]), "%d NVLink%s, %s each way", n,
                 n > 1 ? "s" : "", rate);
        add_key(legend, names[used++], TOPOLOGY_NVLINK, nvlink_width(inst, n),
                DRAW_SOLID);
    }
    if (inst->inside->kind == FABRIC_NVSWITCH) {
        units_rate_text(rate, (double)inst->gpu->nvlink_links * inst->gpu->nvlink_Bps);
        snprintf(names[used], sizeof(names[used]), "%d NVLinks, %s each way",
                 (int)inst->gpu->nvlink_links, rate);
        add_key(legend, names[used++], TOPOLOGY_NVLINK,
                nvlink_width(inst, inst->gpu->nvlink_links), DRAW_SOLID);
    }
    units_rate_text(rate, inst->pcie_Bps);
    snprintf(names[used], sizeof(names[used]), "PCIe, %s each way", rate);
    add_key(legend, names[used++], TOPOLOGY_PCIE, figure_topology_width(inst->pcie_Bps),
            DRAW_SOLID);
    if (inst->n_nics > 0) {
        units_rate_text(rate, inst->nics[0].line_Bps);
        snprintf(names[used], sizeof(names[used]), "network, %s each way", rate);
        add_key(legend, names[used++], TOPOLOGY_NETWORK,
                figure_topology_width(inst->nics[0].line_Bps), DRAW_SOLID);
    }
    if (inst->n_numa < 2 || inst->socket_Bps <= 0)
        return used;
    socket_text(names[used], sizeof(names[used]), inst);
    add_key(legend, names[used++], TOPOLOGY_PCIE, socket_width(inst),
            inst->socket_assumed ? DRAW_DOTTED : DRAW_SOLID);
    return used;
}
