#include "dialect/python/python_lex.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return begins_name(c) || isdigit((unsigned char)c);
}

bool python_is(const struct python_token *t, const char *word)
{
    return (t->kind == TOKEN_NAME || t->kind == TOKEN_OP) &&
           strlen(word) == (size_t)t->n && memcmp(t->s, word, (size_t)t->n) == 0;
}

size_t python_prompt(const char *s)
{
    size_t i = strncmp(s, "In", 2) == 0 ? 2 : strncmp(s, "Out", 3) == 0 ? 3 : 0;
    if (!i)
        return 0;
    i += s[i] == ' ';
    if (s[i++] != '[')
        return 0;
    i += strncmp(s + i, "None", 4) == 0 ? 4 : strspn(s + i, "0123456789 *");
    return s[i] == ']' && s[i + 1] == ':' ? i + 2 : 0;
}

/* Blanks --------------------------------------------------------------------------- */

/* Blanks, comments, continued lines and, inside brackets, newlines. */
static void skip_blanks(struct python_lexer *lex)
{
    for (;;) {
        const char *s = lex->s + lex->i;
        if (*s == ' ' || *s == '\t' || *s == '\f' || *s == '\r') {
            lex->i++;
        } else if (*s == '#') {
            lex->i += strcspn(s, "\n");
        } else if (*s == '\\' && (s[1] == '\n' || (s[1] == '\r' && s[2] == '\n'))) {
            lex->i += s[1] == '\n' ? 2 : 3;
            lex->line++;
        } else if (*s == '\n' && lex->brackets && !python_prompt(s + 1)) {
            lex->i++;
            lex->line++;
        } else {
            return;
        }
    }
}

/* Numbers -------------------------------------------------------------------------- */

static size_t number_length(const char *s)
{
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    size_t n = 1;
    while (
        in_name(s[n]) || s[n] == '.' ||
        ((s[n] == '+' || s[n] == '-') && !hex && (s[n - 1] == 'e' || s[n - 1] == 'E')))
        n++;
    return n;
}

/* The base of a whole number with so many digits, and where they begin; 0: none. */
static int number_base(const char *digits, const char **first)
{
    static const struct {
        char letter;
        int base;
        const char *digits;
    } bases[] = { { 'x', 16, "0123456789abcdefABCDEF" },
                  { 'o', 8, "01234567" },
                  { 'b', 2, "01" } };
    *first = digits;
    if (strspn(digits, "0123456789") == strlen(digits))
        return 10;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        if (digits[0] != '0' || tolower((unsigned char)digits[1]) != bases[i].letter)
            continue;
        *first = digits + 2;
        bool whole = strspn(*first, bases[i].digits) == strlen(*first) && **first;
        return whole ? bases[i].base : 0;
    }
    return 0;
}

static void read_number(struct python_lexer *lex, struct python_token *t)
{
    const char *s = lex->s + lex->i, *first;
    size_t n = number_length(s), used = 0;
    char digits[64];
    char *end;
    lex->i += n;
    t->kind = TOKEN_OTHER;
    if (n >= sizeof(digits))
        return;
    for (size_t i = 0; i < n; i++)
        if (s[i] != '_')
            digits[used++] = s[i];
    digits[used] = '\0';
    int base = number_base(digits, &first);
    errno = 0;
    if (base) {
        t->integer = strtoll(first, &end, base);
        t->kind = errno ? TOKEN_OTHER : TOKEN_INT;
    } else if (strspn(digits, "0123456789.eE+-") == used) {
        t->real = strtod(digits, &end);
        t->kind = *end || !isfinite(t->real) ? TOKEN_OTHER : TOKEN_REAL;
    }
}

/* Strings -------------------------------------------------------------------------- */

/* A character by its number: \x41, \u00e9, \101. Returns its length after the
 * backslash, 0 when it is none or means no character of a text. */
static size_t numbered_escape(struct strbuf *b, const char *s)
{
    size_t digits = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : s[0] == 'U' ? 8 : 0;
    size_t from = digits ? 1 : 0, n = 0;
    unsigned long c = 0;
    if (digits) {
        while (n < digits && isxdigit((unsigned char)s[1 + n]))
            n++;
        if (n < digits)
            return 0;
    } else {
        n = strspn(s, "01234567");
        n = n > 3 ? 3 : n;
    }
    for (size_t i = from; i < from + n; i++) {
        int d = tolower((unsigned char)s[i]);
        c = c * (digits ? 16 : 8) + (unsigned long)(d <= '9' ? d - '0' : d - 'a' + 10);
    }
    if (!n || c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    strbuf_add_utf8(b, c);
    return from + n;
}

/* What follows a backslash; returns its length, 0 when the string's value is not known.
 * An unknown escape is the backslash itself, as in Python. */
static size_t escape(struct strbuf *b, const char *s)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    const char *plain = strchr(from, *s);
    if (*s == '\n')
        return 1;
    if (*s == '\r' && s[1] == '\n')
        return 2;
    if (plain && *s) {
        strbuf_addch(b, to[plain - from]);
        return 1;
    }
    if (*s == 'x' || *s == 'u' || *s == 'U' || (*s >= '0' && *s <= '7'))
        return numbered_escape(b, s);
    strbuf_addch(b, '\\');
    return *s == 'N' ? 0 : SIZE_MAX;
}

