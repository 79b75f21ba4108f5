/* The cairo back ends: PNG at twice the nominal resolution, and PDF. */
#include "draw/draw.h"

#include "base/late.h"
#include "base/xmalloc.h"
#include "draw/draw_pango.h"

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>

enum { PNG_SCALE = 2 };

#define STRETCH_MOST 1.1

/* clang-format off */
#define FUNCTIONS(F)                                                                \
    F(arc) F(clip) F(close_path) F(create) F(curve_to) F(destroy) F(fill_preserve)  \
    F(image_surface_create) F(line_to) F(move_to) F(new_path) F(new_sub_path)       \
    F(paint) F(pdf_surface_create_for_stream) F(pdf_surface_set_metadata)           \
    F(rectangle) F(restore) F(rotate) F(save) F(scale) F(select_font_face)          \
    F(set_dash) F(set_font_size) F(set_line_join) F(set_line_width)                 \
    F(set_source_rgb) F(set_source_rgba) F(show_text) F(status) F(status_to_string) \
    F(stroke_preserve) F(surface_destroy) F(surface_finish) F(surface_status)       \
    F(surface_write_to_png_stream) F(text_extents) F(translate)
/* clang-format on */
#define MEMBER(name) LATE_MEMBER(cairo_##name, name)
#define PLACE(name) LATE_PLACE(cairo_##name, &cairo.name)

static struct {
    FUNCTIONS(MEMBER)
} cairo; /* written once, by late_load() */

static const struct late_function functions[] = { FUNCTIONS(PLACE) };
static struct late_library library = LATE_LIBRARY(SMSIM_CAIRO, functions);

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
    c->cr = cairo.create(c->surface);
    cairo.set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    d->back = c;
}

static int ready(struct err *err)
{
    const char *missing = late_load(&library);
    return missing ? err_set(err, "figures but .svg need cairo: %s", missing) : 0;
}

static struct canvas *new_canvas(void)
{
    struct canvas *c = xcalloc(1, sizeof(*c));
    const char *missing = late_load(&library);

    assert(!missing); /* else ready() said so */
    (void)missing;
    strbuf_init(&c->bytes);
    return c;
}

static void png_begin(struct draw *d)
{
    struct canvas *c = new_canvas();
    double scale = PNG_SCALE * d->scale;

    c->surface = cairo.image_surface_create(
        CAIRO_FORMAT_RGB24, (int)ceil(d->width * scale), (int)ceil(d->height * scale));
    begin(d, c);
    cairo.scale(c->cr, scale, scale);
    cairo.set_source_rgb(c->cr, 1, 1, 1);
    cairo.paint(c->cr);
}

static void pdf_begin(struct draw *d)
{
    struct canvas *c = new_canvas();
    double scale = 0.75 * d->scale;

    /* a point is 4/3 of a pixel: the page has the figure's nominal size */
    c->surface = cairo.pdf_surface_create_for_stream(
        collect, &c->bytes, d->width * scale, d->height * scale);
    /* no clock in the output */
    cairo.pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                   "2000-01-01T00:00:00Z");
    begin(d, c);
    cairo.scale(c->cr, scale, scale);
}

static cairo_t *cr_of(const struct draw *d)
{
    return ((struct canvas *)d->back)->cr;
}

static void set_colour(cairo_t *cr, uint32_t c)
{
    cairo.set_source_rgba(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0,
                          (c & 0xff) / 255.0, (c >> 24) / 255.0);
}

/* Fills and strokes the current path. */
static void paint(cairo_t *cr, const struct draw_style *style)
{
    double width = style->width > 0 ? style->width : 1, dash[4];
    size_t n = draw_dash_pattern(style->dash, dash);

    if (style->fill >> 24) {
        set_colour(cr, style->fill);
        cairo.fill_preserve(cr);
    }
    if (style->stroke >> 24) {
        set_colour(cr, style->stroke);
        cairo.set_line_width(cr, width);
        for (size_t i = 0; i < n; i++)
            dash[i] *= fmax(width, 1);
        cairo.set_dash(cr, dash, (int)n, 0);
        cairo.stroke_preserve(cr);
    }
    cairo.new_path(cr);
}

static void rounded(cairo_t *cr, struct draw_box b, double r)
{
    const double quarter = acos(-1.0) / 2;

    cairo.new_sub_path(cr);
    cairo.arc(cr, b.x + b.w - r, b.y + r, r, -quarter, 0);
    cairo.arc(cr, b.x + b.w - r, b.y + b.h - r, r, 0, quarter);
    cairo.arc(cr, b.x + r, b.y + b.h - r, r, quarter, 2 * quarter);
    cairo.arc(cr, b.x + r, b.y + r, r, 2 * quarter, 3 * quarter);
    cairo.close_path(cr);
}

static void cairo_rect(struct draw *d, struct draw_box box,
                       const struct draw_style *style)
{
    if (style->radius > 0)
        rounded(cr_of(d), box, fmin(style->radius, fmin(box.w, box.h) / 2));
    else
        cairo.rectangle(cr_of(d), box.x, box.y, box.w, box.h);
    paint(cr_of(d), style);
}

