#include "draw/timeline.h"

#include "draw/frame.h"
#include "draw/palette.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACK_MIN = 5,
    TITLE_H = 40,
    AXIS_H = 40,
    LEGEND_H = 40,
    AROUND = 30, /* subtitle and edges */
    BREAK_W = 12
}; /* pixels */

enum { STRETCH = 6, EIGHTHS = 8 }; /* of dense tracks: columns, steps of shares */

/* The colour of a kind. */
#define SHADE_MOST 0.45 /* of white, in the last chunk of a stage */

static uint32_t kind_colour(const struct timeline *t, size_t kind)
{
    uint32_t meant = t->meanings ? meaning_colour(t->meanings[kind]) : 0;

    return meant ? meant : palette_at(kind);
}

/* The time axis in two parts, where it leaves something out; else the first is all. */
struct broken {
    bool is;
    struct axis_view part[2];
};

struct tracks {
    const struct timeline *t;
    struct broken *x;
    struct frame *f;
    struct draw *d;
    size_t every;   /* track every * i is drawn in row i */
    size_t columns; /* pixels across */
    double row_h;
    float *cover; /* (columns, kinds): share of a pixel that narrow boxes fill */
};

/* Where a time is; NAN within what is left out. */
static double time_at(const struct tracks *l, double time_s)
{
    if (!l->x->is)
        return axis_at(&l->f->x, time_s);
    if (time_s > l->t->skip_from_s && time_s < l->t->skip_to_s)
        return NAN;
    return axis_at(&l->x->part[time_s >= l->t->skip_to_s], time_s);
}

/* Both ends of a box, cut at a break; false: it is left out. */
static bool box_at(const struct tracks *l, const struct timeline_box *b, double *x0,
                   double *x1)
{
    double from = l->t->skip_from_s, to = l->t->skip_to_s, start = b->start_s,
           end = b->end_s;

    if (l->x->is && start < to && end > from) {
        if (start >= from && end <= to)
            return false;
        if (start < from)
            end = from; /* what goes on after the break is seldom seen, and not drawn */
        else
            start = to;
    }
    *x0 = time_at(l, start);
    *x1 = time_at(l, end);
    return true;
}

static void track_box(const struct tracks *l, size_t row, double x, double w,
                      uint32_t fill, const char *text)
{
    double gap = l->row_h > 12 ? 2 : l->row_h > 4 ? 1 : 0;
    struct draw_box box = { x, l->f->plot.y + (double)row * l->row_h + gap, w,
                            l->row_h - 2 * gap };
    struct draw_style style = { .cls = "box", .fill = fill };

    if (w > 5) {
        style.stroke = PALETTE_WHITE;
        style.width = 0.6;
    }
    draw_rect(l->d, box, &style);
    if (text && l->row_h >= 14 && draw_text_width(text, 10, false) + 2 <= w)
        draw_text(l->d, x + w / 2, box.y + box.h / 2, text,
                  &(struct draw_text) { .cls = "box-label",
                                        .size = 10,
                                        .anchor = DRAW_MIDDLE,
                                        .level = DRAW_CENTRE,
                                        .amount = true,
                                        .colour = draw_ink_on(l->d, fill) });
}

/* Adds a narrow box to the pixels it touches. */
static void add_cover(const struct tracks *l, double x0, double x1, size_t kind)
{
    double a = x0 - l->f->plot.x, b = x1 - l->f->plot.x;

    for (double c = fmax(floor(a), 0); c < b && c < (double)l->columns; c++)
        l->cover[(size_t)c * l->t->n_kinds + kind] +=
            (float)(fmin(b, c + 1) - fmax(a, c));
}

/* The kind that covers most of a pixel, and how much is covered, in quarters. */
static size_t most_of(const struct tracks *l, size_t column, int *quarters)
{
    const float *cover = l->cover + column * l->t->n_kinds;
    size_t best = 0;
    double sum = 0;

    for (size_t k = 0; k < l->t->n_kinds; k++) {
        sum += (double)cover[k];
        best = cover[k] > cover[best] ? k : best;
    }
    *quarters = sum <= 0 ? 0 : (int)fmin(4, ceil(sum * 4 - 1e-3));
    return best;
}

static void draw_covered(const struct tracks *l, size_t row)
{
    size_t start = 0, kind = 0;
    int level = 0;

    for (size_t c = 0; c <= l->columns; c++) {
        int now = 0;
        size_t k = c < l->columns ? most_of(l, c, &now) : 0;
        if (now == level && (k == kind || now == 0))
            continue;
        if (level > 0)
            track_box(l, row, l->f->plot.x + (double)start, (double)(c - start),
                      palette_mix(PALETTE_WHITE, kind_colour(l->t, kind),
                                  0.25 * level + 0.001),
                      NULL);
        start = c;
        kind = k;
        level = now;
    }
}

/* The shares of kinds in a stretch of columns, in eighths of it, the last kinds
 * first. */
