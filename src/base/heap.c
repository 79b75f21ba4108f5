#define _DEFAULT_SOURCE /* sbrk, madvise */
#include "base/heap.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MMAP_LEAST_B = 32 << 20, /* the most that M_MMAP_THRESHOLD takes */
    KEPT_B = 256 << 20,
    HUGE_B = 2 << 20,
    RESERVED_B = 1 << 30,
    TOP_PAD_B = 128 << 10, /* glibc's own */
    FIRST_B = 3 * TOP_PAD_B,
};

static rlim_t most_addresses_B(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/* Fewer where addresses are limited: threads need some for their stacks and heaps. */
static int reserved_B(void)
{
    enum { SHARE = 8 };
    const rlim_t most_B = most_addresses_B();
    return most_B / SHARE >= RESERVED_B ? RESERVED_B : (int)(most_B / SHARE);
}

int heap_threads_most(void)
{
    enum { STACK_B = 8 << 20, HEAP_B = 64 << 20 }; /* Linux's usual; HEAP_MAX_SIZE */
    const rlim_t most_B = most_addresses_B(), most = most_B / (STACK_B + HEAP_B);
    if (most_B == RLIM_INFINITY || most > INT_MAX)
        return INT_MAX;
    return most > 0 ? (int)most : 1;
}

/* The heap goes on FIRST_B before a huge page, with addresses for many: what malloc writes
 * here is in front of them, as a page that was touched is no part of a huge one. */
static void reserve_huge_pages(void)
{
    uintptr_t end = (uintptr_t)sbrk(0);
    if (sbrk(HUGE_B - (intptr_t)((end + FIRST_B) % HUGE_B)) == (void *)-1)
        return;
    char *first = (char *)sbrk(0) + FIRST_B;
    mallopt(M_TOP_PAD, reserved_B());
    void *volatile more = malloc(2 * TOP_PAD_B); /* more than is left of the heap */
    free(more);
    mallopt(M_TOP_PAD, TOP_PAD_B);
    char *to = sbrk(0);
    if (to > first)
        madvise(first, (size_t)(to - first), MADV_HUGEPAGE);
}

void heap_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, MMAP_LEAST_B);
    mallopt(M_TRIM_THRESHOLD, RESERVED_B + KEPT_B);
    reserve_huge_pages();
}

/* A page begins anywhere in what is mapped: what is before it and after the last goes
 * back. */
void *heap_pages_take(size_t *bytes)
{
    const size_t size = (*bytes + HUGE_B - 1) / HUGE_B * HUGE_B;
    char *all = mmap(NULL, size + HUGE_B, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    const size_t before = (HUGE_B - (uintptr_t)all % HUGE_B) % HUGE_B;
    if (before > 0)
        munmap(all, before);
    munmap(all + before + size, HUGE_B - before);
    madvise(all + before, size, MADV_HUGEPAGE);
    *bytes = size;
    return all + before;
}

void heap_pages_give(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}
#else
void heap_prepare(void)
{
}

int heap_threads_most(void)
{
    return INT_MAX;
}

void *heap_pages_take(size_t *bytes)
{
    (void)bytes;
    return NULL;
}

void heap_pages_give(void *pages, size_t bytes)
{
    (void)pages;
    (void)bytes;
}
#endif
