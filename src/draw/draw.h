/* The canvas every figure is drawn on: one layout, several back ends (SVG written
 * directly, PNG and PDF by cairo), chosen by the ending of the file's name.
 *
 * Units are CSS pixels, y grows downwards, angles are degrees clockwise. Colours are
 * 0xAARRGGBB, and 0 draws nothing, so a zero style is invisible. Text is measured by a
 * built-in table of Helvetica's widths, never by the fonts of the machine: the same
 * figure has the same layout everywhere, and the cairo back end fits glyphs to it.
 * Output is deterministic to the byte.
 *
 *     struct draw d;
 *     if (draw_open(&d, &(struct draw_to) { "a.svg" }, 720, 450, err))
 *         return -1;
 *     draw_rect(&d, box, &(struct draw_style) { .id = "gpu0", .fill = 0xff0072b2 });
 *     return draw_close(&d, err);
 *
 * Files of this folder:
 *     draw*, palette: the canvas and its back ends; colours
 *     axis*, frame, legend: what every figure has
 *     chart*, timeline, breakdown, heatmap: kinds of figures, of plain arrays */
#ifndef DRAW_DRAW_H
#define DRAW_DRAW_H

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw_point {
    double x, y;
};

struct draw_box {
    double x, y, w, h; /* top left corner, size */
};

enum draw_dash {
    DRAW_SOLID,
    DRAW_DASHED,
    DRAW_DOTTED,
    DRAW_DASH_DOT,
    DRAW_LONG_DASH,
    DRAW_DASH_N
};

/* How an outline is drawn, and what it is called. */
struct draw_style {
    const char *id;  /* unique in the figure; NULL: none */
    const char *cls; /* CSS class; NULL: none */
    const char *tip; /* shown when the pointer rests on it (SVG); NULL: none */
    uint32_t fill, stroke;
    double width; /* of the stroke; 0 counts as 1 */
    enum draw_dash dash;
    double radius; /* of a rectangle's corners */
    bool amount;   /* the colour is of a scale of amounts: the same on any ground */
};

enum draw_anchor { DRAW_START, DRAW_MIDDLE, DRAW_END };   /* along the text */
enum draw_level { DRAW_BASELINE, DRAW_CENTRE, DRAW_TOP }; /* across it */

struct draw_text {
    const char *id, *cls;
    double size;   /* font size; 0 counts as 12 */
    double rotate; /* about the anchor point */
    enum draw_anchor anchor;
    enum draw_level level;
    bool bold, amount; /* amount: the colour stays on any ground */
    bool plate;        /* of a frame's labels: on white, which hides what they cross */
    uint32_t colour;   /* 0 counts as black */
};

enum draw_shape {
    DRAW_CIRCLE,
    DRAW_SQUARE,
    DRAW_TRIANGLE,
    DRAW_DIAMOND,
    DRAW_TRIANGLE_DOWN,
    DRAW_PLUS,
    DRAW_CROSS,
    DRAW_HEXAGON,
    DRAW_SHAPE_N
};

struct draw;

/* What a back end does. Text comes as valid UTF-8 without control characters, with
 * level DRAW_BASELINE; points are finite. */
struct draw_methods {
    const char *ending; /* ".svg" */
    int (*ready)(
        struct err *err); /* whether its library is there; NULL: it needs none */
    void (*begin)(struct draw *d);
    void (*rect)(struct draw *d, struct draw_box box, const struct draw_style *style);
    void (*circle)(struct draw *d, struct draw_point centre, double radius,
                   const struct draw_style *style);
    void (*path)(struct draw *d, const struct draw_point *p, size_t n, bool closed,
                 const struct draw_style *style);
    void (*curve)(struct draw *d, const struct draw_point p[4], /* cubic Bezier */
                  const struct draw_style *style);
    void (*text)(struct draw *d, struct draw_point at, const char *s,
                 const struct draw_text *style);
    void (*group)(struct draw *d, const char *id, const char *cls,
                  const struct draw_box *clip); /* clip may be NULL */
    void (*group_end)(struct draw *d);
    int (*finish)(struct draw *d, struct strbuf *out, struct err *err); /* the file */
    void (*release)(struct draw *d);
};

/* How a figure looks on paper or screen; all 0: as large as its kind is, on white. */
struct draw_look {
    double width, height; /* pixels of 1/96 inch; height 0: by what is drawn */
    double scale;         /* of everything that is drawn; 0 counts as 1 */
    bool dark;            /* light on a dark ground; every hue stays */
};

/* Where a figure goes. */
struct draw_to {
    const char *path; /* ends in .svg, .png or .pdf; "-" is SVG on standard output */
    struct draw_look look;
};

