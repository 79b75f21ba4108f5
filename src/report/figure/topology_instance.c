#include "report/figure/topology_instance.h"

#include "base/xmalloc.h"
#include "draw/palette.h"
#include "report/figure/topology_links.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NUMA_COLOUR 0xfff4f4f4u

void topology_label(struct draw *d, struct draw_box box, double y, const char *text,
                    double size, bool bold, uint32_t colour)
{
    char *fit = draw_text_fit(text, size, bold, box.w - (box.w < 20 ? 2 : 4));

    draw_text(d, box.x + box.w / 2, y, fit,
              &(struct draw_text) { .cls = "label",
                                    .size = size,
                                    .bold = bold,
                                    .anchor = DRAW_MIDDLE,
                                    .level = DRAW_CENTRE,
                                    .colour = colour });
    free(fit);
}

/* A box with one or two lines of text. */
static void part(struct draw *d, const char *id, const char *cls, struct draw_box box,
                 uint32_t fill, uint32_t stroke, const char *upper, const char *lower)
{
    double middle = box.y + box.h / 2;

    draw_rect(d, box,
              &(struct draw_style) {
                  .id = id, .cls = cls, .fill = fill, .stroke = stroke, .radius = 3 });
    double size = box.w < 40 ? 10 : 12; /* letters and numbers alone */

    topology_label(d, box, lower ? middle - 8 : middle, upper, size, true, PALETTE_INK);
    if (lower)
        topology_label(d, box, middle + 9, lower, 11, false, PALETTE_SOFT);
}

const char *topology_line_rate(char buf[UNITS_TEXT_MAX], double Bps)
{
    snprintf(buf, UNITS_TEXT_MAX, "%.4g Gb/s", Bps * 8 / 1e9);
    return buf;
}

/* "4 x 100 Gb/s" of a card with several ports. */
static const char *ports_text(char *buf, size_t size, const struct instance_nic *nic)
{
    char rate[UNITS_TEXT_MAX];
    int32_t ports = nic->rails > 1 ? nic->rails : 1;

    topology_line_rate(rate, nic->line_Bps / ports);
    if (ports > 1)
        snprintf(buf, size, "%d x %s", ports, rate);
    else
        snprintf(buf, size, "%s", rate);
    return buf;
}

static void draw_gpus_and_nics(const struct topology_shown *s, struct draw *d,
                               const char *name)
{
    const struct figure_topology_layout *l = &s->layout;
    const struct instance *inst = l->instance;
    char id[48], upper[48], lower[2 * UNITS_TEXT_MAX];

    for (int32_t g = 0; g < inst->n_gpus; g++) {
        bool used = g < s->group.gpus_per_instance;
        snprintf(id, sizeof(id), "%s-gpu%d", name, g);
        snprintf(upper, sizeof(upper),
                 l->bare      ? "%d"
                 : l->compact ? "G%d"
                              : "GPU %d",
                 g);
        units_bytes_text(lower, (double)inst->gpu->memory_B);
        part(d, id, used ? "gpu" : "gpu unused", l->gpu[g],
             used ? TOPOLOGY_GPU_FILL : 0xfff0f0f0, used ? 0xff009e73 : 0xffbbbbbb,
             upper, l->compact ? NULL : lower);
    }
    for (int32_t n = 0; n < inst->n_nics; n++) {
        snprintf(id, sizeof(id), "%s-nic%d", name, n);
        snprintf(upper, sizeof(upper),
                 l->bare      ? "%d"
                 : l->compact ? "N%d"
                              : "NIC %d",
                 n);
        ports_text(lower, sizeof(lower), &inst->nics[n]);
        part(d, id, "nic", l->nic[n], TOPOLOGY_NETWORK_FILL, TOPOLOGY_NETWORK, upper,
             l->compact ? NULL : lower);
    }
}

static void draw_numa(const struct topology_shown *s, struct draw *d, const char *name)
{
    const struct figure_topology_layout *l = &s->layout;
    const struct instance *inst = l->instance;
    char id[48], text[32];

    for (int32_t n = 0; n < inst->n_numa; n++) {
        struct draw_box box = l->numa[n];
        snprintf(id, sizeof(id), "%s-numa%d", name, n);
        draw_rect(d, box,
                  &(struct draw_style) { .id = id,
                                         .cls = "numa",
                                         .fill = NUMA_COLOUR,
                                         .stroke = PALETTE_FRAME,
                                         .radius = 5 });
    }
    for (int32_t g = 0; g < l->n_groups; g++) {
        const struct topology_group *group = &l->groups[g];
        bool root = group->pcie < 0;
        snprintf(id, sizeof(id), "%s-%s%d", name, root ? "root" : "pcie",
                 root ? group->numa : group->pcie);
        if (root)
            snprintf(text, sizeof(text), l->compact ? "R%d" : "PCIe root", group->numa);
        else
            snprintf(text, sizeof(text), l->compact ? "P%d" : "PCIe %d", group->pcie);
        part(d, id, root ? "root" : "pcie", group->bar, TOPOLOGY_PCIE_FILL,
             PALETTE_FRAME, text, NULL);
    }
}

