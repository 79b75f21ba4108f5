/* How busy the GPU, its host, the network card and NVLink are in the course of a step. */
#include "report/chart.h"
#include "report/figure_step_data.h"

#include <math.h>

enum { USE_GPU, USE_HOST, USE_NIC, USE_NVLINK, USES };
enum { STRETCHES = 120 };

/* Busy seconds of each stretch of the step. */
struct usage {
    int64_t end_ps;
    double busy_s[USES][STRETCHES];
};

/* Time from..to, of which a part was busy, to the stretches it lies in. */
static void spread(struct usage *u, int use, int64_t from_ps, int64_t to_ps,
                   double frac)
{
    double length = (double)u->end_ps / STRETCHES;
    int64_t first = (int64_t)((double)from_ps / length);
    for (int64_t i = first; i < STRETCHES && (double)i * length < (double)to_ps; i++) {
        double from = fmax((double)from_ps, (double)i * length);
        double to = fmin((double)to_ps, (double)(i + 1) * length);
        u->busy_s[use][i] += fmax(to - from, 0) * frac * 1e-12;
    }
}

/* Of all stages together, and of the links of the instance that the first sits on. */
static void add_up(struct usage *u, const struct step_figures *f)
{
    for (int64_t i = 0; i < f->spans.n; i++)
        if (f->spans.v[i].ended_ps > u->end_ps)
            u->end_ps = f->spans.v[i].ended_ps;
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        int use = s->stream == SPAN_STREAM_HOST ? USE_HOST : USE_GPU;
        if (s->stream == SPAN_STREAM_HOST || s->stream == STREAM_COMPUTE)
            spread(u, use, s->begun_ps, s->ended_ps, 1.0 / f->n_lanes);
    }
    for (int64_t i = 0; i < f->links.n; i++) {
        const struct observed_links *l = &f->links.v[i];
        spread(u, USE_NIC, l->from_ps, l->to_ps, l->nic_frac);
        spread(u, USE_NVLINK, l->from_ps, l->to_ps, l->nvlink_frac);
    }
}

static bool is_used(const struct usage *u, int use)
{
    for (int i = 0; i < STRETCHES; i++)
        if (u->busy_s[use][i] > 0)
            return true;
    return false;
}

void step_usage_draw(const struct step_figures *f, const struct scenario *s,
                     struct draw *d)
{
    static const char *const names[USES] = { "GPU", "host", "network card", "NVLink" };
    struct usage u = { .end_ps = 1 };
    double x[STRETCHES], y[USES][STRETCHES];
    struct series series[USES];
    size_t n = 0;
    char *title = step_title("What a step keeps busy", s);
    add_up(&u, f);
    double length_s = (double)u.end_ps * 1e-12 / STRETCHES;
    for (int use = 0; use < USES; use++) {
        for (int i = 0; i < STRETCHES; i++) {
            x[i] = i * length_s;
            y[use][i] = 100 * fmin(u.busy_s[use][i] / length_s, 1);
        }
        if (is_used(&u, use))
            series[n++] = (struct series) { .name = names[use],
                                            .kind = SERIES_STEP,
                                            .n = STRETCHES,
                                            .x = x,
                                            .y = y[use],
                                            .colour = (size_t)use + 1,
                                            .no_markers = true };
    }
    const struct chart c = {
        .title = title,
        .subtitle = f->n_lanes > 1
                        ? "What waits for what? Mean over the stages of a pipeline"
                        : "What waits for what?",
        .x = { .label = "time",
               .unit = AXIS_SECONDS,
               .tight = true,
               .from_zero = true },
        .y = { .label = "busy", .unit_text = "%", .from_zero = true },
        .series = series,
        .n_series = n,
    };
    chart_draw(&c, d);
    free(title);
}