struct draw {
    const struct draw_methods *methods;
    void *back;           /* the back end's own */
    double width, height; /* of what is laid out */
    double scale;         /* pixels on paper for one of these */
    bool dark;
    bool grows;         /* nobody asked for its height: draw_grow may add to it */
    bool grown;         /* it did, or shrank what is drawn: legends are whole */
    const char *prefix; /* of every id, so that several figures fit one page */
    struct file_out file;
    bool to_file;
};

/* The size of "column" (3.5 inch, no text below 7 pt), "slide" (1280x720), or WxH in
 * pixels. */
int draw_size_parse(const char *text, struct draw_look *look, struct err *err);

/* Opens a canvas that becomes a file. Width and height are what the figure takes where
 * no size was asked for; after success they are in `d`. draw_close follows; the file
 * appears when that succeeds, else not at all. */
int draw_open(struct draw *d, const struct draw_to *to, double width, double height,
              struct err *err);

/* The same for a figure that has one layout: it is scaled to the size asked for. */
int draw_open_fixed(struct draw *d, const struct draw_to *to, double width,
                    double height, struct err *err);
int draw_close(struct draw *d, struct err *err);

/* Makes a canvas higher, before anything is drawn on it; nothing where its height was
 * asked for. */
void draw_grow(struct draw *d, double by);

/* Lays out on a canvas `factor` as wide and high, which is as large on paper: everything
 * is smaller, and there is room for more. Before anything is drawn. */
void draw_shrink(struct draw *d, double factor);

/* A canvas on which nothing appears, and which grows: what is drawn there leaves the
 * height that it takes in `height`. Needs no closing. */
void draw_open_nowhere(struct draw *d, double width, double height);

/* A canvas on any back end, and into text: for figures inside a page, and for tests.
 * `prefix` (may be NULL) outlives the canvas. */
void draw_open_on(struct draw *d, const struct draw_methods *methods, void *back,
                  const char *prefix, double width, double height);
int draw_close_text(struct draw *d, struct strbuf *out, struct err *err);

/* Whether that name ends in a way that draw_open takes; an error otherwise. */
int draw_check_name(const char *path, struct err *err);

void draw_rect(struct draw *d, struct draw_box box, const struct draw_style *style);
void draw_line(struct draw *d, double x0, double y0, double x1, double y1,
               const struct draw_style *style);
void draw_polyline(struct draw *d, const struct draw_point *p, size_t n,
                   const struct draw_style *style);
void draw_polygon(struct draw *d, const struct draw_point *p, size_t n,
                  const struct draw_style *style);
void draw_curve(struct draw *d, const struct draw_point p[4],
                const struct draw_style *style);
/* A shape about `at` of that radius; open shapes (plus, cross) use the stroke, or the
 * fill where there is none. */
void draw_marker(struct draw *d, enum draw_shape shape, double x, double y,
                 double radius, const struct draw_style *style);
void draw_text(struct draw *d, double x, double y, const char *s,
               const struct draw_text *style);

/* Black or white, whichever reads better on a colour as this canvas shows it; for text
 * with `amount`. */
uint32_t draw_ink_on(const struct draw *d, uint32_t fill);

/* Slanted lines over a box, clipped to it. */
void draw_hatch(struct draw *d, struct draw_box box, uint32_t colour);

/* Groups nest; clip may be NULL. */
void draw_group(struct draw *d, const char *id, const char *cls,
                const struct draw_box *clip);
void draw_group_end(struct draw *d);

/* Advance width in pixels of one line of text; linear in its length. */
double draw_text_width(const char *s, double size, bool bold);

/* `s` cut to that width, ending in "..." where cut; the caller frees it. */
char *draw_text_fit(const char *s, double size, bool bold, double width);

enum { DRAW_LINES_MAX = 3 };

/* `s` in as few lines of that width as hold it, at most DRAW_LINES_MAX, the last cut
 * where need be; returns how many. The caller frees them. */
size_t draw_text_lines(const char *s, double size, bool bold, double width,
                       char *lines[DRAW_LINES_MAX]);

/* `s` as valid UTF-8 on one line (what is not becomes U+FFFD or a blank); the caller
 * frees it. */
char *draw_text_clean(const char *s);

/* The dash pattern in multiples of the stroke's width: n numbers, 0 for solid. */
size_t draw_dash_pattern(enum draw_dash dash, double out[4]);

extern const struct draw_methods draw_svg_methods;
extern const struct draw_methods draw_png_methods;
extern const struct draw_methods draw_pdf_methods;

/* Font families, best first: all have Helvetica's widths but the last. */
#define DRAW_FAMILIES "Helvetica, Arial, Liberation Sans, sans-serif"

#endif
