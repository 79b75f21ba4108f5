#include "base/plain.h"

#include <string.h>

/* The bytes of the control character at s, 0: it is none. */
static size_t control(const char *s)
{
    const unsigned char c = (unsigned char)s[0], next = c ? (unsigned char)s[1] : 0;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0)
        return 2;
    return (c && c < 0x20) || c == 0x7f;
}

size_t plain_length(const char *text, bool lines)
{
    const char *s = text;
    while (*s && (!control(s) || (lines && strchr("\t\n\r", *s))))
        s++;
    return (size_t)(s - text);
}

void plain_make(char *text)
{
    for (char *s = text; *s; s++)
        for (size_t n = control(s); n > 0; n--)
            s[n - 1] = '?';
}
