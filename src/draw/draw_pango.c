#include "draw/draw_pango.h"

#ifdef SMSIM_STATIC /* no static library of it is kept */

#include <stddef.h>

struct pango_line *pango_line_new(cairo_t *cr, const char *text, double size, bool bold)
{
    (void)cr;
    (void)text;
    (void)size;
    (void)bold;
    return NULL;
}

void pango_line_free(struct pango_line *line)
{
    (void)line;
}

double pango_line_width(const struct pango_line *line)
{
    (void)line;
    return 0;
}

double pango_line_rise(const struct pango_line *line)
{
    (void)line;
    return 0;
}

void pango_line_show(const struct pango_line *line)
{
    (void)line;
}

#else

#include "base/late.h"
#include "base/xmalloc.h"

#include <pango/pangocairo.h>
#include <stdlib.h>

/* clang-format off */
#define FUNCTIONS(F)                                                                    \
    F(cairo_create_layout) F(cairo_show_layout) F(font_description_free)                \
    F(font_description_new) F(font_description_set_absolute_size)                       \
    F(font_description_set_family) F(font_description_set_weight)                       \
    F(layout_get_baseline) F(layout_get_size) F(layout_set_font_description)            \
    F(layout_set_single_paragraph_mode) F(layout_set_text)
/* clang-format on */
#define MEMBER(name) LATE_MEMBER(pango_##name, name)
#define PLACE(name) LATE_PLACE(pango_##name, &pango.name)

static struct {
    FUNCTIONS(MEMBER)
    __typeof__(g_object_unref) *unref;
} pango; /* written once, by late_load() */

static const struct late_function functions[] = { FUNCTIONS(PLACE) LATE_PLACE(
    g_object_unref, &pango.unref) };
static struct late_library library = LATE_LIBRARY(SMSIM_PANGO, functions);

struct pango_line {
    cairo_t *cr;
    PangoLayout *layout;
};

static void set_font(PangoLayout *layout, double size, bool bold)
{
    PangoFontDescription *font = pango.font_description_new();

    pango.font_description_set_family(font, "Helvetica");
    pango.font_description_set_weight(font,
                                      bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango.font_description_set_absolute_size(font, size * PANGO_SCALE);
    pango.layout_set_font_description(layout, font);
    pango.font_description_free(font);
}

struct pango_line *pango_line_new(cairo_t *cr, const char *text, double size, bool bold)
{
    if (late_load(&library))
        return NULL;
    struct pango_line *line = xmalloc(sizeof(*line));
    *line = (struct pango_line) { cr, pango.cairo_create_layout(cr) };
    pango.layout_set_single_paragraph_mode(line->layout, TRUE);
    set_font(line->layout, size, bold);
    pango.layout_set_text(line->layout, text, -1);
    return line;
}

void pango_line_free(struct pango_line *line)
{
    if (!line)
        return;
    pango.unref(line->layout);
    free(line);
}

double pango_line_rise(const struct pango_line *line)
{
    return (double)pango.layout_get_baseline(line->layout) / PANGO_SCALE;
}

double pango_line_width(const struct pango_line *line)
{
    int width, height;

    pango.layout_get_size(line->layout, &width, &height);
    return (double)width / PANGO_SCALE;
}

void pango_line_show(const struct pango_line *line)
{
    pango.cairo_show_layout(line->cr, line->layout);
}

#endif