struct string_style {
    bool raw, formatted, bytes;
};

/* The letters before a string's quote; their number, or -1 when these are a name. */
static int string_prefix(const char *s, struct string_style *style)
{
    int n = 0;
    *style = (struct string_style) { 0 };
    for (; n < 3 && isalpha((unsigned char)s[n]); n++) {
        int c = tolower((unsigned char)s[n]);
        style->raw |= c == 'r';
        style->formatted |= c == 'f' || c == 't';
        style->bytes |= c == 'b';
        if (!strchr("rbuft", c))
            return -1;
    }
    return s[n] == '"' || s[n] == '\'' ? n : -1;
}

/* The body of a string from *i to its closing quotes (n of them); false: not closed. */
static bool string_body(struct python_lexer *lex, const char *quotes, size_t n,
                        bool raw, bool *known, struct strbuf *b)
{
    const char *s = lex->s;
    while (strncmp(s + lex->i, quotes, n) != 0) {
        char c = s[lex->i];
        if (lex->i >= lex->n || (c == '\n' && n == 1))
            return false;
        if (c == '\\' && lex->i + 1 < lex->n) {
            lex->line += s[lex->i + 1] == '\n';
            size_t m = raw ? SIZE_MAX : escape(b, s + lex->i + 1);
            if (raw)
                strbuf_add(b, s + lex->i, 2);
            else if (m == SIZE_MAX)
                m = 0; /* the backslash is kept; what follows is read as it is */
            else if (m == 0)
                *known = false, m = 1;
            lex->i += raw ? 2 : 1 + m;
            continue;
        }
        lex->line += c == '\n';
        strbuf_addch(b, c);
        lex->i++;
    }
    lex->i += n;
    return true;
}

static void read_string(struct python_lexer *lex, struct python_token *t, int prefix,
                        const struct string_style *style)
{
    const char *s = lex->s + lex->i + prefix;
    size_t n = s[0] == s[1] && s[1] == s[2] ? 3 : 1;
    char quotes[3] = { s[0], s[0], s[0] };
    bool known = !style->bytes;
    struct strbuf b;
    strbuf_init(&b);
    lex->i += (size_t)prefix + n;
    bool closed = string_body(lex, quotes, n, style->raw, &known, &b);
    const char *text = strbuf_get(&b);
    if (style->formatted && known && strpbrk(text, "{}")) {
        t->formatted = true;
        known = false;
    }
    t->kind = !closed ? TOKEN_BAD : known ? TOKEN_STRING : TOKEN_OTHER;
    t->text = closed ? arena_strndup(lex->arena, text, b.len) : NULL;
    strbuf_release(&b);
}

/* Operators ------------------------------------------------------------------------ */

static void read_operator(struct python_lexer *lex, struct python_token *t)
{
    static const char *const longer[] = {
        "...", "**=", "//=", ">>=", "<<=", "**", "//", ">>", "<<", "==", "!=", "<=",
        ">=",  "->",  ":=",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "@="
    };
    const char *s = lex->s + lex->i;
    size_t n = strchr("()[]{}.,:;=+-*/%<>&|^~@", *s) && *s ? 1 : 0;
    for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]) && n < 2; i++)
        if (strncmp(s, longer[i], strlen(longer[i])) == 0)
            n = strlen(longer[i]);
    t->kind = n ? TOKEN_OP : TOKEN_BAD;
    t->n = (int32_t)n;
    lex->i += n;
}

static void read_token(struct python_lexer *lex, struct python_token *t)
{
    struct string_style style;
    const char *s = lex->s + lex->i;
    int prefix = string_prefix(s, &style);
    if (lex->i >= lex->n) {
        t->kind = TOKEN_END;
    } else if (*s == '\n') {
        t->kind = lex->brackets ? TOKEN_BAD : TOKEN_NEWLINE;
        if (!lex->brackets)
            lex->i++, lex->line++;
    } else if (prefix >= 0) {
        read_string(lex, t, prefix, &style);
    } else if (begins_name(*s)) {
        t->kind = TOKEN_NAME;
        while (in_name(lex->s[lex->i]))
            lex->i++;
        t->n = (int32_t)(lex->i - (size_t)(s - lex->s));
    } else if (isdigit((unsigned char)*s) ||
               (*s == '.' && isdigit((unsigned char)s[1]))) {
        read_number(lex, t);
    } else {
        read_operator(lex, t);
    }
}

bool python_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct python_token python_next(struct python_lexer *lex)
{
    size_t from = lex->i;
    skip_blanks(lex);
    if (lex->still)
        lex->line = lex->still;
    struct python_token t = { .s = lex->s + lex->i, .line = lex->line };
    read_token(lex, &t);
    lex->work += (int64_t)(lex->i - from) + 1;
    return t;
}
