/* Memory over one step, and at the fullest moment of each stage. */
#include "base/units.h"
#include "base/xmalloc.h"
#include "draw/chart.h"
#include "report/figure/meaning.h"
#include "report/figure/step_data.h"
#include "report/report.h"

#include <inttypes.h>

enum {
    FRAMEWORK = FIGURE_FRAMEWORK,
    STACKED = FIGURE_HELD_KINDS,
    LIMIT = STACKED,
    SERIES
};

int32_t figure_step_fullest(const struct step_figures *f,
                            const struct simulate_result *r)
{
    for (int32_t i = 0; i < f->n_tracks; i++)
        if (f->tracks[i].stage == r->memory.fullest)
            return i;
    return 0;
}

static int64_t total_B(const struct level *l)
{
    int64_t sum = 0;
    for (int k = 0; k < LEDGER_KINDS; k++)
        sum += l->held_B[k];
    return sum;
}

/* The levels of a track, as indices; of many only the fullest of each stretch of time,
 * so that peaks stay and the picture stays small. Returns how many. */
static size_t choose_levels(const struct step_figures *f, int32_t track,
                            int64_t *chosen)
{
    enum { STRETCHES = 100 };
    int64_t n_all = 0, end_ps = 1, stretch = -1;
    size_t n = 0;
    for (int64_t i = 0; i < f->levels.n; i++) {
        n_all += f->levels.v[i].track == track;
        if (f->levels.v[i].track == track && f->levels.v[i].at_ps > end_ps)
            end_ps = f->levels.v[i].at_ps;
    }
    for (int64_t i = 0; i < f->levels.n; i++) {
        const struct level *l = &f->levels.v[i];
        if (l->track != track)
            continue;
        int64_t now = (int64_t)((double)l->at_ps / (double)end_ps * STRETCHES);
        bool same = n > 0 && n_all > 2 * STRETCHES && now == stretch;
        if (!same)
            chosen[n++] = i;
        else if (total_B(l) > total_B(&f->levels.v[chosen[n - 1]]))
            chosen[n - 1] = i;
        stretch = now;
    }
    return n;
}

void figure_step_constants(const struct stage_memory *m,
                           const int64_t fullest_B[LEDGER_KINDS],
                           int64_t constant_B[FIGURE_HELD_KINDS])
{
    int64_t live_B = 0, buffers_B = m->buffers_B - fullest_B[LEDGER_BUFFERS];
    for (int k = 0; k < LEDGER_KINDS; k++) {
        live_B += fullest_B[k];
        constant_B[k] = 0;
    }
    buffers_B = buffers_B > 0 ? buffers_B : 0;
    int64_t rest_B = m->peak_B - m->framework_B - buffers_B - live_B;
    constant_B[FIGURE_FRAMEWORK] = m->framework_B;
    constant_B[LEDGER_BUFFERS] = buffers_B;
    constant_B[LEDGER_WORKSPACE] = rest_B > 0 ? rest_B : 0;
}

/* Those levels by kind, each array of n, with what is beyond live tensors. Returns n. */
static size_t take_levels(const struct step_figures *f, int32_t track,
                          const struct stage_memory *m, double *x, double *y[STACKED])
{
    int64_t *chosen = xcalloc((size_t)f->levels.n + 1, sizeof(*chosen));
    int64_t constant_B[STACKED];
    size_t n = choose_levels(f, track, chosen), fullest = 0;
    for (size_t i = 1; i < n; i++)
        if (total_B(&f->levels.v[chosen[i]]) > total_B(&f->levels.v[chosen[fullest]]))
            fullest = i;
    if (n)
        figure_step_constants(m, f->levels.v[chosen[fullest]].held_B, constant_B);
    for (size_t i = 0; i < n; i++) {
        const struct level *l = &f->levels.v[chosen[i]];
        x[i] = i ? (double)l->at_ps * 1e-12 : 0; /* from the step's begin on */
        for (int k = 0; k < STACKED; k++)
            y[k][i] = (double)(constant_B[k] + (k < LEDGER_KINDS ? l->held_B[k] : 0));
    }
    free(chosen);
    return n;
}

static void describe(struct series series[SERIES], size_t n, const double *x,
                     double *const y[STACKED], const double *capacity)
{
    series[0] = (struct series) { .name = report_context_text,
                                  .y = y[FRAMEWORK],
                                  .meaning = MEANING_FRAMEWORK };
    for (int k = 0; k < LEDGER_KINDS; k++)
        series[k + 1] = (struct series) { .name = report_held_texts[k],
                                          .y = y[k],
                                          .meaning = figure_ledger_meanings[k] };
    for (int i = 0; i < STACKED; i++) {
        series[i].kind = SERIES_STACKED_AREA;
        series[i].n = n;
        series[i].x = x;
        series[i].stepped = true;
    }
    series[LIMIT] = (struct series) {
        .name = "capacity",
        .kind = SERIES_LIMIT,
        .n = 1,
        .y = capacity,
        .beyond = "does not fit",
    };
}

