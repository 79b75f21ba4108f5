/* Measuring, cutting and cleaning text. */
#include "draw/draw.h"

#include "base/xmalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Advance widths in thousandths of the font size, characters 32 to 126: Adobe's
 * metrics of Helvetica and Helvetica-Bold (Core14 AFM files). */
/* clang-format off */
static const int16_t widths[2][95] = {
    { 278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
      556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
      1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
      667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
      333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
      556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584 },
    { 278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278,
      556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
      975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
      667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
      333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
      611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584 },
};
/* clang-format on */

/* The next code point and its length in bytes; 0xfffd and 1 for what is not UTF-8. */
static uint32_t decode(const unsigned char *s, size_t *len)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = { { 0x80, 0x00, 0 },
                  { 0xe0, 0xc0, 0x80 },
                  { 0xf0, 0xe0, 0x800 },
                  { 0xf8, 0xf0, 0x10000 } };

    for (size_t k = 0; k < 4; k++) {
        uint32_t code = s[0] & (unsigned char)~kinds[k].mask;
        size_t i = 1;

        if ((s[0] & kinds[k].mask) != kinds[k].lead)
            continue;
        for (; i <= k && (s[i] & 0xc0) == 0x80; i++)
            code = code << 6 | (s[i] & 0x3f);
        if (i <= k || code < kinds[k].least || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff)
            break;
        *len = k + 1;
        return code;
    }
    *len = 1;
    return 0xfffd;
}

static double code_width(uint32_t code, bool bold)
{
    if (code < 32 || code == 127)
        code = ' ';
    if (code < 127)
        return widths[bold][code - 32];
    if (code >= 0x300 && code < 0x370)
        return 0; /* combining */
    return code >= 0x1100 ? 1000 : 584;
}

double draw_text_width(const char *s, double size, bool bold)
{
    const unsigned char *p = (const unsigned char *)s;
    double sum = 0;
    size_t len;

    for (; *p; p += len) {
        uint32_t code = decode(p, &len);
        bool narrow = code >= 0x2010 && code < 0x2e80; /* dashes, arrows, signs */
        sum += narrow && code != 0x2014 ? 584 : code_width(code, bold);
    }
    return sum * size / 1000;
}

char *draw_text_clean(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    struct strbuf out;
    char *text;
    size_t len;

    strbuf_init(&out);
    for (; *p; p += len) {
        uint32_t code = decode(p, &len);
        if (code == 0xfffd && len == 1)
            strbuf_addstr(&out, "\xef\xbf\xbd");
        else if (code < 32 || (code >= 127 && code < 160))
            strbuf_addch(&out, ' ');
        else
            strbuf_add(&out, (const char *)p, len);
    }
    text = xstrdup(strbuf_get(&out));
    strbuf_release(&out);
    return text;
}

char *draw_text_fit(const char *s, double size, bool bold, double width)
{
    char *text = draw_text_clean(s);
    double room = width - draw_text_width("...", size, bold), used = 0;
    unsigned char *p = (unsigned char *)text;
    size_t len;

    if (draw_text_width(text, size, bold) <= width)
        return text;
    for (; *p; p += len) {
        char one[5] = { 0 };

        decode(p, &len);
        memcpy(one, p, len);
        used += draw_text_width(one, size, bold);
        if (used > room)
            break;
    }
    while ((char *)p > text && p[-1] == ' ')
        p--;
    *p = '\0';
    text = xrealloc(text, strlen(text) + 4, 1);
    if (room >= 0)
        strcat(text, "...");
    return text;
}

/* How many bytes of whole words fit; at least one word. */
static size_t fitting(const char *s, double size, bool bold, double width)
{
    size_t best = 0;

    for (size_t n = strcspn(s, " ");;
         n += strspn(s + n, " "), n += strcspn(s + n, " ")) {
        char *head = xstrndup(s, n);
        bool fits = draw_text_width(head, size, bold) <= width;
        free(head);
        if (!fits)
            return best ? best : n;
        best = n;
        if (!s[n])
            return best;
    }
}

size_t draw_text_lines(const char *s, double size, bool bold, double width,
                       char *lines[DRAW_LINES_MAX])
{
    char *clean = draw_text_clean(s);
    const char *at = clean + strspn(clean, " ");
    size_t n = 0;

    while (*at && n < DRAW_LINES_MAX) {
        size_t fit =
            n + 1 == DRAW_LINES_MAX ? strlen(at) : fitting(at, size, bold, width);
        char *line = xstrndup(at, fit);
        lines[n++] = draw_text_fit(line, size, bold, width);
        free(line);
        at += fit;
        at += strspn(at, " ");
    }
    free(clean);
    return n;
}
