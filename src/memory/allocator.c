#include "memory/allocator.h"

#include "memory/allocator_inline.h"

const struct allocator_block allocator_edge = { .used = true };

/* Segments ------------------------------------------------------------------------- */

static struct allocator_block *whole_of(struct allocator_link *link)
{
    size_t offset = offsetof(struct allocator_block, whole);
    return (struct allocator_block *)(void *)((char *)link - offset);
}

/* Segments that are free as a whole: a job that does not fit asks for them at every
 * block, so that they have a ring of their own. */
static void give_back(struct allocator *a, struct allocator_pool *pool)
{
    list_latest(pool);
    while (pool->whole.larger != &pool->whole) {
        struct allocator_block *b = whole_of(pool->whole.larger);
        a->reserved_B -= b->size_B;
        a->idle_B -= b->size_B;
        unlist(b);
        drop_block(a, b);
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
    add_free(a, b);
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
    remove_free(a, b);
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
        remove_free(a, b);
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

struct allocator_block *allocator_make(struct allocator *a,
                                       const struct allocator_ask *ask)
{
    int64_t end = a->next_address;
    struct allocator_block *b =
        a->expandable ? grow(a, ask) : new_segment(a, ask->pool, ask->size_B);
    if (a->made && a->next_address != end)
        a->made(a->owner, ask->pool, a->next_address - end);
    return b;
}

/* Interface ------------------------------------------------------------------------ */

struct allocator_ask allocator_ask(struct allocator *a, int64_t size_B,
                                   enum allocator_stream stream)
{
    assert(size_B > 0);
    size_B = rounded(size_B, ROUND_B);
    bool small = size_B <= SMALL_B;
    return (struct allocator_ask) {
        .pool = small ? &a->small[stream] : &a->large[stream],
        .size_B = size_B,
        .bin = bin_of(size_B),
        .least_left_B = small || a->expandable ? ROUND_B : SMALL_B + 1
    };
}

struct allocator_block *allocator_take(struct allocator *a, struct allocator_ask *ask)
{
    return allocator_take_inline(a, ask);
}

void allocator_free(struct allocator *a, struct allocator_block *b)
{
    allocator_free_inline(a, b);
}

struct allocator_place allocator_place(const struct allocator_block *block)
{
    return (struct allocator_place) { block->address, block->size_B };
}

static void pool_init(struct allocator_pool *pool)
{
    pool->latest = pool->last = NULL;
    pool->end = 0;
    pool->whole = (struct allocator_link) { &pool->whole, &pool->whole };
    memset(pool->filled, 0, sizeof(pool->filled));
    pool->any = 0;
}

void allocator_init(struct allocator *a, int64_t capacity_B, bool expandable)
{
    a->capacity_B = capacity_B;
    a->expandable = expandable;
    a->reserved_B = a->peak_B = a->next_address = 0;
    a->idle_B = a->used_B = 0;
    a->was_full = false;
    a->wait = NULL;
    a->made = NULL;
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
