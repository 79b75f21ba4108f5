#include "config/lenient.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What may come next. VALUE is a value that must come; ELEMENT and KEY may also be the
 * closing bracket; MORE is a comma or the closing bracket. */
enum expect { EXPECT_VALUE, EXPECT_ELEMENT, EXPECT_KEY, EXPECT_COLON, EXPECT_MORE };

/* An open bracket. */
struct level {
    char open;   /* '{', '[' or '(' */
    size_t at;   /* its place in the text */
    size_t json; /* and in the JSON */
    bool any;    /* a member was read */
    bool comma;  /* a comma was read: ( ) is a tuple */
};

struct reader {
    const char *s; /* the text, NUL-terminated */
    size_t i, n;
    struct lenient *out;
    struct err *err;
    enum expect expect;
    bool done; /* the one value was read */
    int depth;
    struct level levels[LENIENT_DEPTH_MAX];
};

void lenient_init(struct lenient *l)
{
    *l = (struct lenient) { 0 };
}

void lenient_release(struct lenient *l)
{
    strbuf_release(&l->json);
    VEC_RELEASE(&l->marks);
}

size_t lenient_origin(const struct lenient *l, size_t json)
{
    int64_t low = 0,
            high = l->marks.n; /* the last mark at or before json is in [low, high) */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (l->marks.v[middle].json <= json)
            low = middle;
        else
            high = middle;
    }
    return l->marks.n ? l->marks.v[low].text : 0;
}

/* The bytes of the character at s, 0 when they are no UTF-8; Unicode table 3-7. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80)
        return 1;
    size_t m = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < m)
        return 0;
    unsigned low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < m; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return m;
}

/* Whether the next eight bytes are ASCII, and none is NUL. */
static bool is_plain(const char *text)
{
    const uint64_t ones = UINT64_MAX / 0xff, tops = ones << 7;
    uint64_t eight;
    memcpy(&eight, text, sizeof(eight));
    return ((eight | (eight - ones)) & tops) == 0;
}

size_t lenient_bad_byte(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        if (len - i >= sizeof(uint64_t) && is_plain(text + i)) {
            i += sizeof(uint64_t);
            continue;
        }
        size_t m = utf8_length((const unsigned char *)text + i, len - i);
        if (m == 0 || text[i] == '\0')
            return i;
        i += m;
    }
    return len;
}

/* What is at the reader's place, in quotes, for a message. */
struct excerpt {
    char s[40];
};