/* The fullest moment and the kind that takes most of it; the caller frees the text,
 * which is the annotation's. */
static char *describe_peak(struct annotation *peak, size_t n, const double *x,
                           double *const y[STACKED])
{
    size_t at = 0;
    double most = 0, all = 0;
    int kind = 0;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < STACKED; k++)
            sum += y[k][i];
        if (sum > all) {
            all = sum;
            at = i;
        }
    }
    for (int k = 0; k < LEDGER_KINDS && n > 0; k++)
        if (y[k][at] > most) {
            most = y[k][at];
            kind = k;
        }
    char *text = xasprintf("peak %s: %s %s", units_bytes_text(a, all),
                           report_held_texts[kind], units_bytes_text(b, most));
    *peak = (struct annotation) { .x = n ? x[at] : 0, .y = all, .text = text };
    return text;
}

void figure_step_memory(const struct step_figures *f, const struct scenario *s,
                        const struct simulate_result *r, struct draw *d)
{
    int32_t track = figure_step_fullest(f, r);
    int64_t stage = f->n_tracks > 0 ? f->tracks[track].stage : 0;
    size_t most = (size_t)f->levels.n + 1;
    double capacity = (double)r->memory.capacity_B, *y[STACKED];
    double *block = xcalloc(most * (STACKED + 1), sizeof(*block)), *x = block;
    struct series series[SERIES];
    char *title = figure_step_title("GPU memory in a step", s);
    char *source = figure_step_provenance(s, false);
    char *question = r->memory.n_stages > 1 ? xasprintf("What fills stage %" PRId64
                                                        ", the fullest, and when?",
                                                        (int64_t)stage)
                                            : xasprintf("What fills it, and when?");
    for (int k = 0; k < STACKED; k++)
        y[k] = block + most * (size_t)(k + 1);
    size_t n = take_levels(f, track, &r->memory.stages[stage], x, y);
    describe(series, n, x, y, &capacity);
    struct annotation peak;
    struct chart_phase phases[STEP_PHASES];
    char *peak_text = describe_peak(&peak, n, x, y);
    const struct chart c = {
        .title = title,
        .provenance = source,
        .subtitle = question,
        .x = { .label = "time",
               .unit = AXIS_SECONDS,
               .tight = true,
               .from_zero = true },
        .y = { .label = "memory", .unit = AXIS_BYTES, .from_zero = true },
        .series = series,
        .n_series = SERIES,
        .annotations = &peak,
        .n_annotations = n > 0,
        .phases = phases,
        .n_phases = figure_step_phases(f, track, phases),
    };
    chart_draw(&c, d);
    free(peak_text);
    free(block);
    free(source);
    free(title);
    free(question);
}

/* All stages ----------------------------------------------------------------------- */

static double stage_part(const struct stage_memory *m, int part)
{
    const int64_t of[STACKED] = { m->framework_B, m->parameters_B,  m->gradients_B,
                                  m->optimizer_B, m->activations_B, m->buffers_B,
                                  m->workspace_B };
    return (double)of[part];
}

void figure_step_stages(const struct scenario *s, const struct simulate_result *r,
                        struct draw *d)
{
    size_t n = (size_t)r->memory.n_stages;
    double capacity = (double)r->memory.capacity_B;
    double *y = xcalloc(n * STACKED + 1, sizeof(*y));
    char **names = xcalloc(n + 1, sizeof(*names));
    struct series series[SERIES];
    char *title = figure_step_title("GPU memory", s);
    char *source = figure_step_provenance(s, false);
    for (size_t i = 0; i < n; i++)
        names[i] = xasprintf("%zu", i);
    for (int k = 0; k < STACKED; k++) {
        for (size_t i = 0; i < n; i++)
            y[(size_t)k * n + i] = stage_part(&r->memory.stages[i], k);
        series[k] = (struct series) {
            .name = k ? report_held_texts[k - 1] : report_context_text,
            .meaning = k ? figure_ledger_meanings[k - 1] : MEANING_FRAMEWORK,
            .kind = SERIES_STACKED_BARS,
            .n = n,
            .y = y + (size_t)k * n
        };
    }
    series[LIMIT] = (struct series) {
        .name = "capacity",
        .kind = SERIES_LIMIT,
        .n = 1,
        .y = &capacity,
        .beyond = "does not fit",
    };
    const struct chart c = {
        .title = title,
        .provenance = source,
        .subtitle = "What fills each stage of the pipeline at its fullest moment?",
        .x = { .label = "stage",
               .scale = AXIS_CATEGORY,
               .categories = (const char *const *)names,
               .n_categories = n },
        .y = { .label = "memory", .unit = AXIS_BYTES, .from_zero = true },
        .series = series,
        .n_series = SERIES,
    };
    chart_draw(&c, d);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    free(y);
    free(source);
    free(title);
}
