/* The characters of a shell script under way. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <string.h>

struct shell_char shell_peek(const struct shell_machine *m, int32_t ahead)
{
    int32_t i = m->at.i + ahead;
    return i < m->at.n ? m->at.v[i] : (struct shell_char) { .c = '\0' };
}

bool shell_ends(const struct shell_machine *m)
{
    return m->failed || m->ended || m->at.i >= m->at.n;
}

static bool is_char(struct shell_char x, char c)
{
    return x.c == c && !x.unknown;
}

bool shell_at(const struct shell_machine *m, const char *s)
{
    for (int32_t i = 0; s[i]; i++)
        if (!is_char(shell_peek(m, i), s[i]))
            return false;
    return true;
}

static bool ends_word(char c)
{
    return c == '\0' || strchr(" \t\r\n;&|()<>", c) != NULL;
}

bool shell_word_at(const struct shell_machine *m, const char *w)
{
    struct shell_char next = shell_peek(m, (int32_t)strlen(w));
    return shell_at(m, w) && !next.unknown && ends_word(next.c);
}

bool shell_takes(struct shell_machine *m, const char *w)
{
    if (!shell_word_at(m, w))
        return false;
    m->at.i += (int32_t)strlen(w);
    return true;
}

int32_t shell_name_length(const struct shell_machine *m, int32_t ahead)
{
    int32_t n = 0;
    for (;; n++) {
        struct shell_char x = shell_peek(m, ahead + n);
        bool letter = isalpha((unsigned char)x.c) || x.c == '_';
        if (x.unknown || !(letter || (n && isdigit((unsigned char)x.c))))
            return n;
    }
}

void shell_newline(struct shell_machine *m)
{
    bool here = m->at.i == m->at.here_at;
    m->at.i = here ? m->at.here_to : m->at.i + 1;
    if (here)
        m->at.here_at = -1;
}

static bool continues(const struct shell_machine *m)
{
    return shell_at(m, "\\\n") || shell_at(m, "\\\r\n");
}

void shell_skip_blanks(struct shell_machine *m)
{
    while (!shell_ends(m)) {
        struct shell_char x = shell_peek(m, 0);
        if (x.unknown) {
            return;
        } else if (x.c == ' ' || x.c == '\t' || x.c == '\r') {
            m->at.i++;
        } else if (continues(m)) {
            m->at.i += shell_at(m, "\\\n") ? 2 : 3;
        } else if (x.c == '#') {
            while (!shell_ends(m) && !is_char(shell_peek(m, 0), '\n'))
                m->at.i++;
        } else {
            return;
        }
        shell_works(m, 1);
    }
}

void shell_skip_lines(struct shell_machine *m)
{
    for (shell_skip_blanks(m); !shell_ends(m); shell_skip_blanks(m)) {
        if (is_char(shell_peek(m, 0), '\n'))
            shell_newline(m);
        else if (is_char(shell_peek(m, 0), ';') && !shell_at(m, ";;"))
            m->at.i++;
        else
            return;
    }
}

/* Letters after "<" and before ">", on one line. */
int32_t shell_placeholder(const struct shell_machine *m)
{
    int32_t n = 1;
    if (!is_char(shell_peek(m, 0), '<') || !isalpha((unsigned char)shell_peek(m, 1).c))
        return 0;
    while (isalnum((unsigned char)shell_peek(m, n).c) ||
           (shell_peek(m, n).c && strchr(" _-./'", shell_peek(m, n).c)))
        n++;
    bool closed = is_char(shell_peek(m, n), '>') && shell_peek(m, n - 1).c != ' ';
    return closed ? n + 1 : 0;
}

bool shell_word_ends(const struct shell_machine *m)
{
    struct shell_char x = shell_peek(m, 0);
    return !x.unknown && ends_word(x.c) && !shell_at(m, "<(") && !shell_at(m, ">(") &&
           !shell_placeholder(m);
}

const char *shell_slice(struct shell_machine *m, int32_t from, int32_t to)
{
    char *text = arena_alloc(m->arena, (size_t)(to - from) + 1, 1);
    for (int32_t i = from; i < to; i++)
        text[i - from] = m->at.v[i].unknown ? '?' : m->at.v[i].c;
    return text;
}

/* Over a quoted part, the cursor on its quote. */
static void skip_quotes(struct shell_machine *m, char quote)
{
    for (m->at.i++; !shell_ends(m); m->at.i++) {
        if (is_char(shell_peek(m, 0), '\\') && quote == '"')
            m->at.i++;
        else if (is_char(shell_peek(m, 0), quote))
            return;
    }
}

bool shell_skip_brackets(struct shell_machine *m, char open, char close)
{
    int32_t from = m->at.i;
    int depth = 1;
    for (; !shell_ends(m) && depth; m->at.i++) {
        struct shell_char x = shell_peek(m, 0);
        if (is_char(x, '\\'))
            m->at.i++;
        else if (is_char(x, '\'') || is_char(x, '"'))
            skip_quotes(m, x.c);
        else if (is_char(x, open))
            depth++;
        else if (is_char(x, close))
            depth--;
    }
    m->at.i = m->at.i < m->at.n ? m->at.i : m->at.n;
    shell_works(m, m->at.i - from);
    return depth == 0;
}

struct shell_cursor shell_characters(struct arena *arena, const char *text, size_t len,
                                     int32_t only)
{
    struct shell_char *v = ARENA_ARRAY(arena, len + 1, struct shell_char);
    int32_t line = 1, n = 0;
    int64_t column = 1;
    size_t from = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* byte order mark */
    for (size_t i = from; i < len; i++) {
        if (text[i] == '\0' || text[i] == '\r')
            continue;
        v[n++] = (struct shell_char) {
            .c = text[i],
            .line = only ? only : line,
            .column = (uint16_t)(column < UINT16_MAX ? column : UINT16_MAX),
        };
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    return (struct shell_cursor) { v, n, 0, -1, -1 };
}
