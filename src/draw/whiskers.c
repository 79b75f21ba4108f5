#include "draw/whiskers.h"

#include "base/xmalloc.h"
#include "draw/frame.h"
#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

enum { AROUND = 150, NOTE_FONT = 11, NOTE_GAP = 8 };

static size_t rows_of(const struct whiskers *w)
{
    return w->n_rows < WHISKERS_ROWS_MAX ? w->n_rows : WHISKERS_ROWS_MAX;
}

double whiskers_height(const struct whiskers *w)
{
    return AROUND + WHISKERS_ROW_H * (double)rows_of(w);
}

static void draw_row(const struct whiskers *w, const struct frame *f, struct draw *d,
                     size_t row)
{
    const struct whisker *r = &w->rows[row];
    uint32_t colour = palette_at(0);
    double y = axis_at(&f->y, (double)row);
    double x = axis_at(&f->x, r->dot), end = axis_at(&f->x, fmin(r->end, f->x.hi));
    struct draw_style line = { .cls = "whisker", .stroke = colour, .width = 1.5 };
    char id[32];

    snprintf(id, sizeof(id), "row-%zu", row);
    draw_group(d, id, "row", NULL);
    if (isfinite(x) && isfinite(end)) {
        draw_line(d, x, y, end, y, &line);
        if (r->end <= f->x.hi) /* else it goes on beyond the edge */
            draw_line(d, end, y - 4, end, y + 4, &line);
    }
    if (isfinite(x) && r->dot <= f->x.hi)
        draw_marker(d, DRAW_CIRCLE, x, y, 3.6,
                    &(struct draw_style) { .cls = "marker", .fill = colour });
    if (r->note)
        draw_text(d, f->plot.x + f->plot.w + NOTE_GAP, y, r->note,
                  &(struct draw_text) { .cls = "note",
                                        .size = NOTE_FONT,
                                        .level = DRAW_CENTRE,
                                        .colour = PALETTE_SOFT });
    draw_group_end(d);
}

static double note_room(const struct whiskers *w)
{
    double most = 0;

    for (size_t i = 0; i < rows_of(w); i++)
        if (w->rows[i].note)
            most = fmax(most, draw_text_width(w->rows[i].note, NOTE_FONT, false));
    return most > 0 ? most + NOTE_GAP : 0;
}

static void add_legend(const struct whiskers *w, struct frame *f)
{
    f->legend.below = true;
    legend_add(&f->legend, (struct legend_item) { .name = w->dot_name,
                                                  .key = LEGEND_MARKER,
                                                  .colour = palette_at(0) });
    legend_add(&f->legend, (struct legend_item) { .name = w->end_name,
                                                  .key = LEGEND_LINE,
                                                  .colour = palette_at(0),
                                                  .width = 1.5 });
}

void whiskers_draw(const struct whiskers *w, struct draw *d)
{
    size_t n = rows_of(w);
    const char **names = xcalloc(n + 1, sizeof(*names));
    struct axis y = { .scale = AXIS_CATEGORY, .categories = names, .n_categories = n };
    char *note = n == w->n_rows
                     ? NULL
                     : xasprintf("%s (and %zu more)", w->subtitle ? w->subtitle : "",
                                 w->n_rows - n);
    struct frame f;

    for (size_t i = 0; i < n; i++)
        names[i] = w->rows[i].name;
    frame_init(&f, w->title, note ? note : w->subtitle, &w->value, &y);
    f.provenance = w->provenance;
    f.y_down = true;
    f.right_room = note_room(w);
    f.least_h = WHISKERS_ROW_H * (double)n; /* where heads take more lines than usual */
    for (size_t i = 0; i < n; i++) {
        axis_view_include(&f.x, w->rows[i].dot);
        axis_view_include(&f.x, w->rows[i].end);
    }
    add_legend(w, &f);
    frame_layout(&f, d);
    frame_draw(&f, d);
    for (size_t i = 0; i < n; i++)
        draw_row(w, &f, d, i);
    frame_release(&f);
    free(names);
    free(note);
}
