#include "base/xmalloc.h"

#include "base/ending.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard output is not flushed: half a result would look like one. */
static void end_program(void)
{
    static const char text[] =
        "smsim: out of memory (take a smaller job, or fewer --jobs)\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)n;
    ending_clean();
    _exit(XMALLOC_EXIT);
}

static xmalloc_fail_fn *fail_fn = end_program;

void xmalloc_set_fail(xmalloc_fail_fn *fail)
{
    fail_fn = fail ? fail : end_program;
}

void xmalloc_fail(void)
{
    fail_fn();
    abort(); /* it may not return */
}

static void *check(void *p)
{
    if (!p)
        xmalloc_fail();
    return p;
}

void *xmalloc(size_t size)
{
    return check(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
    return check(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return check(NULL);
    size_t bytes = n * size;
    return check(realloc(p, bytes > 0 ? bytes : 1));
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    char *copy = xmalloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = xmalloc((size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}
