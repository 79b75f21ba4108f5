#include "report/figure_topology.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"
#include "draw/legend.h"
#include "draw/palette.h"
#include "report/topology_links.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EDGE = 16,
    TITLE_H = 34,
    GAP = 26,
    NETWORK_H = 42,
    NETWORK_GAP = 34,
    FOLD = 5,
    WIDE = 500
};

#define NUMA_COLOUR 0xfff4f4f4u

/* One drawn instance. */
struct shown {
    struct figure_topology_layout layout;
    struct cluster_group group; /* of hosts */
    int32_t joined;             /* of them by NVLink to one domain */
    int64_t first, count;       /* the instances it represents */
};

typedef VEC(struct shown) shown_vec;

/* Whether two of them side by side would be too small to read on paper. */
static bool is_wide(const struct instance *inst)
{
    struct figure_topology_layout l;

    figure_topology_layout(&l, inst, 0, 0);
    return l.frame.w > WIDE;
}

static void lay_out(const struct cluster *c, shown_vec *shown)
{
    double x = EDGE;
    int64_t first = 0;

    for (int32_t g = 0; g < c->n_groups; g++) {
        const struct cluster_group group = cluster_hosts(&c->groups[g]);
        const int32_t joined = c->groups[g].instance->n_hosts;
        bool folded = group.count > 2 || joined > 1 ||
                      (group.count == 2 && is_wide(group.instance));
        for (int64_t k = 0; k < (folded ? 1 : group.count); k++) {
            struct shown *s = VEC_ADD(shown);
            *s = (struct shown) { .group = group,
                                  .joined = joined,
                                  .first = first + k,
                                  .count = folded ? group.count : 1 };
            figure_topology_layout(&s->layout, group.instance, x, EDGE + TITLE_H);
            x += s->layout.frame.w + (folded ? 2 * FOLD : 0) + GAP;
        }
        first += group.count;
    }
}

/* Lower edge of the instances. */
static double bottom_of(const shown_vec *shown)
{
    double y = 0;

    for (int64_t i = 0; i < shown->n; i++)
        y = fmax(y, shown->v[i].layout.frame.y + shown->v[i].layout.frame.h +
                        (shown->v[i].count > 1 ? 2 * FOLD : 0));
    return y;
}

static double right_of(const shown_vec *shown)
{
    const struct shown *last = &shown->v[shown->n - 1];

    return last->layout.frame.x + last->layout.frame.w +
           (last->count > 1 ? 2 * FOLD : 0);
}

static bool has_network(const struct cluster *c)
{
    return c->fabric && c->n_instances > 1;
}

static void label(struct draw *d, struct draw_box box, double y, const char *text,
                  double size, bool bold, uint32_t colour)
{
    char *fit = draw_text_fit(text, size, bold, box.w - 4);

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
    label(d, box, lower ? middle - 8 : middle, upper, 12, true, PALETTE_INK);
    if (lower)
        label(d, box, middle + 9, lower, 11, false, PALETTE_SOFT);
}

/* "400 Gb/s", as network cards are sold. */
static const char *line_rate(char buf[UNITS_TEXT_MAX], double Bps)
{
    snprintf(buf, UNITS_TEXT_MAX, "%.4g Gb/s", Bps * 8 / 1e9);
    return buf;
}

/* "4 x 100 Gb/s" of a card with several ports. */
static const char *ports_text(char *buf, size_t size, const struct instance_nic *nic)
{
    char rate[UNITS_TEXT_MAX];
    int32_t ports = nic->rails > 1 ? nic->rails : 1;

    line_rate(rate, nic->line_Bps / ports);
    if (ports > 1)
        snprintf(buf, size, "%d x %s", ports, rate);
    else
        snprintf(buf, size, "%s", rate);
    return buf;
}

static void draw_gpus_and_nics(const struct shown *s, struct draw *d, const char *name)
{
    const struct figure_topology_layout *l = &s->layout;
    const struct instance *inst = l->instance;
    char id[48], upper[48], lower[2 * UNITS_TEXT_MAX];

    for (int32_t g = 0; g < inst->n_gpus; g++) {
        bool used = g < s->group.gpus_per_instance;
        snprintf(id, sizeof(id), "%s-gpu%d", name, g);
        snprintf(upper, sizeof(upper), "GPU %d", g);
        units_bytes_text(lower, (double)inst->gpu->memory_B);
        part(d, id, used ? "gpu" : "gpu unused", l->gpu[g],
             used ? 0xffc6e7d9 : 0xfff0f0f0, used ? 0xff009e73 : 0xffbbbbbb, upper,
             lower);
    }
    for (int32_t n = 0; n < inst->n_nics; n++) {
        snprintf(id, sizeof(id), "%s-nic%d", name, n);
        snprintf(upper, sizeof(upper), "NIC %d", n);
        part(d, id, "nic", l->nic[n], 0xfffbdcc4, TOPOLOGY_NETWORK, upper,
             ports_text(lower, sizeof(lower), &inst->nics[n]));
    }
}

