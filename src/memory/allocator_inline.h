/* The caching allocator's blocks and bins, and what takes and frees blocks: inline for the
 * replay, which does little else. Others use allocator.h. */
#ifndef MEMORY_ALLOCATOR_INLINE_H
#define MEMORY_ALLOCATOR_INLINE_H

#include "memory/allocator.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Compilers would call what is used twice: 10 % of a replay. */
#define ALLOCATOR_INLINE static inline __attribute__((always_inline))

/* kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc, kLargeBuffer, kRoundLarge */
enum {
    ROUND_LOG2 = 9,
    ROUND_B = 1 << ROUND_LOG2,
    SMALL_B = 1 << 20,
    SMALL_SEGMENT_B = 2 << 20,
    LARGE_LEAST_B = 10 << 20,
    LARGE_SEGMENT_B = 20 << 20,
    LARGE_ROUND_B = 2 << 20,
};

struct allocator_block {
    struct allocator_link link;  /* of a free one */
    struct allocator_link whole; /* of one that is a segment */
    int64_t address, size_B;
    struct allocator_pool *pool;
    struct allocator_block *before, *after; /* in the segment; EDGE: none */
    int32_t bin;                            /* of a free one */
    bool used;
};

/* What no block merges with; never written. */
extern const struct allocator_block allocator_edge;
#define EDGE ((struct allocator_block *)&allocator_edge)

static inline int64_t rounded(int64_t size_B, int64_t to_B)
{
    return (size_B + to_B - 1) / to_B * to_B;
}

/* Bins of free blocks -------------------------------------------------------------- */

/* Of sizes from ROUND_B on, each octave of which has 2^ALLOCATOR_STEPS_LOG2 bins. */
static inline int32_t bin_of(int64_t size_B)
{
    int32_t octave = 63 - __builtin_clzll((uint64_t)size_B);
    int32_t step = (int32_t)(size_B >> (octave - ALLOCATOR_STEPS_LOG2));
    return (octave << ALLOCATOR_STEPS_LOG2) + step -
           ((ROUND_LOG2 + 1) << ALLOCATOR_STEPS_LOG2);
}

_Static_assert(ALLOCATOR_BINS / 64 < 32, "one bit of `any` for each word");

/* The first bin from `bin` on that has a block; ALLOCATOR_BINS: none. Words that have
 * become empty are noted here. */
static inline int32_t next_bin(struct allocator_pool *pool, int32_t bin)
{
    uint32_t word = (uint32_t)bin / 64;
    uint64_t filled = pool->filled[word] & (~UINT64_C(0) << bin % 64);
    while (filled == 0) {
        uint32_t later = pool->any & ~UINT32_C(1) << word;
        if (later == 0)
            return ALLOCATOR_BINS;
        word = (uint32_t)__builtin_ctz(later);
        filled = pool->filled[word];
        pool->any ^= (uint32_t)(filled == 0) << word;
    }
    return (int32_t)word * 64 + __builtin_ctzll(filled);
}

static inline bool is_filled(const struct allocator_pool *pool, int32_t bin)
{
    return pool->filled[(uint32_t)bin / 64] >> bin % 64 & 1;
}

static inline void fill_bin(struct allocator_pool *pool, int32_t bin)
{
    pool->filled[(uint32_t)bin / 64] |= UINT64_C(1) << bin % 64;
    pool->any |= UINT32_C(1) << bin / 64;
}

static inline void empty_bin(struct allocator_pool *pool, int32_t bin)
{
    pool->filled[(uint32_t)bin / 64] &= ~(UINT64_C(1) << bin % 64);
}

static inline struct allocator_block *block_of(struct allocator_link *link)
{
    return (struct allocator_block *)link; /* its first member */
}

static inline bool precedes(const struct allocator_link *link,
                            const struct allocator_block *b)
{
    const struct allocator_block *a = (const struct allocator_block *)link;
    return a->size_B != b->size_B ? a->size_B < b->size_B : a->address < b->address;
}

static inline bool is_whole_segment(const struct allocator_block *b)
{
    return b->before == b->after; /* the edge on both sides */
}

/* The place of a block between those of its bin, of which there is one at least: that
 * before which it comes. Looks from both ends at once: blocks freed in order of
 * addresses belong to one of them. */
static inline struct allocator_link *place_of(struct allocator_link *head,
                                              const struct allocator_block *b)
{
    struct allocator_link *larger = head->larger, *smaller = head->smaller;
    if (precedes(smaller, b))
        return head;
    while (precedes(larger, b)) {
        larger = larger->larger;
        smaller = smaller->smaller;
        if (precedes(smaller, b))
            return smaller->larger;
    }
    return larger;
}

/* Between its neighbours of a ring. */
static inline void join(struct allocator_link *link, struct allocator_link *smaller,
                        struct allocator_link *larger)
{
    *link = (struct allocator_link) { smaller, larger };
    larger->smaller = smaller->larger = link;
}

static inline void part(struct allocator_link *link)
{
    link->larger->smaller = link->smaller;
    link->smaller->larger = link->larger;
}

static inline void list(struct allocator_block *b)
{
    struct allocator_pool *pool = b->pool;
    int32_t bin = bin_of(b->size_B);
    struct allocator_link *head = &pool->bins[bin];
    if (is_filled(pool, bin)) {
        struct allocator_link *larger = place_of(head, b);
        join(&b->link, larger->smaller, larger);
    } else {
        fill_bin(pool, bin);
        join(&b->link, head, head);
    }
    b->bin = bin;
    if (is_whole_segment(b))
        join(&b->whole, &pool->whole, pool->whole.larger);
}