static void shares_of(const struct tracks *l, size_t from, int *eighths)
{
    double sum = 0, before = 0;

    for (size_t k = l->t->n_kinds; k-- > 0;) {
        for (size_t c = from; c < from + STRETCH && c < l->columns; c++)
            sum += (double)l->cover[c * l->t->n_kinds + k];
        int upto = (int)fmin(EIGHTHS, floor(sum / STRETCH * EIGHTHS + 0.5));
        eighths[k] = upto - (int)before;
        before = upto;
    }
}

static void draw_shares(const struct tracks *l, size_t row, size_t from, size_t to,
                        const int *eighths)
{
    double h = l->row_h - (l->row_h > 4 ? 2 : 0), unit = h / EIGHTHS;
    double y = l->f->plot.y + (double)row * l->row_h + (l->row_h + h) / 2;

    for (size_t k = l->t->n_kinds; k-- > 0;) {
        struct draw_style style = { .cls = "box", .fill = kind_colour(l->t, k) };
        y -= eighths[k] * unit;
        if (eighths[k] > 0)
            draw_rect(l->d,
                      (struct draw_box) { l->f->plot.x + (double)from, y,
                                          (double)(to - from), eighths[k] * unit },
                      &style);
    }
}

static void draw_stretches(const struct tracks *l, size_t row)
{
    int held[TIMELINE_KINDS_MAX] = { 0 }, now[TIMELINE_KINDS_MAX];
    size_t start = 0;

    for (size_t c = 0; c < l->columns; c += STRETCH) {
        shares_of(l, c, now);
        if (memcmp(now, held, l->t->n_kinds * sizeof(*now)) == 0)
            continue;
        draw_shares(l, row, start, c, held);
        memcpy(held, now, sizeof(held));
        start = c;
    }
    draw_shares(l, row, start, l->columns, held);
}

/* Whether narrow boxes fill more than a quarter of the track. */
static bool is_dense(const struct tracks *l)
{
    double sum = 0;

    for (size_t i = 0; i < l->columns * l->t->n_kinds; i++)
        sum += (double)l->cover[i];
    return sum > (double)l->columns / 4;
}

/* Sums up the boxes narrower than so many pixels. */
static void cover_narrow(const struct tracks *l, const size_t *index, size_t n,
                         double narrow)
{
    memset(l->cover, 0, l->columns * l->t->n_kinds * sizeof(*l->cover));
    for (size_t i = 0; i < n; i++) {
        const struct timeline_box *b = &l->t->boxes[index[i]];
        double x0, x1;
        if (box_at(l, b, &x0, &x1) && x1 - x0 < narrow)
            add_cover(l, x0, x1, b->kind);
    }
}

/* Boxes of one track, given as indices. */
static void draw_track(const struct tracks *l, size_t row, const size_t *index,
                       size_t n)
{
    double narrow = 1;
    char id[32];

    cover_narrow(l, index, n, narrow);
    bool dense = is_dense(l);
    if (dense) /* a comb of boxes among the shares says nothing */
        cover_narrow(l, index, n, narrow = STRETCH);
    snprintf(id, sizeof(id), "track-%zu", row * l->every);
    draw_group(l->d, id, "track", NULL);
    if (dense)
        draw_stretches(l, row);
    else
        draw_covered(l, row);
    for (size_t i = 0; i < n; i++) {
        const struct timeline_box *b = &l->t->boxes[index[i]];
        double x0, x1;
        if (box_at(l, b, &x0, &x1) && x1 - x0 >= narrow)
            track_box(l, row, x0, x1 - x0,
                      palette_mix(kind_colour(l->t, b->kind), PALETTE_WHITE,
                                  SHADE_MOST * b->shade),
                      b->text);
    }
    draw_group_end(l->d);
}

/* Boxes by track: a counting sort. Returns indices; first[i]..first[i+1] are track
 * i's. */
static size_t *by_track(const struct timeline *t, size_t *first)
{
    size_t *index = xcalloc(t->n_boxes + 1, sizeof(*index));

    memset(first, 0, (t->n_tracks + 2) * sizeof(*first));
    for (size_t i = 0; i < t->n_boxes; i++)
        first[t->boxes[i].track + 2]++;
    for (size_t i = 2; i < t->n_tracks + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < t->n_boxes; i++)
        index[first[t->boxes[i].track + 1]++] = i;
    return index;
}

static void draw_tracks(struct tracks *l, size_t rows)
{
    size_t *first = xcalloc(l->t->n_tracks + 2, sizeof(*first));
    size_t *index = by_track(l->t, first);

    l->columns = (size_t)l->f->plot.w;
    l->row_h = l->f->plot.h / (double)rows;
    l->cover = xcalloc(l->columns * (l->t->n_kinds + 1), sizeof(*l->cover));
    draw_group(l->d, "tracks", "tracks", &l->f->plot);
    if (l->t->hatched)
        draw_hatch(l->d, l->f->plot, PALETTE_HATCH);
    for (size_t row = 0; row < rows; row++) {
        size_t track = row * l->every;
        draw_track(l, row, index + first[track], first[track + 1] - first[track]);
    }
    draw_group_end(l->d);
    free(l->cover);
    free(index);
    free(first);
}

static struct axis track_axis(const struct timeline *t, size_t every,
                              const char **names)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_tracks; i += every)
        names[n++] = t->tracks[i];
    return (
        struct axis) { .scale = AXIS_CATEGORY, .categories = names, .n_categories = n };
}