static struct excerpt here(const struct reader *r)
{
    struct excerpt e;
    const char *s = r->s + r->i;
    size_t n = 0;
    if (r->i == r->n) {
        snprintf(e.s, sizeof(e.s), "the end");
        return e;
    }
    while (n < 20 && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    if (n == 0)
        n = utf8_length((const unsigned char *)s, r->n - r->i);
    snprintf(e.s, sizeof(e.s), *s == '"' ? "'%.*s'" : "\"%.*s\"", (int)n, s);
    return e;
}

/* Blanks and comments. */
static int skip(struct reader *r)
{
    for (;;) {
        const char *s = r->s + r->i;
        if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
            r->i++;
        else if (*s == '#' || (s[0] == '/' && s[1] == '/'))
            r->i += strcspn(s, "\n");
        else if (s[0] == '\\' && (s[1] == '\n' || s[1] == '\r'))
            r->i++; /* Python's continued line */
        else if (s[0] == '/' && s[1] == '*')
            return err_set(r->err, "/* */ comments are not read (write // before each "
                                   "line)");
        else
            return 0;
    }
}

static char closing(char open)
{
    return open == '{' ? '}' : open == '[' ? ']' : ')';
}

/* Before a key or an element: the comma that JSON wants, and the token's mark. */
static void begin_token(struct reader *r, bool member)
{
    if (member && r->depth) {
        struct level *l = &r->levels[r->depth - 1];
        if (l->any)
            strbuf_addch(&r->out->json, ',');
        l->any = true;
    }
    struct lenient_mark mark = { r->out->json.len, r->i };
    VEC_PUSH(&r->out->marks, mark);
}

static void end_value(struct reader *r)
{
    r->done = r->depth == 0;
    r->expect = EXPECT_MORE;
}

static int open_bracket(struct reader *r)
{
    if (r->depth == LENIENT_DEPTH_MAX)
        return err_set(r->err, "brackets are nested more than %d deep (nest less)",
                       LENIENT_DEPTH_MAX);
    char c = r->s[r->i];
    r->levels[r->depth++] =
        (struct level) { .open = c, .at = r->i, .json = r->out->json.len };
    strbuf_addch(&r->out->json, c == '(' ? '[' : c);
    r->expect = c == '{' ? EXPECT_KEY : EXPECT_ELEMENT;
    r->i++;
    return 0;
}

static int close_bracket(struct reader *r)
{
    struct level *l = &r->levels[r->depth - 1];
    char c = r->s[r->i];
    if (c != closing(l->open))
        return err_set(r->err, "\"%c\" closes what \"%c\" opened (write \"%c\")", c,
                       l->open, closing(l->open));
    bool grouping = c == ')' && l->any && !l->comma; /* (x) is x, (x,) a tuple */
    if (grouping)
        r->out->json.s[l->json] = ' ';
    strbuf_addch(&r->out->json, grouping ? ' ' : c == ')' ? ']' : c);
    r->depth--;
    r->i++;
    end_value(r);
    return 0;
}

/* A tree takes a hundred times the bytes of the text that it is of. */
static int check_size(const struct reader *r)
{
    if (r->out->marks.n < LENIENT_TOKENS_MAX)
        return 0;
    return err_set(r->err, "more than %d keys and values (give a scenario of hundreds)",
                   LENIENT_TOKENS_MAX);
}

static int read_value(struct reader *r)
{
    char c = r->s[r->i];
    bool element = r->depth && r->levels[r->depth - 1].open != '{';
    if (strchr("]})", c) && r->expect == EXPECT_ELEMENT)
        return close_bracket(r);
    if (strchr("]}),", c))
        return err_set(r->err, "a value is missing before \"%c\"", c);
    bool number = isdigit((unsigned char)c) || strchr("+-.", c);
    bool word = isalpha((unsigned char)c) || c == '_';
    if (!strchr("{[(\"'", c) && !number && !word)
        return err_set(r->err,
                       "%s cannot begin a value (write a string, a number, true, "
                       "false, null, [ or {)",
                       here(r).s);
    if (check_size(r))
        return -1;
    begin_token(r, element);
    if (strchr("{[(", c))
        return open_bracket(r);
    int (*scalar)(struct strbuf *, const char *, size_t *, struct err *) =
        number ? lenient_number
        : word ? lenient_word
               : lenient_string;
    if (scalar(&r->out->json, r->s, &r->i, r->err))
        return -1;
    end_value(r);
    return 0;
}

static int read_key(struct reader *r)
{
    char c = r->s[r->i];
    if (strchr("]})", c))
        return close_bracket(r);
    if (c != '"' && c != '\'') {
        struct excerpt e = here(r);
        if (isalnum((unsigned char)c) || c == '_')
            return err_set(r->err, "a key needs quotes (write %s)", e.s);
        return err_set(r->err, "%s where a key should be (write a string in quotes)",
                       e.s);
    }
    begin_token(r, true);
    r->expect = EXPECT_COLON;
    return lenient_string(&r->out->json, r->s, &r->i, r->err);
}

static int read_colon(struct reader *r)
{
    if (r->s[r->i] != ':')
        return err_set(r->err, "%s after a key (write \":\" and the value)", here(r).s);
    strbuf_addch(&r->out->json, ':');
    r->i++;
    r->expect = EXPECT_VALUE;
    return 0;
}

static int read_more(struct reader *r)
{
    char c = r->s[r->i];
    if (r->done)
        return err_set(r->err, "%s after the end of the value (remove it)", here(r).s);
    struct level *l = &r->levels[r->depth - 1];
    if (c == ',') {
        l->comma = true;
        r->expect = l->open == '{' ? EXPECT_KEY : EXPECT_ELEMENT;
        r->i++;
        return 0;
    }
    if (strchr("]})", c))
        return close_bracket(r);
    if (strchr("+-*/%", c))
        return err_set(r->err,
                       "%s makes an expression, not a literal (write its value)",
                       here(r).s);
    return err_set(r->err, "a comma is missing before %s (write \",\" or \"%c\")",
                   here(r).s, closing(l->open));
}

static int read_token(struct reader *r)
{
    switch (r->expect) {
    case EXPECT_KEY:
        return read_key(r);
    case EXPECT_COLON:
        return read_colon(r);
    case EXPECT_MORE:
        return read_more(r);
    case EXPECT_VALUE:
    case EXPECT_ELEMENT:
        break;
    }
    return read_value(r);
}

static int64_t line_of(const struct reader *r, size_t at)
{
    int64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += r->s[i] == '\n';
    return line;
}

static int read_all(struct reader *r)
{
    for (;;) {
        if (skip(r))
            return -1;
        if (r->i == r->n)
            break;
        if (read_token(r))
            return -1;
    }
    if (r->depth) {
        struct level *l = &r->levels[r->depth - 1];
        return err_set(r->err,
                       "the text ends before the \"%c\" of line %" PRId64 " is closed "
                       "(write \"%c\")",
                       l->open, (int64_t)line_of(r, l->at), closing(l->open));
    }
    if (!r->done)
        return err_set(r->err, "there is no value (write { ... })");
    return 0;
}

int lenient_read(struct lenient *l, const char *text, size_t len, size_t *at,
                 struct err *err)
{
    *at = lenient_bad_byte(text, len);
    if (*at < len)
        return text[*at] == '\0'
                   ? err_set(err, "a NUL byte (is this a text file?)")
                   : err_set(err, "byte 0x%02x is not UTF-8 (save the file as UTF-8)",
                             (unsigned char)text[*at]);
    struct reader r = { .s = text, .n = len, .out = l, .err = err };
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.i = 3; /* the byte order mark of some editors */
    int rc = read_all(&r);
    *at = r.i;
    return rc;
}
