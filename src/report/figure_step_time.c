/* The timeline of a step, and the bar of where its time went. */
#include "draw/breakdown.h"
#include "draw/chart.h"
#include "draw/timeline.h"
#include "report/figure_meaning.h"
#include "report/figure_step_data.h"
#include "report/report.h"
#include "report/written.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct drawing {
    const struct step_figures *f;
    VEC(struct timeline_box) boxes;
    VEC(char *) numbers; /* of microbatches */
    const char *kinds[SPAN_KINDS];
    enum meaning meanings[SPAN_KINDS];
    size_t n_kinds;
    int32_t chunks; /* of a stage, at most */
};

static bool is_pipeline(const struct step_figures *f)
{
    return f->n_tracks > 1;
}

static const char *number_text(struct drawing *x, int32_t number)
{
    if (number < 0)
        return NULL;
    for (int64_t n = x->numbers.n; n <= number; n++)
        VEC_PUSH(&x->numbers, xasprintf("%" PRId64, (int64_t)n));
    return x->numbers.v[number];
}

/* The legend has the kinds that can be seen: some box of them is half a pixel wide, or
 * all of them together fill a track's pixel or two. */
static void choose_kinds(struct drawing *x)
{
    double most_s[SPAN_KINDS] = { 0 }, sum_s[SPAN_KINDS] = { 0 };
    bool seen[SPAN_KINDS];
    size_t at[SPAN_KINDS];
    int64_t n = 0;
    double end_s = 0;
    for (int64_t i = 0; i < x->boxes.n; i++)
        end_s = fmax(end_s, x->boxes.v[i].end_s);
    for (int64_t i = 0; i < x->boxes.n; i++) {
        const struct timeline_box *b = &x->boxes.v[i];
        most_s[b->kind] = fmax(most_s[b->kind], b->end_s - b->start_s);
        sum_s[b->kind] += (b->end_s - b->start_s) / x->f->n_tracks;
    }
    for (int k = 0; k < SPAN_KINDS; k++) {
        double pixel_s = end_s / CHART_WIDTH;
        seen[k] = sum_s[k] > 0 && (most_s[k] > pixel_s / 2 || sum_s[k] > 8 * pixel_s ||
                                   !is_pipeline(x->f));
        at[k] = x->n_kinds;
        x->meanings[x->n_kinds] = figure_span_kinds[k].meaning;
        if (seen[k])
            x->kinds[x->n_kinds++] = figure_span_kinds[k].name;
    }
    for (int64_t i = 0; i < x->boxes.n; i++) {
        struct timeline_box b = x->boxes.v[i];
        if (!seen[b.kind])
            continue;
        b.kind = at[b.kind];
        x->boxes.v[n++] = b;
    }
    x->boxes.n = n;
}

static void add_box(struct drawing *x, size_t track, const struct span *s,
                    int64_t from_ps, int64_t to_ps, bool numbered)
{
    struct timeline_box box = { .track = track,
                                .kind = (size_t)s->kind,
                                .start_s = (double)from_ps * 1e-12,
                                .end_s = (double)to_ps * 1e-12,
                                .shade = s->chunk > 0 && x->chunks > 1
                                             ? (double)s->chunk / (x->chunks - 1)
                                             : 0,
                                .text = numbered ? number_text(x, s->number) : NULL };
    VEC_PUSH(&x->boxes, box);
}

/* Lanes of stages ------------------------------------------------------------------ */

/* Kernels of one pass become one box, where the host hardly came between them. */
static int64_t merge_kernels(const struct step_figures *f, int32_t track,
                             struct span *merged)
{
    const int64_t gap_ps = 20000000;
    int64_t n = 0;
    for (int64_t i = 0; i < f->spans.n; i++) {
        struct span s = f->spans.v[i];
        struct span *last = n ? &merged[n - 1] : NULL;
        if (s.track != track || s.stream != STREAM_COMPUTE)
            continue;
        if (last && last->kind == s.kind && last->number == s.number &&
            last->chunk == s.chunk && s.begun_ps - last->ended_ps <= gap_ps)
            last->ended_ps = s.ended_ps;
        else
            merged[n++] = s;
    }
    return n;
}

