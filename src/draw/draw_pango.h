/* Lines of text by Pango, which finds a font for every script that the machine has one
 * for, and shapes it. Private to the cairo back ends. */
#ifndef DRAW_DRAW_PANGO_H
#define DRAW_DRAW_PANGO_H

#include <cairo.h>
#include <stdbool.h>

/* A line in Helvetica, or what comes nearest, of that size in the canvas' pixels; NULL
 * where Pango is not there. It lives as long as the canvas at most. */
struct pango_line *pango_line_new(cairo_t *cr, const char *text, double size,
                                  bool bold);
void pango_line_free(struct pango_line *line);

double pango_line_width(const struct pango_line *line);

/* From its upper edge to its base line. */
double pango_line_rise(const struct pango_line *line);

/* Its upper left corner is where the canvas' current point is. */
void pango_line_show(const struct pango_line *line);

#endif
