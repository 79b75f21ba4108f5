/* Colours, markers and dashes that colour-blind readers and grey printers can
 * distinguish: Okabe and Ito's palette (jfly.uni-koeln.de/color, 2008) for kinds,
 * viridis (Smith and van der Walt 2015) for amounts. */
#ifndef DRAW_PALETTE_H
#define DRAW_PALETTE_H

#include "draw/draw.h"

enum {
    PALETTE_N = 8 /* distinct hues; later ones are lighter, then darker shades */
};

#define PALETTE_INK 0xff222222u
#define PALETTE_SOFT 0xff595959u /* secondary text */
#define PALETTE_GRID 0xffe4e4e4u
#define PALETTE_FRAME 0xff8a8a8au
#define PALETTE_HATCH 0xffc4c4c4u /* lines over what does not fit */
#define PALETTE_WHITE 0xffffffffu

/* The i-th colour, i >= 0; opaque. */
uint32_t palette_at(size_t i);
enum draw_shape palette_shape(size_t i);
enum draw_dash palette_dash(size_t i);

/* Dark to light for 0 to 1. */
uint32_t palette_amount(double frac);

/* Black or white, whichever reads better on that colour. */
uint32_t palette_ink_on(uint32_t colour);

/* The colour on a dark ground: as light as it was dark, of the same hue. */
uint32_t palette_dark(uint32_t colour);

uint32_t palette_alpha(uint32_t colour, double alpha);
uint32_t palette_mix(uint32_t a, uint32_t b, double share_of_b);

#endif