/* Communication shows where no kernel runs: the rest of it is hidden. */
static void add_exposed(struct drawing *x, const struct span *s,
                        const struct span *kernels, int64_t n)
{
    int64_t lo = 0, hi = n, from = s->begun_ps;
    while (lo < hi) { /* the first kernel that ends after its begin */
        int64_t mid = (lo + hi) / 2;
        if (kernels[mid].ended_ps <= from)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; from < s->ended_ps; lo++) {
        int64_t to = lo < n && kernels[lo].begun_ps < s->ended_ps ? kernels[lo].begun_ps
                                                                  : s->ended_ps;
        if (to > from)
            add_box(x, (size_t)s->track, s, from, to, false);
        if (lo == n)
            break;
        from = kernels[lo].ended_ps > from ? kernels[lo].ended_ps : from;
    }
}

static void add_stages(struct drawing *x)
{
    const struct step_figures *f = x->f;
    struct span *kernels = xcalloc((size_t)f->spans.n + 1, sizeof(*kernels));
    for (int32_t track = 0; track < f->n_tracks; track++) {
        int64_t n = merge_kernels(f, track, kernels);
        for (int64_t i = 0; i < f->spans.n; i++) {
            const struct span *s = &f->spans.v[i];
            if (s->track == track && s->stream != STREAM_COMPUTE &&
                s->stream != SPAN_STREAM_HOST)
                add_exposed(x, s, kernels, n);
        }
        for (int64_t i = 0; i < n; i++)
            add_box(x, (size_t)track, &kernels[i], kernels[i].begun_ps,
                    kernels[i].ended_ps, true);
    }
    free(kernels);
}

/* Lanes of streams ----------------------------------------------------------------- */

/* Streams on which something can be seen. */
static void find_streams(const struct step_figures *f, bool used[SPAN_STREAMS])
{
    int64_t busy_ps[SPAN_STREAMS] = { 0 }, end_ps = 0;
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        busy_ps[s->stream] += s->ended_ps - s->begun_ps;
        end_ps = s->ended_ps > end_ps ? s->ended_ps : end_ps;
    }
    for (int k = 0; k < SPAN_STREAMS; k++)
        used[k] = busy_ps[k] > end_ps / 2 / CHART_WIDTH;
}

static const char *stream_text(int stream)
{
    if (stream == SPAN_STREAM_HOST)
        return "host";
    return stream == SPAN_STREAM_BUFFERS ? "fused buffers"
                                         : names_of(stream_names, stream);
}

static size_t add_streams(struct drawing *x, const char *names[SPAN_STREAMS])
{
    size_t track_at[SPAN_STREAMS] = { 0 }, n = 0;
    bool used[SPAN_STREAMS];
    find_streams(x->f, used);
    for (int k = 0; k < SPAN_STREAMS; k++) {
        int stream = k == 0 ? SPAN_STREAM_HOST : k <= SPAN_STREAM_HOST ? k - 1 : k;
        if (!used[stream])
            continue;
        track_at[stream] = n;
        names[n++] = stream_text(stream);
    }
    for (int64_t i = 0; i < x->f->spans.n; i++) {
        const struct span *s = &x->f->spans.v[i];
        if (used[s->stream])
            add_box(x, track_at[s->stream], s, s->begun_ps, s->ended_ps, false);
    }
    return n;
}

/* What a dense pipeline's axis leaves out: from when the first stage has done as many
 * backward passes as it takes to see a period, to its last forward passes. False: all is
 * shown. */
static bool find_break(const struct step_figures *f, int64_t microbatches,
                       double *from_s, double *to_s)
{
    const int32_t shown = 3; /* periods, before and after */
    double end_s = 0;
    *from_s = 0;
    *to_s = INFINITY;
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        end_s = fmax(end_s, (double)s->ended_ps * 1e-12);
        if (s->track != 0 || s->stream != STREAM_COMPUTE || s->number < 0)
            continue;
        if (s->kind == SPAN_BACKWARD && s->number < shown)
            *from_s = fmax(*from_s, (double)s->ended_ps * 1e-12);
        if (s->kind == SPAN_FORWARD && s->number >= microbatches - shown)
            *to_s = fmin(*to_s, (double)s->begun_ps * 1e-12);
    }
    return *from_s > 0 && *to_s - *from_s > 0.3 * end_s;
}

/* The share of the step in which a stage does nothing, as its name says it. */
static char *stage_text(const struct drawing *x, int32_t track, double end_s)
{
    double busy_s = 0;
    for (int64_t i = 0; i < x->boxes.n; i++)
        if (x->boxes.v[i].track == (size_t)track)
            busy_s += x->boxes.v[i].end_s - x->boxes.v[i].start_s;
    return xasprintf("stage %" PRId64 ", idle %.0f %%",
                     (int64_t)x->f->tracks[track].stage,
                     end_s > 0 ? 100 * (1 - fmin(busy_s / end_s, 1)) : 0);
}

