#include "base/strbuf.h"

#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_init(struct strbuf *b)
{
    *b = (struct strbuf) { 0 };
}

void strbuf_release(struct strbuf *b)
{
    free(b->s);
    strbuf_init(b);
}

static void grow(struct strbuf *b, size_t more)
{
    if (b->len + more + 1 <= b->cap)
        return;
    b->cap = 2 * b->cap > b->len + more + 1 ? 2 * b->cap : b->len + more + 64;
    b->s = xrealloc(b->s, b->cap, 1);
}

void strbuf_add(struct strbuf *b, const char *s, size_t n)
{
    grow(b, n);
    memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void strbuf_addstr(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void strbuf_addch(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_add_utf8(struct strbuf *b, unsigned long c)
{
    static const unsigned long limits[] = { 0x80, 0x800, 0x10000 };
    static const unsigned lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = 0;
    while (more < 3 && c >= limits[more])
        more++;
    strbuf_addch(b, (char)(lead[more] | (c >> (6 * more))));
    while (more-- > 0)
        strbuf_addch(b, (char)(0x80 | ((c >> (6 * more)) & 0x3f)));
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    grow(b, (size_t)n);
    va_start(ap, fmt);
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

const char *strbuf_get(const struct strbuf *b)
{
    return b->s ? b->s : "";
}
