/* Allocation that cannot fail: out of memory ends the program, so builders need no
 * failure path. Sizes that overflow end it too; sizes from files are bounded by the
 * reader before they get here. */
#ifndef BASE_XMALLOC_H
#define BASE_XMALLOC_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* A new string, printf style; the caller frees it. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
