/* What is between lines of Python in a notebook, and in its dump. */
#include "dialect/python/python_parse.h"

#include <string.h>

void python_skip_line(struct python_parser *r)
{
    size_t n = strcspn(r->lex.s + r->lex.i, "\n");
    r->lex.work += (int64_t)n;
    r->lex.i += n;
    if (r->lex.s[r->lex.i] == '\n') {
        r->lex.i++;
        r->lex.line++;
    }
}

/* A command with "\" at the ends of its lines. */
static void skip_command(struct python_parser *r)
{
    bool goes_on = true;
    while (goes_on && r->lex.i < r->lex.n) {
        size_t n = strcspn(r->lex.s + r->lex.i, "\r\n");
        goes_on = n && r->lex.s[r->lex.i + n - 1] == '\\';
        python_skip_line(r);
    }
}

void python_leave_quote(struct python_parser *r)
{
    if (r->quoted)
        python_leave_scope(r, r->in.scope);
    r->quoted = false;
    r->in.scope = 0;
}

static void meet_fence(struct python_parser *r)
{
    if (r->quoted) {
        python_leave_quote(r);
    } else if (r->prompts) {
        r->quoted = true;
        r->in.scope = r->p->names.n;
    }
}

/* %%bash and its like: the rest of the cell is another language. */
static void skip_cell(struct python_parser *r)
{
    static const char *const python[] = { "time", "timeit", "capture", "prun",
                                          "local" };
    const char *s = r->lex.s + r->lex.i + 2;
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof(python) / sizeof(python[0]); i++)
        if (strlen(python[i]) == n && strncmp(s, python[i], n) == 0) {
            python_skip_line(r);
            return;
        }
    do
        python_skip_line(r);
    while (r->lex.i < r->lex.n && !python_at_fence(r));
}

bool python_at_fence(const struct python_parser *r)
{
    const char *s = r->lex.s + r->lex.i;
    return python_prompt(s) || strncmp(s + strspn(s, " \t"), "```", 3) == 0;
}

bool python_notebook_line(struct python_parser *r, bool fences)
{
    const char *s = r->lex.s + r->lex.i;
    size_t prompt = python_prompt(s), blanks = strspn(s, " \t");
    if (prompt && fences) {
        python_leave_quote(r);
        r->lex.i += prompt;
        r->lex.i += strspn(r->lex.s + r->lex.i, " ");
        if (*s == 'O') /* Out[5]: 42 */
            python_skip_line(r);
        return true;
    }
    if (python_at_fence(r)) {
        if (!fences)
            return false;
        meet_fence(r);
        python_skip_line(r);
        return true;
    }
    if (s[0] == '%' && s[1] == '%') {
        skip_cell(r);
        return true;
    }
    if (s[blanks] == '!' || s[blanks] == '%') {
        skip_command(r);
        return true;
    }
    return false;
}
