#include "draw/draw.h"

#include "draw/palette.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN = 336, SIDE_MIN = 160, SIDE_MAX = 8000 }; /* pixels */

#define COLUMN_SCALE (28.0 / 30) /* texts of 10 pixels are of 7 points */
#define UPRIGHT 1.1              /* height by width */
#define SIZES \
    "\"%.40s\" is no size (write column, slide, or 800x500, of 160 to 8000 pixels)"

static const struct draw_methods *const by_ending[] = {
    &draw_svg_methods,
    &draw_png_methods,
    &draw_pdf_methods,
};

static const struct draw_methods *methods_of(const char *path)
{
    size_t n = strlen(path);

    if (strcmp(path, "-") == 0)
        return &draw_svg_methods;
    for (size_t i = 0; i < sizeof(by_ending) / sizeof(*by_ending); i++) {
        size_t m = strlen(by_ending[i]->ending);
        if (n > m && strcmp(path + n - m, by_ending[i]->ending) == 0)
            return by_ending[i];
    }
    return NULL;
}

int draw_check_name(const char *path, struct err *err)
{
    const struct draw_methods *methods = methods_of(path);
    if (!methods)
        return err_set(err, "%s: a figure's name ends in .svg, .png or .pdf", path);
    return methods->ready ? methods->ready(err) : 0;
}

void draw_open_on(struct draw *d, const struct draw_methods *methods, void *back,
                  const char *prefix, double width, double height)
{
    *d = (struct draw) { .methods = methods,
                         .back = back,
                         .width = width,
                         .height = height,
                         .scale = 1,
                         .prefix = prefix ? prefix : "" };
    methods->begin(d);
}

static int open_file(struct draw *d, const struct draw_to *to, double width,
                     double height, double scale, struct err *err)
{
    struct file_out file;

    if (draw_check_name(to->path, err) || file_out_open(&file, to->path, err))
        return -1;
    *d = (struct draw) { .methods = methods_of(to->path),
                         .width = width,
                         .height = height,
                         .scale = scale,
                         .dark = to->look.dark,
                         .grows = !(to->look.height > 0),
                         .prefix = "" };
    d->methods->begin(d);
    d->file = file;
    d->to_file = true;
    return 0;
}

/* A narrower figure is lower, but less so, and hardly higher than wide: its text is as
 * large as ever. */
static double height_for(double height, double width, double own_width)
{
    return fmax(height * sqrt(width / own_width), fmin(height, UPRIGHT * width));
}

int draw_open(struct draw *d, const struct draw_to *to, double width, double height,
              struct err *err)
{
    double scale = to->look.scale > 0 ? to->look.scale : 1;

    if (!(to->look.width > 0))
        return open_file(d, to, width, height, scale, err);
    return open_file(d, to, to->look.width / scale,
                     to->look.height > 0
                         ? to->look.height / scale
                         : height_for(height, to->look.width / scale, width),
                     scale, err);
}

static void begin_again(struct draw *d)
{
    d->grown = true;
    if (d->methods->release)
        d->methods->release(d);
    d->methods->begin(d);
}

void draw_grow(struct draw *d, double by)
{
    if (!d->grows || !(by > 0))
        return;
    d->height += by;
    begin_again(d);
}

void draw_shrink(struct draw *d, double factor)
{
    d->width *= factor;
    d->height *= factor;
    d->scale /= factor;
    begin_again(d);
}

int draw_open_fixed(struct draw *d, const struct draw_to *to, double width,
                    double height, struct err *err)
{
    double scale = to->look.width > 0 ? to->look.width / width : 1;

    if (to->look.height > 0)
        scale = fmin(scale, to->look.height / height);
    return open_file(d, to, width, height, scale, err);
}

int draw_size_parse(const char *text, struct draw_look *look, struct err *err)
{
    static const struct {
        const char *name;
        double width, height, scale;
    } named[] = { { "column", COLUMN, 0, COLUMN_SCALE }, { "slide", 1280, 720, 1.6 } };
    char *end;

    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        if (strcmp(text, named[i].name) == 0) {
            look->width = named[i].width;
            look->height = named[i].height;
            look->scale = named[i].scale;
            return 0;
        }
    look->scale = 1;
    look->width = strtod(text, &end);
    if (end == text || *end != 'x' || !(look->width >= SIDE_MIN) ||
        look->width > SIDE_MAX)
        return err_set(err, SIZES, text);
    look->height = strtod(text = end + 1, &end);
    if (end == text || *end || !(look->height >= SIDE_MIN) || look->height > SIDE_MAX)
        return err_set(err, SIZES, text);
    return 0;
}