static void draw_numa(const struct shown *s, struct draw *d, const char *name)
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
        snprintf(text, sizeof(text), root ? "PCIe root" : "PCIe %d", group->pcie);
        part(d, id, root ? "root" : "pcie", group->bar, 0xffdddddd, PALETTE_FRAME, text,
             NULL);
    }
}

/* Over the links that pass, on a plate of its own. */
static void draw_numa_labels(const struct figure_topology_layout *l, struct draw *d)
{
    const struct instance *inst = l->instance;
    char text[96], memory[UNITS_TEXT_MAX];

    for (int32_t n = 0; n < inst->n_numa; n++) {
        struct draw_box box = l->numa[n], plate = box;
        snprintf(
            text, sizeof(text), "NUMA %d: %" PRId64 " vCPUs, %s", n,
            (int64_t)(inst->vcpus / inst->n_numa),
            units_bytes_text(memory, (double)(inst->host_memory_B / inst->n_numa)));
        plate.w = fmin(draw_text_width(text, 11, false) + 8, box.w - 4);
        plate.x = box.x + (box.w - plate.w) / 2;
        plate.y = box.y + box.h - 20;
        plate.h = 16;
        draw_rect(d, plate,
                  &(struct draw_style) { .cls = "plate", .fill = NUMA_COLOUR });
        label(d, box, box.y + box.h - 12, text, 11, false, PALETTE_SOFT);
    }
}

static void draw_nvswitch(const struct shown *s, struct draw *d, const char *name)
{
    const struct figure_topology_layout *l = &s->layout;
    const struct gpu *gpu = l->instance->gpu;
    char id[48], text[128], rate[UNITS_TEXT_MAX];

    if (l->nvswitch.w <= 0)
        return;
    snprintf(id, sizeof(id), "%s-nvswitch", name);
    units_rate_text(rate, (double)gpu->nvlink_links * gpu->nvlink_Bps);
    if (s->joined > 1)
        snprintf(text, sizeof(text), "NVSwitches of %d GPUs on %d instances: %s each",
                 s->joined * s->group.gpus_per_instance, s->joined, rate);
    else
        snprintf(text, sizeof(text), "NVSwitch: %" PRId64 " NVLinks a GPU, %s each way",
                 (int64_t)gpu->nvlink_links, rate);
    part(d, id, "nvswitch", l->nvswitch, 0xffcfe3f1, TOPOLOGY_NVLINK, text, NULL);
}

