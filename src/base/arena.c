#include "base/arena.h"

#include "base/heap.h"
#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *prev;
    size_t used, size;
    size_t pages_B; /* of pages of its own, with this; 0: on the heap */
    max_align_t bytes[];
};

enum { FIRST_BLOCK_B = 4096, LARGEST_BLOCK_B = 1 << 18 };

void arena_init(struct arena *a)
{
    a->last = NULL;
}

/* In pages of its own, or NULL. */
static struct arena_block *block_of_pages(size_t need)
{
    size_t pages_B = sizeof(struct arena_block) + need;
    struct arena_block *b = heap_pages_take(&pages_B);
    if (b) {
        b->size = pages_B - sizeof(*b);
        b->pages_B = pages_B;
    }
    return b;
}

void arena_init_pages(struct arena *a)
{
    a->last = block_of_pages(FIRST_BLOCK_B);
}

void arena_release(struct arena *a)
{
    while (a->last) {
        struct arena_block *b = a->last;
        a->last = b->prev;
        if (b->pages_B > 0)
            heap_pages_give(b, b->pages_B);
        else
            free(b);
    }
}

/* Blocks double in size, so the number of blocks grows with the log of the bytes. */
static struct arena_block *block_of_heap(const struct arena *a, size_t need)
{
    size_t size = a->last ? a->last->size * 2 : FIRST_BLOCK_B;
    if (size > LARGEST_BLOCK_B)
        size = LARGEST_BLOCK_B;
    if (size < need)
        size = need;
    struct arena_block *b = xmalloc(sizeof(*b) + size);
    b->size = size;
    b->pages_B = 0;
    return b;
}

static struct arena_block *add_block(struct arena *a, size_t need)
{
    struct arena_block *b = NULL;
    if (a->last && a->last->pages_B > 0)
        b = block_of_pages(need);
    if (!b)
        b = block_of_heap(a, need);
    b->used = 0;
    b->prev = a->last;
    a->last = b;
    return b;
}

/* Of any content. */
static void *take(struct arena *a, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    size_t need = (bytes + align - 1) / align * align;
    struct arena_block *b = a->last;
    if (!b || b->size - b->used < need)
        b = add_block(a, need);
    void *p = (char *)b->bytes + b->used;
    b->used += need;
    return p;
}

void *arena_raw(struct arena *a, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX / 2) / size)
        n = SIZE_MAX / 2 / size; /* add_block's xmalloc ends the program */
    return take(a, n * size);
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
    return memset(arena_raw(a, n, size), 0, n * size);
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

/* At most n bytes of the text, as strndup. */
char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    n = strnlen(s, n);
    char *copy = take(a, n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

/* Most texts are short: those are formatted once. */
char *arena_printf(struct arena *a, const char *fmt, ...)
{
    char buf[128];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof(buf), fmt, ap);
    va_end(ap);
    if ((size_t)n < sizeof(buf))
        return arena_strndup(a, buf, (size_t)n);
    char *s = take(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}