int draw_close_text(struct draw *d, struct strbuf *out, struct err *err)
{
    int rc = d->methods->finish(d, out, err);

    d->methods->release(d);
    return rc;
}

int draw_close(struct draw *d, struct err *err)
{
    struct strbuf out;
    int rc;

    assert(d->to_file);
    strbuf_init(&out);
    rc = draw_close_text(d, &out, err);
    if (rc == 0) {
        fwrite(strbuf_get(&out), 1, out.len, d->file.stream);
        rc = file_out_commit(&d->file, err);
    }
    file_out_abandon(&d->file);
    strbuf_release(&out);
    return rc;
}

static uint32_t shown(const struct draw *d, uint32_t colour)
{
    return d->dark && colour >> 24 ? palette_dark(colour) : colour;
}

uint32_t draw_ink_on(const struct draw *d, uint32_t fill)
{
    return palette_ink_on(shown(d, fill));
}

static struct draw_style styled(const struct draw *d, const struct draw_style *style)
{
    struct draw_style out = *style;

    out.fill = style->amount ? style->fill : shown(d, style->fill);
    out.stroke = shown(d, style->stroke);
    return out;
}

static bool finite_points(const struct draw_point *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(p[i].x) || !isfinite(p[i].y))
            return false;
    return true;
}

void draw_rect(struct draw *d, struct draw_box box, const struct draw_style *style)
{
    struct draw_point p[2] = { { box.x, box.y }, { box.w, box.h } };
    struct draw_style out = styled(d, style);

    if (finite_points(p, 2) && box.w >= 0 && box.h >= 0)
        d->methods->rect(d, box, &out);
}

static void path(struct draw *d, const struct draw_point *p, size_t n, bool closed,
                 const struct draw_style *style)
{
    struct draw_style out = styled(d, style);

    if (n >= 2 && finite_points(p, n))
        d->methods->path(d, p, n, closed, &out);
}

void draw_line(struct draw *d, double x0, double y0, double x1, double y1,
               const struct draw_style *style)
{
    path(d, (struct draw_point[]) { { x0, y0 }, { x1, y1 } }, 2, false, style);
}

void draw_polyline(struct draw *d, const struct draw_point *p, size_t n,
                   const struct draw_style *style)
{
    struct draw_style line = *style;

    line.fill = 0;
    path(d, p, n, false, &line);
}

void draw_polygon(struct draw *d, const struct draw_point *p, size_t n,
                  const struct draw_style *style)
{
    path(d, p, n, true, style);
}

void draw_curve(struct draw *d, const struct draw_point p[4],
                const struct draw_style *style)
{
    struct draw_style out = styled(d, style);

    if (finite_points(p, 4))
        d->methods->curve(d, p, &out);
}

/* Corners on the unit circle; area is about that of the circle. */
static const struct shape {
    size_t n;
    bool open; /* pairs of points are strokes of their own */
    struct draw_point p[6];
} shapes[DRAW_SHAPE_N] = {
    [DRAW_SQUARE] = { 4,
                      false,
                      { { -.88, -.88 }, { .88, -.88 }, { .88, .88 }, { -.88, .88 } } },
    [DRAW_TRIANGLE] = { 3, false, { { 0, -1.2 }, { 1.1, .8 }, { -1.1, .8 } } },
    [DRAW_DIAMOND] = { 4,
                       false,
                       { { 0, -1.25 }, { 1.25, 0 }, { 0, 1.25 }, { -1.25, 0 } } },
    [DRAW_TRIANGLE_DOWN] = { 3, false, { { 0, 1.2 }, { 1.1, -.8 }, { -1.1, -.8 } } },
    [DRAW_PLUS] = { 4, true, { { -1.1, 0 }, { 1.1, 0 }, { 0, -1.1 }, { 0, 1.1 } } },
    [DRAW_CROSS] = { 4, true, { { -.9, -.9 }, { .9, .9 }, { -.9, .9 }, { .9, -.9 } } },
    [DRAW_HEXAGON] = { 6,
                       false,
                       { { 1.1, 0 },
                         { .55, .95 },
                         { -.55, .95 },
                         { -1.1, 0 },
                         { -.55, -.95 },
                         { .55, -.95 } } },
};

