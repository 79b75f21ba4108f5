/* Text that grows: appended to printf style, handed over or released at the end. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stddef.h>

struct strbuf {
    char *s;         /* NUL-terminated once anything was added; NULL before */
    size_t len, cap; /* length without the NUL; bytes allocated */
};

void strbuf_init(struct strbuf *b);
void strbuf_release(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *s, size_t n);
void strbuf_addstr(struct strbuf *b, const char *s);
void strbuf_addch(struct strbuf *b, char c);
void strbuf_add_utf8(struct strbuf *b,
                     unsigned long c); /* a code point, U+10FFFF at most */
void strbuf_printf(struct strbuf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The text, never NULL; owned by the buffer. */
const char *strbuf_get(const struct strbuf *b);

#endif
