/* Bytes to 64 bits: FNV-1a (Fowler, Noll and Vo 1991). Any one changed byte changes it;
 * no defence against who wants two files to have the same. O(n). */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FNV_TEXT = 17 }; /* 16 hexadecimal digits, as text */

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325);

static inline uint64_t fnv_add(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The same in words of 8 bytes, for whole files: each step is a bijection of the hash, so
 * that one changed word changes it; the shift brings high bits to low ones. */
static inline uint64_t fnv_add_words(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    size_t i = 0;
    for (uint64_t word; i + sizeof(word) <= n; i += sizeof(word)) {
        memcpy(&word, b + i, sizeof(word));
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 32;
    }
    return fnv_add(h, b + i, n - i);
}

#endif
