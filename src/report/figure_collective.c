#include "report/figure_collective.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

/* The colour of a measured curve: that of the computed one of its name, else its
 * own. */
static size_t colour_of(const struct figure_collective *f, size_t i)
{
    for (size_t k = 0; f->curves[i].measured && k < f->n_curves; k++)
        if (!f->curves[k].measured && f->curves[k].name && f->curves[i].name &&
            strcmp(f->curves[k].name, f->curves[i].name) == 0)
            return k;
    return i;
}

/* Measured points are named apart where a computed curve has the same name. */
static char *name_of(const struct figure_collective *f, size_t i)
{
    const struct collective_curve *c = &f->curves[i];

    if (!c->measured)
        return c->name ? xstrdup(c->name) : NULL;
    return c->name ? xasprintf("%s, measured", c->name) : xstrdup("measured");
}

void figure_collective_draw(const struct figure_collective *f, struct draw *d)
{
    struct series *series = xcalloc(f->n_curves + 1, sizeof(*series));
    char **names = xcalloc(f->n_curves + 1, sizeof(*names));
    struct chart chart = {
        .title = f->title,
        .subtitle = f->subtitle,
        .x = { "message size", AXIS_LOG2, AXIS_BYTES },
        .y = { "bus bandwidth", AXIS_LINEAR, AXIS_BYTES_PER_S, .from_zero = true },
        .series = series,
        .n_series = f->n_curves,
    };

    for (size_t i = 0; i < f->n_curves; i++) {
        const struct collective_curve *c = &f->curves[i];
        names[i] = name_of(f, i);
        series[i] = (struct series) { .name = names[i],
                                      .kind = c->measured ? SERIES_POINTS : SERIES_LINE,
                                      .n = c->n,
                                      .x = c->size_B,
                                      .y = c->busbw_Bps,
                                      .no_markers = true,
                                      .colour = colour_of(f, i) + 1 };
    }
    if (f->limit_Bps > 0)
        series[chart.n_series++] = (struct series) { .name = "limit of the links",
                                                     .kind = SERIES_LIMIT,
                                                     .n = 1,
                                                     .y = &f->limit_Bps };
    chart_draw(&chart, d);
    for (size_t i = 0; i < f->n_curves; i++)
        free(names[i]);
    free(names);
    free(series);
}

int figure_collective_write(const struct figure_collective *f, const char *path,
                            struct err *err)
{
    struct draw d;

    if (draw_open(&d, path, CHART_WIDTH, CHART_HEIGHT, err))
        return -1;
    figure_collective_draw(f, &d);
    return draw_close(&d, err);
}
