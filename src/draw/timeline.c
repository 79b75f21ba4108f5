#include "draw/timeline.h"

#include "draw/frame.h"
#include "draw/palette.h"
#include "draw/timeline_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACK_MIN = 5,
    TITLE_H = 40,
    AXIS_H = 40,
    LEGEND_H = 40,
    AROUND = 30 /* subtitle and edges */
};              /* pixels */

enum { STRETCH = 6, EIGHTHS = 8 }; /* of dense tracks: columns, steps of shares */

/* The colour of a kind. */
#define SHADE_MOST 0.45 /* of white, in the last chunk of a stage */

static uint32_t kind_colour(const struct timeline *t, size_t kind)
{
    uint32_t meant = t->meanings ? meaning_colour(t->meanings[kind]) : 0;

    return meant ? meant : palette_at(kind);
}

struct tracks {
    const struct timeline *t;
    struct timeline_parts *x;
    struct frame *f;
    struct draw *d;
    size_t every;   /* track every * i is drawn in row i */
    size_t columns; /* pixels across */
    double row_h;
    float *cover; /* (columns, kinds): share of a pixel that narrow boxes fill */
};

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
        for (size_t k = 0; k < l->x->n; k++)
            if (timeline_parts_box(l->x, k, b, &x0, &x1) && x1 - x0 < narrow)
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
        for (size_t k = 0; k < l->x->n; k++)
            if (timeline_parts_box(l->x, k, b, &x0, &x1) && x1 - x0 >= narrow)
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

/* The row of tracks that are not drawn: blank between two dashed lines. */
static void draw_left_out(const struct tracks *l, size_t row)
{
    const struct draw_style edge = { .stroke = PALETTE_SOFT,
                                     .dash = DRAW_DASHED,
                                     .width = 1.2 };
    struct draw_box p = l->f->plot;
    double top = p.y + (double)row * l->row_h;

    draw_rect(l->d, (struct draw_box) { p.x, top, p.w, l->row_h },
              &(struct draw_style) { .cls = "left-out", .fill = PALETTE_WHITE });
    draw_line(l->d, p.x, top, p.x + p.w, top, &edge);
    draw_line(l->d, p.x, top + l->row_h, p.x + p.w, top + l->row_h, &edge);
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
        if (l->t->left_out && l->t->left_out[track])
            draw_left_out(l, row);
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
    struct timeline_parts parts;
    struct tracks l = { .t = t, .x = &parts, .f = &f, .d = d, .every = every };

    frame_init(&f, t->title, note ? note : t->subtitle, &x, &y);
    f.provenance = t->provenance;
    f.caption = t->caption;
    f.legend.below = t->legend_below;
    f.top_room = timeline_parts_room(t);
    f.no_x_axis = t->no_axis;
    f.least_h = t->track_h * (double)y.n_categories;
    prepare(t, &f);
    frame_layout(&f, d);
    timeline_parts_lay(&parts, t, &f, &x);
    frame_draw(&f, d);
    if (t->n_tracks)
        draw_tracks(&l, y.n_categories);
    timeline_parts_draw(&parts, t, &f, d);
    timeline_parts_release(&parts);
    frame_release(&f);
    free(names);
    free(note);
}