static void draw_frame(const struct shown *s, struct draw *d, const char *name)
{
    const struct instance *inst = s->layout.instance;
    struct draw_box box = s->layout.frame;
    struct draw_style style = { .cls = "instance folded",
                                .fill = PALETTE_WHITE,
                                .stroke = PALETTE_INK,
                                .radius = 6 };
    char *text, *fit;

    for (int k = s->count > 2 ? 2 : s->count > 1 ? 1 : 0; k > 0; k--)
        draw_rect(
            d, (struct draw_box) { box.x + k * FOLD, box.y + k * FOLD, box.w, box.h },
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

static void draw_instance(const struct shown *s, struct draw *d, double network_y)
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
                 line_rate(rate, l->instance->nics[n].line_Bps));
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

/* ", leaves of 32 instances with a switch for each rail" */
static void add_tiers(struct strbuf *b, const struct fabric *f)
{
    for (int32_t i = 0; i < f->tiers.n; i++) {
        strbuf_printf(b, ", %s of %" PRId64 " instances", i ? "then groups" : "leaves",
                      (int64_t)f->tiers.of[i].hosts);
        if (f->tiers.of[i].oversubscription > 1)
            strbuf_printf(b, " (%.3g to 1)", f->tiers.of[i].oversubscription);
    }
    if (f->tiers.n > 0 && f->tiers.rails)
        strbuf_addstr(b, ", a switch for each rail");
    if (f->oversubscription > 1)
        strbuf_printf(b, ", oversubscribed %.3g to 1", f->oversubscription);
}

/* "efa: 32 x 100 Gb/s = 3200 Gb/s an instance", its tiers, and how far that is from what
 * joins GPUs inside. */
static void draw_network(const struct cluster *c, struct draw *d, struct draw_box box)
{
    const struct instance *inst = cluster_hosts(&c->groups[0]).instance;
    const struct gpu *gpu = inst->gpu;
    char rate[UNITS_TEXT_MAX], inside[UNITS_TEXT_MAX], outside[UNITS_TEXT_MAX],
        share[128];
    double Bps = instance_network_Bps(inst);
    int32_t each = inst->nics[0].rails > 1 ? inst->nics[0].rails : 1;
    int32_t ports = each * inst->n_nics;
    struct strbuf b;

    strbuf_init(&b);
    strbuf_printf(&b, "%s: ", c->fabric->name);
    if (ports > 1)
        strbuf_printf(&b, "%d x %s = ", (int)ports,
                      line_rate(rate, inst->nics[0].line_Bps / each));
    strbuf_printf(&b, "%s an instance", line_rate(rate, Bps));
    add_tiers(&b, c->fabric);
    units_rate_text(outside, Bps / inst->n_gpus);
    units_rate_text(inside, inst->inside->kind == FABRIC_NVSWITCH
                                ? (double)gpu->nvlink_links * gpu->nvlink_Bps
                                : inst->pcie_Bps);
    snprintf(share, sizeof(share), "a GPU's share: %s inside, %s to other instances",
             inside, outside);
    part(d, "network", "network", box, 0xfffbdcc4, TOPOLOGY_NETWORK, strbuf_get(&b),
         inst->n_gpus > 1 ? share : NULL);
    strbuf_release(&b);
}

static void draw_title(const struct cluster *c, struct draw *d)
{
    char *text = xasprintf("%" PRId64 " instance%s, %" PRId64 " GPU%s",
                           (int64_t)c->n_hosts, c->n_hosts == 1 ? "" : "s",
                           (int64_t)c->n_gpus, c->n_gpus == 1 ? "" : "s");

    draw_text(d, EDGE, EDGE, text,
              &(struct draw_text) { .id = "title",
                                    .cls = "title",
                                    .size = 15,
                                    .bold = true,
                                    .level = DRAW_TOP,
                                    .colour = PALETTE_INK });
    free(text);
}

void figure_topology_size(const struct cluster *c, double *width, double *height)
{
    shown_vec shown = { 0 };
    struct legend legend = { .below = true };
    char names[TOPOLOGY_LEGEND_MAX][64];

    lay_out(c, &shown);
    figure_topology_legend(shown.v[0].layout.instance, &legend, names);
    *width = fmax(right_of(&shown) + EDGE, 470);
    legend_measure(&legend, *width - 2 * EDGE, *width);
    *height = bottom_of(&shown) + (has_network(c) ? NETWORK_GAP + NETWORK_H : 0) + 14 +
              legend.box.h + EDGE;
    legend_release(&legend);
    VEC_RELEASE(&shown);
}

void figure_topology_draw(const struct cluster *c, struct draw *d)
{
    shown_vec shown = { 0 };
    struct legend legend = { .below = true };
    char names[TOPOLOGY_LEGEND_MAX][64];
    double network_y = 0;

    lay_out(c, &shown);
    figure_topology_legend(shown.v[0].layout.instance, &legend, names);
    draw_rect(d, (struct draw_box) { 0, 0, d->width, d->height },
              &(struct draw_style) { .id = "background", .fill = PALETTE_WHITE });
    draw_title(c, d);
    if (has_network(c)) {
        network_y = bottom_of(&shown) + NETWORK_GAP;
        draw_network(
            c, d,
            (struct draw_box) { EDGE, network_y, right_of(&shown) - EDGE, NETWORK_H });
    }
    for (int64_t i = 0; i < shown.n; i++)
        draw_instance(&shown.v[i], d, network_y);
    legend_measure(&legend, d->width - 2 * EDGE, d->width);
    legend.box.x = EDGE;
    legend.box.y = d->height - EDGE - legend.box.h + 4;
    legend_draw(&legend, d);
    legend_release(&legend);
    VEC_RELEASE(&shown);
}

int figure_topology_write(const struct cluster *c, const struct draw_to *to,
                          struct err *err)
{
    double width, height;
    struct draw d;

    figure_topology_size(c, &width, &height);
    if (draw_open_fixed(&d, to, width, height, err))
        return -1;
    figure_topology_draw(c, &d);
    return draw_close(&d, err);
}
