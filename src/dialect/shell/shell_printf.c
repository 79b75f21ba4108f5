/* printf: a format of %s, %q, %d and escapes, used again while there are words. */
#include "dialect/shell/shell_machine.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

static bool is_whole(const char *word)
{
    const char *digits = word + (*word == '-');
    return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

/* The character of an escape; '\0': it is not followed. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '\\' || c == '"' ? c : '\0';
}

/* A word as a shell reads it back. */
static void add_quoted(struct strbuf *out, const char *word)
{
    if (!*word)
        strbuf_addstr(out, "''");
    for (const char *c = word; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_./:=,@%+-", *c))
            strbuf_addch(out, '\\');
        strbuf_addch(out, *c);
    }
}

/* The format once; how many words it took, -1: something is not followed. */
static int print_once(struct strbuf *out, const char *format, const char *const *words,
                      int n)
{
    int used = 0;
    for (const char *c = format; *c; c++) {
        char one[2] = { *c, '\0' };
        if (*c == '%' && c[1] != '%') {
            const char *word = used < n ? words[used] : c[1] == 'd' ? "0" : "";
            if (!strchr("sdq", c[1]) || !c[1] || (c[1] == 'd' && !is_whole(word)))
                return -1;
            (c[1] == 'q' ? add_quoted : strbuf_addstr)(out, word);
            used++;
            c++;
            continue;
        }
        one[0] = *c == '\\' ? escaped(c[1]) : *c;
        if (!one[0])
            return -1;
        strbuf_addstr(out, one);
        c += *c == '\\' || *c == '%';
    }
    return used;
}

const char *shell_printf(struct shell_machine *m, const char *const *words, int n)
{
    struct strbuf out;
    const char *text = NULL;
    int done = 1, used = 0;
    if (n < 2 || words[1][0] == '-')
        return NULL;
    strbuf_init(&out);
    do {
        done += used;
        used = print_once(&out, words[1], words + 1 + done, n - 1 - done);
        shell_works(m, (int64_t)strlen(words[1]));
    } while (used > 0 && done + used < n - 1 && out.len < SHELL_VALUE_MAX);
    if (used >= 0 && out.len < SHELL_VALUE_MAX)
        text = arena_strdup(m->arena, strbuf_get(&out));
    strbuf_release(&out);
    return text;
}
