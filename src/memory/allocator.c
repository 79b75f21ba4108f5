#include "memory/allocator.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc, kLargeBuffer, kRoundLarge */
enum {
    ROUND_B = 512,
    SMALL_B = 1 << 20,
    SMALL_SEGMENT_B = 2 << 20,
    LARGE_LEAST_B = 10 << 20,
    LARGE_SEGMENT_B = 20 << 20,
    LARGE_ROUND_B = 2 << 20,
};

struct allocator_block {
    struct allocator_link link; /* of a free one */
    int64_t address, size_B;
    struct allocator_pool *pool;
    struct allocator_block *before, *after; /* in the segment; EDGE: none */
    int32_t bin;                            /* of a free one */
    bool used;
};

/* What no block merges with; never written. */
static const struct allocator_block edge_block = { .used = true };
#define EDGE ((struct allocator_block *)&edge_block)

static int64_t rounded(int64_t size_B, int64_t to_B)
{
    return (size_B + to_B - 1) / to_B * to_B;
}

/* Bins of free blocks -------------------------------------------------------------- */

/* Sizes below 2^ALLOCATOR_STEPS_LOG2 rounds have a bin each; from there on each octave
 * has as many. */
static int32_t bin_of(int64_t size_B)
{
    uint64_t n = (uint64_t)size_B / ROUND_B;
    if (n >> ALLOCATOR_STEPS_LOG2 == 0)
        return (int32_t)n;
    int32_t octave = 63 - __builtin_clzll(n) - ALLOCATOR_STEPS_LOG2;
    return (octave << ALLOCATOR_STEPS_LOG2) + (int32_t)(n >> octave);
}

_Static_assert(ALLOCATOR_BINS / 64 <= 32, "one bit of `any` for each word");

/* The first bin from `bin` on that has a block; ALLOCATOR_BINS: none. */
static inline int32_t next_bin(const struct allocator_pool *pool, int32_t bin)
{
    uint32_t word = (uint32_t)bin / 64;
    if (bin == ALLOCATOR_BINS)
        return bin;
    uint64_t filled = pool->filled[word] & (~UINT64_C(0) << bin % 64);
    if (filled == 0) {
        uint32_t later = pool->any & ~UINT32_C(1) << word;
        if (later == 0)
            return ALLOCATOR_BINS;
        word = (uint32_t)__builtin_ctz(later);
        filled = pool->filled[word];
    }
    return (int32_t)word * 64 + __builtin_ctzll(filled);
}

static bool is_filled(const struct allocator_pool *pool, int32_t bin)
{
    return pool->filled[(uint32_t)bin / 64] >> bin % 64 & 1;
}

static void fill_bin(struct allocator_pool *pool, int32_t bin)
{
    pool->filled[(uint32_t)bin / 64] |= UINT64_C(1) << bin % 64;
    pool->any |= UINT32_C(1) << bin / 64;
}

static void empty_bin(struct allocator_pool *pool, int32_t bin)
{
    uint64_t *filled = &pool->filled[(uint32_t)bin / 64];
    *filled &= ~(UINT64_C(1) << bin % 64);
    pool->any &= ~((uint32_t)(*filled == 0) << bin / 64);
}

static struct allocator_block *block_of(struct allocator_link *link)
{
    return (struct allocator_block *)link; /* its first member */
}

static bool precedes(const struct allocator_link *link, const struct allocator_block *b)
{
    const struct allocator_block *a = (const struct allocator_block *)link;
    return a->size_B != b->size_B ? a->size_B < b->size_B : a->address < b->address;
}

static bool is_whole_segment(const struct allocator_block *b)
{
    return (b->before == EDGE) & (b->after == EDGE);
}

/* The place of a block between those of its bin, of which there is one at least: that
 * before which it comes. Looks from both ends at once: blocks freed in order of
 * addresses belong to one of them. */
static struct allocator_link *place_of(struct allocator_link *head,
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
static void join(struct allocator_link *link, struct allocator_link *smaller,
                 struct allocator_link *larger)
{
    *link = (struct allocator_link) { smaller, larger };
    larger->smaller = smaller->larger = link;
}

static void part(struct allocator_link *link)
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
}