static void prepare(const struct timeline *t, struct frame *f)
{
    axis_view_include(&f->x, 0);
    if (t->end_s > 0)
        axis_view_include(&f->x, t->end_s);
    for (size_t i = 0; i < t->n_boxes; i++) {
        assert(t->boxes[i].track < t->n_tracks && t->boxes[i].kind < t->n_kinds);
        axis_view_include(&f->x, t->boxes[i].end_s);
    }
    for (size_t k = 0; k < t->n_kinds && !t->no_legend; k++)
        legend_add(&f->legend, (struct legend_item) { .name = t->kinds[k],
                                                      .key = LEGEND_BOX,
                                                      .colour = kind_colour(t, k) });
    f->y_down = true;
}

/* One part of a broken axis, on its pixels; its ticks, each with its unit, go to the
 * frame's. */
static void lay_part(struct broken *x, int which, const struct axis *axis, double lo,
                     double hi, double from, double to, struct frame *f)
{
    struct axis_view *v = &x->part[which];

    axis_view_init(v, axis);
    axis_view_include(v, lo);
    axis_view_include(v, hi);
    axis_view_fix(v);
    v->unit = NULL;
    axis_view_layout(v, from, to, false, 0);
    for (int64_t i = 0; i < v->ticks.n; i++)
        VEC_PUSH(&f->x.ticks, v->ticks.v[i]);
    v->ticks.n = 0; /* the frame frees their texts */
}

/* The axis of the frame becomes one of two parts of the same scale. */
static void break_axis(const struct timeline *t, struct broken *x, struct frame *f,
                       const struct axis *axis)
{
    double from = t->skip_from_s, to = t->skip_to_s, lo = f->x.lo, hi = f->x.hi;
    double shown = from - lo + hi - to, w = f->plot.w - BREAK_W;

    x->is = to > from && from > lo && hi > to;
    if (!x->is)
        return;
    for (int64_t i = 0; i < f->x.ticks.n; i++)
        free(f->x.ticks.v[i].text);
    f->x.ticks.n = 0;
    f->x.unit = NULL;
    lay_part(x, 0, axis, lo, from, f->plot.x, f->plot.x + w * (from - lo) / shown, f);
    lay_part(x, 1, axis, to, hi, f->plot.x + f->plot.w - w * (hi - to) / shown,
             f->plot.x + f->plot.w, f);
}

/* Two slanted lines across the data. */
static void draw_break(const struct tracks *l)
{
    double x = l->x->part[0].to, top = l->f->plot.y, low = top + l->f->plot.h;

    if (!l->x->is)
        return;
    draw_group(l->d, "break", "break", &l->f->plot);
    draw_rect(l->d, (struct draw_box) { x, top, BREAK_W, low - top },
              &(struct draw_style) { .fill = PALETTE_WHITE });
    for (int i = 0; i < 2; i++)
        draw_line(l->d, x + i * BREAK_W, low, x + i * BREAK_W, top,
                  &(struct draw_style) {
                      .stroke = PALETTE_SOFT, .dash = DRAW_DASHED, .width = 1.2 });
    draw_group_end(l->d);
}

/* Every how manyth track there is room for. */
static size_t tracks_every(const struct timeline *t, double height)
{
    double around = AROUND + (t->title ? TITLE_H : 0) + (t->no_axis ? 0 : AXIS_H) +
                    (t->no_legend ? 0 : LEGEND_H);
    double room = fmax(1, (height - around) / TRACK_MIN);

    return (size_t)fmax(1, ceil((double)t->n_tracks / room));
}

void timeline_draw(const struct timeline *t, struct draw *d)
{
    size_t every = d->grows && t->track_h > 0 ? 1 : tracks_every(t, d->height);
    const char **names = xcalloc(t->n_tracks + 1, sizeof(*names));
    struct axis x = { .label = "time", .unit = AXIS_SECONDS, .tight = true };
    struct axis y = track_axis(t, every, names);
    char *note = every == 1
                     ? NULL
                     : xasprintf("%s%s%zu of %zu tracks are shown",
                                 t->subtitle ? t->subtitle : "", t->subtitle ? " " : "",
                                 y.n_categories, t->n_tracks);
    struct frame f;
    struct broken broken = { 0 };
    struct tracks l = { .t = t, .x = &broken, .f = &f, .d = d, .every = every };

    frame_init(&f, t->title, note ? note : t->subtitle, &x, &y);
    f.provenance = t->provenance;
    f.caption = t->caption;
    f.legend.below = t->legend_below;
    f.no_x_axis = t->no_axis;
    f.least_h = t->track_h * (double)y.n_categories;
    prepare(t, &f);
    frame_layout(&f, d);
    break_axis(t, &broken, &f, &x);
    frame_draw(&f, d);
    if (t->n_tracks)
        draw_tracks(&l, y.n_categories);
    draw_break(&l);
    for (int i = 0; i < 2 && broken.is; i++)
        axis_view_release(&broken.part[i]);
    frame_release(&f);
    free(names);
    free(note);
}
