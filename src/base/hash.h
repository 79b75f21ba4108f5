/* Hash maps: uthash (libuthash, Debian's uthash-dev), whose entries are members of the
 * structs that they index. A map is a pointer to its first entry, NULL when empty:
 *
 *     struct entry { uint64_t key; ...; UT_hash_handle hh; } *map = NULL, *e;
 *     HASH_FIND(hh, map, &key, sizeof(key), e);      e is NULL where there is none
 *     HASH_ADD(hh, map, key, sizeof(e->key), e);     e stays where it is
 *     HASH_CLEAR(hh, map);                           entries are their owner's to free
 *
 * Keys are compared as bytes: a struct that is one has no padding, or is cleared first.
 * Iteration (HASH_ITER) is in the order of insertion, the same in every run. O(1) on
 * average; 56 bytes an entry, and buckets that double. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/mix.h"
#include "base/xmalloc.h"

#include <string.h>

static inline unsigned hash_bytes(const void *key, size_t n)
{
    uint64_t h = n, word;
    for (size_t i = 0; i < n; i += sizeof(word)) {
        word = 0;
        memcpy(&word, (const char *)key + i,
               n - i < sizeof(word) ? n - i : sizeof(word));
        h = mix64(h ^ word);
    }
    return (unsigned)h;
}

#define HASH_FUNCTION(key, n, h) ((h) = hash_bytes((key), (n)))
#define uthash_malloc(n) xmalloc(n)
#define uthash_fatal(text) xmalloc_fail()
#include <uthash.h>

#endif