static inline void unlist(struct allocator_block *b)
{
    struct allocator_pool *pool = b->pool;
    struct allocator_link *larger = b->link.larger, *smaller = b->link.smaller;
    part(&b->link);
    if (larger == smaller && larger == &pool->bins[b->bin])
        empty_bin(pool, b->bin); /* it was the only one */
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

static void list_latest(struct allocator_pool *pool)
{
    if (pool->latest)
        list(pool->latest);
    pool->latest = NULL;
}

static inline void add_free(struct allocator_block *b)
{
    list_latest(b->pool);
    b->pool->latest = b;
}

static inline void remove_free(struct allocator_block *b)
{
    if (b->pool->latest == b)
        b->pool->latest = NULL;
    else
        unlist(b);
}

/* Removes the smallest that is large enough, of equals the lowest; NULL: none. */
static struct allocator_block *best_fit(const struct allocator_ask *ask)
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
static struct allocator_block *new_block(struct allocator *a)
{
    struct allocator_block *b = a->spare;
    if (!b)
        return ARENA_RAW(&a->blocks, 1, struct allocator_block);
    a->spare = b->after;
    return b;
}

static void drop_block(struct allocator *a, struct allocator_block *b)
{
    b->after = a->spare;
    a->spare = b;
}

/* What the block has beyond size_B becomes a free block after it, if it is worth
 * it. */
static void split(struct allocator *a, struct allocator_block *b, int64_t size_B,
                  bool small)
{
    int64_t left_B = b->size_B - size_B;
    if (small || a->expandable ? left_B < ROUND_B : left_B <= SMALL_B)
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
    add_free(left);
}

/* Joins the following block to it. */
static void merge(struct allocator *a, struct allocator_block *b)
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

/* Segments ------------------------------------------------------------------------- */

/* Segments that are free as a whole. */
static void give_back(struct allocator *a, struct allocator_pool *pool)
{
    list_latest(pool);
    for (int32_t bin = next_bin(pool, 0); bin < ALLOCATOR_BINS;
         bin = next_bin(pool, bin + 1)) {
        struct allocator_link *head = &pool->bins[bin], *at = head->larger, *next;
        for (; at != head; at = next) {
            struct allocator_block *b = block_of(at);
            next = at->larger;
            if (!is_whole_segment(b))
                continue;
            a->reserved_B -= b->size_B;
            unlist(b);
            drop_block(a, b);
        }
    }
}

static int64_t page_of(const struct allocator *a, const struct allocator_pool *pool)
{
    return pool >= a->small && pool < a->small + ALLOCATOR_STREAMS ? SMALL_SEGMENT_B
                                                                   : LARGE_SEGMENT_B;
}

/* A piece that a free block keeps when its pages are unmapped. */
static void keep_piece(struct allocator *a, struct allocator_block like,
                       struct allocator_block *before, struct allocator_block *after)
{
    struct allocator_block *b = new_block(a);
    *b = like;
    b->before = before;
    b->after = after;
    if (before != EDGE)
        before->after = b;
    if (after != EDGE)
        after->before = b;
    add_free(b);
}

/* Unmaps the pages in which the free block alone lies. The segment ends before them if
 * it was the last; else they leave a hole that no block spans. */
static void unmap_block(struct allocator *a, struct allocator_block *b, int64_t page_B)
{
    struct allocator_pool *pool = b->pool;
    struct allocator_block was = *b;
    int64_t end = was.address + was.size_B;
    int64_t from = rounded(was.address, page_B), to = end / page_B * page_B;
    if (from >= to)
        return;
    bool last = pool->last == b;
    remove_free(b);
    drop_block(a, b);
    a->reserved_B -= to - from;
    if (was.before != EDGE)
        was.before->after = EDGE;
    if (was.after != EDGE)
        was.after->before = EDGE;
    struct allocator_block piece = { .address = was.address,
                                     .size_B = from - was.address,
                                     .pool = pool };
    if (piece.size_B > 0)
        keep_piece(a, piece, was.before, EDGE);
    if (last) {
        pool->end = from;
        pool->last = piece.size_B > 0     ? pool->latest
                     : was.before != EDGE ? was.before
                                          : NULL;
        return;
    }
    piece.address = to;
    piece.size_B = end - to;
    if (piece.size_B > 0)
        keep_piece(a, piece, EDGE, was.after);
}

static void unmap_pages(struct allocator *a, struct allocator_pool *pool)
{
    int64_t page_B = page_of(a, pool);
    list_latest(pool);
    for (int32_t bin = next_bin(pool, bin_of(page_B)); bin < ALLOCATOR_BINS;
         bin = next_bin(pool, bin + 1)) {
        struct allocator_link *head = &pool->bins[bin], *at = head->larger, *next;
        for (; at != head; at = next) {
            next = at->larger;
            unmap_block(a, block_of(at), page_B);
        }
    }
    list_latest(pool);
}

static int64_t segment_B(int64_t size_B)
{
    if (size_B <= SMALL_B)
        return SMALL_SEGMENT_B;
    return size_B < LARGE_LEAST_B ? LARGE_SEGMENT_B : rounded(size_B, LARGE_ROUND_B);
}

/* Before memory is asked of the GPU that it has not. */
static void make_room(struct allocator *a)
{
    void (*give)(struct allocator *, struct allocator_pool *) =
        a->expandable ? unmap_pages : give_back;
    a->was_full = true;
    if (a->wait)
        a->wait(a->owner);
    for (int i = 0; i < ALLOCATOR_STREAMS; i++) {
        give(a, &a->small[i]);
        give(a, &a->large[i]);
    }
}

static void reserve(struct allocator *a, int64_t size_B)
{
    a->reserved_B += size_B;
    a->peak_B = a->reserved_B > a->peak_B ? a->reserved_B : a->peak_B;
}

/* The last block of an expandable segment with as many more pages as the ask lacks. */
static struct allocator_block *grow(struct allocator *a,
                                    const struct allocator_ask *ask)
{
    struct allocator_pool *pool = ask->pool;
    int64_t page_B = page_of(a, pool), more_B = 0;
    for (int try = 0; try < 2; try++) {
        int64_t there_B = pool->last && !pool->last->used ? pool->last->size_B : 0;
        more_B = rounded(ask->size_B - there_B, page_B);
        if (a->reserved_B + more_B <= a->capacity_B)
            break;
        if (try == 0)
            make_room(a);
    }
    reserve(a, more_B);
    struct allocator_block *b = pool->last;
    if (b && !b->used) {
        remove_free(b);
        b->size_B += more_B;
    } else {
        b = new_block(a);
        *b = (struct allocator_block) { .address = pool->end,
                                        .size_B = more_B,
                                        .pool = pool,
                                        .before = pool->last ? pool->last : EDGE,
                                        .after = EDGE };
        if (pool->last)
            pool->last->after = b;
        pool->last = b;
    }
    pool->end += more_B;
    a->next_address += more_B;
    return b;
}

static struct allocator_block *new_segment(struct allocator *a,
                                           struct allocator_pool *pool, int64_t size_B)
{
    int64_t segment = segment_B(size_B);
    if (a->reserved_B + segment > a->capacity_B)
        make_room(a);
    reserve(a, segment);
    struct allocator_block *b = new_block(a);
    *b = (struct allocator_block) { .address = a->next_address,
                                    .size_B = segment,
                                    .pool = pool,
                                    .before = EDGE,
                                    .after = EDGE };
    a->next_address += segment;
    return b;
}

/* Interface ------------------------------------------------------------------------ */

struct allocator_ask allocator_ask(struct allocator *a, int64_t size_B,
                                   enum allocator_stream stream)
{
    assert(size_B > 0);
    size_B = rounded(size_B, ROUND_B);
    bool small = size_B <= SMALL_B;
    return (struct allocator_ask) { .pool =
                                        small ? &a->small[stream] : &a->large[stream],
                                    .size_B = size_B,
                                    .bin = bin_of(size_B),
                                    .small = small };
}

struct allocator_block *allocator_take(struct allocator *a, struct allocator_ask *ask)
{
    struct allocator_block *b = best_fit(ask);
    if (!b)
        b = a->expandable ? grow(a, ask) : new_segment(a, ask->pool, ask->size_B);
    if (b->size_B > ask->most_B)
        ask->most_B = b->size_B;
    split(a, b, ask->size_B, ask->small);
    b->used = true;
    return b;
}

void allocator_free(struct allocator *a, struct allocator_block *b)
{
    assert(b->used);
    b->used = false;
    if (!b->after->used) {
        remove_free(b->after);
        merge(a, b);
    }
    if (!b->before->used) {
        b = b->before;
        remove_free(b);
        merge(a, b);
    }
    add_free(b);
}

struct allocator_place allocator_place(const struct allocator_block *block)
{
    return (struct allocator_place) { block->address, block->size_B };
}

static void pool_init(struct allocator_pool *pool)
{
    pool->latest = pool->last = NULL;
    pool->end = 0;
    pool->any = 0;
    memset(pool->filled, 0, sizeof(pool->filled));
}

void allocator_init(struct allocator *a, int64_t capacity_B, bool expandable)
{
    a->capacity_B = capacity_B;
    a->expandable = expandable;
    a->reserved_B = a->peak_B = a->next_address = 0;
    a->was_full = false;
    a->wait = NULL;
    a->spare = NULL;
    for (int i = 0; i < ALLOCATOR_STREAMS; i++) {
        pool_init(&a->small[i]);
        pool_init(&a->large[i]);
    }
    arena_init(&a->blocks);
}

void allocator_release(struct allocator *a)
{
    arena_release(&a->blocks);
    a->reserved_B = 0;
}
