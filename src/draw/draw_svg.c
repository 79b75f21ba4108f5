/* The SVG back end: plain elements with ids and classes, text as text, numbers with at
 * most two decimals so that the same figure is the same file everywhere. */
#include "draw/draw.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct svg {
    struct strbuf body, defs;
    int n_clips;
};

static void num(struct strbuf *b, double v)
{
    char text[48];
    double limit = v > 1e7 ? 1e7 : v < -1e7 ? -1e7 : v;
    size_t n;

    snprintf(text, sizeof(text), "%.2f", limit);
    n = strlen(text);
    while (text[n - 1] == '0')
        text[--n] = '\0';
    if (text[n - 1] == '.')
        text[--n] = '\0';
    strbuf_addstr(b, strcmp(text, "-0") == 0 ? "0" : text);
}

static void attr(struct strbuf *b, const char *name, double v)
{
    strbuf_printf(b, " %s=\"", name);
    num(b, v);
    strbuf_addch(b, '"');
}

static void escaped(struct strbuf *b, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '&':
            strbuf_addstr(b, "&amp;");
            break;
        case '<':
            strbuf_addstr(b, "&lt;");
            break;
        case '>':
            strbuf_addstr(b, "&gt;");
            break;
        case '"':
            strbuf_addstr(b, "&quot;");
            break;
        default:
            strbuf_addch(b, *s);
        }
    }
}

static void names(struct strbuf *b, const struct draw *d, const char *id,
                  const char *cls)
{
    if (id) {
        strbuf_addstr(b, " id=\"");
        escaped(b, d->prefix);
        escaped(b, id);
        strbuf_addch(b, '"');
    }
    if (cls) {
        strbuf_addstr(b, " class=\"");
        escaped(b, cls);
        strbuf_addch(b, '"');
    }
}

static void paint(struct strbuf *b, const char *name, uint32_t colour)
{
    if ((colour >> 24) == 0) {
        strbuf_printf(b, " %s=\"none\"", name);
        return;
    }
    strbuf_printf(b, " %s=\"#%06x\"", name, (unsigned)(colour & 0xffffff));
    if ((colour >> 24) != 0xff) {
        strbuf_printf(b, " %s-opacity=\"", name);
        num(b, (colour >> 24) / 255.0);
        strbuf_addch(b, '"');
    }
}

static void look(struct strbuf *b, const struct draw_style *style)
{
    double width = style->width > 0 ? style->width : 1, dash[4];
    size_t n = draw_dash_pattern(style->dash, dash);

    paint(b, "fill", style->fill);
    if ((style->stroke >> 24) == 0)
        return;
    paint(b, "stroke", style->stroke);
    if (width < 1 || width > 1)
        attr(b, "stroke-width", width);
    for (size_t i = 0; i < n; i++) {
        strbuf_addstr(b, i ? " " : " stroke-dasharray=\"");
        num(b, dash[i] * fmax(width, 1));
    }
    if (n)
        strbuf_addch(b, '"');
}

/* Ends an element with its tip. */
static void end(struct strbuf *b, const char *tag, const struct draw_style *style)
{
    char *clean;

    if (!style->tip) {
        strbuf_addstr(b, "/>\n");
        return;
    }
    clean = draw_text_clean(style->tip);
    strbuf_addstr(b, "><title>");
    escaped(b, clean);
    strbuf_printf(b, "</title></%s>\n", tag);
    free(clean);
}

static void svg_begin(struct draw *d)
{
    struct svg *svg = xcalloc(1, sizeof(*svg));

    strbuf_init(&svg->body);
    strbuf_init(&svg->defs);
    d->back = svg;
}

static void svg_rect(struct draw *d, struct draw_box box,
                     const struct draw_style *style)
{
    struct strbuf *b = &((struct svg *)d->back)->body;

    strbuf_addstr(b, "<rect");
    names(b, d, style->id, style->cls);
    attr(b, "x", box.x);
    attr(b, "y", box.y);
    attr(b, "width", box.w);
    attr(b, "height", box.h);
    if (style->radius > 0)
        attr(b, "rx", style->radius);
    look(b, style);
    end(b, "rect", style);
}

static void svg_circle(struct draw *d, struct draw_point centre, double radius,
                       const struct draw_style *style)
{
    struct strbuf *b = &((struct svg *)d->back)->body;

    strbuf_addstr(b, "<circle");
    names(b, d, style->id, style->cls);
    attr(b, "cx", centre.x);
    attr(b, "cy", centre.y);
    attr(b, "r", radius);
    look(b, style);
    end(b, "circle", style);
}

static void point(struct strbuf *b, struct draw_point p)
{
    num(b, p.x);
    strbuf_addch(b, ',');
    num(b, p.y);
}