void draw_marker(struct draw *d, enum draw_shape shape, double x, double y,
                 double radius, const struct draw_style *style)
{
    const struct shape *s = &shapes[shape];
    struct draw_point p[6];
    struct draw_style stroke = *style;

    if (!isfinite(x) || !isfinite(y))
        return;
    if (s->n == 0) {
        stroke = styled(d, style);
        d->methods->circle(d, (struct draw_point) { x, y }, radius, &stroke);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        p[i] = (struct draw_point) { x + radius * s->p[i].x, y + radius * s->p[i].y };
    if (!s->open) {
        path(d, p, s->n, true, style);
        return;
    }
    stroke.stroke = style->fill ? style->fill : style->stroke;
    stroke.fill = 0;
    stroke.width = 1.8;
    for (size_t i = 0; i < s->n; i += 2) {
        path(d, p + i, 2, false, &stroke);
        stroke.id = NULL; /* of the first stroke alone */
    }
}

void draw_hatch(struct draw *d, struct draw_box box, uint32_t colour)
{
    const double pitch = 7;
    const struct draw_style style = { .cls = "hatch", .stroke = colour, .width = 0.8 };

    if (!(box.w > 0 && box.h > 0 && isfinite(box.w) && isfinite(box.h)))
        return;
    /* line i begins at the lower edge, or where that has passed, at the left one */
    for (double at = pitch * ceil((box.x - box.h) / pitch); at < box.x + box.w;
         at += pitch) {
        double from = fmax(at, box.x), to = fmin(at + box.h, box.x + box.w);
        double low = box.y + box.h;
        if (to > from)
            draw_line(d, from, low - (from - at), to, low - (to - at), &style);
    }
}

static double size_of(const struct draw_text *style)
{
    return style->size > 0 ? style->size : 12;
}

/* How far below the anchor point the baseline is, in font sizes. */
static const double level_drop[] = {
    [DRAW_BASELINE] = 0, [DRAW_CENTRE] = 0.36, [DRAW_TOP] = 0.76
};

static struct draw_point baseline(double x, double y, const struct draw_text *style)
{
    double drop = level_drop[style->level] * size_of(style);
    double a = style->rotate * (acos(-1.0) / 180);

    return (struct draw_point) { x - drop * sin(a), y + drop * cos(a) };
}

void draw_text(struct draw *d, double x, double y, const char *s,
               const struct draw_text *style)
{
    struct draw_text plain = *style;
    struct draw_point at = baseline(x, y, style);
    char *clean;

    if (!s || !*s || !finite_points(&at, 1))
        return;
    clean = draw_text_clean(s);
    plain.level = DRAW_BASELINE;
    plain.size = size_of(style);
    plain.colour = style->colour ? style->colour : 0xff000000;
    if (!style->amount)
        plain.colour = shown(d, plain.colour);
    d->methods->text(d, at, clean, &plain);
    free(clean);
}

void draw_group(struct draw *d, const char *id, const char *cls,
                const struct draw_box *clip)
{
    d->methods->group(d, id, cls, clip);
}

void draw_group_end(struct draw *d)
{
    d->methods->group_end(d);
}

size_t draw_dash_pattern(enum draw_dash dash, double out[4])
{
    static const struct {
        size_t n;
        double v[4];
    } patterns[DRAW_DASH_N] = {
        [DRAW_DASHED] = { 2, { 3.2, 2 } },
        [DRAW_DOTTED] = { 2, { 1, 1.6 } },
        [DRAW_DASH_DOT] = { 4, { 4, 1.8, 1, 1.8 } },
        [DRAW_LONG_DASH] = { 2, { 7, 2.5 } },
    };

    memcpy(out, patterns[dash].v, sizeof(patterns[dash].v));
    return patterns[dash].n;
}
