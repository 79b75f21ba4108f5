/* Memory that is released all at once: one arena per loaded scenario, one per
 * simulation. Allocation is a pointer bump; nothing is freed singly. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *last; /* newest block; they are chained to the first */
};

void arena_init(struct arena *a);
/* For megabytes, of a thread: in huge pages apart from the heap (base/heap.h), where there
 * are any. */
void arena_init_pages(struct arena *a);
void arena_release(struct arena *a);

/* Zeroed memory, aligned for any type. n * size must not come unbounded from a file. */
void *arena_alloc(struct arena *a, size_t n, size_t size);
/* The same, of any content: for what is written whole. */
void *arena_raw(struct arena *a, size_t n, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), 1, sizeof(type)))
#define ARENA_RAW(a, n, type) ((type *)arena_raw((a), (size_t)(n), sizeof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_alloc((a), (size_t)(n), sizeof(type)))

#endif
