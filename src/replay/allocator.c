#include "replay/allocator.h"

#include "base/xmalloc.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
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
    int64_t address, size_B;
    struct allocator_pool *pool;
    bool used;
    struct allocator_block *before, *behind; /* neighbours in the segment */
};

static int64_t rounded(int64_t size_B, int64_t to_B)
{
    return (size_B + to_B - 1) / to_B * to_B;
}

/* Free lists ------------------------------------------------------------------------- */

static bool precedes(const struct allocator_block *b, int64_t size_B, int64_t address)
{
    return b->size_B != size_B ? b->size_B < size_B : b->address < address;
}

/* Index of the first free block that is not before (size, address). */
static int64_t find(const struct allocator_pool *pool, int64_t size_B, int64_t address)
{
    int64_t low = 0, high = pool->free.n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (precedes(pool->free.v[middle], size_B, address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void list(struct allocator_block *b)
{
    struct allocator_pool *pool = b->pool;
    int64_t at = find(pool, b->size_B, b->address);
    VEC_PUSH(&pool->free, b);
    memmove(&pool->free.v[at + 1], &pool->free.v[at],
            (size_t)(pool->free.n - 1 - at) * sizeof(struct allocator_block *));
    pool->free.v[at] = b;
}

static void unlist_at(struct allocator_pool *pool, int64_t at)
{
    pool->free.n--;
    memmove(&pool->free.v[at], &pool->free.v[at + 1],
            (size_t)(pool->free.n - at) * sizeof(struct allocator_block *));
}

static void unlist(const struct allocator_block *b)
{
    unlist_at(b->pool, find(b->pool, b->size_B, b->address));
}

/* Segments --------------------------------------------------------------------------- */

static bool is_whole_segment(const struct allocator_block *b)
{
    return !b->before && !b->behind;
}

static void give_back(struct allocator *a, struct allocator_pool *pool)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < pool->free.n; i++) {
        struct allocator_block *b = pool->free.v[i];
        if (is_whole_segment(b)) {
            a->reserved_B -= b->size_B;
            free(b);
        } else {
            pool->free.v[kept++] = b;
        }
    }
    pool->free.n = kept;
}

static int64_t segment_B(int64_t size_B)
{
    if (size_B <= SMALL_B)
        return SMALL_SEGMENT_B;
    return size_B < LARGE_LEAST_B ? LARGE_SEGMENT_B : rounded(size_B, LARGE_ROUND_B);
}

static struct allocator_block *new_segment(struct allocator *a,
                                           struct allocator_pool *pool, int64_t size_B)
{
    int64_t segment = segment_B(size_B);
    if (a->reserved_B + segment > a->capacity_B) {
        a->was_full = true;
        give_back(a, &a->small);
        give_back(a, &a->large);
    }
    a->reserved_B += segment;
    a->peak_B = a->reserved_B > a->peak_B ? a->reserved_B : a->peak_B;
    struct allocator_block *b = xcalloc(1, sizeof(*b));
    *b = (struct allocator_block) { .address = a->next_address,
                                    .size_B = segment,
                                    .pool = pool };
    a->next_address += segment;
    return b;
}

/* Blocks ----------------------------------------------------------------------------- */

/* What the block has beyond size_B becomes a free block behind it, if it is worth it. */
static void split(struct allocator_block *b, int64_t size_B, bool small)
{
    int64_t left_B = b->size_B - size_B;
    if (small ? left_B < ROUND_B : left_B <= SMALL_B)
        return;
    struct allocator_block *left = xcalloc(1, sizeof(*left));
    *left = (struct allocator_block) { .address = b->address + size_B,
                                       .size_B = left_B,
                                       .pool = b->pool,
                                       .before = b,
                                       .behind = b->behind };
    if (b->behind)
        b->behind->before = left;
    b->behind = left;
    b->size_B = size_B;
    list(left);
}

struct allocator_block *allocator_alloc(struct allocator *a, int64_t size_B)
{
    assert(size_B > 0);
    size_B = rounded(size_B, ROUND_B);
    bool small = size_B <= SMALL_B;
    struct allocator_pool *pool = small ? &a->small : &a->large;
    int64_t at = find(pool, size_B, INT64_MIN);
    struct allocator_block *b;
    if (at < pool->free.n) {
        b = pool->free.v[at];
        unlist_at(pool, at);
    } else {
        b = new_segment(a, pool, size_B);
    }
    split(b, size_B, small);
    b->used = true;
    return b;
}

/* Joins the block behind to the one before it. */
static void merge(struct allocator_block *b, struct allocator_block *behind)
{
    b->size_B += behind->size_B;
    b->behind = behind->behind;
    if (b->behind)
        b->behind->before = b;
    free(behind);
}

void allocator_free(struct allocator *a, struct allocator_block *b)
{
    (void)a;
    assert(b->used);
    b->used = false;
    if (b->behind && !b->behind->used) {
        unlist(b->behind);
        merge(b, b->behind);
    }
    if (b->before && !b->before->used) {
        b = b->before;
        unlist(b);
        merge(b, b->behind);
    }
    list(b);
}

void allocator_init(struct allocator *a, int64_t capacity_B)
{
    *a = (struct allocator) { .capacity_B = capacity_B };
}

void allocator_release(struct allocator *a)
{
    give_back(a, &a->small);
    give_back(a, &a->large);
    assert(a->reserved_B == 0);
    VEC_RELEASE(&a->small.free);
    VEC_RELEASE(&a->large.free);
}
