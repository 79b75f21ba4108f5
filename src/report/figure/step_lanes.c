/* What was seen of a step as lanes of boxes: a pipeline's stages, or the streams of a
 * rank. */
#include "draw/chart.h"
#include "draw/timeline.h"
#include "report/figure/meaning.h"
#include "report/figure/step_data.h"
#include "report/figure/step_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct step_lanes {
    const struct step_figures *f;
    VEC(struct timeline_box) boxes; /* tracks are stages or used streams */
    VEC(char *) numbers;            /* of microbatches */
    const char *streams[SPAN_STREAMS];
    size_t n_streams;
    double *idle_frac; /* (stages): share of the step in which it does nothing */
    int32_t chunks;    /* of a stage, at most */
    double end_s, pass_s;
};

/* What is drawn of it. */
struct picture {
    struct timeline_box *boxes;
    size_t n_boxes;
    const char *kinds[SPAN_KINDS];
    enum meaning meanings[SPAN_KINDS];
    size_t n_kinds;
    char **names; /* of rows */
    int32_t *row_of;
    bool *left_out;
    size_t n_rows;
};

static bool is_pipeline(const struct step_figures *f)
{
    return f->n_tracks > 1;
}

static const char *number_text(struct step_lanes *x, int32_t number)
{
    if (number < 0)
        return NULL;
    for (int64_t n = x->numbers.n; n <= number; n++)
        VEC_PUSH(&x->numbers, xasprintf("%" PRId64, (int64_t)n));
    return x->numbers.v[number];
}