/* Over the links that pass, on a plate of its own. */
static void draw_numa_labels(const struct figure_topology_layout *l, struct draw *d)
{
    const struct instance *inst = l->instance;
    char text[96], memory[UNITS_TEXT_MAX];

    for (int32_t n = 0; n < inst->n_numa; n++) {
        struct draw_box box = l->numa[n], plate = box;
        snprintf(text, sizeof(text), "NUMA %d: %" PRId64 " vCPUs, %s", n,
                 (int64_t)(inst->vcpus / inst->n_numa),
                 units_bytes_text(memory, (double)inst->host_memory_B / inst->n_numa));
        if (l->compact)
            snprintf(text, sizeof(text), "NUMA %d", n);
        plate.w = fmin(draw_text_width(text, 11, false) + 8, box.w - 4);
        plate.x = box.x + (box.w - plate.w) / 2;
        plate.y = box.y + box.h - 20;
        plate.h = 16;
        draw_rect(d, plate,
                  &(struct draw_style) { .cls = "plate", .fill = NUMA_COLOUR });
        topology_label(d, box, box.y + box.h - 12, text, 11, false, PALETTE_SOFT);
    }
}

static void draw_nvswitch(const struct topology_shown *s, struct draw *d,
                          const char *name)
{
    const struct figure_topology_layout *l = &s->layout;
    const struct gpu *gpu = l->instance->gpu;
    char id[48], text[128], rate[UNITS_TEXT_MAX];

    if (l->nvswitch.w <= 0)
        return;
    snprintf(id, sizeof(id), "%s-nvswitch", name);
    units_rate_text(rate, (double)gpu->nvlink_links * gpu->nvlink_Bps);
    if (l->compact && s->joined > 1)
        snprintf(text, sizeof(text), "NVSwitches of %d GPUs, %s each",
                 s->joined * s->group.gpus_per_instance, rate);
    else if (l->compact)
        snprintf(text, sizeof(text), "NVSwitch, %s a GPU", rate);
    else if (s->joined > 1)
        snprintf(text, sizeof(text), "NVSwitches of %d GPUs on %d instances: %s each",
                 s->joined * s->group.gpus_per_instance, s->joined, rate);
    else
        snprintf(text, sizeof(text), "NVSwitch: %" PRId64 " NVLinks a GPU, %s each way",
                 (int64_t)gpu->nvlink_links, rate);
    part(d, id, "nvswitch", l->nvswitch, 0xffcfe3f1, TOPOLOGY_NVLINK, text, NULL);
}

static void draw_frame(const struct topology_shown *s, struct draw *d, const char *name)
{
    const struct instance *inst = s->layout.instance;
    struct draw_box box = s->layout.frame;
    struct draw_style style = { .cls = "instance folded",
                                .fill = PALETTE_WHITE,
                                .stroke = PALETTE_INK,
                                .radius = 6 };
    char *text, *fit;

    for (int k = s->count > 2 ? 2 : s->count > 1 ? 1 : 0; k > 0; k--)
        draw_rect(d,
                  (struct draw_box) { box.x + k * TOPOLOGY_FOLD,
                                      box.y + k * TOPOLOGY_FOLD, box.w, box.h },
                  &style);
    style.id = name;
    style.cls = "instance";
    draw_rect(d, box, &style);
    text = s->count > 1 ? xasprintf("%s  x %" PRId64, inst->name, (int64_t)s->count)
           : s->group.count > 1
               ? xasprintf("%s [%" PRId64 "]", inst->name, (int64_t)s->first)
               : xstrdup(inst->name);
    fit = draw_text_fit(text, 14, true, box.w - 24);
    draw_text(d, box.x + 12, box.y + 8, fit,
              &(struct draw_text) { .cls = "instance-name",
                                    .size = 14,
                                    .bold = true,
                                    .level = DRAW_TOP,
                                    .colour = PALETTE_INK });
    free(text);
    free(fit);
    text = xasprintf("%d x %s", inst->n_gpus, inst->gpu->name);
    fit = draw_text_fit(text, 11, false, box.w - 24);
    draw_text(d, box.x + 12, box.y + 26, fit,
              &(struct draw_text) { .cls = "instance-gpus",
                                    .size = 11,
                                    .level = DRAW_TOP,
                                    .colour = PALETTE_SOFT });
    free(text);
    free(fit);
}

void topology_instance_draw(const struct topology_shown *s, struct draw *d,
                            double network_y)
{
    char name[24], group[32], id[64], tip[64], rate[UNITS_TEXT_MAX];
    const struct figure_topology_layout *l = &s->layout;

    snprintf(name, sizeof(name), "i%" PRId64, (int64_t)s->first);
    snprintf(group, sizeof(group), "%s-parts", name);
    draw_group(d, group, "instance", NULL);
    draw_frame(s, d, name);
    draw_nvswitch(s, d, name);
    draw_numa(s, d, name);
    figure_topology_links(l, d, name);
    for (int32_t n = 0; network_y > 0 && n < l->instance->n_nics; n++) {
        double x = l->nic[n].x + l->nic[n].w / 2;
        snprintf(id, sizeof(id), "%s-link-nic%d-network", name, n);
        snprintf(tip, sizeof(tip), "%s each way",
                 topology_line_rate(rate, l->instance->nics[n].line_Bps));
        draw_line(d, x, l->nic[n].y + l->nic[n].h, x, network_y,
                  &(struct draw_style) {
                      .id = id,
                      .cls = "link network",
                      .tip = tip,
                      .stroke = TOPOLOGY_NETWORK,
                      .width = figure_topology_width(l->instance->nics[n].line_Bps) });
    }
    draw_numa_labels(l, d);
    draw_gpus_and_nics(s, d, name);
    draw_group_end(d);
}
