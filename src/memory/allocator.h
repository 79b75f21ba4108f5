/* PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp), replayed: what it
 * holds of the GPU's memory, which is more than the live tensors, because freed blocks
 * seldom fit what comes next.
 *
 *   segment of 20 MiB   |block A|free    |block B|free                     |
 *
 * Sizes are rounded to 512 B. Up to 1 MiB blocks come from segments of 2 MiB, below
 * 10 MiB from segments of 20 MiB, larger ones from segments of their own, rounded to
 * 2 MiB. The smallest free block that is large enough is taken, and split when what is
 * left is worth it (512 B of small ones, more than 1 MiB of large ones); free
 * neighbours merge. When the GPU is full, the allocator waits for it, and segments that
 * are free as a whole are given back (release_cached_blocks).
 *
 * With expandable segments (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True) a pool has
 * one segment of addresses without end. Pages of 20 MiB (small blocks: 2 MiB) are mapped
 * after its last block, which grows if it is free; blocks are split down to 512 B; and
 * when the GPU is full, all pages in which nothing lies are unmapped.
 *
 * Free blocks are in bins (as in Masmano et al.: TLSF, ECRTS 2004), each in order, so
 * that finding the smallest that fits is O(1) but for those of nearly its size. The one
 * that became free last is in none yet: it is often the next to be taken. Blocks stay
 * the allocator's; a handle is good until it is freed. */
#ifndef MEMORY_ALLOCATOR_H
#define MEMORY_ALLOCATOR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct allocator_block; /* a stretch of a segment, in use or free */

/* Free blocks in bins by size, 2^ALLOCATOR_STEPS_LOG2 bins an octave; in a bin in order
 * of size, of equals by address. */
enum {
    ALLOCATOR_STEPS_LOG2 = 3,
    ALLOCATOR_OCTAVES = 54, /* of sizes from 512 B to 2^63 */
    ALLOCATOR_BINS = ALLOCATOR_OCTAVES << ALLOCATOR_STEPS_LOG2,
};

/* Whose kernels a block is for; others' blocks are not for it. */
enum allocator_stream { ALLOCATOR_COMPUTE, ALLOCATOR_OVERLAPPED, ALLOCATOR_STREAMS };

/* A place in a ring, a bin or the whole segments: a free block's, or the ring's own,
 * between its last and its first. */
struct allocator_link {
    struct allocator_link *smaller, *larger;
};

struct allocator_pool {
    struct allocator_block *latest; /* became free last, in no bin; NULL: none */
    struct allocator_block *last;   /* of an expandable segment; NULL: none */
    int64_t end;                    /* its address after the last page */
    struct allocator_link whole;    /* free blocks of bins that are segments */
    uint32_t any;                   /* bits: words of `filled` that may not be 0 */
    uint64_t filled[ALLOCATOR_BINS / 64 + 1];   /* bits: bins that have blocks */
    struct allocator_link bins[ALLOCATOR_BINS]; /* any content where not filled */
};

struct allocator {
    int64_t capacity_B; /* for segments */
    int64_t reserved_B; /* segments held */
    int64_t peak_B;     /* the most that were */
    int64_t idle_B;     /* of the segments held, those that are free as a whole */
    int64_t used_B;     /* the most of the others at any time */
    bool expandable;    /* segments are */
    bool was_full;      /* segments had to be given back, or would not fit */
    void (*wait)(void *owner); /* before that: frees what the GPU has not passed yet;
                                  NULL: nothing */
    void (*made)(void *owner, const struct allocator_pool *pool,
                 int64_t size_B); /* a segment, or pages of an expandable one; NULL:
                                     nobody asks */
    void *owner;
    struct allocator_pool small[ALLOCATOR_STREAMS], large[ALLOCATOR_STREAMS];
    int64_t next_address; /* segments are made in rising order; expandable ones: bytes
                             mapped so far */
    struct arena blocks;
    struct allocator_block *spare; /* the first of those that are not in use any more */
};

void allocator_init(struct allocator *a, int64_t capacity_B, bool expandable);

/* Blocks in use go too. */
void allocator_release(struct allocator *a);

/* What is asked for again and again: a rounded size, and where its blocks may be. */
struct allocator_ask {
    struct allocator_pool *pool;
    int64_t size_B;
    int64_t most_B; /* the largest block that was taken for it; who asks may reset it */
    int32_t bin;
    int64_t least_left_B; /* of a larger block is a block of its own */
};

/* For size_B > 0 bytes. */
struct allocator_ask allocator_ask(struct allocator *a, int64_t size_B,
                                   enum allocator_stream stream);

/* A block of at least that size. Never fails: beyond the capacity, reserved_B says by
 * how much. */
struct allocator_block *allocator_take(struct allocator *a, struct allocator_ask *ask);
void allocator_free(struct allocator *a, struct allocator_block *block);

/* Where a block in use lies. */
struct allocator_place {
    int64_t address, size_B;
};
struct allocator_place allocator_place(const struct allocator_block *block);

#endif
