/* For LD_PRELOAD: the FAULT_AT-th call of FAULT_OF (malloc, open or rename) fails, as it
 * does without memory, or without a right; malloc is calloc and realloc, too. With
 * FAULT_COUNT=FILE the number of calls is written there at the end. Calls of libraries
 * count, too; those within libc do not, so that writes are cut off by ulimit instead
 * (tests/faults.sh). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long calls;

static int fails(const char *what)
{
    const char *of = getenv("FAULT_OF"), *at = getenv("FAULT_AT");
    if (!of || strcmp(of, what) != 0)
        return 0;
    return ++calls == (at ? atol(at) : 0);
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((destructor)) static void finish(void)
{
    const char *file = getenv("FAULT_COUNT");
    FILE *(*open_file)(const char *, const char *);
    *(void **)&open_file = real("fopen");
    FILE *out = file ? open_file(file, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", (long)calls);
        fclose(out);
    }
}

void *malloc(size_t size)
{
    static void *(*to)(size_t);
    if (!to)
        *(void **)&to = real("malloc");
    if (!fails("malloc"))
        return to(size);
    errno = ENOMEM;
    return NULL;
}

/* dlsym asks for memory before calloc is known; that is never freed. */
static void *early(size_t size)
{
    static _Alignas(16) char room[4096];
    static size_t used;
    void *p = room + used;
    used += (size + 15) / 16 * 16;
    return used <= sizeof(room) ? p : NULL;
}

void *calloc(size_t n, size_t size)
{
    static void *(*to)(size_t, size_t);
    static int asked;
    if (!to && asked)
        return early(n * size);
    if (!to) {
        asked = 1;
        *(void **)&to = real("calloc");
    }
    if (!fails("malloc"))
        return to(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *old, size_t size)
{
    static void *(*to)(void *, size_t);
    if (!to)
        *(void **)&to = real("realloc");
    if (!fails("malloc"))
        return to(old, size);
    errno = ENOMEM;
    return NULL;
}

int open(const char *path, int flags, ...)
{
    static int (*to)(const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    unsigned mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    if (!to)
        *(void **)&to = real("open");
    if (!fails("open"))
        return to(path, flags, mode);
    errno = EACCES;
    return -1;
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*to)(const char *, const char *);
    if (!to)
        *(void **)&to = real("fopen");
    if (!fails("open"))
        return to(path, mode);
    errno = EACCES;
    return NULL;
}

int rename(const char *from, const char *to_path)
{
    static int (*to)(const char *, const char *);
    if (!to)
        *(void **)&to = real("rename");
    if (!fails("rename"))
        return to(from, to_path);
    errno = EACCES;
    return -1;
}
