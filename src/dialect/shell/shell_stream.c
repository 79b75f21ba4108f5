/* Edits of what a command printed: tr, and sed 's/FROM/TO/g'. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <string.h>

/* tr ------------------------------------------------------------------------------- */

/* The characters of a set as tr has them: "a-z", "[:space:]", "\\n"; 0: too many. */
static int set_of(const char *w, char out[256])
{
    static const struct {
        const char *name;
        int (*has)(int c);
    } classes[] = { { "[:space:]", isspace }, { "[:blank:]", isblank },
                    { "[:digit:]", isdigit }, { "[:alpha:]", isalpha },
                    { "[:lower:]", islower }, { "[:upper:]", isupper },
                    { "[:punct:]", ispunct } };
    int n = 0;
    while (*w) {
        bool class = false, range = w[1] == '-' && w[2];
        for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && !class; i++) {
            size_t len = strlen(classes[i].name);
            class = strncmp(w, classes[i].name, len) == 0;
            for (int c = 1; class && c < 128 && n < 255; c++)
                if (classes[i].has(c))
                    out[n++] = (char)c;
            w += class ? len : 0;
        }
        if (class)
            continue;
        bool escaped = *w == '\\' && w[1];
        char last = range                    ? w[2]
                    : escaped && w[1] == 'n' ? '\n'
                    : escaped && w[1] == 't' ? '\t'
                                             : w[escaped];
        for (int c = range ? *w : last; c <= last; c++) {
            if (n == 255)
                return 0;
            out[n++] = (char)c;
        }
        w += range ? 3 : 1 + escaped;
    }
    return n;
}

/* tr ',' ' ', tr a-z A-Z, tr -d x */
const char *shell_translate(struct shell_machine *m, const char *const *w, int n_words,
                            const char *text)
{
    char from[256], to[256];
    bool drops = n_words == 3 && strcmp(w[1], "-d") == 0;
    int n = n_words == 3 ? set_of(w[drops ? 2 : 1], from) : 0,
        n_to = n && !drops ? set_of(w[2], to) : 0;
    if (!n || (!drops && !n_to))
        return NULL;
    char *out = arena_strdup(m->arena, text), *end = out;
    shell_works(m, (int64_t)strlen(out));
    for (const char *c = text; *c; c++) {
        int i = n; /* of several, the last goes */
        while (i > 0 && from[i - 1] != *c)
            i--;
        if (i == 0 || !drops)
            *end++ = i == 0 ? *c : to[i <= n_to ? i - 1 : n_to - 1];
    }
    *end = '\0';
    return out;
}

/* sed: FROM of plain characters, each of which may be followed by "*" or "\+"; TO plain. */

enum { PIECES_MAX = 64 };

/* A character as often as it goes: once, or from `least` on. */
struct piece {
    char c;
    int least;
    bool many;
};

/* FROM up to the delimiter; the number of pieces, 0: it is another pattern. */
static int pieces_of(const char **s, char delimiter, struct piece out[PIECES_MAX])
{
    int n = 0;
    for (; **s && **s != delimiter; ++*s) {
        bool escaped = **s == '\\' && (*s)[1];
        if (!escaped && strchr("[.^$", **s))
            return 0;
        if (!escaped && **s == '*' && n) {
            out[n - 1].least = 0;
            out[n - 1].many = true;
            continue;
        }
        *s += escaped;
        if (escaped && **s == '+' && n) {
            out[n - 1].many = true;
            continue;
        }
        if (n == PIECES_MAX || (escaped && !strchr("/.*[]^$-_ ", **s)))
            return 0;
        out[n++] = (struct piece) { **s, 1, false };
    }
    return n;
}

/* How many characters the pieces match; -1: they do not. A repeated character is taken as
 * often as it is there, and given back where the next is the same. */
static int match(const struct piece *p, int n, const char *text)
{
    const char *s = text;
    for (int i = 0; i < n; i++) {
        int needed = 0, there = 0;
        for (int k = i + 1; k < n && p[k].c == p[i].c; k++)
            needed += p[k].least;
        while (s[there] == p[i].c && (p[i].many || there < 1))
            there++;
        if (p[i].many && there >= p[i].least + needed)
            there -= needed;
        if (there < p[i].least)
            return -1;
        s += there;
    }
    return (int)(s - text);
}

const char *shell_sed(struct shell_machine *m, const char *script, const char *text)
{
    struct piece pieces[PIECES_MAX];
    char delimiter = *script == 's' ? script[1] : '\0';
    const char *s = delimiter ? script + 2 : script;
    int n = delimiter ? pieces_of(&s, delimiter, pieces) : 0;
    if (!n || *s != delimiter)
        return NULL;
    const char *to = ++s, *end = strchr(s, delimiter);
    size_t len = end ? (size_t)(end - to) : 0;
    bool all = end && strcmp(end + 1, "g") == 0;
    if (!end || (!all && end[1]) || memchr(to, '&', len) || memchr(to, '\\', len) ||
        (!all && strchr(text, '\n')) || len > SHELL_VALUE_MAX ||
        strlen(text) * (len + 1) > SHELL_VALUE_MAX)
        return NULL;
    char *out = arena_alloc(m->arena, strlen(text) * (len + 1) + len + 1, 1), *at = out;
    bool open = true;
    while (*text && !shell_works(m, n)) {
        int here = open ? match(pieces, n, text) : -1;
        if (here > 0) {
            memcpy(at, to, len);
            at += len;
            text += here;
            open = all;
        } else {
            *at++ = *text++;
        }
    }
    *at = '\0';
    return out;
}