/* Not one that is a segment. */
static inline void unlist_part(struct allocator_pool *pool, struct allocator_block *b)
{
    struct allocator_link *larger = b->link.larger, *smaller = b->link.smaller;
    part(&b->link);
    if (larger == smaller) /* the bin: it was the only one */
        empty_bin(pool, b->bin);
}

static inline void unlist(struct allocator_block *b)
{
    if (is_whole_segment(b))
        part(&b->whole);
    unlist_part(b->pool, b);
}

/* The smallest block of the bins that is large enough, of equals the lowest; NULL:
 * none. */
static inline struct allocator_block *best_listed(const struct allocator_ask *ask)
{
    struct allocator_pool *pool = ask->pool;
    int32_t bin = next_bin(pool, ask->bin);
    if (bin == ask->bin) { /* some of its blocks are smaller */
        struct allocator_link *head = &pool->bins[bin], *at = head->larger;
        while (at != head && block_of(at)->size_B < ask->size_B)
            at = at->larger;
        if (at != head)
            return block_of(at);
        bin = next_bin(pool, bin + 1);
    }
    return bin < ALLOCATOR_BINS ? block_of(pool->bins[bin].larger) : NULL;
}

/* Free blocks of bins, and the latest ----------------------------------------------- */

static inline void list_latest(struct allocator_pool *pool)
{
    if (pool->latest)
        list(pool->latest);
    pool->latest = NULL;
}

static inline void put_latest(struct allocator_pool *pool, struct allocator_block *b)
{
    list_latest(pool);
    pool->latest = b;
}

static inline void add_free(struct allocator *a, struct allocator_block *b)
{
    put_latest(b->pool, b);
    if (is_whole_segment(b))
        a->idle_B += b->size_B;
}

/* Not one that is a segment. */
static inline void remove_part(struct allocator_pool *pool, struct allocator_block *b)
{
    if (pool->latest == b)
        pool->latest = NULL;
    else
        unlist_part(pool, b);
}

static inline void remove_free(struct allocator *a, struct allocator_block *b)
{
    if (is_whole_segment(b))
        a->idle_B -= b->size_B;
    if (b->pool->latest == b)
        b->pool->latest = NULL;
    else
        unlist(b);
}

/* Removes the smallest that is large enough, of equals the lowest; NULL: none. */
static inline struct allocator_block *best_fit(const struct allocator_ask *ask)
{
    struct allocator_block *b = best_listed(ask), *latest = ask->pool->latest;
    if (latest && latest->size_B >= ask->size_B && (!b || precedes(&latest->link, b))) {
        ask->pool->latest = NULL;
        return latest;
    }
    if (b)
        unlist(b);
    return b;
}

/* Blocks --------------------------------------------------------------------------- */

/* Of any content. */
static inline struct allocator_block *new_block(struct allocator *a)
{
    struct allocator_block *b = a->spare;
    if (!b)
        return ARENA_RAW(&a->blocks, 1, struct allocator_block);
    a->spare = b->after;
    return b;
}

static inline void drop_block(struct allocator *a, struct allocator_block *b)
{
    b->after = a->spare;
    a->spare = b;
}

/* What the block has beyond size_B becomes a free block after it, if it is worth
 * it. */
static inline void split(struct allocator *a, struct allocator_block *b, int64_t size_B,
                         int64_t least_left_B)
{
    int64_t left_B = b->size_B - size_B;
    if (left_B < least_left_B)
        return;
    struct allocator_block *left = new_block(a);
    left->address = b->address + size_B;
    left->size_B = left_B;
    left->pool = b->pool;
    left->before = b;
    left->after = b->after;
    left->used = false;
    if (b->after != EDGE)
        b->after->before = left;
    b->after = left;
    b->size_B = size_B;
    if (a->expandable && b->pool->last == b)
        b->pool->last = left;
    put_latest(b->pool, left);
}

/* Joins the following block to it. */
static inline void merge(struct allocator *a, struct allocator_block *b)
{
    struct allocator_block *after = b->after;
    b->size_B += after->size_B;
    b->after = after->after;
    if (b->after != EDGE)
        b->after->before = b;
    if (a->expandable && b->pool->last == after)
        b->pool->last = b;
    drop_block(a, after);
}

/* Interface ------------------------------------------------------------------------ */

/* Segments in which a block is: more than before only when one is made or is idle no
 * more. */
static inline void note_used(struct allocator *a)
{
    int64_t used_B = a->reserved_B - a->idle_B;
    if (used_B > a->used_B)
        a->used_B = used_B;
}

/* A free block in no bin, of a new segment or of an expandable one that grows. */
struct allocator_block *allocator_make(struct allocator *a,
                                       const struct allocator_ask *ask);

ALLOCATOR_INLINE struct allocator_block *
allocator_take_inline(struct allocator *a, struct allocator_ask *ask)
{
    struct allocator_block *b = best_fit(ask);
    if (!b) {
        b = allocator_make(a, ask);
        note_used(a);
    } else if (is_whole_segment(b)) {
        a->idle_B -= b->size_B;
        note_used(a);
    }
    if (b->size_B > ask->most_B)
        ask->most_B = b->size_B;
    split(a, b, ask->size_B, ask->least_left_B);
    b->used = true;
    return b;
}

ALLOCATOR_INLINE void allocator_free_inline(struct allocator *a,
                                            struct allocator_block *b)
{
    assert(b->used);
    b->used = false;
    if (!b->after->used) {
        remove_part(b->pool, b->after);
        merge(a, b);
    }
    if (!b->before->used) {
        b = b->before;
        remove_part(b->pool, b);
        merge(a, b);
    }
    add_free(a, b);
}

#endif