/* The figure ----------------------------------------------------------------------- */

static bool is_dense(const struct scenario *s)
{
    return s->training.microbatches * s->parallel.stages.virtual_stages >
           CHART_WIDTH / 6;
}

static char *subtitle(const struct step_figures *f, const struct scenario *s,
                      bool broken)
{
    char omitted[96] = "";
    if (f->n_tracks > 0 && f->tracks[0].extra > 0)
        snprintf(omitted, sizeof(omitted),
                 "; %" PRId64 " more accumulation steps not drawn",
                 (int64_t)f->tracks[0].extra);
    if (!is_pipeline(f))
        return xasprintf("What does the first rank do, and when? White: nothing%s",
                         omitted);
    return xasprintf("%s, %" PRId64 " microbatches. Hatched: bubbles%s%s%s",
                     written_schedule(names_of(parallelism_schedule_names,
                                               (int)s->parallel.stages.schedule)),
                     (int64_t)s->training.microbatches,
                     is_dense(s) ? "; heights: shares of the time" : "",
                     broken ? "; the break leaves out the middle" : "", omitted);
}

double figure_step_timeline_height(const struct step_figures *f)
{
    enum {
        TRACK_H = 26,
        STREAM_H = 34,
        AROUND = 175,
        HEIGHT_MIN = 260,
        HEIGHT_MAX = 1000
    };
    bool used[SPAN_STREAMS];
    double height = AROUND + (is_pipeline(f) ? f->n_tracks * TRACK_H : 0);
    find_streams(f, used);
    for (int k = 0; k < SPAN_STREAMS && !is_pipeline(f); k++)
        height += used[k] ? STREAM_H : 0;
    return fmin(fmax(height, HEIGHT_MIN), HEIGHT_MAX);
}

void figure_step_lanes(const struct step_figures *f, struct timeline t, struct draw *d)
{
    struct drawing x = { .f = f, .chunks = 1 };
    const char *streams[SPAN_STREAMS];
    char **stages = xcalloc((size_t)f->n_tracks + 1, sizeof(*stages));
    for (int64_t i = 0; i < f->spans.n; i++)
        if (f->spans.v[i].chunk >= x.chunks)
            x.chunks = f->spans.v[i].chunk + 1;
    if (is_pipeline(f))
        add_stages(&x);
    else
        t.n_tracks = add_streams(&x, streams);
    double end_s = t.end_s;
    for (int64_t i = 0; i < x.boxes.n; i++)
        end_s = fmax(end_s, x.boxes.v[i].end_s);
    for (int32_t i = 0; i < f->n_tracks; i++)
        stages[i] = stage_text(&x, i, end_s);
    choose_kinds(&x);
    t.tracks = is_pipeline(f) ? (const char *const *)stages : streams;
    t.n_tracks = is_pipeline(f) ? (size_t)f->n_tracks : t.n_tracks;
    t.kinds = x.kinds;
    t.meanings = x.meanings;
    t.n_kinds = x.n_kinds;
    t.boxes = x.boxes.v;
    t.n_boxes = (size_t)x.boxes.n;
    timeline_draw(&t, d);
    for (int32_t i = 0; i < f->n_tracks; i++)
        free(stages[i]);
    for (int64_t i = 0; i < x.numbers.n; i++)
        free(x.numbers.v[i]);
    VEC_RELEASE(&x.numbers);
    VEC_RELEASE(&x.boxes);
    free(stages);
}

void figure_step_timeline(const struct step_figures *f, const struct scenario *s,
                          struct draw *d)
{
    double from_s = 0, to_s = 0;
    bool broken = is_pipeline(f) && is_dense(s) &&
                  find_break(f, s->training.microbatches, &from_s, &to_s);
    char *title = figure_step_title("A training step", s),
         *question = subtitle(f, s, broken);
    char *source = figure_step_provenance(s, false);
    figure_step_lanes(f,
                      (struct timeline) { .title = title,
                                          .subtitle = question,
                                          .provenance = source,
                                          .skip_from_s = broken ? from_s : 0,
                                          .skip_to_s = broken ? to_s : 0,
                                          .hatched = is_pipeline(f) },
                      d);
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
