/* The cairo back ends: PNG at twice the nominal resolution, and PDF. */
#include "draw/draw.h"

#include "base/xmalloc.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>

enum { PNG_SCALE = 2 };

struct canvas {
    cairo_surface_t *surface;
    cairo_t *cr;
    struct strbuf bytes; /* what a stream surface wrote */
};

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned n)
{
    strbuf_add(closure, (const char *)data, n);
    return CAIRO_STATUS_SUCCESS;
}

static void begin(struct draw *d, struct canvas *c)
{
    c->cr = cairo_create(c->surface);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    d->back = c;
}

static void png_begin(struct draw *d)
{
    struct canvas *c = xcalloc(1, sizeof(*c));

    strbuf_init(&c->bytes);
    c->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(d->width * PNG_SCALE),
                                   (int)ceil(d->height * PNG_SCALE));
    begin(d, c);
    cairo_scale(c->cr, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_paint(c->cr);
}

static void pdf_begin(struct draw *d)
{
    struct canvas *c = xcalloc(1, sizeof(*c));

    strbuf_init(&c->bytes);
    /* a point is 4/3 of a pixel: the page has the figure's nominal size */
    c->surface = cairo_pdf_surface_create_for_stream(collect, &c->bytes,
                                                     d->width * 0.75, d->height * 0.75);
    /* no clock in the output */
    cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                   "2000-01-01T00:00:00Z");
    begin(d, c);
    cairo_scale(c->cr, 0.75, 0.75);
}

static cairo_t *cr_of(const struct draw *d)
{
    return ((struct canvas *)d->back)->cr;
}

static void set_colour(cairo_t *cr, uint32_t c)
{
    cairo_set_source_rgba(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0,
                          (c & 0xff) / 255.0, (c >> 24) / 255.0);
}

/* Fills and strokes the current path. */
static void paint(cairo_t *cr, const struct draw_style *style)
{
    double width = style->width > 0 ? style->width : 1, dash[4];
    size_t n = draw_dash_pattern(style->dash, dash);

    if (style->fill >> 24) {
        set_colour(cr, style->fill);
        cairo_fill_preserve(cr);
    }
    if (style->stroke >> 24) {
        set_colour(cr, style->stroke);
        cairo_set_line_width(cr, width);
        for (size_t i = 0; i < n; i++)
            dash[i] *= fmax(width, 1);
        cairo_set_dash(cr, dash, (int)n, 0);
        cairo_stroke_preserve(cr);
    }
    cairo_new_path(cr);
}

static void rounded(cairo_t *cr, struct draw_box b, double r)
{
    const double quarter = acos(-1.0) / 2;

    cairo_new_sub_path(cr);
    cairo_arc(cr, b.x + b.w - r, b.y + r, r, -quarter, 0);
    cairo_arc(cr, b.x + b.w - r, b.y + b.h - r, r, 0, quarter);
    cairo_arc(cr, b.x + r, b.y + b.h - r, r, quarter, 2 * quarter);
    cairo_arc(cr, b.x + r, b.y + r, r, 2 * quarter, 3 * quarter);
    cairo_close_path(cr);
}

static void cairo_rect(struct draw *d, struct draw_box box,
                       const struct draw_style *style)
{
    if (style->radius > 0)
        rounded(cr_of(d), box, fmin(style->radius, fmin(box.w, box.h) / 2));
    else
        cairo_rectangle(cr_of(d), box.x, box.y, box.w, box.h);
    paint(cr_of(d), style);
}

static void cairo_circle(struct draw *d, struct draw_point centre, double radius,
                         const struct draw_style *style)
{
    cairo_new_sub_path(cr_of(d));
    cairo_arc(cr_of(d), centre.x, centre.y, radius, 0, 2 * acos(-1.0));
    paint(cr_of(d), style);
}

