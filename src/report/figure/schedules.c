#include "report/figure/schedules.h"

#include "base/arena.h"
#include "base/units.h"
#include "draw/chart.h"
#include "draw/panel.h"
#include "report/figure/step_data.h"
#include "report/figure/written.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 960,
    LANE_H = 21,
    LEAST_H = 60,
    COLUMNS_MAX = 2
}; /* pixels; panels in a row */

static const char QUESTION[] = "Which schedule leaves the GPUs idle least, and which "
                               "fit? Hatched: bubbles; paler: a "
                               "stage's later chunks";

/* The mean over the stages, of what the rows say. */
static double idle_share(const struct schedule_step *step,
                         const struct step_lanes *lanes)
{
    const double *idle_frac = figure_lanes_idle(lanes);
    int32_t n = step->figures->n_tracks;
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += idle_frac[i];
    return n > 0 ? sum / n : 0;
}

static const char *head_of(struct arena *arena, const struct schedule_step *step,
                           const struct step_lanes *lanes)
{
    const struct parallelism_stages *stages = &step->s->parallel.stages;
    const char *name =
        written_schedule(names_of(parallelism_schedule_names, (int)stages->schedule));
    int64_t parts = step->s->parallel.pipeline * stages->virtual_stages;
    bool unequal = step->s->model.layers % parts != 0;
    const char *chunks =
        stages->virtual_stages > 1
            ? arena_printf(arena, " (%" PRId64 "%s chunks a stage)",
                           (int64_t)stages->virtual_stages, unequal ? " unequal" : "")
            : "";
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
    int64_t peak_B = step->r->memory.stages[step->r->memory.fullest].peak_B;
    return arena_printf(arena, "%s%s: %s, GPUs idle %.0f %%, %s%s", name, chunks,
                        units_time_text(time, step->r->step_time_s),
                        100 * idle_share(step, lanes),
                        units_bytes_text(memory, (double)peak_B),
                        step->r->memory.fits ? "" : ", does not fit");
}

/* Where a size was asked for that is too small, all of it is drawn smaller. */
#define SHRINK 1.1
#define SHRINK_MAX 4

/* What the panels share. */
struct sheet {
    const struct schedule_step *steps;
    struct step_lanes **lanes; /* of the steps */
    size_t n, columns;
    double pass_s; /* > 0: time is left out, at the scale of the shortest passes */
    const char *title, *source;
    double end_s;
    double row_h; /* more, or less, than each row takes */
};

static void draw_panel(const struct sheet *sheet, size_t i, const char *head,
                       struct draw *d)
{
    bool first = i == 0, last = i + 1 == sheet->n;
    figure_lanes_draw(sheet->lanes[i],
                      &(struct step_lanes_look) { .pass_s = sheet->pass_s },
                      (struct timeline) { .title = first ? sheet->title : NULL,
                                          .provenance = first ? sheet->source : NULL,
                                          .subtitle = first ? QUESTION : NULL,
                                          .caption = head,
                                          .end_s = sheet->end_s,
                                          .hatched = true,
                                          .track_h = LANE_H,
                                          .no_axis = i + sheet->columns < sheet->n,
                                          .no_legend = !last,
                                          .legend_below = true },
                      d);
}

/* The height that each panel takes, and of rows together. */
static double measure(const struct sheet *sheet, const char *const *heads, double width,
                      double *heights)
{
    double sum = 0, row = 0;
    for (size_t i = 0; i < sheet->n; i++) {
        struct draw nowhere;
        draw_open_nowhere(&nowhere, width, LEAST_H);
        draw_panel(sheet, i, heads[i], &nowhere);
        heights[i] = nowhere.height;
        row = fmax(i % sheet->columns ? row : 0, heights[i]);
        sum += (i + 1) % sheet->columns == 0 || i + 1 == sheet->n ? row : 0;
    }
    return sum;
}

/* Row by row. The first ends with its neighbour, which has no title; the last begins
 * with its own, which has no legend. */
static void draw_panels(const struct sheet *sheet, const char *const *heads,
                        const double *heights, struct arena *arena, struct draw *d)
{
    double y = 0, width = d->width / (double)sheet->columns;
    for (size_t from = 0; from < sheet->n; from += sheet->columns) {
        size_t to = from + sheet->columns < sheet->n ? from + sheet->columns : sheet->n;
        double row = 0;
        for (size_t i = from; i < to; i++)
            row = fmax(row, heights[i] + sheet->row_h);
        for (size_t i = from; i < to; i++) {
            double h = fmax(heights[i] + sheet->row_h, LEAST_H);
            struct panel p;
            panel_open(&p, d,
                       (struct draw_box) { width * (double)(i - from),
                                           from == 0 ? y + row - h : y, width, h },
                       arena_printf(arena, "s%zu-", i));
            draw_panel(sheet, i, heads[i], &p.canvas);
            panel_close(&p);
        }
        y += row;
    }
}

/* Time is left out where all schedules have too many passes for the width. */
static void prepare(struct sheet *sheet, double width)
{
    bool dense = true;
    double least_s = INFINITY;
    for (size_t i = 0; i < sheet->n; i++) {
        double pass_s = figure_lanes_pass(sheet->lanes[i]);
        dense &= figure_lanes_dense(sheet->lanes[i], width);
        least_s = pass_s > 0 ? fmin(least_s, pass_s) : least_s;
    }
    sheet->pass_s = dense && isfinite(least_s) ? least_s : 0;
}

int figure_schedules_write(const struct schedule_step *steps, size_t n,
                           const struct draw_to *to, struct err *err)
{
    struct arena arena;
    struct draw d;
    if (draw_open(&d, to, WIDTH, LEAST_H, err))
        return -1;
    arena_init(&arena);
    const char **heads = ARENA_ARRAY(&arena, n, const char *);
    double *heights = ARENA_ARRAY(&arena, n, double);
    char *title = figure_step_title("Schedules of a step", steps[0].s);
    char *source = figure_step_provenance(steps[0].s, false);
    struct sheet sheet = {
        .steps = steps, .n = n, .columns = 1, .title = title, .source = source
    };
    sheet.lanes = ARENA_ARRAY(&arena, n, struct step_lanes *);
    for (size_t i = 0; i < n; i++) {
        sheet.end_s = fmax(sheet.end_s, steps[i].r->step_time_s);
        sheet.lanes[i] = figure_lanes_new(steps[i].figures);
        heads[i] = head_of(&arena, &steps[i], sheet.lanes[i]);
    }
    prepare(&sheet, d.width);
    double all = measure(&sheet, heads, d.width, heights);
    if (!d.grows && all > d.height && d.width > d.height && n > 1)
        sheet.columns = COLUMNS_MAX;
    for (double factor = 1; !d.grows && all > d.height && factor < SHRINK_MAX;
         factor *= SHRINK) {
        all = measure(&sheet, heads, d.width / (double)sheet.columns, heights);
        if (all > d.height)
            draw_shrink(&d, SHRINK);
    }
    draw_grow(&d, all - d.height);
    sheet.row_h = (d.height - all) / (double)((n + sheet.columns - 1) / sheet.columns);
    draw_panels(&sheet, heads, heights, &arena, &d);
    for (size_t i = 0; i < n; i++)
        figure_lanes_free(sheet.lanes[i]);
    free(title);
    free(source);
    arena_release(&arena);
    return draw_close(&d, err);
}
