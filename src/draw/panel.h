/* Several figures on one canvas: a panel is a canvas of its own on a part of another.
 * Whatever is drawn on it is drawn there, moved to its place; ids have its prefix.
 *
 *     struct panel p;
 *     panel_open(&p, d, (struct draw_box) { 0, 300, 720, 150 }, "residual-");
 *     chart_draw(&chart, &p.canvas);
 *     panel_close(&p); */
#ifndef DRAW_PANEL_H
#define DRAW_PANEL_H

#include "draw/draw.h"

struct panel {
    struct draw canvas;  /* width and height are the panel's */
    struct draw beneath; /* what it draws on, with the panel's prefix */
    double x, y;
};

/* `beneath` and the prefix outlive the panel. The panel at its corner is opened first,
 * when it has its size. */
void panel_open(struct panel *p, struct draw *beneath, struct draw_box box,
                const char *prefix);
void panel_close(struct panel *p);

#endif