static void add_box(struct step_lanes *x, size_t track, const struct span *s,
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
static void add_exposed(struct step_lanes *x, const struct span *s,
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

static void add_stages(struct step_lanes *x)
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

static size_t add_streams(struct step_lanes *x, const char *names[SPAN_STREAMS])
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

struct step_lanes *figure_lanes_new(const struct step_figures *f)
{
    struct step_lanes *x = xcalloc(1, sizeof(*x));
    x->f = f;
    x->chunks = 1;
    x->idle_frac = xcalloc((size_t)f->n_tracks + 1, sizeof(*x->idle_frac));
    for (int64_t i = 0; i < f->spans.n; i++)
        if (f->spans.v[i].chunk >= x->chunks)
            x->chunks = f->spans.v[i].chunk + 1;
    if (is_pipeline(f))
        add_stages(x);
    else
        x->n_streams = add_streams(x, x->streams);
    for (int64_t i = 0; i < x->boxes.n; i++)
        x->end_s = fmax(x->end_s, x->boxes.v[i].end_s);
    x->pass_s = figure_parts_pass(x->boxes.v, (size_t)x->boxes.n);
    return x;
}

void figure_lanes_free(struct step_lanes *x)
{
    for (int64_t i = 0; x && i < x->numbers.n; i++)
        free(x->numbers.v[i]);
    if (x) {
        VEC_RELEASE(&x->numbers);
        VEC_RELEASE(&x->boxes);
        free(x->idle_frac);
    }
    free(x);
}

const double *figure_lanes_idle(const struct step_lanes *x)
{
    for (int32_t i = 0; i < x->f->n_tracks; i++)
        x->idle_frac[i] = 0;
    for (int64_t i = 0; is_pipeline(x->f) && i < x->boxes.n; i++)
        x->idle_frac[x->boxes.v[i].track] +=
            x->boxes.v[i].end_s - x->boxes.v[i].start_s;
    for (int32_t i = 0; i < x->f->n_tracks; i++)
        x->idle_frac[i] = x->end_s > 0 ? 1 - fmin(x->idle_frac[i] / x->end_s, 1) : 0;
    return x->idle_frac;
}

double figure_lanes_pass(const struct step_lanes *x)
{
    return is_pipeline(x->f) ? x->pass_s : 0;
}

/* Drawing -------------------------------------------------------------------------- */

/* Rows where nobody says how many; pixels of a row, of what is around the rows, and left
 * and right of the data beyond a stage's name. */
enum {
    ROWS_MAX = 12,
    ROW_LEAST = 18,
    AROUND_ROWS = 150,
    MARGINS = 48,
    NAME_MOST = 110
};

size_t figure_lanes_rows(const struct draw *d, double height)
{
    return d->grows ? ROWS_MAX : (size_t)fmax((height - AROUND_ROWS) / ROW_LEAST, 1);
}

bool figure_lanes_dense(const struct step_lanes *x, double width)
{
    return is_pipeline(x->f) &&
           figure_parts_needed(x->pass_s, x->end_s, width - MARGINS - NAME_MOST);
}

/* Names of the rows; those left out are named together. */
static void name_rows(const struct step_lanes *x, struct picture *p, bool idle)
{
    const struct watched *stages = x->f->tracks;
    for (int32_t i = 0, last; i < x->f->n_tracks; i = last + 1) {
        last = i;
        if (p->row_of[i] >= 0) {
            p->names[p->row_of[i]] =
                idle ? xasprintf("stage %" PRId64 ", idle %.0f %%",
                                 (int64_t)stages[i].stage, 100 * x->idle_frac[i])
                     : xasprintf("stage %" PRId64, (int64_t)stages[i].stage);
            continue;
        }
        while (last + 1 < x->f->n_tracks && p->row_of[last + 1] < 0)
            last++;
        p->names[p->row_of[i - 1] + 1] =
            xasprintf("%" PRId64 " to %" PRId64, (int64_t)stages[i].stage,
                      (int64_t)stages[last].stage);
    }
}

/* The boxes that have a row. */
static void choose_rows(const struct step_lanes *x, struct picture *p, size_t most)
{
    size_t n = (size_t)x->f->n_tracks;
    p->row_of = xcalloc(n + 1, sizeof(*p->row_of));
    p->left_out = xcalloc(n + 1, sizeof(*p->left_out));
    p->names = xcalloc(n + 1, sizeof(*p->names));
    p->n_rows = figure_parts_rows(x->f->n_tracks, most, p->row_of, p->left_out);
    for (int64_t i = 0; i < x->boxes.n; i++) {
        struct timeline_box b = x->boxes.v[i];
        int32_t row = p->row_of[b.track];
        b.track = (size_t)row;
        if (row >= 0)
            p->boxes[p->n_boxes++] = b;
    }
}

static bool is_shown(const struct timeline_box *b, const struct timeline *t)
{
    for (size_t k = 0; k < t->n_parts; k++)
        if (b->start_s < t->parts[k].to_s && b->end_s > t->parts[k].from_s)
            return true;
    return t->n_parts == 0;
}

/* The legend has the kinds that can be seen: some box of them is half a pixel wide, or
 * all of them together fill a track's pixel or two. */
static void choose_kinds(const struct step_lanes *x, const struct timeline *t,
                         struct picture *p)
{
    double most_s[SPAN_KINDS] = { 0 }, sum_s[SPAN_KINDS] = { 0 }, shown_s = 0;
    bool seen[SPAN_KINDS];
    size_t at[SPAN_KINDS], n = 0;
    for (size_t k = 0; k < t->n_parts; k++)
        shown_s += t->parts[k].to_s - t->parts[k].from_s;
    double pixel_s = (t->n_parts > 0 ? shown_s : x->end_s) / CHART_WIDTH;
    for (size_t i = 0; i < p->n_boxes; i++) {
        const struct timeline_box *b = &p->boxes[i];
        if (!is_shown(b, t))
            continue;
        most_s[b->kind] = fmax(most_s[b->kind], b->end_s - b->start_s);
        sum_s[b->kind] += (b->end_s - b->start_s) / x->f->n_tracks;
    }
    for (int k = 0; k < SPAN_KINDS; k++) {
        seen[k] = sum_s[k] > 0 && (most_s[k] > pixel_s / 2 || sum_s[k] > 8 * pixel_s ||
                                   !is_pipeline(x->f));
        at[k] = p->n_kinds;
        p->meanings[p->n_kinds] = figure_span_kinds[k].meaning;
        if (seen[k])
            p->kinds[p->n_kinds++] = figure_span_kinds[k].name;
    }
    for (size_t i = 0; i < p->n_boxes; i++) {
        struct timeline_box b = p->boxes[i];
        if (!seen[b.kind])
            continue;
        b.kind = at[b.kind];
        p->boxes[n++] = b;
    }
    p->n_boxes = n;
}

/* The rows and the parts of the time that a pipeline's picture has. */
static void choose_stages(const struct step_lanes *x,
                          const struct step_lanes_look *look, const struct draw *d,
                          struct timeline *t, struct picture *p)
{
    double name_w = 0;
    figure_lanes_idle(x);
    choose_rows(x, p, look->rows > 0 ? look->rows : ROWS_MAX);
    name_rows(x, p, !look->no_idle);
    for (size_t i = 0; i < p->n_rows; i++)
        name_w = fmax(name_w, draw_text_width(p->names[i], AXIS_FONT, false));
    if (look->pass_s > 0)
        t->n_parts =
            figure_parts_choose(x->boxes.v, (size_t)x->boxes.n, look->pass_s, x->end_s,
                                d->width - MARGINS - name_w, t->parts);
    t->legend_below |= t->n_parts > 0;
    t->no_axis &= t->n_parts == 0; /* each has times of its own */
    t->tracks = (const char *const *)p->names;
    t->left_out = p->left_out;
    t->n_tracks = p->n_rows;
}

void figure_lanes_draw(const struct step_lanes *x, const struct step_lanes_look *look,
                       struct timeline t, struct draw *d)
{
    struct picture p = { .boxes = xcalloc((size_t)x->boxes.n + 1, sizeof(*p.boxes)) };
    if (is_pipeline(x->f)) {
        choose_stages(x, look, d, &t, &p);
    } else {
        for (int64_t i = 0; i < x->boxes.n; i++)
            p.boxes[p.n_boxes++] = x->boxes.v[i];
        t.tracks = x->streams;
        t.n_tracks = x->n_streams;
    }
    choose_kinds(x, &t, &p);
    t.kinds = p.kinds;
    t.meanings = p.meanings;
    t.n_kinds = p.n_kinds;
    t.boxes = p.boxes;
    t.n_boxes = p.n_boxes;
    timeline_draw(&t, d);
    for (size_t i = 0; i < p.n_rows; i++)
        free(p.names[i]);
    free(p.names);
    free(p.row_of);
    free(p.left_out);
    free(p.boxes);
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
    int32_t rows = f->n_tracks < ROWS_MAX ? f->n_tracks : ROWS_MAX;
    double height = AROUND + (is_pipeline(f) ? rows * TRACK_H : 0);
    find_streams(f, used);
    for (int k = 0; k < SPAN_STREAMS && !is_pipeline(f); k++)
        height += used[k] ? STREAM_H : 0;
    return fmin(fmax(height, HEIGHT_MIN), HEIGHT_MAX);
}
