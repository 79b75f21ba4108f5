/* Bytes to 64 bits: FNV-1a (Fowler, Noll and Vo 1991). Any one changed byte changes it;
 * no defence against who wants two files to have the same. O(n). */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

enum { FNV_TEXT = 17 }; /* 16 hexadecimal digits, as text */

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325);

static inline uint64_t fnv_add(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h;
}

#endif