static void cairo_circle(struct draw *d, struct draw_point centre, double radius,
                         const struct draw_style *style)
{
    cairo.new_sub_path(cr_of(d));
    cairo.arc(cr_of(d), centre.x, centre.y, radius, 0, 2 * acos(-1.0));
    paint(cr_of(d), style);
}

static void cairo_points(struct draw *d, const struct draw_point *p, size_t n,
                         bool closed, const struct draw_style *style)
{
    for (size_t i = 0; i < n; i++)
        cairo.line_to(cr_of(d), p[i].x, p[i].y);
    if (closed)
        cairo.close_path(cr_of(d));
    paint(cr_of(d), style);
}

static void cairo_bezier(struct draw *d, const struct draw_point p[4],
                         const struct draw_style *style)
{
    cairo.move_to(cr_of(d), p[0].x, p[0].y);
    cairo.curve_to(cr_of(d), p[1].x, p[1].y, p[2].x, p[2].y, p[3].x, p[3].y);
    paint(cr_of(d), style);
}

/* By cairo alone: in one font, whatever the script. Shows it at the origin, or only says
 * how wide it is. */
static double plain_line(cairo_t *cr, const char *s, const struct draw_text *style,
                         bool show)
{
    cairo_text_extents_t got;

    cairo.select_font_face(cr, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           style->bold ? CAIRO_FONT_WEIGHT_BOLD
                                       : CAIRO_FONT_WEIGHT_NORMAL);
    cairo.set_font_size(cr, style->size);
    cairo.text_extents(cr, s, &got);
    cairo.move_to(cr, 0, 0);
    if (show)
        cairo.show_text(cr, s);
    return got.x_advance;
}

/* Glyphs are narrowed or widened to the width the layout counted with; that of scripts
 * whose signs combine is counted too wide, so that they are widened a little only. */
static void cairo_label(struct draw *d, struct draw_point at, const char *s,
                        const struct draw_text *style)
{
    static const double start[] = {
        [DRAW_START] = 0, [DRAW_MIDDLE] = -0.5, [DRAW_END] = -1
    };
    cairo_t *cr = cr_of(d);
    double want = draw_text_width(s, style->size, style->bold), got, wide;
    struct pango_line *line;

    cairo.save(cr);
    cairo.translate(cr, at.x, at.y);
    cairo.rotate(cr, style->rotate * (acos(-1.0) / 180));
    line = pango_line_new(cr, s, style->size, style->bold);
    got = line ? pango_line_width(line) : plain_line(cr, s, style, false);
    wide = fmin(want, got * STRETCH_MOST);
    cairo.translate(cr, start[style->anchor] * wide, 0);
    if (wide > 0)
        cairo.scale(cr, wide / got, 1);
    set_colour(cr, style->colour);
    if (line) {
        cairo.move_to(cr, 0, -pango_line_rise(line));
        pango_line_show(line);
    } else {
        plain_line(cr, s, style, true);
    }
    pango_line_free(line);
    cairo.restore(cr);
    cairo.new_path(cr);
}

static void cairo_enter(struct draw *d, const char *id, const char *cls,
                        const struct draw_box *clip)
{
    (void)id;
    (void)cls;
    cairo.save(cr_of(d));
    if (clip) {
        cairo.rectangle(cr_of(d), clip->x, clip->y, clip->w, clip->h);
        cairo.clip(cr_of(d));
    }
}

static void cairo_leave(struct draw *d)
{
    cairo.restore(cr_of(d));
}

static int finish(struct draw *d, struct strbuf *out, struct err *err, bool png)
{
    struct canvas *c = d->back;
    cairo_status_t status = cairo.status(c->cr);

    if (status == CAIRO_STATUS_SUCCESS && png)
        status = cairo.surface_write_to_png_stream(c->surface, collect, &c->bytes);
    cairo.surface_finish(c->surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo.surface_status(c->surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return err_set(err, "%s: the figure cannot be drawn: %s",
                       d->to_file ? d->file.path : "figure",
                       cairo.status_to_string(status));
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

    cairo.destroy(c->cr);
    cairo.surface_destroy(c->surface);
    strbuf_release(&c->bytes);
    free(c);
    d->back = NULL;
}

#define CAIRO_METHODS                                                                 \
    .ready = ready, .rect = cairo_rect, .circle = cairo_circle, .path = cairo_points, \
    .curve = cairo_bezier, .text = cairo_label, .group = cairo_enter,                 \
    .group_end = cairo_leave, .release = release

const struct draw_methods draw_png_methods = {
    .ending = ".png", .begin = png_begin, .finish = png_finish, CAIRO_METHODS
};

const struct draw_methods draw_pdf_methods = {
    .ending = ".pdf", .begin = pdf_begin, .finish = pdf_finish, CAIRO_METHODS
};
