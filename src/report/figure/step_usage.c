/* How busy the GPU, its host, the network card and NVLink are in the course of a
 * step. */
#include "draw/chart.h"
#include "report/figure/step_data.h"

#include <math.h>

enum { STRETCHES = STEP_STRETCHES };

/* Time from..to, of which a share was busy, to the stretches it lies in. */
static void spread(struct step_usage *u, enum use_kind use, int64_t from_ps,
                   int64_t to_ps, double share)
{
    double length = (double)u->end_ps / STRETCHES;
    int64_t first = (int64_t)((double)from_ps / length);
    for (int64_t i = first; i < STRETCHES && (double)i * length < (double)to_ps; i++) {
        double from = fmax((double)from_ps, (double)i * length);
        double to = fmin((double)to_ps, (double)(i + 1) * length);
        u->busy_s[use][i] += fmax(to - from, 0) * share * 1e-12;
    }
}

void figure_step_use(struct step_usage *u, const struct step_figures *f)
{
    *u = (struct step_usage) { .end_ps = 1 };
    for (int64_t i = 0; i < f->uses.n; i++)
        if (f->uses.v[i].to_ps > u->end_ps)
            u->end_ps = f->uses.v[i].to_ps;
    for (int64_t i = 0; i < f->uses.n; i++) {
        const struct use *v = &f->uses.v[i];
        spread(u, v->kind, v->from_ps, v->to_ps, v->share);
    }
}

static bool is_used(const struct step_usage *u, int use)
{
    for (int i = 0; i < STRETCHES; i++)
        if (u->busy_s[use][i] > 0)
            return true;
    return false;
}

void figure_step_usage(const struct step_figures *f, const struct scenario *s,
                       struct draw *d)
{
    static const char *const names[USES] = { "GPU", "host", "busiest network card",
                                             "busiest NVLink" };
    static const enum meaning meanings[USES] = { [USE_GPU] = MEANING_COMPUTE,
                                                 [USE_HOST] = MEANING_HOST,
                                                 [USE_NIC] = MEANING_GRADIENT_COMM,
                                                 [USE_NVLINK] = MEANING_TENSOR_COMM };
    struct step_usage u;
    double x[STRETCHES], y[USES][STRETCHES];
    struct series series[USES];
    size_t n = 0;
    char *title = figure_step_title("What a step keeps busy", s);
    char *source = figure_step_provenance(s, false);
    figure_step_use(&u, f);
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
                                            .meaning = meanings[use],
                                            .no_markers = true };
    }
    const struct chart c = {
        .title = title,
        .provenance = source,
        .subtitle = f->n_tracks > 1
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
    free(source);
    free(title);
}
