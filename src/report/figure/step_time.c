/* The timeline of a step, and the bar of where its time went. */
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "draw/panel.h"
#include "draw/timeline.h"
#include "report/figure/meaning.h"
#include "report/figure/step_data.h"
#include "report/figure/written.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static char *subtitle(const struct step_figures *f, const struct scenario *s,
                      bool broken)
{
    char omitted[96] = "";
    if (f->n_tracks > 0 && f->tracks[0].extra > 0)
        snprintf(omitted, sizeof(omitted),
                 "; %" PRId64 " more accumulation steps not drawn",
                 (int64_t)f->tracks[0].extra);
    if (f->n_tracks <= 1)
        return xasprintf("What does the first rank do, and when? White: nothing%s",
                         omitted);
    return xasprintf("%s, %" PRId64 " microbatches. Hatched: bubbles%s%s",
                     written_schedule(names_of(parallelism_schedule_names,
                                               (int)s->parallel.stages.schedule)),
                     (int64_t)s->training.microbatches,
                     broken ? "; breaks leave out what repeats" : "", omitted);
}

enum {
    STRIP_H = 150,
    BESIDE_NAME = 23, /* the lanes' left edge */
    LANES_LEAST_H = 100,
    ROW_H = 24,
    ROW_LEAST_H = 18,
    ROWS_FEW = 5        /* first, middle, last, and two that are left out */
};                      /* pixels */
#define LABELS_ROOM 1.3 /* above the highest bar */

/* The idle share of every stage, drawn or left out, as a strip of bars. */
static void draw_idle(const struct step_figures *f, const double *idle_frac,
                      struct draw *d)
{
    size_t n = (size_t)f->n_tracks;
    double most_frac = 0, name_w;
    char **names = xcalloc(2 * n + 1, sizeof(*names)), **shares = names + n;
    for (size_t i = 0; i < n; i++) {
        names[i] = xasprintf("%" PRId64, (int64_t)f->tracks[i].stage);
        shares[i] = xasprintf("%.*f %%", idle_frac[i] < 0.0995, 100 * idle_frac[i]);
        most_frac = fmax(most_frac, idle_frac[i]);
    }
    name_w = draw_text_width("stage ", AXIS_FONT, false) +
             draw_text_width(names[n - 1], AXIS_FONT, false);
    const struct series series = { .name = NULL,
                                   .kind = SERIES_BARS,
                                   .n = n,
                                   .y = idle_frac,
                                   .labels = (const char *const *)shares,
                                   .hatched = true,
                                   .meaning = MEANING_PIPELINE_BUBBLE };
    const struct chart c = {
        .subtitle = "Share of the whole step in which each stage is idle",
        .x = { .label = "stage",
               .scale = AXIS_CATEGORY,
               .categories = (const char *const *)names,
               .n_categories = n },
        .y = { .label = "idle",
               .unit = AXIS_FRACTION,
               .from_zero = true,
               .tight = true,
               .max = most_frac * LABELS_ROOM },
        .series = &series,
        .n_series = 1,
        .left_room = name_w + BESIDE_NAME,
    };
    chart_draw(&c, d);
    for (size_t i = 0; i < 2 * n; i++)
        free(names[i]);
    free(names);
}

/* The height of lanes of so many rows, at least. */
static double lanes_height(const struct step_lanes *x, struct step_lanes_look look,
                           struct timeline t, size_t rows, const struct draw *d)
{
    struct draw nowhere;
    look.rows = rows;
    draw_open_nowhere(&nowhere, d->width, LANES_LEAST_H);
    figure_lanes_draw(x, &look, t, &nowhere);
    return nowhere.height;
}

/* The lanes above, the strip below; a canvas that grows does so for both. Else there are
 * as many rows as have room. */
static void draw_with_strip(const struct step_lanes *x, const struct step_figures *f,
                            struct timeline t, struct draw *d)
{
    struct step_lanes_look look = { .pass_s = figure_lanes_pass(x), .no_idle = true };
    double strip_h = d->grows ? STRIP_H : fmin(STRIP_H, d->height / 3), lanes_h;
    struct panel p;
    t.track_h = d->grows ? ROW_H : ROW_LEAST_H;
    lanes_h = lanes_height(x, look, t, ROWS_FEW, d);
    if (d->grows)
        draw_grow(d, lanes_height(x, look, t, 0, d) + strip_h - d->height);
    else
        look.rows =
            (size_t)fmax(ROWS_FEW + (d->height - strip_h - lanes_h) / ROW_LEAST_H, 1);
    lanes_h = d->height - strip_h;
    panel_open(&p, d, (struct draw_box) { 0, 0, d->width, lanes_h }, "");
    figure_lanes_draw(x, &look, t, &p.canvas);
    panel_close(&p);
    panel_open(&p, d, (struct draw_box) { 0, lanes_h, d->width, strip_h }, "idle-");
    draw_idle(f, figure_lanes_idle(x), &p.canvas);
    panel_close(&p);
}

void figure_step_timeline(const struct step_figures *f, const struct scenario *s,
                          struct draw *d)
{
    struct step_lanes *x = figure_lanes_new(f);
    bool broken = figure_lanes_dense(x, d->width);
    char *title = figure_step_title("A training step", s),
         *question = subtitle(f, s, broken);
    char *source = figure_step_provenance(s, false);
    const struct timeline t = { .title = title,
                                .subtitle = question,
                                .provenance = source,
                                .hatched = f->n_tracks > 1 };
    if (broken)
        draw_with_strip(x, f, t, d);
    else
        figure_lanes_draw(
            x, &(struct step_lanes_look) { .rows = figure_lanes_rows(d, d->height) }, t,
            d);
    figure_lanes_free(x);
    free(source);
    free(title);
    free(question);
}

void figure_step_breakdown(const struct scenario *s, const struct simulate_result *r,
                           struct draw *d)
{
    const double least_frac = 5e-4; /* that can be seen */
    const char *bar = "critical rank";
    const char *parts[CATEGORY_N];
    double values[CATEGORY_N];
    enum meaning meanings[CATEGORY_N];
    size_t n = 0;
    char *title = figure_step_title("A training step", s);
    char *source = figure_step_provenance(s, false);
    for (int i = 0; i < CATEGORY_N; i++) {
        if (i == CATEGORY_DATA_COMM_HIDDEN ||
            r->parts_s[i] <= least_frac * r->step_time_s)
            continue;
        parts[n] = report_part_texts[i];
        meanings[n] = figure_part_meanings[i];
        values[n++] = r->parts_s[i];
    }
    const struct breakdown b = { .title = title,
                                 .provenance = source,
                                 .subtitle = "Where does its time go?",
                                 .bars = &bar,
                                 .n_bars = 1,
                                 .parts = parts,
                                 .meanings = meanings,
                                 .n_parts = n,
                                 .values = values,
                                 .value = { .label = "step time",
                                            .unit = AXIS_SECONDS } };
    breakdown_draw(&b, d);
    free(source);
    free(title);
}
