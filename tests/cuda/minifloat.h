/* Floating-point numbers of few bits, as codes: exponent, then `fraction` bits; the
 * smallest step is 2^least. */
#ifndef EMULATED_MINIFLOAT_H
#define EMULATED_MINIFLOAT_H

#include <math.h>

/* Of a size from 0 up: to the nearest, ties to even. */
static inline unsigned int minifloat_code(float size, int fraction, int least)
{
    int exponent;
    frexpf(size, &exponent);
    int step = exponent - 1 - fraction < least ? least : exponent - 1 - fraction;
    unsigned int units = (unsigned int)nearbyintf(ldexpf(size, -step));
    return ((unsigned int)(step - least) << fraction) + units;
}

static inline float minifloat_size(unsigned int code, int fraction, int least)
{
    unsigned int one = 1u << fraction, part = code & (one - 1);
    int exponent = (int)(code >> fraction);
    return exponent ? ldexpf((float)(one + part), exponent - 1 + least)
                    : ldexpf((float)part, least);
}

#endif
