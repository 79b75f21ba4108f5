#include "report/figure/job.h"

#include "draw/breakdown.h"
#include "draw/chart.h"
#include "report/figure/meaning.h"
#include "report/figure/step_data.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

enum { BARS = 2, HEIGHT = 260 };

static void draw_job(const struct scenario *s, const struct job_result *r,
                     struct draw *d)
{
    static const char *const bars[BARS] = { "time", "billed" };
    const char *parts[JOB_PHASES];
    enum meaning meanings[JOB_PHASES];
    double values[BARS][JOB_PHASES], all[BARS * JOB_PHASES];
    size_t n = 0;
    char price[64], *title = figure_step_title("A job", s);
    char *source = figure_step_provenance(s, true);
    for (int i = 0; i < JOB_PHASES; i++) {
        enum job_phase phase = (enum job_phase)i;
        if (r->phases_s[i] <= 0)
            continue;
        parts[n] = report_phase_text(phase);
        meanings[n] = figure_phase_meanings[phase];
        values[0][n] = phase == JOB_KEEP_ALIVE ? 0 : r->phases_s[i];
        values[1][n++] = job_is_billed(phase) ? r->phases_s[i] : 0;
    }
    for (size_t b = 0; b < BARS; b++)
        for (size_t k = 0; k < n; k++)
            all[b * n + k] = values[b][k] / 60;
    snprintf(price, sizeof(price), "What takes how long, and what is billed?");
    if (isfinite(r->usd))
        snprintf(price, sizeof(price),
                 "What takes how long, and what is billed (%.2f USD)?", r->usd);
    const struct breakdown b = {
        .title = title,
        .provenance = source,
        .subtitle = price,
        .bars = bars,
        .n_bars = BARS,
        .parts = parts,
        .meanings = meanings,
        .n_parts = n,
        .values = all,
        .value = { .label = "time of the job", .unit = AXIS_PLAIN, .unit_text = "min" }
    };
    breakdown_draw(&b, d);
    free(source);
    free(title);
}

int figure_job_write(const struct scenario *s, const struct job_result *r,
                     const struct draw_to *to, struct err *err)
{
    struct draw d;
    if (!r->given)
        return err_set(err,
                       "%s: the scenario has no job to draw (give it a \"job\" "
                       "section)",
                       to->path);
    if (draw_open(&d, to, CHART_WIDTH, HEIGHT, err))
        return -1;
    draw_job(s, r, &d);
    return draw_close(&d, err);
}
