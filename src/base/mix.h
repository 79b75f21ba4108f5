/* Keys mixed to 64 bits that look random: SplitMix64's finalizer, a bijection (Steele,
 * Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

static inline uint64_t mix64(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

#endif
