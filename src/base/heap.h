/* The process's heap, for programs that take and free megabytes again and again. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>

/* At the begin of a program: glibc's malloc keeps what is freed, as the kernel zeroes
 * what it gives again, and takes huge pages, of which a fault gives 2 MiB and not 4 KiB,
 * where the kernel has them (transparent_hugepage is `madvise` or `always`). Addresses of
 * 1 GiB are reserved for that, and no memory; an eighth of those that the process may have
 * (ulimit -v), if that is less. Without glibc the heap is as it was. */
void heap_prepare(void);

/* How many threads the addresses that the process may have are enough for, from 1: each
 * takes a stack, and glibc addresses for a heap. INT_MAX: they are not limited. */
int heap_threads_most(void);

/* Memory apart from the heap, zeroed, in huge pages where the kernel has them: for threads,
 * whose heaps are in small ones. At least *bytes, which is what there is then; NULL where
 * there is none. */
void *heap_pages_take(size_t *bytes);
void heap_pages_give(void *pages, size_t bytes);

#endif
