#include "report/figure_schedules.h"

#include "base/arena.h"
#include "base/units.h"
#include "draw/chart.h"
#include "draw/panel.h"
#include "report/figure_step_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { HEAD_H = 36, LANES_H = 88, LANE_H = 24, LEGEND_H = 66 };

/* The share of the stages' time in which no kernel of a pass runs. */
static double idle_share(const struct step_figures *f, double step_s)
{
    double busy_s = 0;
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        if (s->stream == STREAM_COMPUTE)
            busy_s += (double)(s->ended_ps - s->begun_ps) * 1e-12;
    }
    double all_s = step_s * f->n_tracks;
    return all_s > 0 ? fmax(1 - busy_s / all_s, 0) : 0;
}

static const char *head_of(struct arena *arena, const struct schedule_step *step)
{
    const struct parallelism_stages *stages = &step->s->parallel.stages;
    const char *name = names_of(parallelism_schedule_names, (int)stages->schedule);
    const char *chunks = stages->virtual_stages > 1
                             ? arena_printf(arena, " (%" PRId64 " chunks a stage)",
                                            (int64_t)stages->virtual_stages)
                             : "";
    char time[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
    int64_t peak_B = step->r->memory.stages[step->r->memory.fullest].peak_B;
    return arena_printf(arena, "%s%s: %s, GPUs idle %.0f %%, %s%s", name, chunks,
                        units_time_text(time, step->r->step_time_s),
                        100 * idle_share(step->figures, step->r->step_time_s),
                        units_bytes_text(memory, (double)peak_B),
                        step->r->memory.fits ? "" : ", does not fit");
}

int figure_schedules_write(const struct schedule_step *steps, size_t n,
                           const struct draw_to *to, struct err *err)
{
    struct arena arena;
    struct draw d;
    double end_s = 0, lanes = LANES_H + LANE_H * (double)steps[0].figures->n_tracks,
           y = 0;
    for (size_t i = 0; i < n; i++)
        end_s = fmax(end_s, steps[i].r->step_time_s);
    double nominal = HEAD_H + lanes * (double)n + LEGEND_H;
    if (draw_open(&d, to, CHART_WIDTH, nominal, err))
        return -1;
    lanes += (d.height - nominal) / (double)n;
    arena_init(&arena);
    char *title = figure_step_title("Schedules of a step", steps[0].s);
    char *source = figure_step_provenance(steps[0].s, false);
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0, last = i + 1 == n;
        double h = lanes + (first ? HEAD_H : 0) + (last ? LEGEND_H : 0);
        struct panel p;
        panel_open(&p, &d, (struct draw_box) { 0, y, d.width, h },
                   arena_printf(&arena, "s%zu-", i));
        figure_step_lanes(steps[i].figures,
                          (struct timeline) { .title = first ? title : NULL,
                                              .provenance = first ? source : NULL,
                                              .subtitle = head_of(&arena, &steps[i]),
                                              .end_s = end_s,
                                              .hatched = true,
                                              .no_legend = !last,
                                              .legend_below = true },
                          &p.canvas);
        panel_close(&p);
        y += h;
    }
    free(title);
    free(source);
    arena_release(&arena);
    return draw_close(&d, err);
}
