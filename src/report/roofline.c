#include "report/roofline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The slanted part and the flat part of a roof. */
static void make_roof(const struct roofline *r, size_t i, double lo, double hi,
                      double x[3], double y[3])
{
    double ridge = r->roofs[i].peak_flops / r->memory_Bps;

    x[0] = lo;
    x[1] = ridge;
    x[2] = hi;
    y[0] = x[0] * r->memory_Bps;
    y[1] = y[2] = r->roofs[i].peak_flops;
}

/* Intensities from the leftmost operator to the rightmost, all ridges included. */
static void range_of(const struct roofline *r, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = 0;
    for (size_t i = 0; i < r->n; i++) {
        *lo = r->flop_per_B[i] > 0 ? fmin(*lo, r->flop_per_B[i]) : *lo;
        *hi = fmax(*hi, r->flop_per_B[i]);
    }
    for (size_t i = 0; i < r->n_roofs; i++) {
        *lo = fmin(*lo, r->roofs[i].peak_flops / r->memory_Bps / 10);
        *hi = fmax(*hi, r->roofs[i].peak_flops / r->memory_Bps * 10);
    }
}

void roofline_draw(const struct roofline *r, struct draw *d)
{
    double x[ROOFLINE_ROOFS_MAX][3], y[ROOFLINE_ROOFS_MAX][3], lo, hi;
    struct series series[ROOFLINE_ROOFS_MAX + 1];
    char memory[AXIS_TEXT_MAX], *names[ROOFLINE_ROOFS_MAX] = { 0 };
    const struct axis rate = { .unit = AXIS_BYTES_PER_S };
    struct chart chart = { .title = r->title,
                           .subtitle = r->subtitle,
                           .x = { "arithmetic intensity", AXIS_LOG10,
                                  .unit_text = "FLOP/B" },
                           .y = { "performance", AXIS_LOG10, AXIS_FLOP_PER_S },
                           .series = series,
                           .n_series = r->n_roofs + 1 };

    assert(r->n_roofs <= ROOFLINE_ROOFS_MAX);
    range_of(r, &lo, &hi);
    axis_value_text(memory, &rate, r->memory_Bps);
    for (size_t i = 0; i < r->n_roofs; i++) {
        make_roof(r, i, lo, hi, x[i], y[i]);
        names[i] = xasprintf("%s, %s %s", r->roofs[i].name, r->memory_name, memory);
        series[i + 1] = (struct series) {
            .name = names[i],
            .kind = SERIES_LINE,
            .n = 3,
            .x = x[i],
            .y = y[i],
            .no_markers = true,
            .colour = i + 2,
        };
    }
    series[0] = (struct series) {
        .name = "operators",
        .kind = SERIES_POINTS,
        .n = r->n,
        .x = r->flop_per_B,
        .y = r->flops,
        .labels = r->names,
        .colour = 1,
    };
    chart_draw(&chart, d);
    for (size_t i = 0; i < r->n_roofs; i++)
        free(names[i]);
}

int roofline_write(const struct roofline *r, const char *path, struct err *err)
{
    struct draw d;

    if (draw_open(&d, path, CHART_WIDTH, CHART_HEIGHT, err))
        return -1;
    roofline_draw(r, &d);
    return draw_close(&d, err);
}
