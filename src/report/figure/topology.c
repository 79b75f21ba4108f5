#include "report/figure/topology.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "draw/frame.h"
#include "draw/palette.h"
#include "report/figure/topology_instance.h"
#include "report/figure/topology_links.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EDGE = 16,
    HEADS_GAP = 10,
    GAP = 26,
    NETWORK_GAP = 34,
    LINE_H = 16,
    WIDE = 500,
    WIDTH_MIN = 470,
    COLUMN = 360 /* the width of a column of a paper, in which text has 7 pt */
};

typedef VEC(struct topology_shown) shown_vec;

/* What is drawn, and where. */
struct sheet {
    const struct cluster *c;
    bool compact;
    shown_vec shown;
    struct frame heads;
    char *title, *provenance;
    char *network[2]; /* what the network's box says; NULL: none */
    struct legend legend;
    char names[TOPOLOGY_LEGEND_MAX][64];
    double width, top, network_h, height;
};

/* Whether two of them side by side would be too small to read on paper. */
static bool is_wide(const struct instance *inst, bool compact)
{
    struct figure_topology_layout l;

    figure_topology_layout(&l, inst, compact, 0, 0);
    return compact || l.frame.w > WIDE;
}

static void lay_out(const struct cluster *c, bool compact, double top, shown_vec *shown)
{
    double x = EDGE;
    int64_t first = 0;

    for (int32_t g = 0; g < c->n_groups; g++) {
        const struct cluster_group group = cluster_hosts(&c->groups[g]);
        const int32_t joined = c->groups[g].instance->n_hosts;
        bool folded = group.count > 2 || joined > 1 ||
                      (group.count == 2 && is_wide(group.instance, compact));
        for (int64_t k = 0; k < (folded ? 1 : group.count); k++) {
            struct topology_shown *s = VEC_ADD(shown);
            *s = (struct topology_shown) { .group = group,
                                           .joined = joined,
                                           .first = first + k,
                                           .count = folded ? group.count : 1 };
            figure_topology_layout(&s->layout, group.instance, compact, x, top);
            x += s->layout.frame.w + (folded ? 2 * TOPOLOGY_FOLD : 0) + GAP;
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
                        (shown->v[i].count > 1 ? 2 * TOPOLOGY_FOLD : 0));
    return y;
}

static double right_of(const shown_vec *shown)
{
    const struct topology_shown *last = &shown->v[shown->n - 1];

    return last->layout.frame.x + last->layout.frame.w +
           (last->count > 1 ? 2 * TOPOLOGY_FOLD : 0);
}

static bool has_network(const struct cluster *c)
{
    return c->fabric && c->n_instances > 1;
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
static void describe_network(struct sheet *x)
{
    const struct cluster *c = x->c;
    const struct instance *inst = cluster_hosts(&c->groups[0]).instance;
    const struct gpu *gpu = inst->gpu;
    char rate[UNITS_TEXT_MAX], inside[UNITS_TEXT_MAX], outside[UNITS_TEXT_MAX];
    double Bps = instance_network_Bps(inst);
    int32_t each = inst->nics[0].rails > 1 ? inst->nics[0].rails : 1;
    int32_t ports = each * inst->n_nics;
    struct strbuf b;

    strbuf_init(&b);
    strbuf_printf(&b, "%s: ", c->fabric->name);
    if (ports > 1)
        strbuf_printf(&b, "%d x %s = ", (int)ports,
                      topology_line_rate(rate, inst->nics[0].line_Bps / each));
    strbuf_printf(&b, "%s an instance", topology_line_rate(rate, Bps));
    add_tiers(&b, c->fabric);
    x->network[0] = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    units_rate_text(outside, Bps / inst->n_gpus);
    units_rate_text(inside, inst->inside->kind == FABRIC_NVSWITCH
                                ? (double)gpu->nvlink_links * gpu->nvlink_Bps
                                : inst->pcie_Bps);
    if (inst->n_gpus > 1)
        x->network[1] = xasprintf("a GPU's share: %s inside, %s to other instances",
                                  inside, outside);
}

/* The network's box, its lines wrapped; d NULL: only its height, which it returns. */
static double draw_network(const struct sheet *x, struct draw *d, struct draw_box box)
{
    const double pad = 6;
    double y = box.y + pad + LINE_H / 2.0;

    if (d)
        draw_rect(d, box,
                  &(struct draw_style) { .id = "network",
                                         .cls = "network",
                                         .fill = TOPOLOGY_NETWORK_FILL,
                                         .stroke = TOPOLOGY_NETWORK,
                                         .radius = 3 });
    for (int k = 0; k < 2; k++) {
        char *lines[DRAW_LINES_MAX];
        double size = k ? 11 : 12;
        size_t n = x->network[k] ? draw_text_lines(x->network[k], size, k == 0,
                                                   box.w - 2 * pad, lines)
                                 : 0;
        for (size_t i = 0; i < n; y += LINE_H, free(lines[i++]))
            if (d)
                topology_label(d, box, y, lines[i], size, k == 0,
                               k ? PALETTE_SOFT : PALETTE_INK);
    }
    return y - LINE_H / 2.0 + pad - box.y;
}

/* "64 x p5.48xlarge: 512 GPUs", and what its parts are specified as. */
static void describe(struct sheet *x)
{
    const struct cluster *c = x->c;
    struct strbuf title, source;

    strbuf_init(&title);
    strbuf_init(&source);
    strbuf_addstr(&source, "Line rates each way, as specified: ");
    for (int32_t g = 0; g < c->n_groups; g++) {
        const struct cluster_group group = cluster_hosts(&c->groups[g]);
        const struct instance *inst = group.instance;
        strbuf_addstr(&title, g ? " and " : "");
        if (group.count > 1 || c->n_groups > 1)
            strbuf_printf(&title, "%" PRId64 " x ", (int64_t)group.count);
        strbuf_addstr(&title, inst->name);
        strbuf_printf(&source, "%s%s, %s", g ? "; " : "", inst->gpu->name,
                      inst->inside->name);
    }
    strbuf_printf(&title, ": %" PRId64 " GPU%s", (int64_t)c->n_gpus,
                  units_plural(c->n_gpus));
    if (has_network(c))
        strbuf_printf(&source, "; %s", c->fabric->name);
    x->title = xstrdup(strbuf_get(&title));
    x->provenance = xstrdup(strbuf_get(&source));
    strbuf_release(&title);
    strbuf_release(&source);
    x->heads =
        (struct frame) { .title = x->title,
                         .subtitle =
                             "What joins GPUs, hosts and network cards, and how fast?",
                         .provenance = x->provenance };
}

/* What letters of a compact figure mean. */
static void add_letters(struct sheet *x, int used)
{
    const struct instance *inst = x->shown.v[0].layout.instance;
    bool bare = x->shown.v[0].layout.bare;
    char text[2 * UNITS_TEXT_MAX];
    const struct {
        const char *letter, *what;
        const char *of;
        uint32_t colour;
        bool is;
    } keys[] = {
        { "G: ", "GPU", units_bytes_text(text, (double)inst->gpu->memory_B),
          TOPOLOGY_GPU_FILL, true },
        { "", "P: PCIe switch, R: root", NULL, TOPOLOGY_PCIE_FILL, true },
        { "N: ", "network card", NULL, TOPOLOGY_NETWORK_FILL, inst->n_nics > 0 },
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (!keys[i].is)
            continue;
        snprintf(x->names[used], sizeof(x->names[used]), "%s%s%s%s",
                 bare ? "" : keys[i].letter, keys[i].what, keys[i].of ? ", " : "",
                 keys[i].of ? keys[i].of : "");
        legend_add(&x->legend, (struct legend_item) { .name = x->names[used++],
                                                      .key = LEGEND_BOX,
                                                      .colour = keys[i].colour });
    }
}

static void sheet_init(struct sheet *x, const struct cluster *c, bool compact)
{
    *x = (struct sheet) { .c = c, .compact = compact, .legend = { .below = true } };
    describe(x);
    if (has_network(c))
        describe_network(x);
    /* the heads' height follows from the width, and that from the instances */
    for (int pass = 0; pass < 2; pass++) {
        x->shown.n = 0;
        lay_out(c, compact, x->top, &x->shown);
        x->width = fmax(right_of(&x->shown) + EDGE, compact ? COLUMN : WIDTH_MIN);
        x->top = frame_heads(&x->heads, NULL, x->width) + HEADS_GAP;
    }
    int used =
        figure_topology_legend(x->shown.v[0].layout.instance, &x->legend, x->names);
    if (compact)
        add_letters(x, used);
    x->legend.whole = true;
    legend_measure(&x->legend, x->width - 2 * EDGE, x->width);
    if (has_network(c))
        x->network_h = draw_network(
            x, NULL, (struct draw_box) { .w = right_of(&x->shown) - EDGE });
    x->height = bottom_of(&x->shown) +
                (has_network(c) ? NETWORK_GAP + x->network_h : 0) + 14 +
                x->legend.box.h + EDGE;
}

static void sheet_release(struct sheet *x)
{
    legend_release(&x->legend);
    VEC_RELEASE(&x->shown);
    free(x->title);
    free(x->provenance);
    free(x->network[0]);
    free(x->network[1]);
}

static void sheet_draw(struct sheet *x, struct draw *d)
{
    double network_y = 0;

    draw_rect(d, (struct draw_box) { 0, 0, d->width, d->height },
              &(struct draw_style) { .id = "background", .fill = PALETTE_WHITE });
    frame_heads(&x->heads, d, x->width);
    if (has_network(x->c)) {
        network_y = bottom_of(&x->shown) + NETWORK_GAP;
        draw_network(x, d,
                     (struct draw_box) { EDGE, network_y, right_of(&x->shown) - EDGE,
                                         x->network_h });
    }
    for (int64_t i = 0; i < x->shown.n; i++)
        topology_instance_draw(&x->shown.v[i], d, network_y);
    x->legend.box.x = EDGE;
    x->legend.box.y = d->height - EDGE - x->legend.box.h + 4;
    legend_draw(&x->legend, d);
}

void figure_topology_size(const struct cluster *c, bool compact, double *width,
                          double *height)
{
    struct sheet x;

    sheet_init(&x, c, compact);
    *width = x.width;
    *height = x.height;
    sheet_release(&x);
}

void figure_topology_draw(const struct cluster *c, bool compact, struct draw *d)
{
    struct sheet x;

    sheet_init(&x, c, compact);
    sheet_draw(&x, d);
    sheet_release(&x);
}

int figure_topology_write(const struct cluster *c, const struct draw_to *to,
                          struct err *err)
{
    bool compact = to->look.width > 0 && to->look.width < WIDE;
    double width, height;
    struct draw d;

    figure_topology_size(c, compact, &width, &height);
    if (draw_open_fixed(&d, to, width, height, err))
        return -1;
    figure_topology_draw(c, compact, &d);
    return draw_close(&d, err);
}