static void svg_path(struct draw *d, const struct draw_point *p, size_t n, bool closed,
                     const struct draw_style *style)
{
    struct strbuf *b = &((struct svg *)d->back)->body;
    const char *tag = closed ? "polygon" : "polyline";

    strbuf_printf(b, "<%s", tag);
    names(b, d, style->id, style->cls);
    strbuf_addstr(b, " points=\"");
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch(b, ' ');
        point(b, p[i]);
    }
    strbuf_addch(b, '"');
    look(b, style);
    end(b, tag, style);
}

static void svg_curve(struct draw *d, const struct draw_point p[4],
                      const struct draw_style *style)
{
    struct strbuf *b = &((struct svg *)d->back)->body;

    strbuf_addstr(b, "<path");
    names(b, d, style->id, style->cls);
    strbuf_addstr(b, " d=\"M");
    point(b, p[0]);
    for (int i = 1; i < 4; i++) {
        strbuf_addch(b, i == 1 ? 'C' : ' ');
        point(b, p[i]);
    }
    strbuf_addch(b, '"');
    look(b, style);
    end(b, "path", style);
}

static void svg_text(struct draw *d, struct draw_point at, const char *s,
                     const struct draw_text *style)
{
    static const char *const anchors[] = {
        [DRAW_MIDDLE] = "middle", [DRAW_END] = "end"
    };
    struct strbuf *b = &((struct svg *)d->back)->body;

    strbuf_addstr(b, "<text");
    names(b, d, style->id, style->cls);
    attr(b, "x", at.x);
    attr(b, "y", at.y);
    attr(b, "font-size", style->size);
    if (style->anchor != DRAW_START)
        strbuf_printf(b, " text-anchor=\"%s\"", anchors[style->anchor]);
    if (style->bold)
        strbuf_addstr(b, " font-weight=\"bold\"");
    if (style->colour != 0xff000000)
        paint(b, "fill", style->colour);
    if (fabs(style->rotate) > 0) {
        strbuf_addstr(b, " transform=\"rotate(");
        num(b, style->rotate);
        strbuf_addch(b, ' ');
        num(b, at.x);
        strbuf_addch(b, ' ');
        num(b, at.y);
        strbuf_addstr(b, ")\"");
    }
    strbuf_addch(b, '>');
    escaped(b, s);
    strbuf_addstr(b, "</text>\n");
}

static void svg_group(struct draw *d, const char *id, const char *cls,
                      const struct draw_box *clip)
{
    struct svg *svg = d->back;

    strbuf_addstr(&svg->body, "<g");
    names(&svg->body, d, id, cls);
    if (clip) {
        char name[24];

        snprintf(name, sizeof(name), "clip%d", ++svg->n_clips);
        strbuf_addstr(&svg->body, " clip-path=\"url(#");
        escaped(&svg->body, d->prefix);
        strbuf_printf(&svg->body, "%s)\"", name);
        strbuf_addstr(&svg->defs, "<clipPath");
        names(&svg->defs, d, name, NULL);
        strbuf_addstr(&svg->defs, "><rect");
        attr(&svg->defs, "x", clip->x);
        attr(&svg->defs, "y", clip->y);
        attr(&svg->defs, "width", clip->w);
        attr(&svg->defs, "height", clip->h);
        strbuf_addstr(&svg->defs, "/></clipPath>\n");
    }
    strbuf_addstr(&svg->body, ">\n");
}

static void svg_group_end(struct draw *d)
{
    strbuf_addstr(&((struct svg *)d->back)->body, "</g>\n");
}

static int svg_finish(struct draw *d, struct strbuf *out, struct err *err)
{
    struct svg *svg = d->back;

    (void)err;
    strbuf_addstr(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    attr(out, "width", d->width * d->scale);
    attr(out, "height", d->height * d->scale);
    strbuf_addstr(out, " viewBox=\"0 0 ");
    num(out, d->width);
    strbuf_addch(out, ' ');
    num(out, d->height);
    strbuf_addstr(out, "\" font-family=\"" DRAW_FAMILIES "\">\n");
    if (svg->defs.len)
        strbuf_printf(out, "<defs>\n%s</defs>\n", strbuf_get(&svg->defs));
    strbuf_add(out, strbuf_get(&svg->body), svg->body.len);
    strbuf_addstr(out, "</svg>\n");
    return 0;
}

static void svg_release(struct draw *d)
{
    struct svg *svg = d->back;

    strbuf_release(&svg->body);
    strbuf_release(&svg->defs);
    free(svg);
    d->back = NULL;
}

const struct draw_methods draw_svg_methods = {
    .ending = ".svg",
    .begin = svg_begin,
    .rect = svg_rect,
    .circle = svg_circle,
    .path = svg_path,
    .curve = svg_curve,
    .text = svg_text,
    .group = svg_group,
    .group_end = svg_group_end,
    .finish = svg_finish,
    .release = svg_release,
};
