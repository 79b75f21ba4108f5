#include "report/topology_links.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

static double nvlink_width(int64_t links)
{
    return links <= 1 ? 1.3 : 1.3 + 2.0 * (double)(links - 1);
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
                                      .width = nvlink_width(links) });
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
                 (struct draw_point) { x, l->gpu[a].y }, TOPOLOGY_NVLINK, 4);
    }
}

/* A link straight down, from the upper box to the lower one, at the narrower's
 * middle. */
static void draw_down(struct draw *d, const char *id, const char *tip,
                      struct draw_box upper, struct draw_box lower)
{
    struct draw_box narrow = upper.w < lower.w ? upper : lower;
    double x = narrow.x + narrow.w / 2;

    straight(d, id, "link pcie", tip, (struct draw_point) { x, upper.y + upper.h },
             (struct draw_point) { x, lower.y }, TOPOLOGY_PCIE, 2);
}

static void bar_name(const struct topology_group *g, char *buf, size_t size)
{
    if (g->pcie >= 0)
        snprintf(buf, size, "pcie%d", g->pcie);
    else
        snprintf(buf, size, "root%d", g->numa);
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
        draw_down(d, id, tip, l->gpu[a], g->bar);
    }
    for (int32_t n = 0; n < inst->n_nics; n++) {
        const struct topology_group *g = &l->groups[l->nic_group[n]];
        bar_name(g, bar, sizeof(bar));
        snprintf(id, sizeof(id), "%s-link-nic%d-%s", name, n, bar);
        draw_down(d, id, tip, g->bar, l->nic[n]);
    }
    for (int32_t n = 1; n < inst->n_numa; n++) {
        struct draw_box a = l->numa[n - 1], b = l->numa[n];
        char rate[UNITS_TEXT_MAX];
        snprintf(id, sizeof(id), "%s-link-numa%d-numa%d", name, n - 1, n);
        snprintf(tip, sizeof(tip), "socket link, %s each way",
                 units_rate_text(rate, inst->socket_Bps));
        straight(d, id, "link socket", tip,
                 (struct draw_point) { a.x + a.w, a.y + a.h - 12 },
                 (struct draw_point) { b.x, b.y + b.h - 12 }, TOPOLOGY_PCIE, 4);
    }
}

static bool has_pairs(const struct instance *inst, int links)
{
    for (int32_t a = 0; a < inst->n_gpus; a++)
        for (int32_t b = 0; b < a; b++)
            if (inst->nvlinks[a][b] == links)
                return true;
    return false;
}

void figure_topology_legend(const struct instance *inst, struct legend *legend,
                            char names[TOPOLOGY_LEGEND_MAX][64])
{
    char rate[UNITS_TEXT_MAX];
    int used = 0;

    for (int n = 1; n <= UINT8_MAX && used < TOPOLOGY_LEGEND_MAX - 2; n++) {
        if (!has_pairs(inst, n))
            continue;
        units_rate_text(rate, n * inst->gpu->nvlink_Bps);
        snprintf(names[used], sizeof(names[used]), "%d NVLink%s, %s each way", n,
                 n > 1 ? "s" : "", rate);
        legend_add(legend, (struct legend_item) { .name = names[used++],
                                                  .key = LEGEND_LINE,
                                                  .colour = TOPOLOGY_NVLINK,
                                                  .width = nvlink_width(n) });
    }
    units_rate_text(rate, inst->pcie_Bps);
    snprintf(names[used], sizeof(names[used]), "PCIe, %s each way", rate);
    legend_add(legend, (struct legend_item) { .name = names[used++],
                                              .key = LEGEND_LINE,
                                              .colour = TOPOLOGY_PCIE,
                                              .width = 2 });
    if (inst->n_numa < 2 || inst->socket_Bps <= 0)
        return;
    units_rate_text(rate, inst->socket_Bps);
    snprintf(names[used], sizeof(names[used]), "socket to socket, %s each way", rate);
    legend_add(legend, (struct legend_item) { .name = names[used],
                                              .key = LEGEND_LINE,
                                              .colour = TOPOLOGY_PCIE,
                                              .width = 4 });
}
