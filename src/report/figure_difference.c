/* The walk from one job to the other as bars: each job's time by its parts. */
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "report/difference.h"
#include "report/figure_meaning.h"
#include "report/report.h"

#include <math.h>

static double scale_to(const struct difference_numbers *n, enum difference_by by)
{
    return report_difference_time(n, by) / n->step_s;
}

/* What was measured and its parts were not: one part, of bars before and after. */
static size_t n_measured(const struct difference_view *v)
{
    return (size_t)(v->measured_s[0] > 0) + (v->measured_s[1] > 0);
}

/* A part that some bar has, and that is of the sum. */
static bool is_shown(const struct difference *d, int part)
{
    bool any = d->a.parts_s[part] > 0 || d->b.parts_s[part] > 0;
    for (int32_t i = 0; i < d->n_causes; i++)
        any |= d->causes[i].after.parts_s[part] > 0;
    return any && part != CATEGORY_DATA_COMM_HIDDEN;
}

int figure_difference_write(const struct difference_view *v, const struct draw_to *to,
                            struct err *err)
{
    static const char *const labels[] = { [DIFFERENCE_STEP] = "time of a step",
                                          [DIFFERENCE_SAMPLE] =
                                              "time of a thousand samples",
                                          [DIFFERENCE_TOKEN] =
                                              "time of a million tokens" };
    const struct difference *d = v->d;
    struct arena arena;
    arena_init(&arena);
    size_t n = (size_t)d->n_causes + 1 + (d->n_causes == 0), parts = 0,
           extra = n_measured(v), first = v->measured_s[0] > 0;
    const char **bars = ARENA_ARRAY(&arena, n + extra, const char *),
               *names[CATEGORY_N + 1];
    enum meaning meanings[CATEGORY_N + 1];
    double *values = ARENA_ARRAY(&arena, (n + extra) * (CATEGORY_N + 1), double);
    for (int k = 0; k < CATEGORY_N; k++)
        if (is_shown(d, k)) {
            meanings[parts] = figure_part_meanings[k];
            names[parts++] = report_part_texts[k];
        }
    if (extra) {
        meanings[parts] = MEANING_FRAMEWORK;
        names[parts++] = "measured";
    }
    for (size_t side = 0; side < 2; side++) {
        size_t bar = side ? n + extra - 1 : 0;
        if (v->measured_s[side] <= 0)
            continue;
        bars[bar] = arena_printf(&arena, "%s, measured", side ? v->b : v->a);
        values[bar * parts + parts - 1] = report_difference_measured(v, (int)side);
    }
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n;
        const struct difference_numbers *of = i == 0 ? &d->a
                                              : last ? &d->b
                                                     : &d->causes[i - 1].after;
        bars[first + i] = i == 0 ? v->a
                          : d->n_causes == 0
                              ? v->b
                              : arena_printf(&arena, "+ %s%s", d->causes[i - 1].name,
                                             last ? " = B" : "");
        for (int k = 0, at = 0; k < CATEGORY_N; k++)
            if (is_shown(d, k))
                values[(first + i) * parts + (size_t)at++] =
                    of->parts_s[k] * scale_to(of, v->by);
    }
    const struct breakdown b = {
        .title = arena_printf(&arena, "%s and %s", v->a, v->b),
        .subtitle = "What does each change do to the time?",
        .bars = bars,
        .n_bars = n + extra,
        .parts = names,
        .meanings = meanings,
        .n_parts = parts,
        .values = values,
        .value = { .label = labels[v->by], .unit = AXIS_SECONDS, .from_zero = true },
    };
    struct draw draw;
    int rc = draw_open(&draw, to, CHART_WIDTH, 170 + 34 * (double)(n + extra), err);
    if (rc == 0) {
        breakdown_draw(&b, &draw);
        rc = draw_close(&draw, err);
    }
    arena_release(&arena);
    return rc;
}
