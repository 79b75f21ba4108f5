#include "base/arena.h"

#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *prev;
    size_t used, size;
    max_align_t bytes[];
};

enum { FIRST_BLOCK_B = 4096, LARGEST_BLOCK_B = 1 << 20 };

void arena_init(struct arena *a)
{
    a->last = NULL;
}

void arena_release(struct arena *a)
{
    while (a->last) {
        struct arena_block *prev = a->last->prev;
        free(a->last);
        a->last = prev;
    }
}

/* Blocks double in size, so the number of blocks grows with the log of the bytes. */
static struct arena_block *add_block(struct arena *a, size_t need)
{
    size_t size = a->last ? a->last->size * 2 : FIRST_BLOCK_B;
    if (size > LARGEST_BLOCK_B)
        size = LARGEST_BLOCK_B;
    if (size < need)
        size = need;
    struct arena_block *b = xcalloc(1, sizeof(*b) + size);
    b->size = size;
    b->prev = a->last;
    a->last = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    if (size && n > (SIZE_MAX / 2) / size)
        n = SIZE_MAX / 2 / size; /* add_block's xcalloc ends the program */
    size_t need = (n * size + align - 1) / align * align;
    struct arena_block *b = a->last;
    if (!b || b->size - b->used < need)
        b = add_block(a, need);
    void *p = (char *)b->bytes + b->used;
    b->used += need;
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1, 1);
    memcpy(copy, s, n);
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
    char *s = arena_alloc(a, (size_t)n + 1, 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}
