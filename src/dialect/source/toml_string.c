/* Strings of TOML. */
#include "dialect/source/toml_scan.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

/* \u00e9 and \U0001f600, the letter at the cursor. */
static void numbered(struct toml_reader *r, struct strbuf *b)
{
    int digits = *r->s == 'u' ? 4 : 8;
    unsigned long c = 0;
    for (int i = 1; i <= digits; i++) {
        int d = r->s + i < r->end ? tolower((unsigned char)r->s[i]) : 0;
        if (!isxdigit(d)) {
            toml_fail(r, "this is no character's number (give %d hexadecimal digits)",
                      digits);
            return;
        }
        c = c * 16 + (unsigned long)(d <= '9' ? d - '0' : d - 'a' + 10);
    }
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        toml_fail(r, "no text has this character");
    else
        strbuf_add_utf8(b, c);
    r->s += digits + 1;
}

/* Over blanks and newlines, after a "\" that ends its line. */
static bool continues_line(struct toml_reader *r)
{
    const char *s = r->s;
    while (s < r->end && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++;
    if (s >= r->end || *s != '\n')
        return false;
    while (r->s < r->end && strchr(" \t\r\n", *r->s)) {
        if (*r->s == '\n')
            toml_newline(r);
        else
            r->s++;
    }
    return true;
}

static void escape(struct toml_reader *r, struct strbuf *b, bool lines)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    const char *plain = r->s < r->end && *r->s ? strchr(from, *r->s) : NULL;
    if (plain) {
        strbuf_addch(b, to[plain - from]);
        r->s++;
    } else if (r->s < r->end && (*r->s == 'u' || *r->s == 'U')) {
        numbered(r, b);
    } else if (!lines || !continues_line(r)) {
        toml_fail(r, "\"\\\" escapes nothing here (write \\\\)");
    }
}

/* One character of the string, or one escape. */
static void read_character(struct toml_reader *r, struct strbuf *b, bool basic,
                           bool lines)
{
    unsigned char c = (unsigned char)*r->s;
    if (c == '\n' && lines) {
        strbuf_addch(b, '\n');
        toml_newline(r);
    } else if (c == '\r' && lines && r->s + 1 < r->end && r->s[1] == '\n') {
        r->s++;
    } else if (c == '\\' && basic) {
        r->s++;
        escape(r, b, lines);
    } else if ((c < ' ' && c != '\t') || c == 0x7f) {
        toml_fail(r, "no string has this character here%s",
                  c == '\n' ? " (close the string)" : "");
    } else {
        strbuf_addch(b, (char)c);
        r->s++;
    }
}

static int quotes_at(const struct toml_reader *r, char quote)
{
    int n = 0;
    while (n < 5 && r->s + n < r->end && r->s[n] == quote)
        n++;
    return n;
}

const char *toml_string(struct toml_reader *r, bool lines)
{
    char quote = *r->s;
    bool basic = quote == '"';
    int n = quotes_at(r, quote), closing = 0;
    bool many = lines && n >= 3;
    struct strbuf b;
    if (n == 2 || (n > 2 && !lines)) { /* an empty one */
        r->s += 2;
        return "";
    }
    strbuf_init(&b);
    r->s += many ? 3 : 1;
    if (many && r->s < r->end && *r->s == '\r')
        r->s++;
    if (many && r->s < r->end && *r->s == '\n')
        toml_newline(r);
    while (!r->err->set && !closing) {
        int here = quotes_at(r, quote);
        if (r->s >= r->end) {
            toml_fail(r, "the string is never closed (add %s)",
                      many ? "three quotes" : "a quote");
        } else if (many ? here >= 3 : here > 0) {
            for (int i = many ? 3 : here; i < here; i++)
                strbuf_addch(&b, quote);
            closing = many ? here : 1;
            r->s += closing;
        } else {
            read_character(r, &b, basic, many);
        }
    }
    const char *text =
        r->err->set ? NULL : arena_strndup(r->arena, strbuf_get(&b), b.len);
    strbuf_release(&b);
    return text;
}
