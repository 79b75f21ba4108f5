#include "draw/palette.h"

#include <math.h>

static const uint32_t hues[PALETTE_N] = {
    0xff0072b2, /* blue */
    0xffe69f00, /* orange */
    0xff009e73, /* green */
    0xffcc79a7, /* purple */
    0xff56b4e9, /* sky */
    0xffd55e00, /* vermilion */
    0xff4d4d4d, /* grey, for the palette's black, which is the text's */
    0xffd8c900, /* yellow, darkened for contrast with white */
};

static double channel(uint32_t c, int shift)
{
    return (double)(c >> shift & 0xff);
}

uint32_t palette_mix(uint32_t a, uint32_t b, double share_of_b)
{
    uint32_t out = 0;

    for (int shift = 0; shift <= 24; shift += 8) {
        double v =
            channel(a, shift) * (1 - share_of_b) + channel(b, shift) * share_of_b;
        out |= (uint32_t)lround(v) << shift;
    }
    return out;
}

uint32_t palette_at(size_t i)
{
    static const struct {
        uint32_t towards;
        double share;
    } shades[] = {
        { 0, 0 }, { PALETTE_WHITE, 0.5 }, { 0xff000000, 0.4 }, { PALETTE_WHITE, 0.75 }
    };
    size_t shade = i / PALETTE_N % 4;

    return palette_mix(hues[i % PALETTE_N], shades[shade].towards, shades[shade].share);
}

enum draw_shape palette_shape(size_t i)
{
    return (enum draw_shape)((i + i / DRAW_SHAPE_N) % DRAW_SHAPE_N);
}

enum draw_dash palette_dash(size_t i)
{
    return (enum draw_dash)((i + i / DRAW_DASH_N) % DRAW_DASH_N);
}

uint32_t palette_amount(double frac)
{
    static const uint32_t anchors[] = { 0xff440154, 0xff472d7b, 0xff3b528b,
                                        0xff2c728e, 0xff21918c, 0xff28ae80,
                                        0xff5ec962, 0xffaddc30, 0xfffde725 };
    const int last = (int)(sizeof(anchors) / sizeof(*anchors)) - 1;
    double at = fmin(fmax(frac, 0), 1) * last;
    int i = (int)fmin(floor(at), last - 1);

    return palette_mix(anchors[i], anchors[i + 1], at - i);
}

uint32_t palette_ink_on(uint32_t colour)
{
    double luma = 0.299 * channel(colour, 16) + 0.587 * channel(colour, 8) +
                  0.114 * channel(colour, 0);

    return luma > 125 ? 0xff000000 : PALETTE_WHITE;
}

uint32_t palette_alpha(uint32_t colour, double alpha)
{
    return (colour & 0xffffff) | (uint32_t)lround(fmin(fmax(alpha, 0), 1) * 255) << 24;
}

uint32_t palette_dark(uint32_t colour)
{
    const double darkest = 0.09, lightest = 0.94, strong = 0.55;
    double rgb[3], low = 1, high = 0, half, light;
    uint32_t out = colour & 0xff000000;

    for (int i = 0; i < 3; i++) {
        rgb[i] = channel(colour, 16 - 8 * i) / 255;
        low = fmin(low, rgb[i]);
        high = fmax(high, rgb[i]);
    }
    light = lightest - (lightest - darkest) * (low + high) / 2;
    if (high - low > 0.25 && low + high < 1.5) /* of lines and boxes, not of areas */
        light = fmax(light, strong);
    /* saturation stays: half the range, of what that lightness has room for */
    half = high - low > 0
               ? (high - low) / 2 / fmin((high + low) / 2, 1 - (high + low) / 2) *
                     fmin(light, 1 - light)
               : 0;
    for (int i = 0; i < 3; i++) {
        double place = high - low > 0 ? (rgb[i] - low) / (high - low) * 2 - 1 : 0;
        out |= (uint32_t)lround(255 * fmin(fmax(light + half * place, 0), 1))
               << (16 - 8 * i);
    }
    return out;
}