static void cairo_points(struct draw *d, const struct draw_point *p, size_t n,
                         bool closed, const struct draw_style *style)
{
    for (size_t i = 0; i < n; i++)
        cairo_line_to(cr_of(d), p[i].x, p[i].y);
    if (closed)
        cairo_close_path(cr_of(d));
    paint(cr_of(d), style);
}

static void cairo_bezier(struct draw *d, const struct draw_point p[4],
                         const struct draw_style *style)
{
    cairo_move_to(cr_of(d), p[0].x, p[0].y);
    cairo_curve_to(cr_of(d), p[1].x, p[1].y, p[2].x, p[2].y, p[3].x, p[3].y);
    paint(cr_of(d), style);
}

/* Glyphs are narrowed or widened to the width the layout counted with. */
static void cairo_label(struct draw *d, struct draw_point at, const char *s,
                        const struct draw_text *style)
{
    static const double start[] = {
        [DRAW_START] = 0, [DRAW_MIDDLE] = -0.5, [DRAW_END] = -1
    };
    cairo_t *cr = cr_of(d);
    double want = draw_text_width(s, style->size, style->bold);
    cairo_text_extents_t got;

    cairo_save(cr);
    cairo_select_font_face(cr, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           style->bold ? CAIRO_FONT_WEIGHT_BOLD
                                       : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, style->size);
    cairo_text_extents(cr, s, &got);
    cairo_translate(cr, at.x, at.y);
    cairo_rotate(cr, style->rotate * (acos(-1.0) / 180));
    cairo_translate(cr, start[style->anchor] * want, 0);
    if (got.x_advance > 0 && want > 0)
        cairo_scale(cr, want / got.x_advance, 1);
    set_colour(cr, style->colour);
    cairo_move_to(cr, 0, 0);
    cairo_show_text(cr, s);
    cairo_restore(cr);
    cairo_new_path(cr);
}

static void cairo_enter(struct draw *d, const char *id, const char *cls,
                        const struct draw_box *clip)
{
    (void)id;
    (void)cls;
    cairo_save(cr_of(d));
    if (clip) {
        cairo_rectangle(cr_of(d), clip->x, clip->y, clip->w, clip->h);
        cairo_clip(cr_of(d));
    }
}

static void cairo_leave(struct draw *d)
{
    cairo_restore(cr_of(d));
}

static int finish(struct draw *d, struct strbuf *out, struct err *err, bool png)
{
    struct canvas *c = d->back;
    cairo_status_t status = cairo_status(c->cr);

    if (status == CAIRO_STATUS_SUCCESS && png)
        status = cairo_surface_write_to_png_stream(c->surface, collect, &c->bytes);
    cairo_surface_finish(c->surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(c->surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return err_set(err, "%s: the figure cannot be drawn: %s",
                       d->to_file ? d->file.path : "figure",
                       cairo_status_to_string(status));
    strbuf_add(out, strbuf_get(&c->bytes), c->bytes.len);
    return 0;
}

static int png_finish(struct draw *d, struct strbuf *out, struct err *err)
{
    return finish(d, out, err, true);
}

static int pdf_finish(struct draw *d, struct strbuf *out, struct err *err)
{
    return finish(d, out, err, false);
}

static void release(struct draw *d)
{
    struct canvas *c = d->back;

    cairo_destroy(c->cr);
    cairo_surface_destroy(c->surface);
    strbuf_release(&c->bytes);
    free(c);
    d->back = NULL;
}

#define CAIRO_METHODS                                                 \
    .rect = cairo_rect, .circle = cairo_circle, .path = cairo_points, \
    .curve = cairo_bezier, .text = cairo_label, .group = cairo_enter, \
    .group_end = cairo_leave, .release = release

const struct draw_methods draw_png_methods = {
    .ending = ".png", .begin = png_begin, .finish = png_finish, CAIRO_METHODS
};

const struct draw_methods draw_pdf_methods = {
    .ending = ".pdf", .begin = pdf_begin, .finish = pdf_finish, CAIRO_METHODS
};
