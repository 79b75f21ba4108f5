/* Allocation that cannot fail: out of memory ends the program, so builders need no
 * failure path. Sizes that overflow end it too; sizes from files are bounded by the
 * reader before they get here. */
#ifndef BASE_XMALLOC_H
#define BASE_XMALLOC_H

#include <stddef.h>

enum { XMALLOC_EXIT = 4 }; /* the exit code of a program that is out of memory */

/* What is called when there is no memory left, and does not return. Unless it is set,
 * the program says so, removes its temporary files and exits with XMALLOC_EXIT. For
 * the libraries' failures, too. */
typedef void xmalloc_fail_fn(void);
void xmalloc_set_fail(xmalloc_fail_fn *fail);
void xmalloc_fail(void) __attribute__((noreturn));

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* A new string, printf style; the caller frees it. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
